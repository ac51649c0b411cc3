"""What every tool is timed on: the same calls, the same server, the same clock. Standard library alone.

A call has a prompt of about 3 kB and an answer as long; it takes DELAY at the server. As a program this is the server:
`python workload.py --delay 0.2 --seconds 60` prints its address, serves until its input ends, and then prints what it
has served, as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CALLS = 605  # a model's share of the paper's subset: one call a sample
CONCURRENCY = 50
DELAY = 0.2  # seconds a call takes at the server
MAX_NEW_TOKENS = 1024
MODEL = "m"
HERE = Path(__file__).resolve().parent


@dataclass
class Served:
    """The address of the server while it runs; how many calls it answered, and how many at once, after that."""

    url: str
    calls: int = 0
    most_in_flight: int = 0


def prompts(calls: int) -> list[str]:
    """That many different prompts of about 3,000 characters."""
    return [f"{'How many? ' * 300}{number}" for number in range(calls)]


@contextmanager
def server(delay: float) -> Iterator[Served]:
    """The server in a process of its own; it ends with this one, and after an hour at the latest."""
    command = [sys.executable, str(HERE / "workload.py"), "--delay", str(delay), "--seconds", "3600"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin and process.stdout
        try:
            served = Served(process.stdout.readline().strip())
            yield served
        finally:
            process.stdin.close()  # ends it
        told = json.loads(process.stdout.readline())
        served.calls, served.most_in_flight = told["calls"], told["most_in_flight"]


def timed(command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None) -> tuple[float, str]:
    """Seconds from the start of a process to its end, and what it printed. Raises SystemExit, with that, if it fails.

    `folder` is where it works; `environment` None stands for this process's own.
    """
    started = time.perf_counter()
    done = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    seconds = time.perf_counter() - started
    printed = done.stdout.decode(errors="replace")
    if done.returncode:
        raise SystemExit(f"{printed[-4000:]}\n{' '.join(command)}\nended with exit code {done.returncode}")
    return seconds, printed


def load_line() -> str:
    """The load of the machine, in words: on busy cores wall times mean little."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores (above that, wall times mean little)"


def serve(delay: float, seconds: float) -> None:
    """Echo every prompt, in a reply with all the fields that strict clients want."""
    sys.path.insert(0, str(HERE.parent))
    from loopback import Call, Loopback, Reply, echo

    calls = 0

    def full_echo(call: Call) -> Reply:
        nonlocal calls
        calls += 1
        reply = echo(call)
        reply.body |= {"id": f"call-{call.number}", "model": MODEL, "created": int(time.time())}
        return reply

    with Loopback(full_echo, delay=delay, keep_calls=False, seconds=seconds) as loopback:
        print(loopback.url, flush=True)
        sys.stdin.read()  # until whoever started this closes the pipe
    print(json.dumps({"calls": calls, "most_in_flight": loopback.most_in_flight}), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="the server of the benchmarks")
    parser.add_argument("--delay", type=float, default=DELAY, help="seconds until each answer")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to serve")
    options = parser.parse_args()
    serve(options.delay, options.seconds)
