"""Any OpenAI-compatible endpoint, through the openai client, many calls in flight.

A call is sent as the JSON built here and read from the JSON that came, since endpoints differ in what they take and
leave out; the client's typed requests and replies would also cost more time than all the rest.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpx2
import openai
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from creativemath_utils.backends.endpoint import TRIES, Endpoint
from creativemath_utils.backends.replies import Blank, Permanent, Transient, classify, error_in, read_reply
from creativemath_utils.backends.throttle import Throttle, read_retry_after
from creativemath_utils.models import Model
from creativemath_utils.records import KitError, Request, Response
from creativemath_utils.spending import Charge, Spending
from creativemath_utils.store import dump_line

PAID_BLANK_TRIES = 3  # a reply without text that was paid for: more likely the model's answer than a fault
LONGEST_WAIT_SECONDS = 300  # an endpoint that asks for more is left alone until the next run
JSON_HEADERS = {"Content-Type": "application/json"}


class ApiBackend(Endpoint):
    """A model asked a call at a time. `concurrency` is the number of calls in flight."""

    def __init__(
        self,
        model: Model,
        concurrency: int,
        *,
        spending: Spending | None = None,
        tries: int = TRIES,
        backoff_seconds: float = 1.0,
        longest_wait_seconds: float = LONGEST_WAIT_SECONDS,
    ) -> None:
        super().__init__(model, concurrency, spending)
        self.concurrency = concurrency
        self.tries = tries
        self.longest_wait_seconds = longest_wait_seconds
        self._backoff = wait_random_exponential(multiplier=backoff_seconds, max=60)
        self._throttle = Throttle(concurrency)
        self._given_up: KitError | None = None  # why no further call can succeed
        self._wake = asyncio.Event()  # set with it, so that nobody waits for a retry in vain

    async def answers(self, requests: Iterable[Request]) -> AsyncIterator[Response]:
        """Responses as they come. Where no further call can succeed, those in flight are let end before KitError."""
        self._given_up = None
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
                self._given_up = self._given_up or error
                self._wake.set()
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
        retrying = AsyncRetrying(
            stop=self._enough,
            retry=retry_if_exception_type(Transient),
            wait=self._wait,
            sleep=self._sleep,
            reraise=True,
        )
        try:
            return await retrying(self._ask, request)
        except Blank as error:
            if error.paid:
                return error.response
            return Response.failure(request, f"{error}; gave up after {self.tries} tries")
        except Transient as error:
            return Response.failure(request, self._clean(f"{error}; gave up after {self.tries} tries"))
        except Permanent as error:
            return self._outcome(request, error)

    async def _ask(self, request: Request) -> Response:
        """One try, or a few where the endpoint takes a parameter by another name or not at all."""
        while True:
            while (pause := self._throttle.pause()) > 0 and not self._given_up:
                await self._sleep(pause)
            async with self._throttle as started, self._spending.call(self.model, request) as charge:
                if self._given_up:
                    charge.withdraw()
                    raise self._given_up
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
                    raise
                except Permanent as error:
                    if error.about in ("key", "credit", "model"):
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
        options: Any = {"headers": JSON_HEADERS}
        try:
            async with asyncio.timeout(self.model.timeout_seconds):  # in all: a reply may come drop by drop, for ever
                reply = await self._client.post(path, cast_to=httpx2.Response, content=dump_line(sent), options=options)
        except (TimeoutError, openai.APITimeoutError) as error:
            if isinstance(error.__cause__, httpx2.ConnectTimeout):
                charge.free()
            raise Transient(f"timed out after {self.model.timeout_seconds:g} s; raise timeout_seconds") from None
        except openai.APIConnectionError as error:
            if isinstance(error.__cause__, httpx2.ConnectError):
                charge.free()
            raise Transient(f"connection failed ({error.__cause__ or error})") from None
        except openai.APIStatusError as error:
            charge.free()
            fault = classify(error.status_code, error.body, error.response.text)
            raise self._with_wait(fault, error.response) from None
        try:
            body = reply.json()
        except ValueError:
            raise Transient(f"reply is no JSON: {reply.text[:80]!r}") from None
        if (fault := error_in(body)) is not None:
            if isinstance(body, dict) and body.get("error"):
                charge.free()
            raise self._with_wait(fault, reply)
        return body

    def _enough(self, state: RetryCallState) -> bool:
        error = state.outcome.exception() if state.outcome else None
        most = min(self.tries, PAID_BLANK_TRIES) if isinstance(error, Blank) and error.paid else self.tries
        return state.attempt_number >= most

    def _wait(self, state: RetryCallState) -> float:
        """Seconds until the next try: what the endpoint asked for, spread a little, or an exponential backoff."""
        error = state.outcome.exception() if state.outcome else None
        asked = getattr(error, "retry_after", None) or 0.0  # "at once" is no reason to use up all tries at once
        if asked > self.longest_wait_seconds:
            raise KitError(f"{self.where} asks to wait {asked:.0f} s; run again later, nothing is lost")
        if asked:
            self._throttle.hold(asked)
        return asked + min(self._backoff(state), asked or float("inf"))

    async def _sleep(self, seconds: float) -> None:
        """Sleep, unless there is nothing left to wait for."""
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            return

    def _with_wait(self, fault: Transient | Permanent, reply: httpx2.Response) -> Transient | Permanent:
        if isinstance(fault, Transient):
            fault.retry_after = read_retry_after(reply.headers.get("retry-after"))
        return fault
