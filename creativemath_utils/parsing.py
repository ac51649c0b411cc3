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
from typing import Literal

from creativemath_utils.markup import BOX_MARK, plain_characters, plain_lines
from creativemath_utils.reasoning import without_reasoning
from creativemath_utils.records import Verdict

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


_REFUSAL = re.compile(
    r"\b(?:I(?:'m| am) (?:sorry|unable|not able)|I (?:can(?:'t|not)|could not|must decline|won't|will not|am afraid)|"
    r"as an AI|unable to (?:judge|determine|evaluate|assess|decide|say)|(?:I )?decline to)\b",
    re.IGNORECASE,
)


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
    return "UNPARSED", "refusal" if _REFUSAL.search(text) else "no verdict"


# --- Patterns ---------------------------------------------------------------------------------------------------------

_NOUN = (
    r"(?:answer|output|verdict|decision|judge?ment|conclusion|response|reply|evaluation|assessment|result|ruling|"
    r"determination|classification|novelty|novel|correctness|correct|assistant|judge|final|输出|答案|结论|判断|回答|判定)"
)
_LABEL = (
    r"(?:(?:so|thus|therefore|hence|overall|finally|in conclusion|to conclude)[,:]?\s+)?"
    rf"(?:(?:my|the|our|your|final|overall|short|最终)\s*)*{_NOUN}(?:\s+{_NOUN})*(?:\s*\([^()]*\))?"
)
# "no" is also an everyday word ("no error was found"): it must stand at a stop, or before a word that begins a reason.
_STOP = r"(?=\s*(?:$|[.,;:!()<\]}\"'|…–—]|-\s|-$))(?!\.\s*\d)"
_REASON = (
    r"(?=\s+(?:because|since|as|for|the|this|that|it|its|they|both|these|there|given|due|here|in|rather|not|again)\b)"
)
_NO = rf"(?:(?i:no){_STOP}|(?i:no)(?=\s+(?i:because|since)\b)|NO{_REASON})"
_SAID = rf"(?P<verdict>(?i:yes)(?!\s+(?i:if|when|unless|or|and)\b)|{_NO})(?![\w'/]|-\w)"
_LINE_ALONE = re.compile(r"[^\w?]*(?P<verdict>(?i:yes|no))[^\w?]*")
_LINE_LABELLED = re.compile(
    rf"[^\w(]*(?:(?i:{_LABEL})\s*(?:[:=|]|-+>?|=>|–|—|→|(?i:is|must be|would be|will be)\b\s*:?|(?=(?:YES|NO)\W*$))"
    rf"|[^?]{{1,200}}\?(?=\s*\W?\s*(?:YES|NO|Yes|No)\W*$))"
    rf"[^\w?]*{_SAID}"
)
_LINE_LEADS = re.compile(rf"[^\w?]*{_SAID}")
_ASIDE = re.compile(r"\W*(?:wait|hold on|hmm|problem|doubt|let me|let's)\b", re.IGNORECASE)
_WORD = re.compile(r"(?<![\w'/-])(?P<verdict>yes|no)(?![\w'/]|-\w)", re.IGNORECASE)

_CONNECTIVE = re.compile(
    r"\b(?:so|therefore|thus|hence|consequently|but|however|actually|finally|overall)\b|→|[-=]+>", re.I
)
_PHRASE = re.compile(
    r"(?:\b(?:answer|output|verdict|decision|judge?ment|conclusion|response|vote)\b[^.;:!?]{0,60}?"
    r"(?:\b(?:is|remains|stays|becomes|must be|should be|would be|will be|to|of|as)|[:=])"
    r"|\b(?:novel|novelty|correct|correctness|final)\s*[:=]"
    r"|\b(?:I|we)\b(?:'d|'ll)?[^.;:!?]{0,30}?\b(?:say|output|answer|vote|conclude|judge|reply|respond|go|rule)(?:\s+with|\s+for)?)"
    r"[\s:]*(?:(?:therefore|thus|hence|clearly|still|simply|definitely|now|an?|that|with)\b[\s:]*)*[\"'$(\[]*$",
    re.IGNORECASE,
)
_CITES = re.compile(
    r"\b(?:candidate|student|author|solver|writer|solution|proof|reference|it|he|she|they)(?:'s|s')?\s+(?:\w+\s+){0,3}?"
    r"(?:says?|said|states?|stated|claims?|claimed|concludes?|concluded|writes?|wrote|answers?|answered|outputs?|"
    r"asserts?|ends?|reads?|verdict|replies|replied|conclusion|claiming|writing|saying|concluding)\b",
    re.IGNORECASE,
)
_HEDGES = re.compile(
    r"\b(?:if|unless|whether|were|might|may|could|would have|at first|initial(?:ly)?|preliminary|tentative(?:ly)?|"
    r"tempt\w*|first thought|otherwise|else|suppos\w+|assum\w+|"
    r"(?:some|one|a \w+ (?:reader|judge)) (?:would|will|may|might)|in order to|should I|criteri(?:a|on)|"
    r"(?:step|point|case|item|part|check|condition|question)\s*\(?[\divx]+\)?)\b"
    r"|^\W*\(?(?:\d+|[ivx]+|[a-e])[.)]",
    re.IGNORECASE,
)
_NEGATES = re.compile(r"(?:\b(?:not|never|neither|nor|cannot|without|hardly|rather than|instead of)\b|n't\b)", re.I)
_REACH = 200  # how far back, in characters, a sentence is read for what qualifies a verdict in it
_GEOMETRY = re.compile(
    r"\b(?:segment|line|side|ray|chord|diagonal|median|length(?: of)?|distance|midpoint of)\s+$", re.I
)
_DENIED = re.compile(
    r"[\"'*`)\]]*\s*\?|\W*\s(?:is|was|would be|seems|looks)\s+(?:wrong|incorrect|not|too|premature|unjustified)\b", re.I
)
_NOT_SAID_AFTER = re.compile(r"[\"'*`)\]]*\s*(?:,\s*)?(?:if|when|only if|unless|or|nor|[=/|])\s?\b", re.IGNORECASE)


# --- Reading: a line that is a verdict, else a sentence that holds one. -----------------------------------------------


def _decide(text: str) -> str:
    """YES, NO, "contradiction" or "none", from plain lines."""
    final: list[str] = []  # verdict lines at the end with no line of prose between them
    prose_since = False
    spoken: list[tuple[str, str]] = []  # (rank, verdict) of sentences after the last verdict line, in order
    first_line = True
    for line in filter(str.strip, text.splitlines()):
        line = re.sub(r"^[ \t]*(?:#+|[-+•])[ \t]*", "", line).strip(" \t|").replace(" | ", ": ")
        verdict, rest = _line_verdict(line)
        if verdict:
            final = [verdict] if prose_since or not final else [*final, verdict]
            prose_since, spoken = False, list(_sentence_verdicts(rest, False))
        else:
            prose_since = prose_since or len(re.findall(r"\w+", line)) >= 3
            spoken += _sentence_verdicts(line, first_line)
        first_line = False
    if final:
        # A bare word inside a later sentence is outranked; a later sentence that states another verdict is not.
        later = {verdict for rank, verdict in spoken if rank != "word"}
        return final[-1] if len({*final, *later}) == 1 else "contradiction"
    return _last_spoken(spoken)


def _line_verdict(line: str) -> tuple[str | None, str]:
    """The verdict of a line that is nothing else, or that begins with a label and one; and the rest of the line."""
    alone = _LINE_ALONE.fullmatch(line.replace(BOX_MARK, ""))
    if alone:
        return alone["verdict"].upper(), ""
    labelled = _LINE_LABELLED.match(line)
    if (
        labelled
        and not _HEDGES.search(line[: labelled.start("verdict")])
        and not _denied(line, labelled.end("verdict"))
    ):
        return labelled["verdict"].upper(), line[labelled.end("verdict") :]
    boxed = [
        m
        for m in re.finditer(rf"{BOX_MARK}\s*(yes|no)\W*?(?=\s|$)", line, re.I)
        if not _blocked(line[max(0, m.start() - _REACH) : m.start()])
    ]
    return (boxed[-1][1].upper(), line[boxed[-1].end() :]) if boxed else (None, line)


def _denied(line: str, end: int) -> bool:
    return bool(_DENIED.match(line, end) or _NOT_SAID_AFTER.match(line, end))


def _sentence_verdicts(line: str, first_line: bool) -> Iterator[tuple[str, str]]:
    """(rank, verdict) of each explicit verdict in running text; rank "lead", "phrase", "firm word" or "word"."""
    lead = _LINE_LEADS.match(line)
    start = 0
    if lead and not _ASIDE.match(line, lead.end("verdict")) and not _denied(line, lead.end("verdict")):
        word = lead["verdict"]
        # Inside a reply only capitals lead ("yes, we see" is talk); at its head a capital letter will do.
        talk = word.islower() and re.match(r"[,\s]*(?:we|I|you|but)\b", line[lead.end("verdict") :])
        if word.isupper() or (first_line and not talk):
            yield "lead", word.upper()
            start = lead.end("verdict")
    for sentence in re.split(r"(?<=[.!?;])\s+", line[start:]):
        if sentence.rstrip().endswith("?"):
            continue
        said = [
            token for token in _WORD.finditer(sentence) if re.match(_SAID, sentence[token.start() : token.start() + 40])
        ]
        for token in said[-20:]:  # a model in a loop repeats itself for pages
            before, word = sentence[max(0, token.start() - _REACH) : token.start()], token["verdict"]
            phrase = bool(_PHRASE.search(before))
            if not (phrase or word.isupper()) or _blocked(before) or _denied(sentence, token.end()):
                continue
            if phrase:
                yield "phrase", word.upper()
            elif before[-1:] not in ('"', "$", "`") and not _GEOMETRY.search(before):
                yield "firm word" if _CONNECTIVE.search(before) else "word", word.upper()


def _blocked(before: str) -> bool:
    """Whether what stands before a verdict in its sentence takes it away: a denial, a condition, somebody's words."""
    since = _CONNECTIVE.split(before)[-1]  # "..., so" starts the judge's own conclusion
    clause = re.split(r"[,;:–—]", since)[-1]
    return bool(_NEGATES.search(clause) or _HEDGES.search(since) or _CITES.search(since))


def _last_spoken(spoken: list[tuple[str, str]]) -> str:
    """The verdict of a reply without a verdict line: the last explicit one, if the reply is clear about it."""
    if not spoken:
        return "none"
    verdicts = {verdict for _, verdict in spoken}
    rank, last = spoken[-1]
    if len(verdicts) == 1 or rank == "phrase":
        return last
    # A reply that turns round has to say so: "At first YES ..., so NO". A bare second word leaves it open.
    return last if rank == "firm word" and all(r in ("word", "firm word") for r, _ in spoken) else "contradiction"
