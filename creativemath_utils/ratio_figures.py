"""Figures of the ratios with their uncertainty: C against N/C, N/C by difficulty, and the best set of m models.

The intervals come from `intervals.ratio_intervals`. A ratio over nothing is no point: it is told in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import MaxNLocator

from creativemath_utils.figures import BLUE, GREY, caption, in_order, message, plain, styled, whole_percent, wrapped
from creativemath_utils.metrics import competition_label
from creativemath_utils.placing import along, around, place_all
from creativemath_utils.records import KitError
from creativemath_utils.tables import BY_DIFFICULTY, by_difficulty

C, N_OVER_C = "correctness_ratio", "novelty_to_correctness_ratio"
NUMBERS = ["numerator", "denominator", "value", "low", "high", "wilson_low", "wilson_high"]
COVERED = {  # decision -> what a covered sample has
    "correct": "a correct solution",
    "novel": "a novel solution",
    "novel_unknown": "a novel solution unlike all human ones",
}
PALE = "#A9CDE4"  # of BLUE, and lighter than it in grey print
PANELS_BESIDE = 4
WHITE = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}


@dataclass(frozen=True)
class Look:
    """How a group of points is drawn; what has the higher `order` lies on top."""

    marker: str
    face: str
    edge: str
    cross: str
    width: float
    text: str
    size: float
    order: int


LOOKS = {
    "published": Look("s", "white", GREY, "#B3B3B3", 0.9, GREY, 7.5, 0),
    "this run": Look("o", BLUE, BLUE, BLUE, 1.4, "black", 9.0, 1),
}


@styled
def correctness_novelty(
    intervals: pd.DataFrame,
    labels: Mapping[str, str] | None = None,
    published: pd.DataFrame | None = None,
    level: float = 0.95,
) -> Axes:
    """C against N/C in percent, a point a model, with intervals as crosses.

    `intervals` is as from `intervals.ratio_intervals(outcomes, "generator")`; `labels` name -> shown. `published`, as
    from `paper.beside.published_intervals()`, is drawn quieter in the same axes. `level` is that of the intervals, for
    the caption. A model without a correct answer has no point, and is named below the axes. Section 5.4.
    """
    axes = Figure(figsize=(7.2, 5.8), layout="constrained").add_subplot()
    groups = {"published": _points(published, {})} if published is not None else {}
    groups["this run"] = _points(intervals, labels or {})
    drawn = {group: points.dropna(subset=["x", "y"]) for group, points in groups.items()}
    together = pd.concat(drawn.values())
    caption(axes.figure, _about(groups, level))
    if together.empty:
        return message(axes, "no model with a correct answer")
    axes.set(xlabel="C: correct / all samples, in percent", ylabel="N/C: novel / correct, in percent")
    axes.set(xlim=_limits(together[["x", "x_low", "x_high"]]), ylim=_limits(together[["y", "y_low", "y_high"]]))
    names = [name for group, points in drawn.items() if len(points) for name in _draw_points(axes, points, group)]
    if published is not None:
        axes.figure.legend(loc="outside upper center", ncols=2, frameon=False)
    axes.figure.draw_without_rendering()  # settles the layout, so that extents can be measured
    points = [around(axes, spot, 5) for spot in together[["x", "y"]].to_numpy()]
    place_all(names, points, lines=[along(axes, *arm, 2) for arm in _arms(together)])
    return axes


def _ratio(intervals: pd.DataFrame, ratio: str, by: str) -> pd.DataFrame:
    """One ratio, a row for each group of `by`: its counts, and value, low, high in percent.

    Where there is no interval by resampling, Wilson's stands for it.
    """
    rows = intervals.reindex(columns=[by, "ratio", *NUMBERS])
    rows = rows[rows["ratio"] == ratio].set_index(by)[NUMBERS].apply(pd.to_numeric).astype(float)
    if rows.index.has_duplicates:
        raise KitError(f"this figure needs one {ratio} for each {by}; call ratio_intervals with other groups `by`")
    for end in ("low", "high"):
        rows[end] = rows[end].fillna(rows[f"wilson_{end}"])
    rows[["value", "low", "high"]] *= 100
    return rows[["numerator", "denominator", "value", "low", "high"]]


def _points(intervals: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """A row a model: name; C as x and N/C as y, each with its bounds, in percent; the counts correct and samples."""
    of_x = _ratio(intervals, C, "generator")
    of_x = of_x.loc[in_order(of_x.index, labels)]
    of_y = _ratio(intervals, N_OVER_C, "generator").reindex(of_x.index)
    points = {"name": [plain(labels.get(name, name)) for name in of_x.index]}
    for axis, table in (("x", of_x), ("y", of_y)):
        points |= {axis: table["value"], f"{axis}_low": table["low"], f"{axis}_high": table["high"]}
    return pd.DataFrame(points | {"correct": of_x["numerator"], "samples": of_x["denominator"]}, index=of_x.index)


def _about(groups: Mapping[str, pd.DataFrame], level: float) -> str:
    """What the crosses are, and which models have no point, with their counts."""
    lines = [f"crosses: {100 * level:g} % intervals"]
    for group, points in groups.items():
        missing = points[points[["x", "y"]].isna().any(axis=1)]
        counts = [
            f"{row['name']} ({row['correct']:.0f} of {row['samples']:.0f} correct)"
            for row in missing.to_dict("records")
        ]
        whose = "" if group == "this run" else f"{group}, "
        lines += [f"{whose}no point, since N/C is not defined: {', '.join(counts)}"] if counts else []
    return "\n".join(lines)


def _limits(values: pd.DataFrame) -> tuple[float, float]:
    """Limits of an axis in percent about all values, with some room; beyond 0 and 100 just what a point needs."""
    low, high = np.nanmin(values.to_numpy()), np.nanmax(values.to_numpy())
    room = max(0.05 * (high - low), 4.0)
    low, high = max(low - room, 0.0), min(high + room, 100.0)
    return low - 0.03 * (high - low), high + 0.03 * (high - low)


def _draw_points(axes: Axes, points: pd.DataFrame, group: str) -> list[Annotation]:
    """Draw crosses and points of a group; the names, yet to be placed."""
    look = LOOKS[group]
    axes.add_collection(
        LineCollection(list(_arms(points)), colors=look.cross, linewidths=look.width, zorder=2 + look.order),
        autolim=False,
    )
    style = {"color": look.edge, "markerfacecolor": look.face, "markersize": 5.5, "zorder": 5 + look.order}
    axes.plot(points["x"], points["y"], look.marker, label=group, **style)
    names = []
    for x, y, name in points[["x", "y", "name"]].itertuples(index=False):
        text = axes.annotate(wrapped(name), (x, y), (0, 0), textcoords="offset points", color=look.text)
        text.set(fontsize=look.size, linespacing=1.0, zorder=4)  # above all crosses, below all points
        text.set_bbox({"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 0.3})
        text.set_in_layout(False)
        names.append(text)
    return names


def _arms(points: pd.DataFrame) -> Iterator[list[tuple[float, float]]]:
    """The ends of the arms of the crosses, level and upright, where the bounds are known."""
    for point in points.to_dict("records"):
        x, y = point["x"], point["y"]
        arms = [[(point["x_low"], y), (point["x_high"], y)], [(x, point["y_low"]), (x, point["y_high"])]]
        yield from (arm for arm in arms if not np.isnan(arm).any())


@styled
def novelty_by_difficulty(
    intervals: pd.DataFrame,
    labels: Mapping[str, str] | None = None,
    together: pd.DataFrame | None = None,
    level: float = 0.95,
) -> Figure:
    """N/C in percent by competition, in the order of Table 5, with intervals and counts; a panel a model.

    `intervals` is as from `intervals.ratio_intervals(outcomes, ("generator", "competition"))`, and `together`, for a
    first panel of all models, as from `ratio_intervals(outcomes, "competition")`; `labels` name -> shown. A competition
    without a correct answer is `n/a`; one that the paper does not have comes after its eight. Table 5.
    """
    labels = labels or {}
    models = in_order(intervals["generator"].unique(), labels) if len(intervals) else []
    panels = [("all models together", together)] if together is not None and len(together) else []
    panels += [(wrapped(labels.get(name, name), 24), intervals[intervals["generator"] == name]) for name in models]
    competitions = by_difficulty({name for _, rows in panels for name in rows["competition"]})
    names = [wrapped(competition_label(name), 18) for name in competitions]
    lines = max((title.count("\n") for title, _ in panels), default=0)
    beside = max(1, min(PANELS_BESIDE, len(panels)))
    above = max(1, -(-len(panels) // beside))
    height = 0.5 + 0.15 * lines + (0.16 + 0.12 * max(name.count("\n") for name in names)) * len(names)
    figure = Figure(figsize=(1.0 + 1.85 * beside, 0.6 + height * above), layout="constrained")
    grid = figure.subplots(above, beside, squeeze=False, sharex=True, sharey=True)
    if not panels:
        message(grid[0, 0], "no samples to show")
        return figure
    for axes, (title, of_panel) in zip(grid.flat, panels, strict=False):
        axes.set_title(title, fontsize=9)
        axes.set_yticks(range(len(names)), names)
        _draw_competitions(axes, _ratio(of_panel, N_OVER_C, "competition").reindex(competitions))
    for axes in grid.flat[len(panels) :]:
        axes.remove()
    order = ", from the easiest competition to the hardest" if set(competitions) == set(BY_DIFFICULTY) else ""
    caption(figure, f"N/C in percent with {100 * level:g} % intervals{order}; at the right the counts, novel / correct")
    return figure


def _draw_competitions(axes: Axes, ratios: pd.DataFrame) -> None:
    """A row for each competition: interval and point, or n/a, and the counts at the right."""
    axes.set(xlim=(-4, 104), ylim=(len(ratios) - 0.4, -0.6), xticks=[0, 50, 100])
    axes.xaxis.set_tick_params(labelbottom=True)
    axes.tick_params(length=0)
    axes.grid(axis="x", color="#E3E3E3", linewidth=0.8)
    axes.set_axisbelow(True)
    bounds = ratios[["low", "high"]].to_numpy()
    spans = [[(low, place), (high, place)] for place, (low, high) in enumerate(bounds) if not np.isnan(low + high)]
    axes.add_collection(LineCollection(spans, colors=BLUE, linewidths=1.4, zorder=2), autolim=False)
    axes.plot(ratios["value"], range(len(ratios)), "o", color=BLUE, markersize=4.5, clip_on=False, zorder=3)
    for place, row in enumerate(ratios.to_dict("records")):
        if np.isnan(row["value"]):
            axes.text(50, place, "n/a", ha="center", va="center", fontsize=7.5, color=GREY, bbox=WHITE)
        counts = "/".join(f"{0 if np.isnan(row[end]) else row[end]:.0f}" for end in ("numerator", "denominator"))
        axes.text(1.03, place, counts, transform=axes.get_yaxis_transform(), va="center", fontsize=7, color=GREY)


@styled
def best_sets(sets: pd.DataFrame, labels: Mapping[str, str] | None = None, decision: str = "novel_unknown") -> Axes:
    """How many samples the best set of m models covers, a bar for each m, and which model joins it.

    `sets` and `decision` are as of `coverage.best_sets`; `labels` name -> shown. Of sets that tie one is shown, if
    possible with all models of the one above, and their number is told.
    """
    chain = _chain(sets)
    steps = [_step(chain, place, labels or {}) for place in range(len(chain))]
    more = [step.count("\n") for step in steps]  # lines, where many models change at once
    lines = sum(1 + max(extra, one["tied"] > 1) for extra, one in zip(more, chain, strict=True))
    figure = Figure(figsize=(7.2, 1.2 + 0.1 * len(chain) + 0.14 * lines + 0.04 * sum(more)), layout="constrained")
    axes = figure.add_subplot()
    if not chain:
        return message(axes, "no models to choose from")
    covered = np.array([one["covered"] for one in chain])
    before = np.concatenate([[0], covered[:-1]])
    samples = chain[0]["samples"]
    rooms = 1 + 0.6 * np.array(more)
    places = rooms.cumsum() - (rooms + rooms[0]) / 2
    axes.barh(places, before, height=0.66, color=PALE, label="with one model less")
    axes.barh(places, covered - before, left=before, height=0.66, color=BLUE, label="gained")
    axes.set(xlim=(0, max(1, samples)), ylim=(places[-1] + rooms[-1] / 2, -rooms[0] / 2))
    axes.set_xlabel("Samples covered")
    axes.set_yticks(places, steps)
    axes.annotate("m", (0, 1), (-6, 3), xycoords="axes fraction", textcoords="offset points", ha="right")
    axes.tick_params(axis="y", length=0, pad=24)  # the numbers stand between
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    for place, one in zip(places, chain, strict=True):
        at = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points", "va": "center"}
        axes.annotate(str(one["m"]), (0, place), (-6, 0), ha="right", **at)
        share = whole_percent(one["covered"] / samples) if samples else "n/a"
        ties = f"\none of {one['tied']} such sets" if one["tied"] > 1 else ""
        told = f"{one['covered']}/{samples} = {share}{ties}"
        axes.annotate(told, (1, place), (8, 0), fontsize=8, linespacing=1.0, **at)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    caption(figure, f"the best sets of m models; covered: one model of the set, or more, has {COVERED[decision]}")
    return axes


def _chain(sets: pd.DataFrame) -> list[dict]:
    """One best set for each m, with how many tie: the one that keeps the most models of the one before."""
    chain: list[dict] = []
    for _, tied in sets.groupby("m") if len(sets) else ():
        rows = tied.to_dict("records")
        before = set(chain[-1]["models"]) if chain else set()
        chosen = max(rows, key=lambda row: len(before & set(row["models"])))  # the first of those that keep most
        chain.append(chosen | {"tied": len(rows)})
    return chain


def _step(chain: list[dict], place: int, labels: Mapping[str, str]) -> str:
    """How a best set comes from the one before: a name, later `+ name`, and `− name` of one that leaves."""
    now, before = chain[place]["models"], chain[place - 1]["models"] if place else ()
    sign = "+ " if place else ""
    joined = [wrapped(f"{sign}{labels.get(name, name)}", 34) for name in now if name not in before]
    left = [wrapped(f"− {labels.get(name, name)}", 34) for name in before if name not in now]
    return "\n".join(joined + left)
