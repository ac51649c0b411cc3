"""How far judges agree, and how alike models are: both counted from the votes.

A vote without a verdict is no opinion: it neither agrees nor disagrees, and a pair of models that the judges leave open
is undecided, not different.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

import pandas as pd

from creativemath_utils.judge import majority
from creativemath_utils.records import STAGES, PairVote, Vote

PAIRS = "pairs"  # the stage, in a judge's profile, of the votes on pairs of models


def judge_profile(votes: Iterable[Vote | PairVote]) -> pd.DataFrame:
    """How each judge votes at each stage: the number of votes, those of each verdict, and their shares 0..1.

    Votes on pairs of models appear as a stage `pairs`. A judge that says YES to everything tells nothing.
    """
    frame = _vote_frame(votes)
    counts = frame.groupby(["judge", "stage", "verdict"], observed=True).size().unstack("verdict", fill_value=0)
    counts = counts.reindex(columns=["YES", "NO", "UNPARSED"], fill_value=0)
    counts.insert(0, "votes", counts.sum(axis=1))
    for verdict in ("YES", "NO", "UNPARSED"):
        counts[f"{verdict.lower()}_ratio"] = counts[verdict] / counts["votes"]
    return counts.reset_index().rename_axis(columns=None)


def judge_agreement(votes: Iterable[Vote | PairVote]) -> pd.DataFrame:
    """How often two judges agree at a stage: the solutions on which both gave a verdict, and those with the same.

    Columns stage, judge, other, both, same, agreement_ratio (0..1, undefined over an empty base).
    """
    frame = _vote_frame(votes)
    clear = frame[frame["verdict"] != "UNPARSED"]
    rows = []
    for stage, of_stage in clear.groupby("stage", observed=True):
        ballots = of_stage.set_index(["question", "judge"])["verdict"].unstack("judge")
        for judge, other in combinations(sorted(frame.loc[frame["stage"] == stage, "judge"].unique()), 2):
            pair = ballots.reindex(columns=[judge, other]).dropna()
            same = int((pair[judge] == pair[other]).sum())
            ratio = same / len(pair) if len(pair) else float("nan")
            rows.append((stage, judge, other, len(pair), same, ratio))
    return pd.DataFrame(rows, columns=["stage", "judge", "other", "both", "same", "agreement_ratio"])


def _vote_frame(votes: Iterable[Vote | PairVote]) -> pd.DataFrame:
    rows = [
        (v.judge, PAIRS, v.verdict, (v.problem_id, v.k, v.reference_generator, v.generator))
        if isinstance(v, PairVote)
        else (v.judge, v.stage, v.verdict, (v.problem_id, v.k, v.generator))
        for v in votes
    ]
    frame = pd.DataFrame(rows, columns=["judge", "stage", "verdict", "question"])
    return frame.astype({"stage": pd.CategoricalDtype([*STAGES, PAIRS], ordered=True)})


def common_novel_samples(outcomes: pd.DataFrame, models: Sequence[str]) -> list[tuple[str, int]]:
    """The samples (problem_id, k), sorted, for which every one of `models` gave a novel solution. Section 5.5, Q4."""
    novel = outcomes[outcomes[["correct", "novel"]].astype(object).eq(True).all(axis=1)]  # an open one (None) is not
    of_model = [novel.loc[novel["generator"] == model, ["problem_id", "k"]] for model in models]
    samples = [set(rows.itertuples(index=False, name=None)) for rows in of_model]
    return sorted(set.intersection(*samples)) if samples else []


def similarity(
    pair_votes: Iterable[PairVote], models: Sequence[str], judges: Sequence[str], samples: Sequence[tuple[str, int]]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """How many of the common `samples` two models solved alike, and how many the judges left open.

    Two symmetric integer tables, models by models. A pair is alike where the majority says NO, the second solution is
    not novel beside the first. The diagonal of the first table is the number of samples. Section 5.5, Q4.
    """
    given = {(v.problem_id, v.k, v.reference_generator, v.generator, v.judge): v.verdict for v in pair_votes}

    def panel(sample: tuple[str, int], first: str, second: str) -> list[str]:
        """The judges' verdicts on a pair, which they saw once, in the order of the run's own list of models."""
        orders = [(*sample, first, second), (*sample, second, first)]
        return [next((given[*o, judge] for o in orders if (*o, judge) in given), "UNPARSED") for judge in judges]

    alike = pd.DataFrame(0, index=list(models), columns=list(models))
    undecided = alike.copy()
    for model in models:
        alike.loc[model, model] = len(samples)
    for first, second in combinations(models, 2):
        decisions = [majority(panel(sample, first, second)) for sample in samples]
        alike.loc[first, second] = alike.loc[second, first] = decisions.count(False)
        undecided.loc[first, second] = undecided.loc[second, first] = decisions.count(None)
    return alike, undecided


def asymmetry(
    pair_votes: Iterable[PairVote], models: Sequence[str], judges: Sequence[str], samples: Sequence[tuple[str, int]]
) -> pd.DataFrame:
    """How often a pair of models comes out otherwise when the second is the reference: a row for each pair.

    Columns first, second, both (samples decided in both directions), differing, differing_ratio (0..1, undefined over
    an empty base). With pairs asked in one direction alone `both` is 0.
    """
    given = {(v.problem_id, v.k, v.reference_generator, v.generator, v.judge): v.verdict for v in pair_votes}
    rows = []
    for first, second in combinations(models, 2):
        decided = [
            [majority([given.get((*sample, *way, judge), "UNPARSED") for judge in judges])
             for way in ((first, second), (second, first))]
            for sample in samples
        ]  # fmt: skip
        clear = [pair for pair in decided if None not in pair]
        differing = sum(there is not back for there, back in clear)
        rows.append((first, second, len(clear), differing, differing / len(clear) if clear else float("nan")))
    return pd.DataFrame(rows, columns=["first", "second", "both", "differing", "differing_ratio"])


def similarity_ratio(alike: pd.DataFrame, undecided: pd.DataFrame | None = None) -> pd.DataFrame:
    """Similarity 0..1 of models from the counts of `similarity`, over the samples that were decided.

    Undefined (NaN) for a pair none of whose samples was decided. With nothing undecided it is the paper's: similar
    samples over samples.
    """
    samples = alike.to_numpy().diagonal().max(initial=0)
    base = samples - (undecided if undecided is not None else 0 * alike)
    return alike / base.where(base > 0)
