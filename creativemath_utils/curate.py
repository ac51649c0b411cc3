"""Stage 1: from a corpus to problems. Paper, Sections 3 and 5.1."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from creativemath_utils.corpus.subset import load_subset
from creativemath_utils.corpus.token_counts import CountTokens, by_characters, token_counter
from creativemath_utils.profile import Profile, Select
from creativemath_utils.prompts import numbered, render
from creativemath_utils.records import KitError, Problem, Sample, competition_order, samples_of
from creativemath_utils.rows import read_problem
from creativemath_utils.store import ROOT, read_rows, shown
from creativemath_utils.wiki.titles import parse_title

MOST_NAMED = 5  # competitions that a message lists
DEMO = ROOT / "data" / "demo" / "problems.jsonl"


def load_corpus(profile: Profile, download: bool = True) -> tuple[list[Problem], list[dict[str, Any]]]:
    """The corpus of a profile: its problems in file order, and a row for everything that was left out or mended.

    `download=False` fetches nothing that is not here. Raises KitError that names the file and line of the first row
    that cannot be read.
    """
    corpus = profile.corpus
    if corpus.source == "demo":
        return read_problems(DEMO), []
    if corpus.source == "jsonl":
        if corpus.path is None:
            raise KitError("corpus: source jsonl needs a path to a file of problems")
        return with_difficulty(read_problems(profile.path(corpus.path))), []
    if corpus.source == "creativemath":
        return load_subset(profile, download)
    if corpus.source == "pages":
        from creativemath_utils.pages import read_pages  # its parsers are wanted here alone

        if corpus.path is None:
            raise KitError("corpus: source pages needs a path to a folder of saved pages")
        return read_pages(profile.path(corpus.path), processes=min(os.cpu_count() or 1, 8))
    from creativemath_utils.corpus.hub import read_hub  # so is what it imports

    problems, left_out = read_hub(profile, download)
    return with_difficulty(problems), left_out


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


def with_difficulty(problems: Sequence[Problem]) -> list[Problem]:
    """The problems, those without a difficulty with that of the table behind the published values (rule 3.4).

    Only where the id is a contest's own, such as 2016_AMC_8_Problems/15: elsewhere a number says nothing of how hard a
    problem is. Where the table has none, as for the AHSME, there stays none.
    """
    rated = []
    for problem in problems:
        title = parse_title(f"{problem.competition_id}/Problem {problem.number}")
        own = title is not None and (title.problem_id, title.competition) == (problem.problem_id, problem.competition)
        if problem.difficulty is None and own and title.difficulty is not None:
            source = {**problem.source, "difficulty_source": "table"}
            problem = replace(problem, difficulty=title.difficulty, source=source)
        rated.append(problem)
    return rated


def longest_prompt_tokens(problem: Problem, count: CountTokens = by_characters) -> int:
    """Tokens of the generation prompt with all solutions: of its text, without what a chat template puts around it."""
    return count(render("generation", problem=problem.statement, solutions=numbered(problem.solutions)))


def select_problems(
    problems: Sequence[Problem], select: Select | None, path_of: Callable[[str], Path] = Path, offline: bool = False
) -> list[Problem]:
    """So many problems of each competition at random, among those whose longest prompt fits. Paper, Section 5.1.

    Without `select` all of them stay. The draw depends on the seed and the ids alone, not on the order of the corpus.
    `path_of` finds a tokenizer's files, such as `Profile.path`; `offline` asks no network for them. Raises KitError
    where there is no such tokenizer, and where competitions have too few: it is said, not padded.
    """
    if select is None:
        return list(problems)
    count = by_characters if select.max_prompt_tokens is None else token_counter(select.tokenizer, path_of, offline)
    limit, groups = select.max_prompt_tokens, _by_competition(problems)
    fitting_of = {
        competition: [p for p in members if limit is None or longest_prompt_tokens(p, count) <= limit]
        for competition, members in groups.items()
    }
    short = [
        f"{competition} has {len(fitting)}{f' of {len(groups[competition])}' if limit else ''}"
        for competition, fitting in fitting_of.items()
        if len(fitting) < select.per_competition
    ]
    if short:
        more = f" and {len(short) - MOST_NAMED} more have too few" if len(short) > MOST_NAMED else ""
        raise KitError(
            f"select: {select.per_competition} problems of each competition {'that fit ' if limit else ''}are asked "
            f"for, {', '.join(short[:MOST_NAMED])}{more}; lower per_competition"
            f"{', raise max_prompt_tokens' if limit else ''} or leave those competitions out of the corpus"
        )
    chosen: list[Problem] = []
    for competition, fitting in fitting_of.items():
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
    turns = [competition for competition in competition_order(queues) if competition in queues]
    for turn in range(rounds):
        for competition in turns:
            if turn < len(queues[competition]) and len(taken) < limit:
                sample = queues[competition][turn]
                taken.add((sample.problem.problem_id, sample.k))
    return [sample for sample in samples if (sample.problem.problem_id, sample.k) in taken]


def run_samples(problems: Sequence[Problem], profile: Profile) -> list[Sample]:
    """The samples of a run: k = 1..n of each problem, up to the profile's limit."""
    return limit_samples(samples_of(list(problems)), profile.limit)


def _by_competition(problems: Iterable[Problem]) -> dict[str, list[Problem]]:
    """Problems by competition, in the paper's order, then others; those without problems are left out."""
    groups: dict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        groups[problem.competition].append(problem)
    return {competition: groups[competition] for competition in competition_order(groups) if competition in groups}
