"""The published files of counts against the sizes that the paper gives in words.

>>> PAPER_DESIGN.by_k
(400, 154, 42, 8, 1)
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from creativemath_utils.audit.reconcile import Design
from creativemath_utils.audit.recovery import Finding
from creativemath_utils.metrics import competition_label
from creativemath_utils.records import COMPETITIONS, KitError

ALL_PROBLEMS = 6469  # Section 3
SUBSET_SAMPLES = 605  # Section 5.1
SUBSET_PROBLEMS_EACH = 50  # of each competition, Section 5.1
SAMPLES_BY_K = (400, 154, 42, 8)  # k = 1..4, caption of Table 3; k goes up to 5, Section 5.1
SIMILARITY_SAMPLES = 17  # Section 5.5, question 4

PAPER_DESIGN = Design(
    by_k=(*SAMPLES_BY_K, SUBSET_SAMPLES - sum(SAMPLES_BY_K)),
    problems={competition_label(name): SUBSET_PROBLEMS_EACH for name in COMPETITIONS},
)


def subset_design(counts: pd.DataFrame) -> Design:
    """The sizes that follow from the subset's numbers of solutions: a problem with n yields samples k = 1..n.

    Raises KitError for a column that is no n1, n2, ...
    """
    if odd := [column for column in counts if not re.fullmatch("n[1-9][0-9]*", str(column))]:
        raise KitError(f"published numbers: subset_counts.csv has a column {odd[0]!r}; name its columns n1, n2, ...")
    by_n = {int(column.removeprefix("n")): int(total) for column, total in counts.sum().items()}
    by_k = [sum(total for n, total in by_n.items() if n >= k) for k in range(1, max(by_n) + 1)]
    return Design(tuple(by_k), {str(name): int(total) for name, total in counts.sum(axis=1).items()})


def subset_findings(counts: pd.DataFrame) -> Iterator[Finding]:
    """The evaluated subset: 50 problems of each competition, and as many with n solutions as the sample sizes imply."""
    by_k = (*PAPER_DESIGN.by_k, 0)
    expected = {f"n{n}": by_k[n - 1] - by_k[n] for n in range(1, len(by_k))}
    rows = {row: int(total) - SUBSET_PROBLEMS_EACH for row, total in counts.sum(axis=1).items()}
    columns = {column: int(total) - expected.get(column, 0) for column, total in counts.sum().items()}
    rows, columns = ({name: off for name, off in sums.items() if off} for sums in (rows, columns))
    if len(rows) == len(columns) == 1 and [*rows.values()] == [*columns.values()]:
        (row, off), (column,) = next(iter(rows.items())), columns
        printed = int(counts.loc[row, column])
        reason = (
            f"{row} has {SUBSET_PROBLEMS_EACH + off} problems where the paper draws {SUBSET_PROBLEMS_EACH}, and "
            f"{expected.get(column, 0) + off} problems have {column.removeprefix('n')} solutions where its sample "
            f"sizes for each k leave {expected.get(column, 0)}; this cell alone mends both."
        )
        yield Finding("subset_counts", str(row), column, str(printed), str(printed - off), reason)
        return
    for row, off in rows.items():
        total = SUBSET_PROBLEMS_EACH + off
        reason = f"The paper draws {SUBSET_PROBLEMS_EACH} problems of each competition; the row adds up to {total}."
        yield Finding("subset_counts", str(row), "", str(total), str(SUBSET_PROBLEMS_EACH), reason)
    for column, off in columns.items():
        size = expected.get(column, 0)
        reason = f"The paper's sample sizes for each k leave {size} problems; the column adds up to {size + off}."
        yield Finding("subset_counts", "", column, str(size + off), str(size), reason)


def figure_1_findings(counts: pd.DataFrame) -> Iterator[Finding]:
    """Figure 1: no count below 0, and all together the number of problems."""
    for category, row in counts.iterrows():
        for competition, count in row.items():
            if count < 0:
                reason = "A number of problems cannot be negative."
                yield Finding("figure1", str(category), str(competition), str(count), "0", reason)
    total = int(counts.to_numpy().sum())
    if total != ALL_PROBLEMS:
        off = total - ALL_PROBLEMS
        reason = (
            f"The cells add up to {total:,}, {abs(off):,} {'more' if off > 0 else 'fewer'} than the {ALL_PROBLEMS:,} "
            "problems of the text. Nothing tells which cells are wrong, or whether it is the text."
        )
        yield Finding("figure1", "", "all cells", str(total), str(ALL_PROBLEMS), reason)


def figure_6_findings(counts: pd.DataFrame) -> Iterator[Finding]:
    """Figure 6: a pair has one count, from 0 to 17, and a model is like itself on all 17 samples.

    Raises KitError unless rows and columns are the same models in the same order.
    """
    names = [str(name) for name in counts.columns]
    if names != [str(name) for name in counts.index] or len(set(names)) < len(names):
        raise KitError(
            "published numbers: figure6_similarity.csv needs the same models as rows and columns; restore it"
        )
    values = counts.to_numpy().tolist()
    most = SIMILARITY_SAMPLES
    for i, model in enumerate(names):
        if values[i][i] != most:
            reason = f"A model's solutions are alike to themselves on all {most} samples."
            yield Finding("figure6_similarity", model, model, str(values[i][i]), str(most), reason)
        for j, other in enumerate(names):
            here, there = values[i][j], values[j][i]
            if i == j or (0 <= here <= most and here == there):
                continue
            if not 0 <= here <= most:
                expected = str(there) if 0 <= there <= most else ""
                reason = f"A pair can be alike on 0 to {most} samples" + (
                    f"; its mirror image has {there}." if expected else "."
                )
            elif 0 <= there <= most:
                expected = str(there)
                reason = (
                    f"{model} beside {other} has {here}, {other} beside {model} {there}; nothing tells which is wrong."
                )
            else:
                continue  # the mirror image is no count, so it is the one that is wrong
            yield Finding("figure6_similarity", model, other, str(here), expected, reason)
