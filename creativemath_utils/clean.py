"""Cut a model's talk about its answer, and never a step of it.

Before judging, the paper's authors removed by hand the sentences with which a model introduces its solution or argues
that it is novel (Section 4.2), so that the judges see the solution alone. Here rules do it, and in doubt the text
stays. The unit is the sentence, or the line for a heading; what one is by its words is told in `commentary`.

- A sentence that holds mathematics is kept byte for byte: a formula, a command, a relation, a digit (other than in
  `Solution 2`), a Greek letter, a variable, a figure (`ABC`), a turn of inference (`suppose`, `we get`, `, so`). So is
  all that stands in a formula, in code, in a table or between quotation marks, over however many lines.
- Of `Here is a novel approach: let a:b = 2:3.` only the talk up to the colon goes. Nothing is cut at a comma.
- Talk that names the given solutions, or says `novel` in so many words, goes wherever it stands. What could be meant
  of roots or cases (`here is another solution`) goes only before the first kept sentence; courtesies and praise
  (`I hope this helps!`, `This method is elegant.`) only before the first or after the last. A claim that goes on to act
  (`..., so we reflect the triangle`) or to state a fact (`because the triangle is isosceles`) is kept whole.
- A heading that claims novelty goes, with its title where the two are one phrase (`Novel Solution Using Vectors`). A
  title after a colon stays (`Novel Solution: Vectors` leaves `Vectors`); so does a heading that claims nothing
  (`Solution using coordinates:`, `Solution 3:`, `Step 1:`).

    >>> strip_commentary("Sure! Here is a novel solution:\\n\\nLet $x = 2$. This approach is novel, as it is short.")
    ('Let $x = 2$.', ['Sure!', 'Here is a novel solution:', 'This approach is novel, as it is short.'])
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from creativemath_utils.commentary import LONGEST, MARK, Kind, carries_on, kind_of
from creativemath_utils.talk import USES

CONTEXT = 80  # characters that decide whether a sentence ends


class Sentence(NamedTuple):
    """text[start:end], without the white space around it."""

    start: int
    end: int
    kind: Kind


# --- from text to sentences ------------------------------------------------------------------------------------------

BREAKS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
PARAGRAPH = re.compile(rf"(?>\r\n|[{BREAKS}])[^\S{BREAKS}]*[{BREAKS}]")
OPENS_SPAN = re.compile(
    r"(?P<lines>^[ \t]*[>|].*(?:\n[ \t]*[>|].*)*"  # quoted lines, rows of a table
    r"|^(?=[^|\n]*\|).*\n(?=[ \t|:]*-)[ \t|:\r-]+$(?:\n(?=[^|\n]*\|).*)*"  # a table without bars at its sides
    r"|(?:\A|(?<=\n\n)|(?<=\n\r\n))(?: {4}|\t).*(?:\n(?: {4}|\t).*)*)"  # code by its indent
    r"|`+|~{3,}|(?<!\\)(?:\\\[|\\\(|\\begin\{|\$\$?)|(?<!\d)\"|[“«]|<(?:table|pre|code|blockquote)\b",
    re.MULTILINE,
)
CLOSING_MARK = {r"\[": r"\]", r"\(": r"\)", "“": "”", "«": "»"}  # any other mark closes as it opens
INLINE_MARKS = ("$", r"\(", "`", "``", '"', "“", "«")
ENVIRONMENT = re.compile(r"\\(begin|end)\{")
COLON = re.compile(r":(?P<emphasis>[*_]{0,3})(?P<gap>\s+)")
RUNS_ON = re.compile(rf":\s+(?:it|this) {USES}\b")
LINE_BREAK = re.compile(rf"\r\n|[{BREAKS}]")
SPACE = re.compile(r"\s+")
STOP = re.compile(r"(?:[.!?…∎□■]|\\(?:blacksquare|square|qed)(?:\$|\\\)))[*_)\]\"'”’]*$")
LINE_STOP = re.compile(r"[.!?…:;*_)\]\"'”’`-]$")
HEADED = re.compile(r"(?:^|:\s)[> ]*#")
SHORT_FORM = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|figs?|eqs?|dr|resp|approx)|(?:^|:\s)(?:[#>\s]|\d\d?[.)])*\(?\d\d?|\b[A-Z])\.$"
)


def protected_spans(text: str) -> Iterator[tuple[int, int]]:
    """Spans of code, environments, formulas, tables and quotations, in order.

    One that is never closed reaches to the end, as in an answer that was cut off; but an inline formula or quotation
    does not outlast its paragraph, so that a price in dollars stays a price.
    """
    paragraph_ends = [match.start() for match in PARAGRAPH.finditer(text)] + [len(text)]
    next_close: dict[str, int] = {}  # looked up once for each place, so that the scan is linear
    at = 0
    while opening := OPENS_SPAN.search(text, at):
        mark, inside = opening[0], opening.end()
        if mark == r"\begin{":
            depth = 0
            for match in ENVIRONMENT.finditer(text, opening.start()):
                depth += 1 if match[1] == "begin" else -1
                if depth == 0:
                    break
            at = match.end() if depth == 0 else len(text)
        elif opening["lines"]:
            at = inside
        else:
            close = f"</{mark[1:]}" if mark[0] == "<" else CLOSING_MARK.get(mark, mark)
            if next_close.get(close, -1) < inside:
                found = text.find(close, inside)
                next_close[close] = found if found >= 0 else len(text)
            at = min(next_close[close] + len(close), len(text))
            if mark in INLINE_MARKS and at > paragraph_ends[bisect_left(paragraph_ends, opening.start())]:
                at = inside
                continue
        yield opening.start(), at


def _parts(left: str, gap: str, following: str) -> bool:
    """Whether white space between `left` and the character `following` parts two sentences."""
    starts = not following.islower()
    if not any(c in BREAKS for c in gap):
        return starts and bool(STOP.search(left)) and not SHORT_FORM.search(left)
    return starts or bool(LINE_STOP.search(left)) or bool(PARAGRAPH.search(gap)) or bool(HEADED.search(left))


def sentences_of(text: str) -> list[Sentence]:
    """The sentences, headings and formulas of a text, in order. Talk before a colon is a sentence of its own."""
    spans = [*protected_spans(text), (len(text), len(text))]
    span_ends = [end for _, end in spans]
    sentences: list[Sentence] = []
    start = span = 0
    for space in SPACE.finditer(text):
        while spans[span][1] <= space.start() and span < len(spans) - 1:
            span += 1
        if space.start() == start:  # white space at the very beginning
            start = space.end()
        elif not spans[span][0] < space.start() < spans[span][1] and (
            space.end() == len(text)
            or _parts(text[max(start, space.start() - CONTEXT) : space.start()], space[0], text[space.end()])
        ):
            sentences += _split(text, start, space.start(), spans[bisect_right(span_ends, start)][0])
            start = space.end()
    if start < len(text):
        sentences += _split(text, start, len(text), spans[bisect_right(span_ends, start)][0])
    return sentences


def _split(text: str, start: int, end: int, opaque: int) -> list[Sentence]:
    """A sentence, or the talk before its colon and the rest. The mark of a heading whose title stays, stays too.

    What begins within a protected span is kept, and nothing is split from `opaque` on, where the next one begins.
    """
    if opaque <= start:
        return [Sentence(start, end, Kind.KEEP)]
    if RUNS_ON.search(text, start, end) and kind_of(text[start:end]) is Kind.TALK:
        return [Sentence(start, end, Kind.TALK)]
    parts, at, mark = [], start, start
    while colon := COLON.search(text, at, min(end, at + LONGEST, opaque + 1)):
        left = text[at : colon.end("emphasis")]
        kind = kind_of(left)
        if kind not in (Kind.TALK, Kind.OPENING, Kind.ARGUMENT):
            break
        mark = at + MARK.match(left).end()
        if left.count("**") % 2 and text.startswith("**", mark):  # **Novel Solution: Vectors**
            mark += 2
        if kind is Kind.ARGUMENT and mark > at:  # the rest may go later, and would leave the mark
            break
        parts.append(Sentence(mark, colon.end("emphasis"), kind))
        at = colon.end()
    rest = Sentence(at, end, kind_of(text[at:end]))
    if parts and parts[0].start > start and rest.kind is not Kind.KEEP:  # nothing is left that the mark could mark
        return [Sentence(start, end, max((*parts, rest), key=lambda part: part.kind.value).kind)]
    return [*parts, rest]


# --- what goes -------------------------------------------------------------------------------------------------------


def strip_commentary(text: str) -> tuple[str, list[str]]:
    """The solution in a model's answer, without the sentences that introduce it or argue for its novelty.

    Arguments: `text`, the answer as the model wrote it.
    Returns (solution, removed). `removed` are substrings of `text`, in order, without the white space around them.
    `solution` is `text` without them, the white space at each cut tidied: a line that a cut emptied goes, blank lines
    around a cut become one, spaces become one, and both ends of the whole are trimmed. Where nothing is removed the
    text comes back as it is; so it does, with an empty list, where nothing but talk and signs would be left, or where
    a second pass would find more (a text too tangled to touch). So a second pass never changes anything. The time is
    linear in the length. Paper, Section 4.2.
    """
    solution, removed = _strip(text)
    return (text, []) if removed and _strip(solution)[1] else (solution, removed)


def _strip(text: str) -> tuple[str, list[str]]:
    """One pass of `strip_commentary`."""
    sentences = sentences_of(text)
    return cut(text, sentences, _going(text, sentences))


def cut(text: str, sentences: list[Sentence], goes: list[bool]) -> tuple[str, list[str]]:
    """The text without the sentences that go, and those: as `strip_commentary`, which says how white space is tidied.

    Of those that go some may stay, so that their neighbours do not run into one sentence. `goes` is changed by that.
    """
    _keep_apart(text, sentences, goes)
    kept = "".join(text[s.start : s.end] for s, go in zip(sentences, goes, strict=True) if not go)
    removed = [s for s, go in zip(sentences, goes, strict=True) if go]
    if not removed or not any(c.isalnum() for c in kept):
        return text, []
    ends = [0, *(s.end for s in removed)]
    starts = [*(s.start for s in removed), len(text)]
    solution = _join([text[end:start] for end, start in zip(ends, starts, strict=True)])
    return solution, [text[s.start : s.end] for s in removed]


def _going(text: str, sentences: list[Sentence]) -> list[bool]:
    """Which of the sentences go."""
    kinds = [s.kind for s in sentences]
    in_argument = False
    for i, sentence in enumerate(sentences):  # what hangs on `This is novel because:` is part of the argument
        if in_argument and kinds[i] is not Kind.TALK and carries_on(text, sentence.start, sentence.end):
            kinds[i] = Kind.ARGUMENT
        in_argument = kinds[i] is Kind.ARGUMENT or (in_argument and kinds[i] is Kind.TALK)
    goes = [kind is Kind.TALK for kind in kinds]
    at_start = {Kind.TALK, Kind.OPENING, Kind.RULE}
    at_end = {Kind.TALK, Kind.CLOSING, Kind.ARGUMENT, Kind.RULE}
    for order, edge_kinds in ((range(len(kinds)), at_start), (reversed(range(len(kinds))), at_end)):
        edge = list(takewhile(lambda i, among=edge_kinds: kinds[i] in among, order))
        if any(kinds[i] is not Kind.RULE for i in edge):
            for i in edge:
                goes[i] = True
    for i in (i for i, kind in enumerate(kinds) if kind is Kind.ARGUMENT and not goes[i]):
        run = list(takewhile(lambda j: kinds[j] in (Kind.TALK, Kind.ARGUMENT), range(i, len(kinds))))
        if (
            run[-1] + 1 < len(kinds) and text[sentences[run[-1] + 1].start] in "#*"
        ):  # an argument that fills its section
            for j in run:
                goes[j] = True
    return goes


def _keep_apart(text: str, sentences: list[Sentence], goes: list[bool]) -> None:
    """Leave talk in place where its neighbours would run into one sentence without it, as in two halves of a line."""
    last = None  # the last sentence that stays
    for i, sentence in enumerate(sentences):
        if goes[i]:
            continue
        if last is not None and last < i - 1:
            left = sentences[last]
            ends = [s.end for s in sentences[last:i]]
            gaps = [text[end : s.start] for end, s in zip(ends, sentences[last + 1 : i + 1], strict=True)]
            context = text[max(left.start, left.end - CONTEXT) : left.end]
            apart = STOP.search(context) or _parts(context, _tidy(gaps), text[sentence.start])
            if not "".join(gaps).strip() and not apart:
                goes[last + 1 : i] = [False] * (i - last - 1)
        last = i


def _join(pieces: list[str]) -> str:
    """What stays, in one text."""
    solution, gaps = [], []
    for piece in pieces:
        body = piece.strip()
        if not body:
            gaps.append(piece)
            continue
        lead = piece[: len(piece) - len(piece.lstrip())]
        indent = LINE_BREAK.split(lead)[-1]
        start = indent if indent.startswith(("    ", "\t")) else ""  # it may be code
        solution += [_tidy([*gaps, lead]) if solution else start, body]
        gaps = [piece[len(piece.rstrip()) :]]
    return "".join(solution)


def _tidy(gaps: list[str]) -> str:
    """One white space for those around and between neighbouring cuts; line breaks as the text has them."""
    broken = [gap for gap in gaps if any(c in BREAKS for c in gap)]
    if not broken:
        return " " if gaps[0] else ""
    line_break = LINE_BREAK.search(broken[0])[0]
    indent = LINE_BREAK.split(broken[-1])[-1]
    return line_break * (2 if any(PARAGRAPH.search(gap) for gap in broken) else 1) + indent
