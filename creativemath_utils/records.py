"""What a row of each file is.

Every file of a run is JSON Lines: one object a line, with a `schema` number. The classes here are those rows; they
hold no behaviour but their own checks, and import nothing from the rest of the kit.

    >>> request = Request(model="a", identity={"id": "m"}, messages=user_message("2 + 2?"), decoding={})
    >>> request.key == Request(model="b", identity={"id": "m"}, messages=user_message("2 + 2?"), decoding={}).key
    True
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import cached_property
from typing import Any, Literal

SCHEMA = 1

COMPETITIONS = ("AMC_8", "AMC_10", "AMC_12", "AHSME", "AIME", "USAJMO", "USAMO", "IMO")
CATEGORIES = ("Algebra", "Arithmetic", "Counting", "Geometry", "Number Theory", "Probability", "Others")
STAGES = ("correctness", "coarse", "fine")
COMPETITION = re.compile(r"[A-Za-z0-9._-]+")  # what a competition that is none of the eight may be called

Verdict = Literal["YES", "NO", "UNPARSED"]
Status = Literal["ok", "truncated", "blocked", "refused", "failed"]
VERDICTS = ("YES", "NO", "UNPARSED")
STATUSES = ("ok", "truncated", "blocked", "refused", "failed")
CHOICES = {  # the fields of a row that hold one word of a list
    "stage": STAGES,
    "verdict": VERDICTS,
    "status": STATUSES,
    "label": (*CATEGORIES, "UNPARSED"),
}


class KitError(Exception):
    """A fault that the person at the keyboard can mend: one line that names the thing and the remedy."""


@dataclass(frozen=True)
class Problem:
    """A competition problem with its human solutions, in the order in which they were uploaded.

    `competition` is one of COMPETITIONS, or another name that fits COMPETITION; `difficulty` is 1..10 or None where the
    source gives none; `category` is one of CATEGORIES or None; `source` says where the text came from. The last four
    are what curation found on the page: headings as long as `solutions`, {heading, reason} of what was no solution,
    codes, and the titles of the same problem in other contests; a row leaves them out where they are empty. Paper,
    Section 3.
    """

    problem_id: str
    competition: str
    competition_id: str
    year: int | None
    number: int
    difficulty: float | None
    category: str | None
    statement: str
    solutions: tuple[str, ...]
    source: Mapping[str, Any] = field(default_factory=dict)
    solution_headings: tuple[str, ...] = field(default=(), metadata={"if_any": True})
    removed_solutions: tuple[Mapping[str, Any], ...] = field(default=(), metadata={"if_any": True})
    warnings: tuple[str, ...] = field(default=(), metadata={"if_any": True})
    shared_with: tuple[str, ...] = field(default=(), metadata={"if_any": True})

    @property
    def n(self) -> int:
        """Number of human solutions, n >= 1."""
        return len(self.solutions)


@dataclass(frozen=True)
class Sample:
    """One question to a model: a problem with its first k of n solutions shown (1 <= k <= n)."""

    problem: Problem
    k: int

    @property
    def n(self) -> int:
        """Number of human solutions of the problem, n >= 1."""
        return self.problem.n


@dataclass(frozen=True)
class Request:
    """One call to a model.

    `identity` holds what of the model can change its answer (id, revision, weights, quantization, ...). `sample` is
    the number of the attempt. `slots` (the texts the prompt was made of, for judges that are no language model) and
    `ledger` (the file that the answer belongs to) are neither sent nor part of the key.
    """

    model: str
    identity: Mapping[str, Any]
    messages: tuple[Mapping[str, str], ...]
    decoding: Mapping[str, Any]
    sample: int = 0
    slots: Mapping[str, Any] = field(default_factory=dict, compare=False)
    ledger: str = field(default="", compare=False)

    @cached_property
    def key(self) -> str:
        """SHA-256 (64 hex digits) over the canonical JSON of what can change the answer, and nothing else."""
        return hashlib.sha256(canonical_json(self.asked()).encode("utf-8", "surrogatepass")).hexdigest()

    def asked(self) -> dict[str, Any]:
        """What the key covers, and what the ledger keeps of the request."""
        return {
            "model": dict(self.identity),
            "messages": [dict(message) for message in self.messages],
            "decoding": dict(self.decoding),
            "sample": self.sample,
        }


@dataclass(frozen=True)
class Response:
    """What came back for a request: an answer, or (status `failed`, never stored) the reason why there is none.

    `text` is as the model wrote it; `reasoning` is kept apart and never becomes the text; `usage` counts tokens, or is
    None where the endpoint does not say; `settings_used` is what was really sent, where it differs from the request.
    """

    key: str
    model: str
    request: Mapping[str, Any]
    status: Status
    text: str
    reasoning: str | None = None
    finish_reason: str | None = None
    usage: Mapping[str, int] | None = None
    settings_used: Mapping[str, Any] = field(default_factory=dict)
    created: str = ""
    error: str | None = None

    @classmethod
    def answer(cls, request: Request, text: str, **about: Any) -> Response:
        """The response to `request` with `text`; status `ok` unless said otherwise."""
        return cls(request.key, request.model, request.asked(), about.pop("status", "ok"), text, **about)

    @classmethod
    def failure(cls, request: Request, error: str) -> Response:
        """A call that failed for good; `error` is one line with the remedy where one is known."""
        return cls(request.key, request.model, request.asked(), "failed", "", error=error)


@dataclass(frozen=True)
class Solution:
    """A generated solution: `text` as the model wrote it, `solution` as the judges see it, `removed` what was cut."""

    problem_id: str
    k: int
    n: int
    generator: str
    text: str
    solution: str
    removed: tuple[str, ...]
    status: Status
    key: str


@dataclass(frozen=True)
class Vote:
    """One judge's last verdict on one solution at one stage (correctness, coarse or fine)."""

    problem_id: str
    k: int
    generator: str
    stage: str
    judge: str
    verdict: Verdict
    key: str | None  # of the answer it was read from; None where the call failed


@dataclass(frozen=True)
class PairVote:
    """One judge's verdict on whether `generator`'s solution is novel beside `reference_generator`'s."""

    problem_id: str
    k: int
    reference_generator: str
    generator: str
    judge: str
    verdict: Verdict
    key: str | None  # of the answer it was read from; None where the call failed


@dataclass(frozen=True)
class Edit:
    """A person's version of what judges see of one answer, by the answer's key. It wins over the rules of `clean`."""

    key: str
    solution: str
    note: str = ""


@dataclass(frozen=True)
class Recheck:
    """A judge's verdict on a question put a second time, in one of three ways, beside the first.

    `kind`: again (the same question), shuffled (its references in another order), swapped (the two solutions of a pair
    change places). `reference_generator` is that of a pair, else None.
    """

    kind: str
    stage: str = field(metadata={"choices": (*STAGES, "pair")})
    problem_id: str
    k: int
    reference_generator: str | None
    generator: str
    judge: str
    before: Verdict = field(metadata={"choices": VERDICTS})
    after: Verdict = field(metadata={"choices": VERDICTS})
    key: str | None  # of the second answer; None where the call failed


@dataclass(frozen=True)
class Label:
    """What a careful reader says of one generated solution; `key` is that of the answer which was read.

    `same_result`: it ends on the right answer, which is what the judges are asked; `correct`: by steps that hold, too.
    `novel` and `novel_unknown`: its method is unlike the k solutions shown, and unlike all n; None where no method can
    be made out. `method` names it in a few words.
    """

    problem_id: str
    k: int
    generator: str
    key: str
    same_result: bool
    correct: bool
    novel: bool | None
    novel_unknown: bool | None
    method: str
    note: str = ""


@dataclass(frozen=True)
class CategoryVote:
    """A model's word on a problem's category: `label`, beside `given`, what the source says (None: nothing)."""

    problem_id: str
    model: str
    label: str  # one of CATEGORIES, or UNPARSED
    key: str | None  # of the answer it was read from; None where the call failed
    given: str | None


def user_message(text: str, system: str | None = None) -> tuple[dict[str, str], ...]:
    """The messages of a one-turn call. An empty system prompt is left out, as it is no prompt at all."""
    turn = {"role": "user", "content": text}
    return ({"role": "system", "content": system}, turn) if system else (turn,)


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


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


def competition_order(names: Iterable[str]) -> list[str]:
    """The paper's eight competitions in its order, then the others among `names` by the alphabet.

    Where there are others alone, the eight are left out.
    """
    found = set(names)
    others = sorted(found.difference(COMPETITIONS), key=lambda name: (name.casefold(), name))
    return others if others and found.isdisjoint(COMPETITIONS) else [*COMPETITIONS, *others]


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


def samples_of(problems: list[Problem]) -> list[Sample]:
    """A problem with n solutions gives n samples, k = 1..n. Paper, Section 4.1."""
    return [Sample(problem, k) for problem in problems for k in range(1, problem.n + 1)]
