"""What `make` would run: one kernel for the models behind an API, one each for local models and under LAUNCH."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]

PROFILE = """
run: dry-run-of-a-test
corpus: {source: demo}
generators: [one, two, here]
judges: [rules]
models:
  one: {backend: api, id: one, base_url: "http://127.0.0.1:9/v1"}
  two: {backend: api, id: two, base_url: "http://127.0.0.1:9/v1"}
  here: {backend: local, id: somewhere}
"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")


def dry_run(goal: str, *settings: str) -> subprocess.CompletedProcess:
    """`make -n goal`, with the running interpreter's environment taken as ready."""
    ready = f"{sys.prefix}/.ready"
    return subprocess.run(
        ["make", "-n", "-o", ready, goal, f"VENV={sys.prefix}", *settings],
        cwd=REPO,
        capture_output=True,
        text=True,
        timeout=60,
    )


def runs(done: subprocess.CompletedProcess) -> list[str]:
    """The notebook runs in what make would do: what comes before the kit's command, then the words after `run`."""
    assert done.returncode == 0, done.stderr
    found = re.findall(r"^(.*?)\S+ -m creativemath_utils run --profile '\S+' (.*?)\s*$", done.stdout, re.MULTILINE)
    return [f"{before.strip()} {what}".strip() for before, what in found]


@pytest.fixture
def profile(tmp_path: Path) -> str:
    file = tmp_path / "dry.yaml"
    file.write_text(PROFILE, "utf-8")
    return f"PROFILE={file}"


def test_models_behind_an_api_share_a_kernel_and_a_local_one_has_its_own(profile):
    assert runs(dry_run("reproduce", profile)) == [
        "01_curate",
        "02_generate --set generators=one,two",
        "03_judge --set generators=one,two --set pairs=false",
        "02_generate --set generators=here",
        "03_judge --set generators=here --set pairs=false",
        "03_judge --set votes=false",  # the pairs, once all votes are there
        "04_analyze",
    ]


def test_under_launch_each_generator_is_a_run_of_its_own(profile):
    found = runs(dry_run("judge", profile, "LAUNCH=srun --gres=gpu:1"))
    assert all(run.startswith("srun --gres=gpu:1 ") for run in found)
    for name in ("one", "two", "here"):
        assert f"srun --gres=gpu:1 02_generate --set generators={name}" in found
        assert f"srun --gres=gpu:1 03_judge --set generators={name} --set pairs=false" in found
    assert found[0].endswith("01_curate") and found[-1].endswith("03_judge --set votes=false")
    assert len(found) == 8


@pytest.mark.parametrize(("goal", "last"), [("curate", "01_curate"), ("generate", "02_generate --set generators=here")])
def test_a_stage_runs_what_it_needs_and_no_more(profile, goal, last):
    assert runs(dry_run(goal, profile))[-1] == last


def test_an_unknown_profile_is_one_line(tmp_path):
    done = dry_run("reproduce", "PROFILE=dmeo")
    assert done.returncode != 0
    assert "error: no profile 'dmeo'; did you mean 'demo'?" in done.stderr and "Traceback" not in done.stderr


def test_clean_never_names_a_ledger():
    assert "responses" not in dry_run("clean").stdout


def test_help_lists_the_commands():
    shown = subprocess.run(["make", "help"], cwd=REPO, capture_output=True, text=True, timeout=60).stdout
    for command in ("reproduce", "plan", "lab", "test", "test-all", "lint", "bench", "report", "clean", "record"):
        assert re.search(rf"^  {command} ", shown, re.MULTILINE), command
