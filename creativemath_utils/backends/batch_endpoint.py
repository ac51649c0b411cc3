"""OpenAI's batch interface, step by step: upload a file of calls, make a batch, see how it stands, read what came.

Each step is tried again where that may help, and says what to do where nothing helps. A reply that is not what the step
should bring is a fault like any other: no batch is taken for lost, or made twice, because of a page of HTML.
Names of the interface: https://platform.openai.com/docs/api-reference/batch
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import openai
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt

from creativemath_utils.backends.batch_replies import BatchState, id_in, object_in, rows_in
from creativemath_utils.backends.endpoint import Endpoint, lost, with_wait
from creativemath_utils.backends.replies import HOPELESS, Permanent, Transient, fault_of
from creativemath_utils.backends.sent import SentBatch
from creativemath_utils.models import Model
from creativemath_utils.records import KitError
from creativemath_utils.spending import Spending

log = logging.getLogger(__name__)
T = TypeVar("T")

CONNECTIONS = 4
CLOCK_SECONDS = 3600  # how far the endpoint's clock may be off
PAGE = 100  # batches of the endpoint's list at once
BELIEVED = 3  # a file of answers is gone when so many tries say so: one stray 404 is no reason to pay again


class Unknown(Exception):
    """The endpoint answers 404: it has no such batch or file, or no such interface."""


class Unreachable(KitError):
    """No try has got through. Batches under way go on."""


class NotTaken(KitError):
    """The endpoint does not take this file, or makes no batch of it: none has been made."""


class BatchEndpoint(Endpoint):
    """An endpoint that takes batches; `waits` are Endpoint's."""

    def __init__(self, model: Model, spending: Spending | None = None, **waits: Any) -> None:
        super().__init__(model, CONNECTIONS, spending, **waits)
        self.path = "/v1/completions" if model.interface == "completion" else "/v1/chat/completions"

    async def upload(self, lines: bytes) -> str:
        """Put a file of calls, one JSON object a line, at the endpoint. Returns its id. Raises NotTaken."""
        file = ("requests.jsonl", lines, "application/jsonl")

        async def once() -> str:
            with self._taken():
                return id_in(object_in(await self._files.create(file=file, purpose="batch")))

        return await self._try(once)

    async def start(self, batch: SentBatch, perhaps_there: bool = False) -> str:
        """Make a batch of its file, unless the endpoint has done so and nobody here was told. Returns its id.

        Raises NotTaken.
        """

        async def once() -> str:
            nonlocal perhaps_there
            if perhaps_there and (found := await self._find(batch)) is not None:
                return found
            perhaps_there = True  # from now on: the reply may get lost
            with self._taken():
                reply = await self._batches.create(
                    input_file_id=batch.input_file, endpoint=self.path, completion_window="24h"
                )
                return id_in(object_in(reply))

        return await self._try(once)

    async def state(self, batch: SentBatch) -> BatchState | None:
        """How it stands with a batch; None where the endpoint does not know it, and does not list it either."""

        async def once() -> BatchState | None:
            try:
                with self._heard():
                    return BatchState.read(object_in(await self._batches.retrieve(batch.id or "")))
            except Unknown:
                if await self._find(batch) is None:
                    return None
                raise Transient("HTTP 404 for a batch that is in the endpoint's list") from None

        state = await self._try(once)
        if state is None:
            log.warning("%s: %s no longer knows batch %s; asked again", self.model.name, self.where, batch.id)
        return state

    async def rows(self, state: BatchState) -> dict[str, dict[str, Any]]:
        """The lines of a batch's files of answers and errors, by `custom_id`."""
        rows: dict[str, dict[str, Any]] = {}
        for file, least in ((state.answers, state.least), (state.errors, 0)):
            for row in await self._rows_of(file, least, state) if file else []:
                rows.setdefault(row["custom_id"], row)
        return rows

    async def _rows_of(self, file: str, least: int, state: BatchState) -> list[dict[str, Any]]:
        """The lines of one file, `least` of them or more; none where it is gone."""
        missed = 0

        async def once() -> list[dict[str, Any]]:
            nonlocal missed
            try:
                with self._heard():
                    reply = await self._files.content(file)
            except Unknown:
                missed += 1
                if missed < min(BELIEVED, self.tries):
                    raise Transient(f"HTTP 404 for file {file}") from None
                raise
            rows = rows_in(reply.http_response.content)
            if len(rows) < least:
                raise Transient(f"file {file} holds {len(rows)} of {least} answers")
            return rows

        try:
            return await self._try(once)
        except Unknown:
            log.warning("%s: file %s of batch %s is gone; asked again", self.model.name, file, state.id)
            return []

    async def _find(self, batch: SentBatch) -> str | None:
        """The id of the batch of that input file, looked for in the endpoint's list, which begins with the newest."""
        after: Any = openai.omit
        while True:
            try:
                with self._heard():
                    body = object_in(await self._batches.list(after=after, limit=PAGE))
            except Unknown:
                raise Transient("HTTP 404 for the list of batches, which tells whether one was made") from None
            page = body.get("data")
            named = isinstance(page, list) and all(isinstance(f, dict) and isinstance(f.get("id"), str) for f in page)
            if not named:
                raise Transient("reply without the list of batches")
            for found in page:
                if found.get("input_file_id") == batch.input_file:
                    return id_in(found)
            last = page[-1] if page else {}
            made = last.get("created_at")
            older = isinstance(made, int | float) and made < batch.created - CLOCK_SECONDS
            if older or body.get("has_more") is False or last.get("id") in (None, after):
                return None
            after = last["id"]

    @property
    def _client(self) -> openai.AsyncOpenAI:
        """The client, its own retries off."""
        address = self.model.base_url
        return openai.AsyncOpenAI(api_key=self._key, base_url=address, max_retries=0, http_client=self._http)

    @property
    def _files(self) -> Any:
        return self._client.files.with_raw_response  # typed replies would be made of any JSON, and of none

    @property
    def _batches(self) -> Any:
        return self._client.batches.with_raw_response

    @contextlib.contextmanager
    def _heard(self) -> Iterator[None]:
        """Around one request: raises Unknown, Transient or Permanent for the client's own errors."""
        try:
            yield
        except openai.NotFoundError as error:
            raise Unknown(str(fault_of(error.response))) from None
        except openai.APIStatusError as error:
            raise with_wait(fault_of(error.response), error.response) from None
        except openai.APIConnectionError as error:
            cause = error.__cause__
            raise lost(cause if isinstance(cause, Exception) else error) from None

    @contextlib.contextmanager
    def _taken(self) -> Iterator[None]:
        """Around a request that asks the endpoint to take something: raises NotTaken where it will not."""
        try:
            with self._heard():
                yield
        except (Unknown, Permanent) as error:
            if getattr(error, "about", None) in HOPELESS:
                raise
            line = f"{self.where} does not take this batch ({error}); take `batch: true` out of {self.model.name}'s"
            raise NotTaken(self._clean(f"{line} entry")) from None

    async def _try(self, call: Callable[[], Awaitable[T]]) -> T:
        """What a call gives. Raises KitError where no other try helps, Unreachable where none has got through."""
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self.tries),
            retry=retry_if_exception_type(Transient),
            wait=self._wait,
            reraise=True,
        )

        go_on = "Its batches go on: run again to collect them"
        try:
            return await retrying(call)
        except Transient as error:
            line = f"{self.where}: {error}; gave up after {self.tries} tries. {go_on}"
            raise Unreachable(self._clean(line)) from None
        except Permanent as error:
            if error.about in HOPELESS:
                raise self._hopeless(error) from None
            raise KitError(self._clean(f"{self.where}: {error}. {go_on}")) from None
