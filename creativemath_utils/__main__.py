"""What the Makefile calls: run a notebook, show a plan, export a report.

    python -m creativemath_utils run 02_generate --profile demo --set generators=qwen
    python -m creativemath_utils plan --profile paper
    python -m creativemath_utils report --profile demo
    python -m creativemath_utils export --profile demo --to my-dataset

A fault that a person can mend ends with one line on stderr and exit code 2.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from creativemath_utils.models import nearest
from creativemath_utils.profile import Profile, load_profile
from creativemath_utils.records import KitError
from creativemath_utils.run import assigned_names
from creativemath_utils.store import ROOT, shown

NOTEBOOKS = ROOT / "notebooks"


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse, do, and turn a KitError into one line. Returns the exit code: 0, 1 (a fault of the kit) or 2."""
    parser = argparse.ArgumentParser(prog="python -m creativemath_utils", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, about in (
        ("run", "run a numbered notebook and keep the executed copy in data/runs/<run>/executed"),
        ("plan", "show the calls a run needs, what the ledger holds, and what is missing; asks nothing"),
        ("report", "export the executed notebooks of a run as web pages"),
        ("export", "write the problems of a run as a dataset with its card, in the form of the Hugging Face hub"),
        ("settings", "print what the Makefile needs to know of a profile"),
    ):
        command = commands.add_parser(name, help=about, description=about)
        command.add_argument("--profile", default="demo", help="name in notebooks/profiles, or path of a .yaml file")
        if name == "run":
            command.add_argument("notebook", help="such as 02_generate")
            command.add_argument(
                "--set", action="append", default=[], metavar="NAME=VALUE", help="a notebook parameter"
            )
        if name == "export":
            command.add_argument("--to", type=Path, metavar="FOLDER", help="default: data/runs/<run>/dataset")
    options = parser.parse_args(arguments)
    try:
        return globals()[f"{options.command}_command"](options)
    except KitError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped; all answers so far are kept, run the same again to go on", file=sys.stderr)
        return 130


def run_command(options: argparse.Namespace) -> int:
    """Run one notebook in this interpreter, headless, wherever the command was called from."""
    profile = load_profile(options.profile)
    notebook = find_notebook(options.notebook)
    parameters: dict[str, Any] = {"profile": str(profile.file.resolve())} if profile.file else {}
    for setting in options.set:
        name, equals, value = setting.partition("=")
        if not equals:
            raise KitError(f"--set {setting}: expected NAME=VALUE")
        parameters[name] = value
    some = parameters.get("generators", "")
    suffix = f".{some.replace(',', '+')[:80]}" if some not in ("", ",".join(profile.generators)) else ""
    target = profile.paths.executed / f"{notebook.stem}{suffix}.ipynb"
    return execute(notebook, target, parameters)


def find_notebook(name: str) -> Path:
    """The notebook of that name. Raises KitError with the nearest one."""
    path = NOTEBOOKS / f"{Path(name).stem}.ipynb"
    if not path.is_file():
        known = [file.stem for file in NOTEBOOKS.glob("*.ipynb")]
        raise KitError(f"no notebook {name!r}; {nearest(name, known)}")
    return path


def execute(notebook: Path, target: Path, parameters: dict[str, Any]) -> int:
    """Run a notebook with papermill; its printed lines appear here as they come. Returns the exit code."""
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")  # a kernel of the same name may lie in the home folder
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    os.environ["CREATIVEMATH_HEADLESS"] = "1"  # plain lines of progress, also when called from an open notebook
    import papermill
    from papermill.exceptions import PapermillExecutionError

    known = notebook_parameters(notebook)
    for name in parameters:
        if name not in known:
            raise KitError(f"{notebook.stem} has no parameter {name!r}; {nearest(name, known)}")
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        papermill.execute_notebook(
            str(notebook),
            str(target),
            parameters=parameters,
            kernel_name="python3",
            language="python",
            cwd=str(notebook.parent),
            progress_bar=False,
            stdout_file=sys.stdout,
            stderr_file=sys.stderr,
            extra_arguments=["--IPKernelApp.log_level=CRITICAL"],
        )
    except PapermillExecutionError as error:
        if error.ename == "KitError":
            raise KitError(error.evalue) from None
        if error.ename == "KeyboardInterrupt":
            raise KeyboardInterrupt from None
        place = f"cell {error.exec_count}; its outputs so far are in {shown(target)}"
        print(f"error: {notebook.stem} stopped: {error.ename}: {error.evalue}\n       {place}", file=sys.stderr)
        return 1
    return 0


def notebook_parameters(notebook: Path) -> set[str]:
    """The names that the cell tagged `parameters` assigns."""
    cells = json.loads(notebook.read_text("utf-8"))["cells"]
    tagged = [cell for cell in cells if "parameters" in cell["metadata"].get("tags", [])]
    return {name for cell in tagged for name in assigned_names("".join(cell["source"]))}


def settings_command(options: argparse.Namespace) -> int:
    """Words for make: RUN, PROFILE_FILE, TOGETHER (generators that share a kernel), ALONE, RECORDING, CORPUS."""
    profile = load_profile(options.profile)
    local = [name for name in profile.generators if profile.model(name).backend == "local" and not profile.offline]
    together = [name for name in profile.generators if name not in local]
    corpus = corpus_file(profile)
    words = {
        "RUN": profile.run,
        "PROFILE_FILE": str(profile.file),
        "TOGETHER": ",".join(together),
        "ALONE": ",".join(local),
        "RECORDING": str(profile.recording_path or ""),
        "CORPUS": str(corpus) if corpus and corpus.is_file() else "",
    }
    print(" ".join(f"{name}:={value}" for name, value in words.items()))
    return 0


def corpus_file(profile: Profile) -> Path | None:
    """The file that the problems come from, where there is one."""
    from creativemath_utils.corpus.subset import subset_file
    from creativemath_utils.curate import DEMO

    if profile.corpus.source == "demo":
        return DEMO
    if profile.corpus.source == "creativemath":
        return subset_file(profile)
    return profile.path(profile.corpus.path) if profile.corpus.path else None


def plan_command(options: argparse.Namespace) -> int:
    """Print the plan of a run."""
    from creativemath_utils.plan import plan_text

    print(plan_text(load_profile(options.profile)))
    return 0


def report_command(options: argparse.Namespace) -> int:
    """Executed notebooks as web pages, code hidden, in data/runs/<run>/report."""
    from creativemath_utils.report import write_report

    for page in write_report(load_profile(options.profile)):
        print(f"wrote {shown(page)}")
    return 0


def export_command(options: argparse.Namespace) -> int:
    """The problems of a run as a `datasets` folder."""
    from creativemath_utils.export import export_corpus

    for path in export_corpus(load_profile(options.profile), options.to):
        print(f"wrote {shown(path)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
