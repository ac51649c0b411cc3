"""Which column of a dataset is which field of a problem, and what stands in its cells.

>>> columns = choose_columns({"competition": "=AIME"}, ["id", "Problem", "Solution"])
>>> columns.said
'statement from Problem, solution from Solution, problem_id from id, competition = AIME'
>>> competition_name("Amc 8"), competition_name("HMMT February"), competition_name("?")
('AMC_8', 'HMMT_February', None)
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from creativemath_utils.models import nearest
from creativemath_utils.records import CATEGORIES, KitError
from creativemath_utils.rows import COMPETITION, one_of_the_eight

# A field of a problem, and the columns it is taken from where the profile names none: the first that is there. Case,
# blanks, `_` and `-` do not count.
USUAL_NAMES = {
    "statement": ("statement", "problem", "question", "problem_statement"),
    "solutions": ("solutions",),
    "solution": ("solution", "proof", "answer"),
    "problem_id": ("problem_id", "unique_id", "id"),
    "competition": ("competition", "contest"),
    "competition_id": ("competition_id", "contest_id"),
    "year": ("year",),
    "number": ("number", "problem_number"),
    "difficulty": ("difficulty",),
    "category": ("category", "subject"),
}
CONSTANT = "="  # `competition: "=AIME"` is the same for every row, and `problem_id: "="` takes no column at all
CONSTANTS = ("competition", "competition_id", "year", "difficulty", "category")
MOST_NAMED = 20  # columns that a message lists
# How Python, pandas and numpy write a list or an object into a cell. JSON of texts looks the same, and can be read.
PRINTED = re.compile(
    r"""\s*(?:\[\s*["'].*(?:["']|None|nan)\s*\]|\[\s*\{\s*["'].*\}\s*\]|\{\s*["'].*\}|array\(\[.*\))\s*""", re.DOTALL
)


@dataclass(frozen=True)
class Columns:
    """Where the fields of a problem come from: `taken` field -> column, `constants` field -> value for every row."""

    taken: Mapping[str, str]
    constants: Mapping[str, str] = field(default_factory=dict)

    @property
    def said(self) -> str:
        """What was taken, in words."""
        words = [f"{name} from {column}" for name, column in self.taken.items()]
        return ", ".join([*words, *(f"{name} = {value}" for name, value in self.constants.items())])


def choose_columns(given: Mapping[str, str] | None, there: Sequence[str]) -> Columns:
    """The column of each field: as the profile gives it, else one of the usual names among those that are there.

    Raises KitError that names an unknown field, a column that is not there, or what is missing.
    """
    more = f" and {len(there) - MOST_NAMED:,} more" if len(there) > MOST_NAMED else ""
    listed = f"it has {', '.join(map(str, there[:MOST_NAMED])) or 'none'}{more}"
    taken, constants = {}, {}
    for name, column in (given or {}).items():
        place = f"corpus: columns: {name}"
        if name not in USUAL_NAMES:
            raise KitError(f"{place}: no field of a problem; {nearest(name, USUAL_NAMES)}")
        if not column.startswith(CONSTANT):
            if column not in there:
                hint = nearest(column, there)
                hint = hint if hint.startswith("did") else "correct it"
                raise KitError(f"{place}: the dataset has no column {column!r}; {hint} ({listed})")
            taken[name] = column
        elif column != CONSTANT:
            if name not in CONSTANTS:
                raise KitError(f"{place}: {column!r} is a constant, which only {', '.join(CONSTANTS)} can be")
            constants[name] = column.removeprefix(CONSTANT)
    if {"solution", "solutions"} <= taken.keys():
        raise KitError("corpus: columns: give solution (one a row) or solutions (a list), not both")
    by_name = {_folded(column): column for column in reversed(there)}
    for name, usual in USUAL_NAMES.items():
        found = next((by_name[_folded(word)] for word in usual if _folded(word) in by_name), None)
        if found and name not in (given or {}) and not (name == "solution" and "solutions" in taken):
            taken[name] = found
    if "solution" in (given or {}) and "solutions" not in given:
        taken.pop("solutions", None)
    for name, usual, ok in (
        ("statement", USUAL_NAMES["statement"], "statement" in taken),
        ("solution", (*USUAL_NAMES["solutions"], *USUAL_NAMES["solution"]), taken.keys() & {"solution", "solutions"}),
    ):
        if not ok:
            raise KitError(
                f"corpus: the dataset has no column {', '.join(usual[:-1])} or {usual[-1]}; {listed}: say which one it "
                f"is, `columns: {{{name}: ...}}`"
            )
    return Columns({name: taken[name] for name in USUAL_NAMES if name in taken}, constants)


def _folded(text: str) -> str:
    return re.sub(r"[\W_]+", "", str(text)).casefold()


_CATEGORY_OF = {_folded(name): name for name in CATEGORIES} | {"other": "Others"}


def is_empty(value: Any) -> bool:
    """Whether a cell says nothing: null, not a number (an empty cell to pandas), or a text of blanks."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))


def is_printed(value: Any) -> bool:
    """Whether a cell is a text that a program printed of a list or an object.

    >>> is_printed("['By hand.' 'By sums.']"), is_printed('{"1": "By hand."}'), is_printed("[0, 1] is the domain.")
    (True, True, False)
    """
    return isinstance(value, str) and PRINTED.fullmatch(value) is not None


def kind_of(value: Any) -> str:
    """What a value is that should be a text, with its beginning."""
    names = {dict: "an object", list: "a list", bool: "a truth value", int: "a number", float: "a number"}
    name = "a printed list or object" if isinstance(value, str) else names.get(type(value), type(value).__name__)
    return f"{name}, no text: {str(value)[:60]!r}"


def read_solutions(values: Mapping[str, Any]) -> list[Any] | str:
    """The solutions in a row, or a text that says why they cannot be read.

    One text; a list; an object whose keys number them, as in the published subset; a text that is the JSON of one of
    these, as csv files have them. A list as Python or numpy prints it cannot be read: `['a' 'b']` may be one or two.
    """
    value = values.get("solutions", values.get("solution"))
    printed = is_printed(value)
    if isinstance(value, str) and value.strip() and (printed or "solutions" in values):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = None
        if printed and value is None:
            return "a printed list or object that is no JSON; save the dataset as parquet or jsonl, which keep lists"
        if not isinstance(value, list | dict):
            return "a text that is no list in JSON; if it is one solution, give its column as `solution`"
    if isinstance(value, dict):
        if not all(re.fullmatch(r"\d{1,9}", str(key)) for key in value):
            return f"an object with the keys {', '.join(map(str, value))}, no numbers"
        numbered = sorted(value.items(), key=lambda item: int(item[0]))
        # a dataset gives every row the keys of all rows, with nothing behind those that it has not
        value = [text for _, text in numbered if text is not None]
    return list(value) if isinstance(value, list | tuple) else [value]


def whole_number(value: Any) -> int | None:
    """A whole number of up to 18 digits from a cell, also from a text or a float that is one; None where it is none.

    >>> whole_number(" 2016"), whole_number("2016.0"), whole_number(2016.5), whole_number(10**30)
    (2016, 2016, None, None)
    """
    if isinstance(value, str) and (found := re.fullmatch(r"\s*([+-]?\d{1,18})(?:\.0*)?\s*", value)):
        return int(found[1])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18 else None


def _year(value: Any) -> int | None:
    year = whole_number(value)
    return year if year is not None and 1 <= year <= 9999 else None


def _difficulty(value: Any) -> float | None:
    """On the scale of the published values, 1 to 10; a dataset's own level, such as 1500, is no such number."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 10:
        return None
    return int(value) if value == int(value) else value


def _category(value: Any) -> str | None:
    return _CATEGORY_OF.get(_folded(value)) if isinstance(value, str) else None


def competition_name(value: Any) -> str | None:
    """A competition as files have it: one of the eight but for its spelling, else its letters and digits, else None."""
    if not isinstance(value, str):
        return None
    plain = unicodedata.normalize("NFKD", value).encode("ascii", "ignore").decode()
    name = re.sub(r"[^A-Za-z0-9.-]+", "_", plain).strip("_")
    return one_of_the_eight(value) or (name if COMPETITION.fullmatch(name) else None)


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


WANTED = {  # what a cell of a field must hold, in words
    "competition": "letters and digits",
    "competition_id": "a text",
    "year": "a whole number",
    "number": "a whole number",
    "difficulty": "a number from 1 to 10",
    "category": f"one of {', '.join(CATEGORIES)}",
}
READERS = {  # of a cell that is not empty; None where it cannot be read
    "competition": competition_name,
    "competition_id": _text,
    "year": _year,
    "number": whole_number,
    "difficulty": _difficulty,
    "category": _category,
}
