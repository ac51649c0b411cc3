"""Stage 3: judges vote on correctness, on novelty against the k solutions shown, and against the rest. Section 4.2.

Votes are stored, decisions never: a decision is computed from the votes whenever it is wanted, and is taken once the
votes that are missing cannot change it. A reply without a clear verdict is UNPARSED, which is neither YES nor NO.

    >>> unanimous(["YES", "UNPARSED", "NO"]), majority(["YES", "YES", "UNPARSED"]), majority(["YES", "NO", "UNPARSED"])
    (False, True, None)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

from creativemath_utils.engine import Complete
from creativemath_utils.parsing import parse_verdict
from creativemath_utils.profile import Profile
from creativemath_utils.prompts import numbered, render
from creativemath_utils.records import (
    STAGES,
    PairVote,
    Request,
    Response,
    Sample,
    Solution,
    Verdict,
    Vote,
    user_message,
)

REFERENCES_FOR_CORRECTNESS = 2  # the first two, whatever k is (Section A.1.2)


Decide = Callable[[Sequence[str]], bool | None]  # a panel's verdicts -> what they decide


class Ballot(NamedTuple):
    """One question to all judges: a prompt, and the texts it was made of."""

    ledger: str  # the file that the answers go to
    about: str
    prompt: str
    slots: dict[str, Any]


class Cast(NamedTuple):
    """One judge's verdict on a ballot, with the key of the answer it was read from (None: the call failed)."""

    judge: str
    verdict: Verdict
    key: str | None


def unanimous(verdicts: Sequence[str]) -> bool | None:
    """Correctness by all judges: False as soon as one says NO, True when all say YES, else None (undecided)."""
    if "NO" in verdicts:
        return False
    return True if verdicts and all(verdict == "YES" for verdict in verdicts) else None


def majority(verdicts: Sequence[str]) -> bool | None:
    """Novelty by more than half of the judges; None while the votes that are missing could still change it.

    With an even number of judges a tie is no majority for YES.
    """
    yes, no = verdicts.count("YES"), verdicts.count("NO")
    missing = len(verdicts) - yes - no
    if 2 * yes > len(verdicts):
        return True
    return False if verdicts and 2 * (yes + missing) <= len(verdicts) else None


def any_yes(verdicts: Sequence[str]) -> bool | None:
    """By one judge's word: True as soon as one says YES, False when all say NO. Not the paper's; to compare."""
    if "YES" in verdicts:
        return True
    return False if verdicts and all(verdict == "NO" for verdict in verdicts) else None


def judgeable(solution: Solution, judge_truncated: bool = True) -> bool:
    """Whether there is a solution to judge: an answer that was blocked, refused or failed is none."""
    usable = solution.status == "ok" or (solution.status == "truncated" and judge_truncated)
    return usable and bool(solution.solution.strip())


def judge_solutions(
    samples: Sequence[Sample],
    solutions: Sequence[Solution],
    judges: Sequence[str],
    profile: Profile,
    complete: Complete,
) -> list[Vote]:
    """The votes of all judges, each stage only for what passed the one before. Paper, Section 4.2.

    With the profile's `early_stop`, a judge whose vote cannot change the decision any more is not asked.
    `solutions` may be those of several generators. Votes come back by solution, stage, judge.
    """
    sample_of = {(sample.problem.problem_id, sample.k): sample for sample in samples}
    passing = [s for s in solutions if (s.problem_id, s.k) in sample_of and judgeable(s, profile.judge_truncated)]
    votes: dict[int, list[Vote]] = defaultdict(list)
    for stage, decide in zip(STAGES, (unanimous, majority, majority), strict=True):
        if stage == "fine":  # with k = n there is nothing left to compare with
            passing = [s for s in passing if s.k < sample_of[s.problem_id, s.k].n]
        ballots = [stage_ballot(stage, sample_of[s.problem_id, s.k], s) for s in passing]
        panels = ask_judges(ballots, judges, profile, complete, decide)
        for solution, panel in zip(passing, panels, strict=True):
            votes[id(solution)] += [
                Vote(solution.problem_id, solution.k, solution.generator, stage, *cast) for cast in panel
            ]
        passing = [s for s, panel in zip(passing, panels, strict=True) if decide(seated(panel, len(judges)))]
    return [vote for solution in solutions for vote in votes[id(solution)]]


def judge_pairs(
    common: Sequence[tuple[str, int]],
    samples: Sequence[Sample],
    solutions: Sequence[Solution],
    models: Sequence[str],
    judges: Sequence[str],
    profile: Profile,
    complete: Complete,
) -> list[PairVote]:
    """For each pair of models i < j and each common sample: is j's solution novel beside i's? Figure 6.

    With the profile's `both_directions` also the other way round: is i's novel beside j's? `common` are the
    (problem_id, k) for which every one of `models` has a novel solution.
    """
    sample_of = {(sample.problem.problem_id, sample.k): sample for sample in samples}
    solution_of = {(s.problem_id, s.k, s.generator): s for s in solutions}
    asked, ballots = [], []
    wanted = set(common)
    for problem_id, k in (place for place in sample_of if place in wanted):  # in the order of the run's samples
        for pair in combinations(models, 2):
            for reference, generator in (pair, pair[::-1])[: 2 if profile.both_directions else 1]:
                shown = solution_of[problem_id, k, reference].solution
                new = solution_of[problem_id, k, generator].solution
                asked.append((problem_id, k, reference, generator))
                ballots.append(pair_ballot(sample_of[problem_id, k], shown, new, f"{reference} / {generator}"))
    panels = ask_judges(ballots, judges, profile, complete, majority)
    return [PairVote(*names, *cast) for names, panel in zip(asked, panels, strict=True) for cast in panel]


def stage_references(stage: str, sample: Sample) -> tuple[str, ...]:
    """The human solutions that a stage sets beside the new one."""
    texts = sample.problem.solutions
    return {
        "correctness": texts[:REFERENCES_FOR_CORRECTNESS],
        "coarse": texts[: sample.k],
        "fine": texts[sample.k :],
    }[stage]


def stage_ballot(stage: str, sample: Sample, solution: Solution, references: Sequence[str] | None = None) -> Ballot:
    """The question of a stage about one solution; `references` in another order than the usual. Paper, Figure 5."""
    references = stage_references(stage, sample) if references is None else references
    prompt = render(
        "correctness" if stage == "correctness" else "novelty",
        problem=sample.problem.statement,
        solutions=numbered(references),
        new_solution=solution.solution,
    )
    about = f"{stage} of {solution.generator}, {sample.problem.problem_id}, k = {sample.k}"
    return Ballot(f"judge.{solution.generator}", about, prompt, _slots(stage, sample, references, solution.solution))


def pair_ballot(sample: Sample, reference: str, new: str, names: str) -> Ballot:
    """The question whether a solution is novel beside another model's, in the form of the authors' release."""
    prompt = render("pair", problem=sample.problem.statement, solution=reference, new_solution=new)
    about = f"pair {names}, {sample.problem.problem_id}, k = {sample.k}"
    return Ballot("judge.pairs", about, prompt, _slots("pair", sample, (reference,), new))


def ask_judges(
    ballots: Sequence[Ballot], judges: Sequence[str], profile: Profile, complete: Complete, decide: Decide
) -> list[list[Cast]]:
    """The judges' verdicts on each ballot, in the order of `judges`: of all of them, or with the profile's
    `early_stop` of the first ones, until `decide` has what it needs.

    A reply without a verdict is asked again up to `judge_retries` times; the last answer counts.
    """
    panels: list[list[Cast]] = [[] for _ in ballots]
    while True:
        wave = []  # so many judges of each ballot at once as must be asked in any case
        for panel, ballot in zip(panels, ballots, strict=True):
            verdicts = [cast.verdict for cast in panel]
            few = fewest_votes(verdicts, len(judges), decide) if profile.early_stop else len(judges) - len(panel)
            wave += [(panel, ballot, judge) for judge in judges[len(panel) :][:few]]
        if not wave:
            return panels
        cast = _ask_seats([(ballot, judge) for _, ballot, judge in wave], profile, complete)
        for (panel, _, _), one in zip(wave, cast, strict=True):
            panel.append(one)


def fewest_votes(verdicts: Sequence[str], size: int, decide: Decide) -> int:
    """How many more of a panel of `size` judges must at least vote before there can be a decision; 0 where it stands.

    >>> fewest_votes([], 3, unanimous), fewest_votes([], 3, majority), fewest_votes(["YES", "NO"], 3, majority)
    (1, 2, 1)
    """
    rest = size - len(verdicts)
    for more in range(rest):
        if any(
            decide([*verdicts, *[vote] * more, *["UNPARSED"] * (rest - more)]) is not None for vote in ("YES", "NO")
        ):
            return more
    return rest


def seated(panel: Sequence[Cast], size: int) -> list[str]:
    """The verdicts of a panel of `size` judges; a judge who was not asked is one without a verdict."""
    return [*(cast.verdict for cast in panel), *["UNPARSED"] * (size - len(panel))]


def _ask_seats(seats: Sequence[tuple[Ballot, str]], profile: Profile, complete: Complete) -> list[Cast]:
    """One verdict for each pair of a ballot and a judge."""
    responses = complete([judge_request(ballot, judge, profile) for ballot, judge in seats])
    cast = [read_vote(response, profile.verdict_rule) for response in responses]
    for attempt in range(1, profile.judge_retries + 1):
        again = [i for i, (verdict, key) in enumerate(cast) if verdict == "UNPARSED" and key is not None]
        if not again:
            break
        responses = complete([judge_request(*seats[i], profile, attempt) for i in again])
        for i, response in zip(again, responses, strict=True):
            cast[i] = read_vote(response, profile.verdict_rule)
    return [Cast(judge, *read) for (_, judge), read in zip(seats, cast, strict=True)]


def judge_request(ballot: Ballot, judge: str, profile: Profile, attempt: int = 0) -> Request:
    """The call that puts a ballot to a judge."""
    model = profile.model(judge)
    return Request(
        model=judge,
        identity=model.identity(),
        messages=user_message(ballot.prompt, model.system),
        decoding=profile.decoding_of(judge, judge=True),
        sample=attempt,
        slots={**ballot.slots, "about": ballot.about},
        ledger=ballot.ledger,
    )


def _slots(stage: str, sample: Sample, references: Iterable[str], solution: str) -> dict[str, Any]:
    return {
        "stage": stage,
        "problem": sample.problem.statement,
        "references": list(references),
        "solution": solution,
    }


def read_vote(response: Response, rule: str) -> tuple[Verdict, str | None]:
    """The verdict in a reply, and its key. A call that failed, or an answer blocked or refused, holds none."""
    if response.status == "failed":
        return "UNPARSED", None
    if response.status in ("blocked", "refused"):
        return "UNPARSED", response.key
    finish = "length" if response.status == "truncated" else response.finish_reason
    return parse_verdict(response.text, finish or "stop", rule), response.key
