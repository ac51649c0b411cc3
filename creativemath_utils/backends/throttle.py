"""How hard an endpoint may be pressed: fewer calls in flight while it says they are too many, and no call before it
says it may come. A rate limit is the model's, not one call's, so all calls to a model share one Throttle.
"""

from __future__ import annotations

import asyncio
import math
import re
import time
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

MARGIN = 1e-9  # many small steps up should reach the next whole call
RECENT = 10  # calls, in the running share of refusals
TOO_MANY = 1 / 3  # refusals below this share pass by trying again; above it, pressing on only wastes tries


class Throttle:
    """At most `most` calls in flight: half as many where refusals pile up, back by about one a full round of answers.

    Use as a context manager around each call.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.allowed = float(most)
        self._in_flight = 0
        self._not_before = self._slowed = 0.0
        self._refused = 0.0  # share of the recent calls
        self._room = asyncio.Condition()

    async def __aenter__(self) -> None:
        async with self._room:
            await self._room.wait_for(lambda: self._in_flight < math.floor(self.allowed + MARGIN))
            self._in_flight += 1

    async def __aexit__(self, *_: object) -> None:
        self._in_flight -= 1  # before anything is awaited: a cancelled call gives its place back too
        async with self._room:
            self._room.notify_all()

    def slow_down(self, started: float) -> None:
        """A call that was sent at `started` (monotonic seconds) was one too many. What was sent before the last step
        down says nothing of the pace since.
        """
        if started < self._slowed:
            return
        self._refused += (1 - self._refused) / RECENT
        if self._refused > TOO_MANY:
            self._slowed, self._refused = time.monotonic(), 0.0
            self.allowed = max(1.0, self.allowed / 2)

    def speed_up(self) -> None:
        """A call went through."""
        self._refused -= self._refused / RECENT
        self.allowed = min(float(self.most), self.allowed + 1 / self.allowed)

    def hold(self, seconds: float) -> None:
        """No call for so long."""
        self._not_before = max(self._not_before, time.monotonic() + seconds)

    def pause(self) -> float:
        """Seconds until the next call may start; not above 0 where it may start now."""
        return self._not_before - time.monotonic()


def read_retry_after(header: str | None) -> float | None:
    """Seconds from a Retry-After header (seconds or an HTTP date), at least 0; None where it cannot be read.

    >>> read_retry_after("-3"), read_retry_after("7200"), read_retry_after("soon")
    (0.0, 7200.0, None)
    """
    if header is None:
        return None
    if re.fullmatch(r"\s*[+-]?[0-9]+(\.[0-9]*)?\s*", header):
        return max(0.0, float(header))
    try:
        moment = parsedate_to_datetime(header)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
