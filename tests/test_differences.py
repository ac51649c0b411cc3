"""Pairs of models on few problems, by hand; and a test that keeps its level where models differ in their base."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from creativemath_utils.records import KitError
from creativemath_utils.uncertainty.differences import COLUMNS, _compare, holm, paired_differences

pytestmark = pytest.mark.filterwarnings("error")
N_OVER_C = "novelty_to_correctness_ratio"
DECISIONS = {"-": (False, False, False), "c": (True, False, False), "n": (True, True, False), "u": (True, True, True)}


def outcomes(models, problems=None):
    """Models by name, a letter a sample: - wrong, c correct, n novel, u novel-unknown; a space: not there.

    `problems` names the problem of each sample, by default each its own.
    """
    rows = []
    for name, letters in models.items():
        for i, letter in enumerate(letters):
            if letter != " ":
                problem = problems[i] if problems else f"{i:02}"
                k = 1 + (problems or "")[:i].count(problem)
                rows.append((problem, k, name, *DECISIONS[letter]))
    names = ["problem_id", "k", "generator", "correct", "novel", "novel_unknown"]
    return pd.DataFrame(rows, columns=names, dtype=object)


def only(table):
    assert len(table) == 1
    return table.iloc[0]


@pytest.mark.parametrize(
    ("first", "second", "difference", "differing", "p"),
    [
        ("cccccccc----", "--------cccc", 4 / 12, 12, 1588 / 4096),  # 8 against 4: twice the binomial's 794 of 4,096
        ("cccccccccccc", "cccccc------", 6 / 12, 6, 2 / 64),  # six that differ, all one way: the fewest for 5 %
        ("ccccc-------", "------------", 5 / 12, 5, 2 / 32),
        ("ccc---------", "---ccc------", 0.0, 6, 1.0),
        ("cccccc------", "cccccc------", 0.0, 0, 1.0),  # the same answers: nothing speaks for a difference
    ],
)
def test_paired_shares_by_hand(first, second, difference, differing, p):
    found = only(paired_differences(outcomes({"a": first, "b": second})))
    assert found["difference"] == pytest.approx(difference)
    assert (found["samples"], found["problems"], found["differing"]) == (12, 12, differing)
    assert found["p_value"] == found["p_holm"] == p  # the sign test, which it is where a problem has one sample
    assert found["low"] <= found["difference"] <= found["high"]
    turned = only(paired_differences(outcomes({"b": first, "a": second})))
    assert (turned["difference"], turned["p_value"]) == (-found["difference"], p)


def test_samples_of_a_problem_are_one_piece_of_evidence():
    """Six samples of which all speak for one model: six problems give 2/64, two problems of three samples 2/4."""
    models = {"a": "cccccc", "b": "------"}
    assert only(paired_differences(outcomes(models)))["p_value"] == 2 / 64
    found = only(paired_differences(outcomes(models, problems="pppqqq")))
    assert (found["p_value"], found["problems"], found["samples"]) == (2 / 4, 2, 6)


def test_ratios_of_counts_by_hand():
    """N/C is 2/4 and 1/2. Under one ratio for both, 3/6, no problem adds more than the next: all patterns, by hand.

    Scores: novel (1 - 1/2) / base, known (0 - 1/2) / base: of a 1/8, 1/8, -1/8, -1/8, of b 1/4, -1/4, less.
    """
    found = only(paired_differences(outcomes({"a": "nncc--", "b": "----nc"}), N_OVER_C))
    assert (found["first_value"], found["second_value"], found["difference"]) == (0.5, 0.5, 0.0)
    assert (found["differing"], found["p_value"]) == (6, 1.0)
    all_and_none = only(paired_differences(outcomes({"a": "nnn---", "b": "---ccc"}), N_OVER_C))
    assert (all_and_none["difference"], all_and_none["p_value"]) == (1.0, 2 / 64)  # each adds 1/6


def test_models_with_different_samples_are_compared_on_those_in_common():
    table = outcomes({"a": "cc--c", "b": "c-c- ", "c": "    c", "d": ""})
    found = paired_differences(table, generators=["a", "b", "c", "d"]).set_index(["first", "second"])
    assert found["samples"].to_dict() == {
        **{("a", "b"): 4, ("a", "c"): 1, ("a", "d"): 0},
        **{("b", "c"): 0, ("b", "d"): 0, ("c", "d"): 0},
    }
    assert found.loc[("a", "b"), "first_value"] == 2 / 4  # not 3/5: the fifth sample is a's alone
    none = found.loc[("b", "c")]
    assert none[["first_value", "difference", "low", "high", "p_value", "p_holm"]].isna().all()
    assert found.loc[("a", "b"), "p_holm"] == 1.0


def test_an_empty_base_is_no_difference():
    found = only(paired_differences(outcomes({"a": "nc--", "b": "----"}), N_OVER_C))
    assert (found["first_value"], found["samples"]) == (0.5, 4)
    assert found[["second_value", "difference", "low", "high", "p_value", "p_holm"]].isna().all()


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [  # Wilson's upper limit for 0 of 20 is 3.8415 / 23.8415 = 0.1611
        ("c" * 20, "c" * 20, -0.1611, 0.1611),
        ("c" * 20, "-" * 20, 1 - 2 * 0.1611, 1.0),  # that share of problems could come out the other way round
        ("c" * 5, "c" * 5, -0.4345, 0.4345),  # of 5: 3.8415 / 8.8415
    ],
)
def test_no_width_is_no_certainty(first, second, low, high):
    found = only(paired_differences(outcomes({"a": first, "b": second})))
    assert (found["low"], found["high"]) == pytest.approx((low, high), abs=1e-4)
    assert found["widened"]


def test_holm_by_hand():
    """0.01 x 3, then the larger of that and 0.02 x 2, then 0.3; what is undefined is no comparison."""
    assert holm([0.3, 0.01, np.nan, 0.02]) == pytest.approx([0.3, 0.03, np.nan, 0.04], nan_ok=True)
    assert holm([0.04, 0.03]) == pytest.approx([0.06, 0.06])  # never below one that is smaller
    assert len(holm([])) == 0


def test_holm_over_all_pairs_can_be_passed_whatever_their_number():
    """16 models are 120 pairs: with 100 patterns of signs none could come below 5 %, so more are drawn."""
    models = {f"m{i:02}": "c" * 30 if i else "-" * 30 for i in range(16)}
    found = paired_differences(outcomes(models), resamples=100)
    assert len(found) == 120
    assert (found.loc[found["first"] == "m00", "p_holm"] < 0.05).all()
    assert (found.loc[found["first"] != "m00", "p_holm"] == 1).all()


def test_order_and_seed():
    draw = np.random.default_rng(0)
    table = outcomes({name: "".join(draw.choice(list("-cnu"), 60)) for name in "abc"}, problems="pqrstuvwxyzABCD" * 4)
    found = paired_differences(table, N_OVER_C, seed=1)
    assert tuple(found.columns) == COLUMNS
    shuffled = table.sample(frac=1, random_state=0)
    pd.testing.assert_frame_equal(found, paired_differences(shuffled, N_OVER_C, seed=1), check_exact=True)
    assert not found["low"].equals(paired_differences(table, N_OVER_C, seed=2)["low"])
    assert found[["first", "second"]].to_numpy().tolist() == [["a", "b"], ["a", "c"], ["b", "c"]]


@pytest.mark.parametrize(
    ("table", "ratio", "message"),
    [
        (outcomes({"a": "c"}), "correctness", "correctness_ratio"),  # the nearest name is told
        (pd.concat([outcomes({"a": "c"})] * 2), "correctness_ratio", "a has '00' with k = 1 twice"),
    ],
)
def test_what_is_refused(table, ratio, message):
    with pytest.raises(KitError, match=message):
        paired_differences(table, ratio)


def test_one_model_or_none_has_no_pair():
    assert paired_differences(outcomes({"a": "cc"})).empty
    assert paired_differences(outcomes({})).empty


def test_the_level_is_kept_where_one_model_is_right_nine_times_as_often():
    """400 invented runs, 150 problems: C is 0.9 and 0.1, N/C is 0.5 for both. 5 % may be told apart, +- 3 errors.

    To swap the two models' answers would not do: it would lend the second the first's many correct samples.
    """
    draw = np.random.default_rng(5)
    correct = draw.random((150, 400, 2)) < [0.9, 0.1]
    novel = correct & (draw.random(correct.shape) < 0.5)
    rows = _compare(np.stack([novel, correct], axis=-1).astype(float), 200, 500, 0, 0.95)
    told = np.mean([row["p_value"] <= 0.05 for row in rows])
    covered = np.mean([row["low"] <= 0 <= row["high"] for row in rows])
    assert 0.018 <= told <= 0.083
    assert 0.91 <= covered <= 0.99
