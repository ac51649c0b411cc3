"""Local models on a GPU, measured in one run: single calls, batches, continuous batching, 4-bit weights, peak memory.

The model is of random weights (1.5 billion parameters in bfloat16, Qwen2's shape), so nothing is downloaded; the calls
are random tokens, and every one ends by a token of a large set, so that the answers differ in length as real ones do.
Nothing is asserted: read the table. `--tiny` runs the same on any machine in seconds, where the times mean nothing.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from creativemath_utils.backends.batching import Call, Decoding, Row, Stopped, decode, next_batch
from creativemath_utils.backends.continuous import EngineStopped, decode_continuously, flash_attention
from creativemath_utils.backends.encoding import Prompt
from creativemath_utils.backends.loading import load_network
from creativemath_utils.models import Model
from creativemath_utils.records import Request, user_message

LIKE = 16  # tokens at the beginning by which two answers are compared where rounding may part them later


@dataclass(frozen=True)
class Size:
    """Shape of the model and of the calls to it."""

    hidden: int
    intermediate: int
    layers: int
    heads: int
    vocabulary: int
    prompts: tuple[int, int]  # tokens, from and to
    new_tokens: int
    dtype: str


BILLIONS = Size(1536, 8960, 28, 12, 151_936, (100, 1200), 512, "bfloat16")
TINY = Size(48, 64, 2, 4, 300, (5, 60), 24, "float32")


@dataclass(frozen=True)
class Measured:
    """A line of the table: what was answered, in how many seconds, with how much memory at the peak."""

    rows: dict[str, Row]
    seconds: float
    peak_gib: float
    note: str = ""


def save_model(size: Size, folder: str, device: str) -> int:
    """Write a model of random weights; returns its number of parameters."""
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=size.vocabulary,
        hidden_size=size.hidden,
        intermediate_size=size.intermediate,
        num_hidden_layers=size.layers,
        num_attention_heads=size.heads,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        initializer_range=0.05 if size is BILLIONS else 0.3,  # wide: what is written shall depend on what was read
    )
    with torch.device(device):
        network = Qwen2ForCausalLM(config).to(getattr(torch, size.dtype))
    network.save_pretrained(folder)
    return sum(parameter.numel() for parameter in network.parameters())


def calls_of(size: Size, count: int) -> list[Call]:
    """Calls of random tokens, of lengths drawn evenly from the size's range."""
    draw = torch.Generator().manual_seed(0)
    least, most = size.prompts
    calls = []
    for n in range(count):
        length = int(torch.randint(least, most + 1, (1,), generator=draw))
        ids = torch.randint(size.vocabulary // 32, size.vocabulary, (length,), generator=draw).tolist()
        calls.append(Call(Request("m", {}, user_message(str(n)), {}), Prompt(ids), Decoding(size.new_tokens)))
    return calls


def load(model: Model, end_ids: list[int]) -> tuple[Any, float]:
    """The network, ready to decode, and the seconds that took."""
    started = time.perf_counter()
    network = load_network(model, {})
    network.generation_config.eos_token_id, network.generation_config.pad_token_id = end_ids, 0
    return network, time.perf_counter() - started


def measure(run: Callable[[Callable[[], bool], Callable[[Call, Row], None]], None], seconds: float) -> Measured:
    """Run it for at most so many seconds, and keep what was answered until then."""
    rows: dict[str, Row] = {}
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    started, note = time.perf_counter(), ""
    try:
        run(lambda: time.perf_counter() - started > seconds, lambda call, row: rows.update({call.request.key: row}))
    except Stopped:
        pass
    except EngineStopped as error:
        note = f"engine stopped: {error}"
    except torch.OutOfMemoryError:
        note = "out of memory"
    taken = time.perf_counter() - started
    if taken > seconds:
        note = note or "its time was up"
    peak = torch.cuda.max_memory_allocated() / 2**30 if torch.cuda.is_available() else float("nan")
    return Measured(rows, taken, peak, note)


def by_batches(network: Any, calls: Sequence[Call], rows: int, end_ids: list[int]) -> Callable[..., None]:
    """Plain batches of so many rows, from the longest prompt down."""

    def run(stopped: Callable[[], bool], finish: Callable[[Call, Row], None]) -> None:
        rest = list(calls)
        while batch := next_batch(rest, rows):
            for call, row in zip(batch, decode(network, batch, end_ids, stopped), strict=True):
                finish(call, row)
            rest = [call for call in rest if call not in batch]

    return run


def continuously(network: Any, calls: Sequence[Call], rows: int, end_ids: list[int]) -> Callable[..., None]:
    """Continuous batching of at most so many rows."""
    return lambda stopped, finish: decode_continuously(network, calls, rows, end_ids, stopped, finish)


def line(name: str, measured: Measured, single: dict[str, Row]) -> str:
    """A line of the table; answers are compared with those of single calls."""
    tokens = sum(row.steps for row in measured.rows.values())
    shared = measured.rows.keys() & single.keys()
    same = sum(measured.rows[key].ids == single[key].ids for key in shared)
    like = sum(measured.rows[key].ids[:LIKE] == single[key].ids[:LIKE] for key in shared)
    alike = f"{same}/{like}/{len(shared)}" if shared else "-"
    figures = f"{tokens / measured.seconds:>12.1f}{measured.seconds:>9.1f}{measured.peak_gib:>10.2f}"
    return f"{name:<22}{len(measured.rows):>6}{figures}{alike:>14}  {measured.note}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=64)
    parser.add_argument("--rows", type=int, nargs="+", default=[8, 32], help="rows in a batch")
    parser.add_argument("--seconds", type=float, default=270, help="for the whole run, loads included, about")
    parser.add_argument("--tiny", action="store_true", help="a tiny model in float32, on the CPU too")
    options = parser.parse_args()
    if not torch.cuda.is_available() and not options.tiny:
        sys.exit("no CUDA GPU here: nothing to measure (--tiny runs the script on the CPU)")
    began, device = time.perf_counter(), "cuda" if torch.cuda.is_available() else "cpu"
    size = TINY if options.tiny else BILLIONS
    end_ids = list(range(size.vocabulary // 128))  # each new token ends the answer with odds of about one in 128
    calls = calls_of(size, options.calls)

    def left(parts: int) -> float:
        """Seconds for the next part, where so many are still to come."""
        return max((options.seconds - (time.perf_counter() - began)) / parts, 1.0)

    with tempfile.TemporaryDirectory() as folder:
        parameters = save_model(size, folder, device)
        model = Model(name="m", backend="local", id=folder, dtype=size.dtype)
        network, seconds = load(model, end_ids)
        where = torch.cuda.get_device_name() if device == "cuda" else "CPU"
        attention = f"{network.config._attn_implementation}, continuous {flash_attention(network) or 'the same'}"
        print(f"{where}; {parameters:,} parameters, {size.dtype}; attention: {attention}")
        print(f"loaded in {seconds:.1f} s, {network.get_memory_footprint() / 2**30:.2f} GiB")
        parts = 2 * len(options.rows) + 2
        warm = measure(by_batches(network, calls[:2], 2, end_ids), left(parts))  # kernels are loaded here
        single = measure(by_batches(network, calls, 1, end_ids), left(parts) / 2)
        lengths = [row.steps for row in (single.rows or warm.rows).values()] or [0]
        print(f"answers of {min(lengths)} to {max(lengths)} tokens, {sum(lengths) / len(lengths):.0f} on average\n")
        print(f"{'':<22}{'calls':>6}{'tokens/s':>12}{'seconds':>9}{'peak GiB':>10}{'same as one':>14}")
        print(line("one by one", single, single.rows))
        for rows in options.rows:
            for name, way in (("batches", by_batches), ("continuous", continuously)):
                parts -= 1
                measured = measure(way(network, calls, rows, end_ids), left(parts))
                print(line(f"{name} of {rows}", measured, single.rows), flush=True)
        del network
        if device == "cuda" and importlib.util.find_spec("bitsandbytes"):
            torch.cuda.empty_cache()
            network, seconds = load(model.model_copy(update={"quantization": "4bit"}), end_ids)
            rows = options.rows[0]
            print(line(f"4-bit, batches of {rows}", measure(by_batches(network, calls, rows, end_ids), left(1)), {}))
            print(f"4-bit loaded in {seconds:.1f} s, {network.get_memory_footprint() / 2**30:.2f} GiB")
        else:
            print("4-bit weights: not measured, they need a CUDA GPU and bitsandbytes")
    print(f"\nsame as one: equal / equal in the first {LIKE} tokens / compared. In float32 all are equal; in bfloat16")
    print(f"rounding parts some of them. {time.perf_counter() - began:.0f} s in all")


if __name__ == "__main__":
    main()
