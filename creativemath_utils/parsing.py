r"""A judge's reply to a verdict.

A verdict has three values: YES, NO, and UNPARSED where the reply takes no clear side. An unclear reply is never
guessed at, since a guess would be counted as a vote.

    >>> parse_verdict("At first glance YES, the sum matches. But step 3 divides by zero.\nOutput: NO")
    'NO'
    >>> parse_verdict("NOT NOVEL")
    'UNPARSED'
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Literal

from creativemath_utils.markup import BOX_MARK, SET_OFF_MARK, plain_characters, plain_lines
from creativemath_utils.reasoning import without_reasoning
from creativemath_utils.records import Verdict
from creativemath_utils.verdict_words import (
    ANY_LABEL,
    ASIDE,
    ASKED,
    CITES,
    CONCEDES,
    CONCLUDES,
    CONCLUSION,
    CONNECTIVE,
    CONTRARY,
    DENIED,
    ENUMERATED,
    GEOMETRY,
    HEDGES,
    ITEM,
    ITEM_HEAD,
    KNOWN_LABEL,
    LABEL_ALONE,
    LINE_ALONE,
    LINE_LABELLED,
    LINE_LEADS,
    NEGATES,
    NOT_SAID_AFTER,
    NOT_SO,
    PHRASE,
    PROPERTY,
    REACH,
    REFUSAL,
    SAID,
    TURNS,
    VERDICT_NOUN,
    WORD,
)

Rule = Literal["strict", "release"]
Reason = Literal["empty", "refusal", "truncated", "contradiction", "no verdict"]

# Ways in which endpoints say that a reply was cut off before its end.
CUT_OFF = frozenset({"length", "max_tokens", "model_length", "max_output_tokens", "content_filter"})


def parse_verdict(text: str | None, finish_reason: str | None = "stop", rule: str = "strict") -> Verdict:
    """The verdict of a judge's reply: YES, NO or UNPARSED.

    `rule` "strict": whole words; the last explicit verdict wins, and one alone on its line or behind a label (Output:,
    Verdict -) outranks one inside a sentence. Reasoning blocks, quotations, code and echoes of the instruction never
    decide. Two final lines that contradict each other are UNPARSED, and so is every reply that was cut off, even
    behind a complete verdict line: what would have followed could have taken it back.
    `rule` "release": any upper-case YES is YES, all else NO, as in the paper's released code.
    Raises ValueError for any other rule.
    """
    if rule == "release":
        return "YES" if "YES" in (text or "") else "NO"
    if rule != "strict":
        raise ValueError(f"rule {rule!r} is unknown; choose 'strict' or 'release'")
    return _read(text, finish_reason)[0]


def unparsed_reason(text: str | None, finish_reason: str | None = "stop") -> Reason | None:
    """Why a reply is UNPARSED under the strict rule, or None where it holds a verdict."""
    return _read(text, finish_reason)[1]


def _read(text: str | None, finish_reason: str | None) -> tuple[Verdict, Reason | None]:
    """The verdict under the strict rule, and the reason where there is none."""
    if (finish_reason or "").lower() in CUT_OFF:
        return "UNPARSED", "truncated"
    text = plain_characters(without_reasoning(text or ""))
    if not text.strip():
        return "UNPARSED", "empty"
    verdict = _decide(plain_lines(text))
    if verdict in ("YES", "NO"):
        return verdict, None
    if verdict == "contradiction":
        return "UNPARSED", "contradiction"
    return "UNPARSED", "refusal" if REFUSAL.search(text) else "no verdict"


# --- Reading: a line that is a verdict, else a sentence that holds one. -----------------------------------------------


def _decide(text: str) -> str:
    """YES, NO, "contradiction" or "none", from plain lines."""
    final: list[str] = []  # verdict lines at the end with no line of prose between them
    prose_since = False
    spoken: list[tuple[str, str]] = []  # (rank, verdict) of what is said after the last verdict line, in order
    first_line = True
    head = ""  # a label or a question on a line of its own, which the next line answers
    for line in _lines(text):
        if LABEL_ALONE.fullmatch(line):
            head = line.strip(" \t:") + ": "
            continue
        rank, verdict, rest = _line_verdict(head + line)
        head = line + " " if line.endswith("?") else ""
        if rank == "verdict":
            if prose_since:
                final = []
            final.append(verdict)
            prose_since, spoken = False, list(_sentence_verdicts(rest, False))
        elif rank:
            spoken += [(rank, verdict), *_sentence_verdicts(rest, False)]
        else:
            prose_since = prose_since or len(re.findall(r"\w+", line)) >= 3
            spoken += _sentence_verdicts(rest, first_line)
        first_line = False
    if final:
        return _agreed([final[-1], *final, *_firm(spoken)])
    return _last_spoken(spoken)


def _lines(text: str) -> list[str]:
    """The lines without marks of lists and tables; an answer below the heading of each item is put behind it."""
    lines: list[str] = []
    for line in filter(str.strip, text.splitlines()):
        line = re.sub(r"^[ \t]*(?:#+|[-+•])[ \t]*", "", line).strip(" \t|")
        cells = line.split(" | ")
        if len(cells) > 1 and sum(bool(LINE_ALONE.fullmatch(cell)) for cell in cells) > 1:
            continue  # answers side by side, of which no one knows whose they are
        lines.append(ENUMERATED.sub("", line.replace(" | ", ": ")))
    below = {i for i in range(1, len(lines)) if LINE_ALONE.fullmatch(lines[i]) and ITEM_HEAD.fullmatch(lines[i - 1])}
    if len(below) > 1:
        lines = [
            f"{line.strip(' :')}: {lines[i + 1]}" if i + 1 in below else line
            for i, line in enumerate(lines)
            if i not in below
        ]
    return [line for line, _ in groupby(lines)]  # a model in a loop says the same again and again


def _line_verdict(line: str) -> tuple[str, str, str]:
    """The verdict of a line that is nothing else, or that begins with a label and one; and the rest of the line.

    Its rank is "verdict", or "property" for the answer to a question on the same line and for a label such as Novel:,
    which may be one of several; "" where the line is none.
    """
    if line.startswith(SET_OFF_MARK):
        return "small word", line.strip(SET_OFF_MARK), ""
    alone = LINE_ALONE.fullmatch(line.replace(BOX_MARK, ""))
    if alone:
        return "verdict", alone["verdict"].upper(), ""
    labelled = LINE_LABELLED.match(line)
    if labelled and (asked := labelled["question"]) and (not ASKED.search(asked) or CONTRARY.search(asked)):
        return "", "", ""
    label = line[: labelled.start("verdict")] if labelled else ""
    if labelled and not any(p.search(label) for p in (HEDGES, CITES)) and not _denied(line, labelled.end("verdict")):
        rank = "verdict" if re.search(VERDICT_NOUN, labelled["label"] or "", re.IGNORECASE) else "property"
        return rank, labelled["verdict"].upper(), line[labelled.end("verdict") :]
    boxes = [*re.finditer(rf"{BOX_MARK}[\s$]*(yes|no)[^\w{BOX_MARK}]*{BOX_MARK}", line, re.I)][-20:]
    boxed = [box for box in boxes if not _blocked(line[max(0, box.start() - REACH) : box.start()])]
    return ("verdict", boxed[-1][1].upper(), line[boxed[-1].end() :]) if boxed else ("", "", line)


def _denied(line: str, end: int) -> bool:
    return bool(DENIED.match(line, end) or NOT_SAID_AFTER.match(line, end))


def _sentence_verdicts(line: str, first_line: bool) -> Iterator[tuple[str, str]]:
    """(rank, verdict) of each explicit verdict in running text.

    The rank is "lead", "phrase", "firm word", "word", or "small word" for one that counts only where no other is.
    """
    lead = LINE_LEADS.match(line)
    start = 0
    if lead and not ASIDE.match(line, lead.end("verdict")) and not _denied(line, lead.end("verdict")):
        word = lead["verdict"]
        # Inside a reply only capitals lead ("yes, we see" is talk); at its head a capital letter will do.
        talk = word.islower() and re.match(r"[,\s]*(?:we|I|you|but)\b", line[lead.end("verdict") :])
        if word.isupper() or (first_line and not talk):
            yield "lead", word.upper()
            start = lead.end("verdict")
    for sentence in re.finditer(r"\S.*?(?:[.!?;](?=\s)|$)", line[start:]):
        begin = start + sentence.start()
        if sentence[0].endswith("?"):
            continue
        said = [
            token
            for token in WORD.finditer(line, begin, start + sentence.end())
            if re.match(SAID, line[token.start() : token.start() + 40])
        ]
        for token in said[-20:]:  # a model in a loop repeats itself for pages
            before, word = line[max(begin, token.start() - REACH) : token.start()], token["verdict"]
            phrase, concludes = bool(PHRASE.search(before)), bool(CONCLUDES.search(before))
            if not (phrase or concludes or word.isupper()) or _blocked(before) or _denied(line, token.end()):
                continue
            if word.upper() == "YES" and NOT_SO.search(before):
                continue
            if concludes and not word.isupper():
                if CONCLUSION.match(line, token.end()):
                    yield "small word", word.upper()
            elif PROPERTY.search(before):
                yield "property", word.upper()
            elif phrase:
                yield "phrase", word.upper()
            elif before[-1:] not in ('"', "$", "`") and not GEOMETRY.search(before):
                yield "firm word" if re.search(TURNS, before, re.IGNORECASE) else "word", word.upper()


def _blocked(before: str) -> bool:
    """Whether what stands before a verdict in its sentence takes it away: a denial, a condition, somebody's words."""
    since = CONNECTIVE.split(before)[-1]  # "..., so" starts the judge's own conclusion
    since = CONCEDES.sub("", since)  # as the main clause does, after "Although one might say NO,"
    clause = re.split(r"[,;:(–—]|\s-\s", since)[-1]
    label = ANY_LABEL.search(re.split("[,;]", since)[-1])
    if label and not KNOWN_LABEL.fullmatch(label["label"].replace("_", " ")):
        return True
    return any(
        pattern.search(part) for pattern, part in ((NEGATES, clause), (HEDGES, since), (CITES, since), (ITEM, since))
    )


def _last_spoken(spoken: list[tuple[str, str]]) -> str:
    """The verdict of a reply without a verdict line: the last explicit one, if the reply is clear about it."""
    spoken = [said for said in spoken if said[0] != "small word"] or spoken
    if not spoken:
        return "none"
    rank, last = spoken[-1]
    if rank == "phrase" or len({verdict for _, verdict in spoken}) == 1:
        return last
    ranks = [rank for rank, _ in spoken]
    if "property" in ranks:
        begin = ranks.index("property")
        return _agreed([verdict for rank, verdict in spoken[begin:] if rank != "word"])
    # A reply that turns round has to say so: "At first YES ..., so NO". A bare second word leaves it open.
    return last if rank == "firm word" and set(ranks) <= {"word", "firm word"} else "contradiction"


def _firm(spoken: list[tuple[str, str]]) -> list[str]:
    """The verdicts that a verdict line does not outrank: all but bare words."""
    return [verdict for rank, verdict in spoken if rank not in ("word", "small word")]


def _agreed(verdicts: list[str]) -> str:
    return verdicts[0] if len(set(verdicts)) == 1 else "contradiction"
