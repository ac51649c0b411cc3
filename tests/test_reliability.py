"""Judges beside labels and beside one another, on votes few enough to count by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest

from creativemath_utils.judges_report import PanelRecord, write_judges_report
from creativemath_utils.records import Label, Problem, Recheck, Solution, Vote
from creativemath_utils.reliability import (
    against,
    judges_against_labels,
    judges_among_themselves,
    panel_against_labels,
)
from creativemath_utils.table_formats import RunInfo

Y, N, U = "YES", "NO", "UNPARSED"


def solution(k, key):
    return Solution("p", k, 9, "m", "text", "text", (), "ok", key)


def label(k, key, same_result, novel, correct=None):
    correct = same_result if correct is None else correct
    return Label("p", k, "m", key, same_result, correct, novel, novel, "by counting")


def vote(k, judge, verdict, stage="correctness", problem="p"):
    return Vote(problem, k, "m", stage, judge, verdict, "key")


@pytest.mark.parametrize(
    ("verdicts", "truths", "counts", "ratios", "kappa"),
    [
        ([Y, Y, N, N], [True, True, False, False], (2, 0, 0, 2, 0), (1.0, 1.0), 1.0),
        ([Y, N, Y, N], [True, True, False, False], (1, 1, 1, 1, 0), (0.5, 0.5), 0.0),  # what chance gives
        ([Y, Y, N, U], [True, False, False, True], (1, 1, 0, 1, 1), (0.5, 1.0), 0.4),  # (2/3 - 4/9) / (5/9)
        ([Y, Y, Y], [True, False, False], (1, 2, 0, 0, 0), (1 / 3, 1.0), 0.0),  # says YES to everything: worth nothing
        ([Y, Y], [True, True], (2, 0, 0, 0, 0), (1.0, 1.0), None),  # nothing to tell apart
        ([U, U], [True, False], (0, 0, 0, 0, 2), (None, None), None),  # no verdict is neither right nor wrong
        ([], [], (0, 0, 0, 0, 0), (None, None), None),
    ],
)
def test_verdicts_beside_the_truth(verdicts, truths, counts, ratios, kappa):
    found = against(verdicts, truths)
    assert tuple(found[n] for n in ("right_yes", "wrong_yes", "wrong_no", "right_no", "unparsed")) == counts
    assert (found["precision"], found["recall"]) == pytest.approx(ratios)
    assert found["kappa"] == (None if kappa is None else pytest.approx(kappa))
    assert found["labelled"] == len(truths)


def test_an_interval_stays_within_the_scale_and_is_left_out_where_a_judge_never_varies():
    found = against([Y] * 20 + [N] * 20 + [Y], [True] * 20 + [False] * 20 + [False])
    assert found["kappa_low"] < found["kappa"] < found["kappa_high"] <= 1
    always = against([Y, Y, Y], [True, False, False])
    assert (always["kappa"], always["kappa_low"], always["kappa_high"]) == (0.0, None, None)


def test_a_label_holds_for_the_answer_that_was_read_alone():
    solutions = [solution(1, "a"), solution(2, "b")]
    labels = [label(1, "a", True, True), label(2, "another answer", True, True)]
    found = judges_against_labels([vote(1, "j", Y), vote(2, "j", N)], solutions, labels)
    assert found[["judge", "stage", "labelled", "right_yes"]].to_numpy().tolist() == [["j", "correctness", 1, 1]]


def test_the_last_label_of_an_answer_counts():
    labels = [label(1, "a", True, True), label(1, "a", False, True)]  # the kit's own, then a person's
    assert judges_against_labels([vote(1, "j", Y)], [solution(1, "a")], labels)["wrong_yes"].item() == 1


def test_correctness_is_held_against_what_judges_are_asked_and_the_panel_against_what_is_meant():
    """A right result by wrong steps: the judge's YES is right, the panel's is not."""
    solutions, labels = [solution(1, "a")], [label(1, "a", True, None, correct=False)]
    assert judges_against_labels([vote(1, "j", Y)], solutions, labels)["right_yes"].item() == 1
    outcomes = pd.DataFrame(
        [{"problem_id": "p", "k": 1, "generator": "m", "correct": True, "novel": None, "novel_unknown": None}]
    )
    panel = panel_against_labels(outcomes, solutions, labels).set_index("decision")
    assert panel.loc["correct", "wrong_yes"] == 1
    assert panel.loc["novel", "labelled"] == 0  # no method could be made out, so there is nothing to hold it against


def test_alpha_among_judges():
    """Four solutions, two judges: 3 agree of 4. Values 5 YES, 3 NO: 1 - 7 × (2/8) / (2·5·3/8 ...) = 0.5333..."""
    verdicts = [(Y, Y), (Y, Y), (N, N), (Y, N)]
    votes = [vote(k, j, v) for k, pair in enumerate(verdicts) for j, v in zip("ab", pair, strict=True)]
    votes += [vote(9, "a", Y), vote(9, "b", U)]  # one verdict alone says nothing of agreement
    row = judges_among_themselves(votes, resamples=20).set_index("stage").loc["correctness"]
    observed, expected = 2 / 8, 2 * 5 * 3 / (8 * 7)
    assert row["alpha"] == pytest.approx(1 - observed / expected)
    assert (row["judges"], row["solutions"]) == (2, 4)


def test_alpha_is_undefined_where_all_say_the_same():
    row = judges_among_themselves([vote(1, "a", Y), vote(1, "b", Y)]).set_index("stage").loc["correctness"]
    assert pd.isna(row["alpha"])


def test_the_interval_follows_from_the_seed():
    votes = [
        vote(1, j, v, problem=f"p{i}") for i in range(8) for j, v in zip("ab", (Y, N if i % 3 else Y), strict=True)
    ]
    votes += [vote(1, j, N, problem="q") for j in "ab"]
    first, second = (judges_among_themselves(votes, seed=3, resamples=50).iloc[0] for _ in range(2))
    assert (first["alpha_low"], first["alpha_high"]) == (second["alpha_low"], second["alpha_high"])
    assert first["alpha_low"] <= first["alpha"] <= first["alpha_high"]


def test_the_report_says_where_there_is_no_label(tmp_path):
    outcomes = pd.DataFrame(columns=["problem_id", "k", "generator", "correct", "novel", "novel_unknown"])
    info = RunInfo("my_run", {"j": "Judge_J"}, "strict", notes=("Judge_J says YES.",))
    problem = Problem("p", "IMO", "p", None, 1, None, None, "1 + 1?", ("Two.",) * 9)
    record = PanelRecord([problem], [solution(1, "a")], [vote(1, "j", Y)], [], ["j"], {}, lambda key: None)
    text = write_judges_report(record, outcomes, tmp_path, info).read_text("utf-8")
    assert "# The judges of my\\_run" in text and "No solution of this run has a label." in text
    assert "No reply of this run differs." in text and "own family" not in text
    record = replace(record, labels=[label(1, "a", True, True)])
    text = write_judges_report(record, outcomes, tmp_path, info).read_text("utf-8")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    assert ["Judge\\_J", "correctness", "1", "1", "0", "0", "0", "0", "100.0", "100.0", "n/a"] in cells
    record = replace(record, rechecks=[Recheck("again", "coarse", "p", 1, None, "m", "j", Y, N, "key")])
    text = write_judges_report(record, outcomes, tmp_path, info).read_text("utf-8")
    assert "| again      | Judge\\_J | 1       | 100.00 (1/1)   |" in text
