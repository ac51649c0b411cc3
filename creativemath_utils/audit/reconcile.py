"""The published tables together: the smallest number of wrong cells that explains everything they print.

Tables 2, 3 and 4 bind the cells of one model (module `consistency`). Table 5 binds the models: its mean C of a
competition is the sum of the models' correct answers there at k = 1, over as many samples, and over all competitions
these are the correct answers at k = 1 of Table 3. Its mean N/C is a mean of ratios whose bases are not printed, so
hardly any value is excluded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from creativemath_utils.audit.consistency import ModelRows, Verdict, add_up, mismatch, shifted, verdict
from creativemath_utils.audit.recovery import Printed, read_percent
from creativemath_utils.records import KitError

Cell = tuple[str, str, str]  # table, row (a model or a competition), column
COLUMNS = {  # the first names the row
    "table2": ("model", "C", "N", "N_over_C", "Nu", "Nu_over_N"),
    "table3": ("model", "k1", "k2", "k3", "k4"),
    "table4": ("model", "n_minus_k_2", "n_minus_k_1", "n_minus_k_0"),
    "table5": ("competition", "mean_C", "mean_N_over_C"),
}
FURTHER = {  # columns that are read where they are
    "table2": re.compile("MATH"),  # other people's numbers, which the text quotes
    "table3": re.compile("k([1-9][0-9]*)"),
    "table4": re.compile("n_minus_k_(0|[1-9][0-9]*)"),
    "table5": re.compile("(?!)"),
}


@dataclass(frozen=True)
class Design:
    """Samples with k = 1, 2, ... (as many as with n - k = 0, 1, ...), and problems of each competition."""

    by_k: tuple[int, ...]
    problems: Mapping[str, int]


@dataclass(frozen=True)
class Explanation:
    """What the explanations with the fewest wrong cells have in common: how many are wrong, and a verdict on each cell.

    `unsettled` says for each model how many wrong cells its own rows need beyond those that are wrong for certain,
    and under the empty name how many more it takes to reconcile Table 3 with Table 5. `foreign_means`: Table 5 cannot
    be about these models, and was left out.
    """

    design: Design
    wrong_cells: int
    cells: Mapping[Cell, Printed | None]
    verdicts: Mapping[Cell, Verdict]
    unsettled: Mapping[str, int]
    foreign_means: bool


def read_cells(tables: Mapping[str, pd.DataFrame]) -> dict[Cell, Printed | None]:
    """Every percentage of Tables 2 to 5 (as text), by table, row and column.

    Raises KitError for a missing column, a table without rows, a row named twice, and a cell that is no number.
    """
    cells: dict[Cell, Printed | None] = {}
    for table, (row, *columns) in COLUMNS.items():
        frame = tables[table].rename(columns=str.strip)
        if missing := [column for column in (row, *columns) if column not in frame]:
            raise KitError(f"published numbers: {table}.csv has no column {', '.join(missing)}; restore it")
        names = frame[row].astype(str).str.strip()
        if frame.empty:
            raise KitError(f"published numbers: {table}.csv has no rows; restore it from the repository")
        if len(doubled := names[names.duplicated() | (names == "")]):
            raise KitError(f"published numbers: {table}.csv needs one row for each {row}; mend {doubled.iloc[0]!r}")
        further = [c for c in frame if c not in columns and FURTHER[table].fullmatch(c)]
        for column in (*columns, *further):
            for name, text in zip(names, frame[column], strict=True):
                cells[table, name, column] = read_percent(text, f"{table}.csv, {name}, {column}")
    return cells


def explain(cells: Mapping[Cell, Printed | None], design: Design) -> Explanation:
    """The cheapest explanations of the cells of Tables 2 to 5.

    Raises KitError for a competition without problems and for a column of k or n - k without samples.
    """
    _check_names(cells, design)
    models = tuple(dict.fromkeys(name for table, name, _ in cells if table != "table5"))
    rows_of = [
        ModelRows(
            {(t, c): cell for (t, name, c), cell in cells.items() if t != "table5" and name == model}, design.by_k
        )
        for model in models
    ]
    sizes = {name: len(models) * problems for name, problems in design.problems.items()}
    means = {name: cells.get(("table5", name, "mean_C")) for name in sizes}
    no_counts = [name for name, size in sizes.items() if mismatch(means[name], np.arange(size + 1), size).all()]
    foreign = 2 * len(no_counts) > sum(printed is not None for printed in means.values())
    if foreign:
        means = dict.fromkeys(sizes)
    at_k_1 = [rows.first() for rows in rows_of]
    by_competition = [mismatch(means[name], np.arange(size + 1), size) for name, size in sizes.items()]
    table_3, table_5 = add_up(at_k_1), add_up(by_competition)
    best = int((table_3 + table_5).min())

    verdicts: dict[Cell, Verdict] = {}
    for model, rows, outside in zip(models, rows_of, _outside(at_k_1, table_5), strict=True):
        verdicts |= {(table, model, column): value for (table, column), value in rows.verdicts(outside).items()}
    others = _outside(by_competition, table_3)
    for (name, size), own, outside in zip(sizes.items(), by_competition, others, strict=True):
        chosen = np.flatnonzero(own + outside == best).tolist()
        if means[name] is not None:
            right = {(count, size) for count in chosen if not own[count]}
            verdicts["table5", name, "mean_C"] = verdict(right, {(count, size) for count in chosen} - right)
        ratio = cells.get(("table5", name, "mean_N_over_C"))
        if ratio is not None and not _can_be_mean_of_ratios(ratio, size):
            ends = {(count, size) for count in (0, 1, size - 1, size)}
            verdicts["table5", name, "mean_N_over_C"] = verdict((), ends)

    wrong = [cell for cell, found in verdicts.items() if found.state == "wrong"]
    unsettled = {
        model: max(int(first.min()) - sum(table != "table5" and name == model for table, name, _ in wrong), 0)
        for model, first in zip(models, at_k_1, strict=True)
    }
    certain = sum(column != "mean_N_over_C" for _, _, column in wrong)
    unsettled[""] = max(best - certain - sum(unsettled.values()), 0)
    return Explanation(design, best, dict(cells), verdicts, unsettled, foreign)


def _check_names(cells: Mapping[Cell, Printed | None], design: Design) -> None:
    for table, name, column in cells:
        if table == "table5" and not design.problems.get(name):
            raise KitError(
                f"published numbers: table5.csv has {name!r}, without problems in subset_counts.csv; mend one"
            )
        if table in ("table3", "table4"):
            at = int(FURTHER[table].fullmatch(column)[1]) - (table == "table3")
            if at >= len(design.by_k) or not design.by_k[at]:
                raise KitError(f"published numbers: {table}.csv has {column}, which has no samples; remove it")


def _outside(costs: Sequence[np.ndarray], target: np.ndarray) -> Iterator[np.ndarray]:
    """For each of some counts, the least cost of all else at each value of it: the others, and what all add up to."""
    after = [np.zeros(1, np.int16)]  # the sums of the last ones
    for own in reversed(costs):
        after.append(add_up([own, after[-1]]))
    before = after[0]
    for own, later in zip(costs, reversed(after[:-1]), strict=True):
        yield (add_up([before, later])[None, :] + shifted(target, len(own))).min(axis=1)
        before = add_up([before, own])


def _can_be_mean_of_ratios(printed: Printed, samples: int) -> bool:
    """Whether a printed value can be a mean over models of ratios, all their samples being `samples`.

    It is 0, or 100, or no nearer to these than with a single novel (or not novel) answer among all samples.
    """
    step, slack = Fraction(100, samples), Fraction(1, 2 * 10**printed.decimals)
    ends = printed.matches(0, samples) or printed.matches(samples, samples)
    return bool(ends) or step - slack <= printed.value <= 100 - step + slack
