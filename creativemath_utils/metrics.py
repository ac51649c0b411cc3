"""From votes to decisions, and from decisions to the paper's ratios.

An outcome is one generated solution with its three decisions: correct, novel, novel_unknown. Each is True, False or,
while the votes leave it open, None. A decision that is open counts neither for nor against: it is `undecided`, stays
in the denominator, and is shown.

    >>> summarize([{"correct": True, "novel": False, "novel_unknown": False}]).loc[0, "novelty_to_correctness_ratio"]
    np.float64(0.0)
    >>> percent(1, 800), percent(0, 0)
    ('0.13', None)
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pandas as pd

from creativemath_utils.judge import Decide, judgeable, majority, unanimous
from creativemath_utils.records import (
    CATEGORIES,
    STATUSES,
    KitError,
    Problem,
    Solution,
    Vote,
    competition_order,
)

DECISIONS = ("correct", "novel", "novel_unknown")
COUNTS = ("samples", *DECISIONS, "undecided")
RATIOS = {
    "correctness_ratio": ("correct", "samples"),
    "novelty_ratio": ("novel", "samples"),
    "novel_unknown_ratio": ("novel_unknown", "samples"),
    "novelty_to_correctness_ratio": ("novel", "correct"),
    "novel_unknown_to_novelty_ratio": ("novel_unknown", "novel"),
}
OUTCOME_COLUMNS = (
    *("problem_id", "competition", "difficulty", "category", "k", "n", "generator", "status"),
    *DECISIONS,
    *("undecided", "unparsed"),
)


def collect_outcomes(
    problems: Sequence[Problem],
    solutions: Iterable[Solution],
    votes: Iterable[Vote],
    judges: Sequence[str],
    judge_truncated: bool = True,
    correct_by: Decide = unanimous,
    novel_by: Decide = majority,
) -> pd.DataFrame:
    """The decisions on every solution, one row each, in the order of `solutions`.

    `correct_by` and `novel_by` are the rules of the panel, by default the paper's. Only votes of the panel `judges`
    count; one that is missing (the judge was not asked, or the call failed) decides like one without a verdict, and is
    not counted as one. A sample without a solution (blocked, refused, failed, or nothing in it) is not correct. With
    `judge_truncated` False a truncated answer stays undecided. Columns: OUTCOME_COLUMNS; `unparsed` is the number of
    votes without a verdict.
    Raises KitError for a solution of an unknown problem. Paper, Section 4.2.
    """
    problem_of = {problem.problem_id: problem for problem in problems}
    verdicts: dict[tuple[str, str, int], dict[tuple[str, str], str]] = defaultdict(dict)
    for vote in votes:
        if vote.judge in judges:
            verdicts[vote.generator, vote.problem_id, vote.k][vote.stage, vote.judge] = vote.verdict

    rows = []
    for solution in solutions:
        if solution.problem_id not in problem_of:
            raise KitError(
                f"solutions of {solution.generator}: problem {solution.problem_id!r} is not among the run's problems; "
                "run the generation again"
            )
        problem = problem_of[solution.problem_id]
        given = verdicts.get((solution.generator, solution.problem_id, solution.k), {})
        correct, novel, novel_unknown = _decide(solution, given, judges, judge_truncated, correct_by, novel_by)
        rows.append(
            {
                "problem_id": solution.problem_id,
                "competition": problem.competition,
                "difficulty": problem.difficulty,
                "category": problem.category,
                "k": solution.k,
                "n": solution.n,
                "generator": solution.generator,
                "status": solution.status,
                "correct": correct,
                "novel": novel,
                "novel_unknown": novel_unknown,
                "undecided": None in (correct, novel, novel_unknown),
                "unparsed": sum(verdict == "UNPARSED" for verdict in given.values()),
            }
        )
    frame = pd.DataFrame(rows, columns=list(OUTCOME_COLUMNS), dtype=object)
    return frame.astype({"k": int, "n": int, "undecided": bool, "unparsed": int, "difficulty": float})


def _decide(
    solution: Solution,
    given: Mapping[tuple[str, str], str],
    judges: Sequence[str],
    judge_truncated: bool,
    correct_by: Decide,
    novel_by: Decide,
) -> tuple[bool | None, bool | None, bool | None]:
    """The three decisions on one solution; each is asked only of what passed the one before."""

    def panel(stage: str) -> list[str]:
        return [given.get((stage, judge), "UNPARSED") for judge in judges]

    if solution.status == "truncated" and not judge_truncated:
        correct = None
    elif not judgeable(solution):
        correct = False
    else:
        correct = correct_by(panel("correctness"))
    novel = novel_by(panel("coarse")) if correct else correct
    if novel and solution.k < solution.n:
        return correct, novel, novel_by(panel("fine"))
    return correct, novel, novel  # with k = n no human solution is left to compare with


def summarize(outcomes: pd.DataFrame | Iterable[Any], by: str | Sequence[str] = ()) -> pd.DataFrame:
    """Counts and ratios of outcomes, one row for each group of `by` (a column or several), or one row in all.

    `outcomes` is a table, or dicts or objects, with `correct`, `novel`, `novel_unknown` (True, False or None). What
    comes back has the columns `by`, COUNTS, the counts by status and of unparsed votes where the input knows them, and
    RATIOS, 0..1 and undefined (NaN) over an empty base. The denominator is all samples; an undecided one is not
    correct. Raises KitError for a missing column. Paper, Section 5.4.
    """
    by = [by] if isinstance(by, str) else list(by)
    frame = _as_frame(outcomes, by)
    correct = _is_true(frame["correct"])
    novel = correct & _is_true(frame["novel"])
    flags = {
        "samples": pd.Series(1, index=frame.index),
        "correct": correct,
        "novel": novel,
        "novel_unknown": novel & _is_true(frame["novel_unknown"]),
        "undecided": frame["correct"].isna()
        | (correct & frame["novel"].isna())
        | (novel & frame["novel_unknown"].isna()),
    }
    if "status" in frame:
        flags |= {status: frame["status"].eq(status) for status in STATUSES if status != "ok"}
    if "unparsed" in frame:
        flags["unparsed"] = frame["unparsed"]
    counted = pd.DataFrame(flags).astype(int)
    if clash := [name for name in by if name in counted]:
        raise KitError(
            f"outcomes cannot be grouped by {', '.join(clash)}: that is what is counted; group by another column"
        )
    if by:
        groups = [frame[column].infer_objects() for column in by]
        summary = counted.groupby(groups, dropna=False, observed=True).sum().reset_index()
    else:
        summary = counted.sum().to_frame().T
    for name, (numerator, denominator) in RATIOS.items():
        base = summary[denominator]
        summary[name] = summary[numerator] / base.where(base > 0)
    return summary


def _as_frame(outcomes: pd.DataFrame | Iterable[Any], by: Sequence[str]) -> pd.DataFrame:
    """Outcomes as a table with a fresh index, its needed columns checked. Nothing at all is an empty table."""
    needed = list(dict.fromkeys([*DECISIONS, *by]))
    if isinstance(outcomes, pd.DataFrame):
        frame = outcomes.reset_index(drop=True)
    else:
        known = [*needed, "status", "unparsed"]
        rows = [
            item if isinstance(item, Mapping) else {name: getattr(item, name) for name in known if hasattr(item, name)}
            for item in outcomes
        ]
        frame = pd.DataFrame(rows, dtype=object)
    missing = [name for name in needed if name not in frame]
    if missing and len(frame):
        raise KitError(f"outcomes: no column {', '.join(missing)}; found {', '.join(map(str, frame.columns))}")
    return frame.reindex(columns=[*frame.columns, *missing])


def _is_true(decisions: pd.Series) -> pd.Series:
    """Where a decision is True; False and None (open) are not."""
    return decisions.astype(object).eq(True)


def rounded(value: Fraction, decimals: int = 2) -> str:
    """A number that is not negative as text, rounded half up from its exact value."""
    units = math.floor(value * 10**decimals + Fraction(1, 2))
    return f"{Decimal(units).scaleb(-decimals):f}"


def percent(numerator: int, denominator: int) -> str | None:
    """The ratio of two counts as percent with two decimals, rounded half up: 423 of 605 is '69.92'. None over 0."""
    return rounded(100 * Fraction(int(numerator), int(denominator))) if denominator else None


def mean_percent(ratios: Iterable[tuple[int, int]]) -> str | None:
    """The mean of ratios (numerator, denominator) over those that are defined, as percent; None where none is."""
    defined = [Fraction(int(numerator), int(denominator)) for numerator, denominator in ratios if denominator]
    return rounded(100 * sum(defined) / len(defined)) if defined else None


def competition_label(competition: str) -> str:
    """A competition as tables and figures show it: AMC_8 is AMC 8."""
    return competition.replace("_", " ")


def figure_1_counts(problems: Sequence[Problem]) -> pd.DataFrame:
    """Problems by category (rows) and competition (columns). Where one has no category, a row `unknown`.

    The columns are all eight of the paper, then others: see `records.competition_order`.
    """
    categories = [problem.category or "unknown" for problem in problems]
    rows = [*CATEGORIES, *(["unknown"] if "unknown" in categories else [])]
    columns = [competition_label(name) for name in competition_order(problem.competition for problem in problems)]
    counts = pd.DataFrame(0, index=rows, columns=columns)
    for category, problem in zip(categories, problems, strict=True):
        counts.loc[category, competition_label(problem.competition)] += 1
    return counts.rename_axis("category")


def figure_2_counts(problems: Sequence[Problem]) -> pd.DataFrame:
    """Problems by competition (rows: all eight, then others) and number of human solutions (columns n1, n2, ...)."""
    most = max((problem.n for problem in problems), default=1)
    columns = [f"n{n}" for n in range(1, most + 1)]
    rows = [competition_label(name) for name in competition_order(problem.competition for problem in problems)]
    counts = pd.DataFrame(0, index=rows, columns=columns)
    for problem in problems:
        counts.loc[competition_label(problem.competition), f"n{problem.n}"] += 1
    return counts.rename_axis("competition")
