"""No model at all: a run whose answers come from a recording alone.

The engine looks answers up before it asks any backend, so what reaches this one is not in the recording. It names the
call and says how to record it; it never makes an answer up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable

from creativemath_utils.records import Request, Response


class RecordedBackend:
    """Answers nothing: every request that comes here is missing from the recording `where`."""

    def __init__(self, where: str) -> None:
        self.where = where

    def missing(self) -> list[str]:
        return []

    async def preflight(self) -> None:
        return None

    async def answers(self, requests: Iterable[Request]) -> AsyncIterator[Response]:
        for request in requests:
            about = request.slots.get("about") or f"key {request.key[:12]}"
            yield Response.failure(
                request,
                f"no recorded answer of {request.model!r} for {about} in {self.where}; "
                "record it with `make record`, or ask the model itself with `offline: false`",
            )

    async def close(self) -> None:
        return None
