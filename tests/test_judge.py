"""The three stages of judging and the pairs. No model: `complete` is a stub that keeps what it is asked."""

from itertools import product

import pytest

from creativemath_utils import agreement, judge, metrics
from creativemath_utils.judge import judge_pairs, judge_solutions, judgeable, majority, unanimous
from creativemath_utils.models import Model
from creativemath_utils.profile import Corpus, Profile
from creativemath_utils.records import Problem, Response, Sample, Solution

WORDS = {"Y": "YES", "N": "NO", "?": "UNPARSED"}
REPLIES = {"Y": "YES", "N": "NO", "?": "Hard to say."}
PROBLEM = Problem("p", "IMO", "i", 2020, 1, None, None, "Is $x<y$?", ("First.", "Second.", "Third.", "Fourth."))
JUDGES = ("j1", "j2", "j3")


def profile(judges=JUDGES, **settings):
    table = {name: Model(name=name, backend="api", id=f"id of {name}") for name in judges}
    return Profile(run="r", corpus=Corpus(source="demo"), generators=["a"], judges=judges, **settings).model_copy(
        update={"table": table}
    )


def solution(text="New.", k=1, generator="a", status="ok", problem=PROBLEM):
    return Solution(problem.problem_id, k, problem.n, generator, text, text, (), status, "0" * 64)


def panel(**votes):
    """A `complete` that gives each judge's vote by stage, `panel(correctness="YYY", coarse="YN?")`, and its calls."""
    calls = []

    def complete(requests):
        calls.append(list(requests))
        letters = [votes[request.slots["stage"]][int(request.model[1:]) - 1] for request in requests]
        return [Response.answer(request, REPLIES[letter]) for request, letter in zip(requests, letters, strict=True)]

    return complete, calls


def run(complete, solutions, *, judges=JUDGES, problem=PROBLEM, **settings):
    samples = [Sample(problem, k) for k in range(1, problem.n + 1)]
    return judge_solutions(samples, solutions, judges, profile(judges, **settings), complete)


def short(votes):
    return " ".join(f"{v.stage}:{v.judge}={v.verdict}" for v in votes)


def verdicts(letters):
    return [WORDS[letter] for letter in letters]


# --- decisions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "letters, all_say, most_say",
    [
        ("", None, None),  # no judge, no decision
        ("Y", True, True),
        ("N", False, False),
        ("?", None, None),
        ("YY", True, True),
        ("YN", False, False),  # a tie is no majority
        ("Y?", None, None),
        ("N?", False, False),  # at best a tie
        ("??", None, None),
        ("YYY", True, True),
        ("YYN", False, True),
        ("YNN", False, False),
        ("NNN", False, False),
        ("YY?", None, True),  # the missing vote cannot change the majority
        ("NN?", False, False),
        ("YN?", False, None),
        ("Y??", None, None),
        ("N??", False, None),
        ("???", None, None),
        ("YYYN", False, True),
        ("YYNN", False, False),
        ("YYY?", None, True),
        ("YY??", None, None),
        ("YN??", False, None),
        ("NN??", False, False),
        ("YYN?", False, None),
        ("YYYNN", False, True),
        ("YYNNN", False, False),
        ("YYY??", None, True),
        ("NNN??", False, False),
        ("YYNN?", False, None),
        ("?????", None, None),
    ],
)
def test_decisions(letters, all_say, most_say):
    assert unanimous(verdicts(letters)) is all_say
    assert majority(verdicts(letters)) is most_say


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("decide", [unanimous, majority])
def test_a_decision_stands_just_when_missing_votes_cannot_change_it(size, decide):
    for letters in product("YN?", repeat=size):
        filled = product(*(("YN" if letter == "?" else letter) for letter in letters))
        outcomes = {decide(verdicts(case)) for case in filled}
        assert decide(verdicts(letters)) is (outcomes.pop() if len(outcomes) == 1 else None)


@pytest.mark.parametrize(
    "status, text, judge_truncated, expected",
    [
        ("ok", "New.", True, True),
        ("ok", " \n", True, False),  # nothing there to judge
        ("truncated", "New.", True, True),
        ("truncated", "New.", False, False),
        ("truncated", "", True, False),
        ("blocked", "New.", True, False),
        ("refused", "I cannot.", True, False),
        ("failed", "", True, False),
    ],
)
def test_what_is_judged(status, text, judge_truncated, expected):
    assert judgeable(solution(text, status=status), judge_truncated) is expected
    complete, calls = panel(correctness="NNN")
    votes = run(complete, [solution(text, status=status)], judge_truncated=judge_truncated)
    assert bool(votes) is expected and any(calls) is expected


# --- what a judge sees ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "stage, k, references",
    [
        ("correctness", 1, "Solution 1:\nFirst.\n\nSolution 2:\nSecond."),  # the first two, whatever k is
        ("correctness", 4, "Solution 1:\nFirst.\n\nSolution 2:\nSecond."),
        ("coarse", 1, "Solution 1:\nFirst."),
        ("coarse", 3, "Solution 1:\nFirst.\n\nSolution 2:\nSecond.\n\nSolution 3:\nThird."),
        ("fine", 2, "Solution 1:\nThird.\n\nSolution 2:\nFourth."),  # k + 1..n, numbered from 1
        ("fine", 3, "Solution 1:\nFourth."),
    ],
)
def test_the_references_of_a_stage(stage, k, references):
    ballot = judge.stage_ballot(stage, Sample(PROBLEM, k), solution(k=k))
    middle = ballot.prompt.split("Given the following mathematical problem:\n")[1]
    wanted = "leads to the same result as the reference solutions" if stage == "correctness" else "is a novel solution"
    assert middle == (
        f"Is $x<y$?\n\nReference solutions:\n{references}\n\nNew solution:\nNew.\n\n"
        f"Please output YES if the new solution {wanted}; otherwise, output NO."
    )
    assert ballot.prompt.startswith("Criteria for evaluating the novelty") is (stage != "correctness")
    assert ballot.slots["stage"] == stage
    assert ballot.slots["problem"] == "Is $x<y$?"
    assert [f"Solution {i}:\n{r}" for i, r in enumerate(ballot.slots["references"], 1)] == references.split("\n\n")
    assert ballot.slots["solution"] == "New."


def test_one_reference_where_there_is_only_one():
    alone = Problem("q", "IMO", "i", None, 1, None, None, "P", ("Only.",))
    assert "Solution 1:\nOnly.\n\nNew" in judge.stage_ballot("correctness", Sample(alone, 1), solution()).prompt


def test_judges_see_the_solution_without_the_talk():
    talked = Solution("p", 1, 4, "a", "Here it is: New.", "New.", ("Here it is: ",), "ok", "0" * 64)
    assert "Here it is" not in judge.stage_ballot("coarse", Sample(PROBLEM, 1), talked).prompt


def test_a_judges_request():
    asked = profile(judge_decoding={"max_new_tokens": 9})
    ballot = judge.stage_ballot("coarse", Sample(PROBLEM, 1), solution())
    request = judge.judge_request(ballot, "j1", asked)
    assert request.messages == ({"role": "user", "content": ballot.prompt},)
    assert request.decoding == {"max_new_tokens": 9, "temperature": 0}
    assert (request.model, request.sample, request.ledger) == ("j1", 0, "judge.a")
    assert request.slots["about"] == "coarse of a, p, k = 1"


# --- stages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "votes, k, stages",
    [
        ({"correctness": "YYY", "coarse": "YYN", "fine": "NNN"}, 1, "correctness coarse fine"),
        ({"correctness": "YYN"}, 1, "correctness"),  # all judges must say YES
        ({"correctness": "YY?"}, 1, "correctness"),  # undecided did not pass
        ({"correctness": "YYY", "coarse": "YNN"}, 1, "correctness coarse"),
        ({"correctness": "YYY", "coarse": "YN?"}, 1, "correctness coarse"),
        ({"correctness": "YYY", "coarse": "YY?", "fine": "???"}, 3, "correctness coarse fine"),
        ({"correctness": "YYY", "coarse": "YYY"}, 4, "correctness coarse"),  # k = n: nothing left to compare with
    ],
)
def test_each_stage_only_for_what_passed_the_one_before(votes, k, stages):
    complete, calls = panel(**votes)
    cast = run(complete, [solution(k=k)])
    wanted = [f"{stage}:j{i + 1}={WORDS[votes[stage][i]]}" for stage in stages.split() for i in range(3)]
    assert short(cast) == " ".join(wanted)
    assert sum(len(call) for call in calls) == len(wanted)


def test_votes_come_by_solution_stage_judge():
    complete, calls = panel(correctness="YY", coarse="YY", fine="YY")
    cast = run(complete, [solution(k=4, generator="b"), solution(k=1)], judges=("j1", "j2"))
    assert [(v.generator, v.k, v.stage, v.judge) for v in cast] == [
        *[("b", 4, stage, j) for stage in ("correctness", "coarse") for j in ("j1", "j2")],
        *[("a", 1, stage, j) for stage in ("correctness", "coarse", "fine") for j in ("j1", "j2")],
    ]
    assert [len(call) for call in calls] == [4, 4, 2]  # a stage at a time, all solutions and judges at once


def test_a_vote_carries_the_key_of_its_answer():
    complete, calls = panel(correctness="NNN")
    assert [v.key for v in run(complete, [solution()])] == [request.key for request in calls[0]]


def test_no_decision_is_among_the_votes_and_two_runs_are_alike():
    first, second = (run(panel(correctness="YYY", coarse="YY?", fine="NNN")[0], [solution()]) for _ in range(2))
    assert first == second
    assert {v.judge for v in first} == set(JUDGES)


def test_a_solution_beyond_the_limit_is_not_judged():
    complete, _ = panel(correctness="NNN")
    votes = judge_solutions([Sample(PROBLEM, 1)], [solution(k=1), solution(k=2)], JUDGES, profile(), complete)
    assert {v.k for v in votes} == {1}


def test_equal_texts_of_two_generators_are_one_question():
    complete, calls = panel(correctness="YYY", coarse="NNN")
    run(complete, [solution(generator="a"), solution(generator="b"), solution("Other.", generator="c")])
    for asked in calls[:2]:
        assert len(asked) == 9 and len({request.key for request in asked}) == 6
        assert [request.ledger for request in asked] == ["judge.a"] * 3 + ["judge.b"] * 3 + ["judge.c"] * 3


def test_no_solutions_no_votes():
    assert run(panel()[0], []) == []


# --- replies --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "answer, rule, verdict, has_key",
    [
        (lambda r: Response.answer(r, "YES"), "strict", "YES", True),
        (lambda r: Response.answer(r, "NO", finish_reason="stop"), "strict", "NO", True),
        (lambda r: Response.answer(r, ""), "strict", "UNPARSED", True),
        (lambda r: Response.answer(r, "YES", status="truncated"), "strict", "UNPARSED", True),  # cut off
        (lambda r: Response.answer(r, "YES", finish_reason="length"), "strict", "UNPARSED", True),
        (lambda r: Response.answer(r, "YES", status="blocked"), "strict", "UNPARSED", True),
        (lambda r: Response.answer(r, "NO", status="refused"), "strict", "UNPARSED", True),
        (lambda r: Response.failure(r, "timed out"), "strict", "UNPARSED", False),
        (lambda r: Response.answer(r, "Hard to say."), "release", "NO", True),
        (lambda r: Response.answer(r, "", status="blocked"), "release", "UNPARSED", True),  # no reply to read
        (lambda r: Response.failure(r, "timed out"), "release", "UNPARSED", False),
        (lambda r: Response.answer(r, "", reasoning="YES"), "strict", "UNPARSED", True),  # thought, not said
    ],
)
def test_the_verdict_in_a_reply(answer, rule, verdict, has_key):
    cast = run(lambda requests: [answer(r) for r in requests], [solution(k=4)], judges=("j1",), verdict_rule=rule)
    assert cast[0].verdict == verdict
    assert (cast[0].key is not None) is has_key


def by_attempt(replies):
    """A `complete` that answers with `replies[judge][attempt]`, and its calls as (judge, attempt)."""
    calls = []

    def complete(requests):
        calls.append([(request.model, request.sample) for request in requests])
        return [
            Response.failure(r, "timed out")
            if replies[r.model][r.sample] == "!"
            else Response.answer(r, REPLIES[replies[r.model][r.sample]])
            for r in requests
        ]

    return complete, calls


@pytest.mark.parametrize(
    "retries, replies, expected, asked",
    [
        (0, {"j1": "?", "j2": "N"}, "?N", [["j1.0", "j2.0"]]),
        (1, {"j1": "?Y", "j2": "N"}, "YN", [["j1.0", "j2.0"], ["j1.1"]]),  # only those without a verdict
        (2, {"j1": "??Y", "j2": "?N"}, "YN", [["j1.0", "j2.0"], ["j1.1", "j2.1"], ["j1.2"]]),
        (1, {"j1": "??", "j2": "N"}, "?N", [["j1.0", "j2.0"], ["j1.1"]]),
        (3, {"j1": "N", "j2": "N"}, "NN", [["j1.0", "j2.0"]]),
        (1, {"j1": "!", "j2": "N"}, "?N", [["j1.0", "j2.0"]]),  # a failed call is asked by the next run, not here
        (1, {"j1": "?!", "j2": "N"}, "?N", [["j1.0", "j2.0"], ["j1.1"]]),
    ],
)
def test_a_reply_without_a_verdict_is_asked_again(retries, replies, expected, asked):
    complete, calls = by_attempt(replies)
    cast = run(complete, [solution()], judges=("j1", "j2"), judge_retries=retries)
    assert [v.verdict for v in cast] == verdicts(expected)  # one row a judge
    assert [[f"{name}.{attempt}" for name, attempt in call] for call in calls[: len(asked)]] == asked
    assert not any(calls[len(asked) :])


def test_the_last_answer_counts_with_its_key():
    complete, calls = panel(correctness="?")
    (vote,) = run(complete, [solution()], judges=("j1",), judge_retries=2)
    first, _, last = (call[0] for call in calls[:3])
    assert vote.key == last.key != first.key
    failed, _ = by_attempt({"j1": "?!"})
    (vote,) = run(failed, [solution()], judges=("j1",), judge_retries=1)
    assert vote.key is None


# --- pairs ----------------------------------------------------------------------------------------


def test_pairs_are_asked_with_the_earlier_model_as_reference():
    complete, calls = panel(pair="YN")
    solutions = [solution(f"By {name}.", k=2, generator=name) for name in "cab"]
    samples = [Sample(PROBLEM, k) for k in (1, 2)]
    votes = judge_pairs([("p", 2)], samples, solutions, ["a", "b", "c"], ["j1", "j2"], profile(), complete)
    assert [(v.reference_generator, v.generator, v.judge, v.verdict) for v in votes] == [
        (reference, new, name, verdict)
        for reference, new in (("a", "b"), ("a", "c"), ("b", "c"))  # i < j, never both ways
        for name, verdict in (("j1", "YES"), ("j2", "NO"))
    ]
    assert {(v.problem_id, v.k) for v in votes} == {("p", 2)}
    (asked,) = calls
    assert [v.key for v in votes] == [request.key for request in asked]
    assert {request.ledger for request in asked} == {"judge.pairs"}
    assert asked[0].messages[-1]["content"].split("mathematical problem:\n")[1] == (
        "Is $x<y$?\n\nReference solution:\nBy a.\n\nNew solution:\nBy b.\n\n"
        "Please output YES if the new solution is a novel solution; otherwise, output NO."
    )
    assert (asked[0].slots["references"], asked[0].slots["solution"]) == (["By a."], "By b.")


@pytest.mark.parametrize("common, models", [([], ["a", "b"]), ([("p", 1)], ["a"])])
def test_nothing_in_common_no_pairs(common, models):
    complete, calls = panel()
    solutions = [solution(generator=name) for name in models]
    assert judge_pairs(common, [Sample(PROBLEM, 1)], solutions, models, JUDGES, profile(), complete) == []
    assert not any(calls)


# --- early stop -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "cast, size, correctness, novelty",
    [
        ("", 1, 1, 1),
        ("", 2, 1, 1),  # one NO of two leaves at best a tie
        ("", 3, 1, 2),
        ("", 4, 1, 2),  # two NO of four leave at best a tie
        ("", 5, 1, 3),
        ("Y", 3, 1, 1),
        ("N", 3, 0, 1),
        ("?", 3, 1, 2),  # two more of a kind
        ("YY", 3, 1, 0),
        ("YN", 3, 0, 1),
        ("?N", 3, 0, 1),
        ("??", 3, 1, 1),  # nothing that the third can say decides, but it is asked: its vote is counted
        ("YYN", 5, 0, 1),
        ("Y??", 5, 1, 2),
        ("YYY", 3, 0, 0),
        ("YY?", 3, 0, 0),  # all have voted, correctness stays open
    ],
)
def test_the_fewest_votes_that_can_decide(cast, size, correctness, novelty):
    assert judge.fewest_votes(verdicts(cast), size, unanimous) == correctness
    assert judge.fewest_votes(verdicts(cast), size, majority) == novelty


@pytest.mark.parametrize(
    "votes, wanted, calls",
    [
        ({"correctness": "NYY"}, "N", [1]),
        ({"correctness": "YNY"}, "YN", [1, 1]),
        ({"correctness": "?NY"}, "?N", [1, 1]),  # without a verdict nothing is decided
        ({"correctness": "YY?"}, "YY?", [1, 1, 1]),
        ({"correctness": "YYY", "coarse": "NNY"}, "YYY NN", [1, 1, 1, 2]),
        ({"correctness": "YYY", "coarse": "YNN"}, "YYY YNN", [1, 1, 1, 2, 1]),
        ({"correctness": "YYY", "coarse": "YYN", "fine": "YYN"}, "YYY YY YY", [1, 1, 1, 2, 2]),
        ({"correctness": "YYY", "coarse": "Y?Y", "fine": "?NN"}, "YYY Y?Y ?NN", [1, 1, 1, 2, 1, 2, 1]),
    ],
)
def test_once_the_votes_in_hand_decide_nobody_else_is_asked(votes, wanted, calls):
    complete, asked = panel(**votes)
    cast = run(complete, [solution()], early_stop=True)
    by_stage = [[v for v in cast if v.stage == stage] for stage in votes]
    assert [[v.verdict for v in stage] for stage in by_stage] == [verdicts(letters) for letters in wanted.split()]
    assert all([v.judge for v in stage] == list(JUDGES[: len(stage)]) for stage in by_stage)
    assert [len(call) for call in asked] == calls


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_early_stop_decides_as_all_judges_do(size):
    """For all votes that a panel of that size can cast, and the metrics take from the rows what was decided."""
    judges = tuple(f"j{i + 1}" for i in range(size))
    alone = Problem("p", "IMO", "i", 2020, 1, None, None, "?", ("Only.",))
    for letters in product("YN?", repeat=size):
        stages = {"correctness": "Y" * size, "coarse": letters}
        for stage_votes in (stages, {"correctness": letters, "coarse": letters}):
            outcomes = []
            for early_stop in (True, False):
                one = solution(problem=alone)
                votes = run(panel(**stage_votes)[0], [one], judges=judges, problem=alone, early_stop=early_stop)
                frame = metrics.collect_outcomes([alone], [one], votes, judges)
                outcomes.append(tuple(frame.loc[0, list(metrics.DECISIONS)]))
            assert outcomes[0] == outcomes[1], letters


def test_waves_put_all_ballots_together():
    complete, calls = panel(correctness="YYY", coarse="NNN")
    run(complete, [solution(f"{i}.", k=4) for i in range(5)], early_stop=True)
    assert [len(call) for call in calls] == [5, 5, 5, 10]


def test_a_reply_without_a_verdict_is_asked_again_before_the_next_judge():
    complete, calls = by_attempt({"j1": "?N", "j2": "Y"})
    cast = run(complete, [solution()], judges=("j1", "j2"), judge_retries=1, early_stop=True)
    assert short(cast) == "correctness:j1=NO"
    assert calls == [[("j1", 0)], [("j1", 1)]]


def test_pairs_stop_early_too():
    complete, _ = panel(pair="NNY")
    solutions = [solution(f"By {name}.", generator=name) for name in "ab"]
    early = profile(early_stop=True)
    votes = judge_pairs([("p", 1)], [Sample(PROBLEM, 1)], solutions, ["a", "b"], JUDGES, early, complete)
    assert [(v.judge, v.verdict) for v in votes] == [("j1", "NO"), ("j2", "NO")]
    alike, undecided = agreement.similarity(votes, ["a", "b"], JUDGES, [("p", 1)])
    assert (alike.loc["a", "b"], undecided.loc["a", "b"]) == (1, 0)


def test_only_votes_that_were_cast_are_counted():
    votes = run(panel(correctness="YN?")[0], [solution()], early_stop=True)
    profiles = agreement.judge_profile(votes).set_index("judge")
    assert list(profiles.index) == ["j1", "j2"] and profiles["UNPARSED"].sum() == 0
    agreed = agreement.judge_agreement(votes)
    assert agreed[["judge", "other", "both", "same"]].values.tolist() == [["j1", "j2", 1, 0]]
    assert metrics.collect_outcomes([PROBLEM], [solution()], votes, JUDGES).loc[0, "unparsed"] == 0
