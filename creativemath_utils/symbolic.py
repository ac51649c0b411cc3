"""Whether two LaTeX expressions are equal, by math-verify, in a process of its own.

An expression that a model wrote can keep SymPy busy for ever, or fill the memory (a tower of powers does both), and
neither can be stopped inside the process that asked. So a worker process is started at the first question and used
again for the next ones; where an answer takes longer than the limit the worker is ended, and the result is
"unchecked". It never imports the caller's main module, and is asked from any thread, in a notebook as elsewhere. Only
the source texts and one of three words pass between the two.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import math
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from creativemath_utils.records import KitError

Outcome = Literal["equal", "different", "unchecked"]

TIME_LIMIT_SECONDS = 10.0  # wall clock, for the comparison of two answers
MEMORY_LIMIT_BYTES = 4 << 30
START_LIMIT_SECONDS = 120.0  # importing SymPy takes seconds, on a busy machine many


@dataclass
class Budget:
    """The seconds that the comparisons of one question may still take together."""

    left_seconds: float = TIME_LIMIT_SECONDS


class Worker:
    """A process that compares expressions, one at a time; started when first asked, and again after each time-out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0

    def compare(self, first: str, second: str, budget: Budget) -> Outcome:
        """Equal, different, or unchecked where one is not understood or the budget is used up.

        Neither the wait for another thread's comparison nor the start of the process counts against the budget.
        Raises KitError if the process cannot start.
        """
        with self._lock:
            if budget.left_seconds <= 0:
                return "unchecked"
            try:
                self._start()
                begun = time.monotonic()
                question = json.dumps([first, second, budget.left_seconds])
                reply = self._ask(question, budget.left_seconds)
            except BaseException:  # an interrupt between question and answer: the next answer would be the wrong one
                self._end()
                raise
            if not reply.endswith("\n"):  # ended before, or while, it answered
                budget.left_seconds = 0
                self._end()
                return "unchecked"
            budget.left_seconds -= time.monotonic() - begun
            return json.loads(reply)

    def close(self) -> None:
        """End the process, if one is running. A later question starts a new one."""
        with self._lock:
            self._end()

    def _start(self) -> None:
        if self._process is not None and self._owner == os.getpid() and self._process.poll() is None:
            return
        self._end()
        # -P: the caller's folder must not shadow the standard library. No `-m`: the package need not be installed.
        root = str(Path(__file__).resolve().parents[1])
        code = f"import sys; sys.path.append({root!r}); from {__name__} import serve; serve()"
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # libraries may log expressions there
            text=True,
            encoding="utf-8",
            start_new_session=True,  # the interrupt key of a notebook is not for the worker
        )
        self._owner = os.getpid()
        ready = self._ask("", START_LIMIT_SECONDS)
        if not ready or json.loads(ready) != "ready":
            self._end()
            why = json.loads(ready) if ready else "it ended at once"
            raise KitError(f"comparing answers: the math-verify process does not start ({why}); run `make clean test`")

    def _ask(self, question: str, limit_seconds: float) -> str:
        """The reply to one line, or "" once the limit has passed (the process is then ended) or it has died."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        timer = threading.Timer(limit_seconds, process.kill)
        timer.daemon = True
        timer.start()
        try:
            if question:
                process.stdin.write(question + "\n")
                process.stdin.flush()
            return process.stdout.readline()
        except BrokenPipeError:
            return ""
        finally:
            timer.cancel()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():  # a forked child leaves its parent's worker alone
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()


WORKER = Worker()
atexit.register(WORKER.close)


def serve() -> None:
    """The worker's own loop: a line with two expressions in, a line with the outcome out, until the input ends."""
    replies, sys.stdout = sys.stdout, sys.stderr  # what a library prints must not be taken for a reply
    try:
        import math_verify  # noqa: F401
    except ImportError as error:
        print(json.dumps(str(error)), file=replies, flush=True)
        return
    _limit_memory()
    _compare("x+1", "x+2")  # the first parse builds tables; that is no part of a question's time
    print(json.dumps("ready"), file=replies, flush=True)
    for line in sys.stdin:
        first, second, limit_seconds = json.loads(line)
        _end_later(limit_seconds)
        print(json.dumps(_compare(first, second)), file=replies, flush=True)
        _end_later(0)


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system has, or keeps, this limit
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = MEMORY_LIMIT_BYTES if most == resource.RLIM_INFINITY else min(most, MEMORY_LIMIT_BYTES)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))


def _end_later(seconds: float) -> None:
    """Have the system end this process should its parent be gone by the time limit; 0 calls it off."""
    with contextlib.suppress(ImportError, AttributeError):
        import signal

        signal.alarm(math.ceil(seconds) + 5 if seconds else 0)


def _compare(first: str, second: str) -> Outcome:
    """The comparison itself. What math-verify cannot read, or fails on, is unchecked, as nothing is known about it."""
    from math_verify import parse, verify
    from math_verify.parser import LatexExtractionConfig

    try:
        parsed = [
            parse(f"${text}$", [LatexExtractionConfig()], "no_fallback", parsing_timeout=None, raise_on_error=True)
            for text in (first, second)
        ]
        if not all(parsed):
            return "unchecked"
        values = [found[0] for found in parsed]
        if _rounds_to(values[0], second) or _rounds_to(values[1], first):
            return "unchecked"  # math-verify takes enough decimals for the value itself
        # Not symmetric by itself: an equation against a value, a set against a relation.
        if any(
            verify(a, b, allow_set_relation_comp=True, timeout_seconds=None, raise_on_error=True)
            for a, b in (parsed, parsed[::-1])
        ):
            return "equal"
        return "unchecked" if _constants_as_letters(*values) else "different"
    except Exception:  # any fault of the two libraries on a model's expression
        return "unchecked"


def _rounds_to(value: Any, decimal: str) -> bool:
    """Whether `decimal` is a decimal fraction, and the irrational number `value` rounds to it at its last place."""
    places = re.fullmatch(r"\s*-?\d*\.(\d+)\s*", decimal)
    if not places or not getattr(value, "is_number", False) or getattr(value, "is_rational", False):
        return False
    return abs(float(value) - float(decimal)) <= 0.5 * 10.0 ** -len(places[1])


def _constants_as_letters(*values: Any) -> bool:
    """Whether the two differ in the letters e and i alone, which may have been read as unknowns."""
    first, second = ({symbol.name for symbol in value.free_symbols} for value in values)
    return bool(first ^ second) and first ^ second <= {"e", "i"}
