"""The ledger on disk: what it keeps, what it heals, what it refuses."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from creativemath_utils import ledger_index
from creativemath_utils.ledger import Ledger, Ledgers
from creativemath_utils.records import KitError, Request, Response, user_message
from creativemath_utils.store import dump_line


def request(question="2 + 2?", ledger="judge"):
    return Request("m", {"id": "x"}, user_message(question), {"temperature": 0}, ledger=ledger)


def answer(question="2 + 2?", text="4", **about):
    return Response.answer(request(question), text, finish_reason="stop", created="2026-01-01T00:00:00Z", **about)


def write(path, *responses):
    ledger = Ledger(path, writable=True, lock_seconds=0)
    ledger.append(responses)
    ledger.close()
    return path.read_bytes()


def read(path, *, writable=False):
    ledger = Ledger(path, writable=writable, lock_seconds=0)
    found = {key: ledger.find(key).text for key in ledger}
    ledger.close()
    return ledger, found


QUESTIONS = ("q1", "q2", "q3")
KEYS = [request(question).key for question in QUESTIONS]


@pytest.fixture
def lines(tmp_path):
    """Three answers as the lines of a ledger."""
    content = write(tmp_path / "three.jsonl", *(answer(q, f"answer to {q}") for q in QUESTIONS))
    return content.splitlines(keepends=True)


@pytest.mark.parametrize(
    "text",
    [
        "4",
        "",
        "a\u2028b\u2029c\x85d\x0be",  # line ends for some, characters here
        "half of a pair: \ud83d",  # UTF-8 cannot hold it
        "one\r\ntwo\n\nthree\ttab \x00 \"quoted\" \\frac",
        "漢字 ∑ 𝔸",
        "x" * 100_000,  # longer than a read
    ],
)  # fmt: skip
def test_an_answer_comes_back_as_it_was(tmp_path, text):
    response = answer("q" + text, text, reasoning=text or None, usage={"input_tokens": 3})
    content = write(tmp_path / "a.jsonl", answer("before"), response, answer("after"))
    assert content.count(b"\n") == 3
    ledger = Ledger(tmp_path / "a.jsonl")
    assert ledger.find(response.key) == response
    ledger.close()


def test_the_row_begins_with_its_key_and_holds_no_error(lines):
    row = json.loads(lines[0])
    assert list(row) == ["key", "model", "request", "status", "text", "reasoning", "finish_reason", "usage",
                         "settings_used", "created", "schema"]  # fmt: skip
    assert row["request"] == request("q1").asked()


def test_the_first_answer_counts(tmp_path):
    path = tmp_path / "a.jsonl"
    write(path, answer(text="first"), answer(text="second"))
    write(path, answer(text="third"))
    assert read(path)[1] == {request().key: "first"}


def test_a_failed_call_is_never_stored(tmp_path):
    ledger = Ledger(tmp_path / "a.jsonl", writable=True)
    with pytest.raises(ValueError, match="no answer"):
        ledger.append([answer("good"), Response.failure(request(), "timed out")])
    ledger.close()
    assert (tmp_path / "a.jsonl").read_bytes() == b""


@pytest.mark.parametrize(
    ("tail", "kept", "warnings"),
    [
        (b"", 3, 0),
        (b'{"key": "p3", "resp', 3, 1),
        (b'{"key": "p3", "resp\n', 3, 1),
        (b'{"key": "p3", "resp\n\n', 3, 1),  # an empty line after it
        (b'{"key": "p3", "text": "\xe2\x80', 3, 1),  # torn inside a character
        (b"\x00" * 500, 3, 1),  # a power cut
        (b"\n\n", 3, 0),
        (b"{", 3, 1),
    ],
)
def test_a_torn_last_line_is_cut_off_with_one_warning(tmp_path, lines, caplog, tail, kept, warnings):
    path = tmp_path / "torn.jsonl"
    path.write_bytes(b"".join(lines) + tail)
    ledgers = Ledgers(tmp_path)
    assert ledgers.find(KEYS[0], "torn").text == "answer to q1"
    ledger = ledgers.writable("torn")
    assert (len(ledger), ledger.damaged) == (kept, [])
    ledger.append([answer("new", "fresh")])
    assert ledger.find(request("new").key).text == "fresh"  # not what was read before it was cut
    ledgers.close()
    assert len(caplog.records) == warnings
    assert all(json.loads(line) for line in path.read_bytes().splitlines() if line)
    assert read(path)[0].damaged == []


def test_a_line_that_lacks_only_its_newline_is_kept(tmp_path, lines, caplog):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(lines).rstrip(b"\n"))  # some editors do that
    assert len(read(path)[0]) == 3
    write(path, answer("new"))
    assert path.read_bytes().splitlines(keepends=True)[:3] == lines
    assert len(read(path)[0]) == 4
    assert not caplog.records


@pytest.mark.parametrize(
    "damage",
    [
        b"<<<<<<< HEAD\n",
        b'{"key": "torn\n',
        b"\xff\xfe\x00\n",
        b"[" * 100_000 + b"\n",
        b"[1, 2]\n",
        b"null\n",
        b'{"key": "zz", "text": "no key"}\n',
        b'{"text": "no key"}\n',
    ],
)
def test_damage_inside_is_reported_and_hides_nothing(tmp_path, lines, caplog, damage):
    path = tmp_path / "a.jsonl"
    content = lines[0] + damage + lines[1] + b"\n" + lines[2]
    path.write_bytes(content)
    ledger, found = read(path, writable=True)
    assert list(found) == KEYS
    assert ledger.damaged == [2]
    assert "line 2;" in caplog.text
    assert path.read_bytes() == content  # left as it is


def test_a_last_line_of_another_tool_is_not_cut_off(tmp_path, lines):
    path = tmp_path / "a.jsonl"
    content = b"".join(lines) + b'{"note": "whole, but no answer"}\n'
    path.write_bytes(content)
    assert read(path, writable=True)[0].damaged == [4]
    assert path.read_bytes() == content


def test_crlf_line_ends_are_read(tmp_path, lines):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(lines).replace(b"\n", b"\r\n"))
    ledger, found = read(path, writable=True)
    assert list(found) == KEYS and not ledger.damaged


def test_error_rows_are_no_answers_and_repeated_keys_are_reported(tmp_path, lines, caplog):
    path = tmp_path / "a.jsonl"
    failed = dump_line({**json.loads(lines[0]), "status": "failed", "text": ""})
    other = dump_line({**json.loads(lines[0]), "text": "another verdict"})
    path.write_bytes(failed + lines[0] + other + dump_line({"key": KEYS[1], "status": "failed"}))
    ledger, found = read(path)
    assert found == {KEYS[0]: "answer to q1"}
    assert (ledger.duplicates, ledger.damaged) == (1, [])
    assert "1 lines repeat" in caplog.text


def test_a_row_of_a_later_kit_is_refused(tmp_path, lines):
    path = tmp_path / "a.jsonl"
    path.write_bytes(lines[0] + dump_line({**json.loads(lines[1]), "schema": 2}))
    with pytest.raises(KitError, match=r"a\.jsonl:2: schema 2"):
        Ledger(path)


def test_a_second_writer_is_refused_and_readers_are_not(tmp_path):
    path = tmp_path / "a.jsonl"
    first = Ledger(path, writable=True)
    started = time.monotonic()
    with pytest.raises(KitError, match="is being written by another run"):
        Ledger(path, writable=True, lock_seconds=0.2)
    assert time.monotonic() - started >= 0.2
    first.append([answer()])
    assert len(read(path)[0]) == 1
    first.close()
    Ledger(path, writable=True, lock_seconds=0).close()
    assert os.listdir(tmp_path) == ["a.jsonl"]  # no lock file is left beside it


WRITER = """
import sys
from pathlib import Path
from creativemath_utils.ledger import Ledger
from creativemath_utils.records import Request, Response, user_message
ledger = Ledger(Path(sys.argv[1]), writable=True)
print("open", flush=True)
for i in range(int(sys.argv[2])):
    request = Request("m", {"id": "x"}, user_message(f"q{i}"), {})
    ledger.append([Response.answer(request, f"answer {i} " * 2000)])
    print(i, flush=True)
sys.stdin.read()
"""


def writer(path, count):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(count)], env=environment, text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip


def test_another_process_holds_the_lock_until_it_is_killed(tmp_path):
    path = tmp_path / "a.jsonl"
    process = writer(path, 0)
    try:
        assert process.stdout.readline() == "open\n"
        with pytest.raises(KitError, match="another run"):
            Ledger(path, writable=True, lock_seconds=0)
    finally:
        process.kill()
        process.communicate()
    Ledger(path, writable=True, lock_seconds=5).close()  # a killed run leaves no lock behind


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_kill_at_any_moment_loses_nothing_that_counted(tmp_path, seed):
    path = tmp_path / "a.jsonl"
    process = writer(path, 10_000)
    counted = [process.stdout.readline() for _ in range(2)]
    time.sleep(random.Random(seed).uniform(0, 0.5))
    process.send_signal(signal.SIGKILL)
    counted += process.stdout.readlines()
    process.wait()
    process.stdin.close()
    process.stdout.close()
    answered = [int(line) for line in counted[1:] if line.endswith("\n")]
    ledger, found = read(path, writable=True)
    assert list(found.values()) == [f"answer {i} " * 2000 for i in range(len(found))]
    assert len(found) - len(answered) in (0, 1)  # one may be on disk and not yet counted
    assert not ledger.damaged


@pytest.mark.parametrize("fault", ["write", "short write", "sync"])
def test_a_full_disk_keeps_what_was_there(tmp_path, monkeypatch, fault):
    path = tmp_path / "a.jsonl"
    ledger = Ledger(path, writable=True)
    ledger.append([answer("q1")])
    before = path.read_bytes()
    real, calls = os.pwrite, []

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def short(descriptor, content, offset):
        calls.append(offset)
        return real(descriptor, content[:10], offset) if len(calls) == 1 else full()

    monkeypatch.setattr(os, "fsync" if fault == "sync" else "pwrite", short if fault == "short write" else full)
    with pytest.raises(KitError, match=r"No space left.*run again"):
        ledger.append([answer("q2")])
    assert path.read_bytes() == before
    monkeypatch.undo()
    ledger.append([answer("q2")])  # once there is room again
    ledger.close()
    assert len(read(path)[0]) == 2


@pytest.mark.parametrize(
    ("tail", "function"),
    [
        (b'{"key": "torn', "ftruncate"),  # cut off when it is opened for writing
        (b"", "pwrite"),  # its last newline is missing, and written then
    ],
)
def test_a_disk_that_fails_while_a_file_is_healed_is_one_line(tmp_path, monkeypatch, lines, tail, function):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"".join(lines).rstrip(b"\n") + (b"\n" + tail if tail else b""))
    before = path.read_bytes()

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, function, full)
    with pytest.raises(KitError) as caught:
        Ledger(path, writable=True, lock_seconds=0)
    monkeypatch.undo()
    assert str(caught.value) == f"{path}: No space left on device; mend that and run again"
    assert path.read_bytes() == before
    assert len(read(path, writable=True)[0]) == 3  # and goes on: the lock is free


def meanwhile_nothing(path, lines):
    pass


def meanwhile_more(path, lines):
    with path.open("ab") as file:
        file.write(lines[2] + b"not a row\n" + lines[0])


def meanwhile_a_torn_line_was_mended(path, lines):
    path.write_bytes(b"".join(lines[:2]) + lines[2])


def meanwhile_another_file(path, lines):
    path.unlink()
    path.write_bytes(b"".join(lines))


def meanwhile_a_shorter_file(path, lines):
    path.write_bytes(lines[1])


@pytest.mark.parametrize(
    ("tail", "meanwhile", "read_again", "keys", "damaged"),
    [
        (b"OOPS\n", meanwhile_more, 3, [0, 1, 2], [2, 5]),  # the first is said by the reader
        (b"", meanwhile_nothing, 0, [0, 1], []),
        (b"\n", meanwhile_nothing, 0, [0, 1], []),
        (b"", meanwhile_more, 3, [0, 1, 2], [4]),
        (b'{"key": "torn', meanwhile_nothing, 1, [0, 1], []),
        (b'{"key": "torn', meanwhile_a_torn_line_was_mended, 1, [0, 1, 2], []),
        (b"", meanwhile_another_file, 3, [0, 1, 2], []),
        (b"", meanwhile_a_shorter_file, 1, [1], []),
        (b"oops\n", meanwhile_more, 4, [0, 1, 2], [3, 5]),  # it might have been a torn one: said by the writer
    ],
)
def test_a_run_reads_a_file_once(tmp_path, lines, monkeypatch, caplog, tail, meanwhile, read_again, keys, damaged):
    """What the reader knows is the writer's too: only what came after is read, as long as it is the same file."""
    path = tmp_path / "run" / "judge.jsonl"
    path.parent.mkdir()
    path.write_bytes(lines[0] + tail + lines[1] if tail.isupper() else lines[0] + lines[1] + tail)
    ledgers = Ledgers(path.parent)
    meanwhile(path, lines)
    rows = []
    monkeypatch.setattr(ledger_index, "decode", lambda line, real=ledger_index.decode: rows.append(line) or real(line))
    ledger = ledgers.writable("judge")
    assert len(rows) == read_again
    assert (list(ledger), ledger.damaged) == ([KEYS[at] for at in keys], damaged)
    assert [ledger.find(KEYS[at]).text for at in keys] == [f"answer to {QUESTIONS[at]}" for at in keys]
    (tally,) = ledgers.tallies()
    assert (tally.model, tally.calls) == ("m", len(keys)) and len(rows) == read_again
    told = [record.args for record in caplog.records if "unreadable" in record.msg]
    assert ", ".join(numbers for _, _, numbers in told) == ", ".join(map(str, damaged))  # each once
    ledger.append([answer("new", "fresh")])
    assert ledger.find(request("new").key).text == "fresh"
    ledgers.close()
    assert len(read(path)[0]) == len(keys) + 1


def test_what_the_answers_come_to(tmp_path):
    usages = [{"input_tokens": 7, "output_tokens": 5}, {"input_tokens": 1, "output_tokens": 2}, None,
              {"input_tokens": 9}, {"input_tokens": None, "output_tokens": 3}]  # fmt: skip
    responses = [answer(f"q{i}", usage=usage) for i, usage in enumerate(usages)]
    batch = answer("in a batch", usage=usages[0], settings_used={"batch": True})
    write(tmp_path / "a.jsonl", *responses, responses[0], batch)
    ledger = Ledger(tmp_path / "a.jsonl")
    tallies = {tally.batch: (tally.calls, tally.usage) for tally in ledger.tallies}
    ledger.close()
    assert tallies == {
        False: (5, {"input_tokens": 8, "output_tokens": 7}),  # where a count is missing, none counts
        True: (1, {"input_tokens": 7, "output_tokens": 5}),
    }


def test_a_file_that_was_put_in_its_place_is_noticed(tmp_path):
    path = tmp_path / "a.jsonl"
    ledger = Ledger(path, writable=True)
    path.unlink()
    path.write_bytes(b"")  # a checkout does that
    with pytest.raises(KitError, match="another file in its place"):
        ledger.append([answer()])
    ledger.close()


def test_a_folder_that_cannot_hold_a_ledger_is_named(tmp_path):
    (tmp_path / "runs").write_text("a file where a folder should be")
    with pytest.raises(KitError, match=r"a\.jsonl cannot be opened"):
        Ledger(tmp_path / "runs" / "a.jsonl", writable=True)


def test_the_recording_comes_first_then_the_own_file(tmp_path):
    (tmp_path / "recording").mkdir()
    write(tmp_path / "recording" / "judge.jsonl", answer("q1", "recorded"))
    write(tmp_path / "run" / "judge.jsonl", answer("q1", "own"), answer("q2", "own"))
    write(tmp_path / "run" / "aaa.jsonl", answer("q2", "other"), answer("q3", "other"))
    ledgers = Ledgers(tmp_path / "run", tmp_path / "recording")
    assert [ledgers.find(request(q).key, "judge").text for q in QUESTIONS] == ["recorded", "own", "other"]
    assert ledgers.find(request("q4").key, "nowhere") is None
    ledgers.close()


def test_an_empty_recording_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(KitError, match="no recorded answers there"):
        Ledgers(tmp_path, tmp_path / "empty")
