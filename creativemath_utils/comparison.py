"""comparison.md of a run: beside the paper, under the released code's rules, and what each judge is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from creativemath_utils import published
from creativemath_utils.agreement import judge_agreement, judge_profile
from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.metrics import percent
from creativemath_utils.models import Model
from creativemath_utils.paper.beside import (
    LEAST_EXPECTED,
    compare_with_paper,
    has_published_composition,
    run_counts,
)
from creativemath_utils.records import PairVote, Vote
from creativemath_utils.released_section import released_section
from creativemath_utils.store import write_atomic
from creativemath_utils.table_formats import HEADINGS, RunInfo, column_name
from creativemath_utils.tables import labels, make_tables

ALPHA = 0.05
NO_BREAK = "\N{NO-BREAK SPACE}"  # keeps k = 1 on one line of a narrow cell
DOUBTED, UNKNOWN = "†", "(?)"  # marks beside a printed value
HOW_TO_READ = (
    "*Run - paper* is in percentage points, with Newcombe's 95 % interval. *p* comes from the two-proportion score "
    f"test, or from Fisher's exact test (*exact*) where an expected count is below {LEAST_EXPECTED}; it is corrected "
    f"after Holm over the tested values of its table, and bold below {ALPHA}. The paper's counts are those that the "
    "audit recovers, which may correct a printed value. A group of few samples can show none but large differences: "
    "its interval says how large."
)
UNDECIDED = (
    "An undecided sample counts as not correct, not novel and not Novel-Unknown. It stays among all samples; N/C and "
    "Nu/N have it in their base only where the earlier stages passed it."
)


def write_comparison(
    outcomes: pd.DataFrame, models: Sequence[Model], votes: Iterable[Vote | PairVote], folder: Path, info: RunInfo
) -> Path:
    """Write comparison.md into `folder`; its path.

    Models whose label is in both stand side by side, with tests of the differences. The run's other models stand in
    one list with the paper's. Table 5, a mean over a run's own models, stands beside the paper's without a test. Then
    the released code's rules on the same votes, and what each judge is worth.
    """
    votes = list(votes)
    tables = make_tables(outcomes, models)
    counts = published.recovered_counts()
    compared = compare_with_paper(outcomes, models, counts)
    common = list(dict.fromkeys(compared["model"]))
    others = [label for label in labels(models).values() if label not in common]
    parts = [
        f"# {plain_markdown(info.run)} beside the paper",
        *_what_is_compared(outcomes, models, info, common, others),
        *([HOW_TO_READ, UNDECIDED] if common else [UNDECIDED]),
    ]
    for number in (2, 3, 4):
        parts += [f"## Table {number}", f"{HEADINGS[number]}."]
        if common:
            parts += _side_by_side(number, compared[compared["item"] == f"table{number}"])
        if others:
            parts += _in_one_list(number, tables[number], others, counts)
    parts += ["## Table 5", *_means_over_models(tables[5], set(common) >= set(published.load("table2")["model"]))]
    own = [vote for vote in votes if isinstance(vote, Vote)]
    parts += ["## The released code's rules on the same votes", *released_section(outcomes, own, models, info)]
    parts += ["## What each judge is worth", *map(plain_markdown, info.notes), *_judges(votes, info.judges)]
    path = Path(folder) / "comparison.md"
    write_atomic(path, ("\n\n".join(parts) + "\n").encode("utf-8", "replace"))
    return path


def _what_is_compared(
    outcomes: pd.DataFrame, models: Sequence[Model], info: RunInfo, common: Sequence[str], others: Sequence[str]
) -> list[str]:
    """Paragraphs on the two sides, on which models are in both, and on whether the samples are the same."""
    size, theirs = published.sample_sizes()["all"], len(published.load("table2"))
    sides = (
        f"This run: {len(outcomes)} samples of {len(models)} models, judged by "
        f"{plain_markdown(', '.join(info.judges.values()))} (verdict rule: {info.verdict_rule}; newest answer: "
        f"{info.newest_answer or 'none'}). The paper: {size} samples for each of {theirs} models, other judges. So a "
        "difference can lie with the judges, with the version of a model or with its settings, too."
    )
    alone = plain_markdown(", ".join(others)) or "none"
    who = f"In both, by label: {plain_markdown(', '.join(common))}. In this run alone: {alone}."
    if not common:
        who = "No model of this run is in the paper, so none is compared with itself and nothing is tested."
    if not has_published_composition(outcomes):
        samples = (
            f"**The samples are others.** The run does not have the {size} samples of the paper's subset, so a "
            "difference can lie with the problems, too."
        )
        tested = "The tests take the two sets of samples for independent."
    else:
        samples = (
            f"**The samples are very likely the same.** The run has the composition of the paper's subset: as many "
            f"problems of each competition with each number of solutions, and every k, {size} samples in all."
        )
        tested = (
            "A paired test would fit, but needs to know which samples a model solved in the paper, and only totals are "
            "published. So the tests take the two sets for independent. Where the same problems are hard on both sides "
            "that is conservative: a difference that they find stands, one that they miss may still be there."
        )
    clusters = (
        "Nor do they know that samples of one problem are alike, which alone would make p somewhat too small in "
        "Table 2; in a cell of Tables 3 and 4 no problem occurs twice."
    )
    return [sides, who, " ".join([samples, tested, clusters]) if common else samples]


def _side_by_side(number: int, compared: pd.DataFrame) -> list[str]:
    """The values of a table for each model that is in both, with the test of each difference; then the marks.

    A table of its own for each model stays within the width of a phone.
    """
    parts, used = [], ""
    for model, values in compared.groupby("model", sort=False):
        rows = []
        for row in values.astype(object).where(values.notna(), None).to_dict("records"):
            undecided = row["undecided"] if number > 2 else 0  # in Table 2 of the whole row: said beside the name
            printed = (row["published"], row["state"], row["published_numerator"], row["published_denominator"])
            rows.append(
                [
                    column_name(row["column"]).replace(" = ", f"{NO_BREAK}={NO_BREAK}"),
                    _run_cell(row["run"], row["run_numerator"], row["run_denominator"], undecided),
                    _paper_cell(*printed),
                    _difference_cell(row),
                ]
            )
        of_row = int(values["undecided"].iloc[0]) if number == 2 else 0
        parts.append(f"**{plain_markdown(model)}**" + (f" ({of_row} undecided)" if of_row else ""))
        parts.append(pipe_table(rows, ["", "This run", "Paper", "Run - paper"]))
        used += parts[-1]
    tested, below = int(compared["p_holm"].notna().sum()), int((compared["p_holm"] < ALPHA).sum())
    return [f"{tested} of {len(compared)} values tested; p is below {ALPHA} for {below}.", *parts, *_marks(used)]


def _in_one_list(number: int, table: pd.DataFrame, others: Sequence[str], counts: pd.DataFrame) -> list[str]:
    """The run's models that the paper does not have, bold and with counts, above the paper's own, as printed."""
    item = f"table{number}"
    printed = published.load(item)
    columns = [column for column in printed if column in table and column not in ("model", "source", "MATH")]
    doubted = {(r["model"], r["column"]): r["state"] for r in counts[counts["item"] == item].to_dict("records")}
    rows, still_open = [], []
    for row in table[table["model"].isin(others)].to_dict("records"):
        label = plain_markdown(row["model"])
        cells = [_run_cell(row[column], *run_counts(number, row, column)[:2]) for column in columns]
        rows.append([f"**{label}**", *cells])
        still_open += [f"{label} {row['undecided']}"] if row["undecided"] else []
    for row in printed.to_dict("records"):
        cells = [_paper_cell(row[column], doubted.get((row["model"], column), "")) for column in columns]
        rows.append([plain_markdown(row["model"]), *cells])
    shown = pipe_table(rows, ["Model", *map(column_name, columns)])
    undecided = f"Undecided samples of this run: {', '.join(still_open) or 'none'}."
    return ["Bold: this run, with its counts. The others: the paper, as printed.", shown, undecided, *_marks(shown)]


def _means_over_models(table: pd.DataFrame, all_models: bool) -> list[str]:
    """Table 5 beside the paper's."""
    printed = published.load("table5").set_index("competition")
    rows = []
    for row in table.to_dict("records"):
        cells = []
        for column in ("mean_C", "mean_N_over_C"):
            ours = f"{row[column]} ({row[column.replace('mean', 'models')]})" if row[column] else "n/a"
            cells += [ours, plain_markdown(printed[column].get(row["competition"], "n/a"))]
        rows.append([plain_markdown(row["competition"]), *cells])
    why = "models that answer the same problems are not independent" if all_models else "the models are others"
    return [
        "Means over models at k = 1 in percent; in brackets, over how many models of the run, those whose ratio is "
        f"defined. Without a test: {why}.",
        pipe_table(rows, ["", "C, run", "C, paper", "N/C, run", "N/C, paper"]),
    ]


def _run_cell(value: str | None, numerator: int, denominator: int, undecided: int = 0) -> str:
    still_open = f"; {undecided} undecided" if undecided else ""
    return f"{value or 'n/a'} ({numerator}/{denominator}{still_open})"


def _paper_cell(printed: str, state: str, *counts: int | None) -> str:
    """A printed value with its mark, and with its counts where they are wanted."""
    mark = DOUBTED if state in ("wrong", "suspect") else ""
    behind = "" if not counts else f" {UNKNOWN}" if None in counts else f" ({counts[0]}/{counts[1]})"
    return f"{plain_markdown(printed) or 'n/a'}{mark}{behind}"


def _difference_cell(row: Mapping[str, Any]) -> str:
    """A difference in percentage points, with its interval and p where the counts are known."""
    if row["difference"] is None:
        return "n/a"
    points = f"{100 * row['difference']:+z.1f}"
    if row["p_value"] is None:
        return f"{points}, no test"
    p = "p < 0.001" if row["p_holm"] < 0.001 else f"p = {row['p_holm']:.3f}"
    p = f"**{p}**" if row["p_holm"] < ALPHA else p
    exact = " exact" if row["test"] == "exact" else ""
    return f"{points} ({100 * row['low']:+z.1f} to {100 * row['high']:+z.1f}), {p}{exact}"


def _marks(text: str) -> list[str]:
    """What the marks mean that occur in a text."""
    legend = {
        DOUBTED: "the audit finds the printed value wrong or doubtful.",
        UNKNOWN: "the counts behind the printed value cannot be told, so there is no test.",
    }
    found = [f"{mark} {meaning}" for mark, meaning in legend.items() if mark in text]
    return [" ".join(found)] if found else []


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
        pipe_table(profile, ["Judge", "Stage", "Votes", "YES", "NO", "UNPARSED"]),
        "Agreement of two judges in percent, over the solutions on which both gave a verdict. Two judges that always "
        "say YES agree too: read it beside the shares.",
        pipe_table(agreement, ["Stage", "Judge", "Other judge", "Agreement"]),
    ]
