r"""Tables 2 to 5 as files: csv for machines, Markdown for people, LaTeX for papers.

Markdown and LaTeX show each ratio with the counts behind it, and say in a caption of which run a table is and who
judged. Text that comes from data is shown as it is. The same outcomes give the same bytes.

    >>> plain_latex("50% of $x")
    '50\\% of \\$x'
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd

from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.models import Model
from creativemath_utils.store import write_atomic
from creativemath_utils.tables import BY_CELL, TABLE_2, THIRD_STATES, make_tables


@dataclass(frozen=True)
class RunInfo:
    """What a caption says of a run: its name, the judges (name -> label), the verdict rule, the newest answer's date.

    `notes` are sentences that belong beside the tables, such as what a judge is worth; `models` the labels of the
    generators.
    """

    run: str
    judges: Mapping[str, str]
    verdict_rule: str
    newest_answer: str | None = None
    notes: tuple[str, ...] = ()
    models: tuple[str, ...] = ()


def write_tables(outcomes: pd.DataFrame, models: Sequence[Model], folder: Path, info: RunInfo) -> list[Path]:
    """Write table_2 to table_5 as .csv, .md and .tex into `folder`, each in one atomic step; their paths."""
    written = []
    for number, table in make_tables(outcomes, models).items():
        texts = {
            "csv": table.to_csv(index=False, lineterminator="\n"),
            "md": as_markdown(number, table, info) + "\n",
            "tex": as_latex(number, table, info) + "\n",
        }
        for suffix, text in texts.items():
            written.append(Path(folder) / f"table_{number}.{suffix}")
            write_atomic(written[-1], text.encode("utf-8", "replace"))
    return written


@dataclass(frozen=True)
class Column:
    """A column as a reader sees it: what it shows, the counts behind it, and whether its best is printed bold."""

    header: str
    value: str
    counts: tuple[str, str] | None = None  # numerator and denominator, shown beside the ratio
    best: bool = False
    undecided: str | None = None  # how many of the samples behind the ratio are, shown where there are any
    models: str | None = None  # how many models a mean was taken over, shown beside it


HEADINGS = {
    2: "Correctness (C), novelty (N) and Novel-Unknown (Nu) ratios in percent",
    3: "Correctness ratio C in percent, by number k of solutions shown",
    4: "Novelty-to-correctness ratio N/C in percent, by number n - k of solutions not shown",
    5: "Mean over models of C and N/C in percent at k = 1, by competition",
}


CELL = re.compile(r"(k|n_minus_k_)(\d+)")  # the cells of Tables 3 and 4


def layout(number: int, table: pd.DataFrame) -> tuple[str, list[Column]]:
    """The heading and the columns in which Table `number` (2..5) is shown."""
    if number == 2:
        columns = [
            *(Column("Source", "source"), Column("Model", "model")),
            *(Column(column_name(name), name, counts, best=True) for name, counts in TABLE_2.items()),
            Column("MATH", "MATH", best=True),
        ]
    elif number in BY_CELL:
        over, base = BY_CELL[number]
        columns = [Column("Model", "model")]
        for name in filter(CELL.fullmatch, table.columns):
            counts = (f"{name}_{over}", f"{name}_{base}")
            columns.append(Column(column_name(name), name, counts, best=True, undecided=f"{name}_undecided"))
    else:
        columns = [
            *(Column(name.capitalize(), name) for name in ("competition", "difficulty")),
            Column("k", "k"),
            Column("Mean C", "mean_C", models="models_C"),
            Column("Mean N/C", "mean_N_over_C", models="models_N_over_C"),
            *(Column(name.capitalize(), name) for name in ("samples", "correct", "novel")),
        ]
    return HEADINGS[number], [*columns, *(Column(name.capitalize(), name) for name in THIRD_STATES)]


def column_name(column: str) -> str:
    """A column of a csv as readers know it: N_over_C is N/C, k2 is k = 2, n_minus_k_0 is n - k = 0."""
    if cell := CELL.fullmatch(column):
        return f"{'k' if cell[1] == 'k' else 'n - k'} = {cell[2]}"
    return column.replace("_over_", "/").replace("mean_", "mean ")


RIVALS = {"closed": "closed", "open": "open", "math": "open"}  # among whom the best is sought; the paper's two groups


def cells(table: pd.DataFrame, columns: Sequence[Column]) -> tuple[list[list[str]], set[tuple[int, int]]]:
    """The text of every cell, and the places (row, column) to print bold: the best of a group, where values differ.

    In Table 2 closed models are one group, open ones with the mathematical another, as in the paper, and models without
    a source a third; elsewhere all models are one group.
    """
    records = table.to_dict("records")
    rows = [[_cell(record, column) for column in columns] for record in records]
    groups: dict[str | None, list[int]] = {}
    for i, record in enumerate(records):
        groups.setdefault(RIVALS.get(record.get("source")), []).append(i)
    bold = set()
    for j, column in enumerate(columns):
        for group in groups.values() if column.best else ():
            values = {i: Decimal(records[i][column.value]) for i in group if not pd.isna(records[i][column.value])}
            if len(set(values.values())) > 1:
                bold |= {(i, j) for i, value in values.items() if value == max(values.values())}
    return rows, bold


def _cell(record: Mapping[str, Any], column: Column) -> str:
    value = record[column.value]
    if column.counts:
        over, base = (record[name] for name in column.counts)
        left = record[column.undecided] if column.undecided else 0
        return f"{'n/a' if pd.isna(value) else value} ({over}/{base}{f'; {left} undecided' if left else ''})"
    if column.models:
        return f"{'n/a' if pd.isna(value) else value} ({record[column.models]})"
    if pd.isna(value):
        return "n/a" if column.value == "difficulty" else ""
    return str(value)


def caption(heading: str, columns: Sequence[Column], info: RunInfo) -> str:
    """The words under a table: what it shows, of which run, judged by whom and how, and of what date."""
    models = f"Models: {', '.join(info.models)}. " if info.models else ""
    in_brackets = "the counts behind a ratio" if any(column.counts for column in columns) else "over how many models"
    return (
        f"{heading}. Run: {info.run}. {models}Judges: {', '.join(info.judges.values())}. "
        f"Verdict rule: {info.verdict_rule}. Newest answer: {info.newest_answer or 'none'}. "
        f"In brackets {in_brackets}; n/a: an empty base. "
        "Undecided: samples whose votes leave a decision open; truncated, blocked, refused, failed: samples by what "
        "came back; unparsed: votes without a verdict."
    )


def as_markdown(number: int, table: pd.DataFrame, info: RunInfo) -> str:
    """A table as GitHub-flavoured Markdown."""
    heading, columns = layout(number, table)
    rows, bold = cells(table, columns)
    shown = [
        [f"**{plain_markdown(text)}**" if (i, j) in bold else plain_markdown(text) for j, text in enumerate(row)]
        for i, row in enumerate(rows)
    ]
    return "\n\n".join(
        [
            f"# Table {number}",
            plain_markdown(caption(heading, columns, info)),
            pipe_table(shown, [column.header for column in columns]),
            *map(plain_markdown, info.notes),
        ]
    )


def as_latex(number: int, table: pd.DataFrame, info: RunInfo) -> str:
    """A table as LaTeX; the document needs the packages booktabs and graphicx."""
    heading, columns = layout(number, table)
    rows, bold = cells(table, columns)
    lines = []
    for i, row in enumerate(rows):
        if number == 2 and i and table["source"].iloc[i] != table["source"].iloc[i - 1]:
            lines.append(r"\midrule")
        shown = (rf"\textbf{{{plain_latex(t)}}}" if (i, j) in bold else plain_latex(t) for j, t in enumerate(row))
        lines.append(" & ".join(shown) + r" \\")
    words = " ".join([caption(heading, columns, info), *info.notes])
    return latex_table(words, f"{info.run}-{number}", [column.header for column in columns], lines)


def latex_table(caption: str, label: str, headers: Sequence[str], lines: Sequence[str]) -> str:
    """A floating table in booktabs' style, shrunk to the line where it is wider; `lines` are its rows as LaTeX."""
    return "\n".join(
        [
            r"% needs \usepackage{booktabs} and \usepackage{graphicx}",
            r"\begin{table}[t]",
            r"\centering",
            rf"\caption{{{plain_latex(caption)}}}",
            rf"\label{{tab:{label}}}",
            r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
            rf"\begin{{tabular}}{{{'l' * len(headers)}}}",
            r"\toprule",
            " & ".join(map(_latex_header, headers)) + r" \\",
            r"\midrule",
            *lines,
            r"\bottomrule",
            r"\end{tabular}}",
            r"\end{table}",
        ]
    )


def _latex_header(header: str) -> str:
    """C, N/C, Nu, k = 1, ... as formulas, other headers as text."""
    is_formula = re.fullmatch(r"C|Nu?(/[CN])?|(n - )?k( = \d+)?", header)
    return f"${header.replace('Nu', 'N_u')}$" if is_formula else plain_latex(header)


LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': r"\char34{}"},
    **{"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"},
}


def plain_latex(text: str) -> str:
    """Text that LaTeX prints as it is. A sign that pdfLaTeX has no letter for is printed there by its code point."""

    def sign(char: str) -> str:
        if char in LATEX:
            return LATEX[char]
        if " " <= char <= "~" or ("À" <= char <= "ÿ" and char not in "ÐðÞþ"):
            return char
        code = rf"\texttt{{U+{ord(char):04X}}}"
        return rf"\ifdefined\Umathchar {char}\else{code}\fi{{}}" if char.isprintable() else code

    return "".join(map(sign, " ".join(str(text).split()))).replace("--", "-{}-")
