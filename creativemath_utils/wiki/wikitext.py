"""Raw wikitext of a page as sections of lines. Rules R5, R7 to R12.

Comments go first; the page is cut at its heading lines; then, section by section, formulas are set apart; and only the
rest, where a brace is a brace of the wiki, goes to mwparserfromhell.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import mwparserfromhell
from mwparserfromhell import nodes
from mwparserfromhell.wikicode import Wikicode

from creativemath_utils.wiki.html import LOGO, NAVIGATION
from creativemath_utils.wiki.text import (
    BAD_LATEX,
    BREAK,
    PARAGRAPH,
    PICTURE,
    UNKNOWN_TEMPLATE,
    Line,
    LineBuilder,
    Marks,
    Page,
    Section,
    decoded_once,
    running_text,
)
from creativemath_utils.wiki.titles import parse_title, plain_title

_COMMENT_LINE = re.compile(r"^[ \t]*(?:<!--(?:(?!-->).)*-->[ \t]*)+\n", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_REDIRECT = re.compile(r"[\s\ufeff]*#\s*REDIRECT\s*:?\s*\[\[\s*:?([^\]|]+)", re.IGNORECASE)
_CATEGORY = re.compile(r"\[\[\s*Category\s*:\s*([^\]|]+?)\s*(?:\|[^\]]*)?\]\]", re.IGNORECASE)
_SWITCH = re.compile(r"__[A-Z]{3,}__")  # __TOC__, __NOTOC__
_TRANSCLUSION = re.compile(
    r"<includeonly>.*?</includeonly>|</?(?:noinclude|onlyinclude)\s*/?>", re.DOTALL | re.IGNORECASE
)
_HEADING = re.compile(r"^(={1,6})(?!=*[ \t]*$)(.+?)(={1,6})[ \t]*$", re.MULTILINE)
_HTML_HEADING = re.compile(r"<h([1-6])\b[^>]*>(.*?)</h\1\s*>", re.DOTALL | re.IGNORECASE)

_LITERAL = re.compile(r"<nowiki\s*>(.*?)</nowiki\s*>|<nowiki\s*/>", re.DOTALL | re.IGNORECASE)
_DRAWING = re.compile(r"<asy\b[^>]*>.*?(?:</asy\s*>|\Z)|\[asy\].*?(?:\[/asy\]|\Z)", re.DOTALL | re.IGNORECASE)
_MATH = re.compile(
    r"<(i?math|cmath)\b(?:[^>/]|/(?!>))*>((?:(?!</?(?:i?math|cmath)\b).)*)</\1\s*>", re.DOTALL | re.IGNORECASE
)
_MATH_TAG = re.compile(r"</?(?:i?math|cmath)\b[^>]*>", re.IGNORECASE)
_OWN_DELIMITERS = re.compile(r"\\begin\s*\{(?:align|equation|gather|multline|eqnarray)(?:ed|at)?\*?\}")

_HELD = re.compile("([\ue000-\uf7ff])")
_NEWLINES = re.compile(r"(\n[ \t]*(?:\n\s*)?)")
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

_BLOCKS = {"p", "div", "center", "blockquote", "section", "hr", "dl", "caption", "pre", "poem"}
_INLINE = {"b", "i", "u", "s", "em", "strong", "strike", "del", "ins", "big", "small", "tt", "code", "span", "font"}
_INLINE |= {"kbd", "var", "cite", "q", "abbr", "noinclude", "onlyinclude", "nobr", "mark", "dfn", "samp"}
_DRAWINGS = {"gallery", "svg", "canvas", "embed", "object", "img"}
_NO_TEXT = {"ref", "references", "includeonly", "script", "style", "wbr", "math", "imath", "cmath"}


def read_wikitext(text: str) -> Page:
    """The page in wikitext."""
    page = Page(source_breaks=True)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _COMMENT.sub("", _COMMENT_LINE.sub("", text))
    page.categories = list(dict.fromkeys(plain_title(name) for name in _CATEGORY.findall(text)))
    redirect = _REDIRECT.match(text)
    if redirect:
        target = plain_title(redirect[1])
        known = parse_title(target)
        page.redirect_target = known.text if known else target
        return page
    text = _SWITCH.sub("", _CATEGORY.sub("", _TRANSCLUSION.sub("", text)))
    text = _HTML_HEADING.sub(lambda h: f"\n{'=' * int(h[1])} {' '.join(h[2].split())} {'=' * int(h[1])}\n", text)
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
        self._held: list[str] = []  # formulas and drawings of the section, while mwparserfromhell reads the rest

    def lines_of(self, text: str) -> list[Line]:
        """The lines of wikitext without headings."""
        text = _LITERAL.sub(lambda found: "".join(f"&#{ord(c)};" for c in found[1] or ""), text)
        text = _DRAWING.sub(PICTURE, re.sub("[\ue000-\uf8ff\U000f0000-\U0010ffff]", "", text))
        text = _MATH_TAG.sub(BAD_LATEX, _MATH.sub(self._hold, text))  # a tag left over lacks its other end
        text = re.sub(r"^ +", "", text, flags=re.MULTILINE)
        self._code(mwparserfromhell.parse(text))
        self._lines.end(PARAGRAPH)
        return self._lines.lines

    def _hold(self, math: re.Match[str]) -> str:
        body = decoded_once(math[2])
        if not body.strip():
            return ""
        if _OWN_DELIMITERS.match(body.strip()):
            source = body.strip()
        elif math[1].lower() == "cmath":
            source = rf"\[{body}\]"
        else:
            source = f"${body}$"
        self._held.append(self._marks.formula(source))
        return chr(0xE800 + len(self._held) - 1) if len(self._held) <= 0x1000 else self._too_many()

    @staticmethod
    def _too_many() -> str:
        raise ValueError("more than 4096 formulas in one section")

    def _shown(self, text: str) -> str:
        """Running text, with formulas and drawings put back."""
        parts = _HELD.split(text)
        parts[::2] = [running_text(part, self._marks) if part else "" for part in parts[::2]]
        parts[1::2] = [self._held[ord(part) - 0xE800] if part >= "\ue800" else part for part in parts[1::2]]
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
        for at, part in enumerate(_NEWLINES.split(str(node))):
            if at % 2 == 0:
                self._lines.add(self._shown(part))
                if part.strip() and not self._in_item:
                    self._last_bullets, self._counts = "", []
            elif self._in_cell:
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

    def _list(self, node: nodes.Tag, count: int | None) -> None:
        self._lines.end(BREAK if self._lists else PARAGRAPH)
        self._lists.append(count)
        self._code(node.contents)
        self._lists.pop()
        self._lines.end(BREAK if self._lists else PARAGRAPH)

    def _list_item(self, node: nodes.Tag) -> None:
        """An item of a list that is written in HTML."""
        self._lines.end(BREAK)
        bullet = "-"
        if self._lists and self._lists[-1] is not None:
            self._lists[-1] += 1
            bullet = f"{self._lists[-1]}."
        self._lines.item(f"{'  ' * max(len(self._lists) - 1, 0)}{bullet} ")
        self._code(node.contents)
        self._lines.end(BREAK)
        self._lines.item("")

    def _tag(self, node: nodes.Tag) -> None:
        name = str(node.tag).strip().lower()
        if _is_bullet(node):
            self._bullet(str(node.wiki_markup))
        elif name == "br":
            self._lines.end(BREAK)
        elif name == "table":
            self._table(node)
        elif name in ("sup", "sub"):
            inner = self._inline(node.contents)
            self._lines.add(f"{'^' if name == 'sup' else '_'}{{{inner}}}" if inner else "")
        elif name in _DRAWINGS or (name == "pre" and node.has("class") and "asy" in str(node.get("class"))):
            self._lines.add(PICTURE)
        elif name in _BLOCKS:
            self._lines.end(PARAGRAPH)
            self._code(node.contents)
            self._lines.end(PARAGRAPH)
        elif name in ("ul", "ol"):
            self._list(node, None if name == "ul" else 0)
        elif name == "li":
            self._list_item(node)
        elif name in ("dd", "dt"):
            self._lines.end(BREAK)
            self._code(node.contents)
            self._lines.end(BREAK)
        elif name in _INLINE:
            self._code(node.contents)
        elif name not in _NO_TEXT:  # no tag of the wiki, so it shows as it is written
            self._lines.add(self._shown(f"<{node.tag}>"))
            self._code(node.contents)
            self._lines.add("" if node.self_closing else f"</{name}>")

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
        address = str(node.url).strip()
        self._lines.add(self._marks.link(address, self._inline(node.title) or self._shown(address)))

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
        if NAVIGATION.search(re.sub(r"&nbsp;|\s+", " ", str(node.contents))):
            return
        self._lines.end(PARAGRAPH)
        rows: list[list[str]] = [[]]
        for tag in node.contents.filter_tags(recursive=False):
            name = str(tag.tag).strip().lower()
            if name in ("tr", "tbody", "thead"):
                inner = tag.contents.filter_tags(recursive=False)
                for row in [tag] if name == "tr" else inner:
                    cells = row.contents.filter_tags(recursive=False, matches=_is_cell)
                    rows.append([self._inline(cell.contents) for cell in cells])
            elif _is_cell(tag):  # before the first row mark
                rows[0].append(self._inline(tag.contents))
        for row in rows:
            self._lines.add(" | ".join(row))
            self._lines.end(BREAK, "row")
        self._lines.end(PARAGRAPH)

    def _inline(self, code: Wikicode | None) -> str:
        """Wikitext as one line."""
        inner = _Walk(self._marks)
        inner._held, inner._in_cell = self._held, True
        inner._code(code)
        inner._lines.end(BREAK)
        return " ".join(line.prefix + line.text for line in inner._lines.lines)

    def _entity(self, node: nodes.HTMLEntity) -> None:
        self._lines.add(running_text(node.normalize(), self._marks))

    def _heading(self, node: nodes.Heading) -> None:  # within a table or a template; the page is cut already
        self._code(node.title)

    def _argument(self, node: nodes.Argument) -> None:
        self._lines.add(self._shown(str(node)))

    _handlers: tuple[tuple[type, Callable], ...] = (
        (nodes.Text, _text),
        (nodes.Tag, _tag),
        (nodes.Wikilink, _wikilink),
        (nodes.ExternalLink, _external_link),
        (nodes.Template, _template),
        (nodes.HTMLEntity, _entity),
        (nodes.Heading, _heading),
        (nodes.Argument, _argument),
    )


def _is_bullet(node: nodes.Node) -> bool:
    """One character of a list's markup at the start of a line."""
    return isinstance(node, nodes.Tag) and bool(node.wiki_markup) and str(node.tag) in ("li", "dd", "dt")


def _is_cell(tag: nodes.Node) -> bool:
    return isinstance(tag, nodes.Tag) and str(tag.tag).strip().lower() in ("td", "th")
