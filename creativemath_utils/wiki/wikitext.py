"""Raw wikitext of a page as sections of lines. Rules R5, R7 to R12.

Comments go first; the page is cut at its heading lines; then, section by section, formulas and drawings are set apart
and tags become events (`markup`); and only the rest, where a brace is a brace of the wiki, goes to mwparserfromhell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import mwparserfromhell
from mwparserfromhell import nodes
from mwparserfromhell.wikicode import Wikicode

from creativemath_utils.wiki import markup
from creativemath_utils.wiki.html import LOGO, NAVIGATION
from creativemath_utils.wiki.text import (
    BREAK,
    PARAGRAPH,
    PICTURE,
    UNKNOWN_TEMPLATE,
    Line,
    LineBuilder,
    Marks,
    Page,
    Section,
    running_text,
    without_private,
)
from creativemath_utils.wiki.titles import parse_title, plain_title, title_of_address

_REDIRECT = re.compile(r"[\s\ufeff]*#\s*REDIRECT\b\s*:?\s*(?:\[\[\s*:?([^\]|]+))?", re.IGNORECASE)
_HEADING = re.compile(r"^(={1,6})(?!=*[ \t]*$)(.+?)(={1,6})[ \t]*$", re.MULTILINE)
_HTML_HEADING = re.compile(r"<h([1-6])\b[^<>]*>(.{0,500}?)</h\1\s*>", re.DOTALL | re.IGNORECASE)

_CUTS = re.compile(rf"(\n[ \t]*(?:\n\s*)?|{markup.EVENTS})")
_BOX = re.compile(r".*\b(?:new)?box", re.IGNORECASE)
_SILENT = re.compile(r"displaytitle:.*|defaultsort:.*|clear|-|reflist|toc|notoc|maa[ _]notice.*", re.IGNORECASE)
# What the wiki shows for a template, in the words by which the rules know it on a rendered page.
_SHOWN = {
    "solution": "This problem needs a solution.",
    "image": "An image is supposed to go here.",
    "incomplete": "This page is incomplete.",
    "stub": "This page is a stub.",
    "alternate solutions": "Alternate solutions are always welcome.",
    "!": "|",
    "=": "=",
}


def read_wikitext(text: str) -> Page:
    """The page in wikitext."""
    page = Page(source_breaks=True)
    text = markup.without_comments(text.replace("\r\n", "\n").replace("\r", "\n"))
    page.categories = list(dict.fromkeys(map(plain_title, markup.categories_of(text))))
    redirect = _REDIRECT.match(text)
    if redirect:
        target = plain_title(redirect[1] or "")
        known = parse_title(target)
        page.redirect_target = known.text if known else target
        return page
    text = _HTML_HEADING.sub(
        lambda h: f"\n{'=' * int(h[1])} {' '.join(h[2].split())} {'=' * int(h[1])}\n", markup.body_of(text)
    )
    level, heading, at = 0, "", 0
    for found in _HEADING.finditer(text):
        page.sections.append(_section(level, heading, text[at : found.start()], page.marks))
        level = min(len(found[1]), len(found[3]))
        heading, at = found[1][level:] + found[2] + found[3][level:], found.end()
    page.sections.append(_section(level, heading, text[at:], page.marks))
    return page


def _section(level: int, heading: str, text: str, marks: Marks) -> Section:
    title = " ".join(line.text for line in _Walk(marks).lines_of(heading.strip()))
    return Section(level, title, _Walk(marks).lines_of(text))


class _Walk:
    """One walk over the nodes of a section's wikitext."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._lines = LineBuilder()
        self._bullets = ""  # list characters of the item at hand, as in "#*"
        self._last_bullets = ""  # and of the item before, whose counts go on
        self._counts: list[int] = []
        self._in_item = self._waiting = False
        self._lists: list[int | None] = []  # open lists in HTML: their counts, None for one with bullets
        self._in_cell = False
        self._formulas = markup.Formulas(marks)

    def lines_of(self, text: str) -> list[Line]:
        """The lines of wikitext without headings."""
        text = self._formulas.held(markup.with_drawings_marked(without_private(text)))
        text = re.sub(r"^ +", "", text, flags=re.MULTILINE)
        text = re.sub(r"^=", "&#61;", text, flags=re.MULTILINE)  # the page is cut: no heading is left
        self._code(mwparserfromhell.parse(markup.well_formed(text)))
        self._lines.end(PARAGRAPH)
        return self._lines.lines

    def _shown(self, text: str) -> str:
        """Running text, with formulas and drawings put back."""
        parts = markup.MARKS.split(text)
        parts[::2] = [running_text(part, self._marks) if part else "" for part in parts[::2]]
        parts[1::2] = map(self._formulas.shown, parts[1::2])
        return "".join(parts)

    def _code(self, code: Wikicode | None) -> None:
        for node in code.nodes if code is not None else ():
            if self._waiting and not _is_bullet(node):
                self._begin_item()
            for kind, handler in self._handlers:
                if isinstance(node, kind):
                    handler(self, node)
                    break

    def _text(self, node: nodes.Text) -> None:
        for at, part in enumerate(_CUTS.split(str(node))):
            if at % 2 == 0:
                self._lines.add(self._shown(part))
                if part.strip() and not self._in_item:
                    self._last_bullets, self._counts = "", []
            elif part[0] != "\n":
                self._event(part)
            elif self._in_cell and not self._in_item:
                self._lines.add(" ")
            elif part.count("\n") > 1:
                self._end_item(PARAGRAPH)
                self._last_bullets, self._counts = "", []
            elif self._in_item:
                self._end_item(BREAK)
            else:
                self._lines.add("\n")

    def _end_item(self, gap: str) -> None:
        if self._in_item:
            self._bullets, self._in_item = "", False
        self._lines.end(gap)
        self._lines.item("")

    def _bullet(self, mark: str) -> None:
        """One list character; those of an item come one by one, and its text after them."""
        if not self._in_item or (mark in ";:" and not self._waiting):  # the second: `; term : definition`
            self._lines.end(BREAK)
            self._bullets, self._in_item = "", True
        self._bullets += mark
        self._waiting = True

    def _begin_item(self) -> None:
        """The list characters are complete: count the item among those before it."""
        self._waiting = False
        kept = 0
        while self._bullets[kept : kept + 1] == self._last_bullets[kept : kept + 1] != "":
            kept += 1
        self._counts = self._counts[:kept] + [0] * (len(self._bullets) - kept)
        self._last_bullets = self._bullets
        depth = sum(mark in "*#" for mark in self._bullets)
        if self._bullets[-1] in "*#":
            self._counts[-1] += 1
            bullet = "-" if self._bullets[-1] == "*" else f"{self._counts[-1]}."
            self._lines.item(f"{'  ' * (depth - 1)}{bullet} ")

    def _event(self, event: str) -> None:
        """What a tag does to the lines."""
        if event in (markup.EDGE, markup.LINE_END):
            self._lines.end(PARAGRAPH if event == markup.EDGE else BREAK)
        elif event in (markup.BULLETS, markup.NUMBERS):
            self._lines.end(BREAK if self._lists else PARAGRAPH)
            self._lists.append(None if event == markup.BULLETS else 0)
        elif event == markup.LIST_END:
            self._lists = self._lists[:-1]
            self._lines.end(BREAK if self._lists else PARAGRAPH)
            self._lines.item("")
        elif event in (markup.ITEM, markup.ITEM_END):
            self._lines.end(BREAK)
            bullet = "-"
            if event == markup.ITEM and self._lists and self._lists[-1] is not None:
                self._lists[-1] += 1
                bullet = f"{self._lists[-1]}."
            self._lines.item(f"{'  ' * max(len(self._lists) - 1, 0)}{bullet} " if event == markup.ITEM else "")

    def _tag(self, node: nodes.Tag) -> None:
        if _is_bullet(node):
            self._bullet(str(node.wiki_markup))
        elif _name(node) == "table":
            self._table(node)
        else:
            if _name(node) == "hr":
                self._lines.end(PARAGRAPH)
            self._code(node.contents)

    def _wikilink(self, node: nodes.Wikilink) -> None:
        title = str(node.title).strip()
        name = title.partition(":")[0].strip().lower()
        if name in ("file", "image"):
            self._lines.add("" if LOGO.search(title) else PICTURE)
            return
        label = self._inline(node.text) if node.text is not None else self._shown(title.lstrip(":"))
        if node.text is not None and not label:  # [[Page (detail)|]]
            label = re.sub(r"^[^:]*:|\s*\([^()]*\)$", "", title)
        self._lines.add(self._marks.link(title.lstrip(":"), label))

    def _external_link(self, node: nodes.ExternalLink) -> None:
        address = markup.MARKS.sub("", str(node.url)).strip()
        target = title_of_address(address) or address
        self._lines.add(self._marks.link(target, self._inline(node.title) or self._shown(address)))

    def _template(self, node: nodes.Template) -> None:
        name = " ".join(str(node.name).replace("_", " ").split()).lower()
        if _BOX.fullmatch(name) or _SILENT.fullmatch(name):
            return
        if name == "duplicate":
            named = " and ".join(filter(None, (self._inline(p.value) for p in node.params)))
            self._lines.end(PARAGRAPH)
            self._lines.add(f"The following problem is from both the {named}, so both problems redirect to this page.")
            self._lines.end(PARAGRAPH)
        elif name in ("!", "="):
            self._lines.add(_SHOWN[name])
        elif name in _SHOWN:
            self._lines.end(PARAGRAPH)
            self._lines.add(_SHOWN[name])
            self._lines.end(PARAGRAPH)
        else:
            self._lines.add(UNKNOWN_TEMPLATE)

    def _table(self, node: nodes.Tag) -> None:
        if NAVIGATION.search(re.sub(rf"&nbsp;|&#160;|\s+|{markup.EVENTS}", " ", str(node.contents))):
            return
        self._lines.end(PARAGRAPH)
        for row in self._rows(node.contents):
            self._lines.add(" | ".join(row))
            self._lines.end(BREAK, "row")
        self._lines.end(PARAGRAPH)

    def _rows(self, code: Wikicode) -> Iterator[list[str]]:
        """The rows of a table or of a part of one, each as its cells; a caption is a row of its own."""
        row: list[str] = []
        for tag in code.filter_tags(recursive=False):
            caption = _name(tag) == "caption" or (not row and tag.wiki_markup and str(tag.contents).startswith("+"))
            if _name(tag) in ("td", "th") and not caption:
                row.append(self._inline(tag.contents))
                continue
            if row:  # before the first row mark
                yield row
                row = []
            if caption:
                yield [self._inline(tag.contents).removeprefix("+").strip()]
            elif _name(tag) in ("tr", "tbody", "thead", "tfoot"):
                yield from self._rows(tag.contents)
        if row:
            yield row

    def _inline(self, code: Wikicode | None) -> str:
        """Wikitext as one line."""
        inner = _Walk(self._marks)
        inner._formulas, inner._in_cell = self._formulas, True
        inner._code(code)
        inner._lines.end(BREAK)
        return " ".join(line.prefix + line.text for line in inner._lines.lines)

    def _entity(self, node: nodes.HTMLEntity) -> None:
        self._lines.add(running_text(node.normalize(), self._marks))

    def _argument(self, node: nodes.Argument) -> None:
        self._lines.add(self._shown(str(node)))

    _handlers: tuple[tuple[type, Callable], ...] = (
        (nodes.Text, _text),
        (nodes.Tag, _tag),
        (nodes.Wikilink, _wikilink),
        (nodes.ExternalLink, _external_link),
        (nodes.Template, _template),
        (nodes.HTMLEntity, _entity),
        (nodes.Argument, _argument),
    )


def _is_bullet(node: nodes.Node) -> bool:
    """One character of a list's markup at the start of a line."""
    return isinstance(node, nodes.Tag) and bool(node.wiki_markup) and str(node.tag) in ("li", "dd", "dt")


def _name(tag: nodes.Tag) -> str:
    return str(tag.tag).strip().lower()
