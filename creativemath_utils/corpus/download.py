"""A file from a pinned address: kept while it arrives, taken up again where it broke off, checked before it counts.

What has arrived lies beside the target as `<name>.part`. Only once its SHA-256 is the expected one does it take the
target's name, so a file under that name is whole, and running twice fetches once.
"""

from __future__ import annotations

import fcntl
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO

import httpx2
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from creativemath_utils.records import KitError
from creativemath_utils.store import shown

TIMEOUT = httpx2.Timeout(30.0, connect=10.0)  # seconds; between two pieces, not for the whole file
ATTEMPTS = 4
WAIT = wait_exponential(multiplier=0.5, max=8.0)  # seconds between attempts
EVERY_SECONDS = 2.0  # between lines of progress
_TRANSIENT = (408, 425, 429, 500, 502, 503, 504)


class _TryAgain(Exception):
    """A fault that may pass: no connection, one that broke off, a server that is busy."""


@dataclass(frozen=True)
class Source:
    """A file that never changes: its `address`, SHA-256 (64 hex digits) and `size` in bytes.

    `what` names it in messages; `by_hand` says what a person can do where it cannot be fetched.
    """

    address: str
    sha256: str
    size: int
    what: str
    by_hand: str


def fetch(source: Source, target: Path, say: Callable[[str], object] = print) -> Path:
    """The file at `target`, downloaded if it is not there yet.

    `say` is given a line now and then. Raises KitError, one line with the remedy, if there is no network, the address
    has no such file, what came is another file, or the disk says no.
    """
    if target.is_file() and _sha256(target) == source.sha256:
        return target
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with part.open("ab+") as file:
            _lock(file, part)
            try:
                _complete(source, file, say)
                part.replace(target)
            finally:
                if part.is_file() and part.stat().st_size == 0:
                    part.unlink()
    except OSError as error:
        raise KitError(f"{shown(target)} cannot be written ({error.strerror or error}); {source.by_hand}") from None
    say(f"{shown(target)}: {source.size:,} bytes, SHA-256 as expected")
    return target


def _lock(file: BinaryIO, part: Path) -> None:
    """Two runs must not write one file; the lock goes with the process, however that ends."""
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise KitError(f"{shown(part)} is being downloaded by another run; wait for that one") from None


def _complete(source: Source, file: BinaryIO, say: Callable[[str], object]) -> None:
    """Go on with a part until it is the whole file. An old part that leads to another file is thrown away once."""
    fresh = _length(file) == 0
    say(f"downloading {source.what} ({source.size:,} bytes) from {source.address}")
    if not fresh:
        say(f"  going on after {_length(file):,} bytes that are here already")
    while True:
        _receive(source, file, say)
        file.seek(0)
        found = hashlib.file_digest(file, "sha256").hexdigest()
        if found == source.sha256:
            return
        file.truncate(0)
        if fresh:
            raise KitError(
                f"{source.what}: what {source.address} sent has SHA-256 {found[:8]}..., expected "
                f"{source.sha256[:8]}..., and was thrown away (a sign-in page of the network?); {source.by_hand}"
            )
        say("  the part was of another file; once more from the start")
        fresh = True


def _receive(source: Source, file: BinaryIO, say: Callable[[str], object]) -> None:
    """Append what is missing, in a few attempts, each from where the last one broke off."""

    attempts = Retrying(
        retry=retry_if_exception_type(_TryAgain), stop=stop_after_attempt(ATTEMPTS), wait=WAIT, reraise=True
    )
    try:
        client = httpx2.Client(timeout=TIMEOUT, follow_redirects=True)
    except ValueError as error:  # of HTTP_PROXY, HTTPS_PROXY or ALL_PROXY
        raise KitError(f"{source.what}: the proxy in the environment is wrong ({error}); correct or unset it") from None
    try:
        with client:
            attempts(_attempt, client, source, file, say)
    except _TryAgain as fault:
        raise KitError(
            f"{source.what} cannot be downloaded from {source.address} ({fault}); run again to go on, or without a "
            f"network: {source.by_hand}"
        ) from None


def _attempt(client: httpx2.Client, source: Source, file: BinaryIO, say: Callable[[str], object]) -> None:
    if _length(file) > source.size:
        file.truncate(0)
    if _length(file) == source.size:
        return
    # `identity`: offsets of a compressed transfer would not be those of the file
    headers = {"Accept-Encoding": "identity"}
    if _length(file):
        headers["Range"] = f"bytes={_length(file)}-"
    try:
        with client.stream("GET", source.address, headers=headers) as reply:
            _check_status(reply, source, file)
            if not _continues(reply, file):
                file.truncate(0)  # the whole file comes, whatever was asked for
            _write(reply, source, file, say)
    except httpx2.DecodingError as error:
        file.truncate(0)
        raise _TryAgain(str(error)) from None
    except httpx2.RequestError as error:  # a broken connection, a silent one, none at all, redirected in a circle
        raise _TryAgain(str(error).strip() or type(error).__name__) from None
    if _length(file) < source.size:
        raise _TryAgain(f"it ends after {_length(file):,} of {source.size:,} bytes")


def _check_status(reply: httpx2.Response, source: Source, file: BinaryIO) -> None:
    code = reply.status_code
    if code in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
        return
    said = f"{code} {reply.reason_phrase}".strip()
    if code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        file.truncate(0)  # the server's file is shorter than the part: that was of another one
        raise _TryAgain(said)
    if code in _TRANSIENT:
        raise _TryAgain(said)
    raise KitError(f"{source.what}: {source.address} answers {said}; {source.by_hand}")


def _continues(reply: httpx2.Response, file: BinaryIO) -> bool:
    """Whether the answer goes on where the part ends. A server may ignore the wish; or send another range, and is then
    asked for the whole.
    """
    if reply.status_code != HTTPStatus.PARTIAL_CONTENT:
        return False
    offset, sent = _length(file), reply.headers.get("content-range", "")
    if not sent.startswith(f"bytes {offset}-"):
        file.truncate(0)
        raise _TryAgain(f"asked to go on at byte {offset:,}, the server sent {sent or 'no range'}")
    return True


def _write(reply: httpx2.Response, source: Source, file: BinaryIO, say: Callable[[str], object]) -> None:
    length, said = _length(file), time.monotonic()
    for piece in reply.iter_bytes():
        length += len(piece)
        if length > source.size:
            file.truncate(0)
            raise KitError(
                f"{source.what}: {source.address} sends more than the {source.size:,} bytes of that file; "
                f"{source.by_hand}"
            )
        file.write(piece)
        if time.monotonic() - said >= EVERY_SECONDS:
            said = time.monotonic()
            say(f"  {length:,} bytes, {length * 100 // source.size} percent")


def _length(file: BinaryIO) -> int:
    file.flush()
    return file.seek(0, 2)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
