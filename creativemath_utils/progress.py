"""Progress of calls, one line a model: done, in flight, failed, rate, cost so far, time left.

Where nobody looks on, plain lines every few seconds and a last one at the end: they read the same in a terminal, a
batch log and an executed notebook. In a notebook that is open in JupyterLab, one table that changes in place, an output
like any other: no widget, and nothing that stays behind in the notebook's metadata.
"""

from __future__ import annotations

import asyncio
import html
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from creativemath_utils.records import STATUSES, Response

EVERY_SECONDS = 10  # between plain lines
LIVE_SECONDS = 1
HEADLESS_ENV = "CREATIVEMATH_HEADLESS"  # set by whoever runs notebooks without a person before them
SESSION_ENV = "JPY_SESSION_NAME"  # set by Jupyter's server for the kernel of a notebook that is open


class Progress:
    """Counts calls by model and shows them.

    `totals` are the calls to be made, `known` the answers found in the ledger, `cost` a function that gives what a
    model has cost so far, in US dollars, or None where that is not known.
    """

    def __init__(
        self,
        totals: Mapping[str, int],
        known: Mapping[str, int] | None = None,
        every_seconds: float = EVERY_SECONDS,
        cost: Callable[[str], float | None] = lambda model: None,
    ) -> None:
        self.totals = dict(totals)
        self.known = dict(known or {})
        self.every_seconds = every_seconds
        self._cost = cost
        self._begun: Counter[str] = Counter()
        self._arrived: Counter[str] = Counter()  # and perhaps not on disk yet
        self._counts: dict[str, Counter[str]] = {model: Counter() for model in totals}
        self._opened = self._printed = time.monotonic()
        self._started: dict[str, float] = {}  # the second of two local models begins when the first has ended
        self._over = False
        self._ended: dict[str, float] = {}  # a quick model's rate is not that of the slowest
        self._said: dict[str, tuple[int, int]] = {}  # what the last plain line of a model told
        self._display: Any = None  # the handle of the live table

    def __enter__(self) -> Progress:
        if self.totals and is_live():
            from IPython.display import display

            self._display = display(self._bundle(), raw=True, display_id=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        if self._display is not None:
            self._display.update(self._bundle(), raw=True)
        for model in self.totals:
            if self._display is None:
                print(self.line(model), flush=True)
            if truncated := self._counts[model]["truncated"]:
                print(f"{model}: {truncated} answers end at the token limit; raise max_new_tokens for whole ones")

    def begin(self, model: str) -> None:
        """A call is in flight."""
        self._started.setdefault(model, time.monotonic())
        self._begun[model] += 1

    def arrive(self, model: str) -> None:
        """A call has come to its end; it is done when `advance` has counted it."""
        self._arrived[model] += 1

    def advance(self, responses: Iterable[Response]) -> None:
        """Count responses that are on disk, or failed for good."""
        for response in responses:
            self._counts[response.model][response.status] += 1
            if self._counts[response.model].total() == self.totals[response.model]:
                self._ended[response.model] = time.monotonic()
        self.show()

    async def keep_showing(self) -> None:
        """Show the time that passes, also while no answer comes; to be cancelled."""
        while True:
            await asyncio.sleep(min(LIVE_SECONDS, self.every_seconds))
            self.show()

    def show(self) -> None:
        """Bring the table up to date, or print a line for each model that is at work, where it is time for it."""
        if time.monotonic() - self._printed < (self.every_seconds if self._display is None else LIVE_SECONDS):
            return
        self._printed = time.monotonic()
        if self._display is not None:
            self._display.update(self._bundle(), raw=True)
            return
        for model, total in self.totals.items():
            done = self._counts[model].total()
            news = (self._begun[model], done)
            if done < total and news != self._said.get(model, (0, 0)):
                self._said[model] = news
                print(self.line(model), flush=True)

    def line(self, model: str) -> str:
        """`qwen: 12 of 41 done (30 more were there), 6 in flight, 1 failed, 0.4/s, $0.0131 so far, 71 s left`"""
        return f"{model}: {', '.join(self._told(model))}"

    def _told(self, model: str) -> list[str]:
        seconds = self._ended.get(model, time.monotonic()) - self._started.get(model, self._opened)
        counts, total = self._counts[model], self.totals[model]
        done = counts.total()
        in_flight = max(0, self._begun[model] - max(done, self._arrived[model]))
        rate = done / seconds if seconds > 0 else 0.0
        cost = self._cost(model)
        there = f" ({self.known[model]} more were there)" if self.known.get(model) else ""
        return [
            f"{done} of {total} done{there}",
            *([f"{in_flight} in flight"] if in_flight and not self._over else []),
            *(f"{counts[status]} {status}" for status in STATUSES if counts[status] and status != "ok"),
            f"{rate:.2g}/s",
            *([] if cost is None else [f"${cost:.4f} so far"]),
            *([f"{duration((total - done) / rate)} left"] if 0 < done < total and rate and not self._over else []),
        ]

    def _bundle(self) -> dict[str, str]:
        """The live table, and the same as plain text for whatever shows no HTML."""
        rows = []
        for model, total in self.totals.items():
            bar = f'<progress value="{self._counts[model].total()}" max="{total}"></progress>'
            cells = [html.escape(model), bar, html.escape(", ".join(self._told(model)))]
            rows.append("<tr>" + "".join(f'<td style="text-align: left">{cell}</td>' for cell in cells) + "</tr>")
        return {
            "text/html": f"<table>{''.join(rows)}</table>",
            "text/plain": "\n".join(self.line(model) for model in self.totals),
        }


def is_live() -> bool:
    """Whether a person has this notebook open: only where Jupyter's server says so, and nobody else says no."""
    if os.environ.get(HEADLESS_ENV) or not os.environ.get(SESSION_ENV) or "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


def duration(seconds: float) -> str:
    """A time to wait, in the unit that a person would take.

    >>> duration(71), duration(600), duration(9000)
    ('71 s', '10 min', '2.5 h')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
