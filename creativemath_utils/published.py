"""The paper's numbers, to compare a run with: references, never results of the kit.

They lie in `data/published/` as csv, with their provenance. The tables keep the text as printed ("100", "64.28"),
since its decimals matter when the numbers are checked.

    >>> load("table2").loc[0, "C"]
    '69.92'
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from creativemath_utils.records import KitError
from creativemath_utils.store import ROOT

FOLDER = ROOT / "data" / "published"
TABLES = ("table2", "table3", "table4", "table5")
COUNT_FILES = ("figure1", "figure2_digitised", "figure6_similarity", "subset_counts")
COMPARED = {"table2": ("C", "N", "N_over_C", "Nu", "Nu_over_N")}  # tables 3 and 4: every column but the model


def load(name: str, folder: Path | None = None) -> pd.DataFrame:
    """One of the published files (TABLES, COUNT_FILES), by default from `data/published/`.

    A table comes as text, as printed; a file of counts as integers with its first column as the index, in the shape
    that the figures take. Raises KitError for an unknown name or a missing or unreadable file.
    """
    if name not in (*TABLES, *COUNT_FILES):
        raise KitError(f"published numbers: no file {name!r}; known: {', '.join((*TABLES, *COUNT_FILES))}")
    path = Path(folder or FOLDER) / f"{name}.csv"
    if not path.is_file():
        raise KitError(
            f"published numbers: {name}.csv is missing; restore it in {path.parent.name}/ from the repository"
        )
    try:
        if name in TABLES:
            return pd.read_csv(path, dtype=str, keep_default_na=False)
        return pd.read_csv(path, index_col=0).astype(int)
    except ValueError as error:  # also what pandas raises for a malformed csv
        raise KitError(
            f"published numbers: {name}.csv is not readable ({error}); restore it from the repository"
        ) from None


def sample_sizes(folder: Path | None = None) -> dict[str, int]:
    """Samples behind each published column: `all`, `k1`..., `n_minus_k_0`..., from the subset's numbers of solutions.

    A problem with n solutions gives one sample for each k = 1..n, so there are as many samples with k = j, and as many
    with n - k = j - 1, as problems with n >= j.
    """
    problems = {
        int(column.removeprefix("n")): int(total) for column, total in load("subset_counts", folder).sum().items()
    }
    sizes = {"all": sum(n * count for n, count in problems.items())}
    for j in sorted(problems):
        at_least = sum(count for n, count in problems.items() if n >= j)
        sizes |= {f"k{j}": at_least, f"n_minus_k_{j - 1}": at_least}
    return sizes


def comparison(tables: Mapping[str, pd.DataFrame], folder: Path | None = None) -> pd.DataFrame:
    """Values of a run beside the published ones, for the models (by label) that are in both.

    `tables` holds the run's `table2`, `table3`, `table4`. One row a value: item, model, column, run (percent or None),
    run_samples, published (as printed), published_samples. No row where no model is in both.
    """
    sizes = sample_sizes(folder)
    rows = []
    for item in ("table2", "table3", "table4"):
        ours, theirs = tables[item], load(item, folder)
        columns = COMPARED.get(item) or [column for column in theirs.columns if column != "model"]
        for model in theirs["model"]:
            for _, row in ours[ours["model"] == model].iterrows():
                for column in columns:
                    counted = row["samples"] if item == "table2" else row[f"{column}_samples"]
                    printed = theirs.loc[theirs["model"] == model, column].iloc[0]
                    size = sizes["all"] if item == "table2" else sizes[column]
                    rows.append((item, model, column, row[column], int(counted), printed, size))
    names = ["item", "model", "column", "run", "run_samples", "published", "published_samples"]
    return pd.DataFrame(rows, columns=names, dtype=object)
