"""The limits of a run: what a call may cost is known before it is sent, and no limit is passed, whatever comes back."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys

import pytest
from loopback import Loopback, Reply, answer, error

from creativemath_utils.backends.api import ApiBackend
from creativemath_utils.engine import Engine
from creativemath_utils.ledger import Ledger, Ledgers
from creativemath_utils.models import read_model
from creativemath_utils.records import KitError, Request, Response, user_message
from creativemath_utils.spending import FRAME_TOKENS, LimitReached, Spending, cost_usd

DEAR = {"input": 1_000_000, "output": 1_000_000, "date": "2026-01-01"}  # a dollar a token, to count by hand
ANSWER_USD = 12  # of the loopback server: 7 tokens in, 5 out
FRAME_USD = FRAME_TOKENS
URL = "http://127.0.0.1:1/v1"


def model(name="m", backend="api", price=DEAR, **fields):
    fields = {"base_url": URL, "price": price, **fields} if backend == "api" else fields
    return read_model(name, {"backend": backend, "id": name, **fields}, "test")


def request(question="", name="m", tokens=10):
    return Request(
        name, {"id": name}, user_message(str(question)), {"max_new_tokens": tokens}, ledger=f"generate.{name}"
    )


def requests(count, tokens=10, name="m"):
    return [request(f"question {i:02}", name, tokens) for i in range(count)]  # 11 characters: 4 tokens


WORST_USD = 4 + FRAME_USD + 10


@pytest.mark.parametrize(
    ("usage", "batch", "cost"),
    [
        ({"input_tokens": 7, "output_tokens": 5}, False, 12),
        ({"input_tokens": 7, "output_tokens": 5}, True, 6),  # half in a batch
        ({"input_tokens": 7}, False, None),  # half of the count is no count
        (None, False, None),
        ({"input_tokens": 0, "output_tokens": 0}, False, 0),
    ],
)
def test_the_cost_of_a_call(usage, batch, cost):
    assert cost_usd(model(), usage, batch=batch) == cost
    assert cost_usd(model(price=None), usage, batch=batch) is None


@pytest.mark.parametrize(
    ("settle", "left"),
    [
        (lambda charge: charge.paid({"input_tokens": 7, "output_tokens": 5}), 100 - 12),
        (lambda charge: charge.free(), 100),
        (lambda charge: charge.paid(None), 100 - WORST_USD),  # nobody said: the worst case counts
        (lambda charge: None, 100 - WORST_USD),  # the reply was lost on its way
    ],
)
def test_what_a_call_leaves(settle, left):
    account = Spending(max_cost_usd=100)
    charge = account.try_reserve(model(), request("question 00"))
    assert (charge.aside_usd, account.total_usd) == (WORST_USD, 0)
    settle(charge)
    account.settle(charge)
    assert 100 - account.total_usd == left


def test_calls_in_flight_cannot_pass_the_limit_together():
    account = Spending(max_cost_usd=3 * WORST_USD - 1)
    first, second = (account.try_reserve(model(), request("question 00")) for _ in range(2))
    assert account.try_reserve(model(), request("question 00")) is None  # it may fit when the others have cost less
    first.free()
    account.settle(first)
    third = account.try_reserve(model(), request("question 00"))
    for charge in (second, third):
        account.settle(charge)  # at their worst
    with pytest.raises(
        LimitReached, match="stopped before max_cost_usd: 89 is passed: the run has made 3 calls for 60"
    ):
        account.try_reserve(model(), request("question 00"))


def test_a_worst_case_that_was_passed_is_no_worst_case():
    """A language that takes more tokens than counted: what was seen once is expected from then on."""
    account = Spending(max_cost_usd=1000)
    charge = account.try_reserve(model(), request("question 00"))
    charge.paid({"input_tokens": 50, "output_tokens": 10})  # 60 where 30 were set aside
    account.settle(charge)
    assert account.try_reserve(model(), request("question 00")).aside_usd == 60


def test_without_max_new_tokens_the_worst_case_is_not_known():
    asked = Request("m", {}, user_message("?"), {"max_new_tokens": None})
    with pytest.raises(KitError, match="m: max_cost_usd needs max_new_tokens"):
        Spending(max_cost_usd=1).try_reserve(model(), asked)
    assert Spending(max_calls=1).try_reserve(model(), asked) is not None


@pytest.mark.parametrize(
    ("backend", "calls"),
    [("api", 0), ("local", 2), ("rules", 0), ("embedding", 0)],  # an api backend enters its own, baselines are no calls
)
def test_calls_that_the_engine_counts(backend, calls):
    account = Spending(max_calls=2)
    for _ in range(2):
        account.count(model(backend=backend))
    assert account.calls == calls
    if calls == 2:
        with pytest.raises(LimitReached, match="max_calls: 2 is passed: the run has made 2 calls, and"):
            account.count(model(backend=backend))


# --- a whole run against a server -----------------------------------------------------------------


def run(folder, url, asked, price=DEAR, concurrency=4, fields=None, **limits):
    """The answers in the ledger afterwards, and the line with which the run stopped."""
    made = model(base_url=url, price=price, **(fields or {}))
    line = None
    with Engine({"m": made}, Ledgers(folder), concurrency=concurrency, **limits) as engine:
        try:
            engine.complete(asked)
        except KitError as stop:
            assert type(stop) is KitError  # its name is how the command line knows it
            line = str(stop)
        assert engine.failures == {}
    path = folder / "generate.m.jsonl"
    return len(Ledger(path)) if path.exists() else 0, line


@pytest.mark.parametrize(
    ("limits", "answers", "says"),
    [
        ({"max_calls": 5}, 5, "stopped before max_calls: 5 is passed: the run has made 5 calls for 60 US dollars"),
        ({"max_calls": 12}, 12, None),  # just enough
        ({"max_cost_usd": 12 * ANSWER_USD + WORST_USD}, 12, None),  # room for the last one's worst case
        (
            {"max_cost_usd": WORST_USD + 2 * ANSWER_USD},
            3,
            "max_cost_usd: 54 is passed: the run has made 3 calls for 36",
        ),
        ({"max_cost_usd": WORST_USD - 1}, 0, "the run has made 0 calls"),
        ({"max_cost_usd": 10_000, "max_calls": 7}, 7, "raise max_calls in the profile and run again to go on"),
    ],
)
@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_limit_stops_the_run_before_it_is_passed(tmp_path, limits, answers, says, concurrency):
    with Loopback(delay=0.01) as loopback:
        kept, line = run(tmp_path, loopback.url, requests(12), concurrency=concurrency, **limits)
        assert kept == len(loopback.calls) == answers  # as far as the limit goes, and every answer is kept
    assert says in line and "all answers are kept" in line if says else line is None


def test_raised_limits_go_on_and_the_ledger_counts(tmp_path):
    """What the run has in its ledger counts: the same limit again asks nothing, a higher one the difference."""
    with Loopback() as loopback:
        counts = []
        for limits in ({"max_calls": 5}, {"max_calls": 5}, {"max_cost_usd": 7 * ANSWER_USD + WORST_USD - ANSWER_USD},
                       {"max_cost_usd": 1e6}):  # fmt: skip
            run(tmp_path, loopback.url, requests(12), **limits)
            counts.append(len(loopback.calls))
    assert counts == [5, 5, 7, 12]


def test_tries_are_calls():
    """Every other try fails: twelve calls are at most twelve tries, and what the endpoint refused is free."""
    account = Spending(max_calls=12)
    with Loopback(lambda call: error(500, "x") if call.number % 2 else None) as loopback:
        backend = ApiBackend(model(base_url=loopback.url), 3, spending=account, backoff_seconds=0.001)
        answers, stop = ask(backend, requests(20))
    assert len(loopback.calls) == account.calls == 12
    assert isinstance(stop, LimitReached)
    assert account.total_usd == 6 * ANSWER_USD and 3 <= len(answers) <= 6


def ask(backend, asked):
    async def collect():
        found, fault = [], None
        try:
            async for response in backend.answers(asked):
                found.append(response)
        except KitError as raised:
            fault = raised
        await backend.close()
        return found, fault

    return asyncio.run(collect())


BLANK = Reply({"choices": [{"message": {"content": ""}, "finish_reason": "stop"}],
               "usage": {"prompt_tokens": 7, "completion_tokens": 1}})  # fmt: skip


@pytest.mark.parametrize(
    ("fault", "cost"),
    [
        (error(429, "x"), 0),
        (Reply({"error": {"code": 500, "message": "x"}}), 0),
        (BLANK, 8),  # paid for, and asked again
        (answer("half", finish="error"), 12),  # no answer, but its tokens are counted
        (Reply({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 0}}), 7),
        (Reply({"choices": []}), WORST_USD),  # nobody said
        (Reply(b"<html>"), WORST_USD),  # whatever that was, it may have been paid
        (Reply(reset=True), WORST_USD),  # the reply was lost on its way
        (answer("late", delay=20), WORST_USD),
        (error(400, "Unsupported parameter: 'max_tokens'", param="max_tokens"), 0),  # learnt, and asked in another form
    ],
    ids=lambda value: f"{value.status} {str(value.body)[:20]}" if isinstance(value, Reply) else str(value),
)
def test_what_a_fault_costs(fault, cost):
    account = Spending(max_cost_usd=1000)
    with Loopback([fault]) as loopback:
        made = model(base_url=loopback.url, timeout_seconds=1)
        answers, stop = ask(ApiBackend(made, 1, spending=account, backoff_seconds=0.001), requests(1))
    assert stop is None and answers[0].status == "ok"
    assert account.calls == 2 and account.total_usd == cost + ANSWER_USD


def test_a_server_that_cannot_be_reached_costs_nothing():
    with Loopback() as loopback:
        url = loopback.url
    account = Spending(max_cost_usd=1000)
    answers, _ = ask(ApiBackend(model(base_url=url), 1, spending=account, tries=2, backoff_seconds=0.001), requests(1))
    assert answers[0].status == "failed" and account.total_usd == 0


def test_two_models_share_one_limit(tmp_path):
    with Loopback(delay=0.01) as loopback:
        models = {name: model(name, base_url=loopback.url) for name in "ab"}
        asked = [*requests(10, name="a"), *requests(10, name="b")]
        with Engine(models, Ledgers(tmp_path), concurrency=3, max_calls=9) as engine, pytest.raises(KitError):
            engine.complete(asked)
        assert len(loopback.calls) == 9


def test_a_limit_of_money_needs_prices(tmp_path):
    with Loopback() as loopback:
        kept, line = run(tmp_path, loopback.url, requests(2), price=None, max_cost_usd=1)
        assert (kept, loopback.calls) == (0, [])
        assert line.startswith("nothing was asked; m: max_cost_usd needs its price; add `price: {input: ")
        assert run(tmp_path, loopback.url, requests(2), price=None, max_calls=2) == (2, None)


def test_a_run_with_all_its_answers_needs_neither_price_nor_limit(tmp_path):
    with Loopback() as loopback:
        run(tmp_path, loopback.url, requests(3))
        assert run(tmp_path, loopback.url, requests(3), price=None, max_cost_usd=1, max_calls=1) == (3, None)
        assert len(loopback.calls) == 3


def test_baselines_are_not_counted_from_the_ledger(tmp_path):
    ledger = Ledger(tmp_path / "judge.m.jsonl", writable=True)
    names = {"m": model(), "rules": model("rules", backend="rules"), "here": model("here", backend="local")}
    usage = {"input_tokens": 1, "output_tokens": 1}
    ledger.append(
        Response.answer(request(f"{name} {i}", name), "YES", usage=usage, settings_used={"batch": True} if i else {})
        for name in (*names, "unknown")
        for i in range(2)
    )
    ledger.close()
    account = Spending(max_calls=100)
    for _ in range(2):  # once
        account.count_earlier(Ledgers(tmp_path).tallies(), names)
    assert account.calls == 6  # two each of m, of the local model, and of one that is in no table any more
    assert account.total_usd == 2 + 1  # m's two answers, the second from a batch


PROFILE = """
run: limited
corpus: {source: demo}
limit: 6
generators: [m]
judges: [rules]
max_calls: 4
models:
  m: {backend: api, id: m, base_url: "URL"}
"""


def test_a_limit_ends_a_notebook_with_one_line(kit_root):
    """Exit code 2, the answers kept, no stage file; with the limit raised the same command goes on."""
    profile = kit_root / "limited.yaml"

    def kit(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "creativemath_utils", "run", *arguments, "--profile", str(profile)],
            env={**os.environ, "CREATIVEMATH_ROOT": str(kit_root), "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, timeout=300,
        )  # fmt: skip

    with Loopback(seconds=600) as loopback:
        profile.write_text(PROFILE.replace("URL", loopback.url), "utf-8")
        assert kit("01_curate").returncode == 0
        stopped = kit("02_generate")
        assert (stopped.returncode, stopped.stderr.count("\n")) == (2, 1), stopped.stderr
        assert (
            "stopped before max_calls: 4 is passed: the run has made 4 calls, and all answers are kept"
            in stopped.stderr
        )
        run_folder = kit_root / "data" / "runs" / "limited"
        assert not (run_folder / "solutions").exists()
        assert len(Ledger(run_folder / "responses" / "generate.m.jsonl")) == 4
        profile.write_text(PROFILE.replace("URL", loopback.url).replace("max_calls: 4", "max_calls: 6"), "utf-8")
        assert kit("02_generate").returncode == 0
        assert len(loopback.calls) == 6
    assert (run_folder / "solutions" / "m.jsonl").is_file()
