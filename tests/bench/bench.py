"""Speed of the engine and the ledger, as ratios measured in one run. Nothing is asserted: read the table.

605 calls (a model's share of the paper's subset) of 200 ms, 50 in flight, against a server in a process of its own.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from creativemath_utils.engine import Engine
from creativemath_utils.ledger import Ledger, Ledgers
from creativemath_utils.models import read_model
from creativemath_utils.records import Request, Response, user_message

LOOPBACK = Path(__file__).resolve().parents[1] / "loopback.py"
PROMPT = "x" * 3000


def ask(url: str, folder: Path, calls: int, concurrency: int) -> tuple[float, float]:
    """Wall and CPU seconds for that many calls, from the first request to the last answer on disk."""
    model = read_model("m", {"backend": "api", "id": "m", "base_url": url}, "bench")
    requests = [
        Request("m", model.identity(), user_message(f"{PROMPT} {i}"), {"max_new_tokens": 1024}, ledger="bench")
        for i in range(calls + 1)
    ]
    with Engine({"m": model}, Ledgers(folder), concurrency=concurrency) as engine, redirect_stdout(StringIO()):
        engine.complete(requests[:1])  # preflight and imports are paid for here
        wall, cpu = time.perf_counter(), time.process_time()
        responses = engine.complete(requests[1:])
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert all(response.status == "ok" for response in responses), responses[0]
    return wall, cpu


def open_rate(folder: Path, rows: int) -> tuple[float, float]:
    """Rows a second when a ledger of `rows` answers of about 6 kB is opened, and when each is looked up."""
    path = folder / "rows.jsonl"
    ledger = Ledger(path, writable=True)
    for start in range(0, rows, 1000):
        ledger.append(
            Response.answer(Request("m", {"id": "m"}, user_message(f"{PROMPT} {i}"), {}), "y" * 2500)
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
    return rows / (opened - started), rows / (looked_up - opened)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=605)
    parser.add_argument("--concurrency", type=int, default=50)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds a call takes at the server")
    parser.add_argument("--rows", type=int, default=20_000, help="of the ledger that is opened")
    options = parser.parse_args()
    command = [sys.executable, str(LOOPBACK), "--delay", str(options.delay), "--seconds", "300"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
    ):
        assert server.stdin and server.stdout
        url = server.stdout.readline().strip()
        single, _ = ask(url, Path(folder) / "one", 20, 1)
        wall, cpu = ask(url, Path(folder) / "many", options.calls, options.concurrency)
        server.stdin.close()  # ends it
        opened, looked_up = open_rate(Path(folder), options.rows)
    ideal = math.ceil(options.calls / options.concurrency) * options.delay
    lines = [
        (f"wall time over the ideal {ideal:.2f} s", f"{wall / ideal:.2f}"),
        ("speed-up over one after another (from 20 calls)", f"{single / 20 * options.calls / wall:.1f}"),
        ("engine CPU a call", f"{1000 * cpu / options.calls:.2f} ms"),
        (f"ledger opened ({options.rows} rows of 6 kB)", f"{opened:,.0f} rows/s"),
        ("ledger looked up", f"{looked_up:,.0f} rows/s"),
    ]
    load = os.getloadavg()[0]
    lines.append((f"load on {os.cpu_count()} cores (above that, wall times mean little)", f"{load:.1f}"))
    for name, value in lines:
        print(f"{name:<55} {value:>14}")


if __name__ == "__main__":
    main()
