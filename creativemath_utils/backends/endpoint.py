"""The way to an OpenAI-compatible endpoint, for a call at a time (`api.py`) and for whole batches (`batch.py`): its
address and key, the connections, and what its faults of every call mean to a person.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import ssl
from functools import cached_property
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2
from tenacity import RetryCallState, wait_random_exponential

from creativemath_utils.backends.dialect import PASSED_ON, Dialect
from creativemath_utils.backends.replies import Permanent, Transient, fault_of
from creativemath_utils.backends.throttle import read_retry_after
from creativemath_utils.models import Model
from creativemath_utils.records import KitError, Request, Response
from creativemath_utils.spending import Spending

logging.getLogger("httpx2").setLevel(logging.WARNING)  # its other lines show addresses, and what people put into them

TRIES = 12  # a third of all tries may fail for a while, and a call still gets through: (1/3)^12 is 2 in a million
CONNECT_SECONDS = 20
KEEP_SECONDS = 4  # an idle connection; many servers close theirs after 5, and a call sent just then is lost
POOL = 10  # connections of a client, which looks at each of them twice a call
LONGEST_WAIT_SECONDS = 300  # an endpoint that asks for more is left alone until the next run
SHORTEST_SHOWN = 7  # characters of a key that are worth hiding: a cut may have left only its first part
# No reply that could be read, for whatever reason; and of these, the ones where no model can have been asked.
LOST = (Transient, Permanent, httpx2.RequestError, httpx2.InvalidURL, OSError)
UNHEARD = (
    Transient, Permanent, httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError, httpx2.TooManyRedirects,
    httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, httpx2.InvalidURL,
)  # fmt: skip


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
        """The address as it may be shown."""
        return bare(self.model.base_url or "")

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
        address = httpx2.URL(self.model.base_url or "")
        plain = address.scheme == "http"  # then it needs no certificates, which take a while
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if plain else httpx2.create_ssl_context()
        try:
            return [
                httpx2.AsyncClient(
                    base_url=address.copy_with(query=None, fragment=None),
                    params=address.params,
                    headers={"Authorization": f"Bearer {self._key}", "Accept": "application/json"},
                    cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # no call hangs on an earlier one
                    timeout=httpx2.Timeout(self.model.timeout_seconds, connect=CONNECT_SECONDS),
                    limits=httpx2.Limits(
                        max_connections=None, max_keepalive_connections=POOL, keepalive_expiry=KEEP_SECONDS
                    ),
                    follow_redirects=True,
                    event_hooks={"response": [_on_reply]},
                    verify=context,
                )
                for _ in range(-(-self._connections // POOL))
            ]
        except (ImportError, ValueError, httpx2.InvalidURL) as error:  # the one thing here that nobody has looked at
            line = f"the proxy that the environment names cannot be used ({type(error).__name__}: {bare(str(error))})"
            raise KitError(
                f"{line}; correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY, or name the host in NO_PROXY"
            ) from None

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
                fault = lost(error)
                if isinstance(fault, Permanent):
                    raise self._hopeless(fault) from None
                if last:
                    line = f"cannot reach {self.where} ({said(error)}); start the server or correct base_url"
                    raise KitError(self._clean(f"{line}{self._by_proxy()}")) from None
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
        if error.about == "address":
            return KitError(self._clean(f"{self.where} {error}; correct base_url"))
        line = f"{self.where} knows no model {self.model.id!r} ({error}); correct id or base_url"
        return KitError(self._clean(line))

    def _by_proxy(self) -> str:
        """What to look at besides, where the environment sends the calls through a proxy."""
        parts = urlsplit(self.model.base_url or "")
        proxies = getproxies()
        if not (proxies.get(parts.scheme) or proxies.get("all")) or proxy_bypass(parts.hostname or ""):
            return ""
        return f". The environment names a proxy: where none is needed, add {parts.hostname} to NO_PROXY"

    def _wait(self, state: RetryCallState) -> float:
        """Seconds until the next try: what the endpoint asked for, spread a little, or an exponential backoff."""
        error = state.outcome.exception() if state.outcome else None
        asked = getattr(error, "retry_after", None) or 0.0  # "at once" is no reason to use up all tries at once
        if asked > self.longest_wait_seconds:
            raise KitError(f"{self.where} asks to wait {asked:.0f} s; run again later, nothing is lost")
        return asked + min(self._backoff(state), asked or float("inf"))

    def _clean(self, text: str) -> str:
        """A message without the key, should an endpoint have echoed it (be it in UTF-16), on one line."""
        return " ".join(mask(text.replace("\0", ""), self._key).split())


def with_wait(fault: Transient | Permanent, reply: httpx2.Response) -> Transient | Permanent:
    """The fault with what the reply says of when to come again."""
    if isinstance(fault, Transient):
        fault.retry_after = read_retry_after(reply.headers.get("retry-after"))
    return fault


def lost(error: Exception) -> Transient | Permanent:
    """What an error of LOST means."""
    if isinstance(error, httpx2.TooManyRedirects):
        return Permanent("sends calls round in circles", "address")
    return error if isinstance(error, Transient | Permanent) else Transient(f"connection failed ({said(error)})")


async def _on_reply(reply: httpx2.Response) -> None:
    """Raises Permanent, or Transient, where a reply sends a call elsewhere for good, or for now, where it would not
    arrive as it is: without its body, or past the certificates, which an address with TLS needs.
    """
    reply.encoding = "utf-8"  # of its text; some names that a reply may give there are those of no text at all
    if not reply.has_redirect_location:
        return
    try:
        there = reply.url.join(reply.headers["location"])
    except httpx2.InvalidURL:
        raise Permanent("sends calls on to no address", "address") from None
    emptied = reply.request.method == "POST" and reply.status_code not in (307, 308)
    if emptied or there.scheme != reply.url.scheme:
        line = f"sends calls on to {bare(str(there))} (HTTP {reply.status_code})"
        if reply.status_code in (301, 308):
            raise Permanent(line, "address")
        raise Transient(f"{line}; see whether base_url is right", stubborn=True)


def bare(address: str) -> str:
    """An address, or a line with one, as it may be shown: without a password or key that someone has put into it.

    >>> bare("http://me:secret@127.0.0.1/v1/?key=secret")
    'http://127.0.0.1/v1'
    """
    return re.sub(r"//[^/]*@", "//", address.partition("?")[0]).rstrip("/")


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
