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
FILES = (*JSON, *CSV, ".parquet")  # what a single file of a dataset may be
UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # what such a file begins with
MAX_CELL = 2**31 - 1  # the csv module stops at 131,072 characters otherwise

Row = tuple[str, Mapping[str, Any]]  # where it stands, and its values by column


def file_rows(path: Path, separator: str | None = None) -> Iterator[Row]:
    """The rows of a file whose name ends as one of JSON or CSV. Raises KitError that names file and line."""
    return json_rows(path) if path.suffix.lower() in JSON else csv_rows(path, separator)


def json_rows(path: Path) -> Iterator[Row]:
    """The objects of a JSON Lines file by line; of a JSON list, or of the only such list in an object, by number."""
    _refuse_utf_16(path)
    listed = _listed(path) if path.suffix.lower() == ".json" else None
    places = read_rows(path) if listed is None else ((f"{shown(path)}:{i}", v) for i, v in enumerate(listed, start=1))
    try:
        for at, value in places:
            if not isinstance(value, dict):
                raise KitError(f"{at}: expected a JSON object with columns and values, found {type(value).__name__}")
            yield f"{path.name}:{at.rpartition(':')[2]}", value
    except RecursionError:
        raise KitError(f"{shown(path)}: a value holds too many others in one another; mend that") from None


def _listed(path: Path) -> list[Any] | None:
    """The list in a JSON file; None where it is JSON Lines under another name."""
    try:
        content = json.loads(_content(path))
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            return None
        raise KitError(f"{shown(path)}:{error.lineno}: not readable as JSON ({error.msg}); mend that line") from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits; brackets in brackets
        raise KitError(f"{shown(path)}: not readable as JSON ({error}); mend that") from None
    form, lists = "a list of objects, or an object a line", []
    if isinstance(content, dict):
        lists = [value for value in content.values() if _holds_objects(value)]
        if len(lists) > 1:
            names = ", ".join(repr(name) for name, value in content.items() if _holds_objects(value))
            raise KitError(f"{shown(path)} holds the lists {names}; save the one that is wanted as a file of its own")
        if not lists and len(content) > 1 and all(isinstance(value, list | dict) for value in content.values()):
            raise KitError(f"{shown(path)} has rows or columns by name; make it {form} (pandas: orient='records')")
        content = lists[0] if lists else [content]
    if not isinstance(content, list):
        raise KitError(f"{shown(path)}: expected {form}; bring it into that form")
    return content


def _holds_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def csv_rows(path: Path, separator: str | None = None) -> Iterator[Row]:
    """The rows of a csv or tsv file with a header, every cell as the text that stands in it."""
    # newline="": a line end inside quotes stays as it is
    lines = io.StringIO(_content(path), newline="")
    separator = separator or ("\t" if path.suffix.lower() == ".tsv" else ",")
    reader = csv.reader(lines, delimiter=separator, strict=True)
    before = csv.field_size_limit(MAX_CELL)
    line = 1
    try:
        header = next(reader, [])
        if len(header) == 1 and (other := next((sign for sign in ";\t," if sign in header[0]), None)):
            names = {",": "commas", ";": "semicolons", "\t": "tabs"}
            raise KitError(
                f"{shown(path)}:1: the columns are set apart by {names[other]}, not by "
                f"{names.get(separator, separator)}; save the file with commas as .csv, or with tabs as .tsv"
            )
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
    _refuse_utf_16(path)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise KitError(f"{shown(path)}: byte {error.start} is not UTF-8; save the file as UTF-8") from None


def _refuse_utf_16(path: Path) -> None:
    """Raise KitError for a file that cannot be read at all, or is UTF-16."""
    try:
        with path.open("rb") as file:
            begins = file.read(2)
    except OSError as error:
        raise KitError(f"{shown(path)} cannot be read: {error.strerror or error}; mend that and run again") from None
    if begins in UTF_16:
        raise KitError(f"{shown(path)} is UTF-16, as Excel's Unicode text is; save it as UTF-8")
