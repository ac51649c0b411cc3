"""The four notebooks in JupyterLab, run there as a person would: open, Run All, look."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

STORY = ["01_curate", "02_generate", "03_judge", "04_analyze"]
WAIT_SECONDS = 180
CHROME_FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--window-size=1300,2400",
)
RUN_ALL = "return window.jupyterapp.commands.execute('notebook:run-all-cells')"
STATE = """
const panel = window.jupyterapp.shell.currentWidget;
if (!panel || !panel.content || !panel.content.widgets) return null;
const cells = panel.content.widgets.map(w => w.model).filter(m => m.type === 'code');
return {ready: panel.sessionContext.isReady && cells.length > 0,
        kernel: panel.sessionContext.kernelDisplayStatus,
        counts: cells.map(m => m.executionCount),
        errors: cells.flatMap(m => m.outputs.toJSON()).filter(o => o.output_type === 'error').map(o => o.evalue)};
"""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (shutil.which("chromium") and shutil.which("chromedriver")), reason="needs chromium-driver"),
]


@pytest.fixture
def lab(kit_root: Path) -> Iterator[str]:
    """JupyterLab on a root folder of its own, on loopback; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}", "--ip=127.0.0.1",
         "--IdentityProvider.token=", "--expose-app-in-browser", f"--notebook-dir={kit_root / 'notebooks'}",
         "--LabApp.news_url=None", "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"],
        env={**os.environ, "CREATIVEMATH_ROOT": str(kit_root), "JUPYTER_PREFER_ENV_PATH": "1",
             "JUPYTER_CONFIG_DIR": str(kit_root / ".jupyter")},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(WAIT_SECONDS):
            try:
                urllib.request.urlopen(f"{address}/api", timeout=1).close()
                break
            except OSError:
                time.sleep(1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


def test_the_notebooks_run_in_jupyterlab(lab, kit_root, tmp_path):
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    for flag in CHROME_FLAGS:
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path / 'chrome'}")
    service = webdriver.ChromeService(executable_path=shutil.which("chromedriver"))
    with webdriver.Chrome(options=options, service=service) as browser:
        for name in STORY:
            browser.get(f"{lab}/lab/tree/{name}.ipynb?reset")
            wait_for(browser, lambda state: state["ready"])
            browser.execute_script(RUN_ALL)
            state = wait_for(browser, lambda state: state["errors"] or all(state["counts"]))
            time.sleep(2)  # let it draw
            browser.save_screenshot(str(Path(os.environ.get("SCREENSHOTS", tmp_path)) / f"{name}.png"))
            assert state["errors"] == []
            browser.execute_script("return window.jupyterapp.commands.execute('kernelmenu:shutdown')")
    assert (kit_root / "figures" / "demo" / "comparison.md").is_file()


def wait_for(browser, done):
    """The notebook's state once `done(state)` is true; fails after WAIT_SECONDS."""
    state = None
    for _ in range(WAIT_SECONDS):
        state = browser.execute_script(f"if (!window.jupyterapp) return null; {STATE}")
        if state and done(state):
            return state
        time.sleep(1)
    raise AssertionError(f"JupyterLab did not get there in {WAIT_SECONDS} s: {state}")
