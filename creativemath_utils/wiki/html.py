"""A rendered wiki page, whole or as a fragment of the programming interface, as sections of lines. Rules R3 to R10.

The tree comes from lxml; a walk over it writes the lines. Inline markup leaves its words, block markup ends a line.
"""

from __future__ import annotations

import json
import re
from typing import Any

from lxml import etree

from creativemath_utils.wiki.text import (
    BAD_LATEX,
    BREAK,
    PARAGRAPH,
    PICTURE,
    UNKNOWN_TEMPLATE,
    LineBuilder,
    Marks,
    Page,
    Section,
    running_text,
)
from creativemath_utils.wiki.titles import parse_title, plain_title, title_of_address

NAVIGATION = re.compile(r"Preceded\s+by|Followed\s+by|\bAll\s.{1,80}?Problems\s+and\s+Solutions", re.DOTALL)
LOGO = re.compile(r"AMC[ _]?logo", re.IGNORECASE)

_MISSING = re.compile(r"There is currently no text in this page")
_WHOLE_FORMULA = re.compile(r"\$.+\$|\\\[.+\\\]|\\\(.+\\\)|\\begin\b.+\\end\b.+", re.DOTALL)

_NO_TEXT = {"script", "style", "noscript", "template", "head", "link", "meta", "title"}
_NO_TEXT_CLASSES = {"mw-editsection", "printfooter", "catlinks", "mw-empty-elt", "toc"}  # R7
_NO_TEXT_CLASSES |= {"reference", "references", "mw-references-wrap", "reflist", "mw-cite-backlink"}  # T7
_DRAWINGS = {"svg", "canvas", "embed", "object", "picture", "asy"}
_PLAYERS = {"iframe", "video", "audio"}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = {"p", "div", "center", "blockquote", "section", "article", "main", "aside", "header", "footer", "nav", "hr"}
_BLOCKS |= {"figure", "figcaption", "address", "details", "summary", "form", "fieldset", "pre", "caption", "body"}


def read_html(text: str, whole_page: bool) -> Page:
    """The page in HTML text. `whole_page`: with its frame, so that it must end in `</html>` and names itself."""
    page = Page()
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    document = etree.fromstring(text.encode("utf-8", "replace"), parser)
    if document is None:  # nothing but comments
        page.fault, page.detail = "not_wiki_page", "no element in the page"
        return page
    _read_frame(document, text, page)
    root = next(
        iter(document.xpath("//div[contains(concat(' ', normalize-space(@class), ' '), ' mw-parser-output ')]")), None
    )
    content = root if root is not None else next(iter(document.xpath("//*[@id='mw-content-text']")), document)
    if whole_page and not re.search(r"</html\s*>$", _without_end_comments(text)[-200:], re.IGNORECASE):
        page.fault, page.detail = "truncated_page", "does not end in </html>"
    elif _MISSING.search(re.sub(r"\s+", " ", "".join(content.itertext()))):
        page.fault, page.detail = "missing_page", "the wiki has no text under this title"
    elif root is None and page.redirect_target is None:
        page.fault, page.detail = "not_wiki_page", "no div.mw-parser-output"
    if root is not None and page.fault is None and page.redirect_target is None:
        page.sections = _Walk(page.marks).sections_of(root)
    return page


def _without_end_comments(text: str) -> str:
    text = text.rstrip("\ufeff \t\r\n\f\0")
    while text.endswith("-->") and "<!--" in text:
        text = text[: text.rindex("<!--")].rstrip()
    return text


def _read_frame(document: etree._Element, text: str, page: Page) -> None:
    """What stands around the text: titles, redirects, categories, revision."""
    heading = document.xpath("//*[@id='firstHeading']")
    named = _variable(text, "wgPageName", r'"(?:[^"\\]|\\.)*"')
    footer = document.xpath("//*[contains(concat(' ', normalize-space(@class), ' '), ' printfooter ')]//a/@href")
    canonical = document.xpath("//link[@rel='canonical']/@href")
    page.titles = [
        *(" ".join("".join(element.itertext()).split()) for element in heading[:1]),
        *([named] if named else []),
        *map(title_of_address, canonical + footer),
    ]
    page.titles = [plain_title(title) for title in page.titles if title]
    redirect = document.xpath(
        "//*[contains(concat(' ', normalize-space(@class), ' '), ' redirectMsg ') or "
        "contains(concat(' ', normalize-space(@class), ' '), ' redirectText ')]"
    )
    if redirect:
        links = [_target(link) for element in redirect for link in element.xpath(".//a")]
        target = plain_title(next(filter(None, links), ""))
        known = parse_title(target)
        page.redirect_target = known.text if known else target
    page.reached_from = [_target(link) for link in document.xpath("//*[contains(@class, 'mw-redirectedfrom')]//a")]
    page.categories = _categories(document, text)
    revision = re.search(r'"wgRevisionId"\s*:\s*(\d+)', text)
    revisions = [revision[1]] if revision else re.findall(r"[?&]oldid=(\d+)", " ".join(footer))
    page.revision = int(revisions[0]) if revisions and int(revisions[0]) else None


def _categories(document: etree._Element, text: str) -> list[str]:
    links = document.xpath("//*[@id='catlinks' or contains(concat(' ', @class, ' '), ' catlinks ')]//a")
    names = [title_of_address(link.get("href", "")) or link.get("title", "") for link in links]
    if not any(name.startswith("Category:") for name in names):
        listed = _variable(text, "wgCategories", r'\[(?:[^\]"\\]|"(?:[^"\\]|\\.)*")*\]')
        names = [f"Category:{name}" for name in listed or []]
    return list(dict.fromkeys(plain_title(name[9:]) for name in names if name.startswith("Category:")))


def _variable(text: str, name: str, value: str) -> Any:
    """What a script of the page says about it, or None."""
    found = re.search(rf'"{name}"\s*:\s*({value})', text)
    try:
        return json.loads(found[1]) if found else None
    except ValueError:  # an escape of another language
        return None


def _target(link: etree._Element) -> str:
    """Where a link leads: a page title with its anchor, or an address; "" for a page's link to itself."""
    address = link.get("href", "")
    return title_of_address(address) or address or link.get("title", "")


class _Walk:
    """One walk over the tree of a page's text."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._lines = LineBuilder()
        self._sections: list[tuple[int, str, LineBuilder]] = [(0, "", self._lines)]
        self._lists: list[int | None] = []  # for each open list its count, None for one with bullets
        self._verbatim = False

    def sections_of(self, root: etree._Element) -> list[Section]:
        """The sections below the element, in page order."""
        self._children(root)
        for _, _, lines in self._sections:
            lines.end(PARAGRAPH)
        return [Section(level, heading, lines.lines) for level, heading, lines in self._sections]

    def _children(self, element: etree._Element) -> None:
        self._text(element.text)
        for child in element:
            self._element(child)
            self._text(child.tail)

    def _text(self, text: str | None) -> None:
        if not text:
            return
        if not self._verbatim:
            self._lines.add(running_text(text, self._marks))
            return
        first, *others = text.split("\n")
        self._lines.add(running_text(first, self._marks))
        for part in others:
            self._lines.end(BREAK)
            self._lines.add(running_text(part, self._marks))

    def _element(self, element: etree._Element) -> None:
        tag = element.tag
        if not isinstance(tag, str) or tag in _NO_TEXT:
            return
        classes = set(element.get("class", "").split())
        if classes & _NO_TEXT_CLASSES or element.get("id") in ("toc", "catlinks"):
            return
        if tag == "img":
            self._lines.add(self._image(element, classes))
        elif tag == "br":
            self._lines.end(BREAK)
        elif tag in _HEADINGS:
            self._heading(element, _HEADINGS[tag])
        elif tag in _DRAWINGS or "asy" in classes:
            self._lines.add(PICTURE)
        elif tag in _PLAYERS:
            address = re.sub(r"^(?!https?:)/*", "https://", element.get("src") or "video")
            self._lines.end(BREAK)  # a line that C8 takes, as it takes any address
            self._lines.add(self._marks.link(address, address))
            self._lines.end(BREAK)
        elif tag == "a":
            label = self._inline(element)
            if "wpDestFile=" in element.get("href", ""):  # a picture that the wiki has lost
                label = PICTURE
            if "new" in classes and label.startswith("Template:"):  # one that the wiki does not have
                self._lines.add(UNKNOWN_TEMPLATE)
            else:
                self._lines.add(label if PICTURE in label else self._marks.link(_target(element), label))
        elif tag in ("sup", "sub"):
            inner = self._inline(element)
            self._lines.add(f"{'^' if tag == 'sup' else '_'}{{{inner}}}" if inner else "")
        elif tag in ("ul", "ol"):
            self._list(element, None if tag == "ul" else 0)
        elif tag == "li":
            self._item(element)
        elif tag == "table":
            self._table(element)
        elif tag in ("dl", "dd", "dt"):
            outermost = tag == "dl" and element.getparent().tag not in ("dd", "li")
            self._block(element, PARAGRAPH if outermost else BREAK)
        elif tag in _BLOCKS:
            self._block(element, PARAGRAPH)
        else:
            self._children(element)

    def _block(self, element: etree._Element, gap: str) -> None:
        self._lines.end(gap)
        verbatim, self._verbatim = self._verbatim, self._verbatim or element.tag == "pre"
        self._children(element)
        self._verbatim = verbatim
        self._lines.end(gap)

    def _list(self, element: etree._Element, count: int | None) -> None:
        gap = BREAK if self._lists else PARAGRAPH
        self._lines.end(gap)
        self._lists.append(count)
        self._children(element)
        self._lists.pop()
        self._lines.end(gap)

    def _item(self, element: etree._Element) -> None:
        if not self._lists:  # an item outside any list
            self._lists.append(None)
            self._item(element)
            self._lists.pop()
            return
        self._lines.end(BREAK)
        bullet = "-"
        if self._lists[-1] is not None:
            self._lists[-1] += 1
            bullet = f"{self._lists[-1]}."
        self._lines.item(f"{'  ' * (len(self._lists) - 1)}{bullet} ")
        self._children(element)
        self._lines.end(BREAK)
        self._lines.item("")

    def _table(self, table: etree._Element) -> None:
        if table.xpath(".//h1|.//h2|.//h3|.//h4|.//h5|.//h6"):  # a table that only lays the page out
            self._block(table, PARAGRAPH)
            return
        if NAVIGATION.search(_words(table)):
            return
        self._lines.end(PARAGRAPH)
        for caption in table.iterfind("caption"):
            self._block(caption, BREAK)
        for row in table.xpath("./tr|./tbody/tr|./thead/tr|./tfoot/tr"):
            self._lines.add(" | ".join(self._inline(cell) for cell in row if cell.tag in ("td", "th")))
            self._lines.end(BREAK, "row")
        self._lines.end(PARAGRAPH)

    def _heading(self, element: etree._Element, level: int) -> None:
        headline = element.xpath(".//*[contains(concat(' ', normalize-space(@class), ' '), ' mw-headline ')]")
        heading = self._inline(headline[0] if headline else element)
        self._lines = LineBuilder()
        self._sections.append((level, heading, self._lines))

    def _inline(self, element: etree._Element) -> str:
        """The element's content as one line."""
        outer, self._lines = self._lines, LineBuilder()
        lists, self._lists = self._lists, []
        self._children(element)
        self._lines.end(BREAK)
        text = " ".join(line.prefix + line.text for line in self._lines.lines)
        self._lines, self._lists = outer, lists
        return text

    def _image(self, image: etree._Element, classes: set[str]) -> str:
        alt = image.get("alt") or ""
        if LOGO.search(alt) or LOGO.search(image.get("src") or ""):
            return ""
        if "[asy]" in alt.lower():
            return PICTURE
        if classes & {"latex", "latexcenter"}:
            return self._marks.formula(alt) if alt.strip() else BAD_LATEX
        return self._marks.formula(alt) if _WHOLE_FORMULA.fullmatch(alt.strip()) else PICTURE


def _words(element: etree._Element) -> str:
    return " ".join("".join(element.itertext()).split())
