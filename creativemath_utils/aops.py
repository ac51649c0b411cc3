r"""A saved page of the AoPS wiki, rendered or raw, as a problem with its human solutions, or the reason why it is none.

    >>> page = b"== Problem ==\nFind <math>1+1</math>.\n== Solution ==\nCount: <math>1+1=2</math>. ~ab_cd"
    >>> parse_page(page, "2041_AIME_I_Problems_Problem_1.wikitext").solutions
    ('Count: $1+1=2$.',)
    >>> parse_page(b"", "x.html").reason
    'unreadable'

Reading is in `wiki.html` and `wiki.wikitext`, rules in `wiki.sections`, `wiki.credits` and `wiki.rules`.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from creativemath_utils.records import Problem
from creativemath_utils.wiki.html import read_html
from creativemath_utils.wiki.rules import REASONS as REASONS
from creativemath_utils.wiki.rules import Decision, decide
from creativemath_utils.wiki.text import Page
from creativemath_utils.wiki.titles import Title, category_of, parse_title, plain_title, title_of_file
from creativemath_utils.wiki.wikitext import read_wikitext

Unusable = Literal["drop_sample", "drop_solution"]

# Possessive: to try other ends for each of many comments would take time that doubles with every one.
_HTML_PAGE = re.compile(r"(?>\s|\ufeff|<!--.*?-->|<\?xml[^>]*>)*+<(?:!DOCTYPE|html)\b", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Dropped:
    """A page that gives no problem: one of REASONS, and what is known of it. A title of no problem has no contest."""

    file: str
    reason: str
    detail: str = ""
    title: str | None = None
    competition: str | None = None
    competition_id: str | None = None
    contest: str | None = None
    year: int | None = None
    number: int | None = None
    problem_id: str | None = None
    removed_solutions: tuple[Mapping[str, Any], ...] = ()
    redirect_target: str | None = None
    revision: int | None = None


@dataclass(frozen=True)
class Reading:
    """What came of a page, with (where, rule, text) for every line and section taken out of it."""

    outcome: Problem | Dropped
    removed: tuple[tuple[str, str, str], ...] = field(default=())


def parse_page(content: bytes, file_name: str, on_unusable_solution: Unusable = "drop_sample") -> Problem | Dropped:
    """The problem in a saved page, or the one reason why there is none. Raises nothing: a fault is `parse_error`.

    `content` is the file as saved: HTML, wikitext, or the JSON of the wiki's programming interface. `file_name` names
    the page where it does not name itself. `on_unusable_solution`: what a real solution that cannot be represented as
    text (a drawing, broken LaTeX) takes with it. Paper, Section 3; the rules are stricter than the published file.
    """
    return read_page(content, file_name, on_unusable_solution).outcome


def read_page(content: bytes, file_name: str, on_unusable_solution: Unusable = "drop_sample") -> Reading:
    """Like parse_page, with what was removed."""
    try:
        return _read(content, file_name, on_unusable_solution)
    except Exception as error:  # the rule for one page among thousands: it is reported by name, and the run goes on
        return Reading(Dropped(file_name, "parse_error", f"{type(error).__name__}: {error}"))


def _read(content: bytes, file_name: str, on_unusable_solution: Unusable) -> Reading:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return Reading(Dropped(file_name, "unreadable", f"not UTF-8 at byte {error.start}"))
    if not text.strip("\ufeff \t\r\n\f\v\0") or "\0" in text:
        return Reading(Dropped(file_name, "unreadable", "the file is empty" if not content.strip() else "no text"))
    page, may_use_file_name = _page_of(text)
    names = page.titles or ([title_of_file(str(file_name))] if may_use_file_name else [])
    title = next(filter(None, map(parse_title, names)), None)
    shown = title.text if title else next(iter(names), None)
    decision = _page_decision(page, title, shown) or decide(page, title, on_unusable_solution == "drop_solution")
    if decision.reason is not None:
        return Reading(_dropped(file_name, page, title, shown, decision), tuple(decision.removed))
    problem = Problem(
        problem_id=title.problem_id,
        competition=title.competition,
        competition_id=title.competition_id,
        year=title.year,
        number=title.number,
        difficulty=title.difficulty,
        category=category_of(page.categories),
        statement=decision.problem,
        solutions=tuple(decision.solutions),
        source=_source(content, file_name, page, title),
        solution_headings=tuple(decision.solution_headings),
        removed_solutions=tuple(decision.removed_solutions),
        warnings=tuple(decision.warnings),
        shared_with=tuple(decision.shared_with),
    )
    return Reading(problem, tuple(decision.removed))


def _page_decision(page: Page, title: Title | None, shown: str | None) -> Decision | None:
    """The reason that a page as a whole gives, or None. Rules R3 to R6."""
    if page.fault is not None:
        return Decision(page.fault, page.detail)
    if page.redirect_target is not None:
        return Decision("redirect", f"to {page.redirect_target or 'no page'}")
    if title is None:
        return Decision("not_problem_page", f"{shown!r} is not the title of a single problem")
    return None


def _dropped(file_name: str, page: Page, title: Title | None, shown: str | None, decision: Decision) -> Dropped:
    return Dropped(
        file=file_name,
        reason=decision.reason,
        detail=decision.detail,
        title=shown,
        competition=title.competition if title else None,
        competition_id=title.competition_id if title else None,
        contest=title.contest if title else None,
        year=title.year if title else None,
        number=title.number if title else None,
        problem_id=title.problem_id if title else None,
        removed_solutions=tuple(decision.removed_solutions),
        redirect_target=(page.redirect_target or None) if decision.reason == "redirect" else None,
        revision=page.revision,
    )


def _source(content: bytes, file_name: str, page: Page, title: Title) -> dict[str, Any]:
    category = category_of(page.categories)
    return {
        "kind": "pages",
        "file": file_name,
        "sha256": hashlib.sha256(content).hexdigest(),
        "revision": page.revision,
        "title": title.text,
        "contest": title.contest,
        "wiki_categories": page.categories,
        "category_source": None if category is None else "wiki",
    }


# --- which kind of file -----------------------------------------------------------------------------------------------


def _page_of(text: str) -> tuple[Page, bool]:
    """The page in a text, and whether its file's name may say which one it is. Rules R2, R6."""
    if re.match(r"\s*[{\[]\s*[\"{]", text):
        try:
            answer = json.loads(text)
        except ValueError as error:
            if re.match(r'\s*\{\s*"', text):  # wikitext does not begin so
                return Page(fault="truncated_page", detail=f"JSON that does not end: {error}"), True
        else:
            return _from_api(answer)
    if _HTML_PAGE.match(text):
        return read_html(text, whole_page=True), False
    page = read_html(text, whole_page=False) if "mw-parser-output" in text else read_wikitext(text)
    return page, not page.titles


def _from_api(answer: Any) -> tuple[Page, bool]:
    """The page in an answer of the wiki's `api.php`: of action parse (HTML or wikitext) or query (wikitext)."""
    body = answer if isinstance(answer, dict) else {}
    error = body.get("error")
    if isinstance(error, dict) and error.get("code") in ("missingtitle", "nosuchpageid", "nosuchrevid"):
        return Page(fault="missing_page", detail=str(error.get("info", ""))), True
    parsed, query = body.get("parse"), body.get("query")
    if isinstance(parsed, dict):
        html, wikitext = _content(parsed.get("text")), _content(parsed.get("wikitext"))
        if html or wikitext:
            page = read_html(html, whole_page=False) if html else read_wikitext(wikitext)
            return _named(page, parsed, parsed.get("redirects")), not parsed.get("title")
    if isinstance(query, dict) and query.get("pages"):
        pages = list(query["pages"].values() if isinstance(query["pages"], dict) else query["pages"])
        if len(pages) > 1:
            return Page(fault="not_problem_page", detail=f"an answer with {len(pages)} pages; save one a file"), True
        about = pages[0]
        if about.get("missing", False) is not False:
            return _named(Page(fault="missing_page", detail="the wiki has no such title"), about, None), False
        revision = next(iter(about.get("revisions", [])), {})
        slot = revision.get("slots", {}).get("main", revision)
        page = read_wikitext(_content(slot) or "")
        return _named(page, about | {"revid": revision.get("revid")}, query.get("redirects")), not about.get("title")
    return Page(fault="not_wiki_page", detail="JSON that is no page of the wiki's interface"), False


def _content(value: Any) -> str | None:
    """A text that the interface gives as itself, under "*", or under "content"."""
    if isinstance(value, dict):
        value = value.get("*", value.get("content"))
    return value if isinstance(value, str) else None


def _named(page: Page, about: Mapping[str, Any], redirects: Any) -> Page:
    """The page with what the interface says about it."""
    if about.get("title"):
        page.titles.insert(0, plain_title(str(about["title"])))
    page.revision = about.get("revid") or page.revision
    page.reached_from += [str(redirect["from"]) for redirect in redirects or () if redirect.get("from")]
    for category in about.get("categories") or ():
        name = category.get("*") or category.get("category") or category.get("title") or ""
        name = plain_title(str(name)).removeprefix("Category:")
        if name and name not in page.categories:
            page.categories.append(name)
    return page
