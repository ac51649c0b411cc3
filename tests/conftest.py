"""What all tests share: where a skip is a failure, and a kit of its own in a temporary folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parents[1]


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """With FAIL_ON_SKIP=1 a skipped test fails the run: a machine that is set up for all tests must run them all."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    skipped = reporter.stats.get("skipped", []) if reporter else []
    if os.environ.get("FAIL_ON_SKIP") == "1" and skipped and exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.fixture
def kit_root(tmp_path: Path) -> Path:
    """A root folder of its own for a run: the notebooks, the demo and the published numbers, and nothing made yet."""
    root = tmp_path / "kit"
    shutil.copytree(REPO / "notebooks", root / "notebooks", ignore=shutil.ignore_patterns(".ipynb_checkpoints"))
    for name in ("demo", "published"):
        shutil.copytree(REPO / "data" / name, root / "data" / name, ignore=shutil.ignore_patterns("*.lock"))
    return root
