"""Counts, draws of problems and turned signs, each beside what can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from creativemath_utils.records import KitError
from creativemath_utils.uncertainty import resampling
from creativemath_utils.uncertainty.resampling import (
    LADDER,
    OPEN,
    count_samples,
    percentiles,
    resampled_sums,
    sign_flip_p,
)

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize(
    ("decisions", "counted", "left_open"),
    [
        ((True, True, True), (1, 1, 1, 1), (0, 0, 0)),
        ((True, True, None), (1, 1, 1, 0), (0, 0, 1)),  # an open decision is not, and is known as open
        ((True, None, None), (1, 1, 0, 0), (0, 1, 0)),  # open at the first stage that is: later ones were not asked
        ((None, None, None), (1, 0, 0, 0), (1, 0, 0)),
        ((False, None, None), (1, 0, 0, 0), (0, 0, 0)),  # wrong: nothing is open
        ((False, True, True), (1, 0, 0, 0), (0, 0, 0)),  # novelty counts among the correct alone
        ((True, False, True), (1, 1, 0, 0), (0, 0, 0)),
    ],
)
def test_what_a_sample_counts_for(decisions, counted, left_open):
    row = dict(zip(("correct", "novel", "novel_unknown"), decisions, strict=True))
    found = count_samples(pd.DataFrame([{"problem_id": "p", **row}], dtype=object)).loc[0]
    assert tuple(found[list(LADDER)]) == counted
    assert tuple(found[list(OPEN)]) == left_open


@pytest.mark.parametrize(
    ("columns", "message"),
    [(["nowhere"], "no column nowhere"), (["correct"], "cannot be grouped by correct")],
)
def test_columns_that_cannot_be(columns, message):
    outcomes = pd.DataFrame(columns=["problem_id", "correct", "novel", "novel_unknown"])
    with pytest.raises(KitError, match=message):
        count_samples(outcomes, columns)


def test_draws_are_of_whole_problems_and_as_many_as_there_are():
    """Two problems with 1 and 10: twice the first, one of each, or twice the second, as 1 : 2 : 1."""
    sums = resampled_sums(np.array([[1.0, 1.0], [10.0, 1.0]]), resamples=4000, seed=1)
    values, times = np.unique(sums[:, 0], return_counts=True)
    assert values.tolist() == [2, 11, 20]
    assert times / 4000 == pytest.approx([0.25, 0.5, 0.25], abs=0.03)  # four standard errors
    assert set(sums[:, 1]) == {2}  # two problems each time


def test_the_same_seed_gives_the_same_draws_in_parts_of_any_size(monkeypatch):
    counts = np.arange(10.0)[:, None]
    whole = resampled_sums(counts, 50, seed=3)
    assert (resampled_sums(counts, 50, seed=3) == whole).all()
    assert (resampled_sums(counts, 50, seed=4) != whole).any()
    monkeypatch.setattr(resampling, "PART", 30)  # three rows at once
    assert (resampled_sums(counts, 50, seed=3) == whole).all()


@pytest.mark.parametrize(
    ("problems", "tail"),
    [
        (20, 0.0159),  # Student's t with 19 degrees of freedom is 2.093; times sqrt(20 / 19) it is 2.147
        (400, 0.0245),
        (10**6, 0.025),  # the normal
        (1, 0.0),  # one problem: all that was drawn
    ],
)
def test_tails_are_cut_shorter_with_few_problems(problems, tail):
    low, high = percentiles(np.append(np.linspace(0, 1, 10_001), np.nan), 0.95, problems)
    assert (low, high) == pytest.approx((tail, 1 - tail), abs=1e-4)


@pytest.mark.parametrize(
    ("scores", "p"),
    [
        ([1, 1, 1], 2 / 8),  # +++ and ---
        ([1, 1, 1, 0, 0], 2 / 8),  # a problem that adds nothing changes nothing
        ([1, 1, -1], 8 / 8),  # any pattern sums to 1 or 3
        ([2, 1, -1], 6 / 8),  # the sums are 4, 2, 2, 0 and their opposites
        ([1] * 6, 2 / 64),  # the fewest that can reach 5 %
        ([0.3, 0.6, -0.1], 4 / 8),  # the sums are 0.8, 1.0, 0.4, 0.2: the first two reach 0.8
        ([0, 0], 1.0),  # nothing speaks against it
        ([], 1.0),
        ([1, np.nan], None),
    ],
)
def test_p_by_all_patterns_of_signs(scores, p):
    found = sign_flip_p(np.array(scores, dtype=float)[:, None])[0]
    assert np.isnan(found) if p is None else found == p


def test_rounding_does_not_break_a_tie():
    """1 + 2 - 3 + 6 is 6, and so are -1 - 2 + 3 + 6 and, of tenths, their sums but for rounding."""
    whole = np.array([[1.0], [2], [-3], [6]])
    assert sign_flip_p(whole / 10)[0] == sign_flip_p(whole * 0.7)[0] == sign_flip_p(whole)[0] == 10 / 16


def test_p_by_random_patterns_is_near_the_exact_one(monkeypatch):
    scores = np.array([[3.0], [1], [2], [2], [-1], [1], [1], [-2], [1], [2]])
    exact = sign_flip_p(scores)[0]
    monkeypatch.setattr(resampling, "EXACT_PROBLEMS", 3)
    found = sign_flip_p(scores, flips=4000, seed=0)[0]
    assert found == pytest.approx(exact, abs=0.02)
    assert sign_flip_p(scores, flips=4000, seed=0)[0] == found
    assert sign_flip_p(np.ones((40, 1)), flips=99)[0] == 1 / 100  # the observed pattern is one of them: p is never 0
