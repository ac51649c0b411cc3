"""The best team: which m models together find a new solution to the most samples?

The paper suggests to use several models that think unlike one another; here is how much that would bring. A sample is
covered by a set of models if one of them at least has it. All sets are tried, so the best are the best, ties included.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from creativemath_utils.metrics import DECISIONS
from creativemath_utils.records import KitError
from creativemath_utils.uncertainty.resampling import count_samples

MOST_MODELS = 20  # a million sets


def best_sets(outcomes: pd.DataFrame, generators: Sequence[str], decision: str = "novel_unknown") -> pd.DataFrame:
    """For each m the sets of m `generators` that cover the most samples (problem_id, k) by `decision`, all that tie.

    Columns m = 1, 2, ...; models, a tuple in the order of `generators`; covered, the samples for which one of them has
    the decision True; samples, all that one of `generators` was given. A model without answers covers nothing.
    Raises KitError for more than MOST_MODELS models or an unknown decision.
    """
    names = list(dict.fromkeys(generators))
    if len(names) > MOST_MODELS:
        raise KitError(
            f"{len(names)} models have {2 ** len(names):,} sets, too many to try; name {MOST_MODELS} models at most"
        )
    if decision not in DECISIONS:
        raise KitError(f"decision {decision!r} is none of {', '.join(DECISIONS)}")
    samples = count_samples(outcomes, ("k", "generator"))
    samples = samples[samples["generator"].isin(names)]
    cells = samples.groupby(["problem_id", "k"]).ngroup().to_numpy()
    has = np.zeros((cells.max(initial=-1) + 1, len(names)), dtype=bool)
    found = samples[decision].to_numpy(dtype=bool)
    has[cells[found], pd.Index(names).get_indexer(samples["generator"])[found]] = True

    covered = _covered_by_each_set(has)
    sets = np.arange(len(covered))
    sizes = np.bitwise_count(sets)
    rows = []
    for m in range(1, len(names) + 1):
        most = covered[sizes == m].max()
        best = sets[(sizes == m) & (covered == most)].tolist()
        teams = sorted([i for i in range(len(names)) if one >> i & 1] for one in best)
        rows += [(m, tuple(names[i] for i in team), int(most), len(has)) for team in teams]
    return pd.DataFrame(rows, columns=["m", "models", "covered", "samples"])


def _covered_by_each_set(has: np.ndarray) -> np.ndarray:
    """Samples covered by each set of models, by the set as a bit mask, from `has` (samples, models).

    Samples are counted by who has them. A set misses those that only others have: the sum over all subsets of the
    others, which is found for all sets at once, a model at a time.
    """
    models = has.shape[1]
    who = has.astype(int) @ (1 << np.arange(models))
    within = np.bincount(who, minlength=2**models)
    for model in range(models):
        halves = within.reshape(-1, 2, 2**model)  # a view: sets without this model, and the same ones with it
        halves[:, 1] += halves[:, 0]
    return len(has) - within[::-1]  # reversed: the others of a set are its complement
