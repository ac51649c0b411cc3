"""Progress of calls: one line a model, every few seconds, and a last one at the end.

Plain lines on purpose: they read the same in a terminal, a batch log and an executed notebook.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping

from creativemath_utils.records import STATUSES, Response

EVERY_SECONDS = 10


class Progress:
    """Counts responses by model and prints. `totals` are the calls to be made, `known` those found in the ledger."""

    def __init__(
        self, totals: Mapping[str, int], known: Mapping[str, int] | None = None, every_seconds: float = EVERY_SECONDS
    ) -> None:
        self.totals = dict(totals)
        self.known = dict(known or {})
        self.every_seconds = every_seconds
        self._counts: dict[str, Counter[str]] = {model: Counter() for model in totals}
        self._started = self._printed = time.monotonic()
        self._ended: dict[str, float] = {}  # a quick model's rate is not that of the slowest

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        for model in self.totals:
            print(self.line(model), flush=True)
            if truncated := self._counts[model]["truncated"]:
                print(f"{model}: {truncated} answers end at the token limit; raise max_new_tokens for whole ones")

    def advance(self, responses: Iterable[Response]) -> None:
        """Count responses that are on disk, or failed for good."""
        for response in responses:
            self._counts[response.model][response.status] += 1
            if self._counts[response.model].total() == self.totals[response.model]:
                self._ended[response.model] = time.monotonic()
        if time.monotonic() - self._printed >= self.every_seconds:
            self._printed = time.monotonic()
            for model, total in self.totals.items():
                if self._counts[model].total() < total:
                    print(self.line(model), flush=True)

    def line(self, model: str) -> str:
        """`qwen: 12 of 41 done (30 more were there), 2 truncated, 1 failed, 0.4/s, 71 s left`"""
        seconds = self._ended.get(model, time.monotonic()) - self._started
        counts, total = self._counts[model], self.totals[model]
        done = counts.total()
        rate = done / seconds if seconds > 0 else 0.0
        there = f" ({self.known[model]} more were there)" if self.known.get(model) else ""
        apart = "".join(f", {counts[status]} {status}" for status in STATUSES if counts[status] and status != "ok")
        left = f", {(total - done) / rate:.0f} s left" if 0 < done < total and rate else ""
        return f"{model}: {done} of {total} done{there}{apart}, {rate:.2g}/s{left}"
