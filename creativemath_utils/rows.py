"""From a record to the JSON object of a row, and back: what does not fit is said with its place.

>>> from creativemath_utils.records import Edit
>>> from_row(Edit, {"key": "k", "solution": "x = 1."}, "edits.jsonl:1")
Edit(key='k', solution='x = 1.', note='')
"""

from __future__ import annotations

import math
import re
from dataclasses import MISSING, asdict, fields
from typing import Any

from creativemath_utils.records import CATEGORIES, COMPETITIONS, SCHEMA, STAGES, STATUSES, VERDICTS, KitError, Problem

COMPETITION = re.compile(r"[A-Za-z0-9._-]+")  # what a competition that is none of the eight may be called
CHOICES = {  # the fields of a row that hold one word of a list
    "stage": STAGES,
    "verdict": VERDICTS,
    "status": STATUSES,
    "label": (*CATEGORIES, "UNPARSED"),
}


def to_row(record: Any) -> dict[str, Any]:
    """The JSON object of a record, `schema` last; an empty field that is written only `if_any` is left out."""
    row = asdict(record)
    for name in (f.name for f in fields(record) if f.metadata.get("if_any") and not row[f.name]):
        del row[name]
    return {**row, "schema": SCHEMA}


def from_row(kind: type, row: Any, where: str) -> Any:
    """The record of class `kind` that a JSON object holds.

    `where` names file and line for the error. Raises KitError if a field is missing, a verdict, status or stage is none
    of the known ones, or the schema is another one.
    """
    if not isinstance(row, dict):
        raise KitError(f"{where}: expected a JSON object, found {type(row).__name__}")
    if row.get("schema", SCHEMA) != SCHEMA:
        raise KitError(f"{where}: schema {row['schema']!r}, this kit reads {SCHEMA}; use the kit that wrote the file")
    optional = {f.name: f.default is not MISSING or f.default_factory is not MISSING for f in fields(kind)}
    missing = [name for name in optional if name not in row and not optional[name]]
    if missing:
        raise KitError(f"{where}: missing {', '.join(missing)}")
    for f in fields(kind):
        choices = f.metadata.get("choices", CHOICES.get(f.name))
        if choices and row.get(f.name) not in choices:
            raise KitError(f"{where}: {f.name} {row.get(f.name)!r} is none of {', '.join(choices)}")
    return kind(**{name: tuple(v) if isinstance(v, list) else v for name, v in row.items() if name in optional})


def one_of_the_eight(name: str) -> str | None:
    """The competition of the paper that `name` is but for case, spaces and punctuation: 'Amc 8' is AMC_8; else None."""
    return _BY_LETTERS.get(_letters(name))


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


_BY_LETTERS = {_letters(name): name for name in COMPETITIONS}


def read_problem(row: Any, where: str) -> Problem:
    """The Problem in a JSON object, checked: what a stage could trip over later is said here, with its place."""
    problem = from_row(Problem, row, where)
    faults = [
        (not (isinstance(problem.problem_id, str) and problem.problem_id.strip()), "problem_id is empty or no text"),
        (not isinstance(problem.competition_id, str), "competition_id is no text"),
        (not _is_whole(problem.number), f"number {problem.number!r} is no whole number"),
        (problem.year is not None and not _is_whole(problem.year), f"year {problem.year!r} is no whole number"),
        *_competition_faults(problem.competition),
        (not (isinstance(problem.statement, str) and problem.statement.strip()), "statement is empty"),
        (not isinstance(problem.solutions, tuple) or not problem.solutions, "solutions must be a non-empty list"),
        (
            isinstance(problem.solutions, tuple)
            and not all(isinstance(s, str) and s.strip() for s in problem.solutions),
            "a solution is empty or no text",
        ),
        (
            problem.category is not None and problem.category not in CATEGORIES,
            f"category {problem.category!r} is none of {CATEGORIES}",
        ),
        (
            problem.difficulty is not None
            and (type(problem.difficulty) not in (int, float) or not math.isfinite(problem.difficulty)),
            f"difficulty {problem.difficulty!r} is no number",
        ),
    ]
    for fault, message in faults:
        if fault:
            raise KitError(f"{where}: {message}")
    return problem


def _competition_faults(name: Any) -> list[tuple[bool, str]]:
    """What may be wrong with a competition's name, each with whether it is."""
    if not (isinstance(name, str) and name):
        return [(True, f"competition {name!r} is empty or no text")]
    known = one_of_the_eight(name)
    odd = "may hold only letters (A-Z), digits, '.', '_' and '-'"
    return [
        (known not in (None, name), f"competition {name!r} is written {known} in files"),
        (not COMPETITION.fullmatch(name), f"competition {name!r} {odd}; {', '.join(COMPETITIONS)} are the paper's"),
    ]


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
