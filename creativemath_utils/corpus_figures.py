"""Figures 1 and 2 of a corpus beside the published ones: shares, since a corpus is seldom of the paper's size.

Figure 2 is published as a picture alone, so its bars were measured there (`data/published/README.md`), and the figure
says so.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator, PercentFormatter

from creativemath_utils import published
from creativemath_utils.figures import BLUE, GREY, largest, message, plain, styled, wrapped

PAPER_1, PAPER_2 = "the paper", "the paper (read off a picture)"
OURS, THEIRS = {"facecolor": BLUE}, {"facecolor": "white", "edgecolor": GREY, "hatch": "////"}
MOST_N = 10  # columns of bars; problems with more solutions share the last one


@styled
def figure_1_beside(counts: pd.DataFrame, name: str) -> Figure:
    """Two heat maps of the number of problems by category and competition: this corpus and the paper's.

    `counts` as from `metrics.figure_1_counts`; `name` is shown above it. Of many competitions the largest are drawn.
    Numbers are problems, shades their shares of all in a panel that have a category, on one scale. Paper, Figure 1.
    """
    theirs = published.load("figure1")
    counts = largest(counts.T, theirs.columns).T
    figure = Figure(figsize=(2.1 + 0.65 * (counts.shape[1] + theirs.shape[1]), 4.2), layout="constrained")
    if not counts.to_numpy().sum():
        message(figure.add_subplot(), "no problems to show")
        return figure
    rows = [*theirs.index, *(row for row in counts.index if row not in theirs.index)]
    panels = {name: counts.reindex(rows), PAPER_1: theirs.reindex(rows)}
    shares = [panel.loc[theirs.index] / max(1, panel.loc[theirs.index].sum(axis=None)) for panel in panels.values()]
    grid = figure.subplots(1, 2, sharey=True, width_ratios=[panel.shape[1] for panel in panels.values()])
    for axes, (title, panel), share in zip(grid, panels.items(), shares, strict=True):
        sns.heatmap(
            share.reindex(rows, fill_value=0),  # problems of unknown category are counted, without a shade
            mask=panel.isna(),
            annot=panel.map(lambda count: "" if np.isnan(count) else f"{count:.0f}"),
            fmt="",
            cmap="Blues",
            vmin=0,
            vmax=max(share.max(axis=None) for share in shares) or 1,
            linewidths=0.5,
            linecolor="white",
            annot_kws={"fontsize": 8},
            cbar=False,
            ax=axes,
        )
        axes.set_title(f"{wrapped(title, 50)}: {np.nansum(panel.to_numpy()):,.0f} problems", fontsize=10)
        axes.set_xticks(np.arange(panel.shape[1]) + 0.5, [wrapped(c, 10) for c in panel.columns], rotation=0)
        axes.set(xlabel="Competition", ylabel="")
        axes.tick_params(length=0)
    grid[0].set_yticks(np.arange(len(rows)) + 0.5, [plain(row) for row in rows], rotation=0)
    grid[0].set_ylabel("Math Category")
    shades = grid[0].collections[0]
    bar = figure.colorbar(shades, ax=list(grid), format=PercentFormatter(1, 0), label="Share of problems")
    bar.outline.set_visible(False)
    return figure


@styled
def figure_2_beside(counts: pd.DataFrame, name: str) -> Figure:
    """For each competition two bars for each number of solutions: this corpus's share of problems, and the paper's.

    `counts` as from `metrics.figure_2_counts`: a row a competition, columns n1, n2, ...; the numbers over the bars are
    problems. The paper's have no bar for n > 7. Paper, Figure 2.
    """
    theirs = published.load("figure2_digitised")
    counts = largest(counts, theirs.index)
    names = [*counts.index, *(row for row in theirs.index if row not in counts.index)]
    figure = Figure(figsize=(11.5, 2.7 * -(-len(names) // 4)), layout="constrained")
    if not counts.to_numpy().sum():
        message(figure.add_subplot(), "no problems to show")
        return figure
    counts = up_to(counts, MOST_N)
    columns = max(counts.columns, theirs.columns, key=len)
    grid = figure.subplots(-(-len(names) // 4), min(4, len(names)), squeeze=False, sharex=True)
    for axes, competition in zip(grid.flat, names, strict=False):
        for table, shift, look in ((counts, -0.2, OURS), (theirs, 0.2, THEIRS)):
            row = table.reindex(index=[competition], columns=columns).iloc[0].to_numpy(dtype=float)
            total = np.nansum(row)
            if not total:
                continue
            bars = axes.bar(np.arange(1, len(row) + 1) + shift, 100 * np.nan_to_num(row) / total, 0.4, **look)
            above = [f"{count:.0f}" if count > 0 else "" for count in row]
            axes.bar_label(bars, above, fontsize=6, padding=2, rotation=90)
        axes.set_title(wrapped(competition, 24), fontsize=10)
        axes.set_xticks(range(1, len(columns) + 1), [tick(column) for column in columns])
        axes.xaxis.set_tick_params(labelbottom=True)
        axes.yaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        axes.margins(y=0.22)
    for axes in grid.flat[len(names) :]:
        axes.remove()
    figure.supxlabel("Number of Solutions", fontsize=10)
    figure.supylabel("Share of a Competition's Problems (%)", fontsize=10)
    handles = [Patch(label=wrapped(name, 60), **OURS), Patch(label=PAPER_2, **THEIRS)]
    figure.legend(handles=handles, loc="outside upper center", ncols=2, frameon=False)
    return figure


def up_to(counts: pd.DataFrame, most: int) -> pd.DataFrame:
    """Columns n1, n2, ... with those beyond `most` added up in the last one, which is then named n10+ and the like."""
    if counts.shape[1] <= most:
        return counts
    kept = counts.iloc[:, : most - 1]
    return kept.assign(**{f"n{most}+": counts.iloc[:, most - 1 :].sum(axis=1)})


def tick(column: str) -> str:
    """The number of solutions that a column stands for: n3 is 3, n10+ is 10+."""
    return column.removeprefix("n")
