"""Judges that agree and models that are alike, on votes few enough to count by hand."""

import pandas as pd

from creativemath_utils import agreement
from creativemath_utils.records import PairVote, Vote

JUDGES = ("a", "b", "c")
VERDICTS = {"Y": "YES", "N": "NO", "?": "UNPARSED"}


def votes_of(votes, k=1):
    """Votes from a short text by stage: {"correctness": "YYN"}, a judge a letter, '-' for a vote that is missing."""
    return [
        Vote("p", k, "m", stage, judge, VERDICTS[letter], "key")
        for stage, letters in votes.items()
        for judge, letter in zip(JUDGES, letters, strict=True)
        if letter != "-"
    ]


def pair_votes(letters, first="x", second="y", sample=("p", 1)):
    return [
        PairVote(*sample, first, second, judge, VERDICTS[letter], "key")
        for judge, letter in zip(JUDGES, letters, strict=True)
        if letter != "-"
    ]


def test_common_novel_samples():
    rows = [("x", "p", 1, True), ("x", "p", 2, True), ("x", "q", 1, True), ("y", "q", 1, True), ("y", "p", 1, True)]
    rows += [("y", "p", 2, None), ("z", "p", 1, False)]
    frame = pd.DataFrame(rows, columns=["generator", "problem_id", "k", "novel"]).assign(correct=True)
    assert agreement.common_novel_samples(frame, ["x", "y"]) == [("p", 1), ("q", 1)]  # p, 2 is open for y
    assert agreement.common_novel_samples(frame, ["x", "y", "z"]) == []
    assert agreement.common_novel_samples(frame, []) == []


def test_similarity_counts_majority_no_and_keeps_the_open_apart():
    samples = [("p", 1), ("p", 2), ("q", 1)]
    votes = [
        *pair_votes("NNY", sample=samples[0]),  # alike
        *pair_votes("YYN", sample=samples[1]),  # different
        *pair_votes("NY?", sample=samples[2]),  # open
        *pair_votes("NNN", second="z", sample=samples[0]),
        *pair_votes("NNN", second="z", sample=("other", 1)),  # not a common sample
    ]
    alike, undecided = agreement.similarity(votes, ["x", "y", "z"], JUDGES, samples)
    assert alike.to_numpy().tolist() == [[3, 1, 1], [1, 3, 0], [1, 0, 3]]
    assert undecided.to_numpy().tolist() == [[0, 1, 2], [1, 0, 3], [2, 3, 0]]
    ratio = agreement.similarity_ratio(alike, undecided)
    assert ratio.loc["x", "y"] == 1 / 2  # of the two that were decided
    assert pd.isna(ratio.loc["y", "z"])  # no verdict at all: undefined, not different
    assert ratio.loc["x", "x"] == 1


def test_similarity_without_common_samples_is_undefined():
    alike, undecided = agreement.similarity([], ["x", "y", "z"], JUDGES, [])
    assert agreement.similarity_ratio(alike, undecided).isna().all(axis=None)


def test_judge_profile():
    votes = [
        *votes_of({"correctness": "YN?", "coarse": "YYN"}),
        *votes_of({"correctness": "YYY"}, k=2),
        *pair_votes("N--"),
    ]
    profile = agreement.judge_profile(votes).set_index(["judge", "stage"])
    assert tuple(profile.loc[("c", "correctness"), ["votes", "YES", "NO", "UNPARSED"]]) == (2, 1, 0, 1)
    assert profile.loc[("c", "correctness"), "unparsed_ratio"] == 0.5
    assert profile.loc[("a", "pairs"), "no_ratio"] == 1
    assert list(profile.loc["a"].index) == ["correctness", "coarse", "pairs"]  # in the order of judging
    assert agreement.judge_profile([]).empty


def test_judge_agreement_counts_only_where_both_gave_a_verdict():
    votes = [*votes_of({"correctness": "YN?"}), *votes_of({"correctness": "YYY"}, k=2)]
    found = agreement.judge_agreement(votes).set_index(["judge", "other"])
    assert tuple(found.loc[("a", "b"), ["both", "same", "agreement_ratio"]]) == (2, 1, 0.5)
    assert tuple(found.loc[("a", "c"), ["both", "same", "agreement_ratio"]]) == (1, 1, 1.0)
    never = agreement.judge_agreement(votes_of({"coarse": "Y?N"})).set_index(["judge", "other"])
    assert pd.isna(never.loc[("a", "b"), "agreement_ratio"])
    assert agreement.judge_agreement([]).empty


def test_asymmetry_of_pairs_asked_both_ways():
    """Of three samples: alike both ways, alike one way only, open one way."""
    samples = [("p", 1), ("p", 2), ("p", 3)]
    there = [("NNN", "NNN"), ("NNN", "YYN"), ("NN?", "Y??")]
    votes = [
        vote
        for sample, (forth, back) in zip(samples, there, strict=True)
        for vote in pair_votes(forth, "x", "y", sample) + pair_votes(back, "y", "x", sample)
    ]
    assert agreement.asymmetry(votes, ["x", "y"], JUDGES, samples).to_numpy().tolist() == [["x", "y", 2, 1, 0.5]]
    one_way = pair_votes("NNN", "x", "y", ("p", 1))
    (row,) = agreement.asymmetry(one_way, ["x", "y"], JUDGES, samples).to_dict("records")
    assert (row["both"], row["differing"]) == (0, 0) and pd.isna(row["differing_ratio"])
