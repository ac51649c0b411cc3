"""Which lines of a page are the problem, and which are its solutions, in page order. Rules S1 to S10.

Headings say what a section is; their levels only say what belongs to what, and their numbers only whether a text stands
before the first of several solutions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile

from creativemath_utils.wiki.names import is_name
from creativemath_utils.wiki.text import PICTURE, Line, Marks, Page, Section, holds, render, text_of

_PROBLEM = re.compile(
    r"(?:the )?problem(?: ?#?\s*(?P<number>\d+))?(?: statement)?(?: ?\([^()]*\))?|statement|question", re.IGNORECASE
)
_SOLUTION_WORD = r"(?:solutions?|soln?s?)(?![^\W\d_])"
_SOLUTION = re.compile(rf"\W*(?P<before>(?:[\w'’#.,&/+-]+\s+){{0,5}}?){_SOLUTION_WORD}", re.IGNORECASE)
_NOT_BEFORE = re.compile(
    r"\b(?:to|of|on|for|from|in|about|with|after|video|notes?|remarks?|comments?|motivation|explanation|why|how|see|related|"
    r"no|answer|other)\b",
    re.IGNORECASE,
)
_PROOF = re.compile(r"\W*(?:[\w'’#-]+\s+){0,3}?(?:proof|method|approach)(?![^\W\d_])(?!\s+(?:of|for)\b)", re.IGNORECASE)
_IGNORED = re.compile(
    r"\W*(?:see also\b|.*\bvideos?\b|notes?\b|remarks?\b|comments?\b|references?\b|resources?\b|external links?\b|"
    r"contributors?\b|credits?\b|trivia\b|related\b)",
    re.IGNORECASE | re.DOTALL,
)
_DIAGRAM = re.compile(r"\W*(?:diagrams?|figures?|pictures?)\b[\s\d:.#]*", re.IGNORECASE)
_NUMBER = re.compile(
    r"\b(?:solution|soln?|method|approach|proof)s?\s*(?:#|no\.?\s*|number\s+)?\s*(\d+|one\b|i\b|a\b)", re.IGNORECASE
)
_LONGEST = 300  # what is longer is no heading, and not worth the time
_FIRST = re.compile(r"\W*(?:first|1st)\b", re.IGNORECASE)


@dataclass
class Solution:
    """A solution section: its heading (cleaned, S10) and the lines below it."""

    heading: str
    lines: list[Line]


@dataclass
class Parts:
    """A page taken apart: the problem, the solutions, what was left out as (where, rule, text), and warnings."""

    problem: list[Line] = field(default_factory=list)
    has_problem_heading: bool = False
    problem_numbers: set[int] = field(default_factory=set)
    diagram_section: bool = False
    solutions: list[Solution] = field(default_factory=list)
    left_out: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass
class _Node:
    """A section with those below it."""

    kind: str  # problem, solution, proof (a solution if its place says so), ignored, diagram, other
    heading: str
    section: Section
    parent: _Node | None
    children: list[_Node] = field(default_factory=list)

    @property
    def level(self) -> int:
        return self.section.level

    def below(self) -> Iterator[_Node]:
        for child in self.children:
            yield child
            yield from child.below()

    def above(self) -> Iterator[_Node]:
        if self.parent is not None:
            yield self.parent
            yield from self.parent.above()


def kind_of(heading: str) -> str:
    """What a heading says its section is. Rules S2, S4, S5, S6."""
    heading = heading[:_LONGEST].strip().rstrip(":.").strip()
    if _PROBLEM.fullmatch(heading):
        return "problem"
    if re.search(r"\bvideos?\b", heading, re.IGNORECASE):
        return "ignored"
    solution = _SOLUTION.match(heading)
    if solution and not _NOT_BEFORE.search(re.sub(r"\bother\s+$", "", solution["before"], flags=re.IGNORECASE)):
        return "solution"
    if _IGNORED.match(heading):
        return "ignored"
    if _DIAGRAM.fullmatch(clean_heading(heading)):
        return "diagram"
    return "proof" if _PROOF.match(heading) else "other"


def clean_heading(heading: str) -> str:
    """A heading without authors' names and empty brackets; the method's name stays. Rule S10."""

    def cut(found: re.Match[str]) -> str:
        before = re.search(r"\w+$", found.string[: found.start()])
        step_by_step = before is not None and before[0].lower() == found["name"].lower()
        return "" if is_name(found["name"]) and not step_by_step else found[0]

    by = (
        r"[\s,;/–—-]*(?:(?:\b(?:modified|edited|written|submitted|contributed|proposed|revised|created|added|found|made|"
        r"posted|and|latexed|credits?)\s+)*\bby\b:?|\bcredits?(?:\s+(?:to|goes to))?\s*:?|\bthanks to\b|\bauthors?:)"
        r"\s+(?P<name>[^,;:()\[\]–—]+?)(?=\s*(?:[,;:()\[\]–—]|\s-\s|$))"
    )
    while len(heading) <= _LONGEST:
        before = heading
        heading = re.sub(by, cut, heading, flags=re.IGNORECASE)
        heading = re.sub(r"\s*(?:[~∼]\s*[^\W\d_][\w .,'’&-]*|\s[-–—]+\s*(?=\w*_)[^\W_]\w+)$", "", heading)
        heading = re.sub(r"\s*(?:\(\s*[,;:–—-]*\s*\)|\[\s*\])", "", heading)
        heading = re.sub(r"([(\[])\s*[,;]\s*", r"\1", heading)
        heading = re.sub(r"[\s,;:–—-]+$", "", " ".join(heading.split()))
        if heading == before:
            break
    return heading


def take_apart(page: Page, is_empty: Callable[[list[Line]], bool]) -> Parts:
    """The problem and the solutions of a page. `is_empty` says whether nothing is left of lines once cleaned."""
    return _Taking(page, is_empty).parts


class _Taking:
    def __init__(self, page: Page, is_empty: Callable[[list[Line]], bool]) -> None:
        self._page, self._marks, self._is_empty = page, page.marks, is_empty
        self.parts = Parts()
        lead, tops = page.sections[0], _tree(page.sections[1:], page.marks)
        nodes = [node for top in tops for node in (top, *top.below())]
        problems = [node for node in nodes if node.kind == "problem"]
        self.parts.has_problem_heading = bool(problems)
        named = [_PROBLEM.fullmatch(node.heading.rstrip(":. ")) for node in problems]
        self.parts.problem_numbers = {int(found["number"]) for found in named if found and found["number"]}
        self._solution_levels = {node.level for node in nodes if node.kind == "solution"}
        self._problem = problems[0] if problems else None
        self._before_problem = self._problem is not None
        self._stem: list[Line] = []
        if self._problem is None:
            self.parts.problem = list(lead.lines)
        else:
            self.parts.warnings += [] if is_empty(lead.lines) else ["lead_text"]
            self._leave_out("", "lead_text", lead.lines)
        for top in tops:
            self._visit(top)
        self.parts.problem = self._stem + self.parts.problem

    def _leave_out(self, where: str, rule: str, lines: list[Line]) -> None:
        text = render(lines, self._marks, self._page.source_breaks)
        if text:
            self.parts.left_out.append((where, rule, text))

    def _visit(self, node: _Node) -> None:
        if node is self._problem:
            self._before_problem, self._before_solutions = False, len(self.parts.solutions)
            self.parts.problem = list(node.section.lines)
            self._parts_of(node, self.parts.problem, of_problem=True)
        elif self._is_solution(node):
            self._solution(node)
        elif node.kind == "ignored":
            self._ignore(node)
        elif node.kind == "diagram" and holds(node.section.lines, PICTURE):
            self.parts.diagram_section = True
            self._leave_out(node.heading, "S6", node.section.lines)
            self._visit_all(node)
        elif self._before_problem:  # shared data
            if not self._is_empty(node.section.lines):
                self._stem += node.section.lines
                self.parts.warnings.append("shared_stem")
            else:
                self._leave_out(node.heading, "S3", node.section.lines)
            self._visit_all(node)
        else:
            self.parts.warnings.append("unknown_section")
            self._leave_out(node.heading, "S7", node.section.lines)
            self._visit_all(node)

    def _visit_all(self, node: _Node) -> None:
        for child in node.children:
            self._visit(child)

    def _ignore(self, node: _Node) -> None:
        """Leave out a section with what is below it; a solution below any but a video's is one all the same (P2)."""
        self._leave_out(node.heading, "S5", node.section.lines)
        for child in node.children:
            if child.kind == "solution" and not re.search("video", node.heading, re.IGNORECASE):
                self._visit(child)
            else:
                self._ignore(child)

    def _parts_of(self, node: _Node, lines: list[Line], of_problem: bool = False) -> None:
        """Put the subsections of the problem or of one solution behind its lines, their headings as lines (T8).

        Solutions below the problem are none of its parts, and neither is what comes after one of them.
        """
        for child in node.children:
            if child.kind == "ignored":
                self._ignore(child)
            elif (child.kind == "diagram" and holds(child.section.lines, PICTURE)) or (
                of_problem and (self._is_solution(child) or len(self.parts.solutions) > self._before_solutions)
            ):
                self._visit(child)
            else:
                if not (of_problem and child.kind == "problem"):  # "Statement" says no more than "Problem"
                    lines.append(Line(child.section.heading, kind="heading"))
                lines += child.section.lines
                self._parts_of(child, lines, of_problem)

    def _is_solution(self, node: _Node) -> bool:
        """Rule S4. A proof, method or approach counts where solutions stand, or right under a bare container."""
        if node.kind != "proof":
            return node.kind == "solution"
        over = [above for above in node.above() if above.kind in ("solution", "proof")]
        if not over:
            parent = node.parent
            if parent is not None and parent.kind == "other" and not self._is_empty(parent.section.lines):
                return False  # the proof of a lemma
            return not self._solution_levels or node.level in self._solution_levels
        container = over[0]
        if container is not node.parent:
            return False
        if any(child.kind == "solution" for child in takewhile(lambda child: child is not node, container.children)):
            return True  # solutions stand at its level
        bare = re.fullmatch(r"\W*(?:solution|(?:[^\W\d]+\W+){0,4}solution(s))\W*", container.heading, re.IGNORECASE)
        if not bare:
            return False
        if bare[1] or _NUMBER.search(node.heading):
            return True
        with_others = any(child.kind == "other" for child in container.children)  # a lemma, and then its use
        return not with_others and self._is_empty(container.section.lines)

    def _solution(self, node: _Node) -> None:
        """A solution, or a container of solutions with or without a text of its own. Rule S8."""
        solutions = [child for child in node.children if self._is_solution(child)]
        lines = list(node.section.lines)
        if not solutions:
            self._parts_of(node, lines)
            self._add(node, lines)
            return
        first = node.children.index(solutions[0])
        self._parts_of(_Node(node.kind, node.heading, node.section, node.parent, node.children[:first]), lines)
        preamble: list[Line] = []
        if self._is_empty(lines):
            self._leave_out(node.heading, "S8", lines)
        else:
            if _is_first(solutions[0].heading):
                preamble = lines
                self.parts.warnings.append("container_preamble")
            else:
                self._add(node, lines)
        for child in node.children[first:]:
            count = len(self.parts.solutions)
            self._visit(child)
            for solution in self.parts.solutions[count:] if child in solutions else ():
                solution.lines = preamble + solution.lines

    def _add(self, node: _Node, lines: list[Line]) -> None:
        self.parts.solutions.append(Solution(clean_heading(node.heading), lines))


def _is_first(heading: str) -> bool:
    number = _NUMBER.search(heading)
    return number[1].lower() in ("1", "one", "i", "a") if number else _FIRST.match(heading) is not None


def _tree(sections: list[Section], marks: Marks) -> list[_Node]:
    """Each section below the nearest one before it with a higher level (a smaller number). Rule S1."""
    tops: list[_Node] = []
    open_nodes: list[_Node] = []
    for section in sections:
        heading = " ".join(text_of(section.heading, marks).split())
        while open_nodes and open_nodes[-1].level >= section.level:
            open_nodes.pop()
        parent = open_nodes[-1] if open_nodes else None
        node = _Node(kind_of(heading), heading, section, parent)
        (parent.children if parent else tops).append(node)
        open_nodes.append(node)
    return tops
