"""The plan of a run: calls counted by hand, what is missing said at once, and nothing asked or written."""

from __future__ import annotations

from pathlib import Path

import pytest

from creativemath_utils.plan import missing_things, plan_text, planned_requests
from creativemath_utils.profile import load_profile
from creativemath_utils.records import Problem, samples_of

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
    planned = planned_requests(profile, samples_of([problem]))
    counts = {stage: len({request.key for request in requests}) for stage, requests in planned.items()}
    assert counts == {
        "generate": 4,  # 2 generators × 2 samples
        "judge: correctness": 8,  # 2 generators × 2 samples × 2 judges
        "judge: coarse": 8,
        "judge: fine": 4,  # 2 generators × 1 sample × 2 judges
    }


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


def test_a_plan_leaves_no_file_behind(profile):
    plan_text(profile)
    assert not profile.paths.folder.exists()
