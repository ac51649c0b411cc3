"""The engine: what is asked, what is kept, and what a person reads when something is wrong."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import pytest
from batch_server import BatchServer
from loopback import Loopback, Reply, error

from creativemath_utils.backends.api import ApiBackend
from creativemath_utils.backends.batch import BatchBackend
from creativemath_utils.engine import Engine, failure_summary
from creativemath_utils.ledger import Ledger, Ledgers
from creativemath_utils.models import read_model
from creativemath_utils.records import KitError, Request, Response, user_message


class Stub:
    """A backend whose answers are `reply(request)`: a text, a Response, or an exception that is raised."""

    def __init__(self, reply=lambda request: "answer", *, missing=(), preflight=None, delay=0.0):
        self.reply, self.lines, self.fault, self.delay = reply, list(missing), preflight, delay
        self.asked: list[Request] = []
        self.tried = self.closed = False

    def missing(self):
        return self.lines

    async def preflight(self):
        self.tried = True
        if self.fault:
            raise self.fault

    async def answers(self, requests):
        for request in reversed(list(requests)):  # any order is allowed
            self.asked.append(request)
            await asyncio.sleep(self.delay)
            reply = self.reply(request)
            if isinstance(reply, Exception):
                raise reply
            if reply is not None:
                yield reply if isinstance(reply, Response) else Response.answer(request, f"{reply} {text_of(request)}")

    async def close(self):
        self.closed = True


def text_of(request):
    return request.messages[-1]["content"]


def request(question, model="m", ledger=None, **about):
    return Request(model, about.pop("identity", {"id": model}), user_message(str(question)), {},
                   ledger=ledger or f"generate.{model}", **about)  # fmt: skip


def table(*names, backend="api"):
    fields = {"backend": backend, "id": "x", "base_url": "http://127.0.0.1:1/v1"}
    return {name: read_model(name, fields, "test") for name in names}


def make(folder, stubs, *, recording=None, lock_seconds=0.0, backend="api", **options):
    ledgers = Ledgers(Path(folder), recording, lock_seconds=lock_seconds)
    return Engine(table(*stubs, backend=backend), ledgers, open_backend=lambda m, c: stubs[m.name], **options)


def texts(responses):
    return [response.text for response in responses]


def test_responses_come_in_the_order_of_the_requests_and_are_on_disk(tmp_path):
    stub = Stub()
    with make(tmp_path, {"m": stub}) as engine:
        responses = engine.complete([request(i) for i in range(5)])
        assert texts(responses) == [f"answer {i}" for i in range(5)]
        assert all(response.created.endswith("Z") for response in responses)
        assert len(Ledger(tmp_path / "generate.m.jsonl")) == 5
    assert stub.closed
    assert os.listdir(tmp_path) == ["generate.m.jsonl"]


def test_equal_requests_are_asked_once_whatever_the_model_is_called(tmp_path):
    stubs = {"a": Stub(), "b": Stub()}
    same = {"identity": {"id": "one"}}
    asked = [request("q", "a", **same), request("q", "b", **same), request("q", "a", **same)]
    with make(tmp_path, stubs) as engine:
        responses = engine.complete(asked)
    assert (len(stubs["a"].asked), len(stubs["b"].asked)) == (1, 0)
    assert [response.model for response in responses] == ["a", "b", "a"]
    assert len(set(texts(responses))) == 1


def test_a_second_run_asks_nothing_and_opens_no_backend(tmp_path):
    asked = [request(i) for i in range(4)]
    with make(tmp_path, {"m": Stub()}) as engine:
        first = engine.complete(asked)
    stub = Stub(missing=["a key"])
    with make(tmp_path, {"m": stub}) as engine:
        assert engine.complete(asked) == first
        assert engine.asked == 0
    assert not stub.tried


def test_another_prompt_or_sample_is_another_call(tmp_path):
    stub = Stub()
    with make(tmp_path, {"m": stub}) as engine:
        engine.complete([request("q")])
        engine.complete([request("q"), request("q", sample=1), request("q2")])
    assert len(stub.asked) == 3


def test_no_requests_are_answered_with_none(tmp_path):
    with make(tmp_path, {}) as engine:
        assert engine.complete([]) == []


def test_a_failed_call_is_reported_not_stored_and_asked_again(tmp_path):
    asked = [request(i) for i in range(3)]
    stub = Stub(lambda r: Response.failure(r, "timed out") if text_of(r) == "1" else "answer")
    with make(tmp_path, {"m": stub}) as engine:
        assert [response.status for response in engine.complete([*asked, asked[1]])] == ["ok", "failed", "ok", "failed"]
        assert failure_summary(engine.failures["generate.m"]) == "1 call failed: timed out"
        assert len(Ledger(tmp_path / "generate.m.jsonl")) == 2
        stub.reply = lambda r: "late"
        assert texts(engine.complete(asked)) == ["answer 0", "late 1", "answer 2"]
        assert engine.failures == {}  # answered since


def test_failures_are_summed_up_by_reason():
    failed = [Response.failure(request(i), reason) for i, reason in enumerate("aababcd")]
    assert failure_summary(failed) == "7 calls failed: a (3); b (2); c; and 1 more reasons"


def test_several_models_run_at_once(tmp_path):
    order = []
    stubs = {name: Stub(lambda r: order.append(r.model) or "answer", delay=0.01) for name in "abcd"}
    with make(tmp_path, stubs) as engine:
        engine.complete([request(i, name) for name in stubs for i in range(4)])
    assert set(order[:4]) == set("abcd") and len(order) == 16  # the first answers are of all four


def test_each_model_has_the_concurrency(tmp_path):
    with Loopback(delay=0.2) as one, Loopback(delay=0.2) as two:
        models = {
            name: read_model(name, {"backend": "api", "id": name, "base_url": server.url}, "test")
            for name, server in (("a", one), ("b", two))
        }
        with Engine(models, Ledgers(tmp_path), concurrency=3) as engine:
            responses = engine.complete([request(i, name) for name in models for i in range(9)])
    assert texts(responses) == [f"echo {i}" for i in range(9)] * 2
    assert (one.most_in_flight, two.most_in_flight) == (3, 3)


def test_local_models_run_one_after_another(tmp_path):
    order = []
    stubs = {name: Stub(lambda r: order.append(r.model) or "answer", delay=0.01) for name in "ab"}
    with make(tmp_path, stubs, backend="local") as engine:
        engine.complete([request(i, name) for i in range(3) for name in stubs])
    assert order == ["a"] * 3 + ["b"] * 3
    assert stubs["a"].closed and stubs["b"].closed


def test_a_local_model_stays_in_memory_until_another_is_wanted(tmp_path):
    opened, order = [], []

    def open_stub(model, concurrency):
        opened.append(model.name)
        return Stub(lambda r: order.append(r.model) or "answer")

    with Engine(table("a", "b", backend="local"), Ledgers(tmp_path), open_backend=open_stub) as engine:
        for number, names in enumerate(["ab", "ab", "b", "b", "ab"]):
            engine.complete([request(number, name) for name in names])
    assert "".join(order) == "ab" + "ba" + "b" + "b" + "ba"  # whoever is there comes first
    assert "".join(opened) == "ab" + "a" + "b" + "" + "a"  # two judges: one load a call of `complete`, not two


def test_all_that_is_missing_is_said_at_once_and_nothing_is_asked(tmp_path):
    stubs = {
        "a": Stub(missing=["no key", "no package"]),
        "b": Stub(preflight=KitError("cannot reach it")),
        "c": Stub(),
    }
    with make(tmp_path, stubs) as engine:
        with pytest.raises(KitError) as caught:
            engine.complete([request(1, name) for name in stubs])
        assert str(caught.value) == "nothing was asked; a: no key; a: no package; b: cannot reach it"
        assert not any(stub.asked for stub in stubs.values())
        assert all(stub.closed for stub in stubs.values())
        assert os.listdir(tmp_path) == []
        stubs["a"].lines, stubs["b"].fault = [], None  # mended: the same engine goes on
        assert len(engine.complete([request(1, name) for name in stubs])) == 3


def test_a_model_in_no_table_is_named(tmp_path):
    with make(tmp_path, {"qwen": Stub()}) as engine, pytest.raises(KitError, match="'qwem' is in no table"):
        engine.complete([request(1, "qwem")])


def test_a_backend_that_gives_up_fails_the_rest_with_its_reason(tmp_path):
    stub = Stub(lambda r: KitError("quota used up") if text_of(r) == "2" else "answer")
    other = Stub()
    with make(tmp_path, {"m": stub, "n": other}) as engine:
        responses = engine.complete([request(i) for i in range(5)] + [request(1, "n")])
        assert [response.status for response in responses] == ["failed"] * 3 + ["ok"] * 3
        assert {response.error for response in responses[:3]} == {"quota used up"}
        assert failure_summary(engine.failures["generate.m"]) == "3 calls failed: quota used up (3)"
    assert len(Ledger(tmp_path / "generate.m.jsonl")) == 2


def test_a_bug_in_a_backend_comes_through_and_what_was_answered_is_kept(tmp_path):
    stub = Stub(lambda r: ValueError("a bug") if text_of(r) == "2" else "answer")
    slow = Stub(delay=30)
    started = time.monotonic()
    with make(tmp_path, {"m": stub, "slow": slow}) as engine, pytest.raises(ValueError, match="a bug"):
        engine.complete([request(i) for i in range(5)] + [request(1, "slow")])
    assert time.monotonic() - started < 25  # nobody waits for the other model
    assert len(Ledger(tmp_path / "generate.m.jsonl")) == 2


@pytest.mark.parametrize("fault", [ValueError("a bug"), KitError("too late")])
def test_a_fault_while_preparing_closes_what_was_opened(tmp_path, fault):
    stubs = {"a": Stub(), "b": Stub(preflight=fault)}
    with make(tmp_path, stubs) as engine, pytest.raises(type(fault)):
        engine.complete([request(1, "a"), request(1, "b")])
    assert stubs["a"].closed


def test_a_backend_that_forgets_a_request_is_a_bug(tmp_path):
    stub = Stub(lambda r: None if text_of(r) == "1" else "answer")
    with make(tmp_path, {"m": stub}) as engine, pytest.raises(RuntimeError, match="'m' ended with 1 requests"):
        engine.complete([request(i) for i in range(3)])


def test_a_full_disk_stops_the_run_cleanly(tmp_path, monkeypatch):
    slow = Stub(delay=30)
    with make(tmp_path, {"m": Stub(), "slow": slow}) as engine:
        engine.complete([request("before")])

        def full(*_):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        monkeypatch.setattr(os, "pwrite", full)
        started = time.monotonic()
        with pytest.raises(KitError, match="No space left on device; the answers up to here are kept"):
            engine.complete([request(i) for i in range(5)] + [request(1, "slow")])
        assert time.monotonic() - started < 25
        monkeypatch.undo()
        assert len(engine.complete([request("before"), request(3)])) == 2  # and goes on when there is room
    assert len(Ledger(tmp_path / "generate.m.jsonl")) == 2


def test_a_second_run_on_the_same_files_is_refused(tmp_path):
    with make(tmp_path, {"m": Stub()}) as first:
        first.complete([request(1)])
        stub = Stub()
        with make(tmp_path, {"m": stub}, lock_seconds=0.1) as second:
            assert texts(second.complete([request(1)])) == ["answer 1"]  # reading is free
            with pytest.raises(KitError, match="is being written by another run"):
                second.complete([request(2)])
        assert stub.asked == []
    with make(tmp_path, {"m": Stub()}) as third:
        assert texts(third.complete([request(2)])) == ["answer 2"]


def test_what_another_run_answered_meanwhile_is_not_asked_again(tmp_path):
    stub = Stub()
    with make(tmp_path, {"m": stub}) as waiting:  # has read the files: nothing there yet
        with make(tmp_path, {"m": Stub(lambda r: "theirs")}) as other:
            other.complete([request(1)])
        assert texts(waiting.complete([request(1), request(2)])) == ["theirs 1", "answer 2"]
    assert [text_of(asked) for asked in stub.asked] == ["2"]


def test_offline_a_missing_answer_names_the_call_and_the_remedy(tmp_path):
    recording = tmp_path / "recording"
    with make(recording, {"m": Stub()}) as engine:
        engine.complete([request("known")])
    before = (recording / "generate.m.jsonl").read_bytes()
    stub = Stub()
    with make(tmp_path / "run", {"m": stub}, recording=recording, offline=True) as engine:
        asked = [request("known"), request("new", slots={"about": "2016_AMC_8_Problems/15, k = 1"})]
        known, new = engine.complete(asked)
        assert (known.text, new.status) == ("answer known", "failed")
        assert "no recorded answer of 'm' for 2016_AMC_8_Problems/15, k = 1 in" in new.error
        assert "make record" in new.error and "offline: false" in new.error
        assert engine.asked == 0
    assert stub.asked == [] and not (tmp_path / "run").exists()
    assert (recording / "generate.m.jsonl").read_bytes() == before


def test_it_works_where_an_event_loop_is_running(tmp_path):
    async def cell():  # as in JupyterLab
        with make(tmp_path, {"m": Stub()}) as engine:
            return engine.complete([request(1)])

    assert texts(asyncio.run(cell())) == ["answer 1"]


def test_closing_twice_is_no_fault_and_leaves_no_thread(tmp_path):
    engine = make(tmp_path, {"m": Stub()})
    engine.complete([request(1)])
    thread = engine._loop.thread
    engine.close()
    engine.close()
    assert not thread.is_alive()


def test_progress_counts_each_outcome(tmp_path, capsys):
    stub = Stub(lambda r: Response.answer(r, "half", status="truncated") if text_of(r) == "1" else "answer")
    with make(tmp_path, {"m": stub}) as engine:
        engine.complete([request("earlier")])
        capsys.readouterr()
        engine.complete([request("earlier"), request(1), request(2)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("m: 2 of 2 done (1 more were there), 1 truncated, ")
    assert lines[1] == "m: 1 answers end at the token limit; raise max_new_tokens for whole ones"


KEY = "sk-proj-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGH"


def echo_key(authorization):
    """The header in a long message, twice: messages are cut at 80 and at 300 characters, here in the midst of it."""
    return f"{'x' * 50} {authorization} ".ljust(270, "x") + f" {authorization}"


ECHOES = {  # fault -> the reply with that text in it
    "400": lambda text: error(400, text),
    "400, a parameter": lambda text: error(400, "unsupported", param=text),
    "413": lambda text: error(413, text),
    "422": lambda text: Reply({"detail": [{"loc": ["body", text], "msg": text}]}, 422),
    "429": lambda text: error(429, text),
    "500": lambda text: error(500, text),
    "500, plain": lambda text: Reply(text.encode(), 500),
    "500, code": lambda text: error(500, "down", code=text, type=text),
    "200, an error": lambda text: Reply({"error": {"code": 500, "message": text}}),
    "200, an error's text": lambda text: Reply({"error": text}),
    "200, plain": lambda text: Reply(text.encode()),
    "200, torn": lambda text: Reply(b'{"choices": [{"message": "' + text.encode()),
    "200, a list": lambda text: Reply([text]),
    "200, in a choice": lambda text: Reply({"choices": [{"error": {"code": 502, "message": text}}]}),
    "no HTTP": lambda text: Reply(reset=True),
}
ENDINGS = {  # faults that end the run
    "401": lambda text: error(401, text),
    "402": lambda text: error(402, text),
    "403": lambda text: error(403, text),
    "404": lambda text: error(404, text),
    "200, a wrong key": lambda text: Reply({"error": {"code": 401, "message": text}}),
}


def everything_said(folder, engine, stop, capsys, caplog):
    """All that a run has left behind: files, lines, logs, errors and tracebacks."""
    said = capsys.readouterr()
    files = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file()).decode()
    errors = [response.error for responses in engine.failures.values() for response in responses]
    trace = "".join(traceback.format_exception(stop)) if stop else ""
    return "\n".join([said.out, said.err, caplog.text, files, str(stop), trace, *errors])


def run_with_key(folder, url, open_backend, asked, **fields):
    fields = {"backend": "api", "id": "m", "base_url": url, "api_key_env": "TEST_KEY", **fields}
    models = {"m": read_model("m", fields, "test")}
    with Engine(models, Ledgers(folder), concurrency=1, open_backend=open_backend) as engine:
        try:
            return engine, engine.complete(asked), None
        except KitError as stop:
            return engine, [], stop


@pytest.mark.parametrize("fault", [*ENDINGS, *ECHOES])
def test_a_key_that_an_endpoint_echoes_is_nowhere(tmp_path, monkeypatch, capsys, caplog, fault):
    monkeypatch.setenv("TEST_KEY", KEY)
    caplog.set_level("INFO")
    bearers = set()

    def script(call):
        bearers.add(call.headers["authorization"])
        return {**ENDINGS, **ECHOES}[fault](echo_key(call.headers["authorization"]))

    def open_backend(model, concurrency):
        return ApiBackend(model, concurrency, tries=2, backoff_seconds=0.001)

    with Loopback(script) as loopback:
        engine, responses, stop = run_with_key(tmp_path, loopback.url, open_backend, [request(1), request(2)])
    assert bearers == {f"Bearer {KEY}"} and {response.status for response in responses} == {"failed"}
    assert KEY[:7] not in everything_said(tmp_path, engine, stop, capsys, caplog)


@pytest.mark.parametrize("fault", ["400", "401", "500", "200, an error", "200, plain", "200, a wrong key"])
@pytest.mark.parametrize("step", ["preflight", "upload", "create", "list", "state", "content", "line"])
def test_a_key_that_a_batch_interface_echoes_is_nowhere(tmp_path, monkeypatch, capsys, caplog, step, fault):
    monkeypatch.setenv("TEST_KEY", KEY)
    caplog.set_level("INFO")
    reply = {**ENDINGS, **ECHOES}[fault]

    def told():
        return reply(echo_key(server.headers["authorization"]))

    def open_backend(model, concurrency):
        waits = {"poll_seconds": 0.01, "outage_seconds": 0, "tries": 2}
        return BatchBackend(model, folder=tmp_path, kept=lambda key: False, **waits)

    models = reply(echo_key(f"Bearer {KEY}")) if step == "preflight" else None
    lost = [("create", 0)] if step == "list" else ()
    with BatchServer(models=models, lost=lost) as server:
        server.fault = lambda name, number: told() if name == step else None
        server.script = lambda call: told() if step == "line" else None
        engine, responses, stop = run_with_key(tmp_path, server.url, open_backend, [request(1), request(2)], batch=True)
    assert KEY[:7] not in everything_said(tmp_path, engine, stop, capsys, caplog)
    if step != "preflight":
        assert {response.status for response in responses} == {"failed"}


INTERRUPTED = """
import signal, sys, threading, time
from pathlib import Path
from creativemath_utils.engine import Engine
from creativemath_utils.ledger import Ledgers
from creativemath_utils.models import read_model
from creativemath_utils.records import Request, user_message
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins with SIGINT ignored
folder, url = Path(sys.argv[1]), sys.argv[2]
models = {"m": read_model("m", {"backend": "api", "id": "m", "base_url": url}, "test")}
requests = [Request("m", {"id": "m"}, user_message(str(i)), {}, ledger="generate.m") for i in range(500)]
def interrupt():
    path = folder / "generate.m.jsonl"
    while not path.exists() or path.read_bytes().count(b"\\n") < 5:
        time.sleep(0.02)
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
with Engine(models, Ledgers(folder), concurrency=2) as engine:
    engine.complete(requests)
"""


def test_ctrl_c_keeps_the_answers_and_says_how_to_go_on(tmp_path):
    with Loopback(delay=0.1) as loopback:
        process = subprocess.run(
            [sys.executable, "-c", INTERRUPTED, str(tmp_path), loopback.url],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, timeout=100,
        )  # fmt: skip
        sent = len(loopback.calls)
    assert process.returncode in (1, 130, -signal.SIGINT)
    assert "run the same again to go on from here" in process.stdout
    assert "KeyboardInterrupt" in process.stderr and "never retrieved" not in process.stderr
    ledger = Ledger(tmp_path / "generate.m.jsonl", writable=True, lock_seconds=0)
    assert not ledger.damaged
    assert 5 <= len(ledger) < 500
    assert sent - len(ledger) <= 2 + 2  # those in flight, and those that came in at that moment
    ledger.close()
