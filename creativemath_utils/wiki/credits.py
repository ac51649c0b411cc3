r"""Who signed a solution, and what was said to other readers, taken out of the lines of a page. Rules C1 to C9.

Only words are ever removed: a line that holds a formula stays, whatever it says (P3).

    >>> from creativemath_utils.wiki.text import Line, Marks
    >>> marks = Marks()
    >>> signed = f"So it is {marks.formula('$24$')} ~ ab_cd (edited by Ef)"
    >>> lines = [Line("The slope is ~80."), Line(signed), Line("-Ef9")]
    >>> cleaned = without_credits(lines, marks)
    >>> [line.text[:9] for line in cleaned.lines], [(rule, text) for rule, text in cleaned.removed]
    (['The slope', 'So it is '], [('C4', '~ ab_cd (edited by Ef)'), ('C2', '-Ef9')])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from creativemath_utils.wiki.names import NO_SIGNATURES, is_by_line, is_signature, is_username
from creativemath_utils.wiki.text import (
    BAD_LATEX,
    CREDIT,
    FORMULA,
    LINK_END,
    LINK_START,
    PICTURE,
    SIGN,
    Line,
    Marks,
    has_formula,
    text_of,
    without_links,
)

_TILDES, _DASHES = "~∼〜～˜", "-–—"
_TILDE, _DASH = f"[{_TILDES}]", f"[{_DASHES}]"
_MATH = f"(?:{FORMULA}|{BAD_LATEX}|{PICTURE})"
_CREDIT_MARKS = (0xE100, 0xEFFF)

# --- the rules: each says whether it takes a line ---------------------------------------------------------------------

_COMMENT = re.compile(
    rf"(?:{SIGN}|_)*+(?:(?:note|remark|p\.?\s?s)\s*[:.,-]+\s*)?"
    r"(?:alternate solutions are always welcome|(?:sorry|please|feel free)\b"
    r"|(?:can |could |would )?someone,? please\b"
    r"|if (?:there|you|(?:any|some)(?:one|body))\b.{0,40}?\b(?:mistakes?|errors?|typos?)\b.{0,40}?"
    r"\b(?:free|please|edit|fix|correct|change|let|tell|comment|report|contact|message|pm)\b"
    r"|the problems on this page are copyrighted)",
    re.IGNORECASE | re.DOTALL,
)
_ADDRESS = re.compile(
    r"[\W_]*+(?:(?:video|youtube)[\w ]{0,30}[:\-–—]*\s*)?(?:(?:https?://|www\.|youtu\.be/|youtube\.com/)\S+(?:\s+|$))+",
    re.IGNORECASE,
)
COPYRIGHT = re.compile(
    r"The problems on this page are copyrighted by the Mathematical Association of America"
    rf"(?:['’]s American Mathematics Competitions)?\.?\s*{PICTURE}?",
    re.IGNORECASE,
)
# A word of a name, of bounded length: on a line of nothing but dashes or brackets the search would take for ever.
_WORD = r"[^\s.!?;:~\ue000-\uf8ff\U000f0000-\U000ffffd]{1,60}(?:\.[^\s.!?;:~]{1,60}){0,5}"
_STAMP = re.compile(
    rf"(?:(?:^|(?:^|(?<=[\s.!?)\]\U000f0000-\U000ffffd])){_DASH}++|(?<!{_TILDE}){_TILDE}++)"
    rf"[ \t]*(?:{_WORD}[ \t]+){{0,2}}{_WORD}[ \t]*"
    rf"|{CREDIT}[ \t]*)?(?:\(\s*talk[^)]*\)[ \t]*)?\d{{1,2}}:\d\d(?::\d\d)?,[ \t]*\d{{1,2}}[ \t]+"
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December)[ \t]+\d{4}"
    r"(?:[ \t]*\([A-Z]{1,5}\))?",
    re.MULTILINE,
)
_SIGN = re.compile(rf"{_TILDE}+|{CREDIT}")
_ENDED = re.compile(rf"(?:[.!?)\]}}]|{_MATH})['\"”’*]*$")
_DASH_TAIL = re.compile(rf"(?P<before>[.!?]|{_MATH})\s*{_DASH}{{1,3}}\s*(?P<word>\w[\w.'’-]+\w)(?:\s*\([^()]*\))?\.?$")
_DOUBTFUL_TAIL = re.compile(rf"{_MATH}\s*{_DASH}{{1,3}}\s*([^\W\d_]\w{{2,}})(?:\s*\([^()]*\))?$")
_LONE_FORMULA = re.compile(rf"{SIGN}*({FORMULA}){SIGN}*")
_SIGNED = re.compile(rf"[(\[]?(?:{_DASH}+\s*)?(?:{_TILDE}{{1,3}}|{CREDIT})")
_DASHED = re.compile(rf"(?:{_DASH}{{1,3}})\s*([^\s\d].*|\d\S*[^\W\d].*)", re.DOTALL)
_LONE_SOLUTION_LINK = re.compile(rf"{SIGN}*{LINK_START}\s*solutions?\s*{LINK_END}{SIGN}*", re.IGNORECASE)
_USER = re.compile(r"user(?:[ _]talk)?:", re.IGNORECASE)
_ANY_LINK = re.compile(LINK_START)
_TEXT_COMMAND = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|sc|sl)?|math(?:rm|bf|it|sf|tt)|mbox|hbox|emph|underline|[hv]?phantom)\s*\{(.*)\}",
    re.DOTALL,
)
_PROPOSER = re.compile(
    r"[(\[](?:(?:[^\W\d_a-z][\w.'’-]*[ \t,]+(?:and[ \t]+)?){1,7}[^\W\d_a-z][\w.'’-]+[)\]][ \t.:]*|[A-Z]\w+[)\]]\.?$)"
)


def whole_line_rule(text: str, marks: Marks) -> str | None:
    """The rule that takes a whole line (without marks of links), or None: C1, C2, C3, C7 or C8."""
    formula = _LONE_FORMULA.fullmatch(text) if len(text) < 20 else None
    if formula and _is_credit_formula(marks.source(formula[1])):
        return "C7"
    if has_formula(text):
        return None
    count = len(text.split(None, 16))
    if len(text) > 1000:
        return "C8" if _COMMENT.match(text) else None
    if count <= 15 and _SIGNED.match(text) and _has_letter(text):
        return "C1"
    dashed = _DASHED.fullmatch(text)
    if dashed and count <= 6 and is_signature(dashed[1]):
        return "C2"
    if _ADDRESS.fullmatch(text):
        return "C8"
    if count <= 12 and is_by_line(text):
        return "C3"
    return "C8" if _COMMENT.match(text) else None


def _has_letter(text: str) -> bool:
    return re.search(rf"[^\W\d_]|{CREDIT}", text) is not None


def _is_credit_formula(source: str) -> bool:
    r"""Whether a formula is nothing but a signature, as in `$\textbf{- name}$`. Rule C7."""
    body, dressed = re.sub(r"^(?:\$+|\\\[|\\\()|(?:\$+|\\\]|\\\))$", "", source.strip()), False
    lead = ""
    while True:
        body = body.strip()
        sign = re.match(r"\\sim\b\s*|[~-]+\s*", body)
        if sign:
            lead, body = "~" if sign[0][0] in "\\~" else "-", body[sign.end() :].strip()
        command = _TEXT_COMMAND.fullmatch(body)
        if not command:
            break
        body, dressed = command[1], True
    text = lead + re.sub(r"\\([_ &#])", r"\1", body)
    return dressed and "\\" not in text and "$" not in text and whole_line_rule(text, Marks()) in ("C1", "C2", "C3")


def tail(text: str) -> tuple[str, str, str] | None:
    """(what stays, what is cut, rule) of a line that ends in a signature, or None. Rule C4."""
    last_words = text.rsplit(None, 17)  # a signature has at most 15 words, its sign may stand apart
    first = len(last_words[0]) if len(last_words) > 17 else 0
    for sign in _SIGN.finditer(text, max(first, len(text) - 1000)):
        rest = text[sign.start() :].lstrip("~∼〜～˜ \t\n")
        before = text[: sign.start()].rstrip("-–— \t\n")
        if before.endswith(("(", "[")) and text.endswith((")", "]")) and before[:-1].rstrip().endswith((".", "!", "?")):
            before = before[:-1].rstrip()  # a whole bracket after a sentence
        if not rest or has_formula(rest) or not _ENDED.search(before, max(0, len(before) - 20)):
            continue
        if len(rest.split()) <= 15 and _has_letter(rest.split()[0]):
            return before, text[len(before) :].strip(), "C4"
    dash = _DASH_TAIL.search(text, max(0, len(text) - 200))
    signs = dash and _has_letter(dash["word"]) and dash["word"].lower() not in NO_SIGNATURES
    if signs and not has_formula(text[dash.end("before") :]):
        after_sentence = dash["before"] in ".!?" and len(dash["word"]) >= 3
        if after_sentence or (dash["before"] not in ".!?" and is_username(dash["word"])):
            return text[: dash.end("before")], text[dash.end("before") :].strip(), "C4"
    return None


def _possible_credit(text: str) -> bool:
    """Whether a word after a formula and a dash may be a name: it stays. Rule C4."""
    dash = _DOUBTFUL_TAIL.search(text, max(0, len(text) - 200))
    return dash is not None and dash[1].lower() not in NO_SIGNATURES


# --- one line, and all of them ----------------------------------------------------------------------------------------


@dataclass
class Cleaned:
    """Lines without credits and comments; `removed` holds (rule, text) in page order."""

    lines: list[Line] = field(default_factory=list)
    removed: list[tuple[str, str]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def without_credits(lines: Sequence[Line], marks: Marks, proposer: bool = False) -> Cleaned:
    """The lines without credits and comments to readers, by rules C1 to C9.

    `proposer`: the text is an olympiad problem, which may begin with a name in brackets (C3).
    """
    cleaned, gap = Cleaned(), ""
    for line in lines:
        text = without_links(line.text)
        if line.kind == "text":
            text = _clean(line.text, marks, cleaned, proposer and not cleaned.lines)
        gap = max(gap, line.gap, key=len)  # a line that goes leaves a paragraph's end behind
        if text:
            cleaned.lines.append(replace(line, text=text, gap=gap))
            gap = ""
    return cleaned


def _clean(text: str, marks: Marks, cleaned: Cleaned, proposer: bool) -> str:
    """One line, cleaned until nothing changes; "" if nothing is left."""

    def remove(rule: str, what: str) -> None:
        shown = text_of(_restored(what, users), marks).strip()
        if shown:
            cleaned.removed.append((rule, shown))

    users: list[str] = []
    if LINK_END in text and _LONE_SOLUTION_LINK.fullmatch(text):
        remove("C8", text)
        return ""
    text = _marked_users(text, marks, users)
    while text:
        before = text
        for rule, pattern, sign in (("C8", COPYRIGHT, "copyrighted"), ("C6", _STAMP, ":")):
            if sign not in text:
                continue
            for found in list(pattern.finditer(text)):
                remove(rule, found[0])
                text = re.sub(r"\s*[(\[]\s*[)\]]", "", text.replace(found[0], "")).strip()
        if proposer and (named := _PROPOSER.match(text)):
            remove("C3", named[0])
            text = text[named.end() :].strip()
        text = _without_signed_parts(text, marks, remove)
        if text and (rule := whole_line_rule(text, marks)):
            remove(rule, text)
            return ""
        while cut := tail(text):  # to its end, since the rules above read the whole line
            remove(cut[2], cut[1])
            text = cut[0].strip()
        if text == before:
            break
    if text and has_formula(text) and _COMMENT.match(text):
        cleaned.warnings.append("possible_comment")
    if _possible_credit(text):
        cleaned.warnings.append("possible_credit")
    return _restored(text, users).strip()


def _without_signed_parts(text: str, marks: Marks, remove: Callable[[str, str], None]) -> str:
    """A paragraph without the lines of its source that are signatures: the writer left no blank line before them.

    Such a line must follow the end of a sentence or of a formula, and nothing that goes on with it may come after.
    """
    parts = text.split("\n")
    if len(parts) == 1:
        return text
    kept: list[str] = []
    for at, part in enumerate(parts):
        after = parts[at + 1] if at + 1 < len(parts) else ""
        ends = not kept or re.search(rf"(?:[.!?)\]}}:]|{_MATH})['\"”]*$", kept[-1])
        begins = not after or re.match(rf"[A-Z(\[~\\]|{_MATH}|{CREDIT}|{_DASH}", after)
        rule = whole_line_rule(part, marks) if ends and begins else None
        if rule == "C2" and kept and not re.search(r"[.!?)]$", kept[-1]) and not is_username(part.strip("-–— ")):
            rule = None  # after a formula a dash may be a minus sign
        if rule in ("C1", "C2", "C3", "C8"):
            remove(rule, part)
        elif cut := tail(part) if begins and after else None:
            remove(cut[2], cut[1])
            kept.append(cut[0].strip())
        else:
            kept.append(part)
    return "\n".join(kept).strip()


def _marked_users(text: str, marks: Marks, users: list[str]) -> str:
    """The text with each link to a user, and what belongs to it, as one credit mark; other links as words. Rule C5."""
    starts = [mark for mark in _ANY_LINK.findall(text) if _USER.match(marks.target(mark))]
    if not starts:
        return without_links(text)
    link = f"[{''.join(starts)}][^{LINK_END}]*{LINK_END}"
    other = f"{LINK_START}?"
    signature = re.compile(
        rf"{link}(?:\s*\(\s*(?:{link}|talk)(?:\s*[|•·/]\s*(?:{link}|{other}contrib\w*{LINK_END}?))*\s*\))?",
        re.IGNORECASE,
    )
    parts, at = [], 0
    for found in signature.finditer(text):
        start = _signs_begin(text, at, found.start())
        users.append(text[start : found.end()])
        parts += [text[at:start], chr(_CREDIT_MARKS[0] + len(users) - 1)]
        at = found.end()
    return without_links("".join([*parts, text[at:]]))


def _signs_begin(text: str, first: int, end: int) -> int:
    """Where the dashes, tildes and "by" begin that stand right before a place."""
    while True:
        before = text[first:end].rstrip(f"{_DASHES}{_TILDES} \t\n")
        signs = text[first + len(before) : end].lstrip()
        if signs:
            end -= len(signs)
        by = re.search(r"\bby:?$", before[-4:], re.IGNORECASE)
        if not by:
            return end
        end = first + len(before) - len(by[0])


def _restored(text: str, users: list[str]) -> str:
    """The text with the signatures that stay, as words."""
    return re.sub(CREDIT, lambda mark: without_links(users[ord(mark[0]) - _CREDIT_MARKS[0]]), text)
