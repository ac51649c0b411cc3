"""How alike models are, and how far judges agree: triangles of cells with the value printed in each.

Both tables are symmetric and say nothing on their diagonal, so each pair has one cell, and each name stands once, on
the diagonal: its pairs lie to its left and below it. Shades only help the eye; the numbers are there in grey print too.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from creativemath_utils.figures import GREY, caption, in_order, message, plain, styled, whole_percent, wrapped
from creativemath_utils.records import KitError

STAGES = {  # stage -> as a title
    "correctness": "Correctness",
    "coarse": "Novelty beside the k solutions shown",
    "fine": "Novelty beside the n - k others",
    "pairs": "Pairs of models",
}
CELL, TALL_CELL = (0.56, 0.4), (0.8, 0.42)  # width and height in inches; the second holds two lines
MOST_BESIDE = 6  # judges up to which two panels stand beside one another


@styled
def similarity_heat_map(
    similarity: pd.DataFrame, labels: Mapping[str, str] | None = None, samples: int | None = None
) -> Axes:
    """Heat map of the similarity of models in percent, a cell for each pair; one that was not compared is hatched.

    `similarity` is a symmetric table, 0..1, NaN or None where undefined, as from `agreement.similarity_ratio`; `labels`
    name -> shown; `samples` the number of common samples. With fewer than two models, or no common sample, there is a
    message instead. Raises KitError for a table of another shape or range. Section 5.5, Q4.
    """
    values = _checked(similarity)
    count = len(values)
    if count < 2 or samples == 0:
        axes = Figure(figsize=(4.5, 1.2), layout="constrained").add_subplot()
        nothing = "no sample for which every model's solution is novel" if count >= 2 else "fewer than two models"
        return message(axes, wrapped(f"nothing to compare: {nothing}", 50))
    names = [wrapped((labels or {}).get(name, name)) for name in similarity.index]
    width, height = _size(names, CELL)
    figure = Figure(figsize=(width, height + 0.5), layout="constrained")
    axes = figure.add_subplot()
    highest = np.nanmax(np.where(np.eye(count, dtype=bool), np.nan, values), initial=0.1)
    shown = [["" if np.isnan(value) else whole_percent(value) for value in row] for row in values]
    _triangle(axes, values, shown, names, darkest=np.ceil(10 * highest) / 10)
    open_pairs = int(np.isnan(values[np.tril_indices(count, -1)]).sum())
    about = "Solutions that the judges call alike"
    about += f", of {samples} common samples" if samples is not None else ""
    about += f"\nhatched: pairs without a verdict ({open_pairs})" if open_pairs else ""
    caption(figure, about)
    return axes


@styled
def agreement_heat_map(agreement: pd.DataFrame, labels: Mapping[str, str] | None = None) -> Figure:
    """Heat maps of the agreement of judges in percent, one a stage, with the counts: same verdict / both gave one.

    `agreement` is as from `agreement.judge_agreement`; `labels` name -> shown, whose order is that of the judges. Two
    judges that never both gave a verdict at a stage have a hatched cell. With no two judges there is a message.
    """
    if agreement.empty:
        figure = Figure(figsize=(4.5, 1.2), layout="constrained")
        message(figure.add_subplot(), "nothing to compare: no two judges voted at a stage")
        return figure
    labels = labels or {}
    judges = in_order([*agreement["judge"], *agreement["other"]], labels)
    stages = list(dict.fromkeys(agreement["stage"]))
    columns = min(len(stages), 2 if len(judges) <= MOST_BESIDE else 1)
    rows = -(-len(stages) // columns)
    names = [wrapped(labels.get(name, name)) for name in judges]
    width, height = _size(names, TALL_CELL)
    figure = Figure(figsize=(width * columns, (height + 0.25) * rows + 0.5), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for axes, stage in zip(grid.flat, stages, strict=False):
        axes.set_title(STAGES.get(stage, plain(stage)), fontsize=10, loc="left")
        _triangle(axes, *_of_stage(agreement[agreement["stage"] == stage], judges), names, darkest=1.0)
    for axes in grid.flat[len(stages) :]:
        axes.remove()
    caption(figure, "Solutions on which two judges gave the same verdict; below: same / both gave one")
    return figure


def _size(names: list[str], cell: tuple[float, float]) -> tuple[float, float]:
    """Width and height of a triangle in inches; the last name stands outside the cells."""
    signs = max(len(line) for name in names for line in name.split("\n"))
    return max(3.0, cell[0] * (len(names) - 1) + 0.085 * signs + 0.1), cell[1] * len(names)


def _of_stage(agreement: pd.DataFrame, judges: list[str]) -> tuple[np.ndarray, list[list[str]]]:
    """The agreement of judges at one stage as a symmetric array, NaN where undefined, and what its cells say."""
    values = np.full((len(judges), len(judges)), np.nan)
    shown = [[""] * len(judges) for _ in judges]
    for row in agreement.to_dict("records"):
        i, j = judges.index(row["judge"]), judges.index(row["other"])
        if row["both"]:
            values[i, j] = values[j, i] = row["same"] / row["both"]
            shown[i][j] = shown[j][i] = f"{whole_percent(values[i, j])}\n{row['same']}/{row['both']}"
    return values, shown


def _triangle(axes: Axes, values: np.ndarray, shown: list[list[str]], names: list[str], darkest: float) -> None:
    """Draw the cells below the diagonal of a symmetric array 0..1, `shown` in them, and the names on the diagonal."""
    count = len(values)
    lines = max(text.count("\n") for row in shown for text in row)
    sns.heatmap(
        values,
        mask=np.triu(np.ones((count, count), dtype=bool)) | np.isnan(values),
        annot=np.array(shown),
        fmt="",
        annot_kws={"fontsize": 7.5 if lines else 9},
        cmap="Blues",
        vmin=0,
        vmax=darkest,
        linewidths=0.8,
        linecolor="white",
        cbar=False,
        xticklabels=False,
        yticklabels=False,
        ax=axes,
    )
    axes.tick_params(length=0)
    for row, column in zip(*np.tril_indices(count, -1), strict=True):
        if np.isnan(values[row, column]):
            cell = Rectangle((column, row), 1, 1, facecolor="white", edgecolor="#BFBFBF", hatch="////", linewidth=0)
            axes.add_patch(cell)
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
            axes.text(column + 0.5, row + 0.5, "n/a", ha="center", va="center", fontsize=7.5, color=GREY, bbox=box)
    for place, name in enumerate(names):
        axes.text(place + 0.08, place + 0.5, name, va="center", linespacing=1.0)


def _checked(similarity: pd.DataFrame) -> np.ndarray:
    """The table as an array, or a KitError that says what is wrong with it."""
    values = similarity.apply(pd.to_numeric).to_numpy(dtype=float)
    if values.shape != (len(values), len(values)) or not np.array_equal(values, values.T, equal_nan=True):
        raise KitError("the similarity heat map needs a symmetric table of similarities, models by models")
    if np.nanmin(values, initial=0.0) < 0 or np.nanmax(values, initial=0.0) > 1:
        raise KitError("the similarity heat map needs values from 0 to 1; divide counts by the number of samples")
    return values
