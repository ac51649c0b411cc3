"""One run, opened from the parameters of a notebook: profile, engine, files. What every notebook starts with.

Parameters are validated here, once, before anything is asked: papermill hands `-p record false` over as a text, and
lets a misspelt name pass with a warning.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from creativemath_utils.curate import run_samples
from creativemath_utils.engine import Engine, failure_summary
from creativemath_utils.ledger import Ledgers
from creativemath_utils.models import nearest
from creativemath_utils.profile import Profile, load_profile
from creativemath_utils.records import (
    STAGES,
    KitError,
    Label,
    PairVote,
    Problem,
    Recheck,
    Request,
    Sample,
    Solution,
    Vote,
)
from creativemath_utils.rows import read_problem
from creativemath_utils.store import RunPaths, read_records, read_rows, shown, write_records

ON, OFF = {"true", "yes", "on", "1"}, {"false", "no", "off", "0", ""}

BASELINES = {
    "rules": "correctness by comparing final answers, novelty by likeness of the texts",
    "embedding": "correctness by looking for the reference's answer in the closing words, novelty by likeness of "
    "sentence embeddings",
}


class Run:
    """A run in progress. `generators` are those that this process works on; files of others are left alone.

    `steps` are the parts of notebook 03 that are wanted: votes, pairs.
    """

    def __init__(
        self, profile: Profile, generators: Sequence[str], *, record: bool = False, steps: Iterable[str] = ()
    ) -> None:
        self.profile = profile
        self.generators = tuple(generators)
        self.record = record
        self.steps = frozenset(steps)
        self.allow_failed = as_switch(os.environ.get("ALLOW_FAILED", ""), "ALLOW_FAILED")
        self.written: list[Path] = []
        self._engine: Engine | None = None

    @property
    def paths(self) -> RunPaths:
        return self.profile.paths

    @property
    def engine(self) -> Engine:
        """The run's engine, made when it is first wanted. When recording, answers go to the recording itself."""
        if self._engine is None:
            recording = self.profile.recording_path
            if self.record and recording is None:
                raise KitError("record: the profile names no `recording:` folder to write to")
            into_recording = recording if self.record else None
            ledgers = Ledgers(into_recording) if into_recording else Ledgers(self.paths.responses, recording)
            self._engine = Engine(
                self.profile.table,
                ledgers,
                concurrency=self.profile.concurrency,
                offline=self.profile.offline and not self.record,
                max_cost_usd=self.profile.max_cost_usd,
                max_calls=self.profile.max_calls,
            )
        return self._engine

    def check_models(self, requests: Iterable[Request]) -> None:
        """Before the first of these calls: is every model within reach, those that will judge the answers too?

        A run that has all its answers needs no model, and none is tried. Raises KitError with everything missing.
        """
        if not self.engine.offline and any(self.engine.ledgers.find(r.key, r.ledger) is None for r in requests):
            others = filter(None, (self.profile.commentary,))
            self.engine.check(dict.fromkeys((*self.generators, *others, *self.profile.judges)))

    def problems(self) -> list[Problem]:
        """What notebook 01 wrote."""
        rows = read_rows(self.paths.problems, "run notebook 01 first (`make curate`)")
        return [read_problem(row, where) for where, row in rows]

    def samples(self) -> list[Sample]:
        """The samples of the run, k = 1..n of each problem, up to the profile's limit."""
        return run_samples(self.problems(), self.profile)

    def solutions(self, generators: Iterable[str] | None = None) -> list[Solution]:
        """What notebook 02 wrote for these generators (default: those of this process)."""
        remedy = "run notebook 02 first (`make generate`)"
        names = self.generators if generators is None else generators
        return [s for name in names for s in read_records(self.paths.solutions(name), Solution, remedy)]

    def votes(self, generators: Iterable[str] | None = None) -> list[Vote]:
        """What notebook 03 wrote for these generators (default: those of this process)."""
        remedy = "run notebook 03 first (`make judge`)"
        names = self.generators if generators is None else generators
        return [v for name in names for v in read_records(self.paths.votes(name), Vote, remedy)]

    def pair_votes(self) -> list[PairVote]:
        """The votes for Figure 6; none where notebook 03 had no pair to ask about."""
        return read_records(self.paths.pairs, PairVote, "run notebook 03 first (`make judge`)")

    def rechecks(self) -> list[Recheck]:
        """What judges said when asked a second time; none where the profile does not want that."""
        if not self.profile.stability:
            return []
        return read_records(self.paths.stability, Recheck, "run notebook 03 first (`make judge`)")

    @property
    def families(self) -> dict[str, str | None]:
        """The family of each generator and judge, where the table of models gives one."""
        return {name: self.profile.model(name).family for name in (*self.profile.generators, *self.profile.judges)}

    def labels(self) -> list[Label]:
        """Reference labels: the kit's own for the demo, then a person's, which win."""
        files = [self.paths.root / "data" / "demo" / "labels.jsonl"] if self.profile.corpus.source == "demo" else []
        files.append(self.paths.root / "data" / "human" / "labels.jsonl")
        return [label for file in files if file.is_file() for label in read_records(file, Label)]

    def wants(self, step: str) -> bool:
        """Whether a part of notebook 03 is wanted."""
        return step in self.steps

    def have_votes(self, generators: Iterable[str]) -> bool:
        """Whether the votes on all these generators are there; said where they are not."""
        missing = [name for name in generators if not self.paths.votes(name).is_file()]
        if missing:
            print(f"no votes on {', '.join(missing)} yet")
        return not missing

    def judge_notes(self, votes: Sequence[Vote]) -> tuple[str, ...]:
        """What a reader of the tables must know of each judge: what it is, and how often it said YES to this run."""
        notes = []
        families = {self.profile.model(name).family for name in self.profile.generators} - {None}
        for name in self.profile.judges:
            model = self.profile.model(name)
            note = f"{model.shown}"
            if model.backend in BASELINES:
                note += f" is no language model but a baseline: {BASELINES[model.backend]}."
            elif model.family in families:
                note += f" judges solutions of its own family ({model.family})."
            else:
                note += " is a language model."
            said = {stage: [v.verdict for v in votes if v.judge == name and v.stage == stage] for stage in STAGES}
            shares = [f"{cast.count('YES')} of {len(cast)} ({stage})" for stage, cast in said.items() if cast]
            notes.append(f"{note} It said YES to {', '.join(shares)}." if shares else note)
        return tuple(notes)

    def newest_answer(self, keys: Iterable[str | None]) -> str:
        """The date (YYYY-MM-DD) of the newest of the answers with these keys; empty where there is none."""
        found = (self.engine.ledgers.find(key) for key in keys if key)
        return max((response.created[:10] for response in found if response), default="")

    def write(self, path: Path, records: Iterable[Any], ledger: str | None = None) -> None:
        """Write a stage file, unless calls it rests on have failed: then it is left out, and `finish` says so."""
        if ledger and self.engine.failures.get(ledger) and not self.allow_failed:
            return
        write_records(path, records)
        self.written.append(path)

    def finish(self) -> None:
        """Close the engine and list what was written. Raises KitError if calls have failed for good."""
        failures = dict(self._engine.failures) if self._engine else {}
        if self._engine:
            self._engine.close()
            self._engine = None
        for path in self.written:
            print(f"wrote {shown(path)}")
        if failures and not self.allow_failed:
            lines = [f"{ledger}: {failure_summary(responses)}" for ledger, responses in sorted(failures.items())]
            raise KitError(
                "; ".join(lines) + ". No file was written for these; all answers are kept, run again to ask only the "
                "failed calls, or set ALLOW_FAILED=1 to write the files with them marked"
            )


def open_run(profile: Any, generators: Any = "", record: Any = False, votes: Any = True, pairs: Any = True) -> Run:
    """The run that a notebook's parameters describe.

    `profile` is a name or the path of a .yaml file; `generators` a list or a comma-separated text, empty for all of the
    profile's; `record`, `votes`, `pairs` are switches. Raises KitError that names the parameter.
    """
    refuse_unknown_parameters()
    if not isinstance(profile, str | Path) or not str(profile).strip():
        raise KitError(f"parameter profile: expected a name or the path of a .yaml file, found {profile!r}")
    loaded = load_profile(profile)
    names = as_names(generators, "generators") or loaded.generators
    for name in names:
        if name not in loaded.generators:
            raise KitError(
                f"parameter generators: {name!r} is not in profile {loaded.run!r}; {nearest(name, loaded.generators)}"
            )
    steps = [step for step, wanted in (("votes", votes), ("pairs", pairs)) if as_switch(wanted, step)]
    return Run(loaded, names, record=as_switch(record, "record"), steps=steps)


def as_switch(value: Any, name: str) -> bool:
    """True or False, also from the texts that papermill and the environment hand over."""
    text = str(value).strip().lower()
    if text not in ON | OFF:
        raise KitError(f"parameter {name}: expected true or false, found {value!r}")
    return text in ON


def as_names(value: Any, name: str) -> tuple[str, ...]:
    """Names from a list, a tuple or a comma-separated text."""
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list | tuple) or not all(isinstance(part, str) for part in parts):
        raise KitError(f"parameter {name}: expected names, such as 'a,b' or ['a', 'b'], found {value!r}")
    return tuple(part.strip() for part in parts if part.strip())


def refuse_unknown_parameters() -> None:
    """Raise KitError for a parameter that papermill injected and the notebook does not have.

    papermill puts what it is given into a cell of its own below the `parameters` cell, and warns of unknown names only
    on the console. The kernel remembers the source of both cells.
    """
    try:
        from IPython import get_ipython
    except ImportError:
        return
    shell = get_ipython()
    cells = [str(cell) for cell in shell.user_ns.get("In", [])] if shell is not None else []
    injected = next((i for i, cell in enumerate(cells) if cell.startswith("# Parameters\n")), None)
    if not injected:
        return
    known = assigned_names(cells[injected - 1])
    for name in sorted(assigned_names(cells[injected]) - known):
        raise KitError(f"parameter {name}: the notebook has no such parameter; {nearest(name, known)}")


def assigned_names(source: str) -> set[str]:
    """The names a cell assigns at its top level."""
    targets = [t for node in ast.parse(source).body if isinstance(node, ast.Assign) for t in node.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}
