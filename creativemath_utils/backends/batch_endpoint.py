"""OpenAI's batch interface, step by step: upload a file of calls, make a batch, see how it stands, read what came.

Each step is tried again where that may help, and says what to do where nothing helps. Names of the interface:
https://platform.openai.com/docs/api-reference/batch
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import openai
from openai.types import Batch
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from creativemath_utils.backends.endpoint import TRIES, Endpoint
from creativemath_utils.backends.replies import Permanent, Transient, classify
from creativemath_utils.backends.sent import SentBatch
from creativemath_utils.models import Model
from creativemath_utils.records import KitError
from creativemath_utils.spending import Spending

log = logging.getLogger(__name__)
T = TypeVar("T")

CONNECTIONS = 4
CLOCK_SECONDS = 3600  # how far the endpoint's clock may be off
ENDED = ("completed", "failed", "expired", "cancelled")


class Unknown(Exception):
    """The endpoint answers 404: it has no such batch or file, or no such interface."""


class BatchEndpoint(Endpoint):
    """An endpoint that takes batches. `backoff_seconds` is the scale of the waits between tries."""

    def __init__(
        self, model: Model, spending: Spending | None = None, *, tries: int = TRIES, backoff_seconds: float = 1.0
    ) -> None:
        super().__init__(model, CONNECTIONS, spending)
        self.tries = tries
        self.path = "/v1/completions" if model.interface == "completion" else "/v1/chat/completions"
        self._wait = wait_random_exponential(multiplier=backoff_seconds, max=60)

    async def upload(self, lines: bytes) -> str:
        """Put a file of calls, one JSON object a line, at the endpoint. Returns its id."""
        file = ("requests.jsonl", lines, "application/jsonl")
        try:
            return (await self._try(lambda: self._client.files.create(file=file, purpose="batch"))).id
        except Unknown as error:
            raise self._no_batches(error) from None

    async def start(self, batch: SentBatch, perhaps_there: bool = False) -> str:
        """Make a batch of its file, unless the endpoint has done so and nobody here was told. Returns its id."""

        async def once() -> Batch:
            nonlocal perhaps_there
            if perhaps_there and (found := await self._find(batch)) is not None:
                return found
            perhaps_there = True  # from now on: the reply may get lost
            return await self._client.batches.create(
                input_file_id=batch.input_file, endpoint=self.path, completion_window="24h"
            )

        try:
            return (await self._try(once)).id
        except Unknown as error:
            raise self._no_batches(error) from None

    async def state(self, batch: SentBatch) -> Batch | None:
        """How it stands with a batch; None where the endpoint does not know it."""
        try:
            return await self._try(lambda: self._client.batches.retrieve(batch.id or ""))
        except Unknown:
            log.warning("%s: %s no longer knows batch %s; asked again", self.model.name, self.where, batch.id)
            return None

    async def rows(self, state: Batch) -> dict[str, dict[str, Any]]:
        """The lines of a batch's output and error files, by `custom_id`."""
        rows: dict[str, dict[str, Any]] = {}
        for file in filter(None, (state.output_file_id, state.error_file_id)):
            try:
                content = await self._try(lambda file=file: self._client.files.content(file))
            except Unknown:
                log.warning("%s: file %s of batch %s is gone; asked again", self.model.name, file, state.id)
                continue
            for line in content.content.split(b"\n"):
                row = _decode(line)
                if isinstance(row, dict) and isinstance(row.get("custom_id"), str):
                    rows.setdefault(row["custom_id"], row)
        return rows

    async def _find(self, batch: SentBatch) -> Batch | None:
        """The batch of that input file in the endpoint's list, which begins with the newest."""
        async for found in self._client.batches.list(limit=100):
            if found.input_file_id == batch.input_file:
                return found
            if found.created_at < batch.created - CLOCK_SECONDS:
                return None
        return None

    async def _try(self, call: Callable[[], Awaitable[T]]) -> T:
        """What a call gives. Raises Unknown for a 404, KitError where no other try helps."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.tries),
            retry=retry_if_exception_type(Transient),
            wait=self._wait,
            reraise=True,
        )

        async def once() -> T:
            try:
                return await call()
            except openai.NotFoundError as error:
                raise Unknown(f"HTTP 404: {error.message}") from None
            except openai.APIStatusError as error:
                raise classify(error.status_code, error.body, error.response.text) from None
            except openai.APIConnectionError as error:
                raise Transient(f"connection failed ({error.__cause__ or error})") from None

        try:
            return await retrying(once)
        except Transient as error:
            line = (
                f"{self.where}: {error}; gave up after {self.tries} tries. Its batches go on: run again to collect them"
            )
            raise KitError(self._clean(line)) from None
        except Permanent as error:
            if error.about in ("key", "credit", "model"):
                raise self._hopeless(error) from None
            raise self._no_batches(error) from None

    def _no_batches(self, error: Exception) -> KitError:
        line = f"{self.where} does not take this batch ({error}); take `batch: true` out of {self.model.name}'s entry"
        return KitError(self._clean(line))


def _decode(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:  # an empty line, or one that was cut off: what it held is asked again
        return None
