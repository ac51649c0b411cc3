"""The plan of a run: calls counted by hand, what is missing said at once, and nothing asked or written."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopback import Loopback, answer

from creativemath_utils.agreement import common_novel_samples
from creativemath_utils.categories import categorize
from creativemath_utils.curate import load_corpus, run_samples
from creativemath_utils.engine import Engine
from creativemath_utils.generate import generate_solutions, generation_request, solution_from
from creativemath_utils.judge import judge_pairs, judge_request, judge_solutions, stage_ballot
from creativemath_utils.ledger import Ledgers
from creativemath_utils.metrics import collect_outcomes
from creativemath_utils.plan import missing_things, plan_text, rehearse
from creativemath_utils.profile import load_profile
from creativemath_utils.records import KitError, Problem, Response, samples_of
from creativemath_utils.stability import ask_again
from creativemath_utils.store import RunPaths

PROFILE = """
run: planned
corpus: {source: demo}
generators: [paid, free]
judges: [free, rules]
models:
  paid: {backend: api, id: paid, label: Paid, base_url: "http://127.0.0.1:9/v1", api_key_env: PLAN_TEST_KEY,
         decoding: {max_new_tokens: 1000000}, price: {input: 0, output: 2, date: "2026-01-01"}}
  free: {backend: api, id: free, label: Free, base_url: "http://127.0.0.1:9/v1"}
"""


@pytest.fixture
def profile(tmp_path: Path):
    file = tmp_path / "planned.yaml"
    file.write_text(PROFILE, "utf-8")
    return load_profile(file)


def test_calls_of_each_stage_by_hand(profile):
    """One problem with two solutions: two samples; only k = 1 has something left for the fine stage."""
    problem = Problem("A/1", "AIME", "A", None, 1, None, None, "1 + 1?", ("Two.", "Count: two."))
    calls = rehearse(profile, [problem], samples_of([problem])).calls
    assert {place: len(requests) for place, requests in calls.items()} == {
        ("generate", "paid"): 2,  # 2 samples
        ("generate", "free"): 2,
        ("judge: correctness", "free"): 4,  # 2 generators × 2 samples
        ("judge: correctness", "rules"): 4,
        ("judge: coarse", "free"): 4,
        ("judge: coarse", "rules"): 4,
        ("judge: fine", "free"): 2,  # 2 generators × 1 sample
        ("judge: fine", "rules"): 2,
        ("judge: pair", "free"): 2,  # 1 pair of models × 2 samples
        ("judge: pair", "rules"): 2,
    }


def test_what_the_ledger_holds_is_counted_as_answered_and_followed(tmp_path):
    """A recorded NO on correctness ends that solution's way: its later stages are no longer counted."""
    file = tmp_path / "planned.yaml"
    file.write_text(f"{PROFILE}\nrecording: recorded", "utf-8")
    profile = load_profile(file)
    problem = Problem("A/1", "AIME", "A", None, 1, None, None, "1 + 1?", ("Two.",))
    (sample,) = samples_of([problem])
    asked = generation_request(sample, "free", profile)
    answer = Response.answer(asked, "It is three.", finish_reason="stop")
    ballot = stage_ballot("correctness", sample, solution_from(sample, "free", answer))
    verdict = Response.answer(judge_request(ballot, "free", profile), "NO", finish_reason="stop")
    ledgers = Ledgers(tmp_path / "recorded")
    for ledger, response in ((asked.ledger, answer), (ballot.ledger, verdict)):
        ledgers.writable(ledger).append([response])
    ledgers.close()
    rehearsal = rehearse(profile, [problem], [sample])
    assert rehearsal.answered == {answer.key, verdict.key}
    assert {place: len(requests) for place, requests in rehearsal.calls.items()} == {
        ("generate", "paid"): 1,
        ("generate", "free"): 1,
        ("judge: correctness", "free"): 2,
        ("judge: correctness", "rules"): 2,
        ("judge: coarse", "free"): 1,  # that of `paid` alone
        ("judge: coarse", "rules"): 1,
    }  # and no pair: `free` is not correct


def test_money_is_counted_from_the_table_s_price(profile):
    """52 samples at a million new tokens each, two dollars a million: 104 dollars at most."""
    line = next(line for line in plan_text(profile).splitlines() if line.startswith("generate") and "Paid" in line)
    assert line.split()[-1] == "104.00"


def test_everything_that_is_missing_is_said_at_once(profile, monkeypatch):
    monkeypatch.delenv("PLAN_TEST_KEY", raising=False)
    assert [line for line in missing_things(profile) if "PLAN_TEST_KEY" in line]
    monkeypatch.setenv("PLAN_TEST_KEY", "x" * 20)
    assert missing_things(profile) == []
    assert "nothing is missing" in plan_text(profile) and "x" * 20 not in plan_text(profile)


def test_missing_problems_are_said_with_all_the_rest(tmp_path, monkeypatch):
    monkeypatch.delenv("PLAN_TEST_KEY", raising=False)
    monkeypatch.delenv("CREATIVEMATH_SUBSET", raising=False)
    file = tmp_path / "planned.yaml"
    file.write_text(PROFILE.replace("source: demo", "source: creativemath"), "utf-8")
    with pytest.raises(KitError, match=r"CREATIVEMATH_SUBSET.*PLAN_TEST_KEY"):
        plan_text(load_profile(file))


def test_gpu_memory_of_local_models_is_shown(tmp_path):
    """Seven billion parameters in bfloat16, two bytes each and a fifth more: 15.6 GiB."""
    file = tmp_path / "planned.yaml"
    local = "  big: {backend: local, id: org/big, label: Big, dtype: bfloat16, parameters_b: 7, gpus: 2}"
    file.write_text(PROFILE.replace("[paid, free]", "[paid, big]") + local, "utf-8")
    assert "Big: 16 GiB in bfloat16 on 2 GPUs" in plan_text(load_profile(file))


def test_the_plan_shows_what_an_early_stop_saves(tmp_path):
    """Two judges must agree on everything, so there is nothing to save; of three, a majority needs two."""
    file = tmp_path / "planned.yaml"
    for judges, saved in (("[free, rules]", "0 of the"), ("[free, rules, minilm]", "2 of the 10 calls")):
        text = PROFILE.replace("[paid, free]", "[free]").replace("[free, rules]", judges)
        file.write_text(f"{text}\nearly_stop: true\nlimit: 1\nmax_calls: 9", "utf-8")
        said = plan_text(load_profile(file))
        assert saved in said.partition("where judges agree, ")[2]
        assert "before it passes max_calls: 9." in said


def test_a_limit_on_money_needs_the_price_of_every_endpoint(tmp_path):
    file = tmp_path / "planned.yaml"
    file.write_text(f"{PROFILE}\nmax_cost_usd: 5", "utf-8")
    assert [
        line for line in missing_things(load_profile(file)) if line.startswith("free: max_cost_usd needs its price")
    ]


def test_second_questions_are_counted(tmp_path):
    """One question of each kind: one judge of two is a language model, each asks a pair, a shuffle and a repetition."""
    file = tmp_path / "planned.yaml"
    file.write_text(f"{PROFILE}\nstability: 1", "utf-8")
    problem = Problem("A/1", "AIME", "A", None, 1, None, None, "1 + 1?", ("Two.", "Count: two."))
    calls = rehearse(load_profile(file), [problem], samples_of([problem])).calls
    assert {place: len(requests) for place, requests in calls.items() if place[0] == "judge: asked again"} == {
        ("judge: asked again", "free"): 3,
        ("judge: asked again", "rules"): 3,
    }


def test_prices_have_dates_and_what_has_none_is_named(profile):
    said = plan_text(profile)
    assert "Prices: Paid of 2026-01-01." in said and "Without a price, so in no sum: Free." in said


def test_calls_that_may_pass_a_window_are_counted(tmp_path):
    """Every call may write a million tokens, and the window is of four thousand."""
    file = tmp_path / "planned.yaml"
    file.write_text(PROFILE.replace("api_key_env", "window: 4000, api_key_env"), "utf-8")
    assert "Paid: 52 of 52 calls may be longer than its window of 4,000 tokens" in plan_text(load_profile(file))


def test_a_plan_leaves_no_file_behind(profile):
    plan_text(profile)
    assert not profile.paths.folder.exists()


THREE_JUDGES = """
run: planned
corpus: {{source: demo}}
limit: 9
generators: [a, b]
judges: [x, y, z]
models: {{{models}}}
"""


@pytest.mark.parametrize(
    ("keys", "verdict", "exact"),
    [
        ("", "YES", True),  # every solution passes every stage, as the plan assumes
        ("early_stop: true", "YES", True),  # two of three equal votes on novelty decide
        ("both_directions: true\nstability: 4", "YES", True),  # pairs the other way round, and second questions
        ("categories: x\ncommentary: y", "YES", True),  # a call a problem, and one an answer
        ("", "NO", False),  # nothing passes: fewer calls than planned, never more
        ("judge_retries: 2", "Let me see.", False),  # no verdict: retries come on top, which the plan says
    ],
)
def test_a_run_makes_the_calls_of_its_plan(tmp_path, monkeypatch, keys, verdict, exact):
    """Plan, then run against a server on loopback, then plan again: what was left is what was asked."""

    def reply(call):
        return answer(f"Solution {call.number}" if call.body["model"] in "ab" else verdict)

    with Loopback(reply) as server:
        rows = ", ".join(f'{name}: {{backend: api, id: {name}, base_url: "{server.url}"}}' for name in "abxyz")
        file = tmp_path / "planned.yaml"
        file.write_text(THREE_JUDGES.format(models=rows) + keys, "utf-8")
        profile = load_profile(file)
        monkeypatch.setattr(type(profile), "paths", RunPaths("planned", root=tmp_path))
        problems, _ = load_corpus(profile)
        samples = run_samples(problems, profile)
        planned = left(rehearse(profile, problems, samples))
        with Engine(profile.table, Ledgers(profile.paths.responses)) as engine:
            categorize(problems, profile, engine.complete)
            assert engine.asked == planned.get("categories", 0) == (len(problems) if profile.categories else 0)
            made = generate_solutions(samples, profile.generators, profile, engine.complete)
            solutions = [solution for name in profile.generators for solution in made[name]]
            generated = engine.asked - planned.get("categories", 0) - planned.get("commentary", 0)
            votes = judge_solutions(samples, solutions, profile.judges, profile, engine.complete)
            outcomes = collect_outcomes(problems, solutions, votes, profile.judges)
            common = common_novel_samples(outcomes, profile.compared)
            pairs = judge_pairs(common, samples, solutions, profile.compared, profile.judges, profile, engine.complete)
            ask_again(samples, solutions, votes, pairs, profile, engine.complete)
            asked = engine.asked
        assert generated == planned["generate"] == 18  # 9 samples, 2 generators: known beforehand, whatever comes
        if exact:
            assert asked == sum(planned.values())
        elif verdict == "NO":
            assert asked == 18 + 18 * 3  # correctness alone
        else:  # each vote on correctness is asked three times in all
            assert asked == 18 + 18 * 3 * 3 and "asked again, up to 2 times" in plan_text(profile)
        assert sum(left(rehearse(profile, problems, samples)).values()) == 0  # of what it then needs, all is there


def left(rehearsal) -> dict[str, int]:
    """The calls that a plan leaves to be made, by stage."""
    counts: dict[str, int] = {}
    for (stage, _), requests in rehearsal.calls.items():
        counts[stage] = counts.get(stage, 0) + len(requests.keys() - rehearsal.answered)
    return counts
