"""Questions put a second time: which, in what form, and how turned verdicts are counted."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from creativemath_utils.models import Model
from creativemath_utils.profile import Corpus, Profile
from creativemath_utils.records import KitError, PairVote, Problem, Recheck, Response, Solution, Vote, samples_of
from creativemath_utils.rows import to_row
from creativemath_utils.stability import ask_again, flips, second_questions, shuffled
from creativemath_utils.store import read_records, write_records

PROBLEM = Problem("p", "IMO", "p", None, 1, None, None, "1 + 1?", ("First.", "Second.", "Third."))
SAMPLES = samples_of([PROBLEM])
SOLUTIONS = [Solution("p", k, 3, g, f"{g} {k}", f"{g} {k}", (), "ok", "key") for g in ("x", "y") for k in (1, 2, 3)]
VOTES = [Vote("p", k, "x", stage, "j", "YES", "key") for stage in ("correctness", "coarse") for k in (1, 2, 3)]
PAIRS = [PairVote("p", 1, "x", "y", "j", "NO", "key")]


def profile(**fields):
    made = Profile(run="r", corpus=Corpus(source="demo"), generators=("x", "y"), judges=("j",), **fields)
    return made.model_copy(update={"table": {"j": Model(name="j", backend="api", id="judge")}})


def test_only_what_has_two_references_is_shuffled_and_only_pairs_are_swapped():
    found = {(q.kind, q.stage, q.k) for q in second_questions(SAMPLES, SOLUTIONS, VOTES, PAIRS, 99)}
    every = {("again", stage, k) for stage in ("correctness", "coarse") for k in (1, 2, 3)}
    several = {("shuffled", "correctness", k) for k in (1, 2, 3)} | {("shuffled", "coarse", k) for k in (2, 3)}
    assert found == every | several | {("swapped", "pair", 1)}


def test_a_longer_run_keeps_the_questions_of_a_shorter_one():
    short, long = (second_questions(SAMPLES, SOLUTIONS, VOTES, PAIRS, size) for size in (2, 4))
    assert {q[:6] for q in short} < {q[:6] for q in long}


def test_what_is_asked():
    by_kind = {q.kind: q for q in second_questions(SAMPLES, SOLUTIONS, VOTES[-1:], PAIRS, 1)}
    again, other, swapped = (by_kind[kind].ballot.prompt for kind in ("again", "shuffled", "swapped"))
    assert again.index("First.") < again.index("Second.") < again.index("Third.")
    assert sorted(again) == sorted(other) and again != other  # the same texts, in another order
    assert swapped.index("y 1") < swapped.index("x 1")  # what was new is now the reference


@pytest.mark.parametrize(
    ("references", "possible"),
    [
        (("a", "b"), {("b", "a")}),  # two change places
        (("a", "a"), {("a", "a")}),  # no other order to be had
        (("a",), {("a",)}),
    ],
)
def test_another_order(references, possible):
    assert {shuffled(references, seed) for seed in range(5)} == possible
    assert all(shuffled(("a", "b", "c"), seed) != ("a", "b", "c") for seed in range(20))


def test_again_is_a_new_call_and_every_judge_that_voted_is_asked():
    asked = []

    def complete(requests):
        asked.extend(requests)
        return [Response.answer(r, "NO", finish_reason="stop") for r in requests]

    rechecks = ask_again(SAMPLES, SOLUTIONS, VOTES[:1], PAIRS, profile(stability=5, judge_retries=2), complete)
    assert [(r.kind, r.before, r.after) for r in rechecks] == [
        ("again", "YES", "NO"),
        ("shuffled", "YES", "NO"),
        ("swapped", "NO", "NO"),
    ]
    assert [request.sample for request in asked] == [3, 0, 0]  # after the retries 1 and 2
    assert {request.ledger for request in asked} == {"judge.stability"}


def recheck(before, after, kind="again", judge="j"):
    return Recheck(kind, "coarse", "p", 1, None, "x", judge, before, after, "key")


def test_flips_by_hand():
    said = [recheck("YES", "NO"), recheck("YES", "YES"), recheck("NO", "UNPARSED"), recheck("NO", "NO", "swapped", "i")]
    said.append(recheck("UNPARSED", "YES", "swapped", "j"))
    table = flips(said).astype(object).where(lambda t: t.notna(), None)
    assert table.to_numpy().tolist() == [
        ["again", "j", 3, 2, 1, 0.5],  # no verdict the second time: neither kept nor turned
        ["swapped", "i", 1, 1, 0, 0.0],
        ["swapped", "j", 1, 0, 0, None],  # nothing to compare
    ]
    assert flips([]).empty


def test_nothing_is_asked_without_votes():
    profile_like = SimpleNamespace(stability=3, judge_retries=0, verdict_rule="strict")
    assert ask_again(SAMPLES, SOLUTIONS, [], [], profile_like, lambda requests: list(requests)) == []
    assert isinstance(flips([]), pd.DataFrame)


def test_a_file_of_second_verdicts_reads_back(tmp_path):
    """A pair of models is a stage here, and here alone; a word that is no verdict is refused with its line."""
    kept = [
        Recheck("again", "coarse", "p", 1, None, "a", "j", "YES", "UNPARSED", "key"),
        Recheck("swapped", "pair", "p", 1, "b", "a", "j", "YES", "NO", None),
    ]
    file = tmp_path / "stability.jsonl"
    write_records(file, kept)
    assert read_records(file, Recheck) == kept
    write_records(file, [{**to_row(kept[0]), "after": "MAYBE"}])
    with pytest.raises(KitError, match=r"stability.jsonl:1: after 'MAYBE' is none of YES, NO, UNPARSED"):
        read_records(file, Recheck)
