"""corpus.md of a run: counts by hand, agreement of categories, what was left out, and figures beside the paper's."""

from __future__ import annotations

import pandas as pd
import pytest

from creativemath_utils import figures
from creativemath_utils.corpus_figures import figure_1_beside, figure_2_beside, up_to
from creativemath_utils.corpus_report import (
    CorpusRecord,
    category_agreement,
    confusion,
    left_out_counts,
    write_corpus_report,
)
from creativemath_utils.curate import DEMO, read_problems
from creativemath_utils.figures import MOST_COMPETITIONS, largest
from creativemath_utils.metrics import figure_1_counts, figure_2_counts
from creativemath_utils.records import CategoryVote, Problem, samples_of

PAGE = {"file": "x.html", "where": "page", "reason": "diagram_in_problem", "competition": "AMC_8"}
LINE = {"file": "y.html", "where": "Solution 1", "reason": "C1", "detail": "~ab", "competition": None}


def problem(problem_id, competition="AIME", n=1, category="Algebra", difficulty=3, warnings=()):
    return Problem(
        problem_id, competition, "A", None, 1, difficulty, category, "1 + 1?", ("Two.",) * n, warnings=tuple(warnings)
    )


def votes(*pairs):
    """Votes from (given, label)."""
    return [CategoryVote(str(i), "small", label, "key", given) for i, (given, label) in enumerate(pairs)]


# --- agreement ------------------------------------------------------------------------------------

ALGEBRA, GEOMETRY, OTHERS = "Algebra", "Geometry", "Others"


@pytest.mark.parametrize(
    ("pairs", "both", "same", "kappa"),
    [
        ([], 0, 0, None),
        ([(None, ALGEBRA)], 0, 0, None),  # nothing to hold it against
        ([(ALGEBRA, "UNPARSED")], 0, 0, None),  # a reply without a category is no disagreement
        ([(ALGEBRA, ALGEBRA), (GEOMETRY, GEOMETRY)], 2, 2, 1.0),
        ([(ALGEBRA, GEOMETRY), (GEOMETRY, ALGEBRA)], 2, 0, -1.0),
        ([(ALGEBRA, ALGEBRA)] * 3, 3, 3, None),  # both always say the same: chance agrees as much
        ([(ALGEBRA, GEOMETRY)] * 3, 3, 0, 0.0),  # chance never agrees, and neither do they
        ([(ALGEBRA, ALGEBRA), (GEOMETRY, ALGEBRA)], 2, 1, 0.0),  # a model with one answer to all
        # observed 12/16; by chance (2·1 + 1·2 + 1·1)/16 = 5/16, so (12 - 5)/(16 - 5)
        ([(ALGEBRA, ALGEBRA), (ALGEBRA, GEOMETRY), (GEOMETRY, GEOMETRY), (OTHERS, OTHERS)], 4, 3, 7 / 11),
    ],
)
def test_agreement_by_hand(pairs, both, same, kappa):
    found = category_agreement(votes(*pairs))
    assert (found["asked"], found["both"], found["same"]) == (len(pairs), both, same)
    assert found["kappa"] == (None if kappa is None else pytest.approx(kappa))


def test_the_interval_is_there_where_both_vary_and_holds_kappa():
    found = category_agreement(votes(*[(ALGEBRA, ALGEBRA)] * 6, *[(GEOMETRY, GEOMETRY)] * 3, (GEOMETRY, ALGEBRA)))
    assert -1 <= found["kappa_low"] < found["kappa"] < found["kappa_high"] <= 1
    assert category_agreement(votes((ALGEBRA, ALGEBRA), (GEOMETRY, ALGEBRA)))["kappa_low"] is None


def test_the_confusion_table_has_unparsed_and_leaves_out_what_has_no_category():
    table = confusion(votes((ALGEBRA, GEOMETRY), (ALGEBRA, "UNPARSED"), (None, GEOMETRY)))
    assert table.loc[ALGEBRA, GEOMETRY] == table.loc[ALGEBRA, "UNPARSED"] == 1
    assert table.to_numpy().sum() == 2 and table.shape == (7, 8)


# --- what was left out ----------------------------------------------------------------------------


def test_whole_pages_are_counted_by_competition_and_parts_by_rule():
    rows = [PAGE, {**PAGE, "competition": "IMO"}, {**PAGE, "reason": "redirect", "competition": None}, LINE, LINE]
    whole = left_out_counts(rows, whole=True)
    assert list(whole.columns) == ["reason", "number", "AMC 8", "IMO", "unknown"]
    assert whole.to_numpy().tolist() == [["diagram_in_problem", 2, 1, 1, 0], ["redirect", 1, 0, 0, 1]]
    assert left_out_counts(rows, whole=False).to_numpy().tolist() == [["C1", 2]]


@pytest.mark.parametrize(
    ("row", "whole"),
    [
        ({"problem_id": "a", "reason": "same_problem", "detail": ""}, True),  # a repair's: it has no `where`
        ({"problem_id": "a", "reason": "no_solutions", "detail": ""}, True),
        ({"problem_id": "a", "reason": "control_character", "detail": ""}, False),
        ({"problem_id": "a", "reason": "answer_only", "detail": ""}, False),
        ({"row": "x:1", "problem_id": None, "reason": "no statement", "where": "row"}, True),  # any dataset's
        ({"row": "x:1", "problem_id": "a", "reason": "empty", "where": "solution"}, False),
        ({"row": "x:1", "problem_id": "a", "reason": "difficulty", "where": "value"}, False),
    ],
)
def test_a_row_of_any_source_is_a_whole_problem_or_a_part(row, whole):
    assert len(left_out_counts([row], whole=True)) == whole
    assert len(left_out_counts([row], whole=False)) == (not whole)


# --- the report -----------------------------------------------------------------------------------


def cells(text: str, start: str) -> list[str]:
    """The cells of the first line of a table that begins with `start`."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {start} "))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_numbers_of_a_report_by_hand(tmp_path):
    problems = [
        problem("1", n=2),
        problem("2", "AIME", 1, None, None, ["shared_stem"]),
        problem("3", "IMO", 3, "Geometry", 9.5, ["shared_stem", "lead_text"]),
    ]
    record = CorpusRecord(
        run="lab_run",
        read=[*problems, problem("4")],
        problems=problems,
        samples=samples_of(problems)[:4],
        left_out=[PAGE, LINE],
        votes=votes((ALGEBRA, ALGEBRA), (GEOMETRY, ALGEBRA), (None, GEOMETRY), (None, "UNPARSED")),
    )
    paths = write_corpus_report(record, tmp_path, {"small": "Small | one"})
    assert [path.name for path in paths] == [
        *("corpus.md", "corpus_figure_1.png", "corpus_figure_1.pdf", "corpus_figure_2.png", "corpus_figure_2.pdf")
    ]
    text = paths[0].read_text("utf-8")
    assert "# The corpus of lab\\_run" in text
    assert "3 problems with 6 solutions, out of 4 with 7; 4 samples of 6, by the profile's limit" in text
    # problems, solutions, samples, difficulty, without; the paper's 862 AIME problems by Figure 1, 50 evaluated
    assert cells(text, "AIME") == ["AIME", "2", "3", "3", "3 to 3", "1", "862", "50"]
    assert cells(text, "USAMO")[:6] == ["USAMO", "0", "0", "0", "", "0"]
    assert cells(text, "in all") == ["in all", "3", "6", "4", "", "1", "6480", "400"]
    # 1 of 2 problems with a category; Geometry has 1,908 of the paper's 6,480: 29.44 %
    assert cells(text, "Geometry") == ["Geometry", "1", "50.00", "1908", "29.44", "+20.56"]
    assert cells(text, "unknown") == ["unknown", "1", "", "", "", ""]
    assert cells(text, "3 ")[:3] == ["3", "1", "33.33"] and "read off the picture" in text
    assert cells(text, "diagram\\_in\\_problem") == ["diagram\\_in\\_problem", "1", "1"]
    assert cells(text, "shared\\_stem") == ["shared\\_stem", "2"]
    assert "Small \\| one was asked for the category of 4 problems. Replies that take no one side" in text
    assert "(unparsed): 1. Problems that had no category and have one now: 1." in text
    assert "they agree on 1 of 2 (50.00 %); Cohen's kappa with its 95 % interval: 0.00." in text


def test_a_report_is_the_same_bytes_again(tmp_path):
    problems = read_problems(DEMO)
    record = CorpusRecord("demo", problems, problems, samples_of(problems))
    first, second = (write_corpus_report(record, tmp_path / name) for name in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    text = first[0].read_text("utf-8")
    assert "20 problems with 52 solutions; 52 samples (a problem" in text and "## What was left out\n\nNothing." in text
    assert "Categories by a model" not in text


def test_an_empty_corpus_has_a_report_too(tmp_path):
    text = write_corpus_report(CorpusRecord("r", [], [], []), tmp_path)[0].read_text("utf-8")
    assert cells(text, "Geometry") == ["Geometry", "0", "n/a", "1908", "29.44", "n/a"]  # a share of nothing is none


# --- figures --------------------------------------------------------------------------------------


def texts(axes) -> list[str]:
    return [text.get_text() for text in axes.texts if text.get_text()]


def test_figure_1_has_both_counts_and_marks_the_sizes():
    left, right = figure_1_beside(figure_1_counts([problem("1"), problem("2", category=None)]), "mine").axes[:2]
    assert left.get_title() == "mine: 2 problems" and right.get_title() == "the paper: 6,480 problems"
    assert texts(left).count("1") == 2 and "853" in texts(right)
    assert "unknown" in [label.get_text() for label in left.get_yticklabels()]


def test_figure_2_sets_shares_side_by_side_with_the_counts_over_them():
    figure = figure_2_beside(figure_2_counts([problem("1"), problem("2"), problem("3", n=3)]), "mine")
    axes = next(axes for axes in figure.axes if axes.get_title() == "AIME")
    ours, theirs = axes.containers
    assert [bar.get_height() for bar in ours][:3] == pytest.approx([200 / 3, 0, 100 / 3])
    assert sum(bar.get_height() for bar in theirs) == pytest.approx(100)
    assert texts(axes)[:2] == ["2", "1"] and "178" in texts(axes)
    assert "read off a picture" in figure.legends[0].get_texts()[1].get_text()
    empty = next(axes for axes in figure.axes if axes.get_title() == "IMO")
    assert len(empty.containers) == 1  # the paper's alone


def test_many_solutions_share_the_last_column():
    counts = up_to(pd.DataFrame([[1] * 12], columns=[f"n{n}" for n in range(1, 13)], index=["AIME"]), 10)
    assert list(counts.columns)[-2:] == ["n9", "n10+"] and counts.loc["AIME", "n10+"] == 3


def test_of_many_competitions_the_largest_are_drawn():
    """A column of contests with hundreds of names would want a picture of gigabytes."""
    names = ["AIME", *(f"C{n}" for n in range(40))]
    counts = pd.DataFrame({"n1": [1, *range(1, 41)]}, index=names)
    kept = largest(counts, ["AIME"])
    assert len(kept) == MOST_COMPETITIONS == 24
    assert list(kept.index[:2]) == ["AIME", "C18"] and kept.index[-1] == "18 others"  # 1 and 22 of them stay
    assert kept.loc["18 others", "n1"] == sum(range(1, 19)) and kept["n1"].sum() == counts["n1"].sum()
    assert largest(counts[:24], ["AIME"]).equals(counts[:24])


def test_figures_of_unusual_corpora_can_be_saved(tmp_path):
    problems = [problem(str(n), "AIME", n) for n in range(1, 14)]  # more solutions than there are columns
    problems.append(problem("a", "A-competition_with.a.very.long.name"))
    for draw, count in ((figure_1_beside, figure_1_counts), (figure_2_beside, figure_2_counts)):
        for path in figures.save(draw(count(problems), "a $v2$ 名字"), tmp_path / draw.__name__):
            assert path.stat().st_size > 1000
