r"""A text of a corpus, its formulas and drawings set apart; and the commands that lost their backslash.

>>> Text("Let $x$ be.").prose == "Let \U000f0000 be."
True
>>> with_backslashes("Is $" + chr(12) + "rac12$ odd?")
('Is $\\frac12$ odd?', Counter({'\\frac': 1}))
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import cached_property

from creativemath_utils.wiki.text import FORMULA, PICTURE, Line, Marks

EXCERPT = 80  # characters of a corpus that a report may show in one place

DRAWING = re.compile(
    r"\[asy\].*?(?:\[/asy\]|\Z)|<asy>.*?(?:</asy>|\Z)|\\begin\{tikzpicture\}.*?(?:\\end\{tikzpicture\}|\Z)"
    r"|\[\[(?:File|Image):[^\[\]]*\]\]|<img\b[^<>]*>|\\includegraphics\b(?:\[[^\]]*\])?\{[^{}]*\}|!\[[^\[\]]*\]\([^()\s]*\)",
    re.DOTALL | re.IGNORECASE,
)
_ENVIRONMENTS = "align|alignat|aligned|array|equation|gather|multline|eqnarray|split|tabular"
_FORMULA = re.compile(
    rf"\\begin\{{(?P<name>(?:{_ENVIRONMENTS})\*?)\}}(?:(?!\\begin\{{(?P=name)\}}).)*?\\end\{{(?P=name)\}}"
    r"|\\\[(?:\\\\|(?!\\[\[\]]).)*+\\\]|\\\((?:\\\\|(?!\\[()]).)*+\\\)"
    r"|(?P<escaped>\\[\\$])"  # a line's end or a dollar, which begins no formula
    r"|\$\$[^$]+\$\$"
    r"|\$\$\s?[\d.](?:\\.|[^$\\])*+\$"  # a price that was given its own formula: $$7.10$
    r"|\$(?:\\.|[^$\\])*+\$",
    re.DOTALL,
)
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]")  # those of a text itself must not be taken for marks


class Text:
    """A text with its formulas and drawings set apart as private characters, as in `wiki.text`."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.marks = Marks()
        self.drawings = DRAWING.findall(raw)
        without = DRAWING.sub(PICTURE, _PRIVATE.sub("\ufffd", raw))
        self.sources: list[str] = []
        self.prose = _FORMULA.sub(self._mark, without)

    def _mark(self, found: re.Match[str]) -> str:
        if found["escaped"]:
            return found[0]
        self.sources.append(found[0])
        return self.marks.formula(found[0])

    @cached_property
    def lines(self) -> list[Line]:
        """The lines that hold anything, for the rules of `wiki`."""
        return [Line(line.strip()) for line in self.prose.split("\n") if line.strip()]

    @property
    def has_picture(self) -> bool:
        """Whether there is something that a text could point at: a drawing, a table, an array."""
        return bool(self.drawings) or re.search(r"\\begin\{(?:array|tabular)\}", self.raw) is not None

    def excerpt(self, start: int, end: int) -> str:
        """The place from `start` to `end` of the prose, between guillemets, in as much of its surroundings as fits."""
        return around(self.prose, start, end, lambda part: re.sub(FORMULA, self._short, part))

    def _short(self, mark: re.Match[str]) -> str:
        source = self.marks.source(mark[0])
        return source if len(source) <= 14 else f"{source[:8]}…{source[-3:]}"


def around(text: str, start: int, end: int, shown: Callable[[str], str] = str) -> str:
    """A place between guillemets in its surroundings, at most EXCERPT characters; `shown` says how marks are read."""
    hit = text[start:end]
    hit = "␣" * len(hit) if hit.strip(" \t\xa0") == "" else _visible(shown(hit))[: EXCERPT - 22]
    room = EXCERPT - len(hit) - 2
    before = _visible(shown(text[max(0, start - room) : start]))
    after = _visible(shown(text[end : end + room]))
    left = min(len(before), max(room // 2, room - len(after)))
    return f"{before[len(before) - left :]}«{hit}»{after[: room - left]}"


def _visible(text: str) -> str:
    """Control characters as their pictures, a line's end as a stroke, a drawing as a word."""
    text = text.replace(PICTURE, "[drawing]").replace("\n", " / ")
    return re.sub(r"[\x00-\x1f]", lambda found: chr(0x2400 + ord(found[0])), text)


def cut(text: str) -> str:
    """The beginning of a text, on one line, at most EXCERPT characters."""
    text = " ".join(_visible(text).split())
    return text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"


# --- control characters -----------------------------------------------------------------------------------------------

# What follows the letter that a string literal takes for an escape: "\frac" becomes a form feed and "rac".
_AFTER_ESCAPE = {
    "\a": "lpha|ngle|pprox|rccos|rcsin|rctan|rray|st|cute|leph",
    "\b": "oxed|inom|egin|eta|ar|ig|igg|ig[lr]|igg[lr]|f|box|ullet|mod|oldsymbol|oldmath|ackslash|ecause|ot|igcup|igcap"
    "|igoplus|lacksquare|reve|owtie",
    "\f": "rac|box|ramebox|orall|lat|rown|ootnotesize",
    "\v": "ec|ert|arepsilon|arphi|artheta|dots|ee|space|arnothing|phantom",
}
_AFTER_BLANK = {  # these may also be white space, so only inside a formula
    "\t": "imes|ext|ext(?:bf|it|rm|sf)|frac|heta|riangle|herefore|ilde|binom|extstyle",
    "(?<![\n\t&])\t": "o|an|au",  # short ones not where lines are indented or aligned
    "\r": "ight|ightarrow|angle|ho|floor|ceil|brace",
    "\n": "eq|abla|otin|ewline",  # not \nu, \nmid, \nless: a line may begin with what is left of these
}
_LOST = re.compile("|".join(f"{escape}(?:{rests})(?![A-Za-z])" for escape, rests in _AFTER_ESCAPE.items()))
_LOST_IN_FORMULA = re.compile("|".join(f"{blank}(?:{rests})(?![A-Za-z])" for blank, rests in _AFTER_BLANK.items()))
ESCAPES = dict(zip("\a\b\f\v\t\r\n", "abfvtrn", strict=True))  # the letter that each was in its command


def lost_backslashes(text: str) -> list[tuple[int, int]]:
    """Where a control character and the letters after it are a known command that lost its backslash: start and end.

    White space counts inside formulas alone, and in no drawing: there a tab before `an` is a tab.
    """
    places = [found.span() for found in _LOST.finditer(text)]
    drawings = [found.span() for found in DRAWING.finditer(text)]
    for formula in _FORMULA.finditer(text):
        if not any(start < formula.end() and formula.start() < end for start, end in drawings):
            places += [found.span() for found in _LOST_IN_FORMULA.finditer(text, *formula.span())]
    return sorted(places)


def with_backslashes(text: str) -> tuple[str, Counter[str]]:
    """The text with the commands that lost their backslash, and how often which was mended."""
    parts, at, mended = [], 0, Counter[str]()
    for start, end in lost_backslashes(text):
        command = f"\\{ESCAPES[text[start]]}{text[start + 1 : end]}"
        mended[command] += 1
        parts += [text[at:start], command]
        at = end
    return "".join([*parts, text[at:]]), mended
