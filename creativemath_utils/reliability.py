"""Are the judges right, and do they agree? Votes and decisions beside reference labels, and beside one another.

A label is what a careful reader says of a solution; it is looked up by the key of the answer, so it holds for just the
text that was read. Votes without a verdict are counted apart: they are neither right nor wrong.

    >>> against(["YES", "YES", "NO", "UNPARSED"], [True, False, False, True])["kappa"]
    0.4
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import krippendorff
import numpy as np
import pandas as pd
from statsmodels.stats.inter_rater import cohens_kappa

from creativemath_utils.records import STAGES, Label, Solution, Vote

LABEL_OF = {"correctness": "same_result", "coarse": "novel", "fine": "novel_unknown"}  # stage -> what judges are asked
DECISIONS = ("correct", "novel", "novel_unknown")
RESAMPLES = 2000


def judges_against_labels(
    votes: Iterable[Vote], solutions: Iterable[Solution], labels: Iterable[Label]
) -> pd.DataFrame:
    """Each judge at each stage beside the labels, a row each; columns judge, stage and those of `against`."""
    said = _label_lookup(solutions, labels)
    rows: dict[tuple[str, str], tuple[list[str], list[bool]]] = {}
    for vote in votes:
        label = said.get((vote.problem_id, vote.k, vote.generator))
        truth = getattr(label, LABEL_OF[vote.stage]) if label else None
        if truth is not None:
            verdicts, truths = rows.setdefault((vote.judge, vote.stage), ([], []))
            verdicts.append(vote.verdict)
            truths.append(truth)
    ordered = sorted(rows, key=lambda place: (place[0], STAGES.index(place[1])))
    return pd.DataFrame([{"judge": judge, "stage": stage, **against(*rows[judge, stage])} for judge, stage in ordered])


def panel_against_labels(
    outcomes: pd.DataFrame, solutions: Iterable[Solution], labels: Iterable[Label]
) -> pd.DataFrame:
    """The panel's decisions beside the labels, a row each; columns decision and those of `against`.

    Novelty is asked only of what the panel found correct, as in the protocol; an open decision counts as unparsed.
    """
    said = _label_lookup(solutions, labels)
    rows = []
    for decision in DECISIONS:
        asked = outcomes if decision == "correct" else outcomes[outcomes["correct"].eq(True)]
        pairs = [
            ({True: "YES", False: "NO"}.get(value, "UNPARSED"), getattr(said[place], decision))
            for place, value in zip(
                zip(asked["problem_id"], asked["k"], asked["generator"], strict=True), asked[decision], strict=True
            )
            if place in said and getattr(said[place], decision) is not None
        ]
        rows.append({"decision": decision, **against([v for v, _ in pairs], [t for _, t in pairs])})
    return pd.DataFrame(rows)


def against(verdicts: Sequence[str], truths: Sequence[bool]) -> dict[str, Any]:
    """Verdicts beside the truth: counts, precision and recall of YES (0..1), Cohen's kappa with its 95 % interval.

    The interval is the asymptotic one. Undefined (None) over an empty base, and kappa where both always say the same.
    """
    table = np.zeros((2, 2), dtype=int)  # verdict (NO, YES) by truth (false, true)
    for verdict, truth in zip(verdicts, truths, strict=True):
        if verdict != "UNPARSED":
            table[int(verdict == "YES"), int(truth)] += 1
    false_no, missed, false_yes, hit = table.ravel().tolist()
    counts = {
        "labelled": len(truths),
        "right_yes": hit,
        "wrong_yes": false_yes,
        "wrong_no": missed,
        "right_no": false_no,
    }
    kappa, low, high = cohen(table)
    return {
        **counts,
        "unparsed": len(truths) - int(table.sum()),
        "precision": _ratio(hit, hit + false_yes),
        "recall": _ratio(hit, hit + missed),
        "kappa": kappa,
        "kappa_low": low,
        "kappa_high": high,
    }


def cohen(table: np.ndarray) -> tuple[float | None, float | None, float | None]:
    """Cohen's kappa (-1..1) of a square table of counts, with its asymptotic 95 % interval.

    None where it is undefined: over an empty base, or where both always say the same. No interval where one does.
    """
    varied = [np.count_nonzero(table.sum(axis=axis)) > 1 for axis in (0, 1)]  # each reader's words
    if not table.sum() or (not any(varied) and np.trace(table) == table.sum()):
        return None, None, None
    with np.errstate(invalid="ignore", divide="ignore"):  # where one never varies there is no interval
        found = cohens_kappa(table)
    if not all(varied):
        return float(found.kappa), None, None
    low, high = (float(np.clip(bound, -1, 1)) for bound in (found.kappa_low, found.kappa_upp))
    return float(found.kappa), low, high


def judges_among_themselves(votes: Iterable[Vote], seed: int = 0, resamples: int = RESAMPLES) -> pd.DataFrame:
    """Krippendorff's alpha (nominal) of all judges by stage, with a 95 % interval by resampling problems.

    Columns stage, judges, solutions (with two verdicts or more), alpha, alpha_low, alpha_high. Unlike kappa it takes
    missing verdicts. Undefined where all verdicts are the same; resamples of that kind are left out.
    """
    said = [(v.stage, v.judge, v.verdict, v.problem_id, v.k, v.generator) for v in votes if v.verdict != "UNPARSED"]
    frame = pd.DataFrame(said, columns=["stage", "judge", "verdict", "problem_id", "k", "generator"])
    rows = []
    for stage in STAGES:
        of_stage = frame[frame["stage"] == stage]
        counts = of_stage.groupby(["problem_id", "k", "generator", "verdict"]).size().unstack(fill_value=0)
        counts = counts.reindex(columns=["NO", "YES"], fill_value=0)
        counts = counts[counts.sum(axis=1) >= 2]
        values, problems = counts.to_numpy(), counts.index.get_level_values("problem_id")
        low = high = None
        if _alpha(values) is not None:
            draw = np.random.default_rng(seed)
            members = [np.flatnonzero(problems == problem) for problem in problems.unique()]
            picks = draw.integers(len(members), size=(resamples, len(members)))
            found = [_alpha(values[np.concatenate([members[i] for i in pick])]) for pick in picks]
            low, high = np.percentile([alpha for alpha in found if alpha is not None], [2.5, 97.5]).tolist()
        rows.append((stage, of_stage["judge"].nunique(), len(counts), _alpha(values), low, high))
    return pd.DataFrame(rows, columns=["stage", "judges", "solutions", "alpha", "alpha_low", "alpha_high"])


def _alpha(counts: np.ndarray) -> float | None:
    """Krippendorff's alpha of (units, 2) counts of verdicts; None where there are not two different ones."""
    if (counts.sum(axis=0) > 0).sum() < 2:
        return None
    return float(krippendorff.alpha(value_counts=counts, level_of_measurement="nominal"))


def _label_lookup(solutions: Iterable[Solution], labels: Iterable[Label]) -> dict[tuple[str, int, str], Label]:
    """The label of each solution that has one, found by the key of the answer it was made for."""
    by_key = {label.key: label for label in labels}  # a later one wins: a person's own come after the shipped ones
    return {(s.problem_id, s.k, s.generator): by_key[s.key] for s in solutions if s.key in by_key}


def _ratio(numerator: int, denominator: int) -> float | None:
    return numerator / denominator if denominator else None
