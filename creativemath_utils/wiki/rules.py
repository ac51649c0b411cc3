"""What becomes of a page that was taken apart: the texts, what is no solution, and the reason to drop it.

Sections 7 and 8 of the rules. The reasons come in their order, and the first that applies is given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from creativemath_utils.wiki.credits import COPYRIGHT, Cleaned, without_credits
from creativemath_utils.wiki.phrases import (
    INCOMPLETE,
    NEEDS_SOLUTION,
    NO_IMAGE,
    PLACEHOLDER,
    SHARED,
    STUB,
    TO_FIGURE,
    TO_SOLUTION,
    VIDEO,
    asks_without_choices,
    choice_labels,
    is_bare_answer,
    is_embargo,
    is_link,
    is_mention_of_video,
    says_unfinished,
)
from creativemath_utils.wiki.sections import Solution, take_apart
from creativemath_utils.wiki.text import (
    BAD_LATEX,
    FORMULA,
    LINK_END,
    LINK_START,
    PICTURE,
    UNKNOWN_TEMPLATE,
    Line,
    Page,
    balanced,
    has_formula,
    holds,
    pairs_up,
    render,
    with_text,
    without_links,
)
from creativemath_utils.wiki.titles import Title, parse_reference, references

REASONS = (  # to drop a page, in order of precedence
    "unreadable",
    "truncated_page",
    "not_wiki_page",
    "missing_page",
    "redirect",
    "not_problem_page",
    "duplicate_page",
    "no_problem_text",
    "incomplete_problem",
    "diagram_in_problem",
    "missing_diagram",
    "bad_latex_in_problem",
    "no_solutions",
    "diagram_in_solution",
    "bad_latex_in_solution",
    "duplicate_problem",
    "parse_error",
)


@dataclass
class Decision:
    """What the rules make of a page: texts where it is kept, `reason` where it is dropped.

    `removed_solutions` holds {heading, reason}; `removed` (where, rule, text) for every line and section taken out.
    """

    reason: str | None = None
    detail: str = ""
    problem: str = ""
    solutions: list[str] = field(default_factory=list)
    solution_headings: list[str] = field(default_factory=list)
    removed_solutions: list[Mapping[str, Any]] = field(default_factory=list)
    removed: list[tuple[str, str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    shared_with: list[str] = field(default_factory=list)


def decide(page: Page, title: Title, drop_unusable_solution: bool = False) -> Decision:
    """Apply the rules of sections, cleaning and decisions to a page about one problem.

    `drop_unusable_solution`: take a solution with a drawing or with broken LaTeX off the list, for exploration; by
    default it drops the whole sample, since the list must be complete (P2).
    """
    return _Deciding(page, title, drop_unusable_solution).decision


class _Deciding:
    def __init__(self, page: Page, title: Title, drop_unusable_solution: bool) -> None:
        self._page, self._title, self._marks = page, title, page.marks
        self._cleaned: dict[tuple[str, ...], Cleaned] = {}
        self.decision = Decision()
        self._take_shared_sentences()
        self._stub_above = _shows(page.sections[0].lines, INCOMPLETE)  # at the top it speaks of the problem
        parts = take_apart(page, lambda lines: not self._text(self._clean(lines).lines) and not _unreadable(lines))
        self.decision.removed += parts.left_out
        self.decision.warnings += parts.warnings
        reasons: dict[str, str] = {}  # reason -> detail
        if len(parts.problem_numbers) > 1:
            self.decision.reason = "not_problem_page"
            self.decision.detail = f"a whole paper: problems {', '.join(map(str, sorted(parts.problem_numbers)))}"
            return
        self._problem(parts.problem, reasons)
        if parts.diagram_section:
            reasons.setdefault("diagram_in_problem", "a section that is a diagram (S6)")
        self._solutions(parts.solutions, reasons, drop_unusable_solution)
        self.decision.reason = next((reason for reason in REASONS if reason in reasons), None)
        self.decision.detail = reasons.get(self.decision.reason or "", "")
        self.decision.warnings = list(dict.fromkeys(self.decision.warnings))

    # --- shared problems

    def _take_shared_sentences(self) -> None:
        """The sentence that names the same problem in other contests goes, and its links are kept. Rule R8."""
        shared = [parse_reference(target) for target in self._page.reached_from]
        for section in self._page.sections:
            kept = []
            for line in section.lines:
                if COPYRIGHT.fullmatch(without_links(line.text)):  # R7: the wiki's, not the page's
                    continue
                found = SHARED.search(line.text)
                if found:
                    shared += self._references(found[0])
                    self.decision.removed.append((section.heading, "R8", self._text([with_text(line, found[0])])))
                    line = with_text(line, (line.text[: found.start()] + line.text[found.end() :]).strip())
                if line.text:
                    kept.append(line)
            section.lines[:] = kept
        names = [title.text for title in shared if title is not None and title != self._title]
        self.decision.shared_with = list(dict.fromkeys(names))

    def _references(self, sentence: str) -> list[Title]:
        """The problems that its links lead to; a link into a whole paper has the number in its label."""
        found = []
        for mark, label in re.findall(f"({LINK_START})([^{LINK_END}]*){LINK_END}", sentence):
            title = parse_reference(self._marks.target(mark))
            found += [title] if title else references(label)[:1]
        return found or references(without_links(sentence))

    # --- texts

    def _clean(self, lines: Sequence[Line], proposer: bool = False) -> Cleaned:
        key = (*(line.text for line in lines), str(proposer))  # asked twice: is anything left, and what
        if key not in self._cleaned:
            self._cleaned[key] = without_credits(lines, self._marks, proposer)
        return self._cleaned[key]

    def _text(self, lines: Sequence[Line]) -> str:
        return render(lines, self._marks, self._page.source_breaks)

    def _log(self, where: str, cleaned: Cleaned) -> None:
        self.decision.removed += [(where, rule, text) for rule, text in cleaned.removed]
        self.decision.warnings += cleaned.warnings

    def _bad_latex(self, lines: Sequence[Line]) -> str | None:
        """What is wrong with the formulas, or None. Rule R11."""
        if holds(lines, BAD_LATEX):
            return "a formula without its text or its end"
        sources = [source for line in lines for source in self._marks.sources(line.text)]
        broken = next((source for source in sources if not pairs_up(source)), None)
        return None if broken is None else f"\\begin and \\end do not pair: {broken[:80]}"

    def _warn_of_formulas(self, lines: Sequence[Line]) -> None:
        if holds(lines, UNKNOWN_TEMPLATE):
            self.decision.warnings.append("unknown_template")
        if not all(balanced(source) for line in lines for source in self._marks.sources(line.text)):
            self.decision.warnings.append("unbalanced_math")

    def _without_notice(self, lines: Sequence[Line], notice: re.Pattern[str], where: str, rule: str) -> list[Line]:
        """The lines without a sentence of the wiki's own."""
        kept = []
        for line in lines:
            found = notice.search(without_links(line.text))
            if found:
                self.decision.removed.append((where, rule, found[0]))
                line = with_text(line, notice.sub("", without_links(line.text)).strip())
            if line.text:
                kept.append(line)
        return kept

    # --- the problem

    def _problem(self, raw: Sequence[Line], reasons: dict[str, str]) -> None:
        no_image, stub = _shows(raw, NO_IMAGE), self._stub_above or _shows(raw, INCOMPLETE)
        lines = self._without_notice(raw, NO_IMAGE, "Problem", "D2")
        lines = self._without_notice(lines, INCOMPLETE, "Problem", "D3")
        cleaned = self._clean(lines, self._title.olympiad)
        self._log("Problem", cleaned)
        lines, text = cleaned.lines, self._text(cleaned.lines)
        self.decision.problem = text
        picture = holds(lines, PICTURE)
        body = any(line.kind != "heading" for line in lines)
        notice = self._text(lines if text else raw)
        embargo = bool(notice) and not picture and is_embargo(lines if text else raw)
        if (not text or not body) and not (_unreadable(lines) or stub or no_image or embargo):
            reasons["no_problem_text"] = "the problem is empty"
        if stub or embargo:
            reasons["incomplete_problem"] = "the page says that it is incomplete" if stub else notice[:200]
        if self._title.multiple_choice and text:
            if not picture and asks_without_choices(text):
                reasons.setdefault("incomplete_problem", "asks which of the following, and shows no choices")
            if choice_labels(text) != set("ABCDE"):
                self.decision.warnings.append("choices_missing")
        if picture:
            reasons["diagram_in_problem"] = "a picture or drawing"
        array = re.search(r"\\begin\s*\{(?:array|tabular|matrix|[pbvBV]matrix|tabularx)\*?\}", text)
        table = any(line.kind == "row" for line in lines)
        mention = TO_FIGURE.search(re.sub(FORMULA, " ", " ".join(line.text for line in lines)))
        if no_image or (mention and not (picture or table or array)):
            reasons["missing_diagram"] = "an image is supposed to be there" if no_image else f"says {mention[0]!r}"
        fault = self._bad_latex(lines)
        if fault:
            reasons["bad_latex_in_problem"] = fault
        self._warn_of_formulas(lines)

    # --- the solutions

    def _solutions(self, solutions: Sequence[Solution], reasons: dict[str, str], drop_unusable: bool) -> None:
        kept: list[tuple[str, list[Line], str]] = []
        seen: set[str] = set()
        for solution in solutions:
            cleaned, why, text = self._solution(solution)
            key = "".join(text.split()).casefold()
            why = why or ("duplicate_solution" if key in seen and not holds(cleaned.lines, PICTURE) else None)
            self._log(solution.heading, cleaned)
            if why is None and drop_unusable:
                why = next(iter(self._unusable(solution.heading, cleaned.lines)), None)
            if why is not None:
                self.decision.removed_solutions.append({"heading": solution.heading, "reason": why})
                self.decision.removed.append((solution.heading, why, text))
                continue
            seen.add(key)
            kept.append((solution.heading, cleaned.lines, text))
        if not kept:
            reasons["no_solutions"] = "all taken off the list" if solutions else "no section with a solution"
        for number, (heading, lines, text) in enumerate(kept):
            for reason, detail in self._unusable(heading, lines).items():
                reasons.setdefault(reason, detail)
            self._warn_of_formulas(lines)
            if number > 0 and TO_SOLUTION.search(text):
                self.decision.warnings.append("refers_to_other_solution")
            if TO_FIGURE.search(text) or "diagram" in text.lower():
                self.decision.warnings.append("refers_to_figure")
            self.decision.solutions.append(text)
            self.decision.solution_headings.append(heading)

    def _unusable(self, heading: str, lines: Sequence[Line]) -> dict[str, str]:
        """The reasons why a real solution cannot be represented as text. Rules D1, R11."""
        found = {"diagram_in_solution": f"{heading}: a picture or drawing"} if holds(lines, PICTURE) else {}
        fault = self._bad_latex(lines)
        return found | ({"bad_latex_in_solution": f"{heading}: {fault}"} if fault else {})

    def _solution(self, solution: Solution) -> tuple[Cleaned, str | None, str]:
        """A solution cleaned, the reason why it is none (section 7.1) or None, and its text."""
        raw = solution.lines
        needed, incomplete = _shows(raw, NEEDS_SOLUTION), _shows(raw, INCOMPLETE) and not _shows(raw, STUB)
        if _shows(raw, NO_IMAGE):
            self.decision.warnings.append("refers_to_figure")
        lines = self._without_notice(raw, NEEDS_SOLUTION, solution.heading, "placeholder")
        lines = self._without_notice(lines, NO_IMAGE, solution.heading, "D2")
        lines = self._without_notice(lines, INCOMPLETE, solution.heading, "unfinished")
        only_links = bool(lines) and all(is_link(line) or is_mention_of_video(line) for line in lines)
        cleaned = self._clean(lines)
        text = self._text(cleaned.lines)
        body = [line for line in cleaned.lines if line.kind != "heading"]
        if not _unreadable(body):
            if not body or not text:
                if any(rule == "C8" and VIDEO.search(removed) for rule, removed in cleaned.removed):
                    return cleaned, "video_only", text
                return cleaned, "placeholder" if needed else "unfinished" if incomplete else "empty", text
            if all(not has_formula(line.text) and PLACEHOLDER.fullmatch(line.text) for line in body):
                return cleaned, "placeholder", text
            if only_links or all(is_mention_of_video(line) for line in body):
                return cleaned, "video_only", text
        if incomplete or any(map(says_unfinished, body)):
            return cleaned, "unfinished", text
        return cleaned, "answer_only" if is_bare_answer(body, self._marks) else None, text


def _unreadable(lines: Sequence[Line]) -> bool:
    """Whether something stands in the lines that is no text, so that they are not empty."""
    return holds(lines, PICTURE) or holds(lines, BAD_LATEX)


def _shows(lines: Sequence[Line], notice: re.Pattern[str]) -> bool:
    """Whether a sentence of the wiki's own stands in the lines."""
    return any(notice.search(without_links(line.text)) for line in lines)
