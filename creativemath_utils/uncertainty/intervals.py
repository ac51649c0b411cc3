"""How far chance alone could have moved a ratio: Wilson's interval, and a bootstrap over problems.

Wilson's interval takes samples for independent, which they are where each problem gives one (a cell of Table 3 or 4,
one competition at k = 1). Over all k up to five samples share a problem, and more answers to one problem are not as
much evidence as answers to as many problems: there the bootstrap draws whole problems, for the shares C, N, Nu and for
the ratios of counts N/C and Nu/N alike.

The bootstrap knows only what it saw. Where all problems came out the same (27 of 27) every resample does too, and its
interval would have no width: a certainty that nobody has. There, and with fewer than FEW_PROBLEMS problems, where it is
known to be too narrow, the wider of two stands: the bootstrap's, and Wilson's with *problems* for samples, as if all
samples of a problem were one.

    >>> right = {"correct": True, "novel": False, "novel_unknown": False}
    >>> table = ratio_intervals(pd.DataFrame([{"problem_id": str(i), **right} for i in range(27)]), by=())
    >>> table.loc[0, ["low", "high"]].astype(float).round(3).tolist()
    [0.875, 1.0]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from creativemath_utils.metrics import RATIOS
from creativemath_utils.uncertainty.resampling import (
    LADDER,
    OPEN,
    RESAMPLES,
    check_level,
    count_samples,
    percentiles,
    resampled_sums,
)

FEW_PROBLEMS = 10
COLUMNS = (
    *("ratio", "numerator", "denominator", "value", "wilson_low", "wilson_high", "low", "high"),
    *("problems", "widened", "undefined_share", "undecided_low", "undecided_high"),
)
NAN = float("nan")


def ratio_intervals(
    outcomes: pd.DataFrame,
    by: str | Sequence[str] = ("generator",),
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """The ratios of `metrics.RATIOS` with their intervals: a row for each group of `by`, in order, and each ratio.

    `outcomes` is as from `metrics.collect_outcomes`; `level` is the intervals' coverage, 0..1. Undecided samples count
    as not, as in `metrics.summarize`. What comes back has the columns `by` and COLUMNS, all ratios 0..1:
    value, NaN over an empty base, and then so are its intervals; wilson_low, wilson_high; low, high of the bootstrap
    over problems; problems, those that have a sample in the base; widened, whether the wider of two intervals was
    taken (see above); undefined_share, the share of resamples whose base was empty and that were left out;
    undecided_low, undecided_high, between which the value lies however the undecided samples are decided.
    Raises KitError for a missing column or a level that is none. Paper, Section 5.4.
    """
    check_level(level, resamples)
    by = [by] if isinstance(by, str) else list(by)
    samples = count_samples(outcomes, by)
    keys, group_of = _groups(samples, by)
    counts, places = _by_problem(samples, group_of, len(keys))
    drawn = _draw(counts, places, resamples, seed)
    totals = samples[[*LADDER, *OPEN]].groupby(group_of).sum().reindex(range(len(keys)), fill_value=0)
    rows = []
    for group, key in enumerate(keys):
        for ratio, (over, base) in RATIOS.items():
            i, j = LADDER.index(over), LADDER.index(base)
            row = dict(zip(by, key, strict=True)) | {"ratio": ratio}
            row |= _of_counts(totals.loc[group].to_dict(), over, base, level)
            row |= _of_resamples(row["value"], counts[group][:, j], drawn[group][:, i], drawn[group][:, j], level)
            rows.append(row)
    return pd.DataFrame(rows, columns=[*by, *COLUMNS])


def wilson(numerator: float, denominator: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a proportion, 0..1; NaN twice over an empty base."""
    if not denominator:
        return NAN, NAN
    low, high = proportion_confint(numerator, denominator, alpha=1 - level, method="wilson")
    return float(low), float(high)


def _groups(samples: pd.DataFrame, by: Sequence[str]) -> tuple[list[tuple], np.ndarray]:
    """The values of `by` of each group, in order, and the number of the group of each sample."""
    if not by:
        return [()], np.zeros(len(samples), dtype=int)
    grouped = samples.groupby(by, dropna=False, observed=True)
    return list(grouped.size().index.to_frame().itertuples(index=False, name=None)), grouped.ngroup().to_numpy()


def _by_problem(samples: pd.DataFrame, group_of: np.ndarray, groups: int) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For each group the counts (problems, LADDER) of its problems, and which problems those are, both by problem."""
    problem_of, problems = pd.factorize(samples["problem_id"], sort=True)
    cells, cell_of = np.unique(group_of * max(1, len(problems)) + problem_of, return_inverse=True)
    sums = np.stack([np.bincount(cell_of, weights=samples[name], minlength=len(cells)) for name in LADDER], axis=1)
    ends = np.searchsorted(cells, np.arange(1, groups) * max(1, len(problems)))
    return np.split(sums, ends), [part % max(1, len(problems)) for part in np.split(cells, ends)]


def _draw(
    counts: Sequence[np.ndarray], places: Sequence[np.ndarray], resamples: int, seed: int
) -> dict[int, np.ndarray]:
    """Resampled sums (resamples, LADDER) of each group, from its own problems; groups with the same share the draws."""
    alike: dict[bytes, list[int]] = {}
    for group, place in enumerate(places):
        alike.setdefault(place.tobytes(), []).append(group)
    drawn = {}
    for groups in alike.values():
        together = np.concatenate([counts[group] for group in groups], axis=1)
        sums = resampled_sums(together, resamples, seed) if len(together) else np.zeros((resamples, together.shape[1]))
        drawn |= zip(groups, np.split(sums, len(groups), axis=1), strict=True)
    return drawn


def _of_counts(count: Mapping[str, int], over: str, base: str, level: float) -> dict[str, Any]:
    """What the counts alone tell: the value, Wilson's interval, and the range that undecided samples leave."""
    numerator, denominator = int(count[over]), int(count[base])
    i, j = LADDER.index(base), LADDER.index(over)
    may_join = sum(count[name] for name in OPEN[:i])  # undecided before the base: in it or not
    may_turn = sum(count[name] for name in OPEN[i:j])  # in the base, and undecided above it
    most = denominator + may_join
    low, high = wilson(numerator, denominator, level)
    return {
        "numerator": numerator,
        "denominator": denominator,
        "value": numerator / denominator if denominator else NAN,
        "wilson_low": low,
        "wilson_high": high,
        "undecided_low": numerator / most if most else NAN,
        "undecided_high": (numerator + may_join + may_turn) / most if most else NAN,
    }


def _of_resamples(
    value: float, base: np.ndarray, drawn_over: np.ndarray, drawn_base: np.ndarray, level: float
) -> dict[str, Any]:
    """The bootstrap's interval; `base` is the size of the base in each problem."""
    empty = drawn_base == 0
    problems = int(np.count_nonzero(base))
    low, high = percentiles(np.where(empty, NAN, drawn_over / np.where(empty, 1, drawn_base)), level, problems)
    widened = problems > 0 and bool(low == high or problems < FEW_PROBLEMS)
    if widened:
        by_problems = wilson(value * problems, problems, level)
        low, high = float(np.fmin(low, by_problems[0])), float(np.fmax(high, by_problems[1]))
    if not problems:
        low = high = NAN
    return {"low": low, "high": high, "problems": problems, "widened": widened, "undefined_share": float(empty.mean())}
