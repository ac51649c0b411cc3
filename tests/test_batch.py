"""The batch interface against a server that speaks it: a call is paid once, whatever ends, gets lost or is killed."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from batch_server import NO_SUCH, BatchServer
from loopback import Reply, answer, error

from creativemath_utils.backends import batch as batch_module
from creativemath_utils.backends import open_backend
from creativemath_utils.backends.batch import BatchBackend
from creativemath_utils.engine import Engine
from creativemath_utils.ledger import Ledgers
from creativemath_utils.models import read_model
from creativemath_utils.records import KitError, Request, user_message
from creativemath_utils.spending import LimitReached, Spending

PRICE = {"input": 1_000_000, "output": 1_000_000, "date": "2026-01-01"}  # a dollar a token: an answer costs 12, here 6


def make(server, folder, spending=None, tries=4, kept=lambda key: False, outage_seconds=0, **fields):
    fields = {"backend": "api", "id": "some-model", "base_url": server.url, "batch": True, "price": PRICE, **fields}
    model = read_model("m", fields, "test")
    waits = {"poll_seconds": 0.01, "outage_seconds": outage_seconds, "tries": tries}
    return BatchBackend(model, spending=spending, folder=folder, kept=kept, **waits)


def requests(count, system=None, **decoding):
    decoding = {"max_new_tokens": 64, **decoding}
    return [
        Request("m", {"id": "m"}, user_message(f"question {i}", system), decoding, ledger="g") for i in range(count)
    ]


async def collect(backend, asked, stop_after=None):
    """The answers by question, and the KitError after them."""
    found, fault = {}, None
    try:
        async for response in backend.answers(asked):
            assert response.key not in found
            found[response.key] = response
    except KitError as raised:
        fault = raised
    finally:
        await backend.close()
    return [found[request.key] for request in asked if request.key in found], fault


def ask(server, folder, asked, **options):
    return asyncio.run(collect(make(server, folder, **options), asked))


def texts(responses):
    return [response.text for response in responses]


def echoes(count):
    return [f"echo question {i}" for i in range(count)]


def files(folder):
    return sorted(path.name for path in folder.iterdir())


def test_calls_go_out_in_a_file_and_come_back_in_a_file(tmp_path):
    with BatchServer(polls=3) as server:
        responses, fault = ask(server, tmp_path, requests(3, system="Be brief."), extra_body={"top_k": 5})
    assert fault is None and texts(responses) == echoes(3)
    assert (server.sizes, dict(server.steps)) == ([3], {"upload": 1, "create": 1, "state": 3, "content": 1})
    line = server.bodies()[0]
    assert (line["custom_id"], line["url"]) == (responses[0].key, "/v1/chat/completions")
    assert line["body"] == {
        "model": "some-model", "max_tokens": 64, "top_k": 5,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "question 0"}],
    }  # fmt: skip
    assert responses[0].settings_used == {"max_tokens": 64, "top_k": 5, "batch": True}
    assert responses[0].usage == {"input_tokens": 7, "output_tokens": 5}


def test_a_base_model_has_an_endpoint_of_its_own(tmp_path):
    with BatchServer() as server:
        responses, _ = ask(server, tmp_path, requests(1), interface="completion")
    assert texts(responses) == ["echo question 0"]
    assert server.bodies()[0]["url"] == server.batches["batch_0"]["endpoint"] == "/v1/completions"


@pytest.mark.parametrize(
    ("script", "status", "text", "sizes"),
    [
        ([answer("half", finish="length")], "truncated", "half", [1]),
        ([answer("", refusal="No.")], "refused", "No.", [1]),
        ([answer("")], "refused", "", [1]),  # paid for: it is what the model has to say
        (
            [Reply({"choices": [{"message": {"content": ""}, "finish_reason": "stop"}]})],
            "ok",
            "echo question 0",
            [1, 1],
        ),
        ([error(400, "filtered", code="content_filter")], "blocked", "", [1]),
        ([error(500, "internal")], "ok", "echo question 0", [1, 1]),  # asked again in another batch
        ([error(429, "slow down")] * 3, "failed", "", [1, 1, 1]),
        ([Reply({"choices": []})], "ok", "echo question 0", [1, 1]),
        ([Reply("nonsense")], "ok", "echo question 0", [1, 1]),
        ([error(400, "maximum context length is 10", code="context_length_exceeded")], "failed", "", [1]),
        ([error(400, "Unsupported parameter: 'max_tokens'", param="max_tokens")], "ok", "echo question 0", [1, 1]),
    ],
)
def test_what_a_line_may_hold(tmp_path, script, status, text, sizes):
    with BatchServer(script) as server:
        responses, fault = ask(server, tmp_path, requests(1))
    assert fault is None and [(r.status, r.text) for r in responses] == [(status, text)]
    assert server.sizes == sizes


@pytest.mark.parametrize(
    ("reply", "cost"),
    [
        (answer("4"), 6),
        (error(400, "filtered", code="content_filter"), 0),  # refused, like a call of its own: free
        (error(500, "internal"), 6),  # free, and asked again
        (Reply({"error": {"code": 500, "message": "upstream"}}), 6),
        (Reply({"choices": []}), 42 + 6),  # whatever that was, it may have been paid: the worst case
        (Reply("nonsense"), 42 + 6),
    ],
    ids=lambda value: str(getattr(value, "status", value)),
)
def test_what_a_line_costs(tmp_path, reply, cost):
    account = Spending(max_cost_usd=1000)
    with BatchServer([reply]) as server:
        ask(server, tmp_path, requests(1), spending=account)
    assert account.total_usd == cost


def test_a_lesson_holds_for_all_and_the_record_says_what_was_sent(tmp_path):
    def script(call):
        rejected = error(400, "Unsupported parameter: 'max_tokens'", param="max_tokens")
        return rejected if "max_tokens" in call.body else None

    with BatchServer(script) as server:
        responses, _ = ask(server, tmp_path, requests(4))
    assert texts(responses) == echoes(4) and server.sizes == [4, 4]
    assert {json.dumps(r.settings_used) for r in responses} == {'{"max_completion_tokens": 64, "batch": true}'}


@pytest.mark.parametrize(
    ("ending", "statuses", "sizes"),
    [
        ({"status": "expired", "answered": 2}, ["ok"] * 5, [5, 3]),  # the rest is asked again
        ({"status": "expired", "answered": 0}, ["ok"] * 5, [5, 5]),
        ({"status": "cancelled", "answered": 2}, ["ok"] * 2 + ["failed"] * 3, [5]),  # somebody wanted it so
        ({"status": "failed", "errors": [{"code": "invalid_json_line", "message": "bad"}]}, ["failed"] * 5, [5]),
        ({"status": "failed", "errors": [{"code": "token_limit_exceeded", "message": "x"}]}, ["ok"] * 5, [5, 2, 2, 1]),
    ],
)
def test_how_a_batch_may_end(tmp_path, ending, statuses, sizes):
    account = Spending()
    with BatchServer(endings=[ending]) as server:
        responses, fault = ask(server, tmp_path, requests(5), spending=account)
    assert fault is None and [response.status for response in responses] == statuses
    assert server.sizes == sizes
    assert account.total_usd == 6 * statuses.count("ok") == 6 * len(server.calls)  # only answers are paid, at half
    assert account.calls == sum(sizes) - (5 if len(sizes) == 4 else 0)  # one that was not taken is no call


def test_a_request_goes_through_three_batches_and_no_more(tmp_path):
    with BatchServer(endings=[{"status": "expired", "answered": 0}] * 9) as server:
        responses, _ = ask(server, tmp_path, requests(2))
    assert server.sizes == [2, 2, 2]
    assert {r.error for r in responses} == {"batch expired before this call; gave up after 3 batches"}


@pytest.mark.parametrize(
    ("fault", "steps"),
    [
        (lambda step, number: error(503, "busy") if number < 2 else None, {"upload": 3, "create": 3, "content": 3}),
        (lambda step, number: Reply(reset=True) if number < 1 else None, {"upload": 2, "create": 2, "content": 2}),
    ],
)
def test_each_step_is_tried_again(tmp_path, fault, steps):
    with BatchServer(fault=fault) as server:
        responses, stop = ask(server, tmp_path, requests(2), tries=12)
    assert stop is None and texts(responses) == echoes(2)
    assert server.sizes == [2] and {step: server.steps[step] for step in steps} == steps


def test_a_batch_whose_making_was_not_heard_of_is_not_made_again(tmp_path):
    with BatchServer(lost=[("create", 0)]) as server:
        responses, _ = ask(server, tmp_path, requests(2))
    assert texts(responses) == echoes(2)
    assert (len(server.batches), server.steps["create"], server.steps["list"]) == (1, 1, 1)


@pytest.mark.parametrize(
    ("step", "reply", "says"),
    [
        ("upload", NO_SUCH, "does not take this batch .*take `batch: true` out of m's entry"),
        ("create", NO_SUCH, "does not take this batch .*take `batch: true` out"),
        ("create", error(401, "who are you"), "rejected the key"),
        ("create", error(400, "billing", code="insufficient_quota"), "has no credit left"),
        ("state", error(500, "down"), "gave up after 2 tries. Its batches go on: run again to collect them"),
    ],
)
def test_where_no_other_try_helps(tmp_path, step, reply, says):
    with BatchServer(fault=lambda name, number: reply if name == step else None) as server:
        responses, stop = ask(server, tmp_path, requests(2), tries=2)
    assert responses == []
    with pytest.raises(KitError, match=says):
        raise stop


NO_BATCHES = Reply({"object": "list", "data": [], "has_more": False})


@pytest.mark.parametrize(
    ("faults", "sizes"),
    [
        ({("state", 0): NO_SUCH}, [2]),  # a stray 404: the batch is in the list
        ({("state", 0): NO_SUCH, ("list", 0): NO_SUCH}, [2]),  # nothing is there for a moment
        ({("state", 0): NO_SUCH, ("list", 0): NO_BATCHES}, [2, 2]),  # the list does not know it either
        ({("content", 0): NO_SUCH}, [2]),
        ({("content", number): NO_SUCH for number in range(3)}, [2, 2]),
    ],
)
def test_what_the_endpoint_has_lost_is_asked_again_once_that_is_sure(tmp_path, faults, sizes, caplog):
    with BatchServer(fault=lambda step, number: faults.get((step, number))) as server:
        responses, _ = ask(server, tmp_path, requests(2))
    assert texts(responses) == echoes(2) and server.sizes == sizes
    assert ("asked again" in caplog.text) == (len(sizes) > 1)


JUNK = {
    "empty": Reply(b""),
    "null": Reply(b"null"),
    "text": Reply(b"<html>busy</html>"),
    "torn": Reply(b'{"id": "batch_0", "sta'),
    "error": Reply({"error": {"code": 500}}),
    "nothing": Reply({}),
    "list": Reply([1]),
    "deep": Reply(b"[" * 100_000),
}


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
@pytest.mark.parametrize("step", ["upload", "create", "list", "state", "content"])
def test_junk_with_status_200_is_a_fault_like_any_other(tmp_path, step, junk):
    account = Spending()
    lost = [("create", 0)] if step == "list" else ()
    with BatchServer(lost=lost, fault=lambda name, number: junk if name == step and number < 2 else None) as server:
        responses, stop = ask(server, tmp_path, requests(3), spending=account)
    assert stop is None and texts(responses) == echoes(3)
    assert (server.sizes, len(server.calls), account.calls) == ([3], 3, 3)  # nothing is paid twice


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
def test_a_batch_that_was_answered_for_with_junk_is_not_made_again(tmp_path, junk):
    with BatchServer(spoil=lambda step, number, reply: junk if (step, number) == ("create", 0) else reply) as server:
        responses, stop = ask(server, tmp_path, requests(3))
    assert stop is None and texts(responses) == echoes(3) and server.sizes == [3]


@pytest.mark.parametrize(
    "cut",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[: content.index(b"\n") + 1],  # between two lines: the batch's count says how many
        lambda content: b"",
        lambda content: content + b'{"custom_id',
        lambda content: b"<html>" + content,
    ],
)
@pytest.mark.parametrize("lasting", [False, True])
def test_a_file_of_answers_that_is_cut_off_is_fetched_again(tmp_path, cut, lasting):
    with BatchServer() as server:
        server.spoil = lambda step, number, reply: Reply(cut(reply.body)) if step == "content" else reply
        if lasting:
            responses, stop = ask(server, tmp_path, requests(3))
            assert responses == [] and "run again to collect them" in str(stop)
        server.steps.clear()
        server.spoil = lambda step, number, reply: Reply(cut(reply.body)) if (step, number) == ("content", 0) else reply
        responses, stop = ask(server, tmp_path, requests(3))
    assert stop is None and texts(responses) == echoes(3) and server.sizes == [3]


@pytest.mark.parametrize(
    ("made", "newer", "older", "pages"),
    [
        (True, 5, 3, 3),  # others have sent batches since: the sixth of them, two a page
        (False, 0, 9, 1),  # no batch that is older than the file can be made of it
        (False, 4, 0, 2),
    ],
)
def test_a_batch_is_looked_for_page_by_page(tmp_path, made, newer, older, pages):
    def others(count, created):
        for _ in range(count):
            name = f"other_{len(server.batches)}"
            server.batches[name] = {"id": name, "input_file_id": server._store(b""), "created_at": created}

    def fault(step, number):
        if (step, number) == ("list", 0):
            others(newer, time.time())
        return error(500, "x") if not made and (step, number) == ("create", 0) else None

    with BatchServer(page=2, fault=fault, lost=[("create", 0)] if made else ()) as server:
        others(older, time.time() - 2 * 86400)
        responses, _ = ask(server, tmp_path, requests(2))
    assert texts(responses) == echoes(2)
    assert len(server.batches) == newer + older + 1 and server.steps["list"] == pages


@pytest.mark.parametrize(
    ("step", "after", "says"),
    [
        ("upload", "1", None),
        ("create", "1", None),
        ("state", "1", None),
        ("content", "1", None),
        ("state", "7200", "asks to wait 7200 s; run again later, nothing is lost"),
    ],
)
def test_retry_after_is_obeyed_within_a_cap(tmp_path, step, after, says):
    moments = []

    def fault(name, number):
        if name == step:
            moments.append(time.monotonic())
        return error(429, "slow down", headers={"Retry-After": after}) if (name, number) == (step, 0) else None

    with BatchServer(fault=fault) as server:
        responses, stop = ask(server, tmp_path, requests(2))
    if says is None:
        assert texts(responses) == echoes(2) and moments[1] - moments[0] >= 0.95
    else:
        assert says in str(stop) and len(moments) == 1


@pytest.mark.parametrize("step", ["state", "content"])
def test_an_outage_is_waited_out(tmp_path, step, caplog):
    """Two tries each are in vain five times over; the batch has a day."""
    with BatchServer(fault=lambda name, number: error(503, "down") if name == step and number < 10 else None) as server:
        responses, stop = ask(server, tmp_path, requests(2), tries=2, outage_seconds=60)
    assert stop is None and texts(responses) == echoes(2) and server.sizes == [2]
    assert caplog.text.count("looking again") == 5


@pytest.mark.parametrize(
    ("step", "reply"),
    [
        ("upload", error(400, "too large")),
        ("upload", error(500, "down")),
        ("upload", error(401, "who are you")),
        ("create", error(400, "too many batches")),
        ("create", error(500, "down")),
        ("create", NO_SUCH),
    ],
    ids=lambda value: str(getattr(value, "status", value)),
)
def test_batches_under_way_are_collected_where_no_further_one_can_be_sent(tmp_path, monkeypatch, step, reply):
    monkeypatch.setattr(batch_module, "MOST_BYTES", 800)  # three lines a batch
    account = Spending()
    with BatchServer(fault=lambda name, number: reply if name == step and number >= 1 else None) as server:
        responses, stop = ask(server, tmp_path, requests(7), spending=account, tries=2)
        assert texts(responses) == echoes(3) and stop is not None
        assert (server.sizes, account.calls, account.total_usd) == ([3], 3, 18)
        server.fault = lambda name, number: None
        kept = {response.key for response in responses}
        rest = [request for request in requests(7) if request.key not in kept]  # the ledger has the others
        responses, stop = ask(server, tmp_path, rest, spending=account, kept=kept.__contains__)
    assert stop is None and len(responses) == 4
    assert sum(server.sizes) == account.calls == len(server.calls) == 7


def test_one_batch_that_cannot_be_read_does_not_keep_the_others(tmp_path, monkeypatch):
    monkeypatch.setattr(batch_module, "MOST_BYTES", 800)
    junk = Reply(b"<html>")
    with BatchServer(fault=lambda step, number: junk if step == "content" and number < 2 else None) as server:
        responses, stop = ask(server, tmp_path, requests(6), tries=2)
        assert texts(responses) == echoes(6)[3:] and "run again to collect them" in str(stop)
        responses, stop = ask(server, tmp_path, requests(6))
    assert stop is None and texts(responses) == echoes(6) and server.sizes == [3, 3]


def test_credit_that_ends_half_way_keeps_what_was_paid(tmp_path):
    def script(call):
        return error(429, "no quota", code="insufficient_quota") if call.number >= 2 else None

    with BatchServer(script) as server:
        responses, stop = ask(server, tmp_path, requests(5))
    assert texts(responses) == echoes(5)[3:]  # the server works from the end
    assert "no credit left" in str(stop) and server.sizes == [5]


# --- picked up again ------------------------------------------------------------------------------


async def kill(server, folder, asked, when, **options):
    """A process that ends, without any farewell, as soon as `when()` is true."""
    task = asyncio.create_task(collect(make(server, folder, **options), asked))
    while not when():
        await asyncio.sleep(0.005)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(
    ("after", "batches"),
    [
        ("upload", 1),  # nothing was made of the file, so that another one is paid once too
        ("create", 1),  # made, and perhaps not known yet
        ("state", 1),  # under way
    ],
)
def test_a_stopped_run_is_picked_up_and_nothing_is_paid_twice(tmp_path, after, batches, capsys):
    account = Spending()  # as in one kernel: stopped by Ctrl-C, and run again
    with BatchServer(polls=10_000) as server:
        asyncio.run(kill(server, tmp_path, requests(3), lambda: server.steps[after], spending=account))
        assert (account.calls, account.total_usd) == (0, 0)  # whoever picks it up enters it
        server.polls = server._looks["batch_0"] + 1
        responses, _ = ask(server, tmp_path, requests(5), spending=account)  # two more than before
    assert texts(responses) == echoes(5)
    assert len(server.calls) == 5 and sum(server.sizes) == 5
    assert (account.calls, account.total_usd) == (5, 30)
    if after == "state":
        assert "m: picked up batch batch_0 with 3 of these calls" in capsys.readouterr().out


@pytest.mark.parametrize("made", [True, False])
def test_a_run_killed_while_its_batch_was_made(tmp_path, made):
    """On disk is the file's id, not the batch's: it is looked for, and made only where it is not there."""
    with BatchServer(lost=[("create", 0)] if made else (), fault=lambda s, n: None) as server:
        server.fault = lambda step, number: None if made or step != "create" else error(500, "x")
        _, stop = ask(server, tmp_path, requests(3), tries=1)  # this process hears nothing of a batch
        assert stop is not None and len(server.batches) == made
        (name,) = files(tmp_path)
        assert json.loads((tmp_path / name).read_text())["id"] is None
        server.fault = lambda step, number: None
        responses, _ = ask(server, tmp_path, requests(3))
    assert texts(responses) == echoes(3) and server.sizes == [3] and len(server.files) == 2


@pytest.mark.parametrize(("before", "after"), [("/", ""), ("", "/")])
def test_an_address_is_the_same_with_a_slash_at_its_end(tmp_path, before, after):
    with BatchServer(fault=lambda step, number: error(500, "down") if step == "state" else None) as server:
        _, stop = ask(server, tmp_path, requests(2), base_url=server.url + before)
        assert stop is not None and len(server.batches) == 1
        server.fault = lambda step, number: None
        responses, _ = ask(server, tmp_path, requests(2), base_url=server.url + after)
    assert texts(responses) == echoes(2) and server.sizes == [2]


@pytest.mark.parametrize("reply", [NO_SUCH, error(400, "the file has expired")])
def test_a_file_that_is_gone_before_a_batch_was_made_of_it_is_forgotten(tmp_path, reply, caplog):
    with BatchServer(fault=lambda step, number: error(500, "x") if step == "create" else None) as server:
        ask(server, tmp_path, requests(3), tries=1)
        (stale,) = files(tmp_path)
        server.fault = lambda step, number: reply if (step, number) == ("create", 1) else None
        responses, stop = ask(server, tmp_path, requests(3))
    assert stop is None and texts(responses) == echoes(3) and server.sizes == [3]
    assert stale not in files(tmp_path) and "asked again" in caplog.text


@pytest.mark.parametrize("reply", [NO_SUCH, error(400, "no list here"), error(500, "down"), error(401, "who are you")])
def test_while_nobody_knows_whether_a_batch_was_made_nothing_is_sent(tmp_path, reply):
    with BatchServer(lost=[("create", 0)]) as server:
        ask(server, tmp_path, requests(3), tries=1)
        server.fault = lambda step, number: reply if step == "list" else None
        responses, stop = ask(server, tmp_path, requests(5), tries=2)
        assert responses == [] and stop is not None and server.sizes == [3]
        server.fault = lambda step, number: None
        responses, stop = ask(server, tmp_path, requests(5))
    assert stop is None and texts(responses) == echoes(5) and server.sizes == [3, 2]


def test_a_run_killed_with_answers_in_hand_fetches_them_again(tmp_path):
    """Collected is not kept: until the answers are on disk the batch is remembered, and then forgotten."""
    on_disk: set[str] = set()
    with BatchServer() as server:
        for _ in range(2):
            responses, _ = ask(server, tmp_path, requests(3), kept=on_disk.__contains__)
            assert texts(responses) == echoes(3)
        assert server.sizes == [3] and server.steps["content"] == 2 and len(files(tmp_path)) == 1
        on_disk.update(response.key for response in responses)
        ask(server, tmp_path, requests(1, seed=1), kept=on_disk.__contains__)
    assert server.sizes == [3, 1] and len(files(tmp_path)) == 1  # the new one alone


def test_batches_of_other_models_endpoints_and_keys_are_left_alone(tmp_path):
    with BatchServer() as server:
        ask(server, tmp_path, requests(2))
        (name,) = files(tmp_path)
        mine = json.loads((tmp_path / name).read_text())
        for i, change in enumerate(({"model": "m.x"}, {"where": "http://127.0.0.1:1/v1"}, {"keys": ["00"]})):
            (tmp_path / f"batch.m.{i}.json").write_text(json.dumps({**mine, **change}))
        (tmp_path / name).unlink()
        ask(server, tmp_path, requests(2))
    assert server.sizes == [2, 2]
    assert len(files(tmp_path)) == 3 + 1


def test_an_old_batch_is_forgotten(tmp_path):
    with BatchServer() as server:
        ask(server, tmp_path, requests(2))
        (name,) = files(tmp_path)
        content = json.loads((tmp_path / name).read_text())
        (tmp_path / name).write_text(json.dumps({**content, "created": content["created"] - 31 * 86400}))
        ask(server, tmp_path, requests(2))
    assert server.sizes == [2, 2] and len(files(tmp_path)) == 1


def test_a_file_of_somebody_else_is_named(tmp_path):
    (tmp_path / "batch.m.x.json").write_text("{}")
    with (
        BatchServer() as server,
        pytest.raises(KitError, match=r"batch\.m\.x\.json is no batch that this kit has sent"),
    ):
        ask(server, tmp_path, requests(1))


# --- limits and the engine ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("limits", "sizes", "spent"),
    [
        ({"max_calls": 3}, [3], 18),
        ({"max_calls": 5}, [5], 30),
        ({"max_cost_usd": 5 * 42 + 1}, [5], 30),  # the worst case of each is 84 dollars, half of that in a batch
        ({"max_cost_usd": 2 * 42 + 1}, [2, 1, 1, 1], 30),  # then one after another, as money is there again
        ({"max_cost_usd": 41}, [], 0),
        ({"max_cost_usd": 42 + 2}, [1], 6),
    ],
)
def test_limits_hold_for_batches(tmp_path, limits, sizes, spent):
    account = Spending(**limits)
    with BatchServer() as server:
        responses, stop = ask(server, tmp_path, requests(5), spending=account)
    assert (server.sizes, account.total_usd) == (sizes, spent)
    assert isinstance(stop, LimitReached) if len(responses) < 5 else stop is None


def test_files_have_a_largest_size(tmp_path, monkeypatch):
    monkeypatch.setattr(batch_module, "MOST_BYTES", 800)  # a line has some 250
    with BatchServer() as server:
        responses, _ = ask(server, tmp_path, requests(7))
    assert texts(responses) == echoes(7) and server.sizes == [3, 3, 1]


def test_a_decoding_key_that_would_be_lost_is_refused(tmp_path):
    with BatchServer() as server:
        responses, _ = ask(server, tmp_path, requests(1, top_k=5))
    assert "put it under extra_body" in responses[0].error and not server.steps


def test_through_the_engine_nothing_is_left_behind(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(BatchBackend.__init__.__kwdefaults__, "poll_seconds", 0.01)
    with BatchServer() as server:
        fields = {"backend": "api", "id": "m", "base_url": server.url, "batch": True, "price": PRICE}
        models = {"m": read_model("m", fields, "test")}
        for _ in range(2):  # the second time from the ledger
            with Engine(models, Ledgers(tmp_path)) as engine:
                assert texts(engine.complete(requests(3))) == echoes(3)
        assert server.sizes == [3]
    assert files(tmp_path) == ["g.jsonl"]
    assert "m: 3 of 3 done" in (out := capsys.readouterr().out) and "$18.0000 so far" in out


@pytest.mark.parametrize("backend", ["local", "rules", "embedding"])
def test_only_endpoints_take_batches(backend):
    with pytest.raises(KitError, match=f"models.m: batch is for backend api alone, this one is {backend}; take it out"):
        read_model("m", {"backend": backend, "id": "x", "batch": True}, "test")


def test_how_a_model_is_asked_is_no_part_of_a_key(tmp_path):
    fields = {"backend": "api", "id": "x", "base_url": "http://127.0.0.1:1/v1"}
    alone, batch = (read_model("m", {**fields, "batch": value}, "test") for value in (False, True))
    assert alone.identity() == batch.identity()
    assert isinstance(open_backend(batch, folder=tmp_path), BatchBackend)
    assert not isinstance(open_backend(alone), BatchBackend)


@pytest.mark.parametrize(
    "fault",
    [
        Reply(b"<html>busy</html>", 502, {"Content-Type": "text/html; charset=hex"}),  # no encoding of text
        error(503, "busy", headers={"Set-Cookie": "\xff=1"}),  # a cookie that could not be sent back
        Reply(b"no gzip", headers={"Content-Encoding": "gzip"}),
        Reply({"data": [{"id": None}]}),  # not the list, be it asked for
    ],
    ids=lambda reply: f"{reply.status} {reply.headers}",
)
def test_odd_replies_to_every_step_make_no_second_batch(tmp_path, fault):
    with BatchServer(fault=lambda step, number: fault if number == 0 else None, lost=[("create", 1)]) as server:
        responses, stop = ask(server, tmp_path, requests(2))
    assert stop is None and texts(responses) == echoes(2) and server.sizes == [2]


def test_an_endpoint_that_sends_its_files_elsewhere_is_named(tmp_path):
    moved = Reply(b"", 301, {"Location": "https://127.0.0.1:1/v1/files"})
    with BatchServer(fault=lambda step, number: moved) as server:
        responses, stop = ask(server, tmp_path, requests(2))
    assert responses == [] and server.steps == {"upload": 1}
    assert str(stop).endswith("/v1 sends calls on to https://127.0.0.1:1/v1/files (HTTP 301); correct base_url")
