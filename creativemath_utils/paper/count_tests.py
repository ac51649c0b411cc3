"""What counts alone can tell: tests of proportions, claims made of several of them, and what dependence could undo.

A printed table leaves counts, but not which sample was right for whom. So samples are tested as if independent, and
beside each p value stands the one at the worst dependence that the counts allow. Two inequalities bound it: with m
samples of each problem a standard error is at most sqrt(m) times as large (Cauchy-Schwarz), and that of a difference is
at most the sum of the two.

A cell that can stand for several counts is tested with each of them, and the least favourable one speaks.

    >>> found = higher(proportion("A", 30, 42), proportion("B", 15, 42))
    >>> found.favours, round(found.p_for, 3)
    (True, 0.001)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from scipy.stats import binomtest, hypergeom
from statsmodels.stats.contingency_tables import Table
from statsmodels.stats.proportion import confint_proportions_2indep
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

from creativemath_utils.audit.consistency import Count

SHOWN_COUNTS = 3  # of more, the first and the last are shown
NORMAL = NormalDist()


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
    for a, b in _choices(first, second):
        positive, size = a.numerator + b.numerator, a.denominator + b.denominator
        share = positive / size
        value = a.numerator / a.denominator - b.numerator / b.denominator
        errors = [math.sqrt(share * (1 - share) / group.denominator) for group in (a, b)]
        scores.append(_combined(value, errors, [a.widening, b.widening], apart))
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
    for (a,) in _choices(group):
        ways = [binomtest(a.numerator, a.denominator, share, alternative=way).pvalue for way in ("greater", "less")]
        exact.append(tuple(map(float, ways[::sign])))
    shown = f"{group}, which is {_percents(group)}%, against {100 * share:g}%"
    return _exactly(scored(shown, share_scores(group, share, sign)), exact)


def within(first: Group, second: Group, margin: float) -> Comparison:
    """Whether two proportions differ by less than a margin, 0..1 (two one-sided tests, asymptotic)."""
    scores = []
    for a, b in _choices(first, second):
        shares = [group.numerator / group.denominator for group in (a, b)]
        errors = [_error(a), _error(b)]
        scores.append(_combined(margin - abs(shares[0] - shares[1]), errors, [a.widening, b.widening], False))
    return scored(f"{first} ({_percents(first)}%) beside {second} ({_percents(second)}%)", scores)


def below_the_mean(group: Group, others: Sequence[Group]) -> Comparison:
    """Whether a proportion is below the mean of others (z test); each of these counts alike, whatever its base."""
    terms = [(group, -1.0), *((other, 1 / len(others)) for other in others)]
    parts = [
        [
            _combined(weight * p.numerator / p.denominator, [abs(weight) * _error(p)], [p.widening])
            for (p,) in _choices(one)
        ]
        for one, weight in terms
    ]
    scores = total(parts) if all(parts) else []
    means = sorted({f"{100 * total(parts[1:])[end].value:.1f}" for end in (0, 1)}, key=float) if scores else ["?"]
    return scored(f"{group}, which is {_percents(group)}%, against a mean of {' to '.join(means)}%", scores)


def share_scores(group: Group, share: float, sign: int = 1) -> list[Score]:
    """By how much more (sign -1: less) a count is than a share of its base, for each count that is possible."""
    spread = share * (1 - share)
    return [
        _combined(sign * (count - share * size), [math.sqrt(size * spread)], [wide])
        for ((count, size, wide),) in _choices(group)
    ]


def trend_scores(groups: Sequence[Group], at: Sequence[float], apart: bool = False) -> list[Score]:
    """How much proportions rise with `at`: the Cochran-Armitage test, for every choice of the counts possible."""
    scores = []
    for chosen in _choices(*groups):
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
        worst = _combined(0.0, errors, [p.widening for p in chosen], apart).worst
        scores.append(Score(float(found.statistic - found.null_mean), float(found.null_sd), worst))
    return scores


def minus(first: Sequence[Score], second: Sequence[Score]) -> list[Score]:
    """The difference of two scores, for every choice of counts; none where one of them is unknown."""
    return [_combined(a.value - b.value, (a.sd, b.sd), worst=a.worst + b.worst) for a, b in product(first, second)]


def total(parts: Iterable[Sequence[Score]]) -> list[Score]:
    """The least and the greatest sum of scores over all choices of counts; parts that are unknown are left out."""
    parts = [part for part in parts if part]
    bounds = []
    for pick in (min, max) if parts else ():
        value = sum(pick(score.value for score in part) for part in parts)
        wide = max if (value > 0) == (pick is min) else min  # what brings the least sum down, and the greatest up
        errors = [wide(score.sd for score in part) for part in parts]
        bounds.append(_combined(value, errors, worst=sum(wide(score.worst for score in part) for part in parts)))
    return bounds


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


def _choices(*groups: Group) -> list[tuple[Proportion, ...]]:
    """Every choice of counts; none where a group's are unknown or a base is empty."""
    return [c for c in product(*(group.candidates for group in groups)) if all(p.denominator for p in c)]


def _error(p: Proportion) -> float:
    """The standard error of a proportion, samples independent; never a certainty."""
    share = p.numerator / p.denominator
    return math.sqrt(max(share * (1 - share), 1 / (4 * p.denominator)) / p.denominator)


def _combined(
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
    values = sorted({f"{100 * p.numerator / p.denominator:.1f}" for (p,) in _choices(group)}, key=float)
    return " to ".join(dict.fromkeys((values[0], values[-1]))) if values else "?"
