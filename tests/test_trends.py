"""Slopes and their tests on samples few enough to work out, and beside statsmodels' GEE on many."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from creativemath_utils.records import KitError
from creativemath_utils.uncertainty.trends import (
    ALL_MODELS,
    ALL_SAMPLES,
    COLUMNS,
    FIRST_K,
    SAME_PROBLEMS,
    TRENDS,
    VIEWS,
    smallest_difference,
    trend,
    trends,
    what_cells_show,
)

pytestmark = pytest.mark.filterwarnings("error")
C, N_OVER_C = "correctness_ratio", "novelty_to_correctness_ratio"
DECISIONS = {"-": (False, False, False), "c": (True, False, False), "n": (True, True, True), "?": (None, None, None)}


def outcomes(problems, model="m", difficulty=None):
    """Problems by name, a letter for each k = 1, 2, ...: - wrong, c correct, n novel, ? undecided."""
    rows = [
        (name, k, len(letters), (difficulty or {}).get(name, np.nan), model, *DECISIONS[letter])
        for name, letters in problems.items()
        for k, letter in enumerate(letters, 1)
    ]
    columns = ["problem_id", "k", "n", "difficulty", "generator", "correct", "novel", "novel_unknown"]
    frame = pd.DataFrame(rows, columns=columns, dtype=object)
    return frame.astype({"k": int, "n": int, "difficulty": float})


def numbered(*letters):
    return {f"p{i:02}": text for i, text in enumerate(letters)}


def row(table, model="m"):
    return table[table["generator"] == model].iloc[0]


@pytest.mark.parametrize(
    ("problems", "view", "slope", "p"),
    [
        (["-c"] * 6, SAME_PROBLEMS, 1.0, 2 / 64),  # each rises from 0 to 1; signs all + or all -
        (["-c"] * 6, ALL_SAMPLES, 1.0, 2 / 64),
        (["-c", "c-"] * 3, SAME_PROBLEMS, 0.0, 1.0),
        (["-cc"], ALL_SAMPLES, 0.5, 1.0),  # of x = -1, 0, 1: (0 + 1) / 2; one problem is no evidence
        # Easy problems have two solutions, hard ones one: C rises from 1/2 to 1 by k, in no problem by itself
        (["cc"] * 6 + ["-"] * 6, SAME_PROBLEMS, 0.0, 1.0),
        (["cc"] * 6 + ["-"] * 6, ALL_SAMPLES, 0.5, None),
        (["?c"] * 6, SAME_PROBLEMS, 1.0, 2 / 64),  # undecided counts as not
    ],
)
def test_slopes_in_k_by_hand(problems, view, slope, p):
    table = trend(outcomes(numbered(*problems)), C, "k", view)
    assert tuple(table.columns) == COLUMNS
    for model in ("m", ALL_MODELS):  # all models are this one
        found = row(table, model)
        assert found["slope"] == pytest.approx(slope)
        if p is not None:
            assert found["p_value"] == found["p_holm"] == p


def test_novelty_is_counted_among_the_correct_alone():
    """n - k is 1 at k = 1 and 0 at k = 2: both novel solutions are at 1, and the wrong one at 0 is no sample."""
    found = row(trend(outcomes(numbered("nc", "nc", "n-")), N_OVER_C, "n_minus_k"))
    assert (found["slope"], found["samples"]) == (1.0, 5)
    within = row(trend(outcomes(numbered("nc", "nc", "n-")), N_OVER_C, "n_minus_k", SAME_PROBLEMS))
    assert (within["slope"], within["problems"], within["p_value"]) == (
        1.0,
        2,
        2 / 4,
    )  # the third has one correct alone


def test_difficulty_and_what_has_none():
    """C is 1 at difficulty 1 and 0 at 5: -1/4 a step. The problem without a difficulty is left out, and counted."""
    known = {"p00": 1, "p01": 1, "p02": 5, "p03": 5}
    table = outcomes(numbered("c-", "c-", "-c", "-c", "cc"), difficulty=known)
    first = row(trend(table, C, "difficulty", FIRST_K))
    assert (first["slope"], first["samples"], first["left_out"]) == (-0.25, 4, 1)
    assert first["p_value"] == 2 / 16
    every = row(trend(table, C, "difficulty", ALL_SAMPLES))
    assert (every["slope"], every["samples"], every["left_out"]) == (0.0, 8, 2)


def test_models_together_are_centred_each_at_its_own_mean():
    """The hard problems are solved by the novel model alone, whose N/C is 1 everywhere, and the other's is 0."""
    known = {"p00": 1, "p01": 1, "p02": 5, "p03": 5}
    new = outcomes(numbered("n", "n", "n", "n"), "new", known)
    old = outcomes(numbered("c", "c", "-", "-"), "old", known)
    found = row(trend(pd.concat([new, old]), N_OVER_C, "difficulty", FIRST_K), ALL_MODELS)
    assert (found["slope"], found["samples"], found["p_value"]) == (0.0, 6, 1.0)  # by mere counts it would rise


@pytest.mark.parametrize(
    ("problems", "along", "samples", "note", "p"),
    [
        (["cc"] * 12, "k", 24, "all came out the same", 1.0),
        (["--"] * 12, "k", 24, "all came out the same", 1.0),
        (["c"] * 6 + ["-"] * 6, "k", 12, "all at one place", np.nan),  # k = 1 everywhere
        (["c-", "-c", "cc"], "k", 6, "fewer than 10 problems", 1.0),
        ([], "k", 0, "no sample", np.nan),
        (["c-"] * 12, "difficulty", 0, "no sample", np.nan),  # none is known
    ],
)
def test_what_cannot_be_told(problems, along, samples, note, p):
    found = row(trend(outcomes(numbered(*problems)), C, along, VIEWS[along][0], ["m"]))
    assert (found["samples"], found["note"]) == (samples, note)
    assert found[["low", "high"]].isna().all()
    assert found["p_value"] == pytest.approx(p, nan_ok=True)


def test_a_cell_without_an_error_is_no_obstacle():
    """All correct at the highest k: a logistic regression may not converge, a slope is there."""
    found = row(trend(outcomes(numbered(*["-c"] * 8, *["cc"] * 8)), C, "k", SAME_PROBLEMS))
    assert found["slope"] == 0.5
    assert found["low"] < 0.5 < found["high"]
    assert found["p_value"] == 2 / 2**8  # eight problems move, all one way


def simulated(effect, problems=300, seed=3):
    """A run whose problems differ much in how hard they are, and C rises with k by `effect` a step, in log odds."""
    draw = np.random.default_rng(seed)
    sizes = draw.integers(1, 5, problems)
    ease = draw.normal(0, 1.5, problems)
    drawn = {
        f"p{i:03}": "".join(
            "c" if draw.random() < 1 / (1 + np.exp(-ease[i] - effect * k)) else "-" for k in range(size)
        )
        for i, size in enumerate(sizes)
    }
    return outcomes(drawn)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_p_is_near_that_of_a_gee(seed):
    """The score test of a logistic GEE, clusters the problems: the same score, beside a chi-square distribution."""
    table = simulated(0.15, seed=seed)
    y, x = table["correct"].astype(float).to_numpy(), table["k"].to_numpy(dtype=float)
    clusters = pd.factorize(table["problem_id"])[0]
    with_k = sm.GEE(y, np.column_stack([np.ones_like(x), x]), groups=clusters, family=sm.families.Binomial())
    without = sm.GEE(y, np.ones((len(x), 1)), groups=clusters, family=sm.families.Binomial()).fit()
    expected = with_k.compare_score_test(without)["p-value"]
    assert row(trend(table, C, "k"))["p_value"] == pytest.approx(float(np.squeeze(expected)), abs=0.03)


def test_order_seed_and_the_slope_of_a_straight_line():
    table = simulated(0.3)
    found = trend(table, C, "k", seed=1)
    slope = np.polyfit(table["k"].to_numpy(dtype=float), table["correct"].to_numpy(dtype=float), 1)[0]
    assert row(found)["slope"] == pytest.approx(slope)
    assert row(found)["low"] < slope < row(found)["high"]
    pd.testing.assert_frame_equal(found, trend(table.sample(frac=1, random_state=0), C, "k", seed=1), check_exact=True)
    assert row(found)["low"] != row(trend(table, C, "k", seed=2))["low"]


def test_all_trends_of_the_paper():
    known = {f"p{i:02}": 1 + i % 3 for i in range(12)}
    one, two = (outcomes(numbered(*["nc", "-n", "c"] * 4), model, known) for model in ("one", "two"))
    found = trends(pd.concat([one, two]), resamples=50)
    shown = found[["ratio", "along", "view"]].drop_duplicates().itertuples(index=False, name=None)
    assert list(shown) == [(ratio, along, view) for ratio, along in TRENDS for view in VIEWS[along]]
    assert found["generator"].tolist() == ["one", "two", ALL_MODELS] * 8
    alone = found["generator"] == ALL_MODELS
    assert (found["p_holm"] >= found["p_value"])[~alone].all()
    assert found.loc[alone, "p_holm"].equals(found.loc[alone, "p_value"])  # one test, nothing to correct


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("correctness", "k"), "correctness_ratio"),
        ((C, "year"), "along 'year'"),
        ((C, "k", FIRST_K), "known are k: all samples, same problems"),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(KitError, match=message):
        trend(outcomes(numbered("c")), *arguments)


@pytest.mark.parametrize(
    ("problems", "tests", "smallest"),
    [
        (8, 1, 6 / 8),  # 2 / 2^6 = 0.031
        (5, 1, None),  # 2 / 2^5 = 0.063: five problems show nothing
        (42, 1, 6 / 42),
        (8, 45, None),  # among ten models 2 / 2^8 x 45 = 0.35
        (42, 45, 11 / 42),  # 2 / 2^11 x 45 = 0.044
        (1, 1, None),
    ],
)
def test_the_smallest_difference_that_could_be_found(problems, tests, smallest):
    found = smallest_difference(problems, tests)
    assert found == pytest.approx(smallest) if smallest else np.isnan(found)


def test_what_cells_can_show():
    """8 problems with two solutions, 34 one: cells of 42 and 8 samples, as the paper's at k = 3 and 4; three models."""
    table = pd.concat([outcomes(numbered(*["cc"] * 8, *["c"] * 34), model) for model in "abc"])
    found = what_cells_show(table, "k")
    assert found[["cell", "samples", "problems"]].to_numpy().tolist() == [[1, 42, 42], [2, 8, 8]]
    assert found["smallest_difference"].tolist() == [6 / 42, 6 / 8]
    assert found["smallest_difference_holm"].tolist() == pytest.approx([7 / 42, 7 / 8])  # 2 / 2^7 x 3 pairs = 0.047
    assert found["all_low"].tolist() == pytest.approx([42 / 45.8415, 8 / 11.8415], abs=1e-4)
    assert found.loc[1, "widest"] == pytest.approx(0.5695, abs=1e-3)  # 4 of 8: 2 x 1.96 sqrt(2 + 0.9604) / 11.8415
    assert what_cells_show(table, "n_minus_k")["samples"].tolist() == [42, 8]
    assert what_cells_show(table.iloc[:0], "k").empty
    with pytest.raises(KitError, match="difficulty"):
        what_cells_show(table, "difficulty")
