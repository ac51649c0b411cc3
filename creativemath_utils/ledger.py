"""The ledger: every answer of a model, once, for ever. Cache, resume and recording in one.

A ledger is a JSON Lines file with one answer a line, `key` first. It only grows; the first answer to a key counts. What
is held in memory is an index of keys and places, not the texts. One run writes a file, others may read it; the lock is
on the file itself (flock), so that a killed run leaves none behind and no second file lies beside the recording.

What a broken file means: a torn last line (the process was killed while writing) is cut off when the file is next
opened for writing, with one warning; damage elsewhere is reported with its line numbers, skipped, and left as it is.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from creativemath_utils.ledger_index import Index, Tally, decode, key_of
from creativemath_utils.records import SCHEMA, KitError, Response
from creativemath_utils.store import dump_line, shown

log = logging.getLogger(__name__)

LOCK_SECONDS = 5  # a killed run's kernel may outlive it for a moment
NOT_STORED = ("error",)
CHUNK = 1 << 14  # bytes; a row is about 6 kB


class Ledger:
    """One ledger file. Opened for reading, or (`writable=True`) as its only writer.

    `known` is the same file opened for reading before: what it knows holds here too, and only what has been added since
    is read, as long as the file is still that one. Raises KitError if another run is writing the file, or if it cannot
    be opened, read or mended.
    """

    def __init__(
        self, path: Path, *, writable: bool = False, lock_seconds: float = LOCK_SECONDS, known: Ledger | None = None
    ) -> None:
        self.path = path
        self._index = Index()
        try:
            self._file = _open(path, writable)
        except OSError as error:
            raise KitError(f"{shown(path)} cannot be opened: {error.strerror}; mend that and run again") from None
        try:
            if writable:
                self._take_lock(lock_seconds)
            if known is not None and self._still_reads(known):
                self._index = known._index
            said = len(self.damaged), self.duplicates
            self._index.scan(self._file.fileno(), shown(path))
            if writable:
                self._heal()
        except OSError as error:
            self.close()
            raise KitError(f"{shown(path)}: {error.strerror or error}; mend that and run again") from None
        except BaseException:
            self.close()
            raise
        self._report(*said)

    def __len__(self) -> int:
        return len(self._index.places)

    def __contains__(self, key: str) -> bool:
        return bytes.fromhex(key) in self._index.places

    def __iter__(self) -> Iterator[str]:
        return (key.hex() for key in self._index.places)

    @property
    def damaged(self) -> list[int]:
        """The numbers of the lines that cannot be read."""
        return self._index.damaged

    @property
    def duplicates(self) -> int:
        """How many lines repeat an earlier key."""
        return self._index.duplicates

    @property
    def tallies(self) -> list[Tally]:
        """What the answers come to that were there when the file was opened."""
        return list(self._index.tallies.values())

    def find(self, key: str) -> Response | None:
        """The recorded answer of that key, or None."""
        place = self._index.places.get(bytes.fromhex(key))
        if place is None:
            return None
        row = decode(self._line_at(place))
        if key_of(row) != bytes.fromhex(key):
            raise KitError(f"{shown(self.path)} was changed by another program while in use; run again")
        return Response(**{name: row[name] for name in Response.__dataclass_fields__ if name in row})

    def append(self, responses: Iterable[Response]) -> None:
        """Put answers on disk (written and synced when this returns). An answer that is there already is left out.

        A disk that is full leaves the file as it was and raises KitError. Raises ValueError for a failed call, which is
        no answer.
        """
        lines: dict[bytes, bytes] = {}
        for response in responses:
            if response.status == "failed":
                raise ValueError(f"a failed call is no answer: {response.error}")
            key = bytes.fromhex(response.key)
            if key not in self._index.places and key not in lines:
                lines[key] = dump_line(_row(response))
        if not lines:
            return
        descriptor = self._file.fileno()
        try:
            if not os.path.samestat(os.stat(self.path), os.fstat(descriptor)):
                raise OSError(errno.ESTALE, "another program put another file in its place")
            _write_all(descriptor, b"".join(lines.values()), self._index.end)
            os.fsync(descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):  # then the torn line stays, and the next opening cuts it off
                os.ftruncate(descriptor, self._index.end)
            raise KitError(
                f"{shown(self.path)}: {error.strerror}; the answers up to here are kept. "
                "Mend that and run again: only the rest will be asked"
            ) from None
        for key, line in lines.items():
            self._index.places[key] = self._index.end
            self._index.end += len(line)
            self._index.lines += 1

    def close(self) -> None:
        """Let go of the file, and with it of the lock."""
        self._file.close()

    def _take_lock(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while True:
            try:
                return fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    raise KitError(
                        f"{shown(self.path)} is being written by another run, in this kernel or in another process; "
                        "wait for it or stop it, then run again"
                    ) from None
                time.sleep(0.05)
            except OSError as error:
                raise KitError(
                    f"{shown(self.path)} cannot be locked ({error.strerror}); put the run's folder on another disk"
                ) from None

    def _still_reads(self, known: Ledger) -> bool:
        """Whether a reader's index holds for this file: no other file has come into its place, and it was not cut."""
        there, then = os.fstat(self._file.fileno()), os.fstat(known._file.fileno())
        return os.path.samestat(there, then) and known._index.ended and there.st_size >= known._index.end

    def _heal(self) -> None:
        """Cut off a torn last line, or end it where only its newline is missing."""
        descriptor = self._file.fileno()
        end, size = self._index.end, os.fstat(descriptor).st_size
        if end < size:
            log.warning("%s: cut off a torn last line of %d bytes; that call will be asked again", shown(self.path),
                        size - end)  # fmt: skip
            os.ftruncate(descriptor, end)
        elif not self._index.ended:
            _write_all(descriptor, b"\n", end)
            self._index.end, self._index.ended = end + 1, True

    def _report(self, damaged: int, duplicates: int) -> None:
        """Warn of what is wrong, beyond so many faults that the reader of the file has told already."""
        if fresh := self.damaged[damaged:]:
            lines = ", ".join(map(str, fresh[:20])) + (" ..." if len(fresh) > 20 else "")
            plural = "s" if len(fresh) > 1 else ""
            log.warning("%s: skipped unreadable line%s %s; what they held will be asked again", shown(self.path),
                        plural, lines)  # fmt: skip
        if self.duplicates > duplicates:
            log.warning("%s: %d lines repeat an earlier key; the first answer counts", shown(self.path),
                        self.duplicates)  # fmt: skip

    def _line_at(self, place: int) -> bytes:
        parts = []
        while chunk := os.pread(self._file.fileno(), CHUNK, place):
            line, newline, _ = chunk.partition(b"\n")
            parts.append(line)
            if newline:
                break
            place += len(chunk)
        return b"".join(parts)


class Ledgers:
    """All the ledgers a run may look into: the recording, if there is one, then its own files.

    The recording is read first, then the file a request belongs to, then the others (equal requests of a run are asked
    once, whichever file the answer went to).
    """

    def __init__(self, folder: Path, recording: Path | None = None, lock_seconds: float = LOCK_SECONDS) -> None:
        self.folder = folder
        self.recording = recording
        self._lock_seconds = lock_seconds
        if recording is not None and not any(recording.glob("*.jsonl")):
            raise KitError(f"{shown(recording)}: no recorded answers there; correct `recording:` in the profile")
        self._recorded = [Ledger(path) for path in sorted(recording.glob("*.jsonl"))] if recording else []
        self._own = {path.stem: Ledger(path) for path in sorted(folder.glob("*.jsonl"))}
        self._writing: set[str] = set()

    def find(self, key: str, own: str = "") -> Response | None:
        """The recorded answer of that key, or None. `own` is the ledger that the request belongs to."""
        first = [self._own[own]] if own in self._own else []
        for ledger in (*self._recorded, *first, *(self._own[name] for name in sorted(self._own))):
            if (found := ledger.find(key)) is not None:
                return found
        return None

    def writable(self, name: str) -> Ledger:
        """The ledger of that name, opened for writing once: what another run wrote meanwhile is then in it."""
        if name not in self._writing:
            opened = Ledger(
                self.folder / f"{name}.jsonl",
                writable=True,
                lock_seconds=self._lock_seconds,
                known=self._own.get(name),
            )
            if name in self._own:
                self._own[name].close()
            self._own[name] = opened
            self._writing.add(name)
        return self._own[name]

    def tallies(self) -> list[Tally]:
        """What the run's own files held when they were opened, without the recording."""
        return [tally for ledger in self._own.values() for tally in ledger.tallies]

    def close(self) -> None:
        """Let go of all files and locks."""
        for ledger in (*self._recorded, *self._own.values()):
            ledger.close()


def _open(path: Path, writable: bool) -> Any:
    if not writable:
        return path.open("rb", buffering=0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path.open("r+b", buffering=0)


def _row(response: Response) -> dict[str, Any]:
    row = {name: value for name, value in asdict(response).items() if name not in NOT_STORED}
    return {**row, "schema": SCHEMA}


def _write_all(descriptor: int, content: bytes, offset: int) -> None:
    view = memoryview(content)
    while view:
        written = os.pwrite(descriptor, view, offset)
        offset += written
        view = view[written:]
