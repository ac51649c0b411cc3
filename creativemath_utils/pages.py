"""A folder of saved wiki pages as problems, and a row for everything that was left out on the way.

    >>> problems, left_out = read_pages(Path("no/such/folder"))
    Traceback (most recent call last):
    creativemath_utils.records.KitError: no/such/folder is no folder; save the pages in one and give its path

What one page cannot know is decided here: the same page saved twice (D5) and the same problem in two contests (D6).
"""

from __future__ import annotations

import multiprocessing
import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from creativemath_utils.aops import REASONS, Dropped, Reading, Unusable, read_page
from creativemath_utils.records import KitError, Problem
from creativemath_utils.wiki.titles import Title, parse_title

# The same choices are set as \textbf{(A)}\ 7 in one contest and as \text{(A) }7 in the other.
_CHOICE = re.compile(r"\\(?:text(?:bf|rm)?|math(?:bf|rm)|mbox)\s*\{(\s*\(?\s*[A-E]\b[^{}]{0,4})\}")
_SPACE = re.compile(r"\\(?:qquad|quad)\b|\\[,;:! ]|\\hspace\*?\{[^{}]*\}|~|(?<!\\)\$")

_BEFORE_DUPLICATES = REASONS[: REASONS.index("duplicate_page")]


def read_pages(
    folder: Path,
    on_unusable_solution: Unusable = "drop_sample",
    keep_duplicate_problems: bool = False,
    processes: int = 1,
) -> tuple[list[Problem], list[dict[str, Any]]]:
    """The problems in a folder of saved pages, and a row for everything that was left out.

    Problems come by competition, year, contest and number. A row holds `file, problem_id, reason, detail, where`: for
    a page that was dropped `where` is "page" and the reason one of aops.REASONS; for a section, a solution or a line
    taken out of a page it is the section, with the rule as reason and the text as detail. Every file (hidden ones and
    a browser's `..._files` folders aside) gives one problem or one row for the page. `keep_duplicate_problems` keeps
    the same problem under two ids, as the published subset does. The result does not depend on `processes`.
    Raises KitError if the folder is none or holds no file. Rules 3.2, D5, D6.
    """
    readings = _read_all(folder, _files_of(folder), on_unusable_solution, processes)
    readings = _without_duplicate_pages(readings)
    readings = _with_duplicate_problems(readings, drop=not keep_duplicate_problems)
    problems = [reading.outcome for reading in readings.values() if isinstance(reading.outcome, Problem)]
    rows = [row for file, reading in readings.items() for row in _rows(file, reading, on_unusable_solution)]
    return sorted(problems, key=lambda problem: _title_of(problem).rank), rows


def page_log(problems: Sequence[Problem], left_out: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each file read, by its name: what became of it. `problems` and `left_out` as read_pages gives them.

    Columns `file, status, drop_reason, detail, title, competition, year, number, n_solutions, n_removed, warnings`.
    Rule 3.2.
    """
    rows = [
        {
            "file": problem.source["file"],
            "status": "keep",
            "drop_reason": None,
            "detail": "",
            "title": problem.source["title"],
            "competition": problem.competition,
            "year": problem.year,
            "number": problem.number,
            "n_solutions": problem.n,
            "n_removed": len(problem.removed_solutions),
            "warnings": list(problem.warnings),
        }
        for problem in problems
    ]
    rows += [
        {
            "file": row["file"],
            "status": "drop",
            "drop_reason": row["reason"],
            **{name: row[name] for name in ("detail", "title", "competition", "year", "number")},
            "n_solutions": 0,
            "n_removed": len(row["removed_solutions"]),
            "warnings": [],
        }
        for row in left_out
        if row["where"] == "page"
    ]
    return sorted(rows, key=lambda row: row["file"])


def reason_counts(left_out: Sequence[dict[str, Any]]) -> Counter[str]:
    """Number of dropped pages by reason, the commonest first."""
    return Counter(row["reason"] for row in left_out if row["where"] == "page")


def _files_of(folder: Path) -> list[str]:
    """The files below the folder, as paths in it with `/`, sorted."""
    if not folder.is_dir():
        raise KitError(f"{folder} is no folder; save the pages in one and give its path")
    names = []
    for path in folder.rglob("*"):
        inner = path.relative_to(folder)
        aside = any(part.startswith(".") for part in inner.parts) or any(p.endswith("_files") for p in inner.parts[:-1])
        if path.is_file() and not aside:
            names.append(inner.as_posix())
    if not names:
        raise KitError(f"{folder} holds no file; save the pages in it as HTML or wikitext")
    return sorted(names)


def _read_file(folder: Path, on_unusable_solution: Unusable, name: str) -> Reading:
    try:
        content = (folder / name).read_bytes()
    except OSError as error:
        return Reading(Dropped(name, "unreadable", error.strerror or str(error)))
    return read_page(content, name, on_unusable_solution)


def _read_all(folder: Path, names: Sequence[str], on_unusable: Unusable, processes: int) -> dict[str, Reading]:
    read = partial(_read_file, folder, on_unusable)
    if processes <= 1:
        return dict(zip(names, map(read, names), strict=True))
    # Fresh processes: a notebook's kernel has threads, and a fork of it may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        return dict(zip(names, pool.map(read, names, chunksize=32), strict=True))


def _title_of(outcome: Problem | Dropped) -> Title | None:
    return parse_title((outcome.source["title"] if isinstance(outcome, Problem) else outcome.title) or "")


def _without_duplicate_pages(readings: dict[str, Reading]) -> dict[str, Reading]:
    """Of the files with one title, the newest revision stays, or else the first by file name. Rule D5."""
    by_title: dict[Title, list[str]] = defaultdict(list)
    for file, reading in readings.items():
        outcome = reading.outcome
        if isinstance(outcome, Problem) or outcome.reason not in (*_BEFORE_DUPLICATES, "parse_error"):
            by_title[_title_of(outcome)].append(file)
    kept = dict(readings)
    for title, files in by_title.items():
        revisions = [_revision_of(readings[file].outcome) for file in files]
        first = revisions.index(max(revisions)) if None not in revisions else 0
        for file in files:
            if file != files[first]:
                same = f"as {files[first]}"
                kept[file] = Reading(_dropped(readings[file].outcome, file, title, "duplicate_page", same))
    return kept


def _with_duplicate_problems(readings: dict[str, Reading], drop: bool) -> dict[str, Reading]:
    """Of problems with one text the first by competition stays and names the others. Rule D6.

    White space does not count, and neither does what only sets the choices in another face or at another distance.
    """
    by_text: dict[str, list[str]] = defaultdict(list)
    for file, reading in readings.items():
        if isinstance(reading.outcome, Problem):
            by_text[_key(_SPACE.sub("", _CHOICE.sub(r"\1", reading.outcome.statement)))].append(file)
    out = dict(readings)
    for files in by_text.values():
        files.sort(key=lambda file: _title_of(readings[file].outcome).rank)
        first, titles = readings[files[0]].outcome, [_title_of(readings[file].outcome).text for file in files]
        for at, file in enumerate(files if len(files) > 1 else ()):
            reading = out[file]
            if at > 0 and drop:
                more = {_key(text) for text in reading.outcome.solutions} - {_key(text) for text in first.solutions}
                detail = f"as {first.problem_id}" + (f"; {len(more)} of its solutions are not there" if more else "")
                dropped = _dropped(reading.outcome, file, _title_of(reading.outcome), "duplicate_problem", detail)
                out[file] = replace(reading, outcome=dropped)
            else:
                others = [title for title in titles if title != titles[at]]
                shared = tuple(dict.fromkeys([*reading.outcome.shared_with, *others]))
                out[file] = replace(reading, outcome=replace(reading.outcome, shared_with=shared))
    return out


def _key(text: str) -> str:
    return "".join(text.split())


def _revision_of(outcome: Problem | Dropped) -> int | None:
    return outcome.source["revision"] if isinstance(outcome, Problem) else outcome.revision


def _dropped(outcome: Problem | Dropped, file: str, title: Title, reason: str, detail: str) -> Dropped:
    return Dropped(
        file=file,
        reason=reason,
        detail=detail,
        title=title.text,
        competition=title.competition,
        competition_id=title.competition_id,
        contest=title.contest,
        year=title.year,
        number=title.number,
        problem_id=title.problem_id,
        removed_solutions=outcome.removed_solutions if reason == "duplicate_problem" else (),
        revision=_revision_of(outcome),
    )


def _rows(file: str, reading: Reading, on_unusable_solution: Unusable) -> list[dict[str, Any]]:
    """The rows of one file: its drop, then what was taken out of it in the order in which it was."""
    outcome, rows = reading.outcome, []
    if isinstance(outcome, Dropped):
        about = {name: getattr(outcome, name) for name in ("title", "competition", "year", "number")}
        about |= {"removed_solutions": [dict(removed) for removed in outcome.removed_solutions]}
        if outcome.redirect_target is not None:
            about["redirect_target"] = outcome.redirect_target
        rows.append(_row(file, outcome.problem_id, outcome.reason, outcome.detail, "page") | about)
    elif on_unusable_solution != "drop_sample":
        rows.append(_row(file, outcome.problem_id, "setting", f"on_unusable_solution = {on_unusable_solution}", "run"))
    return rows + [_row(file, outcome.problem_id, rule, text, where or "lead") for where, rule, text in reading.removed]


def _row(file: str, problem_id: str | None, reason: str, detail: str, where: str) -> dict[str, Any]:
    return {"file": file, "problem_id": problem_id, "reason": reason, "detail": detail, "where": where}
