"""What a person reads while models are at work: plain lines, or one table where a notebook is open."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from types import SimpleNamespace

import pytest

from creativemath_utils import progress as progress_module
from creativemath_utils.progress import HEADLESS_ENV, SESSION_ENV, Progress, duration, is_live
from creativemath_utils.records import Request, Response


@pytest.fixture
def clock(monkeypatch):
    """A clock that is set by hand."""
    time = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: time.now)
    return time


@pytest.fixture(autouse=True)
def headless(monkeypatch):
    monkeypatch.delenv(SESSION_ENV, raising=False)


def responses(*statuses, model="qwen"):
    request = Request(model, {}, (), {})
    return [
        Response.failure(request, "x") if status == "failed" else Response.answer(request, "x", status=status)
        for status in statuses
    ]


@pytest.mark.parametrize(
    ("begun", "statuses", "seconds", "known", "cost", "line"),
    [
        (0, [], 0, 0, None, "qwen: 0 of 41 done, 0/s"),  # nothing is known yet, no time either
        (6, [], 10, 0, None, "qwen: 0 of 41 done, 6 in flight, 0/s"),
        (18, ["ok"] * 12, 30, 30, None, "qwen: 12 of 41 done (30 more were there), 6 in flight, 0.4/s, 72 s left"),
        (3, ["ok", "failed", "truncated"], 1, 0, 0.0131,
         "qwen: 3 of 41 done, 1 truncated, 1 failed, 3/s, $0.0131 so far, 13 s left"),
        (41, ["ok"] * 41, 41, 0, 0.0, "qwen: 41 of 41 done, 1/s, $0.0000 so far"),  # the price is known, and nothing
        (41, ["ok"] * 20, 3600, 0, None, "qwen: 20 of 41 done, 21 in flight, 0.0056/s, 63 min left"),
    ],
)  # fmt: skip
def test_the_line_of_a_model(clock, begun, statuses, seconds, known, cost, line):
    progress = Progress({"qwen": 41}, {"qwen": known}, every_seconds=1e9, cost=lambda model: cost)
    for _ in range(begun):
        progress.begin("qwen")
    clock.now += seconds
    progress.advance(responses(*statuses))
    assert progress.line("qwen") == line


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2.0 h"), (86400, "24.0 h")],
)
def test_a_time_to_wait(seconds, text):
    assert duration(seconds) == text


def test_a_model_that_has_ended_keeps_its_rate(clock):
    progress = Progress({"qwen": 1, "slow": 2}, every_seconds=1e9)
    clock.now += 2
    progress.advance(responses("ok"))
    clock.now += 98
    assert progress.line("qwen") == "qwen: 1 of 1 done, 0.5/s"


def test_a_model_that_waits_for_another_has_a_clock_of_its_own(clock):
    """Two local models: the second begins when the first has ended."""
    progress = Progress({"first": 1, "second": 10}, every_seconds=1e9)
    progress.begin("first")
    clock.now += 100
    progress.advance(responses("ok", model="first"))
    assert progress.line("second") == "second: 0 of 10 done, 0/s"
    progress.begin("second")
    clock.now += 2
    progress.advance(responses("ok", model="second"))
    assert progress.line("second") == "second: 1 of 10 done, 0.5/s, 18 s left"
    assert progress.line("first") == "first: 1 of 1 done, 0.01/s"


def test_a_run_that_was_stopped_has_nothing_in_flight_and_no_time_left(clock, capsys):
    with pytest.raises(KeyboardInterrupt), Progress({"qwen": 9}, every_seconds=1e9) as progress:
        for _ in range(3):
            progress.begin("qwen")
        clock.now += 1
        progress.advance(responses("ok"))
        assert progress.line("qwen") == "qwen: 1 of 9 done, 2 in flight, 1/s, 8 s left"
        raise KeyboardInterrupt
    assert capsys.readouterr().out == "qwen: 1 of 9 done, 1/s\n"


def test_what_has_arrived_is_no_longer_in_flight(clock):
    progress = Progress({"qwen": 9}, every_seconds=1e9)
    for _ in range(3):
        progress.begin("qwen")
    progress.arrive("qwen")  # and waits to be written
    assert progress.line("qwen") == "qwen: 0 of 9 done, 2 in flight, 0/s"


def test_plain_lines_come_now_and_then_and_only_with_news(clock, capsys):
    with Progress({"qwen": 3, "slow": 1}, every_seconds=10) as progress:
        progress.begin("qwen")
        clock.now += 9
        progress.show()
        assert capsys.readouterr().out == ""  # not yet
        clock.now += 1
        progress.show()
        assert capsys.readouterr().out == "qwen: 0 of 3 done, 1 in flight, 0/s\n"
        clock.now += 100
        progress.show()
        assert capsys.readouterr().out == ""  # nothing new
        progress.advance(responses("ok", "truncated", "ok"))
        clock.now += 100
        progress.advance(responses("ok", model="slow"))
        assert capsys.readouterr().out == ""  # both have ended: their last line comes below
    out = capsys.readouterr().out.splitlines()
    assert [line.partition(" done")[0] for line in out[::2]] == ["qwen: 3 of 3", "slow: 1 of 1"]
    assert out[1] == "qwen: 1 answers end at the token limit; raise max_new_tokens for whole ones"


def test_it_shows_itself_while_no_answer_comes(capsys):
    async def wait():
        progress = Progress({"qwen": 3}, every_seconds=0.01)
        progress.begin("qwen")
        task = asyncio.create_task(progress.keep_showing())
        await asyncio.sleep(0.2)
        task.cancel()

    asyncio.run(wait())
    assert capsys.readouterr().out.startswith("qwen: 0 of 3 done, 1 in flight")


@pytest.mark.parametrize(
    ("session", "headless", "shell", "live"),
    [
        ("02_generate.ipynb", "", SimpleNamespace(kernel=object()), True),  # open in JupyterLab
        ("", "", SimpleNamespace(kernel=object()), False),  # papermill or nbconvert, called by hand
        ("02_generate.ipynb", "1", SimpleNamespace(kernel=object()), False),  # the kit's runner, called from a notebook
        ("02_generate.ipynb", "", SimpleNamespace(), False),  # IPython in a terminal
        ("02_generate.ipynb", "", None, False),  # no IPython at all
    ],
)
def test_who_looks_on(monkeypatch, session, headless, shell, live):
    import IPython

    monkeypatch.setenv(SESSION_ENV, session)
    monkeypatch.setenv(HEADLESS_ENV, headless)
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    assert is_live() is live


def test_where_somebody_looks_on_there_is_one_table(clock, monkeypatch, capsys):
    shown, updates = [], []
    handle = SimpleNamespace(update=lambda data, raw: updates.append(data))
    monkeypatch.setattr(progress_module, "is_live", lambda: True)
    monkeypatch.setattr("IPython.display.display", lambda data, **options: shown.append((data, options)) or handle)
    with Progress({"a<b": 2}) as progress:
        progress.begin("a<b")
        progress.advance(responses("ok", model="a<b"))
        assert updates == []  # at most once a second
        clock.now += 1
        progress.show()
        progress.advance(responses("ok", model="a<b"))
    assert len(shown) == 1 and shown[0][1] == {"raw": True, "display_id": True}
    assert [data["text/plain"] for data in updates] == ["a<b: 1 of 2 done, 1/s, 1 s left", "a<b: 2 of 2 done, 2/s"]
    assert "a&lt;b" in updates[-1]["text/html"] and "a<b" not in updates[-1]["text/html"]
    assert capsys.readouterr().out == ""


NOTEBOOK = """
import time
from creativemath_utils.progress import Progress
from creativemath_utils.records import Request, Response
with Progress({"m": 2}) as progress:
    for text in ("one", "two"):
        progress.begin("m")
        time.sleep(1.1)
        progress.advance([Response.answer(Request("m", {}, (), {}), text)])
"""


@pytest.mark.slow
@pytest.mark.parametrize("session", ["", "open.ipynb"])
def test_an_executed_notebook_holds_no_widget(tmp_path, monkeypatch, session):
    """In a real kernel: plain lines, or one output that was changed in place, and nothing in the metadata."""
    import nbclient
    import nbformat

    monkeypatch.setenv(SESSION_ENV, session)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(NOTEBOOK)])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    assert "widgets" not in notebook.metadata
    (output,) = notebook.cells[0].outputs
    if session:
        assert output.output_type == "display_data" and output.data["text/plain"].startswith("m: 2 of 2 done")
    else:
        assert output.output_type == "stream" and output.text.startswith("m: 2 of 2 done")
    assert "widget" not in json.dumps(notebook)
