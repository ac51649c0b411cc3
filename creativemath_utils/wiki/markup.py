r"""Wikitext made ready for its parser: what no reader sees is gone, tags are events, every opening mark has its end.

mwparserfromhell looks for the end of each opening mark and begins again behind it where there is none, so that a few
thousand of them take minutes. `well_formed` pairs them in one pass; what has no partner becomes plain text, as the wiki
shows it. Tags go too: a private character says what each does to the lines (`EVENTS`).

    >>> well_formed("{{a|[[b]] <foo>''c''").replace(NOTHING, "")
    '&#123;&#123;a|[[b]] &#60;foo&#62;c'
"""

from __future__ import annotations

import re
from collections import Counter

from creativemath_utils.wiki.text import BAD_LATEX, MATHJAX, PICTURE, Marks, decoded_once, mathjax_source

# What markup does to the lines, as characters: no page holds any, since private ones are taken out first.
NOTHING, EDGE, LINE_END, BULLETS, NUMBERS, LIST_END, ITEM, ITEM_END = map(chr, range(0xE010, 0xE018))
SUPERSCRIPT, SUBSCRIPT, SCRIPT_END = map(chr, range(0xE018, 0xE01B))
EVENTS = f"[{EDGE}-{ITEM_END}]"
_INSIDE = {NOTHING: "", SUPERSCRIPT: "^{", SUBSCRIPT: "_{", SCRIPT_END: "}"}
_FIRST_FORMULA, _CAPACITY = 0xE800, 0xF00
MARKS = re.compile("([\ue000-\uf7ff])")

_COMMENT_LINE = re.compile(r"^[ \t]*(?:<!--(?:(?!-->|<!--).)*-->[ \t]*)+\n", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_CATEGORY = re.compile(r"\[\[\s*Category\s*:\s*([^\]\[|\n]+)(?:\|[^\]\[\n]*)?\]\]", re.IGNORECASE)
_CATEGORY_LINE = re.compile(rf"^(?:[ \t]*{_CATEGORY.pattern})+[ \t]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE)
_SWITCH = re.compile(r"__[A-Z]{3,}__")  # __TOC__, __NOTOC__
_TRANSCLUSION = re.compile(
    r"<includeonly>(?:(?!<includeonly>).)*?</includeonly>|</?(?:noinclude|onlyinclude)\s*/?>", re.DOTALL | re.IGNORECASE
)
_LITERAL = re.compile(
    r"<nowiki\s*/>|<(?P<tag>nowiki|pre)\b(?P<with>[^<>]*)>(?P<body>(?:(?!<(?P=tag)\b).)*?)</(?P=tag)\s*>",
    re.DOTALL | re.IGNORECASE,
)
_UNSEEN = re.compile(
    r"<(ref|script|style)\b(?:[^<>]*/>|[^<>]*>(?:(?!<\1\b).)*?</\1\s*>)|<references\b[^<>]*>", re.DOTALL | re.IGNORECASE
)
_DRAWING = re.compile(
    r"<(asy|gallery|svg|canvas|object)\b[^<>]*>.*?(?:</\1\s*>|\Z)|<(?:img|embed)\b[^<>]*>"
    r"|\[asy\].*?(?:\[/asy\]|\Z)",
    re.DOTALL | re.IGNORECASE,
)

_MATH = re.compile(
    r"<(i?math|cmath)\b(?:[^<>/]|/(?!>))*>((?:(?!</?(?:i?math|cmath)\b).)*)</\1\s*>", re.DOTALL | re.IGNORECASE
)
_MATH_TAG = re.compile(r"</?(?:i?math|cmath)\b[^<>]*>", re.IGNORECASE)
_OWN_DELIMITERS = re.compile(r"\\begin\s*\{(?:align|equation|gather|multline|eqnarray)(?:ed|at)?\*?\}")

_INLINE = {"b", "i", "u", "s", "em", "strong", "strike", "del", "ins", "big", "small", "tt", "code", "span", "font"}
_INLINE |= {"kbd", "var", "cite", "q", "abbr", "nobr", "mark", "dfn", "samp", "wbr", "source", "syntaxhighlight"}
_BLOCKS = {"p", "div", "center", "blockquote", "section", "hr", "dl", "pre", "poem"}
_OPENS = dict.fromkeys(_INLINE, NOTHING) | dict.fromkeys(_BLOCKS, EDGE) | dict.fromkeys(("br", "dd", "dt"), LINE_END)
_CLOSES = _OPENS | {"ul": LIST_END, "ol": LIST_END, "li": ITEM_END}
_OPENS |= {"ul": BULLETS, "ol": NUMBERS, "li": ITEM}
_SCRIPTS = {"sup": SUPERSCRIPT, "sub": SUBSCRIPT}
_CELLS = ("td", "th", "caption")
_ENDS_BEFORE = dict.fromkeys(_CELLS, _CELLS) | {"tr": (*_CELLS, "tr"), "tbody": (*_CELLS, "tr")}
_IN_TABLES = {*_ENDS_BEFORE, "thead", "tfoot"}
_DEEPEST = 30  # mwparserfromhell gives up at 40

_TOKEN = re.compile(
    r"</?(?P<tag>[A-Za-z][A-Za-z0-9]*)(?P<with>(?![A-Za-z0-9])[^<>]*)>|<|\n|'{2,}|\]+|\}+"
    r"|^[ \t:]*\{\|(?!\|)|^[ \t]*\|\}(?!\})|\{{2,}|\[\[|\[(?=//|[A-Za-z][A-Za-z0-9+.-]{1,15}:)",
    re.MULTILINE,
)
_ATTRIBUTES = re.compile(  # words without a value are those of "a<b and c>d"
    r"(?:\s+(?:[\w:-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'|[^\s\"'=/]+)|nowrap|compact|noshade)(?=[\s/]|\Z))*\s*/?"
)


def without_comments(text: str) -> str:
    """The text without comments; a line of comments goes with its end, as the wiki has it."""
    return _COMMENT.sub("", _COMMENT_LINE.sub("", text))


def categories_of(text: str) -> list[str]:
    """The categories that a text puts its page into, as written, each once."""
    return list(dict.fromkeys(name.strip() for name in _CATEGORY.findall(text)))


def body_of(text: str) -> str:
    """The text without categories, switches and what only a page that includes it would show."""
    text = _TRANSCLUSION.sub("", text)
    return _SWITCH.sub("", _CATEGORY.sub("", _CATEGORY_LINE.sub("", text)))


def with_drawings_marked(text: str) -> str:
    """The text with each drawing as a PICTURE, without references, and with literal text as character references."""
    return _DRAWING.sub(PICTURE, _UNSEEN.sub("", _LITERAL.sub(_literal, text)))


def _literal(found: re.Match[str]) -> str:
    body = found["body"] or ""
    if (found["tag"] or "").lower() != "pre":
        return _as_text(body)
    if re.search(r"class\s*=\s*[\"']?[^\"']*\basy\b", found["with"]):
        return PICTURE
    return f"{EDGE}{LINE_END.join(map(_as_text, body.strip(chr(10)).split(chr(10))))}{EDGE}"


def _as_text(text: str) -> str:
    return "".join(f"&#{ord(c)};" for c in text)


class Formulas:
    """The formulas of a section, each a character while the parser reads the rest. Rules R10, R11."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._held: list[str] = []

    def held(self, text: str) -> str:
        """The text with its formulas held; a tag of a formula without its other end is BAD_LATEX."""
        text = MATHJAX.sub(lambda math: self._hold(decoded_once(mathjax_source(math))), text)
        return _MATH_TAG.sub(BAD_LATEX, _MATH.sub(self._math, text))

    def shown(self, mark: str) -> str:
        """What a character shows that MARKS finds."""
        held = ord(mark) - _FIRST_FORMULA
        return self._held[held] if held >= 0 else _INSIDE.get(mark, mark)

    def _math(self, math: re.Match[str]) -> str:
        body = decoded_once(math[2])
        if not body.strip():
            return ""
        if _OWN_DELIMITERS.match(body.strip()):
            return self._hold(body.strip())
        return self._hold(rf"\[{body}\]" if math[1].lower() == "cmath" else f"${body}$")

    def _hold(self, source: str) -> str:
        if len(self._held) == _CAPACITY:
            raise ValueError(f"more than {_CAPACITY} formulas in one section")
        self._held.append(self._marks.formula(source))
        return chr(_FIRST_FORMULA + len(self._held) - 1)


def well_formed(text: str) -> str:
    """The text with its tags as events and each opening mark without an end as plain text, in one pass."""
    return _Pairing(text).text


class _Pairing:
    def __init__(self, text: str) -> None:
        self._out: list[str] = []
        self._open: list[tuple[str, int]] = []  # kind and place in _out
        self._counts: Counter[str] = Counter()
        self._address: int | None = None  # place of a "[" before an address; its link ends with the line
        at = 0
        for token in _TOKEN.finditer(text):
            self._out.append(text[at : token.start()])
            self._token(token)
            at = token.end()
        self._out.append(text[at:])
        self._end_address()
        self._leave(0)
        self.text = re.sub(f"[{SUPERSCRIPT}{SUBSCRIPT}]\\s*{SCRIPT_END}", NOTHING, "".join(self._out))

    def _token(self, token: re.Match[str]) -> None:
        text = token[0]
        if token["tag"]:
            self._tag(text, token["tag"].lower(), token["with"])
        elif text == "<":
            self._out.append("&#60;")
        elif text == "\n":
            self._end_address()
            self._out.append(text)
        elif text[0] == "'":
            self._out.append({2: "", 3: "", 4: "'"}.get(len(text), "'" * (len(text) - 5)) + NOTHING)
        elif text[0] in "]}":
            self._brackets_end(text)
        elif text.endswith("|}"):
            self._end("{|", text, _as_text(text))
        elif text.endswith("{|"):
            self._begin("{|", text)
        elif text == "[":
            self._end_address()
            self._address = len(self._out)
            self._out.append(text)
        elif text == "[[":
            self._begin("[[", text)
        else:
            self._out.append("{" * (len(text) % 2))
            for _ in range(len(text) // 2):
                self._begin("{{", "{{")

    def _begin(self, kind: str, text: str) -> None:
        self._out.append(text)
        self._open.append((kind, len(self._out) - 1))
        self._counts[kind] += 1
        if len(self._open) > _DEEPEST:
            self._leave(len(self._open) - 1)

    def _end(self, kind: str, text: str, alone: str) -> None:
        """End the last open mark of the kind, with those in it that have no end; without any, write `alone`."""
        if not self._counts[kind]:
            self._out.append(alone)
            return
        while self._open[-1][0] != kind:
            inner = self._open[-1][0]
            if kind in ("table", *_IN_TABLES) and inner in _IN_TABLES:
                self._counts[self._open.pop()[0]] -= 1
                self._out.append(f"</{inner}>")
            else:
                self._leave(len(self._open) - 1)
        self._open.pop()
        self._counts[kind] -= 1
        self._out.append(text)

    def _leave(self, depth: int) -> None:
        """Take the open marks from a depth on as plain text, or the tags among them away."""
        for kind, at in self._open[depth:]:
            self._counts[kind] -= 1
            known = NOTHING if kind in _SCRIPTS else LINE_END if kind == "table" or kind in _IN_TABLES else None
            self._out[at] = known or _as_text(self._out[at])
        del self._open[depth:]

    def _end_address(self) -> None:
        if self._address is not None:
            self._out[self._address] = "&#91;"
            self._address = None

    def _brackets_end(self, text: str) -> None:
        left = len(text)
        while left:
            inner = next((at for kind, at in reversed(self._open) if kind == "[["), -1) if self._counts["[["] else -1
            if text[0] == "]" and self._address is not None and self._address > inner:
                self._address = None
                self._out.append("]")
                left -= 1
            elif left > 1 and self._counts["[[" if text[0] == "]" else "{{"]:
                self._end("[[" if text[0] == "]" else "{{", text[:2], "")
                left -= 2
            else:
                self._out.append(text[:left])
                left = 0

    def _tag(self, text: str, name: str, attributes: str) -> None:
        ends, table = text.startswith("</"), name == "table" or name in _IN_TABLES
        known = name in _OPENS or name in _SCRIPTS or table
        if not known or not _ATTRIBUTES.fullmatch(attributes):
            self._out.append(re.sub(r"[^\w\s]", lambda found: _as_text(found[0]), text))  # the wiki shows it
        elif name in _OPENS:
            self._out.append(_CLOSES[name] if ends and name != "br" else _OPENS[name])
        elif ends:
            self._end(name, SCRIPT_END if name in _SCRIPTS else f"</{name}>", NOTHING)
        elif attributes.endswith("/"):
            self._out.append(NOTHING)
        elif table and name != "table" and not self._counts["table"]:
            self._out.append(LINE_END)
        else:
            while self._open and self._open[-1][0] in _ENDS_BEFORE.get(name, ()):
                self._end(self._open[-1][0], f"</{self._open[-1][0]}>", "")
            self._begin(name, _SCRIPTS.get(name) or f"<{name}>")
