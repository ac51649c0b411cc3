"""Tables 2 to 5 of the paper for a run, as DataFrames.

A table holds exact counts, and percentages as text with two decimals (None over an empty base).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from creativemath_utils import published
from creativemath_utils.metrics import COUNTS, RATIOS, competition_label, mean_percent, percent, summarize
from creativemath_utils.models import Model
from creativemath_utils.records import STATUSES, competition_order

GROUPS = {"closed": 0, "open": 1, "math": 2, None: 3}  # the order of Table 2
BY_DIFFICULTY = ("AMC_8", "AMC_10", "AHSME", "AMC_12", "AIME", "USAJMO", "USAMO", "IMO")  # the order of Table 5
EXTRAS = (*(status for status in STATUSES if status != "ok"), "unparsed")
TABLE_2 = {  # column -> numerator and denominator
    "C": RATIOS["correctness_ratio"],
    "N": RATIOS["novelty_ratio"],
    "N_over_C": RATIOS["novelty_to_correctness_ratio"],
    "Nu": RATIOS["novel_unknown_ratio"],
    "Nu_over_N": RATIOS["novel_unknown_to_novelty_ratio"],
}
BY_CELL = {3: TABLE_2["C"], 4: TABLE_2["N_over_C"]}  # the ratio in the cells of Table 3 and of Table 4
THIRD_STATES = ("undecided", *EXTRAS)  # what is neither a solution nor a NO, shown beside every table
NOTHING = dict.fromkeys((*COUNTS, *EXTRAS), 0)


def make_tables(outcomes: pd.DataFrame, models: Sequence[Model]) -> dict[int, pd.DataFrame]:
    """Tables 2 to 5 of a run, by number."""
    return {number: make(outcomes, models) for number, make in {2: table_2, 3: table_3, 4: table_4, 5: table_5}.items()}


def labels(models: Sequence[Model]) -> dict[str, str]:
    """Name -> label of each model; two that share a label are told apart by their names."""
    shown = [model.shown for model in models]
    return {m.name: m.shown if shown.count(m.shown) == 1 else f"{m.shown} ({m.name})" for m in models}


def table_2(outcomes: pd.DataFrame, models: Sequence[Model]) -> pd.DataFrame:
    """C, N, N/C, Nu, Nu/N over all samples, a row a model, by group (closed, open, math) as in Table 2.

    MATH is the published accuracy of the paper's own models, else empty.
    """
    counts = _counts(outcomes, "generator")
    printed = published.load("table2").set_index("model")["MATH"]
    names = labels(models)
    rows = []
    for model in sorted(models, key=lambda m: GROUPS[m.source]):
        count = counts.get((model.name,), NOTHING)
        rows.append(
            {
                "model": names[model.name],
                "source": model.source,
                **{column: percent(count[over], count[base]) for column, (over, base) in TABLE_2.items()},
                "MATH": printed.get(names[model.name]),
                **{name: count[name] for name in NOTHING},
            }
        )
    return pd.DataFrame(rows, dtype=object)


def table_3(outcomes: pd.DataFrame, models: Sequence[Model]) -> pd.DataFrame:
    """C by the number k of solutions shown: `k1`... (k = 1..4, further where the run has them), and the counts."""
    ks = sorted({1, 2, 3, 4, *outcomes["k"]})
    return _by_cell(outcomes, models, outcomes["k"], {k: f"k{k}" for k in ks}, BY_CELL[3])


def table_4(outcomes: pd.DataFrame, models: Sequence[Model]) -> pd.DataFrame:
    """N/C by the number n - k of solutions not shown: ..., `n_minus_k_2`, `_1`, `_0`, and the counts."""
    left = outcomes["n"] - outcomes["k"]
    names = {m: f"n_minus_k_{m}" for m in sorted({0, 1, 2, *left}, reverse=True)}
    return _by_cell(outcomes, models, left, names, BY_CELL[4])


def _by_cell(
    outcomes: pd.DataFrame, models: Sequence[Model], cells: pd.Series, names: Mapping[int, str], ratio: tuple[str, str]
) -> pd.DataFrame:
    """A ratio by model and cell, what it was counted from, and what the row holds that is neither YES nor NO."""
    counts = _counts(outcomes.assign(cell=cells), "generator", "cell")
    kept = dict.fromkeys((*ratio, "samples", "undecided"))  # in this order, each once
    rows = []
    for model, label in labels(models).items():
        found = {name: counts.get((model, cell), NOTHING) for cell, name in names.items()}
        ratios = {name: percent(count[ratio[0]], count[ratio[1]]) for name, count in found.items()}
        rows.append(
            {
                "model": label,
                **ratios,
                **{f"{name}_{kind}": count[kind] for name, count in found.items() for kind in kept},
                **{kind: sum(count[kind] for count in found.values()) for kind in THIRD_STATES},
            }
        )
    return pd.DataFrame(rows, dtype=object)


def table_5(outcomes: pd.DataFrame, models: Sequence[Model]) -> pd.DataFrame:
    """Mean over models of C and of N/C at k = 1, by competition; a model counts where its ratio is defined.

    `models_C` and `models_N_over_C` say over how many models a mean was taken; `difficulty` is the range in the run.
    Competitions come in the paper's order of difficulty, others after them.
    """
    first = outcomes[(outcomes["k"] == 1) & outcomes["generator"].isin([model.name for model in models])]
    counts = _counts(first, "competition", "generator")
    rows = []
    for competition in by_difficulty(outcomes["competition"]):
        of_models = [count for (where, _), count in counts.items() if where == competition]
        correct = [(count["correct"], count["samples"]) for count in of_models]
        novel = [(count["novel"], count["correct"]) for count in of_models]
        rows.append(
            {
                "competition": competition_label(competition),
                "difficulty": _range(first.loc[first["competition"] == competition, "difficulty"].dropna()),
                "k": 1,
                "mean_C": mean_percent(correct),
                "mean_N_over_C": mean_percent(novel),
                "models_C": sum(base > 0 for _, base in correct),
                "models_N_over_C": sum(base > 0 for _, base in novel),
                **{name: sum(count[name] for count in of_models) for name in NOTHING},
            }
        )
    return pd.DataFrame(rows, dtype=object)


def by_difficulty(competitions: Iterable[str]) -> list[str]:
    """The paper's competitions from the easiest to the hardest as in Table 5, then the others among `competitions`."""
    rank = {name: place for place, name in enumerate(BY_DIFFICULTY)}
    return sorted(competition_order(competitions), key=lambda name: rank.get(name, len(rank)))


def _range(values: pd.Series) -> str | None:
    """The range of some numbers as in the paper: 1-1.5."""
    if values.empty:
        return None
    low, high = f"{values.min():g}", f"{values.max():g}"
    return low if low == high else f"{low}-{high}"


def _counts(outcomes: pd.DataFrame, *by: str) -> dict[tuple, dict[str, Any]]:
    """The counts of each group that has samples."""
    return {tuple(row[name] for name in by): row for row in summarize(outcomes, by).to_dict("records")}
