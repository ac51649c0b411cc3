"""A run beside the paper, and what each judge is worth: comparison.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd

from creativemath_utils import published
from creativemath_utils.agreement import judge_agreement, judge_profile
from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.metrics import percent
from creativemath_utils.models import Model
from creativemath_utils.records import PairVote, Vote
from creativemath_utils.store import write_atomic
from creativemath_utils.table_formats import RunInfo, cells, column_name, layout
from creativemath_utils.tables import labels, make_tables


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
    who = "No model of this run is in the paper, so the run's tables and the paper's follow one another."
    if common:
        others = [label for label in labels(models).values() if label not in common]
        who = (
            f"In both: {plain_markdown(', '.join(common))}. In this run alone, and so in its own tables only: "
            f"{plain_markdown(', '.join(others)) or 'none'}."
        )
    parts = [
        f"# {plain_markdown(info.run)} beside the paper",
        f"This run: {len(outcomes)} samples of {len(models)} models, judged by "
        f"{plain_markdown(', '.join(info.judges.values()))} (verdict rule: {info.verdict_rule}; newest answer: "
        f"{info.newest_answer or 'none'}). The paper: {size} samples for each of ten models, other judges. A value "
        "from few samples says little; compare with the sample sizes in mind.",
        who,
    ]
    for number, table in tables.items():
        parts.append(f"## Table {number}")
        rows = shared[shared["item"] == f"table{number}"].to_dict("records")
        parts += [_side_by_side(rows)] if rows else _one_after_the_other(number, table)
    parts += ["## What each judge is worth", *map(plain_markdown, info.notes), *_judges(list(votes), info.judges)]
    path = Path(folder) / "comparison.md"
    write_atomic(path, ("\n\n".join(parts) + "\n").encode("utf-8", "replace"))
    return path


def _side_by_side(rows: Sequence[Mapping[str, Any]]) -> str:
    """Values of the run and of the paper; the difference in percentage points where both are defined."""
    shown = []
    for row in rows:
        run, printed = row["run"], row["published"]
        difference = f"{Decimal(run) - Decimal(printed):+.2f}" if run and printed else "n/a"
        ours, theirs = (run or "n/a", row["run_samples"]), (printed, row["published_samples"])
        shown.append([plain_markdown(row["model"]), column_name(row["column"]), *ours, *theirs, difference])
    return pipe_table(shown, ["Model", "Value", "This run", "samples", "Paper", "samples", "Run - paper"])


def _one_after_the_other(number: int, table: pd.DataFrame) -> list[str]:
    """Paragraphs with a table of the run, and the paper's."""
    _, columns = layout(number, table)
    ours = [[plain_markdown(text) for text in row] for row in cells(table, columns)[0]]
    theirs = published.load(f"table{number}")
    return [
        "This run:",
        pipe_table(ours, [column.header for column in columns]),
        "The paper:",
        pipe_table(theirs.to_numpy().tolist(), [column_name(name) for name in theirs.columns]),
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
        pipe_table(profile, ["Judge", "Stage", "Votes", "YES", "NO", "UNPARSED"]),
        "Agreement of two judges in percent, over the solutions on which both gave a verdict. Two judges that always "
        "say YES agree too: read it beside the shares.",
        pipe_table(agreement, ["Stage", "Judge", "Other judge", "Agreement"]),
    ]
