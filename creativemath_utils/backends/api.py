"""Any OpenAI-compatible endpoint, through the openai client, many calls in flight.

The client's own retries are off: whether to ask again is decided here, by what an error means and not by its status
alone. A call is sent as the JSON built here and read from the JSON that came, since endpoints differ in what they take
and leave out; the client's typed requests and replies would also cost more time than all the rest.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator, Iterable
from typing import Any
from urllib.parse import urlsplit

import httpx2
import openai
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception_type, wait_random_exponential

from creativemath_utils.backends.dialect import PASSED_ON, Dialect
from creativemath_utils.backends.replies import Blank, Permanent, Transient, classify, error_in, read_reply
from creativemath_utils.backends.throttle import Throttle, read_retry_after
from creativemath_utils.models import Model
from creativemath_utils.records import KitError, Request, Response
from creativemath_utils.store import dump_line

TRIES = 12  # a third of all tries may fail for a while, and a call still gets through: (1/3)^12 is 2 in a million
PAID_BLANK_TRIES = 3  # a reply without text that was paid for: more likely the model's answer than a fault
LONGEST_WAIT_SECONDS = 300  # an endpoint that asks for more is left alone until the next run
CONNECT_SECONDS = 20
JSON_HEADERS = {"Content-Type": "application/json"}


class ApiBackend:
    """A model behind an OpenAI-compatible endpoint. `concurrency` is the number of calls in flight."""

    def __init__(
        self,
        model: Model,
        concurrency: int,
        *,
        tries: int = TRIES,
        backoff_seconds: float = 1.0,
        longest_wait_seconds: float = LONGEST_WAIT_SECONDS,
    ) -> None:
        self.model = model
        self.concurrency = concurrency
        self.tries = tries
        self.longest_wait_seconds = longest_wait_seconds
        self._backoff = wait_random_exponential(multiplier=backoff_seconds, max=60)
        self._throttle = Throttle(concurrency)
        self._given_up: KitError | None = None  # why no further call can succeed
        self._wake = asyncio.Event()  # set with it, so that nobody waits for a retry in vain
        self._dialect = Dialect(model)
        self._client_made: openai.AsyncOpenAI | None = None

    @property
    def where(self) -> str:
        """The address as it may be shown: without a password or key that someone has put into it."""
        return re.sub(r"//[^/@]*@", "//", (self.model.base_url or "").partition("?")[0])

    @property
    def _key(self) -> str:
        return os.environ.get(self.model.api_key_env, "").strip() if self.model.api_key_env else "none"

    @property
    def _client(self) -> openai.AsyncOpenAI:
        if self._client_made is None:
            timeout = httpx2.Timeout(self.model.timeout_seconds, connect=CONNECT_SECONDS)
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=self.concurrency)
            self._client_made = openai.AsyncOpenAI(
                api_key=self._key,
                base_url=self.model.base_url,
                max_retries=0,
                http_client=openai.DefaultAsyncHttpxClient(timeout=timeout, limits=limits),
            )
        return self._client_made

    def missing(self) -> list[str]:
        if self.model.base_url is None:
            return ["no base_url; add it to the model's entry under `models:`"]
        if not _is_address(self.model.base_url):
            return [f"base_url {self.where!r} is no address such as http://127.0.0.1:8000/v1; correct it"]
        variable = self.model.api_key_env
        if variable and not self._key:
            return [f"the environment variable {variable} is not set; put the endpoint's key there"]
        if variable and not re.fullmatch(r"[!-~]+", self._key):
            return [f"the key in {variable} holds a space or a sign that no key has; copy it again"]
        return []

    async def preflight(self) -> None:
        """List the endpoint's models: free, and enough to tell a wrong port or key."""
        client = self._client.with_options(timeout=CONNECT_SECONDS)
        for last in (False, True):
            try:
                await client.get("/models", cast_to=httpx2.Response)
                return
            except openai.APIStatusError as error:
                fault = classify(error.status_code, error.body, error.response.text)
                if isinstance(fault, Permanent) and fault.about in ("key", "credit"):
                    raise self._hopeless(fault) from None
                return  # someone is there, though without this list
            except openai.APIConnectionError as error:
                if last:
                    reason = self._clean(str(error.__cause__ or error) or "no answer")
                    line = f"cannot reach {self.where} ({reason}); start the server or correct base_url"
                    raise KitError(line) from None
            await asyncio.sleep(0.5)

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

    async def close(self) -> None:
        if self._client_made is not None:
            await self._client_made.close()
            self._client_made = None

    async def _answer(self, request: Request) -> Response:
        """One request, asked until it is answered or known to be in vain."""
        unknown = sorted(set(request.decoding) - {"max_new_tokens", *PASSED_ON})
        if unknown:
            return Response.failure(request, f"decoding key {unknown[0]!r} is not known here; put it under extra_body")
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
            if error.about == "blocked":
                return Response.answer(request, "", status="blocked", finish_reason="content_filter")
            return Response.failure(request, self._clean(str(error)))

    async def _ask(self, request: Request) -> Response:
        """One try, or a few where the endpoint takes a parameter by another name or not at all."""
        while True:
            while (pause := self._throttle.pause()) > 0 and not self._given_up:
                await self._sleep(pause)
            async with self._throttle as started:
                if self._given_up:
                    raise self._given_up
                sent = self._dialect.form(request)
                try:
                    response = read_reply(request, await self._call(sent), self._dialect.settings(request, sent))
                except Transient as error:
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

    async def _call(self, sent: dict[str, Any]) -> Any:
        """The JSON of a reply that holds a choice. Raises Transient or Permanent where there is none."""
        path = "/completions" if "prompt" in sent else "/chat/completions"
        options: Any = {"headers": JSON_HEADERS}
        try:
            async with asyncio.timeout(self.model.timeout_seconds):  # in all: a reply may come drop by drop, for ever
                reply = await self._client.post(path, cast_to=httpx2.Response, content=dump_line(sent), options=options)
        except (TimeoutError, openai.APITimeoutError):
            raise Transient(f"timed out after {self.model.timeout_seconds:g} s; raise timeout_seconds") from None
        except openai.APIConnectionError as error:
            raise Transient(f"connection failed ({error.__cause__ or error})") from None
        except openai.APIStatusError as error:
            fault = classify(error.status_code, error.body, error.response.text)
            raise self._with_wait(fault, error.response) from None
        try:
            body = reply.json()
        except ValueError:
            raise Transient(f"reply is no JSON: {reply.text[:80]!r}") from None
        if (fault := error_in(body)) is not None:
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

    def _hopeless(self, error: Permanent) -> KitError:
        """A fault of every call to this model, with its remedy."""
        variable = self.model.api_key_env
        if error.about == "key":
            remedy = f"check the key in {variable}" if variable else "name the key's variable in api_key_env"
            return KitError(self._clean(f"{self.where} rejected the key ({error}); {remedy}"))
        if error.about == "credit":
            return KitError(self._clean(f"{self.where} has no credit left ({error}); top it up, then run again"))
        line = f"{self.where} knows no model {self.model.id!r} ({error}); correct id or base_url"
        return KitError(self._clean(line))

    def _clean(self, text: str) -> str:
        """A message without the key, should an endpoint have echoed it, on one line."""
        key = self._key
        text = text.replace(key, "***") if len(key) > 6 else text
        return " ".join(text.split())


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        return False
