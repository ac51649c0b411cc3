"""A run beside the paper: differences that can be checked by hand, the paper's own points, and the page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from creativemath_utils import comparison, published
from creativemath_utils.metrics import OUTCOME_COLUMNS, RATIOS
from creativemath_utils.models import Model
from creativemath_utils.paper.beside import (
    COMPARED_COLUMNS,
    INTERVAL_COLUMNS,
    compare_with_paper,
    difference_of_proportions,
    has_published_composition,
    published_intervals,
)
from creativemath_utils.records import Vote
from creativemath_utils.table_formats import RunInfo

INFO = RunInfo("my-run", {"rules": "Rules (baseline)", "j": "Judge_J"}, "strict", "2026-01-31")
COUNTS = published.recovered_counts()
VOTES = [
    Vote("p", k, "a", "correctness", judge, verdict, "key")
    for judge, verdicts in (("rules", ("YES", "NO")), ("j", ("YES", "UNPARSED")))
    for k, verdict in enumerate(verdicts, start=1)
]


def model(name, label=""):
    return Model(name=name, backend="api", id="x", label=label)


def sample(generator, decisions, k=1, n=1, problem="p", competition="AMC_8"):
    """An outcome from three letters for correct, novel, novel_unknown: '1' yes, '0' no, '?' open."""
    correct, novel, unknown = ({"1": True, "0": False, "?": None}[letter] for letter in decisions)
    row = (problem, competition, 1.0, "Algebra", k, n, generator, "ok", correct, novel, unknown, "?" in decisions, 0)
    return dict(zip(OUTCOME_COLUMNS, row, strict=True))


def outcomes(*samples):
    return pd.DataFrame(samples, columns=list(OUTCOME_COLUMNS))


def published_subset(generator="a", correct=0, novel=0, unknown=0):
    """The 605 samples of the paper's subset; the first `correct` of them are correct, and so on."""
    samples = []
    for name, row in published.load("subset_counts").iterrows():
        for column, count in row.items():
            n = int(column[1:])
            for number in range(count):
                samples += [(f"{name} {n} {number}", name.replace(" ", "_"), k, n) for k in range(1, n + 1)]
    marks = ["".join("01"[i < size] for size in (correct, novel, unknown)) for i in range(len(samples))]
    return outcomes(*(sample(generator, m, k, n, p, c) for m, (p, c, k, n) in zip(marks, samples, strict=True)))


@pytest.mark.parametrize(
    ("ours", "theirs", "interval", "p_value", "test"),
    [  # intervals from Newcombe 1998, Table II, method 10; p of small cells by counting tables with the same margins
        ((56, 70), (48, 80), (0.0524, 0.3339), 0.0080, "score"),  # z = 0.2 / sqrt(0.6933 * 0.3067 * (1/70 + 1/80))
        ((9, 10), (3, 10), (0.1705, 0.8090), 0.0198, "exact"),  # 4 YES expected on each side
        ((6, 7), (2, 7), (0.0582, 0.8062), 0.1026, "exact"),
        ((5, 56), (0, 29), (-0.0381, 0.1926), 0.1606, "exact"),
        ((0, 10), (0, 20), (-0.1611, 0.2775), 1.0, "exact"),  # nothing on either side: no test can differ
        ((10, 10), (10, 10), (-0.2775, 0.2775), 1.0, "exact"),  # all on both sides
        ((10, 10), (0, 20), (0.6791, 1.0), 0.0, "exact"),  # 1 of 30,045,015 ways
        ((10, 10), (0, 10), (0.6075, 1.0), 0.0, "score"),  # 5 expected in each cell: just enough
        ((30, 60), (42, 60), (-0.3589, -0.0248), 0.0253, "score"),  # z = -0.2 / sqrt(0.6 * 0.4 / 30), so z² = 5
    ],
)
def test_difference_of_proportions(ours, theirs, interval, p_value, test):
    found = difference_of_proportions(ours, theirs)
    assert found.test == test
    assert found.difference == pytest.approx(ours[0] / ours[1] - theirs[0] / theirs[1])
    assert (found.low, found.high, found.p_value) == pytest.approx((*interval, p_value), abs=6e-5)
    back = difference_of_proportions(theirs, ours)  # the other way round: the mirror image
    assert (-back.high, -back.low, back.p_value) == pytest.approx(found[1:4])


def test_a_run_like_the_paper_does_not_differ():
    """GPT-4o in Table 2: 368 correct, 182 novel, 167 Novel-Unknown of 605."""
    frame = compare_with_paper(published_subset(correct=368, novel=182, unknown=167), [model("a", "GPT-4o")], COUNTS)
    assert tuple(frame.columns) == COMPARED_COLUMNS
    table_2 = frame[frame["item"] == "table2"]
    assert list(table_2["column"]) == ["C", "N", "N_over_C", "Nu", "Nu_over_N"]
    assert list(table_2["run"]) == list(table_2["published"])
    assert list(zip(table_2["run_numerator"], table_2["run_denominator"], strict=True)) == list(
        zip(table_2["published_numerator"], table_2["published_denominator"], strict=True)
    )
    assert (table_2["difference"] == 0).all()
    assert (table_2[["p_value", "p_holm"]] == 1).all(axis=None)
    assert list(frame[frame["item"] == "table3"]["run_denominator"]) == [400, 154, 42, 8]


def test_holm_over_the_values_of_a_table():
    frame = compare_with_paper(published_subset(correct=420, novel=200, unknown=170), [model("a", "GPT-4o")], COUNTS)
    for _, table in frame.groupby("item"):
        tested = table[table["p_value"].notna()].sort_values("p_value", kind="stable")
        by_hand = np.minimum(1, np.maximum.accumulate(tested["p_value"] * np.arange(len(tested), 0, -1)))
        assert list(tested["p_holm"]) == pytest.approx(list(by_hand))
    assert frame.loc[0, "p_holm"] > frame.loc[0, "p_value"]


@pytest.mark.parametrize(
    ("label", "item", "column", "expected"),
    [
        ("GPT-4o", "table2", "C", (0.5 - 368 / 605, "exact", "agrees", False)),  # 2 samples
        ("Claude-3-Opus", "table2", "C", (0.5 - 362 / 605, "exact", "wrong", False)),  # prints 59.84; 362 is 59.83
        ("DeepSeek-V2", "table3", "k3", (1 - 0.7132, "", "wrong", True)),  # 30/42 or 31/42
        ("GPT-4o", "table3", "k2", (None, "", "agrees", True)),  # no sample of the run has k = 2
        ("GPT-4o", "table4", "n_minus_k_2", (None, "", "agrees", True)),  # nothing correct there: 0 of 0
    ],
)
def test_what_is_tested_and_what_is_not(label, item, column, expected):
    run = outcomes(sample("a", "111", k=3, n=3), sample("a", "000", n=3), sample("b", "000"))
    frame = compare_with_paper(run, [model("a", label), model("b", "Mine")], COUNTS)
    assert set(frame["model"]) == {label}
    row = frame[(frame["item"] == item) & (frame["column"] == column)].iloc[0]
    difference, test, state, untested = expected
    assert (row["test"], row["state"], pd.isna(row["p_value"])) == (test, state, untested)
    assert pd.isna(row["difference"]) if difference is None else row["difference"] == pytest.approx(difference)
    assert pd.isna(row["low"]) == pd.isna(row["p_holm"]) == untested


def test_no_model_of_the_paper_is_no_comparison():
    frame = compare_with_paper(outcomes(sample("a", "111")), [model("a", "Mine")], COUNTS)
    assert frame.empty
    assert tuple(frame.columns) == COMPARED_COLUMNS


def test_published_intervals_are_wilsons():
    frame = published_intervals(COUNTS)
    assert tuple(frame.columns) == INTERVAL_COLUMNS
    assert len(frame) == 50
    assert set(frame["ratio"]) == set(RATIOS)
    assert frame[["low", "high"]].equals(frame[["wilson_low", "wilson_high"]].set_axis(["low", "high"], axis="columns"))
    for bound in ("wilson_low", "wilson_high"):  # both solve (value - p)² = z² p (1 - p) / n
        p = frame[bound]
        assert ((frame["value"] - p) ** 2).to_numpy() == pytest.approx(
            (1.959964**2 * p * (1 - p) / frame["denominator"]).to_numpy(), rel=1e-4
        )
    row = frame[(frame["generator"] == "GPT-4o") & (frame["ratio"] == "novelty_to_correctness_ratio")].iloc[0]
    assert tuple(row[["numerator", "denominator", "value"]]) == (182, 368, 182 / 368)


def test_a_published_value_without_counts_has_no_interval():
    counts = COUNTS.copy()
    of_cell = (counts["item"] == "table2") & (counts["model"] == "GPT-4o") & (counts["column"] == "C")
    counts.loc[of_cell, ["numerator", "denominator"]] = pd.NA
    row = published_intervals(counts).set_index(["generator", "ratio"]).loc[("GPT-4o", "correctness_ratio")]
    assert row["value"] == pytest.approx(0.6083)
    assert row.drop("value").isna().all()


FULL = published_subset()


@pytest.mark.parametrize(
    ("run", "same"),
    [
        (FULL, True),
        (FULL.sample(frac=1, random_state=1), True),  # in any order
        (pd.concat([FULL, FULL.assign(generator="b")]), True),
        (FULL.iloc[1:], False),  # one sample is missing
        (pd.concat([FULL, FULL.assign(generator="b").iloc[1:]]), False),  # of one generator
        (FULL.assign(competition="IMO"), False),  # as many problems, of another competition
        (FULL[FULL["k"] == 1], False),  # all problems, only k = 1
        (FULL.iloc[:0], False),
    ],
)
def test_samples_of_the_published_subset_are_known_by_their_composition(run, same):
    assert has_published_composition(run) is same


def write(run, models, votes, folder):
    return comparison.write_comparison(run, models, votes, folder, INFO).read_text("utf-8")


def table_rows(text):
    return [
        [cell.strip().replace("\xa0", " ") for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line[:1] == "|"
    ]


def test_page_of_a_model_that_is_in_both(tmp_path):
    run = outcomes(sample("a", "111"), sample("a", "000"), sample("a", "???", k=2, n=2))
    text = write(run, [model("a", "GPT-4o")], VOTES, tmp_path)
    rows = table_rows(text)
    assert ["C", "33.33 (1/3)", "60.83 (368/605)", "-27.5 (-54.9 to +18.6), p = 1.000 exact"] in rows
    assert ["k = 2", "0.00 (0/1; 1 undecided)", "64.94 (100/154)", "-64.9 (-72.0 to +14.8), p = 0.710 exact"] in rows
    assert ["k = 3", "n/a (0/0)", "66.67 (28/42)", "n/a"] in rows
    assert ["n - k = 1", "n/a (0/0)", "53.33 (?)", "n/a"] in rows
    assert any(row[0] == "n - k = 0" and row[2] == "47.35 (?)" and row[3].endswith(", no test") for row in rows)
    assert "**GPT-4o** (1 undecided)" in text  # in Table 2
    for said in (
        "In both, by label: GPT-4o. In this run alone: none.",
        "The samples are others.",
        "(?) the counts behind",
    ):
        assert said in text
    assert "Bold: this run" not in text  # no other model to list
    assert ["Rules (baseline)", "correctness", "2", "50.00 (1)", "50.00 (1)", "0.00 (0)"] in rows
    assert ["Judge\\_J", "correctness", "2", "50.00 (1)", "0.00 (0)", "50.00 (1)"] in rows
    assert ["correctness", "Judge\\_J", "Rules (baseline)", "100.00 (1/1)"] in rows
    assert write(run, [model("a", "GPT-4o")], VOTES, tmp_path) == text  # the same bytes


def test_page_of_the_published_subset(tmp_path):
    """All 605 correct where the paper has 362 of 605, printed as 59.84."""
    run = published_subset(correct=605, novel=270, unknown=260)
    text = write(run, [model("a", "Claude-3-Opus")], VOTES, tmp_path)
    assert "The samples are very likely the same." in text
    assert "conservative" in text
    rows = {row[0]: row[1:] for row in reversed(table_rows(text))}
    assert rows["C"] == ["100.00 (605/605)", "59.84† (362/605)", "+40.2 (+36.3 to +44.1), **p < 0.001**"]
    assert rows["N"] == ["44.63 (270/605)", "44.63 (270/605)", "+0.0 (-5.6 to +5.6), p = 1.000"]
    assert "† the audit finds" in text


def test_page_of_other_models_lists_them_above_the_papers(tmp_path):
    run = outcomes(sample("a", "000"), sample("b", "???"))
    text = write(run, [model("a", "lab_model|$x"), model("b", "B")], [], tmp_path)
    assert "No model of this run is in the paper" in text
    assert "Newcombe" not in text  # nothing is tested
    table_2 = text.split("## Table 2")[1].split("## Table 3")[0].replace(r"\|", "/")
    rows = table_rows(table_2)
    assert rows[2] == ["**lab\\_model/\\$x**", *["0.00 (0/1)"] * 2, "n/a (0/0)", "0.00 (0/1)", "n/a (0/0)"]
    assert rows[4] == ["Gemini-1.5-Pro", "69.92", "66.94", "95.75†", "65.45", "97.78"]
    assert len(rows) == 2 + 2 + 10
    assert "Undecided samples of this run: B 1." in table_2
    assert text.count("No votes yet.") == 2


def test_table_5_stands_beside_the_papers_without_a_test(tmp_path):
    run = outcomes(sample("a", "111"), sample("a", "000"), sample("b", "000", competition="IMO"))
    rows = table_rows(write(run, [model("a"), model("b")], [], tmp_path).split("## Table 5")[1])
    assert ["AMC 8", "50.00 (1)", "71.80", "100.00 (1)", "55.39"] in rows
    assert ["IMO", "0.00 (1)", "35.60", "n/a", "78.86"] in rows
    assert ["AIME", "n/a", "35.80", "n/a", "55.55"] in rows
