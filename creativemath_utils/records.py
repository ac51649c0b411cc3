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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

SCHEMA = 1

COMPETITIONS = ("AMC_8", "AMC_10", "AMC_12", "AHSME", "AIME", "USAJMO", "USAMO", "IMO")
CATEGORIES = ("Algebra", "Arithmetic", "Counting", "Geometry", "Number Theory", "Probability", "Others")
STAGES = ("correctness", "coarse", "fine")


Verdict = Literal["YES", "NO", "UNPARSED"]
Status = Literal["ok", "truncated", "blocked", "refused", "failed"]
VERDICTS = ("YES", "NO", "UNPARSED")
STATUSES = ("ok", "truncated", "blocked", "refused", "failed")


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


def competition_order(names: Iterable[str]) -> list[str]:
    """The paper's eight competitions in its order, then the others among `names` by the alphabet.

    Where there are others alone, the eight are left out.
    """
    found = set(names)
    others = sorted(found.difference(COMPETITIONS), key=lambda name: (name.casefold(), name))
    return others if others and found.isdisjoint(COMPETITIONS) else [*COMPETITIONS, *others]


def samples_of(problems: list[Problem]) -> list[Sample]:
    """A problem with n solutions gives n samples, k = 1..n. Paper, Section 4.1."""
    return [Sample(problem, k) for problem in problems for k in range(1, problem.n + 1)]
