"""Counts that cells can stand for, and scores made of them, with the standard errors that dependence could bring.

With m samples of each problem a standard error is at most sqrt(m) times as large as with independent ones
(Cauchy-Schwarz), and that of a difference is at most the sum of the two. What is tested with them is in `count_tests`.

    >>> str(proportion("A", 30, 42, 31, 42))
    'A 30/42 or 31/42'
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from statsmodels.stats.contingency_tables import Table

from creativemath_utils.audit.consistency import Count

SHOWN_COUNTS = 3  # of more, the first and the last are shown


class Proportion(NamedTuple):
    """Counts, and how many times as large the standard error is at most if samples of a problem hang together."""

    numerator: int
    denominator: int
    widening: float = 1.0


@dataclass(frozen=True)
class Group:
    """A named proportion with all counts that it can stand for; none where they cannot be told."""

    name: str
    candidates: tuple[Proportion, ...]

    def __str__(self) -> str:
        return f"{self.name} {shown_counts([candidate[:2] for candidate in self.candidates])}"


class Score(NamedTuple):
    """A statistic that grows with what is claimed, 0 on average if nothing is so, and its two standard errors."""

    value: float
    sd: float  # samples independent
    worst: float  # samples hanging together as far as can be


def proportion(name: str, *counts: int, widening: float = 1.0) -> Group:
    """A group from counts: numerator, denominator, and further pairs where it can stand for several."""
    pairs = zip(counts[::2], counts[1::2], strict=True)
    return Group(name, tuple(Proportion(*pair, widening) for pair in pairs))


def shown_counts(counts: Sequence[Count]) -> str:
    """Counts in words: 30/42, or several of which one is right."""
    if not counts:
        return "unknown"
    texts = [f"{numerator}/{denominator}" for numerator, denominator in counts]
    if len(texts) > SHOWN_COUNTS:
        return f"one of {len(texts)}, {texts[0]} to {texts[-1]}"
    return " or ".join([*([", ".join(texts[:-1])] if texts[1:] else []), texts[-1]])


def widening(count: Count, by_k: Sequence[int]) -> float:
    """At most how many times as large the standard error of a proportion is if the samples of a problem hang together.

    `by_k` are the samples with k = 1, 2, ...; a problem with n solutions has given n samples. The bound holds for every
    way in which the counts can lie on the problems: it puts the rarer answers, which vary most, into the largest ones.

    >>> widening((1, 2), (1, 1)) == math.sqrt(2)  # one problem, two samples: they may stand or fall together
    True
    """
    numerator, denominator = count
    exactly = {n: here - later for n, (here, later) in enumerate(zip(by_k, [*by_k[1:], 0], strict=True), 1)}
    sizes = np.repeat(sorted(exactly, reverse=True), [n * exactly[n] for n in sorted(exactly, reverse=True)])
    sizes = sizes[:denominator]
    share = numerator / denominator if denominator else 0.0
    if not 0 < share < 1:
        return math.sqrt(sizes.mean()) if len(sizes) else 1.0
    squares = np.repeat([share**2, (1 - share) ** 2], [denominator - numerator, numerator])
    squares = np.sort(squares)[::-1][: len(sizes)]
    return max(1.0, math.sqrt((sizes * squares).sum() / (denominator * share * (1 - share))))


def choices(*groups: Group) -> list[tuple[Proportion, ...]]:
    """Every choice of counts; none where a group's are unknown or a base is empty."""
    return [c for c in product(*(group.candidates for group in groups)) if all(p.denominator for p in c)]


def standard_error(p: Proportion) -> float:
    """The standard error of a proportion, samples independent; never a certainty."""
    share = p.numerator / p.denominator
    return math.sqrt(max(share * (1 - share), 1 / (4 * p.denominator)) / p.denominator)


def combined(
    value: float,
    errors: Sequence[float],
    widenings: Sequence[float] | None = None,
    apart: bool = False,
    worst: float | None = None,
) -> Score:
    """A sum of terms with their standard errors: independent ones add by squares, others at most plainly."""
    if worst is None:
        widened = [error * wide for error, wide in zip(errors, widenings or [1.0] * len(errors), strict=True)]
        worst = math.hypot(*widened) if apart else sum(widened)
    return Score(value, math.hypot(*errors), worst)


def share_scores(group: Group, share: float, sign: int = 1) -> list[Score]:
    """By how much more (sign -1: less) a count is than a share of its base, for each count that is possible."""
    spread = share * (1 - share)
    return [
        combined(sign * (count - share * size), [math.sqrt(size * spread)], [wide])
        for ((count, size, wide),) in choices(group)
    ]


def trend_scores(groups: Sequence[Group], at: Sequence[float], apart: bool = False) -> list[Score]:
    """How much proportions rise with `at`: the Cochran-Armitage test, for every choice of the counts possible."""
    scores = []
    for chosen in choices(*groups):
        table = np.array([(p.numerator, p.denominator - p.numerator) for p in chosen], float)
        weights = np.array(at, float)
        if 0 in table.sum(axis=0):  # all right or all wrong: no trend
            scores.append(Score(0.0, 1.0, 1.0))
            continue
        found = Table(table, shift_zeros=False).test_ordinal_association(weights, np.array([1.0, 0.0]))
        sizes = table.sum(axis=1)
        weights = np.abs(weights - np.average(weights, weights=sizes)) * np.sqrt(sizes)
        share = table[:, 0].sum() / sizes.sum()
        errors = (weights * math.sqrt(share * (1 - share))).tolist()
        worst = combined(0.0, errors, [p.widening for p in chosen], apart).worst
        scores.append(Score(float(found.statistic - found.null_mean), float(found.null_sd), worst))
    return scores


def minus(first: Sequence[Score], second: Sequence[Score]) -> list[Score]:
    """The difference of two scores, for every choice of counts; none where one of them is unknown."""
    return [combined(a.value - b.value, (a.sd, b.sd), worst=a.worst + b.worst) for a, b in product(first, second)]


def total(parts: Iterable[Sequence[Score]]) -> list[Score]:
    """The least and the greatest sum of scores over all choices of counts; parts that are unknown are left out."""
    parts = [part for part in parts if part]
    bounds = []
    for pick in (min, max) if parts else ():
        value = sum(pick(score.value for score in part) for part in parts)
        wide = max if (value > 0) == (pick is min) else min  # what brings the least sum down, and the greatest up
        errors = [wide(score.sd for score in part) for part in parts]
        bounds.append(combined(value, errors, worst=sum(wide(score.worst for score in part) for part in parts)))
    return bounds
