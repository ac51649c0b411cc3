r"""What can be mended in a corpus without guessing, each act with a row of its own. Asked for by `repair: true`.

1. A control character that stands where a known command lost its backslash becomes the command again.
2. A reference that is nothing but an answer, and one that repeats an earlier one, is taken off its problem's list.
3. The same problem under several ids becomes one. The id that comes first stays: by competition in the paper's order,
   then year, contest and number. It keeps its own solutions in their order; then come those of the others that it
   lacks. The other ids are named in `shared_with`.
4. A problem without a solution goes.

Nothing else changes: lost words stay lost, and whatever a rule is in doubt about stays as it is.

    >>> twins = [Problem(f"{i}/1", "IMO", i, 2030, 1, 8, None, "Is $7$ odd?", (f"By {i}.",)) for i in ("b", "a")]
    >>> [(problem.problem_id, problem.solutions) for problem in repair_problems(twins)[0]]
    [('a/1', ('By a.', 'By b.'))]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from creativemath_utils.corpus.dirt import same_problems, text_key
from creativemath_utils.corpus.dirt_rules import is_answer_only, to_other_solution
from creativemath_utils.corpus.dirt_text import Text, with_backslashes
from creativemath_utils.records import Problem, competition_order

Rows = list[dict[str, Any]]


def repair_problems(problems: Sequence[Problem]) -> tuple[list[Problem], Rows]:
    """The problems mended, in their order, and a row {problem_id, reason, detail} for each act.

    Reasons: control_character, answer_only, same_solution, same_problem, no_solutions.
    """
    rows: Rows = []
    mended = [_without_bare_answers(_with_commands(problem, rows), rows) for problem in problems]
    merged = _merged(mended, rows)
    kept = [problem for problem in merged if problem.solutions]
    rows += [
        _row(problem, "no_solutions", "nothing is left that it could be compared with")
        for problem in merged
        if not problem.solutions
    ]
    return kept, rows


def _with_commands(problem: Problem, rows: Rows) -> Problem:
    texts = [problem.statement, *problem.solutions]
    for k, text in enumerate(texts):
        texts[k], mended = with_backslashes(text)
        if mended:
            commands = ", ".join(f"{count} x {command}" for command, count in sorted(mended.items()))
            rows.append(_row(problem, "control_character", f"{f'solution {k}' if k else 'problem'}: {commands}"))
    return replace(problem, statement=texts[0], solutions=tuple(texts[1:]))


def _without_bare_answers(problem: Problem, rows: Rows) -> Problem:
    seen: dict[str, int] = {}
    reasons: dict[int, str] = {}
    for k, text in enumerate(problem.solutions, start=1):
        first = seen.setdefault(text_key(text), k)
        if is_answer_only(text):
            reasons[k] = "answer_only"
            rows.append(_row(problem, "answer_only", f"solution {k}: {text.strip()}{_leaning(problem, k)}"))
        elif first != k:
            reasons[k] = "same_solution"
            rows.append(_row(problem, "same_solution", f"solution {k} is solution {first}{_leaning(problem, k)}"))
    if not reasons:
        return problem
    headings = problem.solution_headings
    kept = [k for k in range(1, problem.n + 1) if k not in reasons]
    gone = [
        {"heading": headings[k - 1] if headings else f"Solution {k}", "reason": reason} for k, reason in reasons.items()
    ]
    return replace(
        problem,
        solutions=tuple(problem.solutions[k - 1] for k in kept),
        solution_headings=tuple(headings[k - 1] for k in kept) if headings else (),
        removed_solutions=(*problem.removed_solutions, *gone),
    )


def _leaning(problem: Problem, gone: int) -> str:
    """A warning where solutions that stay say "Solution 1": they were written for the old numbers."""
    leaning = [
        str(k)
        for k, text in enumerate(problem.solutions, start=1)
        if k > gone and to_other_solution(Text(text), k) is not None
    ]
    return f"; of those after it, {', '.join(leaning)} lean on others by their old numbers" if leaning else ""


def _merged(problems: Sequence[Problem], rows: Rows) -> list[Problem]:
    """Problems with one text as one, at the place of the id that stays."""
    order = competition_order(problem.competition for problem in problems)

    def rank(problem: Problem) -> tuple[int, int, str, int]:
        contest = problem.competition_id.replace("_", " ")  # a blank sorts before a letter, so AIME I before AIME II
        return order.index(problem.competition), problem.year or 0, contest, problem.number

    instead: dict[str, Problem | None] = {}
    for group in same_problems(problems):
        first, *others = sorted(group, key=rank)
        keys = {text_key(text) for text in first.solutions}
        solutions, headings = list(first.solutions), list(first.solution_headings)
        for other in others:
            gained = [k for k, text in enumerate(other.solutions, start=1) if text_key(text) not in keys]
            keys |= {text_key(text) for text in other.solutions}
            solutions += [other.solutions[k - 1] for k in gained]
            if headings:
                headings += [other.solution_headings[k - 1] if other.solution_headings else "" for k in gained]
            leaning = [str(k) for k in gained if to_other_solution(Text(other.solutions[k - 1]), k)]
            detail = f"as {first.problem_id}, which gains {len(gained)} of its {other.n} solutions"
            detail += f"; {', '.join(leaning)} lean on others by their old numbers" if leaning else ""
            rows.append(_row(other, "same_problem", detail))
            instead[other.problem_id] = None
        shared = dict.fromkeys([*first.shared_with, *map(_title, others)])
        instead[first.problem_id] = replace(
            first, solutions=tuple(solutions), solution_headings=tuple(headings), shared_with=tuple(shared)
        )
    return [now for problem in problems if (now := instead.get(problem.problem_id, problem)) is not None]


def _title(problem: Problem) -> str:
    """The title of the page that a problem has on the wiki."""
    return f"{problem.competition_id.replace('_', ' ')}/Problem {problem.number}"


def _row(problem: Problem, reason: str, detail: str) -> dict[str, Any]:
    return {"problem_id": problem.problem_id, "reason": reason, "detail": detail}
