"""Any dataset as a corpus: one of the Hugging Face hub, or a local file or folder. `corpus: {source: hub, path: ...}`.

Everything is read by `datasets` but JSON and csv files that lie here: see `flat_files`. Nothing is reported to the hub,
and code that comes with a dataset is never run.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import ModuleType
from typing import Any

from creativemath_utils.corpus.columns import choose_columns, competition_name
from creativemath_utils.corpus.dataset_faults import in_one_line
from creativemath_utils.corpus.dataset_rows import to_problems
from creativemath_utils.corpus.flat_files import CSV, FILES, JSON, Row, file_rows
from creativemath_utils.models import nearest
from creativemath_utils.profile import Profile
from creativemath_utils.records import KitError, Problem
from creativemath_utils.rows import read_problem
from creativemath_utils.store import shown

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
OWN = {f.name for f in fields(Problem) if not f.metadata} | {"schema"}  # the columns of problems in the kit's own form
NESTED = ("source", "removed_solutions")  # the fields that the export writes as JSON, since parquet wants one type
BATCH = 1000  # rows that are held at once; `datasets` holds a file's first row group, and fails where that is empty
ON_DISK = ("state.json", "dataset_dict.json")  # a folder by `save_to_disk` has one of them
PACKED = (".gz", ".zip", ".bz2", ".xz", ".zst", ".7z", ".tar", ".tgz")


@dataclass
class Table:
    """A part of a dataset: its columns, its rows with the columns that are wanted, and where it comes from."""

    columns: Sequence[str]
    rows: Callable[[Sequence[str]], Iterable[Row]]
    about: dict[str, Any] = field(default_factory=dict)


def read_hub(profile: Profile, download: bool = True) -> tuple[list[Problem], list[dict[str, Any]]]:
    """The problems of a dataset, and a row `row, problem_id, reason, detail, where` for everything that was left out.

    An export of the kit comes back as it was. Of any other dataset, which columns were taken is printed. Without
    `download` a dataset of the hub is taken from the cache, as under `offline: true`.
    Raises KitError for what is not there or out of reach, a column or part that is not there, and where no problem is.
    """
    if not profile.corpus.path:
        raise KitError("corpus: source hub needs a path: the name of a dataset, or a local file or folder")
    given = profile.corpus.columns
    with _opened(profile, download) as (name, table):
        if not table.columns:
            raise KitError(f"corpus: {name} holds no row; give the file or folder that does")
        if set(table.columns) >= OWN and not given:
            print(f"{name}: problems in the kit's own form, read as they are")
            return _own_problems(table.rows(table.columns)), []
        columns = choose_columns(given, table.columns)
        origin = {"kind": "hub", "dataset": name, **table.about}
        print(f"{', '.join(str(value) for value in origin.values() if value != 'hub')}: {columns.said}")
        last = Path(name)
        fallback = competition_name(last.stem if last.suffix.lower() in FILES else last.name) or "dataset"
        problems, left_out = to_problems(table.rows([*columns.taken.values()]), columns, fallback, origin)
    if not problems:
        reasons = Counter(row["reason"] for row in left_out if row["where"] != "value").most_common(3)
        why = ", ".join(f"{reason} {count}" for reason, count in reasons) or "it has no row"
        first = f"; the first is {left_out[0]['row']}: {left_out[0]['detail']}" if left_out else ""
        raise KitError(f"corpus: {name} gives no problem ({why}){first}; mend the data, or name other `columns:`")
    return problems, left_out


def _own_problems(rows: Iterable[Row]) -> list[Problem]:
    """Problems from rows that the kit wrote. In parquet numbers are floats, and nested fields JSON."""
    problems: dict[str, Problem] = {}
    for at, row in rows:
        nested = {name: json.loads(row[name]) for name in NESTED if isinstance(row.get(name), str)}
        difficulty = row["difficulty"]
        if isinstance(difficulty, float) and difficulty.is_integer():
            difficulty = int(difficulty)
        problem = read_problem({**row, **nested, "difficulty": difficulty}, at)
        if problem.problem_id in problems:
            raise KitError(f"{at}: problem_id {problem.problem_id!r} stands twice; ids must be unique")
        problems[problem.problem_id] = problem
    return [*problems.values()]


@contextmanager
def _opened(profile: Profile, download: bool) -> Iterator[tuple[str, Table]]:
    """The name of the profile's dataset, and its table while it is open.

    A local file or folder comes before a name of the hub. `name:config` is one of several configurations.
    """
    corpus, config, name = profile.corpus, None, profile.corpus.path
    path = profile.path(name)
    if not path.exists() and (found := re.fullmatch(r"(.+):([\w.-]+)", name)):
        name, config = found.groups()
        path = profile.path(name)
    path = Path(os.path.abspath(path))  # so that its name is one, after `folder/../`
    if path.exists() and corpus.revision:
        raise KitError(f"corpus: revision: {shown(path)} lies here and has none; take it out")
    if path.is_file() and (config or corpus.split):
        raise KitError(f"corpus: {shown(path)} is one file, without parts; take out {config or 'split'}")
    with tempfile.TemporaryDirectory() as cache:
        if path.is_file():
            yield path.name, _from_file(path, cache)
        elif path.is_dir():
            yield path.name, _from_folder(path, config, corpus.split, cache)
        elif HUB_NAME.fullmatch(name) and Path(name).suffix.lower() not in FILES:
            with _without_network(profile.offline or not download), in_one_line(name, profile):
                table = _from_hub(name, config, profile)
            yield name, table
        elif address := re.match(r"https?://huggingface\.co/datasets/([\w.-]+(?:/[\w.-]+)?)", name):
            raise KitError(f"corpus: path: {name} is an address; give the name alone, {address[1]}")
        else:
            raise KitError(f"corpus: path: there is no file or folder {shown(path)}; correct it")


def _from_file(path: Path, cache: str) -> Table:
    kind = path.suffix.lower()
    _refuse_packed([path])
    if kind not in FILES:
        raise KitError(f"{shown(path)}: a dataset is one of {', '.join(FILES)}, or a folder of them; bring it into one")
    if kind != ".parquet":
        return _flat([path])
    with in_one_line(path.name):
        builder = _builder("parquet", path, data_files=str(path), cache_dir=cache)
        return _streamed(builder.as_streaming_dataset(split="train"), path.name, {})


def _refuse_packed(files: Iterable[Path]) -> None:
    """Raise KitError for a compressed file: `datasets` would read it, but take a text such as 0012 for a number."""
    for file in files:
        if file.suffix.lower() in PACKED:
            raise KitError(f"{shown(file)} is compressed; unpack it and run again")


def _builder(kind: str, path: Path, **about: Any) -> Any:
    """The builder of `datasets` for what lies at a path."""
    if re.search(r"[*?\[\]]", str(path)):
        raise KitError(f"{shown(path)}: `datasets` takes *, ?, [ and ] in a path for a pattern; give it another name")
    builder = quiet_datasets().load_dataset_builder(kind, **about)
    if hasattr(builder.config, "batch_size"):
        builder.config.batch_size = BATCH
    return builder


def _from_folder(path: Path, config: str | None, split: str | None, cache: str) -> Table:
    datasets = quiet_datasets()
    with in_one_line(path.name):
        if any((path / name).is_file() for name in ON_DISK):
            found = datasets.load_from_disk(str(path))
            if not isinstance(found, datasets.DatasetDict):
                found = {str(found.split or "train"): found}
            split = _part(path.name, split, list(found))
            return _streamed(found[split], path.name, {"split": split})
        builder = _builder(str(path), path, name=config, cache_dir=cache)
        split = _part(path.name, split, _splits(builder))
        files = [Path(file) for file in builder.config.data_files[split]]
        _refuse_packed(files)
        if not config:
            known = {Path(file).resolve() for part in builder.config.data_files.values() for file in part}
            _say_unread(path, known)
        about = {"config": config, "split": split} if config else {"split": split}
        if all(file.suffix.lower() in (*JSON, *CSV) for file in files):
            return _flat(files, getattr(builder.config, "sep", None), about)
        return _streamed(builder.as_streaming_dataset(split=split), path.name, about)


def _say_unread(folder: Path, known: Set[Path]) -> None:
    """Name the tables in a folder that `datasets` passes over: it takes files of one kind alone."""
    kinds = {*FILES, *PACKED} - {".json"}  # which may be about the others
    tables = (file for file in folder.rglob("[!.]*") if file.suffix.lower() in kinds and file.resolve() not in known)
    if unread := sorted(str(file.relative_to(folder)) for file in tables):
        more = f" and {len(unread) - 3} more" if len(unread) > 3 else ""
        print(f"{folder.name}: not read: {', '.join(unread[:3])}{more}; to read one, give it as `path`")


def _from_hub(name: str, config: str | None, profile: Profile) -> Table:
    revision = profile.corpus.revision
    builder = quiet_datasets().load_dataset_builder(name, name=config, revision=revision)
    from_cache = type(builder).__name__ == "Cache"  # the hub is out of reach, and an earlier copy is at hand
    if from_cache and revision not in (None, builder.hash):
        raise KitError(
            f"corpus: revision: {revision} of {name} cannot be had from the hub now, and the copy in the cache is of "
            f"{builder.hash}; correct it, set that one, or mend the network"
        )
    split = _part(name, profile.corpus.split, _splits(builder))
    builder.download_and_prepare()
    about = {"config": config, "split": split, "revision": builder.hash}
    return _streamed(builder.as_dataset(split=split), name, {key: value for key, value in about.items() if value})


def _splits(builder: Any) -> list[str]:
    return [str(name) for name in builder.config.data_files or builder.info.splits or ()]


def _part(name: str, asked: str | None, there: Sequence[str]) -> str:
    """The split that is read: the one asked for, the only one, or train."""
    if asked is not None and asked not in there:
        raise KitError(f"corpus: split: {name} has no {asked!r}; {nearest(asked, there)}")
    if asked is None and len(there) != 1 and "train" not in there:
        raise KitError(f"corpus: {name} has the parts {', '.join(there)}; name one of them as `split`")
    return asked or (there[0] if len(there) == 1 else "train")


def _flat(files: Sequence[Path], separator: str | None = None, about: dict[str, Any] | None = None) -> Table:
    """The rows of JSON or csv files one after the other; the columns are those of all rows."""
    rows = [row for file in files for row in file_rows(file, separator)]
    return Table(list(dict.fromkeys(name for _, row in rows for name in row)), lambda wanted: rows, about or {})


def _streamed(dataset: Any, name: str, about: dict[str, Any]) -> Table:
    """A dataset as `datasets` gives it, without its columns that nobody wants: they may be pictures."""
    columns = dataset.column_names or list(next(iter(dataset), {}))
    labels = {c: f for c, f in (dataset.features or {}).items() if type(f).__name__ == "ClassLabel"}

    def rows(wanted: Sequence[str]) -> Iterator[Row]:
        with in_one_line(name):
            for number, row in enumerate(dataset.select_columns(list(wanted)), start=1):
                named = {c: f.int2str(row[c]) for c, f in labels.items() if row.get(c) not in (None, -1)}
                yield f"{about.get('split', name)} row {number}", row | named

    return Table(columns, rows, about)


# --- `datasets`, quiet -----------------------------------------------------------------------------------------------


def quiet_datasets() -> ModuleType:
    """`datasets` without bars, warnings and reports to the hub."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import datasets
    from huggingface_hub import constants
    from huggingface_hub.utils import logging

    constants.HF_HUB_DISABLE_TELEMETRY = True  # where it was imported before
    datasets.config.HF_UPDATE_DOWNLOAD_COUNTS = False
    datasets.logging.set_verbosity(datasets.logging.CRITICAL)
    logging.set_verbosity_error()
    datasets.disable_progress_bars()
    return datasets


@contextmanager
def _without_network(wanted: bool) -> Iterator[None]:
    """If wanted, `datasets` takes what is in its cache, as under HF_HUB_OFFLINE."""
    config = quiet_datasets().config
    before = config.HF_HUB_OFFLINE
    config.HF_HUB_OFFLINE = before or wanted
    try:
        yield
    finally:
        config.HF_HUB_OFFLINE = before
