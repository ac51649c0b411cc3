"""judges.md of a run: its judges and its panel beside reference labels, among themselves, and under other rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.metrics import RATIOS, percent
from creativemath_utils.records import Label, Problem, Recheck, Response, Solution, Vote
from creativemath_utils.reliability import judges_against_labels, judges_among_themselves, panel_against_labels
from creativemath_utils.sensitivity import own_family, panel_variants, rule_differences, unparsed_reasons
from creativemath_utils.stability import flips
from creativemath_utils.store import write_atomic
from creativemath_utils.table_formats import RunInfo
from creativemath_utils.uncertainty.intervals import wilson

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

ABOUT_REASONS = {  # those of `sensitivity.REASONS`
    "failed": "the call failed for good",
    "not kept": "the reply is not in the ledger any more",
    "blocked": "the endpoint's filter withheld it",
    "refused": "the model's endpoint marks it as a refusal",
    "truncated": "it was cut off before its end",
    "empty": "nothing is there, or reasoning alone",
    "refusal": "it says that it will not judge",
    "contradiction": "it says both",
    "no verdict": "it says neither",
}


@dataclass(frozen=True)
class PanelRecord:
    """All that a panel has left behind: what was judged, the votes, the replies by key, and labels to hold it against.

    `families` gives the family of generators and judges by name, where one is known.
    """

    problems: Sequence[Problem]
    solutions: Sequence[Solution]
    votes: Sequence[Vote]
    labels: Sequence[Label]
    judges: Sequence[str]
    families: Mapping[str, str | None]
    reply_of: Callable[[str], Response | None]
    judge_truncated: bool = True
    rechecks: Sequence[Recheck] = ()


def write_judges_report(record: PanelRecord, outcomes: pd.DataFrame, folder: Path, info: RunInfo) -> Path:
    """Write judges.md into `folder`; its path. Ratios in percent, kappa and alpha from -1 to 1 with 95 % intervals."""
    shown = {name: plain_markdown(label) for name, label in info.judges.items()}
    parts = [
        f"# The judges of {plain_markdown(info.run)}",
        *map(plain_markdown, info.notes),
        *_beside_labels(record, outcomes, shown),
        *_among_themselves(record),
        *_under_other_rules(record, shown),
        *_asked_again(record, shown),
        *_own_family(record, shown),
        *_without_a_verdict(record, shown),
        *_as_the_release_reads(record, shown),
    ]
    path = Path(folder) / "judges.md"
    write_atomic(path, ("\n\n".join(parts) + "\n").encode("utf-8", "replace"))
    return path


def _beside_labels(record: PanelRecord, outcomes: pd.DataFrame, shown: Mapping[str, str]) -> list[str]:
    judges = judges_against_labels(record.votes, record.solutions, record.labels)
    if judges.empty:
        return ["## Beside reference labels", "No solution of this run has a label."]
    panel = panel_against_labels(outcomes, record.solutions, record.labels)
    named = [[shown.get(r["judge"], r["judge"]), r["stage"], *_cells(r)] for r in _rows(judges)]
    return [
        "## Beside reference labels",
        ABOUT_LABELS,
        "Each judge, by stage. Kappa (Cohen) is agreement beyond chance: 0 is none, 1 is full. A judge that always "
        "says the same has 0, without an interval; n/a where labels and judge both do. Its interval takes solutions as "
        "independent, which those of one problem are not: read it as somewhat too narrow.",
        pipe_table(named, ["Judge", "Stage", *HEADER]),
        "The panel: correct by all judges, novel by the majority; novelty is asked only of what the panel found "
        "correct. Here a label says correct only if the steps hold, too.",
        pipe_table([[r["decision"], *_cells(r)] for r in _rows(panel)], ["Decision", *HEADER]),
    ]


def _among_themselves(record: PanelRecord) -> list[str]:
    rows = [
        [r["stage"], r["judges"], r["solutions"], _interval(r["alpha"], r["alpha_low"], r["alpha_high"])]
        for r in _rows(judges_among_themselves(record.votes))
    ]
    return [
        "## Among themselves",
        "Krippendorff's alpha over solutions with two verdicts or more: 0 is chance, 1 is full agreement; the interval "
        "is by resampling problems, since samples of one problem are not independent.",
        pipe_table(rows, ["Stage", "Judges", "Solutions", "Alpha (95 % interval)"]),
    ]


def _under_other_rules(record: PanelRecord, shown: Mapping[str, str]) -> list[str]:
    variants = panel_variants(record.problems, record.solutions, record.votes, record.judges, record.judge_truncated)
    left_out = {f"without {name}": f"without {label}" for name, label in shown.items()}
    ratios = ("correctness_ratio", "novelty_ratio", "novelty_to_correctness_ratio", "novel_unknown_ratio")
    rows = [
        [
            left_out.get(r["variant"], r["variant"]),
            *(_share(r[over], r[base]) for over, base in map(RATIOS.get, ratios)),
            r["undecided"],
        ]
        for r in _rows(variants)
    ]
    return [
        "## Under other rules, and with a judge left out",
        "All generators together, in percent (counts). Novelty was asked only of what passed under the rules of the "
        "run: what a laxer rule lets through has no votes there, and is undecided.",
        pipe_table(rows, ["Panel", "C", "N", "N/C", "Nu", "Undecided"]),
    ]


def _asked_again(record: PanelRecord, shown: Mapping[str, str]) -> list[str]:
    table = flips(record.rechecks)
    if table.empty:
        return []
    rows = [
        [
            *(r["kind"], shown.get(r["judge"], r["judge"]), r["asked"], _share(r["flipped"], r["clear"])),
            " to ".join(f"{100 * bound:.1f}" for bound in wilson(r["flipped"], r["clear"])) if r["clear"] else "n/a",
        ]
        for r in _rows(table)
    ]
    return [
        "## Asked a second time",
        "The same question again, with its references shuffled, and with the two solutions of a pair swapped: the "
        "share of verdicts that turned round, in percent, of those that were clear both times, with Wilson's 95 % "
        "interval. Asked the same *again*, a judge at temperature 0 or one that is no language model repeats itself, "
        "so that row shows no more than that. A judge that says YES to nearly everything has little to turn.",
        pipe_table(rows, ["Question", "Judge", "Asked", "Turned round", "95 % interval"]),
    ]


def _own_family(record: PanelRecord, shown: Mapping[str, str]) -> list[str]:
    found = own_family(record.votes, record.families)
    if found.empty:
        return []
    rows = [
        [
            shown.get(r["judge"], r["judge"]),
            r["stage"],
            plain_markdown(r["family"]) if r["kin"] else f"not {plain_markdown(r['family'])}",
            _share(r["yes"], r["solutions"]),
            _share(r["others_yes"], r["others_votes"]),
        ]
        for r in _rows(found)
    ]
    return [
        "## Judges of their own family",
        "Share of YES in percent (votes): a judge on solutions by models of its own family and on the others, beside "
        "the other judges' votes on the same solutions. Solutions differ in quality, so compare along a row first.",
        pipe_table(rows, ["Judge", "Stage", "Solutions by", "This judge says YES", "The others say YES"]),
    ]


def _without_a_verdict(record: PanelRecord, shown: Mapping[str, str]) -> list[str]:
    table = unparsed_reasons(record.votes, record.reply_of)
    found = table[table["unparsed"] > 0]
    if found.empty:
        return ["## Replies without a verdict", "Every reply of this run holds one."]
    reasons = list(table.columns[4:])
    rows = [
        [
            shown.get(r["judge"], r["judge"]),
            r["stage"],
            r["votes"],
            r["unparsed"],
            *(r[reason] or "" for reason in reasons),
        ]
        for r in _rows(found)
    ]
    return [
        "## Replies without a verdict",
        "A reply that takes no clear side is neither YES nor NO, and may leave its sample undecided. Why, in replies: "
        + "; ".join(f"*{reason}*: {ABOUT_REASONS[reason]}" for reason in reasons)
        + ". Judges and stages that are not here had a verdict in every reply.",
        pipe_table(rows, ["Judge", "Stage", "Votes", "Without a verdict", *reasons]),
    ]


def _as_the_release_reads(record: PanelRecord, shown: Mapping[str, str]) -> list[str]:
    rows = [
        [shown.get(r["judge"], r["judge"]), r["stage"], r["strict"], r["release"], r["replies"]]
        for r in _rows(rule_differences(record.votes, record.reply_of))
    ]
    about = (
        "The released code takes any upper-case YES in a reply for YES and all else for NO; the strict rule wants a "
        "verdict and knows a third state."
    )
    table = [pipe_table(rows, ["Judge", "Stage", "Strict", "Released", "Replies"])] if rows else []
    return ["## Replies that the released rule reads otherwise", about, *(table or ["No reply of this run differs."])]


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return table.astype(object).where(table.notna(), None).to_dict("records")


def _cells(row: Mapping[str, Any]) -> list[str]:
    counts = [str(row[name]) for name in ("labelled", *COUNTS)]
    ratios = ["n/a" if row[name] is None else f"{100 * row[name]:.1f}" for name in ("precision", "recall")]
    return [*counts, *ratios, _interval(row["kappa"], row["kappa_low"], row["kappa_high"])]


def _share(numerator: int, denominator: int) -> str:
    """Percent with its counts; n/a over an empty base."""
    return f"{percent(numerator, denominator) or 'n/a'} ({numerator}/{denominator})"


def _interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "n/a"
    return f"{value:.2f}" if low is None or high is None else f"{value:.2f} ({low:.2f} to {high:.2f})"
