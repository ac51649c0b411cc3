r"""What is wrong with the texts of a corpus: counts by kind, with an example of each. Changes nothing.

Made for the published subset, whose texts lost words, formulas and pictures when they were taken from wiki pages; it
reads any corpus. A rule sees how a text looks, not what it means: `possible_gap` has many false alarms, the other
kinds few. The excerpts show the place between guillemets, formulas cut short.

    >>> problem = Problem("a/1", "IMO", "a", 2030, 1, 8, "Algebra", "Let $P$ be a  of $Q$.", ("Yes.",))
    >>> [(found.kind, found.excerpt) for found in find_dirt([problem])]
    [('words_lost', 'Let $P$ be a«␣␣»of $Q$.')]
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from creativemath_utils.corpus.dirt_rules import IN_ANY, IN_PROBLEM, IN_SOLUTION, to_other_solution, to_picture
from creativemath_utils.corpus.dirt_text import EXCERPT, Text, cut
from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.records import Problem
from creativemath_utils.wiki.phrases import choice_labels

# What each kind means, in the order of the report.
KINDS = {
    "drawing": "code of a drawing, or a link to a picture, left in the text",
    "picture_lost": "points at a figure, and neither the text nor the problem has one",
    "words_lost": "a word, name or number is missing where grammar wants one",
    "possible_gap": "two blanks, or one before a stop, in a sentence, or a problem's small first letter: a lost word?",
    "block_lost": "a line announces a formula or list, and the next one goes on without it",
    "control_character": r"a control character where a command had its backslash: form feed and `rac` for `\frac`",
    "other_control": "any other control character, tabs among them",
    "credit": "somebody's signature",
    "remark": "said to other readers, no mathematics",
    "unfinished": "says of itself that it is not complete",
    "answer_only": "a reference that is an answer without a solution",
    "refers_to_other": "leans on another solution",
    "same_solution": "the same solution twice under one problem",
    "same_problem": "the same problem under two ids",
    "same_but_for_form": "the same problem under two ids, set in another way",
    "answer_in_problem": "the problem ends in its boxed answer, or goes on to a solution",
    "choices_missing": "multiple choice without all of A to E",
    "unbalanced_dollar": "an odd number of dollar signs",
    "unbalanced_formula": "braces, or begin and end, that do not pair",
    "double_dollar": "two dollar signs in a row: a price, or formulas that touch",
    "markup": "HTML or wiki markup",
    "outer_blanks": "blanks before or after the text",
    "special_space": "a non-breaking or invisible character",
    "no_difficulty": "no difficulty given",
    "no_category": "no category given",
}  # fmt: skip

_MULTIPLE_CHOICE = ("AMC_8", "AMC_10", "AMC_12", "AHSME")


@dataclass(frozen=True)
class Dirt:
    """One place: `where` is "problem", "solution 2" or "record"; `excerpt` has at most EXCERPT characters."""

    kind: str
    problem_id: str
    where: str
    excerpt: str


def find_dirt(problems: Sequence[Problem]) -> list[Dirt]:
    """Every place that a rule points at, by problem and then in the order of KINDS."""
    order, twins = list(KINDS), _twins(problems)
    found: list[Dirt] = []
    for problem in problems:
        places = [*twins.get(problem.problem_id, ()), *_about_record(problem), *_in_texts(problem)]
        found += sorted(places, key=lambda place: order.index(place.kind))
    return found


def _in_texts(problem: Problem) -> Iterator[Dirt]:
    """What the rules find in the problem's text and its solutions, in this order."""
    texts = [Text(problem.statement), *map(Text, problem.solutions)]
    for k, text in enumerate(texts):
        where = f"solution {k}" if k else "problem"
        places = [
            (kind, excerpt)
            for kind, rule in (IN_ANY | (IN_SOLUTION if k else IN_PROBLEM)).items()
            for excerpt in rule(text)
        ]
        if not (text.has_picture or texts[0].has_picture) and (pointer := to_picture(text, in_problem=k == 0)):
            places.append(("picture_lost", pointer))
        if k and (other := to_other_solution(text, k)):
            places.append(("refers_to_other", other))
        yield from (Dirt(kind, problem.problem_id, where, excerpt) for kind, excerpt in places)
    if problem.competition in _MULTIPLE_CHOICE and len(choice_labels(problem.statement)) < 5:
        yield Dirt("choices_missing", problem.problem_id, "problem", cut(problem.statement[-EXCERPT:]))


def dirt_report(problems: Sequence[Problem], found: Sequence[Dirt] | None = None) -> pd.DataFrame:
    """Counts by kind, in the order of KINDS, zeros too.

    Columns `kind, about, count, problems, example`: `count` is of places, `problems` of problems that have one.
    `found` is what find_dirt gave, where that is at hand.
    """
    by_kind: dict[str, list[Dirt]] = defaultdict(list)
    for place in find_dirt(problems) if found is None else found:
        by_kind[place.kind].append(place)
    return pd.DataFrame(
        [
            {
                "kind": kind,
                "about": about,
                "count": len(by_kind[kind]),
                "problems": len({place.problem_id for place in by_kind[kind]}),
                "example": _example(by_kind[kind]),
            }
            for kind, about in KINDS.items()
        ]
    )


def dirt_markdown(problems: Sequence[Problem], name: str, found: Sequence[Dirt] | None = None) -> str:
    """The report as a page: a table, and how to read it. `name` says which corpus it is about."""
    report = dirt_report(problems, found)
    solutions = sum(problem.n for problem in problems)
    seen = report[report["count"] > 0]
    rows = [
        [f"`{row.kind}`", plain_markdown(row.about), str(row.count), str(row.problems), plain_markdown(row.example)]
        for row in seen.itertuples()
    ]
    absent = ", ".join(f"`{kind}`" for kind in report.loc[report["count"] == 0, "kind"]) or "none"
    return "\n".join(
        [
            f"# What is wrong with the texts of {plain_markdown(name)}",
            "",
            f"{len(problems)} problems, {solutions} solutions. Found by rules that see how a text looks, not what it "
            "means: any of them can be wrong, and `possible_gap` often is. Nothing was changed. The place is between « "
            "and »; ␣ is a blank, ␌ a form feed.",
            "",
            pipe_table(rows, ["kind", "what it is", "places", "problems", "example"]),
            "",
            f"Not found: {absent}.",
            "",
        ]
    )


def _example(places: Sequence[Dirt]) -> str:
    if not places:
        return ""
    place = places[0]
    where = "" if place.where in ("record", "problem") else f" {place.where}"
    return f"{place.problem_id}{where}: {place.excerpt}"


# --- problems and solutions that stand twice --------------------------------------------------------------------------

_FACE = re.compile(r"\\(?:text(?:bf|it|rm|normal)?|math(?:rm|bf|it|normal)|mbox|bf|rm|it)(?![A-Za-z])")
_SET_APART = re.compile(
    r"\\(?:q?quad|hspace\*?\{[^{}]*\}|displaystyle|left|right)(?![A-Za-z])|\\[,;:!> ]|[\s~${}]|\\(?=\$)"
)


def text_key(text: str) -> str:
    r"""A text without what only sets it in another way: white space, faces, distances, `\dfrac` for `\frac`, braces.

    >>> text_key(r"Is $\textbf{(A) }7$ odd?") == text_key(r"Is  $\text{(A)} \qquad 7$ odd?")
    True
    """
    return _SET_APART.sub("", _FACE.sub("", re.sub(r"\\[dt]frac(?![A-Za-z])", r"\\frac", text))).casefold()


def same_problems(problems: Sequence[Problem]) -> list[list[Problem]]:
    """Groups of two or more problems that are one but for their form, each in the order of the corpus."""
    groups: dict[str, list[Problem]] = defaultdict(list)
    for problem in problems:
        groups[text_key(problem.statement)].append(problem)
    return [group for group in groups.values() if len(group) > 1]


def _twins(problems: Sequence[Problem]) -> dict[str, list[Dirt]]:
    """For each problem but the first of its group, which one it repeats."""
    found: dict[str, list[Dirt]] = {}
    for first, *others in same_problems(problems):
        for other in others:
            same = "".join(other.statement.split()) == "".join(first.statement.split())
            kind = "same_problem" if same else "same_but_for_form"
            found[other.problem_id] = [Dirt(kind, other.problem_id, "record", cut(f"as {first.problem_id}"))]
    return found


def _about_record(problem: Problem) -> Iterator[Dirt]:
    if problem.difficulty is None:
        yield Dirt("no_difficulty", problem.problem_id, "record", problem.competition)
    if problem.category is None:
        yield Dirt("no_category", problem.problem_id, "record", problem.competition)
    keys: dict[str, int] = {}
    for k, text in enumerate(problem.solutions, start=1):
        if (first := keys.setdefault(text_key(text), k)) != k:
            yield Dirt("same_solution", problem.problem_id, f"solution {k}", f"as solution {first}")
