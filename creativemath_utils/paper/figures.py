"""Figures 1, 2 and 6 of the paper drawn again from its numbers, each marked as the paper's, and what they show.

Figure 6 is drawn from the counts of similar pairs, so the map can be checked: how well distances follow 1 - similarity,
who is nearest the middle, and which pairs are most and least alike, all that tie.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from creativemath_utils import figures, published, similarity_map
from creativemath_utils.agreement import similarity_ratio
from creativemath_utils.audit.tallies import ALL_PROBLEMS
from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.metrics import percent
from creativemath_utils.records import KitError
from creativemath_utils.store import write_atomic

MARK = "Figure {number} of Ye et al. (arXiv 2410.18336), drawn again from the paper's numbers; not a result of this kit"
READ_OFF = "bars read off a picture, within about 2 pixels (1 to 10 problems); only n = 1 to 7 is drawn there"


def write_figures(folder: Path, source: Path | None = None) -> list[Path]:
    """Write figure_1, figure_2, figure_6 (.png, .pdf) and figures.md on what they show into `folder`; their paths.

    `source` holds the csv files, by default the shipped ones. Raises KitError where one is missing or cannot be drawn.
    """
    by_category, by_solutions, alike = (
        published.load(name, source) for name in ("figure1", "figure2_digitised", "figure6_similarity")
    )
    similarity = similarity_ratio(alike)
    samples = int(alike.to_numpy().diagonal().max(initial=0))
    if not samples:
        raise KitError("published numbers: figure6_similarity.csv has no counts on its diagonal; restore it")
    drawn = {
        1: _marked(figures.category_by_competition(by_category), MARK.format(number=1)),
        2: _marked(figures.solutions_per_problem(by_solutions), f"{MARK.format(number=2)};\n{READ_OFF}"),
        6: _marked(similarity_map.model_map(similarity, samples=samples), MARK.format(number=6)),
    }
    written = []
    for number, figure in drawn.items():
        written += figures.save(figure, Path(folder) / f"figure_{number}")
    parts = [
        "# Figures 1, 2 and 6 of the paper",
        published.NOT_OURS,
        *_about_figure_1(by_category),
        *_about_figure_2(by_solutions),
        *_about_figure_6(alike, similarity),
    ]
    written.append(Path(folder) / "figures.md")
    write_atomic(written[-1], ("\n\n".join(parts) + "\n").encode("utf-8"))
    return written


@figures.styled
def _marked(drawn: Figure | Axes, text: str) -> Figure:
    """A figure with a small line of text at its top, or at its bottom where a legend is at the top."""
    figure = drawn.figure if isinstance(drawn, Axes) else drawn
    place = figure.supxlabel if figure.legends else figure.suptitle
    place(text, fontsize=7, color=figures.GREY)
    return figure


def _about_figure_1(counts: pd.DataFrame) -> list[str]:
    total = int(counts.to_numpy().sum())
    beside = "as many as" if total == ALL_PROBLEMS else f"beside the {ALL_PROBLEMS:,} of"
    return [
        "## Figure 1: problems by category and competition",
        "![Figure 1](figure_1.png)",
        f"The cells add up to {total:,} problems, {beside} the text.",
    ]


def _about_figure_2(counts: pd.DataFrame) -> list[str]:
    solutions = np.arange(1, counts.shape[1] + 1)
    rows = [
        [
            plain_markdown(str(name)),
            f"{row.sum():,}",
            f"{(row * solutions).sum() / row.sum():.2f}" if row.sum() else "n/a",
        ]
        for name, row in zip(counts.index, counts.to_numpy(), strict=True)
    ]
    return [
        "## Figure 2: problems by number of solutions",
        "![Figure 2](figure_2.png)",
        f"Not printed as numbers: {READ_OFF}. So the sums and means are approximate, and the means too low.",
        pipe_table(rows, ["Competition", "Problems drawn", "Mean number of solutions"]),
    ]


def _about_figure_6(alike: pd.DataFrame, similarity: pd.DataFrame) -> list[str]:
    samples = int(alike.to_numpy().diagonal().max())
    positions, stress = similarity_map.model_positions(similarity)
    from_middle = np.hypot(positions["x"], positions["y"]).round(2).sort_values(kind="stable")
    others = alike.sum(axis=1) - samples
    upper = np.triu_indices(len(positions), 1)
    points = positions.to_numpy()
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)[upper]
    wanted = 1 - similarity.to_numpy(dtype=float)[upper]
    follows = float(np.corrcoef(distances, wanted)[0, 1]) if np.ptp(wanted) > 0 and np.ptp(distances) > 0 else None
    rows = [
        [plain_markdown(name), f"{distance:.2f}", f"{others[name]} of {samples * (len(alike) - 1)}"]
        for name, distance in from_middle.items()
    ]
    nearest = [str(name) for name, distance in from_middle.items() if distance == from_middle.min()]
    most, least = similarity_map.extreme_pairs(similarity)
    return [
        "## Figure 6: similarity of the models' novel solutions",
        "![Figure 6](figure_6.png)",
        f"From the counts of similar pairs among {samples} common samples. Distances on the map follow 1 - similarity "
        f"with Kruskal's stress-1 = {stress:.2f} (0 fits perfectly, 0.2 and more is poor"
        + (f"; the correlation of the two is {follows:.2f}" if follows is not None else "")
        + f"). Nearest the middle: {plain_markdown(', '.join(nearest))}.",
        pipe_table(rows, ["Model", "Distance from the middle", "Alike to others"]),
        f"Most similar, all that tie: {_named(most, alike)}.",
        f"Least similar, all that tie: {_named(least, alike)}.",
        f"One sample of {samples} is {percent(1, samples)} points; what goes beyond chance is in `claims.md`.",
    ]


def _named(pairs: list[tuple[str, str]], alike: pd.DataFrame) -> str:
    samples = int(alike.to_numpy().diagonal().max())
    count = int(alike.loc[pairs[0]])
    names = "; ".join(f"{plain_markdown(first)} with {plain_markdown(second)}" for first, second in pairs)
    return f"{names} ({count}/{samples}, {percent(count, samples)}%)"
