"""A run's values beside the paper's: the differences with intervals and tests, and the paper's own values with theirs.

The paper prints percentages; the counts behind most of them can be recovered (`published.recovered_counts`). Where they
can, two ratios are compared as two independent proportions. Where they cannot, there is a difference and no test.

    >>> found = difference_of_proportions((30, 60), (42, 60))
    >>> round(100 * found.difference, 1), round(found.p_value, 4), found.test
    (-20.0, 0.0253, 'score')
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from scipy.stats import fisher_exact
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportions_ztest

from creativemath_utils import published
from creativemath_utils.audit.recovery import read_percent
from creativemath_utils.metrics import RATIOS, competition_label
from creativemath_utils.models import Model
from creativemath_utils.tables import BY_CELL, TABLE_2, make_tables
from creativemath_utils.uncertainty.intervals import wilson

LEAST_EXPECTED = 5  # Cochran's rule: below it in any of the four cells the score test is not to be relied on
COMPARED_COLUMNS = (
    *("item", "model", "column", "run", "run_numerator", "run_denominator", "undecided"),
    *("published", "published_numerator", "published_denominator", "state"),
    *("difference", "low", "high", "p_value", "p_holm", "test"),
)
INTERVAL_COLUMNS = (
    *("generator", "ratio", "numerator", "denominator", "value"),
    *("wilson_low", "wilson_high", "low", "high"),
)


class Difference(NamedTuple):
    """The difference of two proportions, -1..1, with its 95 % interval and the two-sided p of no difference."""

    difference: float
    low: float
    high: float
    p_value: float
    test: str  # score, or exact (Fisher's) where an expected count is small


def difference_of_proportions(ours: tuple[int, int], theirs: tuple[int, int]) -> Difference:
    """The difference of two independent proportions, each a pair (numerator, denominator > 0).

    The interval is Newcombe's hybrid score interval (1998, method 10). The test is the two-proportion score test
    (Pearson's chi-squared), or Fisher's exact test where one of the four expected counts is below LEAST_EXPECTED.
    """
    (yes, size), (other_yes, other_size) = ours, theirs
    low, high = confint_proportions_2indep(yes, size, other_yes, other_size, method="newcomb", compare="diff")
    rarer = min(yes + other_yes, size + other_size - yes - other_yes)
    if rarer * min(size, other_size) < LEAST_EXPECTED * (size + other_size):
        p_value, test = fisher_exact([[yes, size - yes], [other_yes, other_size - other_yes]]).pvalue, "exact"
    else:
        p_value, test = proportions_ztest([yes, other_yes], [size, other_size])[1], "score"
    return Difference(yes / size - other_yes / other_size, float(low), float(high), float(p_value), test)


def compare_with_paper(
    outcomes: pd.DataFrame, models: Sequence[Model], counts: pd.DataFrame | None = None
) -> pd.DataFrame:
    """The values of Tables 2 to 4 of a run beside the paper's, for models (by label) in both: COMPARED_COLUMNS.

    `run` and `published` are percent as text (None over an empty base); `difference`, `low`, `high` are run - paper,
    -1..1, from the counts where they are known, else from the printed value and without interval and test. `p_holm` is
    `p_value` with Holm's correction over the tested values of a table. `undecided` is the run's, among the samples of
    the value's group. `state` says what the audit makes of the printed value. `counts` is
    `published.recovered_counts()`, where it is at hand.
    """
    tables = make_tables(outcomes, models)
    behind = paper_counts(counts)
    rows = []
    for pair in published.comparison({f"table{number}": table for number, table in tables.items()}).to_dict("records"):
        number = int(pair["item"].removeprefix("table"))
        table = tables[number]
        ours = table[table["model"] == pair["model"]].iloc[0]
        numerator, denominator, undecided = run_counts(number, ours, pair["column"])
        paper = behind.get((pair["item"], pair["model"], pair["column"]), {})
        theirs = (paper.get("numerator"), paper.get("denominator"))
        found: Difference | None = None
        if denominator and paper:
            found = difference_of_proportions((numerator, denominator), theirs) if theirs[1] else None
            if found is None:
                printed = read_percent(pair["published"], f"{pair['item']} of {pair['model']}").value / 100
                found = Difference(numerator / denominator - float(printed), *[float("nan")] * 3, "")
        rows.append(
            {
                **{name: pair[name] for name in ("item", "model", "column", "run", "published")},
                "run_numerator": numerator,
                "run_denominator": denominator,
                "undecided": undecided,
                "published_numerator": theirs[0],
                "published_denominator": theirs[1],
                "state": paper.get("state", ""),
                **(found._asdict() if found else {"test": ""}),
            }
        )
    frame = pd.DataFrame(rows, columns=list(COMPARED_COLUMNS))
    numbers = dict.fromkeys(("difference", "low", "high", "p_value", "p_holm"), float)
    frame = frame.astype({**numbers, "published_numerator": "Int64", "published_denominator": "Int64"})
    for _, tested in frame[frame["p_value"].notna()].groupby("item"):
        frame.loc[tested.index, "p_holm"] = multipletests(tested["p_value"], method="holm")[1]
    return frame


def run_counts(number: int, row: Mapping[str, Any], column: str) -> tuple[int, int, int]:
    """Numerator, denominator and undecided samples behind a value in a row of the run's Table `number` (2, 3 or 4)."""
    if number == 2:
        over, base = TABLE_2[column]
        return int(row[over]), int(row[base]), int(row["undecided"])
    over, base = BY_CELL[number]
    return tuple(int(row[f"{column}_{kind}"]) for kind in (over, base, "undecided"))


def paper_counts(counts: pd.DataFrame | None = None) -> dict[tuple[str, str, str], dict[str, Any]]:
    """(item, model, column) -> printed, state, numerator and denominator (None where they cannot be told)."""
    counts = published.recovered_counts() if counts is None else counts
    return {
        (row["item"], row["model"], row["column"]): {
            **{name: row[name] for name in ("printed", "state")},
            **{name: None if pd.isna(row[name]) else int(row[name]) for name in ("numerator", "denominator")},
        }
        for row in counts.to_dict("records")
    }


def published_intervals(counts: pd.DataFrame | None = None) -> pd.DataFrame:
    """The paper's ratios of Table 2 with Wilson's 95 % intervals, a row for each model and ratio: INTERVAL_COLUMNS.

    `generator` is the model's name in the paper, `ratio` a name of metrics.RATIOS, values are 0..1. `low` and `high`
    are Wilson's, too: a bootstrap over problems needs outcomes of single samples, which are not published. A value
    whose counts cannot be told stands as printed, without counts and interval.
    """
    named = {counted: ratio for ratio, counted in RATIOS.items()}
    ratio_of = {column: named[counted] for column, counted in TABLE_2.items()}
    rows = []
    for (item, model, column), cell in paper_counts(counts).items():
        if item != "table2" or column not in ratio_of:
            continue
        numerator, denominator = cell["numerator"], cell["denominator"]
        if denominator:
            low, high = wilson(numerator, denominator)
            value = numerator / denominator
        else:
            low = high = float("nan")
            value = float(read_percent(cell["printed"], f"Table 2, {model}").value / 100)
        rows.append((model, ratio_of[column], numerator, denominator, value, low, high, low, high))
    frame = pd.DataFrame(rows, columns=list(INTERVAL_COLUMNS))
    return frame if frame["numerator"].isna().any() else frame.astype({"numerator": int, "denominator": int})


def has_published_composition(outcomes: pd.DataFrame, folder: Path | None = None) -> bool:
    """Whether a run has as many problems of each competition with each n as the published subset, and all k of each.

    Then its samples are very likely the paper's own. Every generator must have them all. Paper, Section 5.1.
    """
    subset = published.load("subset_counts", folder)
    wanted = {(name, int(n[1:])): int(count) for name, row in subset.iterrows() for n, count in row.items() if count}
    for _, of_one in outcomes.groupby("generator"):
        samples = of_one.drop_duplicates(["problem_id", "k"])
        problems = samples.drop_duplicates("problem_id")
        found = problems.groupby([problems["competition"].map(competition_label), "n"]).size().to_dict()
        if found != wanted or len(samples) != problems["n"].sum():
            return False
    return len(outcomes) > 0
