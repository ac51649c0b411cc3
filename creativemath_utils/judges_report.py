"""judges.md of a run: how its judges and its panel stand beside reference labels, and how far judges agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from creativemath_utils.records import Label, Solution, Vote
from creativemath_utils.reliability import judges_against_labels, judges_among_themselves, panel_against_labels
from creativemath_utils.store import write_atomic
from creativemath_utils.table_formats import RunInfo, pipe_table, plain_markdown

ABOUT_LABELS = (
    "Reference labels are what a careful reader says of a solution: does it end on the right result, is it unlike the "
    "k solutions shown, unlike all n? Those of the demo are the kit's own: made in two passes that did not see each "
    "other or any vote, disagreements settled in a third (data/demo/README.md). They are no panel of mathematicians. "
    "Labels of your own go to data/human/labels.jsonl and win over these."
)
COUNTS = ("right_yes", "wrong_yes", "wrong_no", "right_no", "unparsed")
HEADER = (
    "labelled",
    "right YES",
    "wrong YES",
    "wrong NO",
    "right NO",
    "no verdict",
    "precision of YES",
    "recall",
    "kappa",
)


def write_judges_report(
    outcomes: pd.DataFrame,
    solutions: Sequence[Solution],
    votes: Sequence[Vote],
    labels: Sequence[Label],
    folder: Path,
    info: RunInfo,
) -> Path:
    """Write judges.md into `folder`; its path. Ratios in percent, kappa and alpha from -1 to 1 with 95 % intervals."""
    parts = [f"# The judges of {plain_markdown(info.run)}", *map(plain_markdown, info.notes)]
    judges = judges_against_labels(votes, solutions, labels)
    if len(judges):
        panel = panel_against_labels(outcomes, solutions, labels)
        named = [
            [plain_markdown(info.judges.get(r["judge"], r["judge"])), r["stage"], *_cells(r)] for r in _rows(judges)
        ]
        parts += [
            "## Beside reference labels",
            ABOUT_LABELS,
            "Each judge, by stage. Kappa (Cohen) is agreement beyond chance: 0 is none, 1 is full; n/a where one side "
            "always says the same.",
            pipe_table(named, ["Judge", "Stage", *HEADER]),
            "The panel: correct by all judges, novel by the majority; novelty is asked only of what the panel found "
            "correct.",
            pipe_table([[r["decision"], *_cells(r)] for r in _rows(panel)], ["Decision", *HEADER]),
        ]
    else:
        parts += ["## Beside reference labels", "No solution of this run has a label."]
    among = [
        [r["stage"], r["judges"], r["solutions"], _interval(r["alpha"], r["alpha_low"], r["alpha_high"])]
        for r in _rows(judges_among_themselves(votes))
    ]
    parts += [
        "## Among themselves",
        "Krippendorff's alpha over solutions with two verdicts or more: 0 is chance, 1 is full agreement; the interval "
        "is by resampling problems, since samples of one problem are not independent.",
        pipe_table(among, ["Stage", "Judges", "Solutions", "Alpha (95 % interval)"]),
    ]
    path = Path(folder) / "judges.md"
    write_atomic(path, ("\n\n".join(parts) + "\n").encode("utf-8", "replace"))
    return path


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return table.astype(object).where(table.notna(), None).to_dict("records")


def _cells(row: Mapping[str, Any]) -> list[str]:
    counts = [str(row[name]) for name in ("labelled", *COUNTS)]
    ratios = ["n/a" if row[name] is None else f"{100 * row[name]:.1f}" for name in ("precision", "recall")]
    return [*counts, *ratios, _interval(row["kappa"], row["kappa_low"], row["kappa_high"])]


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "n/a"
    return f"{value:.2f}" if low is None or high is None else f"{value:.2f} ({low:.2f} to {high:.2f})"
