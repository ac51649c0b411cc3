"""A person's corrections: what they change, and that they cannot leave nothing."""

from __future__ import annotations

import pytest

from creativemath_utils.generate import solution_from
from creativemath_utils.records import KitError, Problem, Request, Response, Solution, samples_of
from creativemath_utils.review import correct, cut_out, read_edits, side_by_side

(SAMPLE,) = samples_of([Problem("p", "IMO", "i", 2020, 1, None, None, "Is $x<y$?", ("First.",))])
REPLY = Response.answer(Request("a", {"id": "m"}, (), {}), "Sure! Let $x<2$.\nSo <b>x</b> is 1.", finish_reason="stop")


@pytest.mark.parametrize(
    ("raw", "solution", "parts"),
    [
        ("Sure! Let x = 2.", "Let x = 2.", ["Sure!"]),
        ("a b c d e", "a c e", ["b", "d"]),
        ("a b", "a b", []),
        ("a  b\n\nc", "a b c", []),  # white space is not counted
        ("a b", "something else", ["a b"]),  # written anew: all of it was taken out
    ],
)
def test_what_was_cut_out(raw, solution, parts):
    assert cut_out(raw, solution) == parts


def test_a_correction_wins_and_the_last_one_counts(tmp_path, capsys):
    path = tmp_path / "human" / "edits.jsonl"
    assert read_edits(path) == {}
    before = solution_from(SAMPLE, "a", REPLY, read_edits(path))
    correct(before, "Let $x<2$.", path=path)
    correct(before, "So <b>x</b> is 1.", "the first line is talk", path=path)
    after = solution_from(SAMPLE, "a", REPLY, read_edits(path))
    assert (after.solution, after.removed) == ("So <b>x</b> is 1.", ("Sure! Let $x<2$.",))
    assert after.text == REPLY.text  # what the model said stays as it said it
    assert "run notebook 02 again" in capsys.readouterr().out


def test_a_correction_of_another_answer_changes_nothing(tmp_path):
    path = tmp_path / "edits.jsonl"
    correct(Solution("q", 1, 1, "a", "t", "t", (), "ok", 64 * "0"), "other", path=path)
    assert solution_from(SAMPLE, "a", REPLY, read_edits(path)) == solution_from(SAMPLE, "a", REPLY)


def test_nothing_is_no_correction(tmp_path):
    path = tmp_path / "edits.jsonl"
    with pytest.raises(KitError, match="must leave something"):
        correct(solution_from(SAMPLE, "a", REPLY), " \n", path=path)
    assert not path.exists()
    path.write_text('{"key": "0123456789abcdef", "solution": " "}\n')
    with pytest.raises(KitError, match="edit of 0123456789ab leaves nothing"):
        read_edits(path)


def test_side_by_side_shows_texts_as_they_are_and_strikes_what_was_taken_out():
    shown = side_by_side(solution_from(SAMPLE, "a", REPLY))
    assert "<del>Sure!</del>" in shown
    assert "So &lt;b&gt;x&lt;/b&gt; is 1." in shown and "<b>" not in shown
    assert shown.count("$x&lt;2$") == 2  # on both sides
