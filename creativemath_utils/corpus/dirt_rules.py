r"""What a rule can see of a text: gaps where words were lost, commands without their backslash, signatures.

A rule sees how a text looks, not what it means. `dirt` counts what these find, `repair` mends the few
that need no guess.

    >>> list(IN_ANY["words_lost"](Text("Let $P$ be a  of it; by , we are done.")))
    ['Let $P$ be a«␣␣»of it; by , we are done.', 'Let $P$ be a  of it; by«␣», we are done.']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from creativemath_utils.corpus.dirt_text import DRAWING, Text, around, cut, lost_backslashes
from creativemath_utils.wiki.credits import without_credits
from creativemath_utils.wiki.phrases import TO_FIGURE, TO_SOLUTION, is_bare_answer, says_unfinished
from creativemath_utils.wiki.text import FORMULA, balanced, pairs_up

Rule = Callable[[Text], Iterator[str]]  # the places that it finds, as excerpts


def _control_characters(text: Text) -> Iterator[str]:
    yield from (around(text.raw, *place) for place in lost_backslashes(text.raw))


def _other_control(text: Text) -> Iterator[str]:
    known = {start for start, _ in lost_backslashes(text.raw)}
    for found in re.finditer(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text.raw):
        if found.start() not in known:
            yield around(text.raw, *found.span())


# --- what went missing ------------------------------------------------------------------------------------------------

_GAP = r"[ \t\xa0]{2,}"
_WORDS_LOST = re.compile(
    # a gap before what cannot begin anything that a noun, a name or a verb before it has not begun
    rf"(?<=\w)(?<!\bit)(?<!\bthis)(?<!\bthere){_GAP}(?=(?:if|is|of|are|was|or|between)\b(?!\s+(?:course|not)\b))"
    rf"|(?:(?<=\b[Aa])|(?<=\b[Aa]n)|(?<=\b[Tt]he)){_GAP}(?=(?:in|on|so|such|that|can|has|for|which|and|will|where|with|to)\b)"
    rf"|(?<=\b[Aa]n){_GAP}(?=[b-df-gj-np-tv-z]|{FORMULA})"  # "an  number": it was "an odd number"
    # a word that wants another, before the end of the clause
    r"|(?<!\w)(?:an?|the|either|or|by|using|called|of|with|be|into|from)(?P<end>[ \t\xa0]+)(?=[.,;)](?!\.))"
    r"|(?<![\w)\]}'])[(\[][ \t\xa0]*[)\]](?!\()"  # brackets around nothing
    r"|(?m:^[ \t]*[:)](?=[ \t]*(?:$|[A-Z])))",  # the sign that followed a name or a number
    re.IGNORECASE,
)
_POSSIBLE_GAP = re.compile(
    rf"(?<=[a-z0-9,;]){_GAP}(?=[\w(]|{FORMULA})|(?<={FORMULA}){_GAP}(?=[a-z])|(?<=[a-z])[ \t\xa0]+(?=[.,;](?:\s|$))"
)


def _words_lost(text: Text) -> Iterator[str]:
    for found in _WORDS_LOST.finditer(text.prose):
        yield text.excerpt(*(found.span("end") if found["end"] else found.span()))


def _possible_gap(text: Text) -> Iterator[str]:
    known = {at for found in _WORDS_LOST.finditer(text.prose) for at in range(*found.span())}
    for found in _POSSIBLE_GAP.finditer(text.prose):
        if known.isdisjoint(range(*found.span())):
            yield text.excerpt(*found.span())


def _possible_gap_in_problem(text: Text) -> Iterator[str]:
    if begins := re.match(r"\s*[a-z]{2,}\b", text.prose):
        yield text.excerpt(*begins.span())
    yield from _possible_gap(text)


_ASKS = r"(?:Find|Prove|Show|Determine|Compute|Evaluate|What|How|For (?:what|which))\b"
_GOES_ON = rf"(?:{_ASKS}|(?:Thus|Therefore|Hence|So|Then|And so|The (?:only|answer|rest))\b)"
_BLOCK_LOST = re.compile(
    rf"(?<=\w):[ \t]*\n\s*(?={_GOES_ON})"
    r"|\b(?:have|get|gives?|yields?|obtain|that|becomes?|equals?|is|are|where|as|by|and|or|[Tt]hen,?)"
    r"[ \t]*\n\s*(?=[A-Z][a-z])"
    rf"|,[ \t]*\n\s*(?=(?:{_ASKS}|[A-Z][a-z]+ing\b))"
    r"|\band[ \t]*\n\s*(?=if and only if\b)"
    r"|(?<=\w):\s*\Z|\b(?:have|that|where|by|and|of|the|following)\s*\Z"
)


def _block_lost(text: Text) -> Iterator[str]:
    for found in _BLOCK_LOST.finditer(text.prose):
        yield text.excerpt(*found.span())


def to_picture(text: Text, in_problem: bool) -> str | None:
    """Where a text points at a picture, or None. "As shown in Solution 1" and "will be shown below" point elsewhere."""
    for found in _TO_PICTURE.finditer(text.prose):
        words = _PICTURE_WORD.search(found[0])
        if words or (in_problem and not _ELSEWHERE.match(text.prose, found.end() - 3)):
            return text.excerpt(*found.span())
    return None


def to_other_solution(text: Text, k: int) -> str | None:
    """Where solution k leans on another one, or None: in a first solution only its first sentence can."""
    found = _TO_OTHER.search(text.prose)
    if not found or (k == 1 and re.search(r"[.!?\n]", text.prose[: found.start()])):
        return None
    return text.excerpt(*found.span())


# --- what should not be there -----------------------------------------------------------------------------------------

_BRACKETED_CREDIT = re.compile(r"[-–—~]\s?(?=[a-z]+\d)\w+[)\]]|\bdiagram by \w+", re.IGNORECASE)
_COMMENT_IN_CODE = re.compile(r"//[^\n]*")
_CREDIT_IN_CODE = re.compile(r"\b(?:credits?|made by|drawn by|by)\b.{0,40}", re.IGNORECASE)
_REMARK = re.compile(
    r"(?:^|[\s(\xa0]):-?[PD)](?=\s|$)|\bxD\b|\blol\b|\bhaha\w*|[-–]{1,2}\s?fallacy\b|\(sorry\b|\bfeel free to\b"
    r"|\bidk\b|\bbtw\b|\bsomeone (?:please|can|should)\b|\bI see nothing wrong\b|\bplease (?:edit|fix)\b",
    re.IGNORECASE | re.MULTILINE,
)
_TO_OTHER = re.compile(
    rf"{TO_SOLUTION.pattern}|\bsolution (?:one|two|three|four)\b|\A(?:like|as in) above\b|\AAs before\b", re.IGNORECASE
)
_TO_PICTURE = re.compile(rf"{TO_FIGURE.pattern}|\bsee (?:figure|diagram|picture)\b", re.IGNORECASE)
_ELSEWHERE = re.compile(  # what "as shown" and "shown on the" go on with where no picture is meant
    r"...\s+(?:in\s+(?!the\b|this\b)|by\b|that\b|on\b)|the\s+(?!right\b|left\b|map\b|grid\b|graph\b|number line\b)",
    re.IGNORECASE | re.DOTALL,
)
_PICTURE_WORD = re.compile(r"figure|diagram|picture|drawing|map|chart", re.IGNORECASE)
_SPECIAL_SPACE = re.compile("[\u00a0\u00ad\u2007\u200b-\u200f\u202f\u2060-\u2064\ufeff]+")
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|nbsp|#\d+|#x[0-9a-f]+);", re.IGNORECASE)
_MARKUP = re.compile(
    r"</?(?:br|p|div|span|b|i|u|sub|sup|math|cmath|center|li|ul|ol|a|pre)\b[^<>]*>"
    r"|\[\[(?=[^\[\]]*[a-z])[^\[\]]*+\]\]|'''|\{\{[A-Za-z][^{}$\\]*\}\}",
    re.IGNORECASE,
)
_ANSWER_AT_END = re.compile(r"\\(?:boxed|fbox|framebox)\b")
_SOLUTION_HEADING = re.compile(r"^[ \t=#*]*solution(?: ?#?\d+)?[ \t=*]*[:.]?[ \t]*$", re.IGNORECASE | re.MULTILINE)


def _credits(text: Text) -> Iterator[str]:
    removed = without_credits(text.lines, text.marks).removed
    yield from (cut(words) for rule, words in removed if rule != "C8")
    signed = [words for rule, words in removed if rule != "C8"]
    for found in _BRACKETED_CREDIT.finditer(text.prose):
        if not any(found[0] in words for words in signed):
            yield text.excerpt(*found.span())
    for drawing in text.drawings:
        for comment in _COMMENT_IN_CODE.findall(drawing):
            yield from (cut(found[0]) for found in [_CREDIT_IN_CODE.search(comment)] if found)


def _remarks(text: Text) -> Iterator[str]:
    for found in _REMARK.finditer(text.prose):
        yield text.excerpt(*found.span())


def _unfinished(text: Text) -> Iterator[str]:
    yield from (cut(line.text) for line in text.lines if says_unfinished(line))


def _answer_only(text: Text) -> Iterator[str]:
    if text.lines and is_bare_answer(text.lines, text.marks):
        yield cut(text.raw)


def is_answer_only(solution: str) -> bool:
    r"""Whether a reference is one boxed answer or choice label and nothing else, such as `$\fbox{E}$`. Rule 7.1."""
    return next(_answer_only(Text(solution)), None) is not None


def _answer_in_problem(text: Text) -> Iterator[str]:
    if text.sources and _ANSWER_AT_END.search(text.sources[-1]) and re.search(rf"{FORMULA}\W*\Z", text.prose):
        yield cut(text.sources[-1])
    for heading in _SOLUTION_HEADING.finditer(text.prose):
        yield text.excerpt(*heading.span())


def _unbalanced_dollar(text: Text) -> Iterator[str]:
    if len(re.findall(r"(?<!\\)\$", re.sub(r"\\\\", "", DRAWING.sub("", text.raw)))) % 2:
        stray = re.search(r"(?<!\\)\$", text.prose)
        yield text.excerpt(*stray.span()) if stray else cut(text.raw)


def _unbalanced_formula(text: Text) -> Iterator[str]:
    for source in text.sources:
        body = source.strip("$")
        if not balanced(body) or not pairs_up(body):
            yield cut(source)


def _markup(text: Text) -> Iterator[str]:
    yield from (around(text.raw, *found.span()) for found in _ENTITY.finditer(text.raw))
    yield from (text.excerpt(*found.span()) for found in _MARKUP.finditer(text.prose))  # `<p` of a formula is no tag


def _double_dollar(text: Text) -> Iterator[str]:
    """The first of two dollar signs in a row that do not open or close a displayed formula."""
    displayed = re.sub(r"\$\$[^$]+\$\$", lambda found: "x" * len(found[0]), text.raw)
    if place := re.search(r"\$\$", displayed):
        yield around(text.raw, *place.span())


def _once(pattern: re.Pattern[str]) -> Rule:
    """A rule that says of a text that it has such a place, not how many."""
    return lambda text: (around(text.raw, *found.span()) for found in [pattern.search(text.raw)] if found)


IN_ANY: dict[str, Rule] = {
    "drawing": lambda text: (cut(drawing) for drawing in text.drawings[:1]),
    "words_lost": _words_lost,
    "possible_gap": _possible_gap,
    "block_lost": _block_lost,
    "control_character": _control_characters,
    "other_control": _other_control,
    "credit": _credits,
    "remark": _remarks,
    "unbalanced_dollar": _unbalanced_dollar,
    "unbalanced_formula": _unbalanced_formula,
    "double_dollar": _double_dollar,
    "markup": _markup,
    "outer_blanks": _once(re.compile(r"\A\s+|(?<!\s)\s+\Z")),
    "special_space": _once(_SPECIAL_SPACE),
}
IN_PROBLEM: dict[str, Rule] = {
    "possible_gap": _possible_gap_in_problem,  # in place of the one for any text
    "answer_in_problem": _answer_in_problem,
}
IN_SOLUTION: dict[str, Rule] = {
    "unfinished": _unfinished,
    "answer_only": _answer_only,
}
