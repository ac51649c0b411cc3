"""Any OpenAI-compatible endpoint, many calls in flight.

A call is sent as the JSON built here and read from the JSON that came, since endpoints differ in what they take and
leave out. It goes over the openai client's own transport, without that client: its import alone takes longer than a
wave of calls, and its typed requests and replies more time than all the rest.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable
from functools import cached_property
from typing import Any

import httpx2
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type

from creativemath_utils.backends.endpoint import LOST, POOL, UNHEARD, Endpoint, lost, with_wait
from creativemath_utils.backends.replies import (
    HOPELESS,
    Blank,
    Permanent,
    Transient,
    error_in,
    fault_of,
    read_json,
    read_reply,
    token_counts,
)
from creativemath_utils.backends.throttle import Throttle
from creativemath_utils.models import Model
from creativemath_utils.records import KitError, Request, Response
from creativemath_utils.spending import Charge, Spending
from creativemath_utils.store import dump_line

STUBBORN_TRIES = 3  # a blank reply that was paid for, an answer that takes too long: more likely the model than a fault
LOST_IN_A_ROW = 10  # calls, or `concurrency` if that is more, that no try got through: then nothing will
JSON_HEADERS = {"Content-Type": "application/json"}


class ApiBackend(Endpoint):
    """A model asked a call at a time. `concurrency` is the number of calls in flight; `waits` are Endpoint's."""

    def __init__(self, model: Model, concurrency: int, *, spending: Spending | None = None, **waits: Any) -> None:
        super().__init__(model, concurrency, spending, **waits)
        self.concurrency = concurrency
        self._throttle = Throttle(concurrency)
        self._lost = 0  # calls in a row that no try got through
        self._given_up: KitError | None = None  # why no further call can succeed
        self._wake = asyncio.Event()  # set with it, so that nobody waits for a retry in vain

    @cached_property
    def _free(self) -> list[httpx2.AsyncClient]:
        """A client for each call that may be in flight."""
        return [client for client in self._clients for _ in range(POOL)]

    async def close(self) -> None:
        self.__dict__.pop("_free", None)
        await super().close()

    async def answers(self, requests: Iterable[Request]) -> AsyncIterator[Response]:
        """Responses as they come. Where no further call can succeed, those in flight are let end before KitError."""
        self._given_up, self._lost = None, 0
        self._wake.clear()
        waiting = iter(requests)
        results: asyncio.Queue[Response | Exception | None] = asyncio.Queue()

        async def work() -> None:
            try:
                for request in waiting:
                    results.put_nowait(await self._answer(request))
                    if self._given_up:
                        break
            except KitError as error:
                self._give_up(error)
            except Exception as error:  # a bug: handed to the caller below
                results.put_nowait(error)
            results.put_nowait(None)

        workers = [asyncio.create_task(work()) for _ in range(self.concurrency)]
        try:
            running = len(workers)
            while running:
                result = await results.get()
                if result is None:
                    running -= 1
                elif isinstance(result, Exception):
                    raise result
                else:
                    yield result
            if self._given_up:
                raise self._given_up
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)

    async def _answer(self, request: Request) -> Response:
        """One request, asked until it is answered or known to be in vain."""
        if refusal := self._refusal(request):
            return refusal
        tries = stubborn = 0

        def enough(state: RetryCallState) -> bool:
            nonlocal tries, stubborn
            tries += 1
            stubborn += getattr(state.outcome and state.outcome.exception(), "stubborn", False)
            return tries >= self.tries or stubborn >= STUBBORN_TRIES

        retrying = AsyncRetrying(
            stop=enough,
            retry=retry_if_exception_type(Transient),
            wait=self._wait,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            response = await retrying(self._ask, request)
        except Transient as error:
            if not (isinstance(error, Blank) and error.paid):
                return self._lose(request, self._clean(f"{error}; gave up after {tries} tries"))
            response = error.response
        except Permanent as error:
            response = self._outcome(request, error)
        self._lost = 0
        return response

    def _lose(self, request: Request, reason: str) -> Response:
        """The failure of a call that no try got through. Where that is so of many in a row, nobody is there."""
        self._lost += 1
        if self._lost >= max(LOST_IN_A_ROW, self.concurrency):
            line = f"{self.where}: {self._lost} calls in a row failed for good ({reason})"
            self._give_up(KitError(f"{line}; see that the endpoint is up, then run again: all answers are kept"))
        return Response.failure(request, reason)

    def _give_up(self, reason: KitError) -> None:
        """No further call, and nobody waits for another try."""
        self._given_up = self._given_up or reason
        self._wake.set()

    async def _ask(self, request: Request) -> Response:
        """One try, or a few where the endpoint takes a parameter by another name or not at all."""
        while True:
            async with self._throttle, self._spending.call(self.model, request) as charge:
                charge.withdraw()  # until it is sent
                while (pause := self._throttle.pause()) > 0 and not self._given_up:
                    await self._sleep(pause)
                if self._given_up:
                    raise self._given_up
                charge.send()
                started = time.monotonic()
                sent = self._dialect.form(request)
                try:
                    body = await self._call(sent, charge)
                    response = read_reply(request, body, self._dialect.settings(request, sent))
                    charge.paid(response.usage)
                except Transient as error:
                    if isinstance(error, Blank):
                        charge.paid(error.response.usage)
                    if error.overload:
                        self._throttle.slow_down(started)
                    if (error.retry_after or 0) <= self.longest_wait_seconds:
                        self._throttle.hold(error.retry_after or 0)  # before another call takes this one's place
                    raise
                except Permanent as error:
                    if error.about in HOPELESS:
                        raise self._hopeless(error) from None
                    if not self._dialect.learn(error, request, sent):
                        raise
                else:
                    self._throttle.speed_up()
                    return response

    async def _call(self, sent: dict[str, Any], charge: Charge) -> Any:
        """The JSON of a reply that holds a choice. Raises Transient or Permanent where there is none.

        A call that the endpoint refused is free; one whose reply was lost on the way may have been paid.
        """
        path = "/completions" if "prompt" in sent else "/chat/completions"
        free = self._free  # made before the clock runs
        client = free.pop()
        try:
            async with asyncio.timeout(self.model.timeout_seconds):  # in all: a reply may come drop by drop, for ever
                reply = await client.post(path, content=dump_line(sent), headers=JSON_HEADERS)
        except (TimeoutError, *LOST) as error:
            unheard = isinstance(error, UNHEARD)
            if unheard:
                charge.free()
            if isinstance(error, TimeoutError | httpx2.TimeoutException):
                line = f"timed out after {self.model.timeout_seconds:g} s; raise timeout_seconds"
                raise Transient(line, stubborn=not unheard) from None
            raise lost(error) from None
        finally:
            free.append(client)
        if not reply.is_success:
            charge.free()
            raise with_wait(fault_of(reply), reply)
        body = read_json(reply)
        if (fault := error_in(body)) is not None:
            if isinstance(body, dict) and body.get("error"):
                charge.free()
            elif isinstance(body, dict):
                charge.paid(token_counts(body.get("usage")))
            raise with_wait(fault, reply)
        return body

    async def _sleep(self, seconds: float) -> None:
        """Sleep, unless there is nothing left to wait for."""
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return
