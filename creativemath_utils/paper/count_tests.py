"""What counts alone can tell: tests of proportions, claims made of several of them, and what dependence could undo.

A printed table leaves counts, but not which sample was right for whom. So samples are tested as if independent, and
beside each p value stands the one at the worst dependence that the counts allow. Two inequalities bound it: with m
samples of each problem a standard error is at most sqrt(m) times as large (Cauchy-Schwarz), and that of a difference is
at most the sum of the two.

A cell that can stand for several counts is tested with each of them, and the least favourable one speaks.

    >>> from creativemath_utils.paper.scores import proportion
    >>> found = higher(proportion("A", 30, 42), proportion("B", 15, 42))
    >>> found.favours, round(found.p_for, 3)
    (True, 0.001)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, hypergeom
from statsmodels.stats.proportion import confint_proportions_2indep
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from creativemath_utils.paper.scores import Group, Score, choices, combined, share_scores, standard_error, total

NORMAL = NormalDist()


@dataclass(frozen=True)
class Comparison:
    """A comparison tested both ways; p values are one-sided, `worst_*` those at the worst dependence.

    `favours` says whether the numbers themselves lie on the claim's side, None where counts leave that open.
    """

    shown: str
    favours: bool | None
    p_for: float
    p_against: float
    worst_for: float
    worst_against: float


class Verdict(NamedTuple):
    """P values for and against at least so many of some tests, plain and at the worst, and the tests that decide."""

    p_for: float
    p_against: float
    worst_for: float
    worst_against: float
    decides_for: Comparison  # the weakest of those that are needed
    decides_against: Comparison  # the weakest of those that refute it


# --- tests ----------------------------------------------------------------------------------------


def scored(shown: str, scores: Sequence[Score]) -> Comparison:
    """A test from the scores of all counts that are possible; without any nothing can be told."""
    if not scores:
        return Comparison(shown, None, 1.0, 1.0, 1.0, 1.0)
    z = [(s.value / s.sd, s.value / s.worst) if s.value else (0.0, 0.0) for s in scores]
    (low, worst_low), (high, worst_high) = (map(pick, zip(*z, strict=True)) for pick in (min, max))
    favours = True if low > 0 else False if high <= 0 else None
    return Comparison(shown, favours, *(NORMAL.cdf(value) for value in (-low, high, -worst_low, worst_high)))


def higher(first: Group, second: Group, apart: bool = False) -> Comparison:
    """Whether the first proportion is the higher one: Fisher's exact test, and the interval of the difference.

    `apart` says that the two have no problem in common. The interval is Newcombe's, 95 %, in percentage points.
    """
    scores, exact, bounds = [], [], []
    for a, b in choices(first, second):
        positive, size = a.numerator + b.numerator, a.denominator + b.denominator
        share = positive / size
        value = a.numerator / a.denominator - b.numerator / b.denominator
        errors = [math.sqrt(share * (1 - share) / group.denominator) for group in (a, b)]
        scores.append(combined(value, errors, [a.widening, b.widening], apart))
        drawn = (size, positive, a.denominator)
        exact.append((float(hypergeom.sf(a.numerator - 1, *drawn)), float(hypergeom.cdf(a.numerator, *drawn))))
        bounds.append((value, *confint_proportions_2indep(*a[:2], *b[:2], method="newcomb", compare="diff")))
    shown = f"{first} against {second}"
    if bounds:
        values, lows, highs = zip(*bounds, strict=True)
        moved = sorted({f"{100 * value:+.1f}" for value in values}, key=float)
        shown += f": {' to '.join(dict.fromkeys((moved[0], moved[-1])))} points "
        shown += f"[{100 * min(lows):+.1f}, {100 * max(highs):+.1f}]"
    return _exactly(scored(shown, scores), exact)


def above(group: Group, share: float, below: bool = False) -> Comparison:
    """Whether a proportion is above (or below) a share, 0..1: the exact binomial test."""
    sign, exact = -1 if below else 1, []
    for (a,) in choices(group):
        ways = [binomtest(a.numerator, a.denominator, share, alternative=way).pvalue for way in ("greater", "less")]
        exact.append(tuple(map(float, ways[::sign])))
    shown = f"{group}, which is {_percents(group)}%, against {100 * share:g}%"
    return _exactly(scored(shown, share_scores(group, share, sign)), exact)


def within(first: Group, second: Group, margin: float) -> Comparison:
    """Whether two proportions differ by less than a margin, 0..1 (two one-sided tests, asymptotic)."""
    scores = []
    for a, b in choices(first, second):
        shares = [group.numerator / group.denominator for group in (a, b)]
        errors = [standard_error(a), standard_error(b)]
        scores.append(combined(margin - abs(shares[0] - shares[1]), errors, [a.widening, b.widening], False))
    return scored(f"{first} ({_percents(first)}%) beside {second} ({_percents(second)}%)", scores)


def below_the_mean(group: Group, others: Sequence[Group]) -> Comparison:
    """Whether a proportion is below the mean of others (z test); each of these counts alike, whatever its base."""
    terms = [(group, -1.0), *((other, 1 / len(others)) for other in others)]
    parts = [
        [
            combined(weight * p.numerator / p.denominator, [abs(weight) * standard_error(p)], [p.widening])
            for (p,) in choices(one)
        ]
        for one, weight in terms
    ]
    scores = total(parts) if all(parts) else []
    means = sorted({f"{100 * total(parts[1:])[end].value:.1f}" for end in (0, 1)}, key=float) if scores else ["?"]
    return scored(f"{group}, which is {_percents(group)}%, against a mean of {' to '.join(means)}%", scores)


def more_on_average(shown: str, first: Sequence[int], second: Sequence[int]) -> Comparison:
    """Whether the mean of 1, 2, 3, ... is higher with one list of frequencies than with another (z test, Welch's)."""
    if min(sum(first), sum(second)) < 2 or min(*first, *second) < 0:
        return scored(shown, [])
    one, two = (DescrStatsW(np.arange(1, len(c) + 1), weights=np.array(c), ddof=0) for c in (first, second))
    error = float(CompareMeans(one, two).std_meandiff_separatevar)
    shown += f": {one.mean:.2f} against {two.mean:.2f}"
    return scored(shown, [Score(float(one.mean - two.mean), error, error)] if error else [])  # no spread, no test


def in_order(shown: str, values: Sequence[float | None]) -> Comparison:
    """Whether values rise from first to last: Kendall's exact test, each value one unit. None leaves it open."""
    if len(values) < 2 or None in values:
        return scored(shown, [])
    pairs = [(b > a) - (b < a) for i, a in enumerate(values) for b in values[i + 1 :]]
    ways = reduce(np.convolve, [np.ones(size) for size in range(1, len(values) + 1)])  # orders by their inversions
    chances = [float(ways[: len(pairs) - pairs.count(sign) + 1].sum() / ways.sum()) for sign in (1, -1)]
    shown += f": {pairs.count(1)} of {len(pairs)} pairs"
    return Comparison(shown, sum(pairs) > 0, *chances, *chances)


def counted(shown: str, more: int, less: int) -> Comparison:
    """Whether one count of a whole is larger than another; nothing was sampled, so there is no chance in it."""
    chances = (float(more <= less), float(more >= less))
    return Comparison(f"{shown}: {more:,} against {less:,}", more > less, *chances, *chances)


# --- several tests, one claim ---------------------------------------------------------------------


def at_least(tests: Sequence[Comparison], needed: int) -> Verdict:
    """P values that at least `needed` of some tests' claims are true, and that fewer are, whatever their dependence.

    Partial conjunction by Bonferroni (Benjamini and Heller 2008): needed = 1 is "any", all of them "each".
    """
    if not tests:
        unknown = scored("nothing to compare", [])
        return Verdict(1.0, 1.0, 1.0, 1.0, unknown, unknown)
    spare = len(tests) - needed + 1  # so many must be untrue to refute it
    by_for, by_against, worst_for, worst_against = (
        sorted(tests, key=lambda test, name=name: getattr(test, name))
        for name in ("p_for", "p_against", "worst_for", "worst_against")
    )
    return Verdict(
        min(1.0, spare * by_for[needed - 1].p_for),
        min(1.0, needed * by_against[spare - 1].p_against),
        min(1.0, spare * worst_for[needed - 1].worst_for),
        min(1.0, needed * worst_against[spare - 1].worst_against),
        by_for[needed - 1],
        by_against[spare - 1],
    )


def _exactly(test: Comparison, exact: Sequence[tuple[float, float]]) -> Comparison:
    """The test with exact p values (for, against) of all choices of counts; at the worst dependence not below them."""
    if not exact:
        return test
    p_for, p_against = (min(1.0, max(p_values)) for p_values in zip(*exact, strict=True))
    return replace(
        test,
        p_for=p_for,
        p_against=p_against,
        worst_for=max(p_for, test.worst_for),
        worst_against=max(p_against, test.worst_against),
    )


def _percents(group: Group) -> str:
    values = sorted({f"{100 * p.numerator / p.denominator:.1f}" for (p,) in choices(group)}, key=float)
    return " to ".join(dict.fromkeys((values[0], values[-1]))) if values else "?"
