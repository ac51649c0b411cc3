"""The way to an OpenAI-compatible endpoint, for a call at a time (`api.py`) and for whole batches (`batch.py`): its
address and key, the connections, and what its faults of every call mean to a person.
"""

from __future__ import annotations

import asyncio
import os
import re
import ssl
from functools import cached_property
from urllib.parse import urlsplit

import httpx2
from tenacity import RetryCallState, wait_random_exponential

from creativemath_utils.backends.dialect import PASSED_ON, Dialect
from creativemath_utils.backends.replies import Permanent, Transient, fault_of
from creativemath_utils.backends.throttle import read_retry_after
from creativemath_utils.models import Model
from creativemath_utils.records import KitError, Request, Response
from creativemath_utils.spending import Spending

TRIES = 12  # a third of all tries may fail for a while, and a call still gets through: (1/3)^12 is 2 in a million
CONNECT_SECONDS = 20
POOL = 10  # connections of a client, which looks at each of them twice a call
LONGEST_WAIT_SECONDS = 300  # an endpoint that asks for more is left alone until the next run
SHORTEST_SHOWN = 7  # characters of a key that are worth hiding: a cut may have left only its first part
LOST = (httpx2.RequestError, httpx2.InvalidURL, OSError)  # no reply that could be read, for whatever reason


class Endpoint:
    """A model behind an OpenAI-compatible endpoint. `connections` are used at once; `spending` is the run's account.

    `backoff_seconds` is the scale of the waits between `tries`.
    """

    def __init__(
        self,
        model: Model,
        connections: int,
        spending: Spending | None = None,
        *,
        tries: int = TRIES,
        backoff_seconds: float = 1.0,
        longest_wait_seconds: float = LONGEST_WAIT_SECONDS,
    ) -> None:
        self.model = model
        self.tries = tries
        self.longest_wait_seconds = longest_wait_seconds
        self._backoff = wait_random_exponential(multiplier=backoff_seconds, max=60)
        self._connections = connections
        self._spending = spending or Spending()
        self._dialect = Dialect(model)

    @property
    def where(self) -> str:
        """The address as it may be shown: without a password or key that someone has put into it."""
        return re.sub(r"//[^/@]*@", "//", (self.model.base_url or "").partition("?")[0]).rstrip("/")

    @property
    def _key(self) -> str:
        return os.environ.get(self.model.api_key_env, "").strip() if self.model.api_key_env else "none"

    @property
    def _http(self) -> httpx2.AsyncClient:
        """Connections for a call now and then; the openai client uses them too."""
        return self._clients[0]

    @cached_property
    def _clients(self) -> list[httpx2.AsyncClient]:
        """As many clients as the connections want, at POOL each. Whether to ask again is decided here, not there."""
        plain = (self.model.base_url or "").startswith("http:")  # then it needs no certificates, which take a while
        return [
            httpx2.AsyncClient(
                base_url=self.model.base_url or "",
                headers={"Authorization": f"Bearer {self._key}", "Accept": "application/json"},
                timeout=httpx2.Timeout(self.model.timeout_seconds, connect=CONNECT_SECONDS),
                limits=httpx2.Limits(max_connections=None, max_keepalive_connections=POOL),
                follow_redirects=True,
                verify=context,
            )
            for context in [ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx2.create_ssl_context()]
            for _ in range(-(-self._connections // POOL))
        ]

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
        for last in (False, True):
            try:
                reply = await self._http.get("/models", timeout=CONNECT_SECONDS)
            except LOST as error:
                if last:
                    reason = self._clean(said(error))
                    line = f"cannot reach {self.where} ({reason}); start the server or correct base_url"
                    raise KitError(line) from None
            else:  # someone is there, be it without this list
                fault = None if reply.is_success else fault_of(reply)
                if isinstance(fault, Permanent) and fault.about in ("key", "credit"):
                    raise self._hopeless(fault)
                return
            await asyncio.sleep(0.5)

    async def close(self) -> None:
        for client in self.__dict__.pop("_clients", ()):
            await client.aclose()

    def _refusal(self, request: Request) -> Response | None:
        """The failure of a request that cannot be sent as it was meant."""
        unknown = sorted(set(request.decoding) - {"max_new_tokens", *PASSED_ON})
        if not unknown:
            return None
        return Response.failure(request, f"decoding key {unknown[0]!r} is not known here; put it under extra_body")

    def _outcome(self, request: Request, error: Permanent) -> Response:
        """What a permanent error makes of a request: a prompt that was blocked is an outcome, all else a failure."""
        if error.about == "blocked":
            return Response.answer(request, "", status="blocked", finish_reason="content_filter")
        return Response.failure(request, self._clean(str(error)))

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

    def _wait(self, state: RetryCallState) -> float:
        """Seconds until the next try: what the endpoint asked for, spread a little, or an exponential backoff."""
        error = state.outcome.exception() if state.outcome else None
        asked = getattr(error, "retry_after", None) or 0.0  # "at once" is no reason to use up all tries at once
        if asked > self.longest_wait_seconds:
            raise KitError(f"{self.where} asks to wait {asked:.0f} s; run again later, nothing is lost")
        return asked + min(self._backoff(state), asked or float("inf"))

    def _clean(self, text: str) -> str:
        """A message without the key, should an endpoint have echoed it, on one line."""
        return " ".join(mask(text, self._key).split())


def with_wait(fault: Transient | Permanent, reply: httpx2.Response) -> Transient | Permanent:
    """The fault with what the reply says of when to come again."""
    if isinstance(fault, Transient):
        fault.retry_after = read_retry_after(reply.headers.get("retry-after"))
    return fault


def said(error: Exception) -> str:
    """What an error says, or what it is where it says nothing."""
    return str(error) or type(error).__name__


def mask(text: str, key: str) -> str:
    """The text without the key, and without a first part of the key that is long enough to tell.

    >>> mask("Bearer sk-0123456789, and cut off: sk-01234", "sk-0123456789")
    'Bearer ***, and cut off: ***'
    """
    if len(key) < SHORTEST_SHOWN:
        return text
    first, rest = key[:SHORTEST_SHOWN], key[SHORTEST_SHOWN:]
    before, *parts = text.split(first)
    lengths = (next(n for n in range(len(rest), -1, -1) if part.startswith(rest[:n])) for part in parts)
    return before + "".join("***" + part[length:] for part, length in zip(parts, lengths, strict=True))


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        return False
