"""Do ratios go up or down with k, with n - k, with difficulty? Slopes, tested; and what small cells can show.

A trend is the slope of the straight line through the samples: by how much a ratio changes for each further solution
shown, or each step of difficulty. It is the statistic of the Cochran-Armitage test, and its score that of a logistic
regression (a GEE with problems as clusters) at slope 0. A regression itself is not fitted: where all 8 samples at k = 4
are correct it has no finite estimate, while this has one always. The interval is a bootstrap over problems. The p value
is that of `resampling.sign_flip_p`, where a problem adds the sum of (x - mean x) (y - mean y) over its samples: it
holds however samples of a problem hang together, and does not count on any number of samples at the ends.

Two views of each trend, since the samples along it are not of the same problems:

- k and n - k, `all samples`: what Tables 3 and 4 show. Only problems with many solutions reach a high k, and they may
  be easier or harder than others. `same problems`: each problem beside itself at another k, so that this falls away.
- difficulty, `k = 1`: one sample a problem, as in Table 5. `all samples`: all k, where problems with many solutions
  weigh more.

Models together (ALL_MODELS): every model is centred at its own mean first. Else N/C would seem to rise with difficulty
if only the more novel models are ever right on hard problems.

    >>> smallest_difference(8), smallest_difference(5)  # 6 of 8, all one way: p = 2/64; of 5 all: p = 2/32
    (0.75, nan)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from creativemath_utils.metrics import RATIOS
from creativemath_utils.models import nearest
from creativemath_utils.records import KitError
from creativemath_utils.uncertainty.differences import holm
from creativemath_utils.uncertainty.intervals import FEW_PROBLEMS, NAN, wilson
from creativemath_utils.uncertainty.resampling import (
    RESAMPLES,
    check_level,
    count_samples,
    percentiles,
    resampled_sums,
    sign_flip_p,
)

ALL_MODELS = "all models"  # no name of a model has a space
ALL_SAMPLES, SAME_PROBLEMS, FIRST_K = "all samples", "same problems", "k = 1"
VIEWS = {
    "k": (ALL_SAMPLES, SAME_PROBLEMS),
    "n_minus_k": (ALL_SAMPLES, SAME_PROBLEMS),
    "difficulty": (FIRST_K, ALL_SAMPLES),
}
TRENDS = (  # what the paper says goes up or down: Tables 3, 4, 5
    ("correctness_ratio", "k"),
    ("novelty_to_correctness_ratio", "n_minus_k"),
    ("correctness_ratio", "difficulty"),
    ("novelty_to_correctness_ratio", "difficulty"),
)
COLUMNS = (
    *("ratio", "along", "view", "generator", "slope", "low", "high", "p_value", "p_holm"),
    *("samples", "problems", "left_out", "note"),
)
ENOUGH_FLIPS = 40  # patterns of signs for each model at least, or Holm's correction could never be passed


def trends(
    outcomes: pd.DataFrame,
    generators: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """All of TRENDS in both views; arguments, columns and errors as in `trend`."""
    found = [
        trend(outcomes, ratio, along, view, generators, resamples=resamples, seed=seed, level=level)
        for ratio, along in TRENDS
        for view in VIEWS[along]
    ]
    return pd.concat(found, ignore_index=True)


def trend(
    outcomes: pd.DataFrame,
    ratio: str,
    along: str,
    view: str = ALL_SAMPLES,
    generators: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = 0.95,
) -> pd.DataFrame:
    """The slope of `ratio` along k, n_minus_k or difficulty: a row for each model, and one for all together.

    `outcomes` is as from `metrics.collect_outcomes`; `generators` gives the models and their order, by default all, by
    name. Columns COLUMNS: slope, low, high: change of the ratio (0..1) for each step, NaN where the note says why;
    p_value and p_holm, corrected over the models (that for all models together stands alone); samples: those in the
    base of the ratio; problems: those that tell something of the slope; left_out: samples without a value, such as an
    unknown difficulty. Raises KitError for an unknown ratio, trend or view, or a missing column.
    """
    check_level(level, resamples)
    if ratio not in RATIOS:
        raise KitError(f"ratio {ratio!r} is none of the kit's; {nearest(ratio, list(RATIOS))}")
    if view not in VIEWS.get(along, ()):
        known = "; ".join(f"{name}: {', '.join(views)}" for name, views in VIEWS.items())
        raise KitError(f"trend along {along!r}, {view!r}: there is none; known are {known}")
    over, base = RATIOS[ratio]
    samples = count_samples(outcomes, ("k", "n", "difficulty", "generator"))
    names = sorted(samples["generator"].unique()) if generators is None else list(dict.fromkeys(generators))
    samples = samples[samples["generator"].isin(names) & (samples[base] > 0)]
    samples = samples.sort_values(["problem_id", "k", "generator"], ignore_index=True)  # sums do not round by order
    if view == FIRST_K:
        samples = samples[samples["k"] == 1]
    x = (samples["n"] - samples["k"] if along == "n_minus_k" else samples[along]).to_numpy(dtype=float)
    known = ~np.isnan(x)
    model = pd.Index(names).get_indexer(samples["generator"])
    problem, _ = pd.factorize(samples["problem_id"][known], sort=True)
    slopes, drawn, scores, tells = _slopes(
        *(x[known], samples[over].to_numpy(dtype=float)[known], problem, model[known], len(names)),
        *(view == SAME_PROBLEMS, resamples, seed),
    )
    p_values = sign_flip_p(scores, max(resamples, ENOUGH_FLIPS * len(names)), seed)
    rows = []
    for place, name in enumerate([*names, ALL_MODELS]):
        mine = np.ones(len(samples), dtype=bool) if name == ALL_MODELS else model == place
        size, problems = int((mine & known).sum()), int(tells[:, place].sum())
        low, high = percentiles(drawn[:, place], level, problems)
        note = _note(slopes[place], low == high, size, problems)
        if note:
            low = high = NAN
        p_value = NAN if np.isnan(slopes[place]) else p_values[place]
        counts = size, problems, int((mine & ~known).sum())
        rows.append((ratio, along, view, name, slopes[place], low, high, p_value, NAN, *counts, note))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.assign(p_holm=np.append(holm(table["p_value"].to_numpy()[:-1]), table["p_value"].to_numpy()[-1]))


def _note(slope: float, no_width: bool, samples: int, problems: int) -> str:
    """Why a slope or its interval cannot be told; empty where it can."""
    if not samples:
        return "no sample"
    if np.isnan(slope):
        return "all at one place"
    if no_width:
        return "all came out the same"  # an interval without width would be a false certainty
    return f"fewer than {FEW_PROBLEMS} problems" if problems < FEW_PROBLEMS else ""


def _slopes(
    x: np.ndarray,
    y: np.ndarray,
    problem: np.ndarray,
    model: np.ndarray,
    models: int,
    within: bool,
    resamples: int,
    seed: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Slopes (models + 1, the last is of all together), resampled slopes, scores (problems, models + 1), and where they
    tell something. x is centred in each model, or (`within`) in each problem of each model.
    """
    problems = problem.max(initial=-1) + 1
    cell = problem * models + model  # a problem of a model

    def by_cell(values: np.ndarray) -> np.ndarray:
        return np.bincount(cell, weights=values, minlength=problems * models).reshape(problems, models)

    def with_all(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, values.sum(axis=-1, keepdims=True)], axis=-1)

    x = x - x.min() if x.size else x  # small numbers, which round less
    size = by_cell(np.ones_like(x))
    over = size if within else size.sum(axis=0, keepdims=True)  # samples over which means are taken
    means = []
    for values in (x, y):
        sums = by_cell(values)
        mean = (sums if within else sums.sum(axis=0, keepdims=True)) / np.where(over > 0, over, 1)
        means.append(np.broadcast_to(mean, size.shape)[problem, model])
    from_x, from_y = x - means[0], y - means[1]
    scores, spread = with_all(by_cell(from_x * from_y)), with_all(by_cell(from_x**2))
    slopes = _quotient(scores.sum(axis=0), spread.sum(axis=0), by_cell(x**2).sum())
    if not problems:
        return slopes, np.full((resamples, models + 1), NAN), scores, scores > 0
    if within:  # the means are each problem's own, so nothing changes when it is drawn
        drawn = np.split(resampled_sums(np.concatenate([scores, spread], axis=1), resamples, seed), 2, axis=1)
        return slopes, _quotient(*drawn, by_cell(x**2).sum()), scores, spread > 0
    moments = [size, *(by_cell(values) for values in (x, y, x * y, x * x))]
    sums = resampled_sums(np.concatenate(moments, axis=1), resamples, seed)
    n, sx, sy, sxy, sxx = np.split(sums, 5, axis=1)
    n = np.where(n > 0, n, 1)
    drawn = _quotient(with_all(sxy - sx * sy / n), with_all(sxx - sx * sx / n), by_cell(x**2).sum())
    return slopes, drawn, scores, with_all(size) > 0


def _quotient(products: np.ndarray, squares: np.ndarray, scale: float) -> np.ndarray:
    """Slopes, NaN where x has no spread; `scale` is the size of the numbers, beside which rounding is nothing."""
    spread = squares > 1e-9 * max(1.0, scale)
    return np.where(spread, products / np.where(spread, squares, 1), NAN)


def what_cells_show(
    outcomes: pd.DataFrame, along: str, generators: Sequence[str] | None = None, *, level: float = 0.95
) -> pd.DataFrame:
    """How much the cells of Table 3 (along k) or Table 4 (along n_minus_k) could show at best, a row a cell.

    Columns: cell; samples and problems, the most that a model has there; widest, the width of Wilson's interval where
    half of the samples are correct; all_low, its lower end where all are; smallest_difference between two models (0..1)
    that a paired test could find with a p value of 1 - level, and smallest_difference_holm among all pairs of models;
    NaN where not even the largest difference would be found. N/C is over the correct samples of a cell alone: it shows
    less.
    """
    check_level(level, 1)
    if along not in ("k", "n_minus_k"):
        raise KitError(f"cells along {along!r}: there are none; known are k, n_minus_k")
    samples = count_samples(outcomes, ("k", "n", "generator"))
    names = list(dict.fromkeys(samples["generator"] if generators is None else generators))
    samples = samples[samples["generator"].isin(names)]
    pairs = len(names) * (len(names) - 1) // 2
    samples = samples.assign(cell=samples["k"] if along == "k" else samples["n"] - samples["k"])
    rows = []
    for cell, in_cell in samples.groupby("cell"):
        of_model = in_cell.groupby("generator")["problem_id"]
        size, problems = int(of_model.size().max()), int(of_model.nunique().max())
        low, high = wilson(size / 2, size, level)
        alone, among = (smallest_difference(problems, tests, level) for tests in (1, max(1, pairs)))
        rows.append((cell, size, problems, high - low, wilson(size, size, level)[0], alone, among))
    names = ["cell", "samples", "problems", "widest", "all_low", "smallest_difference", "smallest_difference_holm"]
    return pd.DataFrame(rows, columns=names)


def smallest_difference(problems: int, tests: int = 1, level: float = 0.95) -> float:
    """The smallest difference of two shares (0..1) on the same problems that a paired test could find among `tests`.

    d problems that all speak for one model have p = 2 / 2^d. NaN where even all of them do not suffice.
    """
    differing = 1
    while 2 * tests > (1 - level) * 2**differing * (1 + 1e-9):
        differing += 1
    return differing / problems if differing <= problems else NAN
