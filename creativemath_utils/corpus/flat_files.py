"""Rows of JSON and csv files, each with its place, every value as it stands in the file.

The readers of `datasets` take a text such as 2016-01-01 for a date and 0012 in a csv file for 12, read NA as nothing,
and cannot name the line that is broken; so these two formats are read here.

    >>> list(csv_rows(Path("no.csv")))
    Traceback (most recent call last):
    creativemath_utils.records.KitError: no.csv cannot be read: No such file or directory; mend that and run again
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from creativemath_utils.records import KitError
from creativemath_utils.store import read_rows, shown

JSON, CSV = (".jsonl", ".ndjson", ".json"), (".csv", ".tsv")
MAX_CELL = 2**31 - 1  # the csv module stops at 131,072 characters otherwise

Row = tuple[str, Mapping[str, Any]]  # where it stands, and its values by column


def file_rows(path: Path, separator: str | None = None) -> Iterator[Row]:
    """The rows of a file whose name ends as one of JSON or CSV. Raises KitError that names file and line."""
    return json_rows(path) if path.suffix.lower() in JSON else csv_rows(path, separator)


def json_rows(path: Path) -> Iterator[Row]:
    """The objects of a JSON Lines file by line; of a JSON list, or of the only such list in an object, by number."""
    listed = _listed(path) if path.suffix.lower() == ".json" else None
    places = read_rows(path) if listed is None else ((f"{shown(path)}:{i}", v) for i, v in enumerate(listed, start=1))
    for at, value in places:
        if not isinstance(value, dict):
            raise KitError(f"{at}: expected a JSON object with columns and values, found {type(value).__name__}")
        yield f"{path.name}:{at.rpartition(':')[2]}", value


def _listed(path: Path) -> list[Any] | None:
    """The list in a JSON file; None where it is JSON Lines under another name."""
    try:
        content = json.loads(_content(path))
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return None
        raise KitError(f"{shown(path)}:{error.lineno}: not readable as JSON ({error.msg}); mend that line") from None
    if isinstance(content, dict):
        lists = [value for value in content.values() if _holds_objects(value)]
        if not lists:
            return [content]
        content = lists[0] if len(lists) == 1 else None
    if not isinstance(content, list):
        raise KitError(f"{shown(path)}: expected a list of objects, or an object a line; bring it into that form")
    return content


def _holds_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def csv_rows(path: Path, separator: str | None = None) -> Iterator[Row]:
    """The rows of a csv or tsv file with a header, every cell as the text that stands in it."""
    # newline="": a line end inside quotes stays as it is
    lines = io.StringIO(_content(path), newline="")
    reader = csv.reader(lines, delimiter=separator or ("\t" if path.suffix.lower() == ".tsv" else ","), strict=True)
    before = csv.field_size_limit(MAX_CELL)
    line = 1
    try:
        header = next(reader, [])
        if twice := [name for name, count in Counter(header).items() if count > 1]:
            raise KitError(
                f"{shown(path)}:1: column {twice[0]!r} stands twice in the header; give each a name of its own"
            )
        line = reader.line_num + 1
        for cells in reader:
            if cells and len(cells) != len(header):  # an empty line has none
                raise KitError(
                    f"{shown(path)}:{line}: {len(cells)} cells, the header has {len(header)}; mend that line"
                )
            if cells:
                yield f"{path.name}:{line}", dict(zip(header, cells, strict=True))
            line = reader.line_num + 1
    except csv.Error as error:
        raise KitError(f"{shown(path)}:{line}: not readable as csv ({error}); mend that line") from None
    finally:
        csv.field_size_limit(before)


def _content(path: Path) -> str:
    """The text of a file, without the mark that some programs put first. Raises KitError where it cannot be read."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise KitError(f"{shown(path)} cannot be read: {error.strerror or error}; mend that and run again") from None
    except UnicodeDecodeError as error:
        raise KitError(f"{shown(path)}: byte {error.start} is not UTF-8; save the file as UTF-8") from None
