"""Files of a run: where they lie, and that what is read is what was written."""

import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from creativemath_utils import store
from creativemath_utils.records import KitError, Problem, Solution
from creativemath_utils.store import RunPaths, dump_line, read_records, read_rows, write_atomic, write_records


def solution(text):
    return Solution("p", 1, 2, "m", text, text, (text,), "ok", "0" * 64)


@pytest.mark.parametrize(
    "text",
    [
        "",
        '$x<y$ & "quoted" \\frac{1}{2}',
        "two\nlines\n",
        "carriage\r\nreturn\r",
        "\u2028 line \u2029 separators \x85 \x0b \x0c",  # str.splitlines would cut here
        "\ud800 lone \udfff",  # UTF-8 cannot hold it
        "\x00 NUL and \x7f",
        "𝔸 ≤ ½ 数学",
        "\ufeff byte order mark",
    ],
)
def test_a_text_comes_back_as_it_was_written(tmp_path, text):
    file = tmp_path / "solutions" / "m.jsonl"
    write_records(file, [solution(text), solution("next")])
    assert read_records(file, Solution) == [solution(text), solution("next")]
    assert file.read_bytes().count(b"\n") == 2  # one object a line


def test_problems_come_back_with_their_source(tmp_path):
    problem = Problem("p", "IMO", "i", None, 1, None, None, "x<y?", ("a", "b"), {"kind": "mine", "pages": [1, 2]})
    write_records(tmp_path / "problems.jsonl", [problem])
    assert read_records(tmp_path / "problems.jsonl", Problem) == [problem]


def test_a_line_is_utf8_that_people_can_read():
    assert dump_line({"text": "½ 数"}) == '{"text": "½ 数"}\n'.encode()
    assert dump_line({"text": "\ud800"}) == b'{"text": "\\ud800"}\n'


def test_the_same_records_give_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        write_records(tmp_path / name, [solution("x"), {"reason": "no solution"}])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_lines_from_windows_and_empty_lines_are_read(tmp_path):
    (tmp_path / "x.jsonl").write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n  \n{"a": 2}')  # mark, CRLF, no last line end
    assert [value for _, value in read_rows(tmp_path / "x.jsonl")] == [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize(
    "content, place",
    [
        (b'{"a": 1}\n{"a": \n', ":2: not readable as JSON (Expecting value, column 1)"),
        (b'{"a": 1}\n\n{"a": "\xff"}\n', ":3: not readable as JSON"),  # empty lines count, this one is not UTF-8
        (b'{"a": 1}{"a": 2}\n', ":1: not readable as JSON"),
    ],
)
def test_an_unreadable_line_is_named(tmp_path, content, place):
    file = tmp_path / "x.jsonl"
    file.write_bytes(content)
    with pytest.raises(KitError) as caught:
        list(read_rows(file))
    assert str(caught.value).startswith(f"{file}{place}")
    assert str(caught.value).endswith("mend or remove that line")


def test_a_missing_file_is_named_with_the_remedy(tmp_path):
    with pytest.raises(KitError) as caught:
        read_records(tmp_path / "x.jsonl", Solution, "run notebook 02 first")
    assert str(caught.value) == f"{tmp_path / 'x.jsonl'} is missing; run notebook 02 first"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path):
    file = tmp_path / "x.jsonl"
    write_records(file, [{"a": 1}])

    def rows():
        yield {"a": 2}
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        write_records(file, rows())
    assert file.read_bytes() == b'{"a": 1}\n'
    assert os.listdir(tmp_path) == ["x.jsonl"]


@pytest.mark.parametrize(
    ("module", "function"),
    [(store.tempfile, "mkstemp"), (os, "fdopen"), (os, "fsync"), (os, "replace"), (Path, "mkdir")],
    ids=lambda value: getattr(value, "__name__", value),
)
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_a_disk_that_fails_leaves_the_old_file_and_one_line(tmp_path, monkeypatch, module, function, number):
    file = tmp_path / "x.jsonl"
    write_atomic(file, b"old")

    def fail(*_, **__):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(module, function, fail)
    with pytest.raises(KitError) as caught:
        write_atomic(file, b"new")
    monkeypatch.undo()
    assert str(caught.value) == f"{file} cannot be written: {os.strerror(number)}; mend that and run again"
    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x.jsonl"]


def test_a_folder_that_is_a_file_is_named(tmp_path):
    (tmp_path / "runs").write_text("a file where a folder should be")
    with pytest.raises(KitError, match=r"cannot be written: (File exists|Not a directory)"):
        write_atomic(tmp_path / "runs" / "x.jsonl", b"new")


def test_the_files_of_a_run():
    paths = RunPaths("my-run", Path("/kit"))
    assert str(paths.problems) == "/kit/data/runs/my-run/problems.jsonl"
    assert str(paths.dropped) == "/kit/data/runs/my-run/dropped.jsonl"
    assert str(paths.solutions("a.b")) == "/kit/data/runs/my-run/solutions/a.b.jsonl"
    assert str(paths.votes("a.b")) == "/kit/data/runs/my-run/votes/a.b.jsonl"
    assert str(paths.pairs) == "/kit/data/runs/my-run/votes/pairs.jsonl"
    assert str(paths.responses) == "/kit/data/runs/my-run/responses"
    assert str(paths.executed) == "/kit/data/runs/my-run/executed"
    assert str(paths.figures) == "/kit/figures/my-run"


def test_a_path_below_the_root_is_shown_without_it(tmp_path):
    assert store.shown(store.ROOT / "data" / "x.jsonl") == "data/x.jsonl"
    assert store.shown(tmp_path / "x.jsonl") == str(tmp_path / "x.jsonl")


def test_the_root_is_absolute_whatever_the_environment_says(tmp_path):
    (tmp_path / "kit").mkdir()
    code = "from creativemath_utils import store; print(store.ROOT, store.shown(store.ROOT / 'data'))"
    environment = {**os.environ, "CREATIVEMATH_ROOT": "kit", "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.split() == [str((tmp_path / "kit").resolve()), "data"]


def test_rows_are_json_a_person_can_check(tmp_path):
    write_records(tmp_path / "x.jsonl", [solution("x")])
    assert json.loads((tmp_path / "x.jsonl").read_text("utf-8"))["schema"] == 1
