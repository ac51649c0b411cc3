"""The API backend against a server on this machine that fails in all the ways that real ones do."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from loopback import Loopback, Reply, answer, error

from creativemath_utils.backends import open_backend
from creativemath_utils.backends.api import ApiBackend
from creativemath_utils.backends.throttle import Throttle
from creativemath_utils.models import read_model
from creativemath_utils.records import KitError, Request, user_message
from creativemath_utils.spending import Spending

DECODING = {"max_new_tokens": 64, "temperature": 0, "seed": 1}
SECRET = "sk-very-secret-0123456789"


def backend(url, concurrency=4, tries=12, backoff_seconds=0.001, longest_wait_seconds=300, spending=None, **fields):
    model = read_model("m", {"backend": "api", "id": "some-model", "base_url": url, **fields}, "test")
    return ApiBackend(model, concurrency, tries=tries, backoff_seconds=backoff_seconds,
                      longest_wait_seconds=longest_wait_seconds, spending=spending)  # fmt: skip


def requests(count=1, system=None, decoding=DECODING):
    return [Request("m", {"id": "some-model"}, user_message(f"question {i}", system), decoding) for i in range(count)]


def ask(made, asked):
    """The responses in the order of `asked`, or the KitError at which the backend gave up after them."""

    async def run():
        found, fault = {}, None
        try:
            async for response in made.answers(asked):
                assert response.key not in found
                found[response.key] = response
        except KitError as raised:
            fault = raised
        finally:
            await made.close()
        return [found[request.key] for request in asked if request.key in found], fault

    return asyncio.run(run())


def ask_one(script, decoding=DECODING, system=None, server=None, **options):
    """One call to a server with that script: the response, the KitError, and the calls the server saw."""
    with Loopback(script, **(server or {})) as loopback:
        responses, fault = ask(backend(loopback.url, **options), requests(1, system, decoding))
    return responses[0] if responses else None, fault, loopback.calls


def test_a_call_is_sent_as_asked_and_its_answer_read():
    response, fault, calls = ask_one([], system="Be brief.", extra_body={"top_k": 5})
    assert fault is None
    assert (response.status, response.text, response.finish_reason) == ("ok", "echo question 0", "stop")
    assert response.usage == {"input_tokens": 7, "output_tokens": 5}
    assert calls[0].path == "/v1/chat/completions"
    assert calls[0].body == {
        "model": "some-model",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "question 0"}],
        "max_tokens": 64, "temperature": 0, "seed": 1, "top_k": 5,
    }  # fmt: skip
    assert response.settings_used == {"max_tokens": 64, "temperature": 0, "seed": 1, "top_k": 5}


def test_a_base_model_is_sent_the_plain_text():
    response, _, calls = ask_one([], interface="completion")
    assert response.text == "echo question 0"
    assert (calls[0].path, calls[0].body["prompt"]) == ("/v1/completions", "question 0")


def test_any_text_can_be_sent():
    text = "a\u2028b, half of a pair \ud83d, 漢字"
    asked = [Request("m", {"id": "x"}, user_message(text), {})]
    with Loopback() as loopback:
        responses, _ = ask(backend(loopback.url), asked)
    assert loopback.calls[0].body["messages"][0]["content"] == text
    assert responses[0].text == f"echo {text}"


@pytest.mark.parametrize(
    "fault",
    [
        error(500, "internal"),
        error(502, "bad gateway"),
        error(529, "overloaded"),
        error(429, "slow down"),
        error(429, "slow down", headers={"Retry-After": "-3"}),
        error(429, "slow down", headers={"Retry-After": "0"}),
        error(429, "slow down", headers={"Retry-After": "soon"}),
        error(429, "slow down", headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}),
        error(503, "busy", headers={"Set-Cookie": "\xff=1"}),  # a cookie that could not be sent back
        Reply(b"<html>busy</html>", 502, {"Content-Type": "text/html; charset=hex"}),  # no encoding of text
        Reply(b"<html>busy</html>", 502, {"Content-Type": "text/html; charset=undefined"}),
        Reply(b"busy", headers={"Content-Type": "text/plain; charset=base64"}),
        Reply(b"no gzip", headers={"Content-Encoding": "gzip"}),
        Reply(b"half", headers={"Content-Length": "4", "Odd": "a\r\nno header"}),
        Reply(reset=True),
        Reply({"error": {"code": 524, "message": "upstream"}}),
        Reply({"choices": []}),
        Reply({"choices": None}),
        Reply(b""),
        Reply(b"<html>busy</html>"),
        Reply(b'{"choices": [{"mess'),
        Reply(b'{"choices": "\xff"}'),
        Reply(b'{"choices":' * 100_000),  # deeper than any reader goes
        answer(""),
        answer("half", finish="error"),
    ],
    ids=lambda reply: f"{reply.status} {str(reply.body)[:30]} {reply.headers}",
)
def test_what_may_pass_is_asked_again(fault):
    response, stop, calls = ask_one([fault, fault])
    assert stop is None
    assert (response.status, response.text, len(calls)) == ("ok", "echo question 0", 3)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (error(400, "maximum context length is 10", code="context_length_exceeded"), "lower max_new_tokens"),
        (error(400, "temperature must be between 0 and 1", param="temperature"), "correct 'temperature'"),
        (error(400, "max_tokens is too large: 64", param="max_tokens"), "max_new_tokens"),
        (error(400, "Unsupported parameter: 'top_k'", param="top_k"), "extra_body"),
        (error(413, "too large"), "HTTP 413"),
    ],
)  # fmt: skip
def test_what_is_in_vain_is_asked_once(reply, says):
    response, stop, calls = ask_one(lambda call: reply)
    assert (stop, len(calls)) == (None, 1)
    assert response.status == "failed" and says in response.error and "\n" not in response.error


def test_tries_come_to_an_end():
    response, _, calls = ask_one(lambda call: error(500, "down\nfor good"), tries=5)
    assert (response.status, len(calls)) == ("failed", 5)
    assert response.error == "HTTP 500: down for good; gave up after 5 tries"


@pytest.mark.parametrize(
    ("usage", "status", "tries"),
    [({"completion_tokens": 1}, "refused", 3), (None, "failed", 5)],  # paid: it is what the model has to say
)
def test_a_reply_that_stays_blank(usage, status, tries):
    body = {"choices": [{"message": {"content": ""}, "finish_reason": "stop"}], "usage": usage}
    response, _, calls = ask_one(lambda call: Reply(body), tries=5)
    assert (response.status, response.text, len(calls)) == (status, "", tries)


def test_a_blocked_prompt_is_an_outcome():
    response, stop, calls = ask_one(lambda call: error(400, "filtered", code="content_filter"))
    assert (response.status, response.text, stop, len(calls)) == ("blocked", "", None, 1)


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (error(401, f"Incorrect API key provided: {SECRET}"), "check the key in TEST_KEY"),
        (error(403, "forbidden"), "check the key in TEST_KEY"),
        (error(404, "no such model"), "knows no model 'some-model'"),
        (error(402, "Insufficient Balance"), "no credit left"),
        (error(429, "no quota", code="insufficient_quota"), "no credit left"),
        (Reply({"error": {"code": 401, "message": f"key {SECRET}"}}), "check the key in TEST_KEY"),
        (error(429, "later", headers={"Retry-After": "7200"}), "asks to wait 7200 s; run again later"),
    ],
)
def test_what_no_request_survives_ends_the_run(reply, says, monkeypatch):
    monkeypatch.setenv("TEST_KEY", SECRET)
    with Loopback(lambda call: reply) as loopback:
        responses, stop = ask(backend(loopback.url, concurrency=3, api_key_env="TEST_KEY"), requests(20))
    assert responses == [] and says in str(stop) and SECRET not in str(stop)
    assert len(loopback.calls) <= 3  # those in flight, and no more


@pytest.mark.parametrize(
    ("status", "location", "says"),
    [
        (301, "/v1/other", "sends calls on to http://127.0.0.1:PORT/v1/other (HTTP 301)"),  # it would lose its body
        (301, "/login?next=secret", "sends calls on to http://127.0.0.1:PORT/login (HTTP 301)"),
        (308, "https://127.0.0.1:1/v1", "sends calls on to https://127.0.0.1:1/v1 (HTTP 308)"),
        (307, "http://[::x", "sends calls on to no address"),
        (307, "/v1/chat/completions", "sends calls round in circles"),
    ],
)
def test_an_endpoint_that_sends_calls_elsewhere_is_named(status, location, says):
    account = Spending(max_cost_usd=1000)
    price = {"input": 1, "output": 1, "date": "2026-01-01"}
    with Loopback(lambda call: Reply(b"", status, {"Location": location})) as loopback:
        responses, stop = ask(backend(loopback.url, 1, spending=account, price=price), requests(3))
        port = loopback.url.removesuffix("/v1").rpartition(":")[2]
    assert responses == [] and str(stop) == f"{loopback.url} {says.replace('PORT', port)}; correct base_url"
    assert (account.calls, account.total_usd) == (1, 0)


@pytest.mark.parametrize(("times", "status", "tries"), [(2, "ok", 3), (99, "failed", 3)])
def test_an_endpoint_that_sends_calls_elsewhere_for_now_is_asked_again(times, status, tries):
    account = Spending()
    script = [Reply(b"", 302, {"Location": "/maintenance"})] * times
    response, stop, calls = ask_one(script, spending=account)
    assert (response.status, stop, len(calls), account.calls) == (status, None, tries, tries)
    assert status == "ok" or "/maintenance (HTTP 302); see whether base_url is right; gave up" in response.error


@pytest.mark.parametrize("status", [307, 308])
def test_a_call_goes_on_where_it_arrives_whole(status):
    response, stop, calls = ask_one([Reply(b"", status, {"Location": "/v1/chat/completions/"})])
    assert stop is None and response.text == "echo question 0"
    assert [call.path for call in calls] == ["/v1/chat/completions", "/v1/chat/completions/"]
    assert calls[0].body == calls[1].body


@pytest.mark.parametrize(
    ("end", "path"),
    [("/v1/", "/v1"), ("/a/v1?version=3", "/a/v1"), ("", "")],
)
def test_the_path_is_put_behind_that_of_the_address(end, path):
    with Loopback() as loopback:
        responses, _ = ask(backend(loopback.url.removesuffix("/v1") + end), requests(1))
    query = "?version=3" if "?" in end else ""
    assert responses[0].status == "ok" and loopback.calls[0].path == f"{path}/chat/completions{query}"


def test_every_fault_gives_its_connection_back():
    faults = [error(500, "x"), Reply(reset=True), Reply(b"<x>"), Reply(b"x", headers={"Content-Encoding": "gzip"}),
              error(413, "too large"), answer("late", delay=20), Reply(b"{", headers={"Content-Length": "9"}),
              None]  # fmt: skip

    async def run(url):
        made = backend(url, concurrency=12, tries=2, timeout_seconds=0.2)
        async for _ in made.answers(requests(60)):
            pass
        free = len(made._free), {made._free.count(client) for client in made._clients}
        await made.close()
        return free

    with Loopback(lambda call: faults[call.number % 8]) as loopback:
        assert asyncio.run(run(loopback.url)) == (20, {10})


def test_calls_in_flight_are_let_end_when_the_run_must_end():
    def script(call):
        first = "question 0" in call.body["messages"][0]["content"]
        return error(401, "revoked") if first else answer("paid for", delay=0.3)

    with Loopback(script) as loopback:
        responses, stop = ask(backend(loopback.url, concurrency=3), requests(20))
    assert "rejected the key" in str(stop)
    assert [response.text for response in responses] == ["paid for"] * 2
    assert len(loopback.calls) == 3


def test_nobody_waits_for_a_retry_that_is_in_vain():
    def script(call):
        first = "question 0" in call.body["messages"][0]["content"]
        return error(401, "revoked") if first else error(429, "later", headers={"Retry-After": "60"})

    started = time.monotonic()
    with Loopback(script) as loopback:
        _, stop = ask(backend(loopback.url, concurrency=3), requests(20))
    assert "rejected the key" in str(stop)
    assert time.monotonic() - started < 50


def rejecting(*faults):
    """A server that rejects a call as long as it holds what is named."""

    def script(call):
        return next((reply for name, reply in faults if name(call.body)), None)

    return script


def test_parameters_are_renamed_or_dropped_once_and_that_is_remembered():
    no_limit = error(400, "Unsupported parameter: 'max_tokens' is not supported with this model.", param="max_tokens")
    no_temperature = error(400, "'temperature' does not support 0 with this model.", param="temperature")
    script = rejecting((lambda b: "max_tokens" in b, no_limit), (lambda b: "temperature" in b, no_temperature))
    with Loopback(script) as loopback:
        responses, _ = ask(backend(loopback.url, concurrency=1), requests(5))
    assert [response.status for response in responses] == ["ok"] * 5
    assert len(loopback.calls) == 5 + 2  # two lessons
    assert responses[0].settings_used == responses[4].settings_used == {"max_completion_tokens": 64, "seed": 1}
    assert responses[0].request["decoding"] == DECODING  # what was asked stands beside it


def test_the_token_limit_is_never_left_out():
    neither = error(400, "Unsupported parameter", param="max_completion_tokens")
    no_limit = error(400, "Unsupported parameter", param="max_tokens")
    script = rejecting((lambda b: "max_tokens" in b, no_limit), (lambda b: "max_completion_tokens" in b, neither))
    response, _, calls = ask_one(script)
    assert (response.status, len(calls)) == ("failed", 2)


def test_many_calls_at_once_learn_together():
    no_seed = error(422, "seed: Extra inputs are not permitted", param="seed")
    script = rejecting((lambda b: "seed" in b, no_seed))
    with Loopback(script, delay=0.02) as loopback:
        responses, _ = ask(backend(loopback.url, concurrency=5), requests(20))
    assert {response.status for response in responses} == {"ok"}
    assert len(loopback.calls) <= 20 + 5


@pytest.mark.parametrize(
    "reply",
    [
        error(400, "Only user and assistant roles are supported!"),
        error(500, "Jinja Exception: System role not supported"),  # not a fault of the server that passes
    ],
)
def test_system_text_is_folded_where_the_role_is_rejected(reply):
    script = rejecting((lambda b: b["messages"][0]["role"] == "system", reply))
    with Loopback(script) as loopback:
        responses, _ = ask(backend(loopback.url, concurrency=1), requests(3, system="Be brief."))
    assert [response.text for response in responses] == [f"echo Be brief.\n\nquestion {i}" for i in range(3)]
    assert len(loopback.calls) == 3 + 1
    assert all(response.settings_used["system_folded"] for response in responses)


def test_a_template_fault_that_folding_does_not_mend_is_final():
    response, _, calls = ask_one(lambda call: error(500, "Jinja Exception: x is undefined"), system="Be brief.")
    assert (response.status, len(calls)) == ("failed", 2)


@pytest.mark.parametrize("as_date", [False, True])
def test_retry_after_is_obeyed_by_all_calls(as_date):
    refused = []

    def script(call):
        if not refused:
            moment = format_datetime(datetime.now(UTC) + timedelta(seconds=3), usegmt=True)
            refused.append(time.monotonic())
            return error(429, "slow down", headers={"Retry-After": moment if as_date else "2"})
        later.append(time.monotonic())
        return None

    later: list[float] = []
    with Loopback(script) as loopback:
        responses, _ = ask(backend(loopback.url, concurrency=1), requests(3))
    assert len(responses) == 3
    assert min(later) - refused[0] >= 1.9


@pytest.mark.parametrize(
    ("waits_for", "limit"),
    [
        ("room", None),
        ("money", 84 + 12 + 12 + 1),  # the worst case of one call beside the cost of two
    ],
)
def test_retry_after_is_obeyed_by_calls_that_wait_for_something_else(waits_for, limit):
    """They were told nothing themselves: the hold came while they waited."""
    sent = []

    def script(call):
        sent.append(time.monotonic())
        refused = replace(error(429, "slow down", headers={"Retry-After": "1"}), delay=0.2)
        return refused if call.number == 0 else None

    price = {"input": 1_000_000, "output": 1_000_000, "date": "2026-01-01"}  # a dollar a token
    account = Spending(max_cost_usd=limit)
    with Loopback(script) as loopback:
        made = backend(loopback.url, concurrency=3, spending=account, price=price)
        made._throttle.allowed = 1.0 if waits_for == "room" else 3.0
        responses, stop = ask(made, requests(3))
    assert stop is None and len(responses) == 3
    assert min(sent[1:]) - sent[0] >= 1.15
    assert (account.calls, account.total_usd) == (4, 36)


def test_a_call_that_is_stopped_while_it_waits_was_never_sent():
    account = Spending(max_calls=100)
    later = error(429, "slow down", headers={"Retry-After": "60"})

    async def run(url):
        made = backend(url, concurrency=3, spending=account)
        made._throttle.allowed = 1.0
        task = asyncio.create_task(anext(aiter(made.answers(requests(3)))))
        while account.calls < 2:  # the first was refused, the second has its place and waits
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await made.close()

    with Loopback(lambda call: later) as loopback:
        asyncio.run(run(loopback.url))
    assert len(loopback.calls) == account.calls == 1


@pytest.mark.parametrize(
    ("concurrency", "lost", "calls"),
    [
        (1, 10, 5 + 10 * 2),
        (4, 10, 5 + 10 * 2 + 3 * 2),  # at most three more are in flight
        (16, 16, 5 + 16 * 2 + 15 * 2),
    ],
)
def test_a_server_that_has_died_is_given_up(concurrency, lost, calls):
    """Five answers, then nothing: not every call of the rest is tried in vain."""
    with Loopback(lambda call: Reply(reset=True) if call.number >= 5 else None) as loopback:
        responses, stop = ask(backend(loopback.url, concurrency, tries=2), requests(100))
    assert f"{lost} calls in a row failed for good (connection failed" in str(stop)
    assert "see that the endpoint is up, then run again: all answers are kept" in str(stop)
    assert [response.status for response in responses].count("ok") == 5
    assert lost <= [response.status for response in responses].count("failed") < lost + concurrency
    assert len(loopback.calls) <= calls


@pytest.mark.parametrize("passing", [answer("fine"), error(413, "too large")])
def test_failures_between_signs_of_life_end_no_run(passing):
    def script(call):
        odd = int(call.body["messages"][0]["content"].split()[1]) % 2
        return error(500, "down") if odd else passing

    with Loopback(script) as loopback:
        responses, stop = ask(backend(loopback.url, 1, tries=2), requests(40))
    assert stop is None and len(responses) == 40
    assert sum("gave up after 2 tries" in (response.error or "") for response in responses) == 20


def test_a_rate_limit_is_found_out():
    """Where more than four at once are too many, the backend presses less, and all calls get through."""
    with Loopback(delay=0.02) as loopback:
        loopback.script = lambda call: error(429, "too many at once") if loopback.in_flight > 4 else None
        responses, _ = ask(backend(loopback.url, concurrency=16, backoff_seconds=0.05), requests(60))
    assert {response.status for response in responses} == {"ok"}


def test_the_throttle_halves_once_a_burst_and_comes_back_slowly():
    throttle = Throttle(8)
    started = time.monotonic()
    for _ in range(8):
        throttle.slow_down(started)
    assert throttle.allowed == 4
    for _ in range(4):
        throttle.speed_up()
    assert 4.8 < throttle.allowed < 5.1  # one more after a round
    for _ in range(100):
        throttle.speed_up()
    assert throttle.allowed == 8
    for _ in range(40):
        throttle.slow_down(time.monotonic())
    assert throttle.allowed == 1  # never none


def test_a_refusal_now_and_then_does_not_slow_the_rest():
    throttle = Throttle(8)
    for call in range(200):
        if call % 6 == 0:
            throttle.slow_down(time.monotonic())
        else:
            throttle.speed_up()
    assert throttle.allowed == 8


def test_as_many_calls_as_allowed_are_in_flight():
    with Loopback(delay=0.1) as loopback:
        responses, _ = ask(backend(loopback.url, concurrency=6), requests(24))
    assert len(responses) == 24
    assert loopback.most_in_flight == 6
    assert loopback.connections <= 6  # kept open


def test_a_call_that_takes_too_long_is_given_up():
    response, _, calls = ask_one(lambda call: answer("late", delay=20), tries=2, timeout_seconds=1)
    assert (response.status, len(calls)) == ("failed", 2)
    assert "timed out after 1 s; raise timeout_seconds" in response.error


@pytest.mark.parametrize(
    ("before", "calls"),
    [
        ([], 3),  # it would take as long each time, and may be paid each time
        ([error(429, "slow down")] * 4, 4 + 3),  # refusals are no such tries
        ([Reply(reset=True)], 1 + 3),
    ],
)
def test_an_answer_that_takes_too_long_every_time_is_asked_a_few_times_only(before, calls):
    script = [*before, *[answer("late", delay=20)] * 20]
    response, _, sent = ask_one(script, timeout_seconds=1)
    assert response.status == "failed" and len(sent) <= calls
    assert response.error == f"timed out after 1 s; raise timeout_seconds; gave up after {calls} tries"


def test_a_decoding_key_that_would_be_lost_is_refused():
    response, _, calls = ask_one([], decoding={"top_k": 5})
    assert (response.status, calls) == ("failed", [])
    assert "'top_k' is not known here; put it under extra_body" in response.error


@pytest.mark.parametrize(
    ("fields", "key", "says"),
    [
        ({"base_url": None}, None, "no base_url"),
        ({"base_url": "http:///v1"}, None, "is no address such as"),
        ({"base_url": "http://127.0.0.1:port/v1"}, None, "is no address such as"),
        ({"base_url": "http://me:pass@:1/v1"}, None, "base_url 'http://:1/v1' is no address"),  # no password shown
        ({"base_url": "http://me:p@ss@:1/v1?k=1"}, None, "base_url 'http://:1/v1' is no address"),
        ({"api_key_env": "TEST_KEY"}, None, "TEST_KEY is not set"),
        ({"api_key_env": "TEST_KEY"}, "  ", "TEST_KEY is not set"),
        ({"api_key_env": "TEST_KEY"}, f"{SECRET} x", "TEST_KEY holds a space"),
        ({"api_key_env": "TEST_KEY"}, f"{SECRET}é", "TEST_KEY holds a space or a sign"),
        ({"api_key_env": "TEST_KEY"}, f"{SECRET}\n", None),  # as from a file; cut off
        ({}, None, None),
    ],
)
def test_what_is_missing_is_said(fields, key, says, monkeypatch):
    fields = dict(fields)
    monkeypatch.delenv("TEST_KEY", raising=False)
    if key is not None:
        monkeypatch.setenv("TEST_KEY", key)
    lines = backend(fields.pop("base_url", "http://127.0.0.1:1/v1"), **fields).missing()
    assert len(lines) == (says is not None)
    assert says is None or says in lines[0]
    assert SECRET not in str(lines)


def preflight(made):
    async def run():
        try:
            await made.preflight()
        finally:
            await made.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("models", "says"),
    [
        (None, None),
        (error(404, "no list here"), None),  # someone is there
        (error(500, "no list now"), None),
        (error(401, f"bad key {SECRET}"), "check the key in TEST_KEY"),
        (error(400, "API key not valid."), "check the key in TEST_KEY"),
    ],
)
def test_preflight_tries_the_key_without_a_paid_call(models, says, monkeypatch):
    monkeypatch.setenv("TEST_KEY", f"{SECRET}\n")
    with Loopback(models=models) as loopback:
        made = backend(loopback.url, api_key_env="TEST_KEY")
        if says is None:
            preflight(made)
        else:
            with pytest.raises(KitError, match=says) as caught:
                preflight(made)
            assert SECRET not in str(caught.value)
    assert loopback.calls == []


def test_preflight_finds_a_wrong_port():
    with Loopback() as loopback:
        url = loopback.url
    with pytest.raises(KitError, match=r"cannot reach http://127\.0\.0\.1:.*start the server or correct base_url"):
        preflight(backend(url))


@pytest.mark.parametrize(
    ("variable", "proxy", "exempt", "says"),
    [
        ("HTTP_PROXY", "http://127.0.0.1:1", "", "The environment names a proxy: where none is needed, add 127.0.0.1"),
        ("ALL_PROXY", "socks9://me:pass@127.0.0.1:1", "", "the proxy that the environment names cannot be used"),
        ("HTTP_PROXY", "http://[::x", "", "correct HTTP_PROXY, HTTPS_PROXY or ALL_PROXY"),
        ("HTTP_PROXY", "http://127.0.0.1:1", "127.0.0.1", None),
        ("HTTPS_PROXY", "http://127.0.0.1:1", "", None),  # not for this address
    ],
)
def test_a_proxy_in_the_way_is_named(variable, proxy, exempt, says, monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setenv(variable, proxy)
    monkeypatch.setenv("NO_PROXY", exempt)
    with Loopback() as loopback:
        if says is None:
            preflight(backend(loopback.url))
        else:
            with pytest.raises(KitError, match=says) as caught:
                preflight(backend(loopback.url))
            assert "pass" not in str(caught.value)


def test_preflight_finds_an_address_that_has_moved():
    moved = Reply(b"", 301, {"Location": "https://127.0.0.1:1/v1/models"})
    with (
        Loopback(models=moved) as loopback,
        pytest.raises(KitError, match="sends calls on to https://127"),
    ):
        preflight(backend(loopback.url))


def test_the_backend_of_the_table_is_this_one():
    model = read_model("m", {"backend": "api", "id": "x", "base_url": "http://127.0.0.1:1/v1"}, "test")
    assert isinstance(open_backend(model, 7), ApiBackend)
    assert open_backend(model, 7).concurrency == 7
