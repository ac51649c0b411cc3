"""Figure 6 of the paper: a map of the models on which near means similar.

Metric multidimensional scaling (MDS) places the models, and their names go where they cover least.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation

from creativemath_utils.figures import BLUE, GREY, ORANGE, plain, styled, whole_percent
from creativemath_utils.placing import MIDDLE, SIDES, around, place
from creativemath_utils.records import KitError

MOST_VALUES = 6  # lines that carry their value on the map


def model_positions(similarity: pd.DataFrame, seed: int = 0) -> tuple[pd.DataFrame, float]:
    """Models in the plane such that distances follow 1 - similarity: metric multidimensional scaling.

    `similarity` is a symmetric table, 0..1, undefined (NaN) where two models were not compared; such a pair may lie at
    any distance. Returns the positions (columns x, y, centred) and Kruskal's stress-1 over the compared pairs: 0 fits
    perfectly, 0.2 and more is poor. Raises KitError for fewer than three models. Section 5.5, Q4.
    """
    values = _checked(similarity)
    wanted = 1 - values
    np.fill_diagonal(wanted, 0.0)
    known = ~np.isnan(wanted)
    if not wanted[known].any():  # all alike: one point
        return pd.DataFrame(0.0, index=similarity.index, columns=["x", "y"]), 0.0
    # Unknown pairs take the map's own distance, so they pull nowhere (majorization with weights 0 and 1); the first
    # guess is the mean of the known ones.
    filled = np.where(known, wanted, wanted[known & ~np.eye(len(wanted), dtype=bool)].mean())
    for _ in range(1 if known.all() else 100):
        points = _scale(filled, seed)
        distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
        change = np.abs(distances - filled)[~known].max(initial=0.0)
        filled = np.where(known, wanted, distances)
        if change < 1e-6:
            break
    stress = np.sqrt(((distances - wanted)[known] ** 2).sum() / (distances[known] ** 2).sum())
    return pd.DataFrame(points - points.mean(axis=0), index=similarity.index, columns=["x", "y"]), float(stress)


def _scale(distances: np.ndarray, seed: int) -> np.ndarray:
    """Metric MDS of a full matrix of distances, not all zero."""
    from sklearn.manifold import MDS  # takes seconds to import

    # The start is the classical solution, a little shaken: two models that it puts on one spot would never part.
    centring = np.eye(len(distances)) - 1 / len(distances)
    squares, axes = np.linalg.eigh(-centring @ distances**2 @ centring / 2)
    axes = axes[:, [-1, -2]]
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), [0, 1]])  # the sign is free, and not the same everywhere
    start = axes * np.sqrt(np.clip(squares[[-1, -2]], 0, None))
    start += np.random.default_rng(seed).normal(scale=1e-2 * distances.max(), size=start.shape)
    scaling = MDS(
        n_components=2,
        metric="precomputed",
        metric_params=None,
        metric_mds=True,
        init="classical_mds",  # in form only, since `start` takes its place
        n_init=1,
        max_iter=1000,
        eps=1e-9,
        n_jobs=1,
        random_state=seed,
        normalized_stress=False,
        verbose=0,
    )
    return scaling.fit_transform(distances, init=start)


def _checked(similarity: pd.DataFrame) -> np.ndarray:
    """The table as an array of its own, or a KitError that says what is wrong with it."""
    values = similarity.apply(pd.to_numeric).to_numpy(dtype=float, copy=True)
    if len(values) < 3:
        raise KitError(
            f"Figure 6 compares three models or more and there are {len(values)}; name more under `generators:`, "
            "and under `similarity:` where the profile has that list"
        )
    if values.shape != (len(values), len(values)) or not np.array_equal(values, values.T, equal_nan=True):
        raise KitError("Figure 6 needs a symmetric table of similarities, models by models")
    if np.nanmin(values, initial=0.0) < 0 or np.nanmax(values, initial=0.0) > 1:
        raise KitError("Figure 6 needs similarities from 0 to 1; divide counts by the number of samples")
    np.fill_diagonal(values, np.nan)
    unknown = [str(name) for name, row in zip(similarity.index, values, strict=True) if np.isnan(row).all()]
    if unknown:
        raise KitError(
            f"Figure 6: no common sample with a verdict for {', '.join(unknown)}; it needs samples for which every "
            "model's solution is novel: leave weak models out of `similarity:` or use more samples"
        )
    return values


def extreme_pairs(similarity: pd.DataFrame) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The most similar and the least similar pairs of models, all that tie, in the order of the table."""
    pairs = {(a, b): similarity.loc[a, b] for a, b in combinations(similarity.index, 2)}
    known = {pair: value for pair, value in pairs.items() if not pd.isna(value)}
    most, least = max(known.values(), default=None), min(known.values(), default=None)
    return [p for p, value in known.items() if value == most], [p for p, value in known.items() if value == least]


@styled
def model_map(
    similarity: pd.DataFrame, labels: Mapping[str, str] | None = None, samples: int | None = None, seed: int = 0
) -> Axes:
    """Figure 6: map of the models on which near means similar, the most and least similar pairs joined by lines.

    `similarity` as from `agreement.similarity_ratio`; `labels` name -> shown; `samples` the number of common samples.
    Raises KitError where there is nothing to draw: fewer than three models, or no common sample.
    """
    if samples == 0:
        raise KitError(
            "Figure 6: no sample for which every model's solution is novel; use more samples or other models"
        )
    positions, stress = model_positions(similarity, seed)
    positions = positions.round(4)  # the last digits depend on the processor, the picture must not
    axes = Figure(figsize=(6.4, 6.2), layout="constrained").add_subplot()
    reach = max(float(np.abs(positions.to_numpy()).max()), 0.1) * 1.25
    axes.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(True)
    open_pairs = int(similarity.isna().to_numpy()[np.triu_indices(len(similarity), 1)].sum())
    about = f"Distance follows 1 - similarity; stress-1 = {stress:.2f}"
    about += f"; {samples} common samples" if samples is not None else ""
    about += f"\npairs without a verdict, at no set distance: {open_pairs}" if open_pairs else ""
    axes.set_xlabel(about, fontsize=8, color=GREY)
    axes.scatter(positions["x"], positions["y"], s=45, color=BLUE, zorder=3)
    values, along = _draw_pairs(axes, similarity, positions)
    axes.figure.draw_without_rendering()  # settles the layout, so that extents can be measured

    taken = [around(axes, point, 6) for point in positions.to_numpy()]
    for value in values:
        taken.append(place(value, [MIDDLE, *SIDES], taken))
    taken += [around(axes, point, 2) for point in along]
    for name in _draw_names(axes, positions, labels or {}):
        taken.append(place(name, SIDES, taken))
    return axes


def _draw_pairs(
    axes: Axes, similarity: pd.DataFrame, positions: pd.DataFrame
) -> tuple[list[Annotation], list[np.ndarray]]:
    """Join the extreme pairs by lines, and say what the lines mean; the values on them, and points along them."""
    most, least = extreme_pairs(similarity)
    kinds = [("most similar", most, ORANGE, "-"), ("least similar", least, GREY, "--")]
    if most == least:
        kinds = [("all pairs equally similar", most, GREY, "--")]
    values, along = [], []
    for kind, pairs, colour, dashes in kinds:
        value, marked = whole_percent(similarity.loc[pairs[0]]), []
        for number, (first, second) in enumerate(pairs):
            ends = positions.loc[[first, second]].to_numpy()
            name = f"{kind}: {value}" if number == 0 else None
            axes.plot(*ends.T, color=colour, linestyle=dashes, linewidth=1.6, zorder=1, label=name)
            along += list(ends[0] + np.linspace(0, 1, 200)[:, None] * (ends[1] - ends[0]))
            middle = ends.mean(axis=0)
            # many values would hide the map, and the legend has them; lines that nearly coincide share one
            if len(pairs) <= MOST_VALUES and all(np.linalg.norm(middle - other) > 0.1 for other in marked):
                marked.append(middle)
                text = axes.annotate(f"Similarity = {value}", middle, (0, 0), textcoords="offset points")
                text.set(
                    fontsize=8, color=colour, bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0}, zorder=2
                )
                values.append(text)
    axes.figure.legend(loc="outside upper center", ncols=len(kinds), frameon=False)
    return values, along


def _draw_names(axes: Axes, positions: pd.DataFrame, labels: Mapping[str, str]) -> list[Annotation]:
    """Each model's name, yet to be placed beside its point. Models on one spot share a block of names."""
    spots: dict[tuple[float, float], list[str]] = {}
    for name, (x, y) in positions.round(3).iterrows():
        spots.setdefault((x + 0.0, y + 0.0), []).append(plain(labels.get(name, name)))  # -0.0 is 0.0
    return [
        axes.annotate("\n".join(names), spot, (0, 0), textcoords="offset points", zorder=4)
        for spot, names in spots.items()
    ]
