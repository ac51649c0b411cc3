"""All that a run tells of its uncertainty, measured once: for uncertainty.md, and as one table for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from creativemath_utils.metrics import RATIOS
from creativemath_utils.uncertainty.coverage import MOST_MODELS, best_sets
from creativemath_utils.uncertainty.differences import paired_differences
from creativemath_utils.uncertainty.intervals import ratio_intervals
from creativemath_utils.uncertainty.resampling import RESAMPLES
from creativemath_utils.uncertainty.trends import trends, what_cells_show

CELLS = ("k", "n_minus_k")  # what Tables 3 and 4 are by
TEAM_DECISIONS = ("novel", "novel_unknown")
MOST_TIES = 252  # rows of the table for one m: as many sets as ten models can have; of twenty a million can tie
CSV_COLUMNS = (
    *("item", "generator", "other", "ratio", "along", "cell", "view", "numerator", "denominator", "value"),
    *("low", "high", "wilson_low", "wilson_high", "undecided_low", "undecided_high", "p_value", "p_holm"),
    *("samples", "problems", "widened", "undefined_share", "note"),
)
COUNTS = ("cell", "numerator", "denominator", "samples", "problems")


@dataclass(frozen=True)
class Uncertainty:
    """Intervals by model and by cell, differences by ratio, trends, what cells could show, best sets by decision."""

    ratios: pd.DataFrame
    cells: Mapping[str, pd.DataFrame]  # by CELLS
    differences: Mapping[str, pd.DataFrame]  # by RATIOS
    trends: pd.DataFrame
    small_cells: Mapping[str, pd.DataFrame]  # by CELLS
    teams: Mapping[str, pd.DataFrame]  # by TEAM_DECISIONS; empty where there are too many models to try all sets

    def as_table(self) -> pd.DataFrame:
        """One row for each value, columns CSV_COLUMNS, ratios 0..1; `item` says what a row is.

        ratio; ratio by k; ratio by n_minus_k; difference (of generator less other); trend (value is the slope for each
        step); best set (of `cell` models, whose names stand in generator; ratio is the decision; where more than
        MOST_TIES tie, the first of them, and a note of how many there are).
        """
        parts = [self.ratios.assign(item="ratio")]
        for along, table in self.cells.items():
            parts.append(table.rename(columns={along: "cell"}).assign(item=f"ratio by {along}", along=along))
        for ratio, table in self.differences.items():
            names = {"first": "generator", "second": "other", "difference": "value"}
            parts.append(table.rename(columns=names).assign(item="difference", ratio=ratio))
        parts.append(self.trends.rename(columns={"slope": "value"}).assign(item="trend"))
        for decision, table in self.teams.items():
            ties = table.groupby("m")["m"].transform("size")
            note = ties.map("{} sets tie, not all are listed".format).where(ties > MOST_TIES)
            table = table.assign(note=note).groupby("m").head(MOST_TIES)
            value = table["covered"] / table["samples"].where(table["samples"] > 0)
            names = {"m": "cell", "models": "generator", "covered": "numerator", "samples": "denominator"}
            table = table.rename(columns=names).assign(generator=table["models"].map(" ".join))
            parts.append(table.assign(item="best set", ratio=decision, value=value))
        rows = [row for part in parts for row in part.to_dict("records")]
        return pd.DataFrame(rows, columns=list(CSV_COLUMNS)).astype(dict.fromkeys(COUNTS, "Int64"))


def measure(
    outcomes: pd.DataFrame, generators: Sequence[str], *, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> Uncertainty:
    """The uncertainty of `generators` in a run; `outcomes` is as from `metrics.collect_outcomes`.

    The same outcomes, in whatever order, and the same seed give the same numbers.
    """
    outcomes = outcomes[outcomes["generator"].isin(list(generators))]
    outcomes = outcomes.assign(n_minus_k=outcomes["n"] - outcomes["k"])
    decisions = TEAM_DECISIONS if len(generators) <= MOST_MODELS else ()
    how = {"resamples": resamples, "seed": seed, "level": level}
    return Uncertainty(
        ratios=ratio_intervals(outcomes, **how),
        cells={along: ratio_intervals(outcomes, ("generator", along), **how) for along in CELLS},
        differences={ratio: paired_differences(outcomes, ratio, generators, **how) for ratio in RATIOS},
        trends=trends(outcomes, generators, **how),
        small_cells={along: what_cells_show(outcomes, along, generators, level=level) for along in CELLS},
        teams={decision: best_sets(outcomes, generators, decision) for decision in decisions},
    )
