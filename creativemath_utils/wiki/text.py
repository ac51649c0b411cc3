r"""What a saved wiki page is made of, whatever it was saved as: sections of lines, with formulas set apart.

A formula stands in a line as one private character (its *mark*) until the text is rendered. So no rule that looks at
words can touch a formula, and "holds no formula" is a look at the characters.

    >>> marks = Marks()
    >>> render([Line(f"Let {marks.formula('$x$')}{marks.formula('$y$')} be odd."), Line("~ab_cd")], marks)
    'Let $x$ $y$ be odd.\n\n~ab_cd'
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

PARAGRAPH, BREAK = "\n\n", "\n"  # what may stand between two lines

_FIRST_FORMULA, _FIRST_LINK, _CAPACITY = 0xF0000, 0x100000, 0xFFFE
FORMULA = "[\U000f0000-\U000ffffd]"
LINK_START = "[\U00100000-\U0010fffd]"
LINK_END, PICTURE, BAD_LATEX, UNKNOWN_TEMPLATE = "\ue000", "\ue001", "\ue002", "\ue003"
CREDIT = "[\ue100-\uefff]"  # a signature with its link, while credits are looked for
SIGN = r"[^\w\ue000-\uf8ff\U000f0000-\U0010ffff]"  # no letter, no digit and no mark: a mark is no sign to pass over

_FORMULA, _TOUCHING = re.compile(FORMULA), re.compile(f"({FORMULA})(?={FORMULA})")
_NO_WORDS = re.compile(f"{FORMULA}|{BAD_LATEX}|{PICTURE}")
_BLANK_LINE = re.compile(r"\n\s*\n")
_BLANKS, _SOURCE_BREAK = re.compile(r"[^\S\n]+"), re.compile(r"\s*\n\s*")
_LINK_MARK = re.compile(f"{LINK_START}|{LINK_END}")
_ANY_MARK = re.compile("[\ue000-\uf8ff\U00100000-\U0010fffd]")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")
_INVISIBLE = {ord(c): " " for c in "\u00a0\u202f\u2007"} | dict.fromkeys(
    map(ord, "\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\u2061\u2062\u2063\u2064\ufeff")
)


def characters(text: str) -> str:
    """The text in NFC, non-breaking spaces as spaces, without zero-width and private characters. Rule T3."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", without_private(text).translate(_INVISIBLE))


def without_private(text: str) -> str:
    """The text without the private characters that stand for something here."""
    return _PRIVATE.sub("", text)


@dataclass
class Marks:
    """The formulas and link targets of one page, by the private characters that stand for them in its lines."""

    formulas: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)

    def formula(self, source: str) -> str:
        r"""The mark of a formula, given with its delimiters. `$\LaTeX$` is a word, not a formula."""
        source = characters(source).strip()
        if "\n" in source:
            source = _BLANK_LINE.sub("\n", source)
        if source.strip("$ ") == r"\LaTeX":
            return source
        return self._mark(self.formulas, source, _FIRST_FORMULA)

    def link(self, target: str, label: str) -> str:
        """A link's label between its marks; `target` is a page title or an address."""
        return self._mark(self.targets, target, _FIRST_LINK) + label + LINK_END

    def source(self, mark: str) -> str:
        """The formula that a mark stands for."""
        return self.formulas[ord(mark) - _FIRST_FORMULA]

    def target(self, mark: str) -> str:
        """Where the link goes that a mark begins."""
        return self.targets[ord(mark) - _FIRST_LINK]

    def sources(self, text: str) -> list[str]:
        """The formulas in a text, in order."""
        return [self.source(mark) for mark in _FORMULA.findall(text)]

    @staticmethod
    def _mark(values: list[str], value: str, first: int) -> str:
        if len(values) == _CAPACITY:
            raise ValueError(f"more than {_CAPACITY} formulas or links on one page")
        values.append(value)
        return chr(first + len(values) - 1)


@dataclass(frozen=True)
class Line:
    """A paragraph, a list item, a table row, a subheading, or a part of one cut at a line break.

    `gap` stands between it and the line before; `prefix` is its bullet or number. A newline inside `text` is one of
    the page's source and means no more than a blank.
    """

    text: str
    gap: str = PARAGRAPH
    prefix: str = ""
    kind: Literal["text", "row", "heading"] = "text"


class LineBuilder:
    """Takes a page's text as it comes and cuts it into lines."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._parts: list[str] = []
        self._gap, self._prefix = PARAGRAPH, ""

    def add(self, text: str) -> None:
        """Put text at the end of the line at hand."""
        self._parts.append(text)

    def end(self, gap: str, kind: Literal["text", "row", "heading"] = "text") -> None:
        """End the line at hand; `gap` stands before the next one."""
        text = one_line("".join(self._parts))
        self._parts.clear()
        if not text:
            self._gap = max(self._gap, gap, key=len)  # a prefix waits for its text
            return
        self.lines.append(Line(text, self._gap, self._prefix, kind))
        self._gap, self._prefix = gap, ""

    def item(self, prefix: str) -> None:
        """Begin a list item with its bullet; "" ends an item that had no text."""
        self._prefix = prefix


@dataclass
class Section:
    """A heading (level 1..6, text with marks) and the lines up to the next one; level 0 is what precedes the first."""

    level: int
    heading: str
    lines: list[Line]


@dataclass
class Page:
    """A page as read: its sections, and what it says about itself.

    `titles` are the places of rule R6 in their order, `reached_from` pages that redirect here; `fault` is a drop reason
    that shows before any rule on the text.
    """

    sections: list[Section] = field(default_factory=list)
    marks: Marks = field(default_factory=Marks)
    titles: list[str] = field(default_factory=list)
    redirect_target: str | None = None
    reached_from: list[str] = field(default_factory=list)
    categories: list[str] = field(default_factory=list)
    revision: int | None = None
    fault: str | None = None
    detail: str = ""
    source_breaks: bool = False  # a newline of the source stays one: wikitext


def one_line(text: str) -> str:
    """Runs of blanks as one, none at the ends and none beside a newline of the source. Rule T1."""
    text = _BLANKS.sub(" ", text)
    return (_SOURCE_BREAK.sub("\n", text) if "\n" in text else text).strip()


def words(text: str) -> str:
    r"""Running text of a page: characters as in T3, and a literal dollar sign as `\$` (T4)."""
    text = characters(text)
    return re.sub(r"(?<!\\)\$", r"\\$", text) if "$" in text else text


MATHJAX = re.compile(r"\[mathjax\b([^\]\[]*)\]((?:(?!\[mathjax\b).)*?)\[/mathjax\]", re.DOTALL | re.IGNORECASE)
_ASYMPTOTE = re.compile(r"\[asy\].*?(?:\[/asy\]|\Z)", re.DOTALL | re.IGNORECASE)


def mathjax_source(math: re.Match[str]) -> str:
    r"""The formula of a match of MATHJAX with its delimiters: `$x$`, or `\[x\]` where it is displayed. Rule R10."""
    shown = "display" in math[1].lower() and "false" not in math[1].lower()
    return rf"\[{math[2].strip()}\]" if shown else f"${math[2].strip()}$"


def running_text(text: str, marks: Marks) -> str:
    """Running text with the formulas and drawings that stand in it as `[mathjax]` (R10) or `[asy]` (D1)."""
    if "[" not in text:
        return words(text)
    parts, at = [], 0
    text = _ASYMPTOTE.sub(lambda found: "\0asy\0", text)
    for math in MATHJAX.finditer(text):
        parts += [words(text[at : math.start()]), marks.formula(mathjax_source(math))]
        at = math.end()
    rest = "".join([*parts, words(text[at:])]).replace("\0asy\0", PICTURE)
    return re.sub(r"\[/?mathjax\b[^\]\[]*\]", BAD_LATEX, rest, flags=re.IGNORECASE)  # one without its other end


def without_links(text: str) -> str:
    """The text without the marks of links; their labels stay."""
    return _LINK_MARK.sub("", text)


def has_formula(text: str) -> bool:
    """Whether anything but words stands in a text with marks: a formula, readable or not, or a picture."""
    return _NO_WORDS.search(text) is not None


def text_of(text: str, marks: Marks) -> str:
    """A text with its marks resolved; formulas that touch get a space between them (T5)."""
    text = _ANY_MARK.sub("", text)
    text = _TOUCHING.sub(r"\1 ", text)
    return unicodedata.normalize("NFC", _FORMULA.sub(lambda mark: marks.source(mark[0]), text))


def render(lines: Iterable[Line], marks: Marks, source_breaks: bool = False) -> str:
    """Lines as text. `source_breaks`: keep newlines of the source, as for wikitext; otherwise they are blanks."""
    out: list[str] = []
    for line in lines:
        text = line.text if source_breaks else line.text.replace("\n", " ")
        text = one_line(_ANY_MARK.sub("", text))
        if text:
            out += [line.gap, line.prefix, text_of(text, marks)]
    return "".join(out[1:])


def holds(lines: Sequence[Line], mark: str) -> bool:
    """Whether a mark (PICTURE, BAD_LATEX, UNKNOWN_TEMPLATE) stands in the lines."""
    return any(mark in line.text for line in lines)


def with_text(line: Line, text: str) -> Line:
    """The line with another text."""
    return line if text == line.text else replace(line, text=text)


# --- LaTeX of one formula ---------------------------------------------------------------------------------------------


def pairs_up(source: str) -> bool:
    r"""Whether every `\begin` of a formula has its `\end`, in the right order. Rule R11."""
    opened: list[str] = []
    for kind, name in (
        ()
        if "\\begin" not in source and "\\end" not in source
        else re.findall(r"(?<!\\)(?:\\\\)*\\(begin|end)\s*\{([^{}]*)\}", source)
    ):
        if kind == "begin":
            opened.append(name)
        elif not opened or opened.pop() != name:
            return False
    return not opened


def balanced(source: str) -> bool:
    r"""Whether braces and dollar signs of a formula balance; `\{`, `\}` and `\$` are characters. Rule R11."""
    depth = 0
    plain = re.sub(r"\\.", "", source, flags=re.DOTALL)
    for brace in re.findall(r"[{}]", plain):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            return False
    return depth == 0 and plain.count("$") % 2 == 0


def decoded_once(text: str) -> str:
    """Character references that end in a semicolon, decoded; `&times` without one is an alignment mark and a word."""
    return re.sub(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z]\w*);", lambda found: html.unescape(found[0]), text)
