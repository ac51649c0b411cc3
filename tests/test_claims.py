"""Tests on counts that can be checked by hand, and the paper's claims: verdicts, third states, changed numbers."""

import math
import shutil
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportions_ztest

from creativemath_utils import published
from creativemath_utils.paper import claims, count_tests
from creativemath_utils.paper.claim_list import CLAIMS
from creativemath_utils.paper.count_tests import Comparison, above, at_least, higher, proportion
from creativemath_utils.paper.numbers import read_numbers
from creativemath_utils.records import KitError

pytestmark = pytest.mark.filterwarnings("error")
BY_K = (400, 154, 42, 8, 1)


def fisher(a, m, b, n):
    """The chance that a or more of the a + b positives fall among m of m + n."""
    ways = [math.comb(m, x) * math.comb(n, a + b - x) for x in range(a, min(m, a + b) + 1)]
    return sum(ways) / math.comb(m + n, a + b)


# --- tests on counts ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("a", "m", "b", "n"),
    [
        (8, 8, 272, 400),  # all of a small cell
        (30, 42, 15, 42),
        (3, 3, 0, 3),  # 1 of 20 ways
        (0, 8, 0, 400),  # no positive at all
        (8, 8, 42, 42),  # no negative at all
        (7, 17, 8, 17),
    ],
)
def test_two_proportions_by_fishers_exact_test(a, m, b, n):
    found = higher(proportion("A", a, m), proportion("B", b, n))
    assert found.p_for == pytest.approx(fisher(a, m, b, n))
    assert found.p_against == pytest.approx(fisher(b, n, a, m))
    assert found.favours is (a * n > b * m)
    assert found.worst_for >= found.p_for


def test_the_difference_stands_with_its_interval():
    # Newcombe: from the Wilson intervals 56.43..82.83 and 22.99..50.83 of 71.43 and 35.71
    low = 71.43 - 35.71 - math.hypot(71.43 - 56.43, 50.83 - 35.71)
    high = 71.43 - 35.71 + math.hypot(82.83 - 71.43, 35.71 - 22.99)
    shown = higher(proportion("A", 30, 42), proportion("B", 15, 42)).shown
    assert shown == f"A 30/42 against B 15/42: +35.7 points [{low:+.1f}, {high:+.1f}]"


@pytest.mark.parametrize(
    ("count", "size", "share", "below", "p"),
    [
        (3, 3, 0.5, False, 1 / 8),
        (3, 3, 0.5, True, 1.0),
        (1, 3, 0.5, True, 4 / 8),
        (0, 2, 0.9, True, 0.01),
    ],
)
def test_one_proportion_by_the_binomial_test(count, size, share, below, p):
    assert above(proportion("A", count, size), share, below).p_for == pytest.approx(p)


def test_several_counts_are_tested_with_the_least_favourable_one():
    both = higher(proportion("A", 30, 42, 20, 42), proportion("B", 25, 42))
    worse = higher(proportion("A", 20, 42), proportion("B", 25, 42))
    better = higher(proportion("A", 30, 42), proportion("B", 25, 42))
    assert (both.p_for, both.p_against) == (worse.p_for, better.p_against)
    assert both.favours is None  # on either side of 25
    assert both.shown.startswith("A 30/42 or 20/42 against B 25/42: -11.9 to +11.9 points")


@pytest.mark.parametrize(
    "compare",
    [
        lambda unknown: higher(unknown, proportion("B", 1, 2)),
        lambda unknown: above(unknown, 0.5),
        lambda unknown: count_tests.within(unknown, proportion("B", 1, 2), 0.1),
        lambda unknown: count_tests.scored("", count_tests.trend_scores([proportion("B", 1, 2), unknown], (1, 2))),
        lambda unknown: count_tests.in_order("", [1.0, None]),
        lambda unknown: higher(proportion("A", 0, 0), proportion("B", 1, 2)),  # a ratio over nothing
        lambda unknown: above(proportion("A", 0, 0), 0.5),
        lambda unknown: count_tests.below_the_mean(proportion("A", 1, 2), [proportion("B", 1, 2), unknown]),
        lambda unknown: count_tests.below_the_mean(unknown, [proportion("B", 1, 2)]),
        lambda unknown: count_tests.more_on_average("", [0, 0], [3, 4]),  # no problem at all
        lambda unknown: count_tests.more_on_average("", [0, 1], [3, 4]),  # one has no spread
        lambda unknown: count_tests.more_on_average("", [0, 9], [9, 0]),  # nor have these
        lambda unknown: count_tests.more_on_average("", [-1, 9], [3, 4]),  # no count
    ],
)
def test_unknown_counts_tell_nothing(compare):
    found = compare(proportion("A"))
    assert found.favours is None
    assert (found.p_for, found.p_against, found.worst_for, found.worst_against) == (1, 1, 1, 1)


def test_a_proportion_below_the_mean_of_others():
    found = count_tests.below_the_mean(proportion("A", 10, 100), [proportion("B", 1, 4), proportion("C", 30, 40)])
    error = math.sqrt(0.1 * 0.9 / 100 + (0.25 * 0.75 / 4 + 0.75 * 0.25 / 40) / 2**2)  # 0.5 less 0.1
    assert found.p_for == pytest.approx(1 - NormalDist().cdf(0.4 / error))
    assert found.shown == "A 10/100, which is 10.0%, against a mean of 50.0%"


def test_trend_over_two_columns_is_the_two_proportion_test():
    (score,) = count_tests.trend_scores([proportion("", 15, 42), proportion("", 30, 42)], (1, 2))
    z = proportions_ztest([30, 15], [42, 42])[0]
    assert score.value / score.sd == pytest.approx(z * math.sqrt(83 / 84))  # n - 1 in the place of n
    assert score.worst == pytest.approx(score.sd * math.sqrt(83 / 84) * math.sqrt(2))  # both columns fully together


@pytest.mark.parametrize("counts", [(0, 9, 0, 9), (9, 9, 9, 9)])
def test_trend_without_variation_is_none(counts):
    groups = [proportion("", *counts[:2]), proportion("", *counts[2:])]
    found = count_tests.scored("", count_tests.trend_scores(groups, (1, 2)))
    assert (found.favours, found.p_for, found.p_against) == (False, 0.5, 0.5)


def test_scores_that_are_summed_keep_the_bounds():
    one, two = (count_tests.Score(2, 1, 1), count_tests.Score(-1, 2, 3)), (count_tests.Score(3, 2, 2),)
    low, high = count_tests.total([one, two, []])
    assert low == (2, math.hypot(2, 2), 5)  # the least sum with the widest errors
    assert high == (5, math.hypot(1, 2), 3)
    assert count_tests.total([[], []]) == []


@pytest.mark.parametrize(
    ("values", "p_for", "p_against"),
    [
        ((1, 2, 3), 1 / 6, 1),
        ((3, 2, 1), 1, 1 / 6),
        ((2, 1, 3), 3 / 6, 5 / 6),  # one pair of three the wrong way
        ((1, 1, 2), 3 / 6, 1),  # a tie speaks for neither
    ],
)
def test_orders_by_kendalls_exact_test(values, p_for, p_against):
    found = count_tests.in_order("", values)
    assert (found.p_for, found.p_against) == pytest.approx((p_for, p_against))


def comparison(p_for, p_against=1.0):
    return Comparison(f"{p_for}", p_for < 0.5, p_for, p_against, p_for, p_against)


@pytest.mark.parametrize(
    ("p_values", "needed", "p_for", "decides"),
    [
        ((0.01, 0.02, 0.5), 3, 0.5, "0.5"),  # each: the weakest one
        ((0.01, 0.02, 0.5), 2, 2 * 0.02, "0.02"),  # most
        ((0.01, 0.02, 0.5), 1, 3 * 0.01, "0.01"),  # any: Bonferroni
        ((0.6, 0.7), 1, 1.0, "0.6"),
        ((), 0, 1.0, "nothing to compare"),
    ],
)
def test_a_claim_of_several_comparisons(p_values, needed, p_for, decides):
    found = at_least([comparison(p) for p in p_values], needed)
    assert found.p_for == pytest.approx(p_for)
    assert found.decides_for.shown == decides


def test_one_comparison_refutes_each_but_not_any():
    compared = [comparison(1.0, 0.001), comparison(0.1, 0.9)]
    assert at_least(compared, 2).p_against == 2 * 0.001
    assert at_least(compared, 1).p_against == 0.9  # both would have to fail


def test_holm_is_that_of_statsmodels():
    p_values = [0.01, 0.04, 0.03, 0.9, 0.03]
    assert claims.holm(p_values) == pytest.approx(multipletests(p_values, method="holm")[1].tolist())


def test_no_arrangement_of_the_counts_is_wider_than_the_bound():
    rng = np.random.default_rng(0)
    problem = np.repeat(np.arange(400), [1] * 246 + [2] * 112 + [3] * 34 + [4] * 7 + [5])
    sizes = np.bincount(problem)[problem]
    by_size = np.argsort(-sizes, kind="stable")
    for correct in (1, 72, 302, 423, 604):
        bound = count_tests.widening((correct, 605), BY_K)
        for order in (by_size, by_size[::-1], rng.permutation(605)):  # right where many share a problem, where few do
            right = np.zeros(605)
            right[order[:correct]] = 1
            share = correct / 605
            by_problem = np.bincount(problem, right - share)
            assert math.sqrt((by_problem**2).sum() / (605 * share * (1 - share))) <= bound + 1e-9
    assert count_tests.widening((200, 400), (400,)) == 1  # one sample a problem: nothing hangs together


# --- the paper's claims ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped():
    return claims.claims()


@pytest.fixture
def source(tmp_path):
    return shutil.copytree(published.FOLDER, tmp_path / "published")


def one(table, words):
    """The row of the claim with these words."""
    (row,) = table[table["claim"].str.contains(words, regex=False)].to_dict("records")
    return row


@pytest.mark.parametrize(
    ("words", "verdict", "in_the_numbers"),
    [
        ("Gemini-1.5-Pro is the best of all models in N/C", claims.HOLDS, "yes: 9 of 9"),
        ("Gemini-1.5-Pro is the best of all models in Nu/N", claims.OPEN, "no: 8 of 9"),  # Qwen's is 98.00
        ("have N/C below 50%", claims.OPEN, "yes: 3 of 3; 0 beyond chance"),  # 49.46 of 368 is not below
        ("Llama-3-70B outperforms GPT-4o", claims.HOLDS, "yes"),
        ("Llama-3-70B outperforms Claude-3-Opus", claims.OPEN, "yes"),  # 295 against 270 of 605
        ("a lower C than large ones", claims.HOLDS, "yes: 3 of 3"),
        ("a lower N/C than large ones", claims.OPEN, "no: 2 of 3; 2 beyond chance"),  # Yi 67.69, the seven 67.10
        ("but less than that of Gemini-1.5-Pro", claims.OPEN, "yes: 2 of 2"),  # 32 points from k = 1 to 4; 20, 14
        ("rises less than that of Llama-3-70B", claims.OPEN, "yes: 4 of 4"),  # -6 and 7 points
        ("go ways of their own", claims.OPEN, "yes: 2 of 2"),  # 27 and 19 of 119, Mixtral 44
        ("With four solutions shown", claims.OPEN, "yes"),  # 8 samples
        ("is perfect at n - k = 2", claims.OPEN, "yes"),
        ("C falls with difficulty", claims.HOLDS, "yes"),
        ("consistently", claims.OPEN, "no: 17 of 18"),  # AIME 35.80, USAJMO 37.00
        ("and so in every single competition", claims.FAILS, "no: 78 of 80"),  # AMC 8 and USAJMO
        ("are the most similar pairs", claims.OPEN, "no: 48 of 52"),  # two other pairs tie with each
    ],
)
def test_verdicts_on_the_shipped_numbers(shipped, words, verdict, in_the_numbers):
    row = one(shipped, words)
    assert row["verdict"] == verdict
    assert row["in_the_numbers"].startswith(in_the_numbers)


def test_every_claim_has_one_row_and_the_rules_of_the_verdict(shipped):
    assert shipped["claim"].tolist() == [claim.says for claim in CLAIMS]
    assert not shipped.isna().any().any()
    numbers = shipped[[f"holm_{name}" for name in claims.P_VALUES]]
    assert numbers.stack().between(0, 1).all()
    assert (shipped["holm_p_for"] >= shipped["p_for"]).all()
    assert (shipped["worst_for"] >= shipped["p_for"] - 1e-12)[shipped["p_for"] < 0.5].all()
    assert ((shipped["holm_p_for"] <= 0.025) == (shipped["verdict"] == claims.HOLDS)).all()


def test_a_cell_in_doubt_is_not_counted(shipped):
    numbers = read_numbers()
    assert numbers.group("table4", "Yi-1.5-34B", "n_minus_k_1").candidates == ()
    assert numbers.compared_with_the_rest("Yi-1.5-34B").candidates == ()
    assert "1 unknown" in one(shipped, "N/C is higher at a higher n - k for most models")["in_the_numbers"]


def test_novel_solutions_with_nothing_left_to_compare_are_taken_out():
    (found,) = read_numbers().compared_with_the_rest("Mixtral-8x22B").candidates
    assert found[:2] == (155 - 120, 165 - 120)  # Nu, N, and 120 of 214 at n - k = 0


def test_the_mix_of_competitions_is_set_beside_k():
    expected, found = read_numbers().mean_by_mix()[1]
    weights = {71.8: 21, 67.2: 32, 60.4: 26, 65.8: 5, 35.8: 29, 37.0: 19, 35.0: 14, 35.6: 8}  # problems with n >= 2
    assert 100 * expected == pytest.approx(sum(c * w for c, w in weights.items()) / 154)
    assert 100 * found == pytest.approx(57.66, abs=0.01)  # the mean of Table 3 at k = 2


def change(source, name, changes):
    """Write other texts into cells of a csv, by row and column."""
    path = source / f"{name}.csv"
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    for (row, column), text in changes.items():
        frame.loc[frame.iloc[:, 0] == row, column] = text
    frame.to_csv(path, index=False)


EASY, HARD = ("AMC 8", "AMC 10", "AHSME", "AMC 12"), ("USAMO", "IMO", "USAJMO", "AIME")
C_BY = dict(pd.read_csv(published.FOLDER / "table5.csv", dtype=str).set_index("competition")["mean_C"], AHSME="65.80")


@pytest.mark.parametrize(
    ("name", "changes", "words", "verdict", "in_the_numbers"),
    [
        (  # the easiest competitions change places with the hardest; the sum over all stays as it is
            "table5",
            {(a, "mean_C"): C_BY[b] for pair in zip(EASY, HARD, strict=True) for a, b in (pair, pair[::-1])},
            *("C falls with difficulty", claims.FAILS, "no"),
        ),
        (
            "figure6_similarity",
            {("Llama-3-70B", "Yi-1.5-34B"): "17", ("Yi-1.5-34B", "Llama-3-70B"): "17"},
            *("Llama-3-70B with Yi-1.5-34B is the most distinct pair", claims.FAILS, "no: 0 of 27"),
        ),
        (
            "figure1",
            {("Arithmetic", "AMC 8"): "215", ("Number Theory", "USAJMO"): "15"},
            *("and so in every single competition", claims.HOLDS, "yes: 80 of 80"),
        ),
        (  # 180 of 200: no other table counts Nu
            "table2",
            {("Qwen1.5-72B", "Nu"): "29.75", ("Qwen1.5-72B", "Nu_over_N"): "90.00"},
            *("Gemini-1.5-Pro is the best of all models in Nu/N", claims.OPEN, "yes: 9 of 9"),
        ),
        (
            "figure2_digitised",
            {("USAJMO", "n1"): "300"},
            *("Problems of medium difficulty", claims.HOLDS, "yes: 12 of 12"),
        ),
        (  # a pair whose two counts differ is not known
            "figure6_similarity",
            {("Llama-3-70B", "Yi-1.5-34B"): "2"},
            *("Llama-3-70B with Yi-1.5-34B is the most distinct pair", claims.OPEN, "unknown: 0 of 27, 27 unknown"),
        ),
    ],
)
def test_changed_numbers_change_verdicts(source, name, changes, words, verdict, in_the_numbers):
    change(source, name, changes)
    row = one(claims.claims(source), words)
    assert (row["verdict"], row["in_the_numbers"][: len(in_the_numbers)]) == (verdict, in_the_numbers)


def test_claims_about_what_is_not_there_stay_open(source):
    frame = pd.read_csv(source / "figure6_similarity.csv", index_col=0)
    frame.drop(index="Yi-1.5-34B", columns="Yi-1.5-34B").to_csv(source / "figure6_similarity.csv")
    frame = pd.read_csv(source / "figure1.csv", index_col=0)
    frame.drop(index="Algebra").to_csv(source / "figure1.csv")
    table = claims.claims(source)
    assert one(table, "is the most distinct pair")["in_the_numbers"].startswith("unknown")
    for words in ("is the most distinct pair", "go ways of their own", "all competitions together"):
        assert one(table, words)["verdict"] == claims.OPEN


@pytest.mark.parametrize(
    ("pair", "diagonal"),
    [
        ("18", "17"),  # alike on more samples than there are
        ("1", "0"),  # no sample at all
    ],
)
def test_counts_of_pairs_that_cannot_be_are_unknown(source, pair, diagonal):
    names = [str(name) for name in published.load("figure6_similarity")]
    two = {("Llama-3-70B", "Yi-1.5-34B"): pair, ("Yi-1.5-34B", "Llama-3-70B"): pair}
    change(source, "figure6_similarity", two | {(name, name): diagonal for name in names})
    row = one(claims.claims(source), "Llama-3-70B with Yi-1.5-34B is the most distinct pair")
    assert (row["verdict"], row["in_the_numbers"]) == (claims.OPEN, "unknown: 0 of 27, 27 unknown; 0 beyond chance")


def test_a_similarity_file_without_models_leaves_its_claims_open(source):
    (source / "figure6_similarity.csv").write_text("model\n", encoding="utf-8")
    table = claims.claims(source)
    assert one(table, "in general unlike")["decides"] == "mean over 0 pairs: unknown"
    assert one(table, "in general unlike")["verdict"] == claims.OPEN


def test_a_similarity_file_of_other_models_in_rows_than_in_columns_is_refused(source):
    path = source / "figure6_similarity.csv"
    path.write_text(path.read_text("utf-8").replace("model,Claude-3-Opus", "model,other"), "utf-8")
    with pytest.raises(KitError, match="same models as rows and columns"):
        claims.claims(source)


def test_the_share_where_something_was_left_to_compare_with_is_told():
    text = claims.claims_markdown(claims.claims())
    assert "over those with n > k it is 83.1% to 84.4%, over 9 models (that this is below 95%: p < 0.001" in text


def test_the_report(tmp_path, shipped):
    path = claims.write_claims(tmp_path / "new")
    text = path.read_text("utf-8")
    assert claims.write_claims(tmp_path / "new").read_bytes() == text.encode("utf-8")
    assert text.splitlines()[2] == published.NOT_OURS
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == len(CLAIMS) + shipped["question"].nunique()  # a heading each
    assert f"{len(CLAIMS)} claims." in text
    assert " nan" not in text and "unknown" in text  # what is not known is said to be
