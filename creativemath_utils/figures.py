"""Figures 1 and 2 of the paper, for a run or from the published numbers; the style of all figures, and saving them.

Each function draws and returns what it drew; `save` writes it as png and pdf, the same bytes for the same input. Text
that comes from data is shown as it is, never read as a formula. Colours are the Okabe-Ito set and one sequential map,
and what differs in colour also differs in line style or in a number, so grey print loses nothing.
"""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from fractions import Fraction
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import font_manager, style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from creativemath_utils.metrics import competition_label, rounded
from creativemath_utils.records import COMPETITIONS
from creativemath_utils.store import write_atomic

BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#595959"
# after the font that matplotlib brings along, those that know Chinese, Japanese and Korean, on Linux, macOS and Windows
FONTS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans CJK JP", "WenQuanYi Micro Hei", "PingFang SC", "Microsoft YaHei")
PNG_DPI = 200
MOST_COMPETITIONS = 24  # that are drawn, the eight of the paper among them; the others share one place
THE_EIGHT = tuple(map(competition_label, COMPETITIONS))


def _style() -> AbstractContextManager[None]:
    """Settings under which a figure is drawn and saved, whatever the notebook's own are."""
    settings = {
        "font.family": _fonts(),
        "font.size": 9,
        "text.usetex": False,
        "text.parse_math": False,  # text from data is no formula
        "pdf.fonttype": 42,
        "svg.hashsalt": "creativemath",
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    return style.context(["default", settings])


@cache
def _fonts() -> list[str]:
    installed = set(font_manager.get_font_names())
    return [name for name in FONTS if name in installed]


@cache
def _is_drawable(char: str) -> bool:
    fonts = (font_manager.get_font(font_manager.findfont(name)) for name in _fonts())
    return char.isprintable() and any(font.get_char_index(ord(char)) for font in fonts)


def plain(text: object) -> str:
    """Text as a figure can show it: on one line, a sign that no font here knows by its code point, as in `\\u4e2d`."""
    line = " ".join(str(text).split())
    return "".join(char if _is_drawable(char) else rf"\u{ord(char):04x}" for char in line)


def wrapped(text: object, width: int = 28) -> str:
    """Text as a figure can show it, on as few lines of at most `width` signs as will do, and these about as long."""
    line = plain(text)
    lines = textwrap.wrap(line, width)
    narrower = (textwrap.wrap(line, signs) for signs in range(1, width))
    return "\n".join(next((found for found in narrower if len(found) == len(lines)), lines))


def caption(figure: Figure, text: str) -> None:
    """Write a text below a figure, on lines that are no longer than the figure is wide."""
    signs = int(13 * figure.get_figwidth())
    figure.supxlabel("\n".join(wrapped(part, signs) for part in text.split("\n")), fontsize=8, color=GREY)


def whole_percent(ratio: float) -> str:
    """A ratio 0..1 as a figure prints it, rounded half up from the exact value: 4 of 13 is '31%'."""
    return f"{rounded(100 * Fraction(float(ratio)).limit_denominator(10**6), 0)}%"


def in_order(names: Iterable[str], labels: Mapping[str, str]) -> list[str]:
    """Names as `labels` has them, each once, then those without a label in their own order."""
    found = dict.fromkeys(names)
    return [*(name for name in labels if name in found), *(name for name in found if name not in labels)]


def styled(draw: Callable) -> Callable:
    """Let a function draw under the kit's own settings."""

    @wraps(draw)
    def drawn(*arguments: Any, **options: Any) -> Any:
        with _style():
            return draw(*arguments, **options)

    return drawn


@styled
def category_by_competition(counts: pd.DataFrame) -> Axes:
    """Figure 1: heat map of the number of problems by category (rows) and competition (columns).

    `counts` as from `metrics.figure_1_counts`. A cell that is missing is blank; a table without cells gives a message.
    """
    counts = largest(counts.T, THE_EIGHT).T
    width = 7.2 + 0.6 * max(0, counts.shape[1] - 9)
    axes = Figure(figsize=(width, 3.9), layout="constrained").add_subplot()
    numbers = counts.apply(pd.to_numeric).astype(float)
    if numbers.count().sum() == 0:
        return message(axes, "no problems to show")
    annotations = numbers.map(lambda count: "" if np.isnan(count) else f"{count:.0f}")
    sns.heatmap(
        numbers,
        mask=numbers.isna(),
        annot=annotations,
        fmt="",
        cmap="Blues",
        vmin=0,
        vmax=max(1.0, np.nanmax(numbers.to_numpy())),
        linewidths=0.5,
        linecolor="white",
        xticklabels=False,
        yticklabels=False,
        cbar_kws={"label": "Number of Problems"},
        ax=axes,
    )
    colour_bar = axes.collections[0].colorbar
    colour_bar.outline.set_visible(False)
    colour_bar.locator = MaxNLocator(5, integer=True)
    colour_bar.update_ticks()
    names = [plain(name) for name in numbers.columns]
    wide = max(map(len, names)) * 0.08 > (width - 2.2) / len(names)  # inches, of a name and of a column
    slanted = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if wide else {"rotation": 0}
    axes.set_xticks(np.arange(len(names)) + 0.5, names, **slanted)
    axes.set_yticks(np.arange(numbers.shape[0]) + 0.5, [plain(name) for name in numbers.index], rotation=0)
    axes.set(xlabel="Competition", ylabel="Math Category")
    axes.tick_params(length=0)
    return axes


@styled
def solutions_per_problem(counts: pd.DataFrame) -> Figure:
    """Figure 2: for each competition a bar chart, the number of problems by their number of solutions.

    `counts` as from `metrics.figure_2_counts`: a row a competition, columns n1, n2, ...
    """
    counts = largest(counts, THE_EIGHT)
    columns = max(1, min(4, len(counts)))
    rows = -(-len(counts) // columns)
    figure = Figure(figsize=(8.4, max(4.2, 2.1 * rows)), layout="constrained")
    if counts.empty:
        message(figure.add_subplot(), "no problems to show")
        return figure
    grid = figure.subplots(rows, columns, squeeze=False, sharex=True)
    solutions = [int(str(name).removeprefix("n")) for name in counts.columns]
    for axes, (competition, row) in zip(grid.flat, counts.iterrows(), strict=False):
        axes.set_title(plain(competition), fontsize=10)
        bars = axes.bar(solutions, row.to_numpy(dtype=float), width=0.8, color=BLUE)
        axes.bar_label(bars, [f"{count:.0f}" if count > 0 else "" for count in row], fontsize=7, padding=1)
        axes.set_xticks(solutions)
        axes.set_xlim(min(solutions) - 0.8, max(solutions) + 0.8)
        axes.xaxis.set_tick_params(labelbottom=True)
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True, steps=[1, 2, 5, 10]))
        axes.set_ylim(0, max(1.0, 1.15 * np.nan_to_num(row.to_numpy(dtype=float)).max()))
        if not np.nan_to_num(row.to_numpy(dtype=float)).any():
            axes.text(0.5, 0.5, "no problems", transform=axes.transAxes, ha="center", color=GREY)
    for axes in grid.flat[len(counts) :]:
        axes.remove()
    figure.supxlabel("Number of Solutions", fontsize=10)
    figure.supylabel("Number of Problems", fontsize=10)
    return figure


def largest(counts: pd.DataFrame, always: Collection[str]) -> pd.DataFrame:
    """At most MOST_COMPETITIONS rows of a table with a row a competition: those of `always`, and the largest.

    The rest are added up in a row of their own, `N others`.
    """
    if len(counts) <= MOST_COMPETITIONS:
        return counts
    own = [name for name in counts.index if name not in always]
    room = MOST_COMPETITIONS - len(counts.index.intersection(list(always))) - 1
    few = set(counts.loc[own].sum(axis=1).nlargest(room).index)
    others = [name for name in own if name not in few]
    kept = counts.drop(others)
    kept.loc[f"{len(others)} others"] = counts.loc[others].sum()
    return kept


def message(axes: Axes, text: str) -> Axes:
    """Axes that hold a message alone."""
    axes.text(0.5, 0.5, text, ha="center", va="center", transform=axes.transAxes, color=GREY)
    axes.set_axis_off()
    return axes


def save(drawn: Figure | Axes, path: Path) -> list[Path]:
    """Write a figure as `path`.png and `path`.pdf, each in one atomic step, and return the two paths.

    The files hold neither date nor program, so the same figure gives the same bytes.
    """
    figure = drawn.figure if isinstance(drawn, Axes) else drawn
    kinds = {"png": {"Software": None}, "pdf": {"Creator": None, "Producer": None, "CreationDate": None}}
    written = []
    with _style():
        for suffix, metadata in kinds.items():
            content = io.BytesIO()
            figure.savefig(content, format=suffix, dpi=PNG_DPI, metadata=metadata)
            written.append(Path(path).with_name(f"{Path(path).name}.{suffix}"))
            write_atomic(written[-1], content.getvalue())
    return written
