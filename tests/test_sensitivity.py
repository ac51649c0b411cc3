"""Other rules, other panels, other readings and kin, on votes few enough to count by hand."""

from __future__ import annotations

import pytest

from creativemath_utils.judge import any_yes
from creativemath_utils.records import Problem, Request, Response, Solution, Vote
from creativemath_utils.sensitivity import RULES, own_family, panel_variants, rule_differences, unparsed_reasons

Y, N, U = "YES", "NO", "UNPARSED"
PROBLEM = Problem("p", "IMO", "p", None, 1, None, None, "1 + 1?", ("Two.",))


def votes(generator, stage, verdicts, k=1, judges="abc"):
    return [
        Vote("p", k, generator, stage, j, v, f"{generator}{stage}{j}") for j, v in zip(judges, verdicts, strict=True)
    ]


def solution(generator):
    return Solution("p", 1, 1, generator, "text", "text", (), "ok", "key")


@pytest.mark.parametrize(
    ("verdicts", "decision"),
    [([Y, N, N], True), ([N, N, N], False), ([N, U, N], None), ([U, Y], True), ([], None)],
)
def test_any_one_yes(verdicts, decision):
    assert any_yes(verdicts) is decision


def test_variants_of_the_panel():
    """x: all say YES, then two of three; y: two of three say YES, so under the paper's rule it ends there."""
    cast = votes("x", "correctness", [Y, Y, Y]) + votes("x", "coarse", [Y, Y, N]) + votes("y", "correctness", [Y, Y, N])
    table = panel_variants([PROBLEM], [solution("x"), solution("y")], cast, "abc").set_index("variant")
    assert all(table[name].dtype.kind == "i" for name in ("samples", "correct", "undecided"))  # counts are whole
    found = {name: tuple(row[["correct", "novel", "undecided"]]) for name, row in table.iterrows()}
    paper, majority, any_one, all_novel, any_novel = RULES
    assert found == {
        paper: (1, 1, 0),
        majority: (2, 1, 1),  # y is let through, and has no votes on novelty
        any_one: (2, 1, 1),
        all_novel: (1, 0, 0),
        any_novel: (1, 1, 0),
        "without a": (1, 0, 0),  # of two votes a tie is no majority
        "without b": (1, 0, 0),
        "without c": (2, 1, 1),
    }


def test_where_the_released_rule_reads_otherwise():
    request = Request("a", {"id": "m"}, (), {})
    replies = {
        "xcorrectnessa": Response.answer(request, "NOT YES, rather: NO", finish_reason="stop"),
        "xcorrectnessb": Response.answer(request, "yes", finish_reason="stop"),  # the released rule wants capitals
        "xcorrectnessc": Response.answer(request, "YES", finish_reason="stop"),  # the same by both
    }
    cast = votes("x", "correctness", [N, Y, Y]) + votes("x", "coarse", [U, U, U])  # those replies are gone
    table = rule_differences(cast, replies.get)
    assert table.to_numpy().tolist() == [["a", "correctness", N, Y, 1], ["b", "correctness", Y, N, 1]]


def test_own_family():
    """Judge a is of x's family: it says YES to x, where the others say NO once and YES once."""
    cast = votes("x", "correctness", [Y, Y, N]) + votes("z", "correctness", [N, Y, U])
    table = own_family(cast, {"a": "f", "x": "f", "z": "g", "b": "h"})
    rows = {bool(r["kin"]): tuple(r[["solutions", "yes", "others_votes", "others_yes"]]) for _, r in
            table[table["stage"] == "correctness"].iterrows()}  # fmt: skip
    assert rows == {True: (1, 1, 2, 1), False: (1, 0, 1, 1)}
    assert set(table["judge"]) == {"a"}  # b has no kin among the generators, c no family
    assert own_family(cast, {}).empty


def test_why_votes_have_no_verdict():
    """One reply of each kind; judge c's was cut off with a verdict in it, which does not count."""
    request = Request("a", {"id": "m"}, (), {})
    replies = {
        "xcorrectnessa": Response.answer(request, "Output: YES\nOutput: NO", finish_reason="stop"),
        "xcorrectnessb": Response.answer(request, "", finish_reason="stop"),
        "xcorrectnessc": Response.answer(request, "Output: YES\nBut", status="truncated", finish_reason="length"),
        "xcoarseb": Response.answer(request, "", status="blocked"),
        "xcoarsec": Response.answer(request, "I'm unable to judge this.", finish_reason="stop"),
    }
    failed = Vote("p", 1, "x", "fine", "a", U, None)
    cast = (
        votes("x", "correctness", [U, U, U])
        + votes("x", "coarse", [Y, U, U])
        + votes("y", "coarse", [U], judges="a")
        + [failed]
    )
    table = unparsed_reasons(cast, replies.get).set_index(["judge", "stage"])
    assert list(table) == [  # in this order, and without `refused` and `no verdict`, which do not occur
        *("votes", "unparsed", "failed", "not kept", "blocked", "truncated", "empty", "refusal", "contradiction")
    ]
    assert {place: row.tolist() for place, row in table.iterrows()} == {
        ("a", "correctness"): [1, 1, 0, 0, 0, 0, 0, 0, 1],
        ("a", "coarse"): [2, 1, 0, 1, 0, 0, 0, 0, 0],  # the reply about y is gone
        ("a", "fine"): [1, 1, 1, 0, 0, 0, 0, 0, 0],
        ("b", "correctness"): [1, 1, 0, 0, 0, 0, 1, 0, 0],
        ("b", "coarse"): [1, 1, 0, 0, 1, 0, 0, 0, 0],
        ("c", "correctness"): [1, 1, 0, 0, 0, 1, 0, 0, 0],
        ("c", "coarse"): [1, 1, 0, 0, 0, 0, 0, 1, 0],
    }
    assert unparsed_reasons([], replies.get).empty
