"""Which models can be told apart: differences of a ratio, paired over the samples that both have.

All models get the same problems, and a problem that is hard for one is mostly hard for the other. What they share
cancels when two are compared sample by sample, so a difference can be sure though the models' own intervals overlap.

The interval is a bootstrap over problems. The p value is that of `resampling.sign_flip_p`: under the hypothesis that
both ratios are r, a problem adds (a - r b) / B of the first model less the same of the second to the difference, where
a of b samples in the base count there, and B is the whole base. For C, N and Nu these are the differences problem by
problem, and the test swaps the two models' answers: it is exact. For N/C and Nu/N the models may differ in their base,
and it holds for many problems. Holm's correction is over all pairs: among as many comparisons some small p is nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests

from creativemath_utils.metrics import RATIOS
from creativemath_utils.models import nearest
from creativemath_utils.records import KitError
from creativemath_utils.uncertainty.intervals import FEW_PROBLEMS, NAN, wilson
from creativemath_utils.uncertainty.resampling import (
    RESAMPLES,
    check_level,
    count_samples,
    percentiles,
    resampled_sums,
    sign_flip_p,
)

COLUMNS = (
    *("first", "second", "first_value", "second_value", "difference", "low", "high", "p_value", "p_holm"),
    *("samples", "problems", "differing", "widened"),
)
FLIPS_A_TEST = 40  # so many patterns of signs for each pair at least, or Holm's correction could never be passed


def paired_differences(
    outcomes: pd.DataFrame,
    ratio: str = "correctness_ratio",
    generators: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """The difference of `ratio` (a name in `metrics.RATIOS`) for each pair of models, first less second; a row a pair.

    `generators` gives the models and their order, by default all, by name. A pair is compared on the samples
    (problem_id, k) that both have: first_value, second_value and difference are over those, so they depart from the
    models' own ratios where they do not have the same samples. Columns COLUMNS; ratios 0..1, differences -1..1, NaN
    where one of the two has an empty base. low, high: of the bootstrap over problems; where no resample departs from
    the others, or a ratio has fewer than `intervals.FEW_PROBLEMS` problems in its base, it is widened (column widened)
    to what there could be if a share of problems came out otherwise, that share being Wilson's upper limit for 0 of
    these problems. p_value, p_holm: see above. samples, problems: those in common; differing: problems that add to the
    difference. Raises KitError for an unknown ratio, a missing column, or a sample that a model has twice.
    """
    check_level(level, resamples)
    if ratio not in RATIOS:
        raise KitError(f"ratio {ratio!r} is none of the kit's; {nearest(ratio, list(RATIOS))}")
    samples = count_samples(outcomes, ("k", "generator"))
    names = sorted(samples["generator"].unique()) if generators is None else list(dict.fromkeys(generators))
    pairs = list(combinations(range(len(names)), 2))
    present, counts, problem_of = _sample_by_model(samples, names, *RATIOS[ratio])
    alike: dict[bytes, list[tuple[int, int]]] = {}  # pairs with the same samples in common share their resamples
    for a, b in pairs:
        alike.setdefault((present[:, a] & present[:, b]).tobytes(), []).append((a, b))
    found: dict[tuple[int, int], dict[str, Any]] = {}
    flips = max(resamples, FLIPS_A_TEST * len(pairs))
    for shared, some in alike.items():
        common = np.frombuffer(shared, dtype=bool)
        _, place = np.unique(problem_of[common], return_inverse=True)
        by_problem = np.zeros((place.max(initial=-1) + 1, *counts.shape[1:]))
        np.add.at(by_problem, place, counts[common])
        paired = np.stack([by_problem[:, pair] for pair in some], axis=1)  # problems, pairs, two models, over and base
        for pair, row in zip(some, _compare(paired, resamples, flips, seed, level), strict=True):
            about = {"first": names[pair[0]], "second": names[pair[1]], "samples": int(common.sum())}
            found[pair] = about | row
    table = pd.DataFrame([found[pair] for pair in pairs], columns=list(COLUMNS))
    return table.assign(p_holm=holm(table["p_value"]))


def holm(p_values: Sequence[float]) -> np.ndarray:
    """p values corrected for their number by Holm's method; those that are NaN stay so and are not counted."""
    corrected = np.array(p_values, dtype=float)
    defined = ~np.isnan(corrected)
    if defined.sum() > 1:  # one alone needs none
        corrected[defined] = multipletests(corrected[defined], method="holm")[1]
    return corrected


def _sample_by_model(
    samples: pd.DataFrame, names: Sequence[str], over: str, base: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(samples, models) whether a model has a sample; (samples, models, 2) what it counts for; (samples,) its
    problem."""
    samples = samples[samples["generator"].isin(names)]
    cells = samples.groupby(["problem_id", "k"]).ngroup().to_numpy()
    model = pd.Index(names).get_indexer(samples["generator"])
    rows = cells.max(initial=-1) + 1
    times = np.bincount(cells * len(names) + model, minlength=rows * len(names)).reshape(rows, len(names))
    if (times > 1).any():
        twice = samples[samples.duplicated(["generator", "problem_id", "k"])].iloc[0]
        raise KitError(
            f"outcomes: {twice['generator']} has {twice['problem_id']!r} with k = {twice['k']} twice; leave one out"
        )
    counts = np.zeros((rows, len(names), 2))
    counts[cells, model] = samples[[over, base]].to_numpy()
    problem_of = np.zeros(rows, dtype=int)
    problem_of[cells] = pd.factorize(samples["problem_id"], sort=True)[0]
    return times > 0, counts, problem_of


def _compare(counts: np.ndarray, resamples: int, flips: int, seed: int, level: float) -> list[dict[str, Any]]:
    """A row for each pair, from counts (problems, pairs, two models, over and base)."""
    problems, pairs = counts.shape[:2]
    totals = counts.sum(axis=0)
    values = _ratio(totals)
    together = _ratio(totals.sum(axis=1))[:, None]  # the ratio of both, if they have the same
    bases = np.where(totals[..., 1] > 0, totals[..., 1], NAN)
    added = (counts[..., 0] - together * counts[..., 1]) / bases
    scores = added[..., 0] - added[..., 1]
    p_values = sign_flip_p(scores, flips, seed)
    drawn = resampled_sums(counts.reshape(problems, -1), resamples, seed) if problems else np.zeros((0, 4 * pairs))
    drawn_values = _ratio(drawn.reshape(-1, *counts.shape[1:]))
    fewer = (counts[..., 1] > 0).sum(axis=0).min(axis=-1)  # problems behind the ratio that has fewer
    rows = []
    for pair in range(pairs):
        difference = float(values[pair, 0] - values[pair, 1])
        low, high = percentiles(drawn_values[:, pair, 0] - drawn_values[:, pair, 1], level, fewer[pair])
        widened = bool(low == high or fewer[pair] < FEW_PROBLEMS) and not np.isnan(difference)
        if widened:
            unseen = wilson(0, fewer[pair], level)[1]
            low = float(np.fmin(low, difference - unseen * (1 + difference)))
            high = float(np.fmax(high, difference + unseen * (1 - difference)))
        rows.append(
            {
                "first_value": float(values[pair, 0]),
                "second_value": float(values[pair, 1]),
                "difference": difference,
                "low": low if not np.isnan(difference) else NAN,
                "high": high if not np.isnan(difference) else NAN,
                "p_value": float(p_values[pair]) if not np.isnan(difference) else NAN,
                "problems": problems,
                "differing": int((np.abs(scores[:, pair]) > 1e-12).sum()),
                "widened": widened,
            }
        )
    return rows


def _ratio(counts: np.ndarray) -> np.ndarray:
    """Counts (..., over and base) as ratios, NaN over an empty base."""
    base = counts[..., 1]
    return np.where(base > 0, counts[..., 0] / np.where(base > 0, base, 1), NAN)
