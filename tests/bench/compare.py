"""The same calls through the kit, inspect_ai and lm-eval: whole processes, one clock, seconds and ratios.

    python tests/bench/compare.py    # with the kit's own Python, such as .venv/bin/python

605 prompts of 3 kB, 50 calls in flight, 200 ms a call at a loopback server, nothing scored, every answer written to
disk in the tool's own form. Each tool has an environment of its own in tests/bench/.venv, made the first time (a few
minutes), and runs by its own command with its defaults but for the number of calls in flight. A first round, which is
not counted, fills caches of all of them; of the others the medians are shown. Nothing is asserted but that every
answer is there: read the table.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from workload import CALLS, CONCURRENCY, DELAY, HERE, MAX_NEW_TOKENS, MODEL, load_line, prompts, server, timed

VENVS = HERE / ".venv"


@dataclass(frozen=True)
class Job:
    """One round: where the server is, where the answers go, how many calls, how many at once."""

    url: str
    folder: Path
    calls: int
    concurrency: int


@dataclass(frozen=True)
class Tool:
    """How a tool is started, given the folder of its commands, and how many answers it has left on disk."""

    name: str
    command: Callable[[Path, Job], list[str]]
    answers: Callable[[Path], int]


def kit_command(bin_folder: Path, job: Job) -> list[str]:
    return [sys.executable, f"{HERE}/task_kit.py", job.url, str(job.folder), str(job.calls), str(job.concurrency)]


def kit_answers(folder: Path) -> int:
    return sum(1 for _ in (folder / "bench.jsonl").open("rb"))


def inspect_ai_command(bin_folder: Path, job: Job) -> list[str]:
    command = [f"{bin_folder}/inspect", "eval", f"{HERE}/task_inspect_ai.py@bench", "-T", f"calls={job.calls}"]
    command += ["--model", f"openai-api/loopback/{MODEL}", "--model-base-url", job.url]
    command += ["--max-connections", str(job.concurrency), "--log-dir", str(job.folder)]
    return [*command, "--max-tokens", str(MAX_NEW_TOKENS), "--temperature", "0"]


def inspect_ai_answers(folder: Path) -> int:
    names = [name for path in folder.glob("*.eval") for name in zipfile.ZipFile(path).namelist()]
    return sum(name.startswith("samples/") for name in names)


def lm_eval_command(bin_folder: Path, job: Job) -> list[str]:
    about = f"model={MODEL},base_url={job.url}/chat/completions,num_concurrent={job.concurrency}"
    command = [f"{bin_folder}/lm_eval", "run", "--tasks", f"{HERE}/task_lm_eval.yaml"]
    command += ["--model", "local-chat-completions", "--model_args", about, "--apply_chat_template"]
    return [*command, "--predict_only", "--output_path", str(job.folder)]


def lm_eval_answers(folder: Path) -> int:
    return sum(1 for path in folder.rglob("samples_*.jsonl") for _ in path.open("rb"))


KIT = Tool("this kit", kit_command, kit_answers)
OTHERS = (
    Tool("inspect-ai", inspect_ai_command, inspect_ai_answers),
    Tool("lm-eval", lm_eval_command, lm_eval_answers),
)


def requirements(name: str) -> Path:
    """The file that pins a tool; its first line is the tool itself."""
    return HERE / f"requirements-{name}.txt"


def install(name: str) -> Path | None:
    """The folder of a tool's commands, in an environment made the first time. None, said in a line, if that fails."""
    place, wanted = VENVS / name, requirements(name).read_text("utf-8")
    ready = place / ".ready"  # holds what was installed: other pins are installed anew
    if ready.is_file() and ready.read_text("utf-8") == wanted:
        return place / "bin"
    print(f"{name}: setting up {place} (a few minutes, once)", flush=True)
    pip = [str(place / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input"]
    for command in ([sys.executable, "-m", "venv", str(place)], [*pip, "install", "-r", str(requirements(name))]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            lines = [line for line in done.stdout.splitlines() if line.strip()] or ["no word why"]
            errors = [line for line in lines if line.startswith("ERROR")] or lines
            print(f"{name}: skipped, it could not be installed: {errors[-1]}")
            return None
    ready.write_text(wanted, "utf-8")
    return place / "bin"


def environment(folder: Path) -> dict[str, str]:
    """For every tool alike: no hub, no telemetry, no key of the person at the keyboard, caches in `folder`."""
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_KEY", "_TOKEN", "_TELEMETRY"))}
    offline = ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE", "TRANSFORMERS_OFFLINE")
    quiet = ("HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK")
    return {
        **kept,
        **dict.fromkeys((*offline, *quiet), "1"),
        "LOOPBACK_API_KEY": "none",
        "OPENAI_API_KEY": "none",
        "NO_PROXY": "127.0.0.1",
        "PYTHONPATH": str(HERE),
        "HF_HOME": str(folder / "hub"),
        "XDG_DATA_HOME": str(folder / "share"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }


def measure(tool: Tool, bin_folder: Path, folder: Path, name: str, options: argparse.Namespace) -> tuple[float, int]:
    """Seconds of the whole process, and the most calls it had in flight. Raises SystemExit if an answer is missing."""
    target = folder / f"{tool.name}-{name}".replace(" ", "-")
    target.mkdir()
    with server(options.delay) as served:
        job = Job(served.url, target, options.calls, options.concurrency)
        seconds, printed = timed(tool.command(bin_folder, job), folder, environment(folder))
    found = tool.answers(target)
    if (served.calls, found) != (options.calls, options.calls):
        faults = f"{served.calls} calls made and {found} answers on disk, not {options.calls}"
        raise SystemExit(f"{printed[-4000:]}\n{tool.name}: {faults}")
    return seconds, served.most_in_flight


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=CALLS)
    parser.add_argument("--concurrency", type=int, default=CONCURRENCY)
    parser.add_argument("--delay", type=float, default=DELAY, help="seconds a call takes at the server")
    parser.add_argument("--rounds", type=int, default=3, help="that are counted")
    options = parser.parse_args()
    bins = {KIT: Path(sys.executable).parent}
    bins |= {tool: folder for tool in OTHERS if (folder := install(tool.name)) is not None}
    seconds: dict[Tool, list[float]] = {tool: [] for tool in bins}
    most: dict[Tool, int] = dict.fromkeys(bins, 0)
    load = load_line()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = (json.dumps({"prompt": prompt}) + "\n" for prompt in prompts(options.calls))
        (folder / "prompts.jsonl").write_text("".join(rows), "utf-8")
        for number in range(options.rounds + 1):
            for tool, bin_folder in bins.items():  # in turn, so that a slow minute of the machine hits all
                took, in_flight = measure(tool, bin_folder, folder, str(number), options)
                most[tool] = max(most[tool], in_flight)
                if number > 0:
                    seconds[tool].append(took)
    print(f"{options.calls} calls of {options.delay:g} s, {options.concurrency} in flight; median of {options.rounds}")
    print(f"{'tool':<24} {'whole process':>14} {'range':>16} {'most in flight':>15} {'ours / theirs':>14}")
    ours = statistics.median(seconds[KIT])
    for tool, all_seconds in seconds.items():
        label = tool.name if tool is KIT else requirements(tool.name).read_text("utf-8").split()[0]
        middle, spread = statistics.median(all_seconds), f"{min(all_seconds):.2f} to {max(all_seconds):.2f} s"
        ratio = "" if tool is KIT else f"{ours / middle:.2f}"
        print(f"{label:<24} {middle:>12.2f} s {spread:>16} {most[tool]:>15} {ratio:>14}".rstrip())
    print(load)


if __name__ == "__main__":
    main()
