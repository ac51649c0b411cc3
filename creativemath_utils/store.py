"""Where a run's files lie, and how they are read and written.

JSON Lines in UTF-8. A line ends at `\\n` and nowhere else, so U+2028 inside a text is a character like any other; a
lone surrogate, which UTF-8 cannot hold, is written as its JSON escape. Stage files are replaced in one atomic step.
The ledger, which only grows, is in `ledger.py`.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creativemath_utils.records import KitError
from creativemath_utils.rows import from_row, to_row

ROOT = Path(os.environ.get("CREATIVEMATH_ROOT") or Path(__file__).resolve().parents[1]).resolve()


@dataclass(frozen=True)
class RunPaths:
    """The files of one run, all below `data/runs/<run>` and `figures/<run>` of the root folder; see the README."""

    run: str
    root: Path = ROOT

    @property
    def folder(self) -> Path:
        return self.root / "data" / "runs" / self.run

    @property
    def figures(self) -> Path:
        return self.root / "figures" / self.run

    @property
    def problems(self) -> Path:
        return self.folder / "problems.jsonl"

    @property
    def dropped(self) -> Path:
        return self.folder / "dropped.jsonl"

    @property
    def categories(self) -> Path:
        return self.folder / "categories.jsonl"

    @property
    def responses(self) -> Path:
        return self.folder / "responses"

    @property
    def executed(self) -> Path:
        return self.folder / "executed"

    @property
    def pairs(self) -> Path:
        return self.folder / "votes" / "pairs.jsonl"

    @property
    def stability(self) -> Path:
        return self.folder / "votes" / "stability.jsonl"

    def solutions(self, generator: str) -> Path:
        return self.folder / "solutions" / f"{generator}.jsonl"

    def votes(self, generator: str) -> Path:
        return self.folder / "votes" / f"{generator}.jsonl"


def dump_line(value: Any) -> bytes:
    """One JSON object as a line of UTF-8, with its `\\n`."""
    try:
        return (json.dumps(value, ensure_ascii=False) + "\n").encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate
        return (json.dumps(value, ensure_ascii=True) + "\n").encode("ascii")


def write_atomic(path: Path, content: bytes) -> None:
    """Replace the file by `content`, wholly or not at all. Raises KitError where the disk is full or says no."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, 0o644)
            os.replace(temporary, path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise KitError(f"{shown(path)} cannot be written: {error.strerror or error}; mend that and run again") from None


def write_records(path: Path, records: Iterable[Any]) -> None:
    """Write records (dataclasses of `records.py`, or plain dicts) as JSON Lines in one atomic step."""
    write_atomic(path, b"".join(dump_line(r if isinstance(r, dict) else to_row(r)) for r in records))


def read_rows(path: Path, remedy: str = "") -> Iterator[tuple[str, Any]]:
    """Each line's `file:line` and JSON value. Raises KitError at the first line that is none."""
    if not path.is_file():
        raise KitError(f"{shown(path)} is missing{'; ' + remedy if remedy else ''}")
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            where = f"{shown(path)}:{number}"
            try:
                yield where, json.loads(line)
            except ValueError as error:  # also a line that is not UTF-8
                reason = f"{error.msg}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
                raise KitError(f"{where}: not readable as JSON ({reason}); mend or remove that line") from None


def read_records(path: Path, kind: type, remedy: str = "") -> list[Any]:
    """The records of class `kind` in a JSON Lines file."""
    return [from_row(kind, row, where) for where, row in read_rows(path, remedy)]


def shown(path: Path) -> str:
    """A path as a person would name it: below the root folder without the root."""
    try:
        return str(path.resolve().relative_to(ROOT))
    except ValueError:
        return str(path)
