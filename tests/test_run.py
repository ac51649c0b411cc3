"""A notebook's parameters and the command line: what is taken, what is refused, and how."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import pytest

from creativemath_utils import run as run_module
from creativemath_utils.__main__ import main
from creativemath_utils.records import KitError, Request, Vote
from creativemath_utils.run import as_names, as_switch, open_run


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, True),
        (False, False),
        ("false", False),  # papermill's `-p record false` arrives as a text, and a text is true
        ("False", False),
        ("no", False),
        ("0", False),
        (0, False),
        ("", False),  # an environment variable that is not set
        ("1", True),  # ALLOW_FAILED=1
        (" Yes ", True),
    ],
)
def test_a_switch_reads_what_papermill_and_the_environment_hand_over(value, expected):
    assert as_switch(value, "record") is expected


@pytest.mark.parametrize("value", ["maybe", 2, None, [True]])
def test_anything_else_is_refused_by_the_parameter_s_name(value):
    with pytest.raises(KitError, match="parameter record: expected true or false"):
        as_switch(value, "record")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("", ()),  # all of the profile
        ("a", ("a",)),
        ("a, b,", ("a", "b")),
        (["a", "b"], ("a", "b")),
        (("a",), ("a",)),
        ("0012", ("0012",)),  # a name that looks like a number stays a text
    ],
)
def test_names_from_text_or_list(value, expected):
    assert as_names(value, "generators") == expected


@pytest.mark.parametrize("value", [12, None, {"a": 1}, [1, 2]])
def test_names_of_another_type_are_refused(value):
    with pytest.raises(KitError, match="parameter generators: expected names"):
        as_names(value, "generators")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"profile": "dmeo"}, "did you mean 'demo'"),
        ({"profile": 7}, "parameter profile"),
        ({"profile": ""}, "parameter profile"),
        (
            {"profile": "demo", "generators": "qwen-coder"},
            "parameter generators: 'qwen-coder' is not in profile 'demo'",
        ),
        ({"profile": "demo", "record": "perhaps"}, "parameter record"),
        ({"profile": "demo", "pairs": "perhaps"}, "parameter pairs"),
    ],
)
def test_open_run_names_the_parameter_at_fault(parameters, message):
    with pytest.raises(KitError, match=message):
        open_run(**parameters)


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        (["", "x = 1", 'profile = "demo"', "# Parameters\nprofil = 'mine'\n"], "parameter profil: .* did you mean"),
        (["", 'profile = "demo"', "# Parameters\nprofile = 'mine'\n"], None),
        (["", 'profile = "demo"', "profil = 3"], None),  # a person's own cell in JupyterLab is no injected one
        ([], None),  # not in a kernel
    ],
)
def test_a_misspelt_parameter_is_told_from_the_cells_the_kernel_ran(monkeypatch, cells, fault):
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(user_ns={"In": cells}))
    if fault is None:
        run_module.refuse_unknown_parameters()
    else:
        with pytest.raises(KitError, match=fault):
            run_module.refuse_unknown_parameters()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "02_generate", "--profile", "nope"], "error: no profile 'nope'"),
        (["run", "02_generat", "--profile", "demo"], "did you mean '02_generate'"),
        (["run", "02_generate", "--set", "generatorz=a"], "02_generate has no parameter 'generatorz'"),
        (["run", "02_generate", "--set", "generators"], "expected NAME=VALUE"),
        (["settings", "--profile", "nope.yaml"], "error: no profile 'nope.yaml'"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(capsys, arguments, line):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert line in err and err.count("\n") == 1 and not out


def test_settings_are_words_for_make(capsys):
    assert main(["settings", "--profile", "demo"]) == 0
    words = dict(word.split(":=") for word in capsys.readouterr().out.split())
    assert words["RUN"] == "demo"
    assert words["ALONE"] == ""  # recorded answers need no GPU: all generators share one kernel
    assert words["TOGETHER"].split(",") == list(open_run("demo").generators)


def test_the_package_is_imported_without_heavy_packages():
    """A kernel costs seconds: torch, transformers, sympy and openai come in only where they are used."""
    code = "import sys, creativemath_utils.run; print(*{'torch', 'transformers', 'sympy', 'openai'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_reader_is_told_what_each_judge_is_and_how_it_votes():
    cast = ("YES", "NO", "UNPARSED")
    votes = [Vote("p", 1, "gemma-3-270m", "correctness", "rules", verdict, "k") for verdict in cast]
    rules, qwen, minilm = open_run("demo").judge_notes(votes)
    assert "no language model but a baseline" in rules and rules.endswith("It said YES to 1 of 3 (correctness).")
    assert "its own family (qwen)" in qwen and "It said" not in qwen  # no vote yet
    assert "baseline" in minilm


JUDGE_OUT_OF_REACH = """
run: out-of-reach
corpus: {source: demo}
generators: [fine]
judges: [lost]
models:
  fine: {backend: api, id: fine, base_url: "http://127.0.0.1:9/v1"}
  lost: {backend: api, id: lost, base_url: "http://127.0.0.1:9/v1", api_key_env: A_KEY_THAT_IS_NOT_SET}
"""


def test_a_judge_s_missing_key_is_known_before_a_generator_is_paid(tmp_path, monkeypatch):
    monkeypatch.delenv("A_KEY_THAT_IS_NOT_SET", raising=False)
    file = tmp_path / "profile.yaml"
    file.write_text(JUDGE_OUT_OF_REACH, "utf-8")
    run = open_run(str(file))
    request = Request("fine", {"id": "fine"}, ({"role": "user", "content": "?"},), {}, ledger="generate.fine")
    with pytest.raises(KitError, match="lost: the environment variable A_KEY_THAT_IS_NOT_SET is not set"):
        run.check_models([request])
    run.check_models([])  # nothing left to ask: no model is tried
    assert not run.paths.folder.exists()
