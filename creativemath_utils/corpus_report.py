"""corpus.md of a run: what its problems are, what was left out and why, and how both compare with the paper's.

>>> votes = [CategoryVote("p", "m", label, "key", "Algebra") for label in ("Algebra", "Geometry", "UNPARSED")]
>>> found = category_agreement(votes)
>>> found["both"], found["same"], found["unparsed"], found["kappa"]
(2, 1, 1, 0.0)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from creativemath_utils import figures, published
from creativemath_utils.categories import UNPARSED
from creativemath_utils.corpus_figures import figure_1_beside, figure_2_beside
from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.metrics import competition_label, figure_1_counts, figure_2_counts, percent
from creativemath_utils.records import CATEGORIES, CategoryVote, Problem, Sample, competition_order
from creativemath_utils.reliability import cohen
from creativemath_utils.store import write_atomic

# Rows of dropped.jsonl that stand for a whole problem or page: they say so by `where`, or, after a repair, by reason.
WHOLE = ("page", "row")
WHOLE_REASONS = ("same_problem", "no_solutions")


@dataclass(frozen=True)
class CorpusRecord:
    """What notebook 01 has made of a corpus.

    `read` are the problems of the corpus, `problems` those that the run keeps of them, `samples` what it asks about,
    `left_out` the rows of dropped.jsonl, `votes` a model's word on the categories.
    """

    run: str
    read: Sequence[Problem]
    problems: Sequence[Problem]
    samples: Sequence[Sample]
    left_out: Sequence[Mapping[str, Any]] = ()
    votes: Sequence[CategoryVote] = ()


def write_corpus_report(record: CorpusRecord, folder: Path, labels: Mapping[str, str] | None = None) -> list[Path]:
    """Write corpus.md and its two figures (corpus_figure_1, corpus_figure_2; png and pdf) into `folder`; their paths.

    `labels` gives the label of the model that named categories, by its name.
    """
    by_category, by_n = figure_1_counts(record.problems), figure_2_counts(record.problems)
    written = [
        *figures.save(figure_1_beside(by_category, record.run), Path(folder) / "corpus_figure_1"),
        *figures.save(figure_2_beside(by_n, record.run), Path(folder) / "corpus_figure_2"),
    ]
    parts = [
        f"# The corpus of {plain_markdown(record.run)}",
        *_size(record),
        *_by_competition(record),
        *_by_category(by_category),
        *_by_n(by_n),
        *_left_out(record.left_out),
        *_warnings(record.problems),
        *_categories(record.votes, labels or {}),
    ]
    path = Path(folder) / "corpus.md"
    write_atomic(path, ("\n\n".join(parts) + "\n").encode("utf-8", "replace"))
    return [path, *written]


# --- a model's categories beside those given --------------------------------------------------------------------------


def category_agreement(votes: Iterable[CategoryVote]) -> dict[str, Any]:
    """How far a model's categories agree with those that the source gives.

    asked, unparsed (replies that name none), new (named where the source gives none), both (named by both), same, kappa
    (Cohen's, -1..1) with its asymptotic 95 % interval kappa_low, kappa_high. None: undefined, over an empty base or
    where both always say the same; no interval where one of them does.
    """
    votes = list(votes)
    table = confusion(votes).reindex(columns=CATEGORIES).to_numpy()
    kappa, low, high = cohen(table)
    return {
        "asked": len(votes),
        "unparsed": sum(vote.label == UNPARSED for vote in votes),
        "new": sum(vote.given is None and vote.label != UNPARSED for vote in votes),
        "both": int(table.sum()),
        "same": int(np.trace(table)),
        "kappa": kappa,
        "kappa_low": low,
        "kappa_high": high,
    }


def confusion(votes: Iterable[CategoryVote]) -> pd.DataFrame:
    """Problems with a given category by it (rows) and by the model's word (columns: the seven, then UNPARSED)."""
    counts = pd.DataFrame(0, index=list(CATEGORIES), columns=[*CATEGORIES, UNPARSED])
    for vote in votes:
        if vote.given is not None:
            counts.loc[vote.given, vote.label] += 1
    return counts.rename_axis(index="given", columns="model")


def _categories(votes: Sequence[CategoryVote], labels: Mapping[str, str]) -> list[str]:
    if not votes:
        return []
    found, name = category_agreement(votes), plain_markdown(labels.get(votes[0].model, votes[0].model))
    asked = (
        f"{name} was asked for the category of {found['asked']} problems. Replies that take no one side (unparsed): "
        f"{found['unparsed']}. Problems that had no category and have one now: {found['new']}. A category that the "
        "source gives stays."
    )
    if not found["both"]:
        return ["## Categories by a model", asked, "No problem has a category of both, so agreement is not known."]
    kappa = "n/a" if found["kappa"] is None else f"{found['kappa']:.2f}"
    if found["kappa_low"] is not None:
        kappa += f" ({found['kappa_low']:.2f} to {found['kappa_high']:.2f})"
    table = confusion(votes)
    table = table.loc[table.sum(axis=1) > 0]
    return [
        "## Categories by a model",
        asked,
        f"Where both name one, they agree on {found['same']} of {found['both']} "
        f"({percent(found['same'], found['both'])} %); Cohen's kappa with its 95 % interval: {kappa}. 0 is chance, 1 "
        "is full agreement. The given categories are one reading, too: a problem may well belong to two.",
        "Given categories by row, the model's by column:",
        pipe_table([[given, *row] for given, row in zip(table.index, table.to_numpy().tolist(), strict=True)],
                   ["given", *table.columns]),
    ]  # fmt: skip


# --- counts, beside the paper's ---------------------------------------------------------------------------------------


def _size(record: CorpusRecord) -> list[str]:
    solutions = sum(problem.n for problem in record.problems)
    selected = len(record.read) != len(record.problems)
    read = f", out of {len(record.read):,} with {sum(p.n for p in record.read):,}" if selected else ""
    limited = "" if solutions == len(record.samples) else f" of {solutions:,}, by the profile's limit"
    return [
        f"{len(record.problems):,} problems with {solutions:,} solutions{read}; {len(record.samples):,} samples"
        f"{limited} (a problem with n solutions gives n: k = 1..n).",
    ]


def _by_competition(record: CorpusRecord) -> list[str]:
    whole, evaluated = published.load("figure1").sum(), published.load("subset_counts").sum(axis=1)
    samples = Counter(sample.problem.competition for sample in record.samples)
    rows: list[list[Any]] = []
    for name in competition_order(problem.competition for problem in record.problems):
        members = [problem for problem in record.problems if problem.competition == name]
        rated = [problem.difficulty for problem in members if problem.difficulty is not None]
        span = f"{min(rated):g} to {max(rated):g}" if rated else "none" if members else ""
        counts = (len(members), sum(p.n for p in members), samples[name], span, len(members) - len(rated))
        label = competition_label(name)
        rows.append([plain_markdown(label), *counts, whole.get(label, ""), evaluated.get(label, "")])
    sums = [sum(row[column] or 0 for row in rows) for column in (1, 2, 3, 5, 6, 7)]
    rows.append(["in all", *sums[:3], "", *sums[3:]])
    return [
        "## By competition",
        pipe_table(rows, ["Competition", "Problems", "Solutions", "Samples", "Difficulty", "without difficulty",
                          "paper: all", "paper: evaluated"]),
        "The paper's whole data set is counted by the cells of its Figure 1, the problems it evaluated by the released "
        "file.",
    ]  # fmt: skip


def _by_category(counts: pd.DataFrame) -> list[str]:
    theirs = published.load("figure1").sum(axis=1)
    ours, whole = counts.sum(axis=1), int(theirs.sum())
    known = int(ours[theirs.index].sum())  # of a problem without a category nobody knows that it is no Algebra
    rows = [
        [name, ours[name], _share(ours[name], known), *_beside(ours[name], known, int(theirs[name]), whole)]
        for name in theirs.index
    ]
    rows += [[name, count, "", "", "", ""] for name, count in ours.drop(theirs.index).items()]
    return [
        "## By category",
        pipe_table(rows, ["Category", "Problems", "%", "paper", "%", "difference in points"]),
        "![Figure 1 beside the paper's](corpus_figure_1.png)",
    ]


def _by_n(counts: pd.DataFrame) -> list[str]:
    theirs, evaluated = (published.load(name).sum() for name in ("figure2_digitised", "subset_counts"))
    ours, total, whole = counts.sum(), int(counts.to_numpy().sum()), int(theirs.sum())
    names = max(list(ours.index), list(theirs.index), key=len)
    rows = []
    for name in names:
        count, printed = int(ours.get(name, 0)), int(theirs[name]) if name in theirs else None
        beside = _beside(count, total, printed, whole)
        rows.append([name.removeprefix("n"), count, _share(count, total), *beside, evaluated.get(name, 0)])
    return [
        "## By number of solutions",
        pipe_table(rows, ["n", "Problems", "%", "paper", "%", "difference in points", "paper: evaluated"]),
        f"The paper's are read off the picture of its Figure 2 and good to a few problems a bar; it shows no n beyond "
        f"{len(theirs)}, so its shares are of the {whole:,} problems that it shows.",
        "![Figure 2 beside the paper's](corpus_figure_2.png)",
    ]


def _beside(count: int, total: int, printed: int | None, whole: int) -> list[Any]:
    """The paper's count and share, and by how many percentage points ours differs; blanks where it has none."""
    if printed is None:
        return ["", "", ""]
    difference = f"{100 * (count / total - printed / whole):+.2f}" if total else "n/a"
    return [printed, _share(printed, whole), difference]


def _share(count: int, total: int) -> str:
    return percent(count, total) or "n/a"


# --- what was left out ------------------------------------------------------------------------------------------------


def is_whole(row: Mapping[str, Any]) -> bool:
    """Whether a row of dropped.jsonl stands for a whole problem, page or row, rather than for a part of one."""
    return row["where"] in WHOLE if "where" in row else row["reason"] in WHOLE_REASONS


def left_out_counts(left_out: Iterable[Mapping[str, Any]], whole: bool) -> pd.DataFrame:
    """Rows of dropped.jsonl by reason, the commonest first: of whole problems by competition, or of parts of them.

    Columns reason, number; for whole problems then one for each competition that is known, and `unknown`.
    """
    rows = [row for row in left_out if is_whole(row) == whole]
    counts = Counter(row["reason"] for row in rows)
    table = pd.DataFrame(sorted(counts.items(), key=lambda item: (-item[1], item[0])), columns=["reason", "number"])
    if not whole or not rows:
        return table
    known = [competition_label(row.get("competition") or "unknown") for row in rows]
    if set(known) == {"unknown"}:
        return table
    by = Counter(zip((row["reason"] for row in rows), known, strict=True))
    order = map(competition_label, competition_order(row["competition"] for row in rows if row.get("competition")))
    for name in [name for name in (*order, "unknown") if name in known]:
        table[name] = [by[reason, name] for reason in table["reason"]]
    return table


def _left_out(left_out: Sequence[Mapping[str, Any]]) -> list[str]:
    parts = ["## What was left out"]
    tables = [left_out_counts(left_out, whole) for whole in (True, False)]
    if all(table.empty for table in tables):
        return [*parts, "Nothing."]
    about = ("Whole pages or problems, by reason:", "Parts of them (lines, sections, single solutions), by rule:")
    for words, table in zip(about, tables, strict=True):
        if not table.empty:
            rows = [[plain_markdown(row[0]), *row[1:]] for row in table.to_numpy().tolist()]
            parts += [words, pipe_table(rows, list(table.columns))]
    return [*parts, "Each with its text stands in dropped.jsonl."]


def _warnings(problems: Sequence[Problem]) -> list[str]:
    counts = Counter(warning for problem in problems for warning in set(problem.warnings)).most_common()
    if not counts:
        return []
    rows = [[plain_markdown(warning), count] for warning, count in counts]
    return ["## Warnings on problems that were kept", pipe_table(rows, ["Warning", "Problems"])]
