"""The four notebooks, end to end on the recorded answers, in a temporary folder; and their form."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

REPO = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((REPO / "notebooks").glob("*.ipynb"))
STORY = ["01_curate", "02_generate", "03_judge", "04_analyze"]


def run_kit(root: Path, *arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess:
    """`python -m creativemath_utils` on a root folder of its own, offline, from another working folder."""
    return subprocess.run(
        [sys.executable, "-m", "creativemath_utils", *arguments],
        cwd=cwd or root.parent,
        env={**os.environ, "CREATIVEMATH_ROOT": str(root), "HF_HUB_OFFLINE": "1", **environment},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A root folder on which all four notebooks have run once for the demo."""
    root = tmp_path_factory.mktemp("finished") / "kit"
    shutil.copytree(REPO / "notebooks", root / "notebooks")
    shutil.copytree(REPO / "data" / "demo", root / "data" / "demo")
    shutil.copytree(REPO / "data" / "published", root / "data" / "published")
    for name in STORY:
        done = run_kit(root, "run", name)
        assert done.returncode == 0, done.stderr
    return root


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_run_leaves_the_files_of_the_design(finished):
    run = finished / "data" / "runs" / "demo"
    made = files_below(run)
    generators = ["qwen-coder-1.5b", "qwen-coder-1.5b-t08-s1", "qwen-coder-1.5b-t08-s2", "gemma-3-270m"]
    expected = {"problems.jsonl", "dropped.jsonl", "categories.jsonl", "dirt.md"}
    expected |= {"votes/pairs.jsonl", "votes/stability.jsonl"}
    expected |= {f"{kind}/{name}.jsonl" for kind in ("solutions", "votes") for name in generators}
    expected |= {f"executed/{name}.ipynb" for name in STORY}
    assert set(made) == expected
    assert not (run / "responses").exists()  # offline: nothing was asked, so no ledger was begun


def test_the_figures_in_git_are_those_that_a_run_makes(finished):
    """Same ledger, same bytes: tables to the letter, pictures too."""
    ours, shipped = files_below(finished / "figures" / "demo"), files_below(REPO / "figures" / "demo")
    assert set(ours) == set(shipped)
    assert [name for name in ours if ours[name] != shipped[name]] == []


def test_a_second_run_gives_the_same_bytes(finished):
    stages = [finished / "data" / "runs" / "demo" / kind for kind in ("solutions", "votes")]
    before = [files_below(folder) for folder in stages]
    assert run_kit(finished, "run", "02_generate").returncode == 0
    assert run_kit(finished, "run", "03_judge").returncode == 0
    assert [files_below(folder) for folder in stages] == before


def test_counts_agree_between_files_and_tables(finished):
    rows = [json.loads(line) for line in (finished / "data/runs/demo/solutions/gemma-3-270m.jsonl").open()]
    table = pd.read_csv(finished / "figures" / "demo" / "table_2.csv")
    assert set(table["samples"]) == {len(rows)}
    assert table["truncated"].sum() >= sum(row["status"] == "truncated" for row in rows)
    assert (table["novel_unknown"] <= table["novel"]).all() and (table["novel"] <= table["correct"]).all()


def test_executed_copies_hold_no_widgets_and_no_errors(finished):
    for path in (finished / "data" / "runs" / "demo" / "executed").glob("*.ipynb"):
        content = json.loads(path.read_text("utf-8"))
        assert "widgets" not in content["metadata"]
        outputs = [output for cell in content["cells"] for output in cell.get("outputs", [])]
        assert outputs and not [o for o in outputs if o["output_type"] == "error"]


def test_a_missing_recorded_answer_is_an_error_that_names_call_and_remedy(kit_root):
    """The last line of one recording is taken away: no file for that generator, exit code 2, the others unharmed."""
    recording = kit_root / "data" / "demo" / "responses" / "generate.gemma-3-270m.jsonl"
    lines = recording.read_bytes().splitlines(keepends=True)
    wanted = (kit_root / "notebooks" / "profiles" / "demo.yaml").read_text("utf-8")
    assert "offline: true" in wanted
    recording.write_bytes(b"".join(lines[1:]))
    assert run_kit(kit_root, "run", "01_curate").returncode == 0
    done = run_kit(kit_root, "run", "02_generate")
    assert done.returncode == 2
    assert "1 call failed: no recorded answer of 'gemma-3-270m' for Demo_" in done.stderr
    assert "make record" in done.stderr and "Traceback" not in done.stderr
    solutions = kit_root / "data" / "runs" / "demo" / "solutions"
    assert not (solutions / "gemma-3-270m.jsonl").exists() and (solutions / "qwen-coder-1.5b.jsonl").exists()
    assert run_kit(kit_root, "run", "02_generate", ALLOW_FAILED="1").returncode == 0
    statuses = [json.loads(line)["status"] for line in (solutions / "gemma-3-270m.jsonl").open()]
    assert statuses.count("failed") == 1


def test_a_misspelt_parameter_stops_bare_papermill_too(kit_root):
    """papermill itself only warns, and exits 0: the notebook's first cell has to say it."""
    target = kit_root / "out.ipynb"
    source = str(kit_root / "notebooks" / "01_curate.ipynb")
    arguments = [source, str(target), "-p", "profil", "demo", "--no-progress-bar", "-k", "python3"]
    done = subprocess.run(
        [sys.executable, "-m", "papermill", *arguments, "--cwd", str(kit_root)],
        env={**os.environ, "CREATIVEMATH_ROOT": str(kit_root)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode != 0
    assert "parameter profil: the notebook has no such parameter; did you mean 'profile'?" in done.stderr


@pytest.mark.parametrize("kernelspec", [None, {"name": "my-venv-39", "display_name": "x", "language": "python"}])
def test_a_notebook_saved_with_another_kernel_runs_in_this_interpreter(kit_root, kernelspec):
    path = kit_root / "notebooks" / "01_curate.ipynb"
    content = json.loads(path.read_text("utf-8"))
    content["metadata"] = {"kernelspec": kernelspec} if kernelspec else {}
    path.write_text(json.dumps(content), "utf-8")
    done = run_kit(kit_root, "run", "01_curate")
    assert done.returncode == 0, done.stderr


def test_a_cell_that_raises_keeps_its_outputs_and_fails_the_run(kit_root):
    path = kit_root / "notebooks" / "01_curate.ipynb"
    content = json.loads(path.read_text("utf-8"))
    content["cells"][-1]["source"] = ["raise ZeroDivisionError('a bug of ours')"]
    path.write_text(json.dumps(content), "utf-8")
    done = run_kit(kit_root, "run", "01_curate")
    assert done.returncode == 1 and "ZeroDivisionError: a bug of ours" in done.stderr
    executed = json.loads((kit_root / "data/runs/demo/executed/01_curate.ipynb").read_text("utf-8"))
    outputs = [output for cell in executed["cells"] for output in cell.get("outputs", [])]
    printed = "".join("".join(output.get("text", "")) for output in outputs)
    assert "20 problems, 52 solutions" in printed


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
class TestForm:
    """Thin, without outputs, parameters as plain literals with a comment each."""

    @staticmethod
    def cells(path: Path, kind: str = "code") -> list[dict]:
        return [cell for cell in json.loads(path.read_text("utf-8"))["cells"] if cell["cell_type"] == kind]

    def test_no_stored_outputs(self, path):
        assert all(not cell["outputs"] and cell["execution_count"] is None for cell in self.cells(path))

    def test_no_functions_or_classes(self, path):
        trees = [ast.parse("".join(cell["source"])) for cell in self.cells(path)]
        defined = [n for t in trees for n in ast.walk(t) if isinstance(n, ast.FunctionDef | ast.ClassDef)]
        assert defined == []

    def test_parameters_are_literals_with_a_comment_each(self, path):
        (cell,) = [c for c in self.cells(path) if "parameters" in c["metadata"].get("tags", [])]
        source = "".join(cell["source"])
        assert all(" # " in line for line in source.splitlines())
        for node in ast.parse(source).body:
            assert isinstance(node, ast.Assign)
            ast.literal_eval(node.value)

    def test_the_first_cell_says_what_is_read_and_written(self, path):
        title = "".join(json.loads(path.read_text("utf-8"))["cells"][0]["source"])
        assert title.startswith(f"# {int(path.stem[:2])} · ") and "| reads | writes" in title


def test_the_story_is_these_four():
    assert [path.stem for path in NOTEBOOKS] == STORY
