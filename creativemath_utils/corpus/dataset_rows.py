"""From the rows of any dataset to problems: which rows belong to one, and what is left out.

    >>> columns = Columns({"statement": "problem", "solution": "solution", "problem_id": "id"})
    >>> rows = [("x:1", {"id": 7, "problem": "1 + 1?", "solution": "2."}), ("x:2", {"id": 7, "solution": "One and 1."})]
    >>> problems, left_out = to_problems(rows, columns, "sums", {"kind": "hub"})
    >>> problems[0].problem_id, problems[0].solutions, left_out
    ('sums/7', ('2.', 'One and 1.'), [])

A text reaches its problem as it stands in the row, character for character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from creativemath_utils.corpus.columns import (
    READERS,
    WANTED,
    Columns,
    is_empty,
    is_printed,
    kind_of,
    read_solutions,
    whole_number,
)
from creativemath_utils.records import Problem


@dataclass
class _Draft:
    """A problem in the making, from the first of its rows on."""

    problem_id: str
    at: str
    about: dict[str, Any]
    statement: str
    solutions: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)  # ids under which the same text came again


def to_problems(
    rows: Iterable[tuple[str, Mapping[str, Any]]], columns: Columns, dataset: str, source: Mapping[str, Any]
) -> tuple[list[Problem], list[dict[str, Any]]]:
    """The problems in some rows (place, values), in the order of their first rows, and a row for what was left out.

    Rows with one id are one problem; where there is no id, rows with one statement are (white space aside). One
    statement under several ids is one problem, too: the first id stays, the others are in its `shared_with`, and all
    solutions are united. An id that is a whole number counts within its contest, so it becomes `<competition_id>/<id>`;
    without ids a problem is numbered by its row, and `<dataset>/row_<row>` where others have one. `dataset` names both
    where no column does; `source` goes into every
    problem. What was left out has `row, problem_id, reason, detail, where`: `where` is row, solution or value.
    """
    collected = _Collected(columns, dataset)
    for number, (at, row) in enumerate(rows, start=1):
        collected.add(number, at, row)
    problems = collected.problems(source)
    return problems, collected.left_out


class _Collected:
    """The problems found so far, and what was left out."""

    def __init__(self, columns: Columns, dataset: str) -> None:
        self.columns = columns
        self.dataset = dataset
        self.by_id: dict[str, _Draft] = {}
        self.by_text: dict[str, _Draft] = {}
        self.left_out: list[dict[str, Any]] = []
        self.unread: dict[tuple[str, str], list[str]] = {}  # a field and its value, and where that stands

    def add(self, number: int, at: str, row: Mapping[str, Any]) -> None:
        """Take in a row: it starts a problem, adds solutions to one, or is left out."""
        values = {name: row.get(column) for name, column in self.columns.taken.items()} | dict(self.columns.constants)
        about = self._about(values, number, at)
        problem_id = self._problem_id(values, about)
        draft = self._draft(values["statement"], problem_id, about, number, at)
        if draft is not None:
            self._add_solutions(draft, values, at)

    def _draft(
        self, statement: Any, problem_id: str | None, about: dict[str, Any], number: int, at: str
    ) -> _Draft | None:
        """The problem that a row belongs to, a new one where it is the first of it; None where the row is left out."""
        same_id = self.by_id.get(problem_id) if problem_id else None
        if is_empty(statement):
            if same_id is None:  # else the first row of a problem holds the statement for all
                self._leave_out(at, problem_id, "no_statement", "the statement is empty")
            return same_id
        if not isinstance(statement, str) or is_printed(statement):
            self._leave_out(at, problem_id, "statement_not_text", f"the statement is {kind_of(statement)}")
            return None
        key = "".join(statement.split())
        if same_id is not None:
            if self.by_text.get(key) is same_id:
                return same_id
            detail = f"{same_id.at} has the same id and another statement; give the column that tells them apart as "
            detail += '`competition_id`, or `problem_id: "="`, which numbers problems by row'
            self._leave_out(at, problem_id, "other_statement", detail)
            return None
        draft = self.by_text.get(key)
        if draft is None:
            by_row = f"row_{number}" if "problem_id" in self.columns.taken else number
            draft = _Draft(problem_id or f"{self.dataset}/{by_row}", at, about, statement)
            if draft.problem_id in self.by_id:
                detail = "it has no id, and another problem has the one that its row gives; give it one"
                self._leave_out(at, draft.problem_id, "id_taken", detail)
                return None
            self.by_text[key] = self.by_id[draft.problem_id] = draft
        elif problem_id:
            draft.others.append(problem_id)
            self.by_id[problem_id] = draft
            self._leave_out(at, problem_id, "duplicate_problem", f"as {draft.problem_id}, which has its solutions now")
        return draft

    def _add_solutions(self, draft: _Draft, values: Mapping[str, Any], at: str) -> None:
        texts = read_solutions(values)
        if isinstance(texts, str):
            self._leave_out(at, draft.problem_id, "solutions_not_a_list", texts, "solution")
            return
        known = {"".join(text.split()) for text in draft.solutions}
        for place, text in enumerate(texts, start=1):
            which = f"solution {place} of {len(texts)}"
            if is_empty(text):
                self._leave_out(at, draft.problem_id, "empty_solution", which, "solution")
            elif not isinstance(text, str):
                detail = f"{which} is {kind_of(text)}"
                self._leave_out(at, draft.problem_id, "solution_not_text", detail, "solution")
            elif (key := "".join(text.split())) in known:
                self._leave_out(at, draft.problem_id, "duplicate_solution", f"{which} stands already", "solution")
            else:
                known.add(key)
                draft.solutions.append(text)

    def _about(self, values: Mapping[str, Any], number: int, at: str) -> dict[str, Any]:
        """The fields of a problem that are no text of it; a value that cannot be read is None, and logged."""
        about = {name: self._value(name, values.get(name), at) for name in READERS}
        about["competition"] = about["competition"] or self.dataset
        if about["competition_id"] is None:
            about["competition_id"] = "_".join(str(part) for part in (about["year"], about["competition"]) if part)
        elif about["year"] is None and (begins := re.match(r"(\d{4})[_ ]", about["competition_id"])):
            about["year"] = int(begins[1])
        own_number = whole_number(values.get("problem_id"))
        about["number"] = next(n for n in (about["number"], own_number, number) if isinstance(n, int))
        return about

    def _value(self, name: str, value: Any, at: str) -> Any:
        if is_empty(value):
            return None
        read = READERS[name](value)
        if read is None:
            shown = f"{value!r} in {self.columns.taken.get(name, 'the profile')}"
            self.unread.setdefault((name, shown), []).append(at)
        return read

    def _problem_id(self, values: Mapping[str, Any], about: Mapping[str, Any]) -> str | None:
        value = values.get("problem_id")
        if is_empty(value):
            return None
        text = str(whole_number(value)) if isinstance(value, float) and whole_number(value) is not None else str(value)
        return f"{about['competition_id']}/{text}" if re.fullmatch(r"\d+", text) else text

    def _leave_out(self, at: str, problem_id: str | None, reason: str, detail: str, where: str = "row") -> None:
        row = {"row": at, "problem_id": problem_id, "reason": reason, "detail": detail, "where": where}
        self.left_out.append(row)

    def problems(self, source: Mapping[str, Any]) -> list[Problem]:
        """The problems that have a solution, in order; the others, and values that were not read, are logged."""
        found = []
        for draft in self.by_text.values():
            if not draft.solutions:
                self._leave_out(draft.at, draft.problem_id, "no_solution", "no row gives one")
                continue
            found.append(
                Problem(
                    problem_id=draft.problem_id,
                    statement=draft.statement,
                    solutions=tuple(draft.solutions),
                    source={**source, "row": draft.at},
                    shared_with=tuple(draft.others),
                    **draft.about,
                )
            )
        for (name, shown), places in self.unread.items():
            instead = f"{self.dataset} stands there" if name == "competition" else "left empty"
            rows = f"{len(places)} row{'s' if len(places) > 1 else ''}"
            detail = f"{shown} is no {name} ({WANTED[name]}); {instead} in {rows}"
            self._leave_out(places[0], None, f"unread_{name}", detail, "value")
        return found
