"""The section of comparison.md on the released code's rules: its counts beside the kit's, and every sample between."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import pandas as pd

from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.metrics import summarize
from creativemath_utils.models import Model
from creativemath_utils.records import Vote
from creativemath_utils.released import (
    DECISIONS,
    K_IS_N,
    NO_SOLUTION,
    NO_VERDICT,
    NOT_JUDGED,
    UNEXPLAINED,
    ReleasedRules,
    released_ratios,
)
from creativemath_utils.table_formats import RunInfo
from creativemath_utils.tables import labels

MOST_LISTED = 400  # of one model and reason: enough for every sample of the paper's subset that can differ
ABOUT = (
    "To the released code a vote without a verdict is a NO, so nothing is undecided; with k = n its script writes NO "
    "at the last stage, where the paper has Novel-Unknown; a ratio over nothing is 0, where it is n/a here. How it "
    "reads a reply is in judges.md: here both sets of rules get the same votes."
)
LEGEND = (
    "Counts of samples; where there are two, the kit's and the released code's. Then the samples that differ, by reason"
)
MEANING = {
    K_IS_N: "novel, and no human solution left to compare with",
    NO_VERDICT: "undecided here by votes without a verdict, NO there",
    NOT_JUDGED: "truncated, and left out of the judging by the run's settings",
    NO_SOLUTION: "votes on an answer that was blocked, refused or failed",
    UNEXPLAINED: "for a reason that the rules do not give",
}


def released_section(
    outcomes: pd.DataFrame, votes: Sequence[Vote], models: Sequence[Model], info: RunInfo
) -> list[str]:
    """Paragraphs: counts by model under both sets of rules, whether they differ as expected, and where they differ.

    All that is said is found from these votes. Samples are folded, up to MOST_LISTED of one model and reason.
    """
    if not votes:
        return ["No votes yet."]
    rules = ReleasedRules(votes, list(info.judges))
    differing, as_notebook = rules.differences(outcomes), rules.differences(outcomes, at_k_n="YES")
    ours = summarize(outcomes, "generator").set_index("generator")
    theirs = released_ratios(rules.decide(outcomes)).set_index("generator")
    names = {name: label for name, label in labels(models).items() if name in theirs.index}
    ours, theirs = ours.loc[list(names)], theirs.loc[list(names)]
    reasons = [reason for reason in MEANING if reason in (K_IS_N, UNEXPLAINED) or (differing["reason"] == reason).any()]
    by_reason = pd.crosstab(differing["generator"], differing["reason"])
    by_reason = by_reason.reindex(index=list(names), columns=reasons, fill_value=0)
    rows = []
    for name, label in names.items():
        counted = [(ours.loc[name, decision], theirs.loc[name, decision]) for decision in DECISIONS]
        cells = [f"{here}" if here == there else f"{here}, {there}" for here, there in counted]
        rows.append([plain_markdown(label), *cells, *by_reason.loc[name]])
    meaning = "; ".join(f"*{reason}*: {MEANING[reason]}" for reason in reasons)
    return [
        ABOUT,
        f"{LEGEND} ({meaning}).",
        pipe_table(rows, ["Model", "C", "N", "Nu", *reasons]),
        " ".join(_findings(ours, theirs, by_reason, as_notebook, names)),
        *_samples(differing, names),
    ]


def _findings(
    ours: pd.DataFrame,
    theirs: pd.DataFrame,
    by_reason: pd.DataFrame,
    as_notebook: pd.DataFrame,
    names: Mapping[str, str],
) -> list[str]:
    """Sentences on what agrees and what does not; what should agree and does not is bold."""

    def of(differs: pd.Series) -> str:
        return plain_markdown(", ".join(label for name, label in names.items() if differs[name]))

    expected = int(by_reason[K_IS_N].sum())
    novelty_off = (ours["correct"] != theirs["correct"]) | (ours["novel"] != theirs["novel"])
    unknown_off = ours["novel_unknown"] - theirs["novel_unknown"] != by_reason[K_IS_N]
    found = [
        f"**C or N differs: {of(novelty_off)}.**" if novelty_off.any() else "C and N agree for every model.",
        f"**Nu differs by more than the samples with k = n: {of(unknown_off)}.**"
        if unknown_off.any()
        else f"Nu differs by just the novel samples with k = n, {expected} in all.",
    ]
    still_open = int((as_notebook["ours"] == "undecided").sum())
    if len(as_notebook) == still_open:
        found.append("With YES for k = n, as in the release's analysis notebook, Nu agrees, too.")
    if still_open:
        found.append(
            f"Undecided here and NO there: {still_open}. That changes no count, since an undecided sample is not "
            "counted as correct, novel or Novel-Unknown, but shown."
        )
    if unexplained := int(by_reason[UNEXPLAINED].sum()):
        found.append(
            f"**Unexplained: {unexplained}. Votes and decisions do not belong together, or a rule is at fault.**"
        )
    for shown, column in (("N/C", "novelty_to_correctness_ratio"), ("Nu/N", "novel_unknown_to_novelty_ratio")):
        if (undefined := ours[column].isna()).any():
            found.append(f"{shown} is n/a here and 0 there: {of(undefined)}.")
    return found


def _samples(differing: pd.DataFrame, names: Mapping[str, str]) -> list[str]:
    """Every sample on which the rules differ, folded by model; where not all are listed, how many more there are."""
    parts = []
    for name, label in names.items():
        of_model = differing[differing["generator"] == name]
        if of_model.empty:
            continue
        lines = []
        for kind, group in of_model.groupby(["reason", "decision", "ours", "released"], sort=False):
            reason, decision, here, there = kind
            listed = group.head(MOST_LISTED)[["problem_id", "k", "n"]].itertuples(index=False)
            places = "; ".join(f"{plain_markdown(problem)} (k = {k} of {n})" for problem, k, n in listed)
            more = f"; and {len(group) - MOST_LISTED} more" if len(group) > MOST_LISTED else ""
            about = f"{reason}: {len(group)}, {decision.replace('_', '-')} {here} here, {there} there"
            lines.append(f"- *{about}.* {places}{more}")
        title = html.escape(" ".join(label.split())).replace("$", "&#36;")  # no Markdown inside this tag
        parts += [f"<details>\n<summary>{title}: {len(of_model)}</summary>", "\n".join(lines), "</details>"]
    return ["The samples, by model:", *parts] if parts else []
