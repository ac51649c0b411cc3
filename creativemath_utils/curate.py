"""Stage 1: from a corpus to problems. Paper, Sections 3 and 5.1."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from creativemath_utils.profile import SUBSET_ENV, Profile, Select
from creativemath_utils.prompts import numbered, render
from creativemath_utils.records import COMPETITIONS, KitError, Problem, Sample, read_problem, samples_of
from creativemath_utils.spending import CHARACTERS_PER_TOKEN
from creativemath_utils.store import ROOT, read_rows, shown

DEMO = ROOT / "data" / "demo" / "problems.jsonl"
SUBSET_COMMIT = "39cba50"
SUBSET_SHA256 = "7811d8e9"  # the first digits, as published with the commit


def load_corpus(profile: Profile) -> tuple[list[Problem], list[dict[str, Any]]]:
    """The corpus of a profile: its problems in file order, and a row for everything that was left out.

    Raises KitError that names the file and line of the first row that cannot be read.
    """
    corpus = profile.corpus
    if corpus.source == "demo":
        return read_problems(DEMO), []
    if corpus.source == "jsonl":
        if corpus.path is None:
            raise KitError("corpus: source jsonl needs a path to a file of problems")
        return read_problems(profile.path(corpus.path)), []
    if corpus.source == "creativemath":
        return read_subset(subset_file(profile)), []
    if corpus.source == "pages":
        from creativemath_utils.pages import read_pages  # its parsers are wanted here alone

        if corpus.path is None:
            raise KitError("corpus: source pages needs a path to a folder of saved pages")
        return read_pages(profile.path(corpus.path), processes=min(os.cpu_count() or 1, 8))
    raise KitError(f"corpus: source {corpus.source!r} is not built yet; use demo, creativemath, pages or jsonl")


def read_problems(path: Path) -> list[Problem]:
    """Problems from a JSON Lines file in the kit's own form; an id may stand once."""
    problems: dict[str, Problem] = {}
    for where, row in read_rows(path, "give the path of a file of problems under `corpus:`"):
        problem = read_problem(row, where)
        if problem.problem_id in problems:
            raise KitError(f"{where}: problem_id {problem.problem_id!r} stands twice; ids must be unique")
        problems[problem.problem_id] = problem
    if not problems:
        raise KitError(f"{shown(path)}: holds no problem")
    return list(problems.values())


def subset_file(profile: Profile) -> Path:
    """Where the published subset lies: the profile's path, or the environment variable CREATIVEMATH_SUBSET."""
    given = profile.corpus.path or os.environ.get(SUBSET_ENV)
    if not given:
        raise KitError(
            f"the published subset is not part of the kit: take data/subset.json from the paper's release at commit "
            f"{SUBSET_COMMIT} and give its path in `corpus: {{path: ...}}` or in {SUBSET_ENV}"
        )
    path = profile.path(given)
    if not path.is_file():
        raise KitError(f"{path} is missing; correct the path of the published subset")
    return path


def read_subset(path: Path, check_sum: str | None = SUBSET_SHA256) -> list[Problem]:
    """The published subset, 400 problems with 605 solutions, its texts byte for byte.

    The checksum is that of the pinned commit. Raises KitError for any other file.
    """
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if check_sum is not None and not digest.startswith(check_sum):
        raise KitError(
            f"{path}: SHA-256 is {digest[:8]}..., the release at commit {SUBSET_COMMIT} has {check_sum}...; "
            "take the file at that commit, or read your own problems with `source: jsonl`"
        )
    return [_from_subset(item) for item in json.loads(content)]


def _from_subset(item: dict[str, Any]) -> Problem:
    contest = item["competition_id"]
    year = re.match(r"(\d{4})_", contest)
    return Problem(
        problem_id=f"{contest}/{item['problem_id']}",
        competition=item["competition"],
        competition_id=contest,
        year=int(year.group(1)) if year else None,
        number=item["problem_id"],
        difficulty=item.get("difficulty"),
        category=item.get("category"),
        statement=item["problem"],
        solutions=tuple(text for _, text in sorted(item["solutions"].items(), key=lambda pair: int(pair[0]))),
        source={"kind": "creativemath", "commit": SUBSET_COMMIT},
    )


def longest_prompt_tokens(problem: Problem) -> int:
    """Tokens of the generation prompt with all solutions, by a cautious count of characters."""
    prompt = render("generation", problem=problem.statement, solutions=numbered(problem.solutions))
    return round(len(prompt) / CHARACTERS_PER_TOKEN)


def select_problems(problems: Sequence[Problem], select: Select | None) -> list[Problem]:
    """So many problems of each competition at random, among those whose longest prompt fits. Paper, Section 5.1.

    Without `select` all of them stay. The draw depends on the seed and the ids alone, not on the order of the corpus.
    Raises KitError where a competition has too few: it is said, not padded.
    """
    if select is None:
        return list(problems)
    chosen: list[Problem] = []
    for competition, members in _by_competition(problems).items():
        fitting = [
            p
            for p in members
            if select.max_prompt_tokens is None or longest_prompt_tokens(p) <= select.max_prompt_tokens
        ]
        if len(fitting) < select.per_competition:
            raise KitError(
                f"select: {competition} has {len(fitting)} problems that fit (of {len(members)}), "
                f"{select.per_competition} are asked for; lower per_competition or raise max_prompt_tokens"
            )
        draw = random.Random(f"{select.seed}/{competition}")
        ids = set(draw.sample(sorted(p.problem_id for p in fitting), select.per_competition))
        chosen += [p for p in fitting if p.problem_id in ids]
    return chosen


def limit_samples(samples: Sequence[Sample], limit: int | None) -> list[Sample]:
    """The first `limit` samples, taken in turn from each competition, in it by problem, then k.

    They come back in the order of `samples`, so that files keep one order.
    """
    if limit is None or limit >= len(samples):
        return list(samples)
    queues: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        queues[sample.problem.competition].append(sample)
    taken: set[tuple[str, int]] = set()
    rounds = max(len(queue) for queue in queues.values())
    for turn in range(rounds):
        for competition in COMPETITIONS:
            if turn < len(queues[competition]) and len(taken) < limit:
                sample = queues[competition][turn]
                taken.add((sample.problem.problem_id, sample.k))
    return [sample for sample in samples if (sample.problem.problem_id, sample.k) in taken]


def run_samples(problems: Sequence[Problem], profile: Profile) -> list[Sample]:
    """The samples of a run: k = 1..n of each problem, up to the profile's limit."""
    return limit_samples(samples_of(list(problems)), profile.limit)


def _by_competition(problems: Iterable[Problem]) -> dict[str, list[Problem]]:
    """Problems by competition, in the paper's order of competitions; those without problems are left out."""
    groups: dict[str, list[Problem]] = {competition: [] for competition in COMPETITIONS}
    for problem in problems:
        groups[problem.competition].append(problem)
    return {competition: members for competition, members in groups.items() if members}
