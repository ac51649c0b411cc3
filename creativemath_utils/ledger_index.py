"""What is known of a ledger file without its texts: where each answer stands, what all come to, which lines are broken.

A million rows are read in seconds, and a file that has only grown is read on from where it ended.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import orjson

from creativemath_utils.records import SCHEMA, STATUSES, KitError


@dataclass
class Tally:
    """One model's answers in a file: their number, and the tokens of those whose tokens are counted."""

    model: str
    batch: bool  # asked through a batch interface
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    @property
    def usage(self) -> dict[str, int]:
        return {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}

    def add(self, usage: Any) -> None:
        """Count an answer with its usage; half a count of tokens is none."""
        self.calls += 1
        if isinstance(usage, dict):
            read, written = usage.get("input_tokens"), usage.get("output_tokens")
            if isinstance(read, int) and isinstance(written, int):
                self.input_tokens += read
                self.output_tokens += written


@dataclass
class Index:
    """The index of one file, as far as `end`: the end of its good part, in bytes and in lines."""

    places: dict[bytes, int] = field(default_factory=dict)  # key -> where its first answer begins
    tallies: dict[tuple[str, bool], Tally] = field(default_factory=dict)
    damaged: list[int] = field(default_factory=list)  # line numbers
    duplicates: int = 0  # lines that repeat an earlier key
    end: int = 0
    lines: int = 0
    ended: bool = True  # whether `end` is the end of a line: the newline of a whole answer may be missing

    def scan(self, descriptor: int, name: str) -> None:
        """Read on from `end`. Raises KitError for a row of a later kit, with `name` and line, and OSError."""
        offset, torn = self.end, 0  # the number of an unreadable line that may prove to be the last
        with open(descriptor, "rb", buffering=1 << 20, closefd=False) as lines:
            lines.seek(offset)
            for number, line in enumerate(lines, start=self.lines + 1):
                place, offset = offset, offset + len(line)
                if line.strip():
                    if torn:
                        self.damaged.append(torn)
                    row = decode(line)
                    torn = number if row is None else 0
                    if row is not None:
                        self._add(row, key_of(row, f"{name}:{number}"), place, number)
                        self.ended = line.endswith(b"\n")
                if not torn:
                    self.end, self.lines = offset, number

    def _add(self, row: Any, key: bytes | None, place: int, number: int) -> None:
        if key is None:
            if not (isinstance(row, dict) and row.get("status") == "failed"):  # an error row is no damage
                self.damaged.append(number)
        elif key in self.places:
            self.duplicates += 1
        else:
            self.places[key] = place
            settings = row.get("settings_used")
            about = row["model"], isinstance(settings, dict) and bool(settings.get("batch"))
            if about not in self.tallies:
                self.tallies[about] = Tally(*about)
            self.tallies[about].add(row.get("usage"))


def decode(line: bytes) -> Any:
    """The JSON value of a line, or None where it is none. orjson reads a million rows in seconds."""
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            return json.loads(line)  # takes lone surrogates, which orjson does not
        except (ValueError, RecursionError):
            return None


def key_of(row: Any, where: str = "") -> bytes | None:
    """The key of a row that holds an answer, else None. Raises KitError for a row of a later kit."""
    if not isinstance(row, dict):
        return None
    if row.get("schema", SCHEMA) != SCHEMA:
        raise KitError(f"{where}: schema {row['schema']!r}, this kit reads {SCHEMA}; use the kit that wrote the file")
    texts = all(isinstance(row.get(name), str) for name in ("key", "model", "text"))
    if not texts or not isinstance(row.get("request"), dict) or row.get("status") not in STATUSES[:-1]:
        return None
    try:
        key = bytes.fromhex(row["key"])
    except ValueError:
        return None
    return key if len(key) == 32 else None
