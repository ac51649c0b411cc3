"""Intervals of ratios, on counts small enough to check by hand, and on simulated runs whose true ratio is known."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from creativemath_utils.metrics import RATIOS, summarize
from creativemath_utils.records import KitError
from creativemath_utils.uncertainty import intervals
from creativemath_utils.uncertainty.intervals import COLUMNS, ratio_intervals, wilson
from creativemath_utils.uncertainty.resampling import percentiles

pytestmark = pytest.mark.filterwarnings("error")
WRONG, OLD, KNOWN, NEW = (False, False, False), (True, False, False), (True, True, False), (True, True, True)
OPEN = (None, None, None)  # correctness is undecided
NOVEL_OPEN = (True, None, None)


def outcomes(*samples, **columns):
    """Samples (problem, decisions), in this order; k counts up within a problem."""
    rows, seen = [], {}
    for problem, (correct, novel, novel_unknown) in samples:
        seen[problem] = seen.get(problem, 0) + 1
        rows.append((problem, seen[problem], "m", correct, novel, novel_unknown))
    names = ["problem_id", "k", "generator", "correct", "novel", "novel_unknown"]
    return pd.DataFrame(rows, columns=names, dtype=object).assign(**columns)


def ratio(table, name="correctness_ratio"):
    return table[table["ratio"] == name].iloc[0]


@pytest.mark.parametrize(
    ("numerator", "denominator", "interval"),
    [
        (30, 42, (0.5643, 0.8283)),  # (30 + 1.9207) / 45.8415 -+ 1.96 sqrt(30 * 12 / 42 + 0.9604) / 45.8415
        (8, 8, (0.6756, 1.0)),  # 8 / (8 + 3.8415)
        (0, 1, (0.0, 0.7935)),  # 3.8415 / 4.8415
        (0, 0, (np.nan, np.nan)),  # nothing is not nought
    ],
)
def test_wilson(numerator, denominator, interval):
    assert wilson(numerator, denominator) == pytest.approx(interval, abs=1e-4, nan_ok=True)


def test_counts_are_those_of_the_tables():
    table = outcomes(("p", NEW), ("p", KNOWN), ("q", OLD), ("q", WRONG), ("r", OPEN))
    found, summary = ratio_intervals(table), summarize(table, "generator")
    assert tuple(found.columns) == ("generator", *COLUMNS)
    assert found["ratio"].tolist() == list(RATIOS)
    assert dict(zip(found["ratio"], found["value"], strict=True)) == summary[list(RATIOS)].iloc[0].to_dict()
    assert found[["numerator", "denominator"]].to_numpy().tolist() == [[3, 5], [2, 5], [1, 5], [2, 3], [1, 2]]
    assert found["problems"].tolist() == [3, 3, 3, 2, 1]  # with a sample, a correct one, a novel one


@pytest.mark.parametrize("level", [0.3, 0.5, 0.8, 0.95])
def test_the_bootstrap_beside_all_that_could_be_drawn(level, monkeypatch):
    """Three problems with 2/2, 1/3 and 0/1: there are 27 equally likely draws of three, from 0/3 to 6/6."""
    monkeypatch.setattr(intervals, "FEW_PROBLEMS", 0)
    of_problem = [(2, 2), (1, 3), (0, 1)]
    draws = [sum(over for over, _ in draw) / sum(base for _, base in draw) for draw in product(of_problem, repeat=3)]
    samples = [("a", OLD)] * 2 + [("b", OLD)] + [("b", WRONG)] * 2 + [("c", WRONG)]
    found = ratio(ratio_intervals(outcomes(*samples), level=level, resamples=20_000))
    assert (found["low"], found["high"]) == pytest.approx(percentiles(np.repeat(draws, 1000), level, 3))
    assert not found["widened"]


def test_the_bootstrap_beside_the_binomial():
    """50 problems with one sample, 25 correct: 18 or fewer of 50 come with 3.2 %, 17 with 1.6; the tail is 2.1 %."""
    samples = [(f"p{i}", OLD if i % 2 else WRONG) for i in range(50)]
    found = ratio(ratio_intervals(outcomes(*samples), resamples=20_000))
    assert (found["low"], found["high"]) == (18 / 50, 32 / 50)
    assert (found["wilson_low"], found["wilson_high"]) == pytest.approx((0.3664, 0.6336), abs=1e-4)


def test_samples_of_a_problem_that_agree_count_as_one():
    """Each problem five times over is no more evidence for the bootstrap, though Wilson's thinks so."""
    one = [(f"p{i}", OLD if i % 2 else WRONG) for i in range(40)]
    once, five = (ratio(ratio_intervals(outcomes(*one * times))) for times in (1, 5))
    assert (once["low"], once["high"]) == (five["low"], five["high"])
    assert five["wilson_high"] - five["wilson_low"] < 0.5 * (once["wilson_high"] - once["wilson_low"])


@pytest.mark.parametrize(
    ("samples", "name", "low", "high"),
    [
        # No width is no certainty: Wilson's with problems for samples, 3.8415 / (problems + 3.8415) away from the value
        ([(f"p{i}", OLD) for i in range(27)], "correctness_ratio", 0.8754, 1.0),
        ([(f"p{i % 12}", NEW) for i in range(27)], "novelty_to_correctness_ratio", 0.7575, 1.0),  # 12 problems
        ([(f"p{i}", WRONG) for i in range(20)], "correctness_ratio", 0.0, 0.1611),
        ([("p", OLD), ("p", WRONG), ("p", WRONG)], "correctness_ratio", 0.0253, 0.9058),  # one problem: as 1/3 of 1
        ([("p", NEW), *[(f"q{i}", WRONG) for i in range(19)]], "novelty_to_correctness_ratio", 0.2065, 1.0),  # 1 of 1
        # Nothing to count from
        ([(f"p{i}", WRONG) for i in range(20)], "novelty_to_correctness_ratio", np.nan, np.nan),
    ],
)
def test_where_resamples_know_nothing(samples, name, low, high):
    found = ratio(ratio_intervals(outcomes(*samples)), name)
    assert (found["low"], found["high"]) == pytest.approx((low, high), abs=1e-4, nan_ok=True)
    assert found["widened"] == (not np.isnan(low))


def test_resamples_without_a_base_are_left_out_and_their_share_is_told():
    """One problem of 20 has a correct answer: (19 / 20)^20 = 0.358 of the draws miss it."""
    found = ratio_intervals(outcomes(("p", NEW), *[(f"q{i}", WRONG) for i in range(19)]))
    assert ratio(found)["undefined_share"] == 0
    assert ratio(found, "novelty_to_correctness_ratio")["undefined_share"] == pytest.approx(0.358, abs=0.05)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [  # of 5: one new, one old, one wrong, one open in correctness, one correct and open in novelty
        ("correctness_ratio", 3 / 5, 4 / 5),
        ("novelty_ratio", 1 / 5, 3 / 5),
        ("novel_unknown_ratio", 1 / 5, 3 / 5),
        ("novelty_to_correctness_ratio", 1 / 4, 3 / 4),  # the open one joins the correct, novel or not
        ("novel_unknown_to_novelty_ratio", 1 / 3, 3 / 3),
    ],
)
def test_what_undecided_samples_could_change(name, low, high):
    samples = [("a", NEW), ("b", OLD), ("c", WRONG), ("d", OPEN), ("e", NOVEL_OPEN)]
    found = ratio(ratio_intervals(outcomes(*samples)), name)
    assert (found["undecided_low"], found["undecided_high"]) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("by", "keys"),
    [
        ((), [()]),
        ("generator", [("m",)]),
        (("generator", "difficulty"), [("m", 1.5), ("m", None)]),  # an unknown difficulty is a group of its own
        (["difficulty"], [(1.5,), (None,)]),
    ],
)
def test_groups(by, keys):
    table = outcomes(("p", OLD), ("q", WRONG), difficulty=[1.5, np.nan])
    found = ratio_intervals(table, by)
    names = [by] if isinstance(by, str) else list(by)
    rows = found.loc[found["ratio"] == "correctness_ratio", names].astype(object)
    assert [tuple(row) for row in rows.where(rows.notna(), None).to_numpy().tolist()] == keys or not names
    assert len(found) == len(keys) * len(RATIOS)


def test_a_group_draws_from_its_own_problems():
    """All that a model has is its interval: another model with other problems changes nothing."""
    mine = outcomes(*[(f"p{i}", OLD if i % 3 else WRONG) for i in range(30)])
    other = outcomes(*[(f"q{i}", OLD) for i in range(50)]).assign(generator="other")
    alone, beside = ratio_intervals(mine), ratio_intervals(pd.concat([mine, other]))
    pd.testing.assert_frame_equal(alone, beside[beside["generator"] == "m"].reset_index(drop=True))


def test_the_order_of_rows_changes_nothing_and_the_seed_does():
    table = outcomes(*[(f"p{i % 30}", [WRONG, OLD, NEW][i * i % 7 % 3]) for i in range(80)])
    found = ratio_intervals(table, seed=1)
    pd.testing.assert_frame_equal(
        found, ratio_intervals(table.sample(frac=1, random_state=0), seed=1), check_exact=True
    )
    assert not found["low"].equals(ratio_intervals(table, seed=2)["low"])


def test_nothing_at_all():
    empty = outcomes()
    assert ratio_intervals(empty).empty
    row = ratio(ratio_intervals(empty, by=()))
    assert row["denominator"] == 0
    assert row[["value", "low", "high", "wilson_low", "undecided_low"]].isna().all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"level": 95}, "level 95"), ({"resamples": 0}, "resamples 0"), ({"by": "nowhere"}, "no column nowhere")],
)
def test_arguments_that_cannot_be(arguments, message):
    with pytest.raises(KitError, match=message):
        ratio_intervals(outcomes(("p", OLD)), **arguments)


@pytest.mark.parametrize("problems", [15, 60])
def test_intervals_cover_the_true_ratio(problems):
    """300 invented runs whose problems are easy (0.9) or hard (0.3), 1 to 4 samples each, so C is 0.6 in truth.

    95 % of the bootstrap's intervals should hold it (three standard errors: 0.91 to 0.99); Wilson's, which take the
    samples for independent, hold it less often.
    """
    draw = np.random.default_rng(7)
    runs = 300
    chance = draw.choice([0.3, 0.9], size=(runs, problems))
    rows = [(run, f"{p:03}", 1 + i) for run in range(runs) for p in range(problems) for i in range(1 + p % 4)]
    table = pd.DataFrame(rows, columns=["run", "problem_id", "k"])
    correct = draw.random(len(rows)) < chance[table["run"], table["problem_id"].astype(int)]
    table = table.assign(correct=correct, novel=False, novel_unknown=False)
    found = ratio_intervals(table, "run", resamples=500)
    found = found[found["ratio"] == "correctness_ratio"]
    covered, by_wilson = (
        ((found[low] <= 0.6) & (found[high] >= 0.6)).mean()
        for low, high in (("low", "high"), ("wilson_low", "wilson_high"))
    )
    assert 0.91 <= covered <= 0.99
    assert by_wilson < covered - 0.03
