"""Long runs under bad conditions: many faults, and kill -9 at any moment. Every answer once, and the same files."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from loopback import Loopback, Reply, answer, error

from creativemath_utils.engine import Engine
from creativemath_utils.ledger import Ledgers
from creativemath_utils.models import read_model
from creativemath_utils.records import Request, user_message

pytestmark = pytest.mark.slow

CALLS = 10_000
FAULT_RATIO = 0.2  # of all tries
FAULTS = (
    error(500, "internal"),
    error(502, "bad gateway"),
    error(503, "overloaded"),
    error(429, "slow down"),
    error(429, "slow down", headers={"Retry-After": "soon"}),
    Reply(reset=True),
    Reply({"error": {"code": 524, "message": "upstream"}}),
    Reply({"choices": []}),
    Reply(b""),
    Reply(b"<html>busy</html>"),
    Reply(b'{"choices": [{"mess'),
    Reply({"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]}),
    answer("half", finish="error"),
)


def fault_of(text, attempt):
    """The fault of that try, or None: the same in every run, in whatever order calls arrive."""
    draw = random.Random(f"{text}, try {attempt}")
    return draw.choice(FAULTS) if draw.random() < FAULT_RATIO else None


def tries_of(text):
    attempt = 0
    while fault_of(text, attempt) is not None:
        attempt += 1
    return attempt + 1


def test_a_soak_with_faults_ends_with_every_answer_once(tmp_path):
    def script(call):
        return fault_of(call.body["messages"][-1]["content"], call.attempt)

    questions = [f"question {i}" for i in range(CALLS)]
    with Loopback(script, keep_calls=False, seconds=1200) as loopback:
        models = {"m": read_model("m", {"backend": "api", "id": "m", "base_url": loopback.url}, "test")}
        requests = [Request("m", {"id": "m"}, user_message(text), {}, ledger="generate.m") for text in questions]
        with Engine(models, Ledgers(tmp_path), concurrency=50) as engine:
            responses = engine.complete(requests)
            assert engine.spending.calls == sum(map(tries_of, questions)) > CALLS / (1 - FAULT_RATIO) * 0.98
    assert [response.text for response in responses] == [f"echo {text}" for text in questions]
    keys = [json.loads(line)["key"] for line in (tmp_path / "generate.m.jsonl").open("rb")]
    assert len(keys) == CALLS and set(keys) == {request.key for request in requests}


# --- kill -9 --------------------------------------------------------------------------------------

KILLS = int(os.environ.get("CREATIVEMATH_KILLS", "50"))
KILLS_A_RUN = 5
CONCURRENCY = 4
PROFILE = """
run: killed
corpus: {source: demo}
limit: 24
generators: [a, b]
judges: [a, c]
concurrency: CONCURRENCY
models:
  a: {backend: api, id: a, base_url: "URL"}
  b: {backend: api, id: b, base_url: "URL"}
  c: {backend: api, id: c, base_url: "URL"}
"""
WORK = """
import sys
from creativemath_utils.generate import generate_solutions
from creativemath_utils.judge import judge_solutions
from creativemath_utils.run import open_run
run = open_run(sys.argv[1])
samples = run.samples()
for name, found in generate_solutions(samples, run.generators, run.profile, run.engine.complete).items():
    run.write(run.paths.solutions(name), found, ledger=f"generate.{name}")
cast = judge_solutions(samples, run.solutions(), run.profile.judges, run.profile, run.engine.complete)
for name in run.generators:
    run.write(run.paths.votes(name), [v for v in cast if v.generator == name], ledger=f"judge.{name}")
run.finish()
"""


def reply_of(call):
    """A long solution, or a vote, that follows from what was asked alone."""
    prompt = call.body["messages"][-1]["content"]
    draw = random.Random(call.body["model"] + prompt)
    if "Please output YES" in prompt:
        return answer(draw.choice(["YES", "YES", "YES", "NO", "Hard to say."]))
    return answer(f"Let x = {draw.random()}.\n" * draw.randint(1, 400))


class Killed:
    """A run on a root folder of its own, started as often as it takes."""

    def __init__(self, root: Path, url: str) -> None:
        self.root = root
        self.folder = root / "data" / "runs" / "killed"
        self.profile = root / "killed.yaml"
        self.profile.write_text(PROFILE.replace("URL", url).replace("CONCURRENCY", str(CONCURRENCY)), "utf-8")
        self.folder.mkdir(parents=True)
        shutil.copy(root / "data" / "demo" / "problems.jsonl", self.folder / "problems.jsonl")

    def start(self) -> subprocess.Popen:
        environment = {**os.environ, "CREATIVEMATH_ROOT": str(self.root), "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.Popen(
            [sys.executable, "-c", WORK, str(self.profile)], env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip

    def finish(self) -> None:
        process = self.start()
        _, errors = process.communicate(timeout=300)
        assert process.returncode == 0, errors

    def kill(self, reached, seconds: float) -> None:
        """Start, and kill so many seconds after `reached()` has become true."""
        process = self.start()
        deadline = time.monotonic() + 300
        while not reached() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.001)
        assert reached(), process.communicate()[1]
        time.sleep(seconds)
        process.kill()
        process.communicate()

    def stage_files(self) -> dict[str, bytes]:
        files = sorted(self.folder.glob("*/*.jsonl"))
        return {str(f.relative_to(self.folder)): f.read_bytes() for f in files if f.parent.name != "responses"}

    def keys(self) -> list[str]:
        files = (self.folder / "responses").glob("*.jsonl")
        return [json.loads(line)["key"] for file in files for line in file.open("rb")]

    def clear(self) -> None:
        for kind in ("responses", "solutions", "votes"):
            shutil.rmtree(self.folder / kind, ignore_errors=True)


def test_kill_at_any_moment_gives_the_same_files(kit_root):
    """In rounds: a fresh run, killed at a few moments from the first call to the last, then let end."""
    draw = random.Random(50)
    with Loopback(reply_of, delay=0.01, seconds=3600) as loopback:
        run = Killed(kit_root, loopback.url)
        run.finish()
        undisturbed, wanted, total = run.stage_files(), sorted(run.keys()), len(loopback.calls)
        assert sorted(undisturbed) == [f"{kind}/{name}.jsonl" for kind in ("solutions", "votes") for name in "ab"]
        assert len(wanted) == total > 100
        for start in range(0, KILLS, KILLS_A_RUN):
            run.clear()
            before = len(loopback.calls)
            kills = min(KILLS_A_RUN, KILLS - start)
            for moment in sorted(draw.randint(1, total) for _ in range(kills)):
                run.kill(lambda: len(loopback.calls) - before >= moment, draw.uniform(0, 0.05))  # noqa: B023
            run.finish()
            assert run.stage_files() == undisturbed
            assert sorted(run.keys()) == wanted  # each answer once
            assert len(loopback.calls) - before <= total + kills * CONCURRENCY * 3  # three models; those in flight
