"""Tables 2 to 5 of the paper for a run, and the run beside the paper.

A table is made once, as a DataFrame of exact counts and of percentages as text (None over an empty base), and written
three times: csv for machines, Markdown for people, LaTeX for papers. The same outcomes give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
from tabulate import tabulate

from creativemath_utils import published
from creativemath_utils.metrics import (
    COUNTS,
    RATIOS,
    competition_label,
    judge_agreement,
    judge_profile,
    mean_percent,
    percent,
    summarize,
)
from creativemath_utils.models import Model
from creativemath_utils.records import STATUSES, PairVote, Vote
from creativemath_utils.store import write_atomic

GROUPS = {"closed": 0, "open": 1, "math": 2, None: 3}  # the order of Table 2
RIVALS = {"closed": "closed", "open": "open", "math": "open"}  # among whom the best is sought; the paper's two groups
BY_DIFFICULTY = ("AMC_8", "AMC_10", "AHSME", "AMC_12", "AIME", "USAJMO", "USAMO", "IMO")  # the order of Table 5
EXTRAS = (*(status for status in STATUSES if status != "ok"), "unparsed")
TABLE_2 = dict(zip(("C", "N", "Nu", "N_over_C", "Nu_over_N"), RATIOS.values(), strict=True))
NOTHING = dict.fromkeys((*COUNTS, *EXTRAS), 0)


@dataclass(frozen=True)
class RunInfo:
    """What a caption says of a run: its name, the judges (name -> label), the verdict rule, the newest answer's date.

    `notes` are sentences that belong beside the tables, such as what a judge is worth.
    """

    run: str
    judges: Mapping[str, str]
    verdict_rule: str
    newest_answer: str | None = None
    notes: tuple[str, ...] = ()


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
        ratios = {column: percent(count[over], count[base]) for column, (over, base) in TABLE_2.items()}
        rows.append(
            {
                "model": names[model.name],
                "source": model.source,
                **{column: ratios[column] for column in ("C", "N", "N_over_C", "Nu", "Nu_over_N")},
                "MATH": printed.get(names[model.name]),
                **{name: count[name] for name in NOTHING},
            }
        )
    return pd.DataFrame(rows, dtype=object)


def table_3(outcomes: pd.DataFrame, models: Sequence[Model]) -> pd.DataFrame:
    """C by the number k of solutions shown: `k1`... (k = 1..4, further where the run has them), and the counts."""
    ks = sorted({1, 2, 3, 4, *outcomes["k"]})
    return _by_cell(outcomes, models, outcomes["k"], {k: f"k{k}" for k in ks}, ("correct", "samples"))


def table_4(outcomes: pd.DataFrame, models: Sequence[Model]) -> pd.DataFrame:
    """N/C by the number n - k of solutions not shown: ..., `n_minus_k_2`, `_1`, `_0`, and the counts."""
    left = outcomes["n"] - outcomes["k"]
    names = {m: f"n_minus_k_{m}" for m in sorted({0, 1, 2, *left}, reverse=True)}
    return _by_cell(outcomes, models, left, names, ("novel", "correct"))


def _by_cell(
    outcomes: pd.DataFrame, models: Sequence[Model], cells: pd.Series, names: Mapping[int, str], ratio: tuple[str, str]
) -> pd.DataFrame:
    """A ratio by model and cell, then what it was counted from."""
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
            }
        )
    return pd.DataFrame(rows, dtype=object)


def table_5(outcomes: pd.DataFrame, models: Sequence[Model]) -> pd.DataFrame:
    """Mean over models of C and of N/C at k = 1, by competition; a model counts where its ratio is defined.

    `models_C` and `models_N_over_C` say over how many models a mean was taken; `difficulty` is the range in the run.
    """
    first = outcomes[(outcomes["k"] == 1) & outcomes["generator"].isin([model.name for model in models])]
    counts = _counts(first, "competition", "generator")
    rows = []
    for competition in BY_DIFFICULTY:
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
                **{name: sum(count[name] for count in of_models) for name in COUNTS},
            }
        )
    return pd.DataFrame(rows, dtype=object)


def _range(values: pd.Series) -> str | None:
    """The range of some numbers as in the paper: 1-1.5."""
    if values.empty:
        return None
    low, high = f"{values.min():g}", f"{values.max():g}"
    return low if low == high else f"{low}-{high}"


def _counts(outcomes: pd.DataFrame, *by: str) -> dict[tuple, dict[str, Any]]:
    """The counts of each group that has samples."""
    return {tuple(row[name] for name in by): row for row in summarize(outcomes, by).to_dict("records")}


@dataclass(frozen=True)
class Column:
    """A column as a reader sees it: what it shows, the counts behind it, and whether its best is printed bold."""

    header: str
    value: str
    counts: tuple[str, str] | None = None  # numerator and denominator, shown beside the ratio
    best: bool = False


def layout(number: int, table: pd.DataFrame) -> tuple[str, list[Column]]:
    """The heading and the columns in which Table `number` (2..5) is shown."""
    if number == 2:
        ratios = [
            Column(header, value, TABLE_2[value], best=True)
            for header, value in zip(
                ("C", "N", "N/C", "Nu", "Nu/N"), ("C", "N", "N_over_C", "Nu", "Nu_over_N"), strict=True
            )
        ]
        counts = [Column(name.capitalize(), name) for name in ("undecided", *EXTRAS)]
        columns = [
            Column("Source", "source"),
            Column("Model", "model"),
            *ratios,
            Column("MATH", "MATH", best=True),
            *counts,
        ]
        return "Correctness (C), novelty (N) and Novel-Unknown (Nu) ratios in percent", columns
    if number in (3, 4):
        cell, shown, over, base = (
            (r"k(\d+)", "k = {}", "correct", "samples")
            if number == 3
            else (r"n_minus_k_(\d+)", "n - k = {}", "novel", "correct")
        )
        columns = [Column("Model", "model")]
        for name in table.columns:
            if found := re.fullmatch(cell, name):
                header = shown.format(found[1])
                columns += [
                    Column(header, name, (f"{name}_{over}", f"{name}_{base}"), best=True),
                    Column("undecided", f"{name}_undecided"),
                ]
        heading = "Correctness ratio C in percent, by number k of solutions shown"
        if number == 4:
            heading = "Novelty-to-correctness ratio N/C in percent, by number n - k of solutions not shown"
        return heading, columns
    columns = [
        Column("Competition", "competition"),
        Column("Difficulty", "difficulty"),
        Column("k", "k"),
        Column("Mean C", "mean_C"),
        Column("models", "models_C"),
        Column("Mean N/C", "mean_N_over_C"),
        Column("models", "models_N_over_C"),
        *(Column(name.capitalize(), name) for name in ("samples", "correct", "novel", "undecided")),
    ]
    return "Mean over models of C and N/C in percent at k = 1, by competition", columns


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
        return f"{'n/a' if pd.isna(value) else value} ({over}/{base})"
    if pd.isna(value):
        return "n/a" if column.value.startswith("mean_") else ""
    return str(value)


def caption(heading: str, info: RunInfo) -> str:
    """The words under a table: what it shows, of which run, judged by whom and how, and of what date."""
    return (
        f"{heading}. Run: {info.run}. Judges: {', '.join(info.judges.values())}. Verdict rule: {info.verdict_rule}. "
        f"Newest answer: {info.newest_answer or 'none'}. In brackets the counts behind a ratio; n/a: an empty base."
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
            plain_markdown(caption(heading, info)),
            _pipe_table(shown, [column.header for column in columns]),
            *map(plain_markdown, info.notes),
        ]
    )


def _pipe_table(rows: Sequence[Sequence[Any]], header: Sequence[str]) -> str:
    return tabulate(rows, header, tablefmt="pipe", disable_numparse=True, stralign="left")


def plain_markdown(text: str) -> str:
    """Text that Markdown shows as it is: on one line, without markup, links or formulas."""
    return re.sub(r"([\\`*_\[\]<>|$~])", r"\\\1", " ".join(str(text).split()))


def as_latex(number: int, table: pd.DataFrame, info: RunInfo) -> str:
    """A table as LaTeX; the document needs the packages booktabs and graphicx."""
    heading, columns = layout(number, table)
    rows, bold = cells(table, columns)
    lines = [
        r"% needs \usepackage{booktabs} and \usepackage{graphicx}",
        r"\begin{table}[t]",
        r"\centering",
        rf"\caption{{{plain_latex(' '.join([caption(heading, info), *info.notes]))}}}",
        rf"\label{{tab:{info.run}-{number}}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{'l' * len(columns)}}}",
        r"\toprule",
        " & ".join(_latex_header(column.header) for column in columns) + r" \\",
        r"\midrule",
    ]
    for i, row in enumerate(rows):
        if number == 2 and i and table["source"].iloc[i] != table["source"].iloc[i - 1]:
            lines.append(r"\midrule")
        shown = (rf"\textbf{{{plain_latex(t)}}}" if (i, j) in bold else plain_latex(t) for j, t in enumerate(row))
        lines.append(" & ".join(shown) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}", r"\end{table}"])


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


def make_tables(outcomes: pd.DataFrame, models: Sequence[Model]) -> dict[int, pd.DataFrame]:
    """Tables 2 to 5 of a run, by number."""
    return {number: make(outcomes, models) for number, make in {2: table_2, 3: table_3, 4: table_4, 5: table_5}.items()}


def write_comparison(
    outcomes: pd.DataFrame, models: Sequence[Model], votes: Iterable[Vote | PairVote], folder: Path, info: RunInfo
) -> Path:
    """Write comparison.md into `folder`: the run beside the paper, and what each judge is worth; its path.

    Models whose label is in both stand side by side, with the sample sizes of each. Where none is, the run's tables
    and the paper's follow one another; so does Table 5 always, since it averages over a run's own models.
    """
    tables = make_tables(outcomes, models)
    shared = published.comparison({f"table{number}": table for number, table in tables.items()})
    size = published.sample_sizes()["all"]
    common = list(dict.fromkeys(shared["model"]))
    others = [label for label in labels(models).values() if label not in common]
    parts = [
        f"# {plain_markdown(info.run)} beside the paper",
        f"This run: {len(outcomes)} samples of {len(models)} models, judged by "
        f"{plain_markdown(', '.join(info.judges.values()))} (verdict rule: {info.verdict_rule}; newest answer: "
        f"{info.newest_answer or 'none'}). The paper: {size} samples for each of ten models, other judges. A value "
        "from few samples says little; compare with the sample sizes in mind.",
        f"In both: {plain_markdown(', '.join(common))}. In this run alone, and so in its own tables only: "
        f"{plain_markdown(', '.join(others)) or 'none'}."
        if common
        else "No model of this run is in the paper, so the run's tables and the paper's follow one another.",
    ]
    for number, table in tables.items():
        parts.append(f"## Table {number}")
        rows = shared[shared["item"] == f"table{number}"]
        if len(rows):
            header = ["Model", "Value", "This run", "samples", "Paper", "samples", "Run - paper"]
            parts.append(_pipe_table([_beside(row) for row in rows.to_dict("records")], header))
        else:
            _, columns = layout(number, table)
            ours = [[plain_markdown(text) for text in row] for row in cells(table, columns)[0]]
            theirs = published.load(f"table{number}")
            parts += ["This run:", _pipe_table(ours, [column.header for column in columns])]
            parts += [
                "The paper:",
                _pipe_table(theirs.to_numpy().tolist(), [_column_name(name) for name in theirs.columns]),
            ]
    parts += ["## What each judge is worth", *map(plain_markdown, info.notes), *_judges(list(votes), info.judges)]
    path = Path(folder) / "comparison.md"
    write_atomic(path, ("\n\n".join(parts) + "\n").encode("utf-8", "replace"))
    return path


def _column_name(column: str) -> str:
    """A column of a csv as readers know it: N_over_C is N/C, k2 is k = 2, n_minus_k_0 is n - k = 0."""
    column = re.sub(r"^(k|n_minus_k_)(\d+)$", r"\1 = \2", column)
    words = {"n_minus_k_": "n - k", "_over_": "/", "mean_": "mean "}
    return re.sub("|".join(words), lambda found: words[found[0]], column)


def _beside(row: Mapping[str, Any]) -> list[Any]:
    """A row of the side-by-side table; the difference in percentage points where both values are defined."""
    run, printed = row["run"], row["published"]
    difference = f"{Decimal(run) - Decimal(printed):+.2f}" if run and printed else "n/a"
    column = _column_name(row["column"])
    return [
        plain_markdown(row["model"]),
        column,
        run or "n/a",
        row["run_samples"],
        printed,
        row["published_samples"],
        difference,
    ]


def _judges(votes: Sequence[Vote | PairVote], shown: Mapping[str, str]) -> list[str]:
    """Paragraphs on how each judge votes and how far two agree."""
    if not votes:
        return ["No votes yet."]

    profile = [
        [
            plain_markdown(shown.get(row["judge"], row["judge"])),
            row["stage"],
            row["votes"],
            *(f"{percent(row[verdict], row['votes'])} ({row[verdict]})" for verdict in ("YES", "NO", "UNPARSED")),
        ]
        for row in judge_profile(votes).to_dict("records")
    ]
    agreement = [
        [
            row["stage"],
            *(plain_markdown(shown.get(row[who], row[who])) for who in ("judge", "other")),
            f"{percent(row['same'], row['both']) or 'n/a'} ({row['same']}/{row['both']})",
        ]
        for row in judge_agreement(votes).to_dict("records")
    ]
    return [
        "Share of each verdict in percent (votes). A judge that always says the same tells nothing.",
        _pipe_table(profile, ["Judge", "Stage", "Votes", "YES", "NO", "UNPARSED"]),
        "Agreement of two judges in percent, over the solutions on which both gave a verdict. Two judges that always "
        "say YES agree too: read it beside the shares.",
        _pipe_table(agreement, ["Stage", "Judge", "Other judge", "Agreement"]),
    ]
