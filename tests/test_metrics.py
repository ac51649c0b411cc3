"""From votes to outcomes to ratios, on cases small enough to count by hand."""

from dataclasses import dataclass
from fractions import Fraction

import pandas as pd
import pytest

from creativemath_utils import metrics
from creativemath_utils.records import KitError, Problem, Solution, Vote

JUDGES = ("a", "b", "c")
VERDICTS = {"Y": "YES", "N": "NO", "?": "UNPARSED"}


def problem(problem_id="p", n=2, competition="AMC_8", category="Algebra", difficulty=1.5):
    return Problem(problem_id, competition, "8", 2020, 1, difficulty, category, "1 + 1?", ("It is 2.",) * n)


def solution(k=1, n=2, status="ok", text="Two.", problem_id="p", generator="m"):
    return Solution(problem_id, k, n, generator, text, text, (), status, "key")


def votes_of(votes, k=1, generator="m", problem_id="p"):
    """Votes from a short text by stage: {"correctness": "YYN"}, a judge a letter, '-' for a vote that is missing."""
    return [
        Vote(problem_id, k, generator, stage, judge, VERDICTS[letter], "key")
        for stage, letters in votes.items()
        for judge, letter in zip(JUDGES, letters, strict=True)
        if letter != "-"
    ]


def decide(votes, judge_truncated=True, **of_solution):
    frame = metrics.collect_outcomes([problem()], [solution(**of_solution)], votes_of(votes), JUDGES, judge_truncated)
    return tuple(frame.loc[0, ["correct", "novel", "novel_unknown", "undecided", "unparsed"]])


@pytest.mark.parametrize(
    ("votes", "expected"),
    [
        ({"correctness": "YYY", "coarse": "YYN", "fine": "YNY"}, (True, True, True, False, 0)),  # passes all stages
        ({"correctness": "YYY", "coarse": "YYN", "fine": "NNY"}, (True, True, False, False, 0)),  # Novel-Known
        ({"correctness": "YYY", "coarse": "NNY"}, (True, False, False, False, 0)),  # not novel, no fine stage
        ({"correctness": "YYN"}, (False, False, False, False, 0)),  # one NO decides correctness
        ({"correctness": "NY?"}, (False, False, False, False, 1)),  # decided whatever the third would say
        ({"correctness": "YY?"}, (None, None, None, True, 1)),  # open
        ({"correctness": "YY-"}, (None, None, None, True, 0)),  # a missing vote is no NO either
        ({}, (None, None, None, True, 0)),  # not judged yet
        ({"correctness": "YYY", "coarse": "YY?", "fine": "YY-"}, (True, True, True, False, 1)),  # two equal decide
        ({"correctness": "YYY", "coarse": "YN?"}, (True, None, None, True, 1)),  # open at the second stage
        ({"correctness": "YYY", "coarse": "YYY", "fine": "YN?"}, (True, True, None, True, 1)),  # open at the third
        (
            {"correctness": "YNY", "coarse": "YYY", "fine": "YYY"},
            (False, False, False, False, 0),
        ),  # later votes are moot
    ],
)
def test_decisions_from_votes(votes, expected):
    assert decide(votes) == expected


@pytest.mark.parametrize(
    ("solution_is", "judge_truncated", "correct"),
    [
        ({"status": "blocked", "text": ""}, True, False),  # no solution
        ({"status": "refused", "text": "I cannot."}, True, False),
        ({"status": "failed", "text": ""}, True, False),
        ({"status": "truncated", "text": " \n"}, True, False),  # nothing was written
        ({"status": "truncated", "text": "Let x"}, True, True),  # judged like others by default
        ({"status": "truncated", "text": "Let x"}, False, None),  # never asked: open, not wrong
        ({"status": "truncated", "text": ""}, False, None),
    ],
)
def test_status_and_correctness(solution_is, judge_truncated, correct):
    result = decide({"correctness": "YYY", "coarse": "NNN"}, judge_truncated, **solution_is)
    assert result[0] is correct
    assert bool(result[3]) is (correct is None)


def test_with_k_equal_n_a_novel_solution_is_unknown_without_a_vote():
    frame = metrics.collect_outcomes(
        [problem()], [solution(k=2)], votes_of({"correctness": "YYY", "coarse": "YYY", "fine": "NNN"}, k=2), JUDGES
    )
    assert frame.loc[0, "novel_unknown"] is True


def test_votes_of_other_judges_models_and_samples_do_not_count():
    stray = [
        Vote("p", 1, "m", "correctness", "stranger", "NO", "key"),
        Vote("p", 2, "m", "correctness", "a", "NO", "key"),
        Vote("p", 1, "other", "correctness", "a", "NO", "key"),
    ]
    votes = votes_of({"correctness": "YYY", "coarse": "NNN"})
    frame = metrics.collect_outcomes([problem()], [solution()], votes + stray, JUDGES)
    assert frame.loc[0, "correct"] is True


def test_outcomes_keep_three_states_and_their_columns():
    solutions = [solution(), solution(k=2)]
    frame = metrics.collect_outcomes([problem(difficulty=None)], solutions, votes_of({"correctness": "NNN"}), JUDGES)
    assert tuple(frame.columns) == metrics.OUTCOME_COLUMNS
    assert list(frame["correct"]) == [False, None]
    assert frame["difficulty"].isna().all()
    assert metrics.collect_outcomes([], [], [], JUDGES).empty


def test_a_solution_of_an_unknown_problem_is_an_error():
    with pytest.raises(KitError, match="'gone'"):
        metrics.collect_outcomes([problem()], [solution(problem_id="gone")], [], JUDGES)


def outcome(correct, novel=None, novel_unknown=None, **more):
    return {"correct": correct, "novel": novel, "novel_unknown": novel_unknown, **more}


RIGHT_NEW = outcome(True, True, True)
RIGHT_KNOWN = outcome(True, True, False)
RIGHT_OLD = outcome(True, False, False)
WRONG = outcome(False, False, False)
OPEN = outcome(None)


@pytest.mark.parametrize(
    ("outcomes", "counts", "ratios"),
    [
        ([RIGHT_NEW, RIGHT_KNOWN, RIGHT_OLD, WRONG], (4, 3, 2, 1, 0), (0.75, 0.5, 0.25, 2 / 3, 0.5)),
        ([WRONG] * 5, (5, 0, 0, 0, 0), (0, 0, 0, None, None)),  # 0 of 5 correct: N/C is undefined, C is 0
        ([RIGHT_OLD], (1, 1, 0, 0, 0), (1, 0, 0, 0, None)),  # nothing novel: N/C is 0, Nu/N undefined
        ([RIGHT_NEW, OPEN], (2, 1, 1, 1, 1), (0.5, 0.5, 0.5, 1, 1)),  # open ones stay in the denominator
        ([outcome(True)], (1, 1, 0, 0, 1), (1, 0, 0, 0, None)),  # correct, novelty open
        ([outcome(True, True)], (1, 1, 1, 0, 1), (1, 1, 0, 1, 0)),  # novel, the fine stage open
        ([outcome(False)], (1, 0, 0, 0, 0), (0, 0, 0, None, None)),  # later stages not asked: nothing is open
        ([], (0, 0, 0, 0, 0), (None,) * 5),  # no samples at all
    ],
)
@pytest.mark.parametrize("form", [list, pd.DataFrame, iter])
def test_summarize(outcomes, counts, ratios, form):
    row = metrics.summarize(form(outcomes)).iloc[0]
    assert tuple(row[list(metrics.COUNTS)]) == counts
    found = [None if pd.isna(row[name]) else row[name] for name in metrics.RATIOS]
    assert found == pytest.approx(list(ratios))


def test_summarize_takes_objects_and_groups():
    @dataclass
    class Outcome:
        correct: bool | None
        novel: bool | None
        novel_unknown: bool | None
        k: int

    outcomes = [Outcome(True, False, False, 2), Outcome(True, True, True, 1), Outcome(None, None, None, 1)]
    summary = metrics.summarize(outcomes, by="k")
    assert summary[["k", "samples", "correct", "undecided"]].values.tolist() == [[1, 2, 1, 1], [2, 1, 1, 0]]
    assert len(metrics.summarize(outcomes, by=("k", "correct")[:1])) == 2


def test_summarize_counts_statuses_and_keeps_groups_without_a_key():
    outcomes = [
        outcome(False, False, False, status="blocked", unparsed=0, category=None),
        outcome(None, status="truncated", unparsed=2, category=None),
        outcome(True, False, False, status="ok", unparsed=1, category="Algebra"),
    ]
    summary = metrics.summarize(outcomes, "category")
    assert summary["samples"].sum() == 3
    unknown = summary[summary["category"].isna()].iloc[0]
    assert tuple(unknown[["truncated", "blocked", "refused", "failed", "unparsed"]]) == (1, 1, 0, 0, 2)


@pytest.mark.parametrize(("outcomes", "by", "named"), [([{"correct": True}], (), "novel"), ([WRONG], "model", "model")])
def test_summarize_names_a_missing_column(outcomes, by, named):
    with pytest.raises(KitError, match=named):
        metrics.summarize(outcomes, by)


@pytest.mark.parametrize(
    ("numerator", "denominator", "text"),
    [
        (423, 605, "69.92"),  # Table 2
        (1, 8, "12.50"),
        (1, 16, "6.25"),
        (1, 800, "0.13"),  # 0.125 rounds half up; half to even gives 0.12
        (3, 800, "0.38"),  # 0.375
        (27, 42, "64.29"),
        (1, 1, "100.00"),
        (0, 5, "0.00"),
        (0, 0, None),  # nothing to divide by
    ],
)
def test_percent_rounds_half_up_from_counts(numerator, denominator, text):
    assert metrics.percent(numerator, denominator) == text


@pytest.mark.parametrize(
    ("ratios", "text"),
    [
        ([(1, 2), (1, 4)], "37.50"),
        ([(1, 2), (0, 0)], "50.00"),  # an undefined ratio is left out, not 0
        ([(0, 0)], None),
        ([], None),
        ([(1, 3), (1, 3), (1, 3)], "33.33"),
        ([(1, 400), (0, 1)], "0.13"),  # exactly 0.125
    ],
)
def test_mean_percent(ratios, text):
    assert metrics.mean_percent(ratios) == text


def test_rounded_to_whole_numbers():
    assert [metrics.rounded(Fraction(n, 2), 0) for n in (0, 1, 9)] == ["0", "1", "5"]


def test_counts_for_figures_1_and_2():
    problems = [problem("p", n=1), problem("q", n=3, competition="IMO", category="Geometry"), problem("r", n=3)]
    first = metrics.figure_1_counts(problems)
    assert first.shape == (7, 8)
    assert (first.loc["Algebra", "AMC 8"], first.loc["Geometry", "IMO"], first.to_numpy().sum()) == (2, 1, 3)
    second = metrics.figure_2_counts(problems)
    assert list(second.columns) == ["n1", "n2", "n3"]
    assert list(second.loc["AMC 8"]) == [1, 0, 1]


def test_other_competitions_come_after_the_eight():
    problems = [problem("p"), problem("q", competition="Putnam"), problem("r", competition="BMO"), problem("s")]
    first, second = metrics.figure_1_counts(problems), metrics.figure_2_counts(problems)
    assert list(first.columns) == list(second.index)
    assert list(first.columns)[7:] == ["IMO", "BMO", "Putnam"]
    assert (first.loc["Algebra", "AMC 8"], first.loc["Algebra", "Putnam"], first.to_numpy().sum()) == (2, 1, 4)
    assert (second.loc["AMC 8", "n2"], second.loc["BMO", "n2"], second.to_numpy().sum()) == (2, 1, 4)
    assert list(metrics.figure_1_counts(problems[1:3]).columns) == ["BMO", "Putnam"]


def test_problems_without_a_category_get_a_row_of_their_own():
    counts = metrics.figure_1_counts([problem(), problem("q", category=None)])
    assert counts.index[-1] == "unknown"
    assert counts.loc["unknown", "AMC 8"] == 1
