"""Problems as clusters: what every interval and test of the kit stands on.

The samples of one problem, and all models' answers to it, are not independent. So whole problems are drawn anew (the
cluster bootstrap), or have their sign turned (the wild test), and never single samples. Counts are summed by problem
first; a resample is then a row of weights, and all resamples are one matrix product, done in parts that fit in memory.

    >>> resampled_sums(np.array([[1.0], [1.0]]), resamples=3, seed=0).ravel().tolist()
    [2.0, 2.0, 2.0]
    >>> sign_flip_p(np.array([[1.0], [1.0], [1.0]])).tolist()  # of 8 patterns of signs, +++ and --- reach 3
    [0.25]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from scipy import stats

from creativemath_utils.metrics import DECISIONS
from creativemath_utils.records import KitError

RESAMPLES = 2000
LADDER = ("samples", *DECISIONS)  # each is counted among those of the one before
OPEN = tuple(f"{decision}_open" for decision in DECISIONS)  # passed all before, and is undecided here
EXACT_PROBLEMS = 12  # up to so many problems all patterns of signs are tried, 4,096 at most
PART = 2**22  # weights held at once: 32 MB


def count_samples(outcomes: pd.DataFrame, columns: Sequence[str] = ()) -> pd.DataFrame:
    """What each sample counts for: 0 or 1 in each of LADDER and OPEN, beside `columns` and `problem_id`.

    `outcomes` is as from `metrics.collect_outcomes`, a row a sample. A decision counts only where all before it are
    True, as in `metrics.summarize`: an open one is not. Raises KitError for a column that is missing or counted here.
    """
    needed = list(dict.fromkeys(["problem_id", *columns]))
    if missing := [name for name in (*needed, *DECISIONS) if name not in outcomes]:
        raise KitError(f"outcomes: no column {', '.join(missing)}; take them from metrics.collect_outcomes")
    if clash := [name for name in needed if name in (*LADDER, *OPEN)]:
        raise KitError(
            f"outcomes cannot be grouped by {', '.join(clash)}: that is what is counted; group by another column"
        )
    counted = outcomes[needed].reset_index(drop=True).infer_objects()
    passed = np.ones(len(counted), dtype=bool)
    counted["samples"] = 1
    for decision, still_open in zip(DECISIONS, OPEN, strict=True):
        decided = outcomes[decision].astype(object)
        counted[still_open] = (passed & decided.isna().to_numpy()).astype(int)
        passed = passed & decided.eq(True).to_numpy()
        counted[decision] = passed.astype(int)
    return counted


def check_level(level: float, resamples: int) -> None:
    """Raise KitError unless 0 < level < 1 and there is at least one resample."""
    if not 0 < level < 1:
        raise KitError(f"level {level!r}: expected a share between 0 and 1, such as 0.95")
    if resamples < 1:
        raise KitError(f"resamples {resamples!r}: expected a number above 0, such as {RESAMPLES}")


def resampled_sums(counts: np.ndarray, resamples: int = RESAMPLES, seed: int = 0) -> np.ndarray:
    """Sums of `counts` (problems, columns) over as many problems drawn with replacement: (resamples, columns).

    The draws depend on the seed and the number of problems alone, so columns of one call share them, and so do calls.
    """
    problems = len(counts)
    draw = np.random.default_rng(seed)
    sums = np.zeros((resamples, counts.shape[1]))
    for rows in _parts(resamples, problems):
        size = rows.stop - rows.start
        picks = draw.integers(problems, size=(size, problems))
        picks += problems * np.arange(size)[:, None]  # a row's picks get bins of their own
        weights = np.bincount(picks.ravel(), minlength=size * problems).reshape(size, problems)
        sums[rows] = weights.astype(float) @ counts
    return sums


def percentiles(drawn: np.ndarray, level: float, problems: int) -> tuple[float, float]:
    """The middle of resampled values, such that it covers `level`; NaN twice where none is defined.

    Values that are NaN are left out. A resample of few problems varies too little: the tails are cut as much shorter as
    Student's t over `problems` is wider than a normal (the expanded percentile interval of Hesterberg, 2015): 1.6 % on
    either side in place of 2.5 % with 20 problems, and 2.45 % with 400.
    """
    defined = drawn[~np.isnan(drawn)]
    if not defined.size:
        return float("nan"), float("nan")
    tail = 0.0
    if problems > 1:
        tail = stats.norm.sf(np.sqrt(problems / (problems - 1)) * stats.t.isf((1 - level) / 2, problems - 1))
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)


def sign_flip_p(scores: np.ndarray, flips: int = RESAMPLES, seed: int = 0) -> np.ndarray:
    """Two-sided p value of each column of `scores` (problems, tests), for the hypothesis that problems add up to 0.

    A score is what a problem adds to the statistic, computed as if the hypothesis held. Then its sign is as good as a
    coin, whatever its size and however the samples within the problem hang together: p is the share of patterns of
    signs whose sum is as far from 0. All patterns up to EXACT_PROBLEMS problems with a score, else `flips` random ones
    and the observed one. NaN scores give NaN; no score but 0 gives 1. (The wild cluster test with the hypothesis
    imposed; for one score a pair it is Fisher's randomization test.)
    """
    sizes = np.abs(scores)
    reached = np.abs(scores.sum(axis=0)) - 1e-9 * sizes.sum(axis=0)  # rounding must not break a tie
    counts = sizes > 1e-12 * sizes.max(axis=0, initial=0)
    p = np.full(scores.shape[1], np.nan)
    defined = ~np.isnan(scores).any(axis=0)
    exact = defined & (counts.sum(axis=0) <= EXACT_PROBLEMS)
    for test in np.flatnonzero(exact):
        some = scores[counts[:, test], test]
        signs = 1.0 - 2.0 * (np.arange(2 ** len(some))[:, None] >> np.arange(len(some)) & 1)
        p[test] = np.mean(np.abs(signs @ some) >= reached[test])
    many = np.flatnonzero(defined & ~exact)
    if many.size:
        draw = np.random.default_rng(seed)
        as_far = np.zeros(many.size)
        for rows in _parts(flips, len(scores)):
            coins = draw.integers(2, size=(rows.stop - rows.start, len(scores)), dtype=np.int8)
            as_far += (np.abs((1.0 - 2.0 * coins) @ scores[:, many]) >= reached[many]).sum(axis=0)
        p[many] = (1 + as_far) / (1 + flips)
    return p


def _parts(rows: int, columns: int) -> Iterator[slice]:
    """Ranges of rows, such that rows x columns of a range stay within PART."""
    step = max(1, PART // max(1, columns))
    return (slice(start, min(start + step, rows)) for start in range(0, rows, step))
