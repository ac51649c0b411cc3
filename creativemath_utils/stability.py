"""Would a judge say it again? Questions put a second time: the same, with references shuffled, with a pair swapped.

A verdict that hangs on chance or on the order of the texts is worth less than one that does not. Which questions are
taken follows from the seed and their names alone, so a longer run keeps those of a shorter one as far as it can.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import pandas as pd

from creativemath_utils.engine import Complete
from creativemath_utils.judge import Ballot, judge_request, pair_ballot, read_vote, stage_ballot, stage_references
from creativemath_utils.profile import Profile
from creativemath_utils.records import PairVote, Recheck, Sample, Solution, Vote

KINDS = ("again", "shuffled", "swapped")
LEDGER = "judge.stability"


class Question(NamedTuple):
    """One second question: what it is about, the ballot, and what each judge said the first time."""

    kind: str
    stage: str
    problem_id: str
    k: int
    reference_generator: str | None
    generator: str
    ballot: Ballot
    before: dict[str, str]


def ask_again(
    samples: Sequence[Sample],
    solutions: Sequence[Solution],
    votes: Sequence[Vote],
    pair_votes: Sequence[PairVote],
    profile: Profile,
    complete: Complete,
    seed: int = 0,
) -> list[Recheck]:
    """Second verdicts on up to `profile.stability` questions of each kind, by every judge that answered the first.

    A question `again` has the sample number after the last retry, so that it is a new call.
    """
    questions = second_questions(samples, solutions, votes, pair_votes, profile.stability, seed)
    seats = [(question, judge) for question in questions for judge in question.before]
    attempt = profile.judge_retries + 1
    requests = [judge_request(q.ballot, judge, profile, attempt if q.kind == "again" else 0) for q, judge in seats]
    rechecks = []
    for (question, judge), response in zip(seats, complete(requests), strict=True):
        after, key = read_vote(response, profile.verdict_rule)
        rechecks.append(Recheck(*question[:6], judge, question.before[judge], after, key))
    return rechecks


def second_questions(
    samples: Sequence[Sample],
    solutions: Sequence[Solution],
    votes: Iterable[Vote],
    pair_votes: Iterable[PairVote],
    size: int,
    seed: int = 0,
) -> list[Question]:
    """Up to `size` questions of each kind, in the order of KINDS."""
    sample_of = {(s.problem.problem_id, s.k): s for s in samples}
    solution_of = {(s.problem_id, s.k, s.generator): s for s in solutions}
    first: dict[tuple, dict[str, str]] = {}
    for vote in votes:
        place = (vote.stage, vote.problem_id, vote.k, None, vote.generator)
        first.setdefault(place, {})[vote.judge] = vote.verdict
    pairs: dict[tuple, dict[str, str]] = {}
    for vote in pair_votes:
        place = ("pair", vote.problem_id, vote.k, vote.reference_generator, vote.generator)
        pairs.setdefault(place, {})[vote.judge] = vote.verdict

    def ballot(kind: str, place: tuple) -> Ballot:
        stage, problem_id, k, reference, generator = place
        sample, new = sample_of[problem_id, k], solution_of[problem_id, k, generator]
        if kind == "swapped":
            old = solution_of[problem_id, k, reference]
            made = pair_ballot(sample, new.solution, old.solution, f"{generator} / {reference}, swapped")
        else:
            references = stage_references(stage, sample)
            made = stage_ballot(stage, sample, new, shuffled(references, seed) if kind == "shuffled" else references)
        return made._replace(ledger=LEDGER, about=f"{made.about}, {kind}")

    several = [place for place in first if len(stage_references(place[0], sample_of[place[1:3]])) > 1]
    chosen = {"again": first, "shuffled": several, "swapped": pairs}
    said = {**first, **pairs}
    return [
        Question(kind, *place, ballot(kind, place), said[place])
        for kind in KINDS
        for place in sorted(chosen[kind], key=lambda place, kind=kind: _rank(seed, kind, place))[:size]
    ]


def shuffled(references: Sequence[str], seed: int) -> tuple[str, ...]:
    """The references in another order, by the seed; two change places."""
    order = list(range(len(references)))
    draw = random.Random(seed)
    while len(set(references)) > 1 and [references[i] for i in order] == list(references):
        draw.shuffle(order)
    return tuple(references[i] for i in order)


def flips(rechecks: Iterable[Recheck]) -> pd.DataFrame:
    """How often a judge's verdict turned round, a row for each kind and judge.

    Columns kind, judge, asked, clear (a verdict both times), flipped, flip_ratio (flipped / clear; undefined over 0).
    """
    frame = pd.DataFrame([(r.kind, r.judge, r.before, r.after) for r in rechecks], columns=["kind", "judge", "b", "a"])
    clear = frame["b"].ne("UNPARSED") & frame["a"].ne("UNPARSED")
    counted = frame.assign(asked=1, clear=clear, flipped=clear & frame["a"].ne(frame["b"]))
    counted["kind"] = pd.Categorical(counted["kind"], KINDS)
    table = counted.groupby(["kind", "judge"], observed=True, sort=False)[["asked", "clear", "flipped"]].sum()
    table = table.astype(int).reset_index().sort_values("kind", kind="stable", ignore_index=True)
    return table.assign(flip_ratio=table["flipped"] / table["clear"].where(table["clear"] > 0))


def _rank(seed: int, kind: str, place: tuple) -> str:
    return hashlib.sha256(f"{seed}/{kind}/{'/'.join(map(str, place))}".encode()).hexdigest()
