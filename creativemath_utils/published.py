"""The paper's numbers, to compare a run with, and an audit of them: references, never results of the kit.

They lie in `data/published/` as csv, with their provenance. The tables keep the text as printed ("100", "64.28"),
since its decimals matter when the numbers are checked. The audit reads these files alone: its findings are computed.

    >>> load("table2").loc[0, "C"]
    '69.92'
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import pandas as pd

from creativemath_utils.audit.blame import corrected, table_findings
from creativemath_utils.audit.reconcile import Cell, Design, Explanation, explain, read_cells
from creativemath_utils.audit.recovery import Finding, Printed
from creativemath_utils.audit.sentences import Evidence, sentence_findings
from creativemath_utils.audit.tallies import (
    PAPER_DESIGN,
    SAMPLES_BY_K,
    figure_1_findings,
    figure_6_findings,
    subset_design,
    subset_findings,
)
from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.records import KitError
from creativemath_utils.store import ROOT, write_atomic

FOLDER = ROOT / "data" / "published"
TABLES = ("table2", "table3", "table4", "table5")
COUNT_FILES = ("figure1", "figure2_digitised", "figure6_similarity", "subset_counts")
MOST_SAMPLES = 2000  # of a model; the search takes memory and time by the square of them
NOT_OURS = "These are the numbers of the paper (Ye et al., arXiv 2410.18336), not results of this kit."
HEADINGS = {
    "table2": "Table 2",
    "table3": "Table 3: C by k",
    "table4": "Table 4: N/C by n - k",
    "table5": "Table 5: means over models at k = 1",
    "figure1": "Figure 1",
    "figure6_similarity": "Figure 6",
    "subset_counts": "The evaluated subset",
    "text": "The text against the tables and figures",
}
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
        counts = pd.read_csv(path, index_col=0).astype(float)
        if not counts.eq(counts.round()).all(axis=None):
            raise ValueError("a count that is no whole number")
        return counts.astype(int)
    except ValueError as error:  # also what pandas raises for a malformed csv
        reason = " ".join(str(error).split())
        raise KitError(
            f"published numbers: {name}.csv is not readable ({reason}); restore it from the repository"
        ) from None


def sample_sizes(folder: Path | None = None) -> dict[str, int]:
    """Samples behind each published column: `all`, `k1`..., `n_minus_k_0`..., from the subset's numbers of solutions.

    A problem with n solutions gives one sample for each k = 1..n, so there are as many samples with k = j, and as many
    with n - k = j - 1, as problems with n >= j.
    """
    design = subset_design(load("subset_counts", folder))
    sizes = {"all": sum(design.by_k)}
    for k, count in enumerate(design.by_k, 1):
        sizes |= {f"k{k}": count, f"n_minus_k_{k - 1}": count}
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


def audit(folder: Path | None = None) -> pd.DataFrame:
    """What cannot be right in the published numbers: columns item, model, column, printed, expected, reason, all text.

    `item` is the file, or `text` for a sentence; `model` is the row (in Table 5 a competition) and may be empty.
    `expected` is the value that the other numbers leave, or the nearest of several, as the reason says. No two cells
    are taken to be wrong where one will do. `folder` holds the csv files, by default the shipped ones. Raises
    KitError for a file that is missing or not readable.
    """
    subset, figure_1, figure_6 = (load(name, folder) for name in ("subset_counts", "figure1", "figure6_similarity"))
    of_figures = [*figure_1_findings(figure_1), *figure_6_findings(figure_6)]
    found = explanation(folder)
    findings = table_findings(found)
    if found.design == PAPER_DESIGN:  # else the tables are of another subset than the paper's words
        findings += subset_findings(subset)
    findings += of_figures
    evidence = Evidence(corrected(found), *groups(folder), figure_1, figure_6)
    findings += sentence_findings(evidence)
    return pd.DataFrame(findings, columns=list(Finding._fields), dtype=object)


def recovered_counts(folder: Path | None = None) -> pd.DataFrame:
    """The counts behind the percentages of Tables 2 to 5, as far as they can be told.

    Columns: item, model, column, printed, state, numerator, denominator, candidates. `candidates` lists every count
    that goes with the fewest wrong cells, as "30/42, 31/42"; numerator and denominator are empty unless it is one only.
    `state` is agrees, wrong or suspect (the audit says why), or empty where nothing can be recovered: N/C in Table 5
    is a mean of ratios. Mean C is a count out of the samples of all models. Raises KitError like `audit`.
    """
    found = explanation(folder)
    rows = []
    for cell, printed in found.cells.items():
        if printed is None or cell[2] == "MATH":  # other people's numbers, on other problems
            continue
        verdict = found.verdicts.get(cell)
        counts = verdict.counts if verdict and cell[2] != "mean_N_over_C" else ()
        single = counts[0] if len(counts) == 1 else (None, None)
        shown = ", ".join(f"{numerator}/{denominator}" for numerator, denominator in counts)
        rows.append((*cell, printed.text, verdict.state if verdict else "", *single, shown))
    names = ["item", "model", "column", "printed", "state", "numerator", "denominator", "candidates"]
    return pd.DataFrame(rows, columns=names).astype({"numerator": "Int64", "denominator": "Int64"})


def audit_markdown(findings: pd.DataFrame) -> str:
    """The findings of an audit for people to read, by table and figure."""
    parts = [
        "# Audit of the published numbers",
        NOT_OURS,
        "Each percentage of the tables is a ratio of counts, and the tables count the same answers in several ways. "
        "Listed here is what no counts can give, or what cannot stand beside the rest, always with as few wrong cells "
        "as possible. *Expected* is the value that the other numbers leave, or the nearest of several.",
        f"{len(findings)} findings." if len(findings) != 1 else "1 finding.",
    ]
    for item, group in findings.groupby("item", sort=False):
        rows = [[plain_markdown(text) for text in row] for row in group.drop(columns="item").to_numpy().tolist()]
        header = ["Row", "Column", "Printed", "Expected", "Why"]
        parts += [f"## {HEADINGS.get(item, item)}", pipe_table(rows, header)]
    return "\n\n".join(parts) + "\n"


def write_audit(findings: pd.DataFrame, folder: Path | None = None) -> Path:
    """Write the findings of `audit` as audit.md into `folder`, by default figures/published; its path."""
    path = Path(folder or ROOT / "figures" / "published") / "audit.md"
    write_atomic(path, audit_markdown(findings).encode("utf-8"))
    return path


def explanation(folder: Path | None = None) -> Explanation:
    """What explains the tables with the fewest wrong cells: a verdict on each cell, and the counts it can stand for.

    The sample sizes are those of the paper's words, or of the subset where that is simpler. Raises KitError like
    `audit`.
    """
    cells = read_cells({name: load(name, folder) for name in TABLES})
    by_file = subset_design(load("subset_counts", folder))
    return _explained(tuple(cells.items()), by_file.by_k, tuple(by_file.problems.items()))


@lru_cache(maxsize=4)  # the audit, the counts, the claims and the rebuilt tables all start from the same search
def _explained(
    items: tuple[tuple[Cell, Printed | None], ...], by_k: tuple[int, ...], problems: tuple[tuple[str, int], ...]
) -> Explanation:
    cells, by_file = dict(items), Design(by_k, dict(problems))
    usable = len(by_file.by_k) >= len(SAMPLES_BY_K) and min(by_file.by_k) > 0 and sum(by_file.by_k) <= MOST_SAMPLES
    competitions = {row for table, row, _ in cells if table == "table5"}
    found = []
    if competitions <= set(PAPER_DESIGN.problems):
        found.append(explain(cells, PAPER_DESIGN))
        if 10 * found[0].wrong_cells <= len(cells):  # the tables are of these sizes, whatever the file says
            return found[0]
    if by_file != PAPER_DESIGN and usable and competitions <= set(by_file.problems):
        found.append(explain(cells, by_file))
    if not found:
        unknown = ", ".join(sorted(competitions - set(PAPER_DESIGN.problems)))
        raise KitError(
            f"published numbers: table5.csv has {unknown}, for which no sizes are known; mend subset_counts.csv"
        )
    return min(found, key=lambda explanation: explanation.wrong_cells)


def groups(folder: Path | None = None) -> tuple[dict[str, str], dict[str, tuple[Fraction, Fraction]]]:
    """The group of each model in Table 2 and the range of difficulty of each competition in Table 5, where given."""
    table_2, table_5 = (load(name, folder).rename(columns=str.strip).astype(str) for name in ("table2", "table5"))
    source = dict(zip(table_2["model"], table_2["source"], strict=True)) if "source" in table_2 else {}
    ranges = {}
    for competition, text in zip(table_5["competition"], table_5.get("difficulty", []), strict=False):
        bounds = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)-([0-9]+(?:\.[0-9]+)?)", text.strip())
        if bounds:
            ranges[competition] = (Fraction(bounds[1]), Fraction(bounds[2]))
    return source, ranges
