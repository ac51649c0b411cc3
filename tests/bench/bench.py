"""Speed of the engine, the ledger and local models, as ratios measured in one run. Nothing is asserted: read the table.

    make bench
    python tests/bench/bench.py --full    # all 605 calls one after another too, which takes two minutes more

605 calls (a model's share of the paper's subset) of 200 ms, 50 in flight, against a server in a process of its own;
a random model of 4 million weights on the CPU; a ledger of 6 kB rows. `compare.py` times other tools on the same calls.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import statistics
import string
import sys
import tempfile
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

from workload import CALLS, CONCURRENCY, DELAY, HERE, load_line, server, timed

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from creativemath_utils.engine import Engine
from creativemath_utils.ledger import Ledger, Ledgers
from creativemath_utils.models import read_model
from creativemath_utils.records import Request, Response, user_message

SOME = 40  # calls one after another, where not all are asked for
SHORTEST, LONGEST, NEW_TOKENS = 20, 400, 64  # tokens of the local prompts and answers


def ask(folder: Path, calls: int, concurrency: int, delay: float) -> tuple[float, float, float]:
    """Seconds of the whole process, and wall and CPU seconds from the first request to the last answer on disk."""
    folder.mkdir()
    with server(delay) as served:
        command = [sys.executable, str(HERE / "task_kit.py"), served.url, str(folder), str(calls), str(concurrency)]
        whole, printed = timed(command, folder)
    assert served.calls == calls, served
    inside = json.loads(printed.splitlines()[-1])
    return whole, inside["wall"], inside["cpu"]


def api_rows(folder: Path, calls: int, concurrency: int, delay: float, rounds: int, full: bool) -> list[tuple]:
    """What the calls cost beside the wait for the model: medians of `rounds`, after one that is not counted."""
    ask(folder / "warm-up", min(SOME, calls), concurrency, delay)
    many = [ask(folder / f"many-{number}", calls, concurrency, delay) for number in range(rounds)]
    whole, wall, cpu = (statistics.median(values) for values in zip(*many, strict=True))
    some = calls if full else min(SOME, calls)
    one, inside, _ = ask(folder / "one", some, 1, delay)
    one += inside * (calls / some - 1)
    waves = math.ceil(calls / concurrency)
    how = "measured" if some == calls else f"{some} calls measured, the rest scaled"
    return [
        (f"{calls} calls, {concurrency} in flight, until all are on disk", f"{wall:.2f} s", ""),
        (f"  over {waves} waves of {delay:g} s", f"{wall / (waves * delay):.2f}", "<= 1.15"),
        ("  whole process", f"{whole:.2f} s", ""),
        (f"  times faster than one after another ({how})", f"{one / whole:.1f}", ">= 35"),
        ("  CPU a call", f"{1000 * cpu / calls:.2f} ms", "< 4 ms"),
    ]


def local_rows(folder: Path, count: int) -> list[tuple]:
    """Tokens a second of a random model on the CPU, in batches of the default size against one at a time."""
    write_model(folder / "model")
    draw = random.Random(0)
    lengths = [SHORTEST + (LONGEST - SHORTEST) * at // max(count - 1, 1) for at in range(count)]
    draw.shuffle(lengths)
    # The tokenizer takes a byte for a token; the chat template adds three.
    texts = ["".join(draw.choices(string.ascii_lowercase, k=length - 3)) for length in lengths]
    alone, told_alone, _ = local_rate(folder / "alone", folder / "model", texts, batch_size=1)
    batched, told, size = local_rate(folder / "batched", folder / "model", texts)
    alike = sum(one == other for one, other in zip(told_alone, told, strict=True))
    return [
        (f"{count} prompts of {SHORTEST} to {LONGEST} tokens, local, one at a time", f"{alone:,.0f} tokens/s", ""),
        (f"  in batches of {size}", f"{batched:,.0f} tokens/s", ""),
        ("  times faster in batches", f"{batched / alone:.1f}", ">= 3"),
        ("  answers alike, alone and in a batch", f"{alike} of {count}", "all"),
    ]


def local_rate(folder: Path, weights: Path, texts: list[str], **fields: int) -> tuple[float, list[str], int]:
    """Tokens a second once the model is loaded, the answers, and the batch size."""
    folder.mkdir()
    model = read_model("m", {"backend": "local", "id": str(weights), "dtype": "float32", **fields}, "bench")
    decoding = {"max_new_tokens": NEW_TOKENS, "temperature": 0}
    requests = [
        Request("m", model.identity(), user_message(text), decoding, ledger="bench") for text in ["warm-up", *texts]
    ]
    with Engine({"m": model}, Ledgers(folder)) as engine, redirect_stdout(StringIO()):
        engine.complete(requests[:1])
        started = time.perf_counter()
        responses = engine.complete(requests[1:])
        seconds = time.perf_counter() - started
    assert all(response.usage for response in responses), [r.error for r in responses if not r.usage]
    tokens = sum(response.usage["output_tokens"] for response in responses if response.usage)
    return tokens / seconds, [response.text for response in responses], model.batch_size


def write_model(folder: Path) -> None:
    """A random model of four layers, wide enough that a step costs more than the Python around it."""
    import torch
    from tiny_models import SPECIAL, tiny_tokenizer
    from transformers import LlamaConfig, LlamaForCausalLM, logging

    logging.disable_progress_bar()
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(SPECIAL) + 256,
        hidden_size=256,
        intermediate_size=1024,
        num_hidden_layers=4,
        num_attention_heads=4,
        max_position_embeddings=LONGEST + NEW_TOKENS,
        initializer_range=0.1,  # wide, so that what is written depends on what was read
        bos_token_id=0,
        eos_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)


def ledger_rows(folder: Path, rows: int) -> list[tuple]:
    """Rows a second when a ledger of `rows` answers of about 6 kB is opened, and when each is looked up."""
    path = folder / "rows.jsonl"
    ledger = Ledger(path, writable=True)
    for start in range(0, rows, 1000):
        ledger.append(
            Response.answer(Request("m", {"id": "m"}, user_message(f"{'x' * 3000} {i}"), {}), "y" * 2500)
            for i in range(start, min(start + 1000, rows))
        )
    ledger.close()
    started = time.perf_counter()
    ledger = Ledger(path)
    opened = time.perf_counter()
    found = sum(ledger.find(key) is not None for key in ledger)
    looked_up = time.perf_counter()
    assert found == len(ledger) == rows
    ledger.close()
    return [
        (f"ledger of {rows:,} rows of 6 kB: opened", f"{rows / (opened - started):,.0f} rows/s", ">= 33,333 rows/s"),
        ("  looked up", f"{rows / (looked_up - opened):,.0f} rows/s", ""),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--concurrency", type=int, default=CONCURRENCY)
    parser.add_argument("--delay", type=float, default=DELAY, help="seconds a call takes at the server")
    parser.add_argument("--rounds", type=int, default=3, help="of the calls in flight; the median is shown")
    parser.add_argument("--full", action="store_true", help="make all calls one after another too, not just 40")
    parser.add_argument("--prompts", type=int, default=64, help="of the local model")
    parser.add_argument("--rows", type=int, default=20_000, help="of the ledger that is opened")
    options = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        load = load_line()
        rows = api_rows(folder, options.calls, options.concurrency, options.delay, options.rounds, options.full)
        rows += local_rows(folder, options.prompts)
        rows += ledger_rows(folder, options.rows)
    for what, value, bar in [("what", "measured", "bar"), *rows]:
        print(f"{what:<72} {value:>16}  {bar}".rstrip())
    print(load)


if __name__ == "__main__":
    main()
