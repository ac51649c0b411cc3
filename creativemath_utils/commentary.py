"""What a sentence of a model's answer is: a step of the solution, or talk about it.

A sentence is judged by its words alone, against patterns of talk: introductions, claims that the solution is new,
contrasts with the given ones, courtesies. Whatever holds mathematics, or could be a turn of inference, is kept.

    >>> [kind_of(text).name for text in ("Sure!", "This approach is novel, as it is short.", "This approach gives 5.")]
    ['OPENING', 'TALK', 'KEEP']
"""

from __future__ import annotations

import re
import unicodedata
from enum import Enum, auto

from creativemath_utils.talk import (
    ARGUMENT_HEADING,
    AS_A_METHOD,
    BOLD,
    BY_MEANS,
    CLOSER,
    CONTRAST,
    GOES_ON,
    HEADING,
    HERE,
    INTRODUCTION,
    KNOWN,
    LEAD_IN,
    OPENER,
    OPENS_LIST,
    PLAIN_TALK,
    PREDICATE,
    SUBJECT,
    SURE,
    WAYS,
)

LONGEST = 500  # characters of a sentence of talk at most; it bounds what a pattern can cost


class Kind(Enum):
    """What a sentence is, judged by itself alone; where it stands then decides about all but KEEP and TALK."""

    KEEP = auto()
    TALK = auto()  # goes anywhere
    OPENING = auto()  # goes before the first kept sentence
    CLOSING = auto()  # goes after the last kept sentence
    ARGUMENT = auto()  # `This is novel because:`; as CLOSING, and so does the list below it
    RULE = auto()  # a line `---`; goes with talk beside it at either end


# --- steps ------------------------------------------------------------------------------------------------------------

INFERENCE = re.compile(  # could be a step, whatever else it says
    r"\b(?:answer is|equals?|equal to|congruent|similar to|(?:we|i) (?:get|obtain|conclude|know|deduce|(?:find|see)"
    r" that|have (?!found|come|devised|developed|prepared|provided|presented|used|avoided|taken|employed|an? n(?:ew"
    r"|ovel)))|it follows|follows that|suppose|assum(?:e|ing)|let(?!['’]?s\b| us\b| me\b)|denote|define|completes"
    r"|proves|shows that|implies|fact that|if and only if|which (?:gives|means|shows|yields|leaves|implies|halves"
    r"|doubles|forces|reduces|cancels|proves|determines|turns)|(?:start|begin)s? (?:by|with)|contradiction|(?:means"
    r"|demonstrates|illustrates) that|(?:notic|observ|recogni[sz]|reali[sz]|not|see)(?:e|ing)? that(?! (?:this|the"
    r"|our) (?:approach|method|solution|proof)))\b|[,;] (?:so|thus|hence|therefore|then)\b"
)
ACT = (
    r"(?:draw|reflect|rotat|translat|extend|drop|plac|colou?r|label|pair|arrang|fold|cut|connect|join|add|subtract"
    r"|multipl|divid|substitut|squar|factor|expand|count|choos|pick|replac|rearrang|integrat|differentiat|project"
    r"|bisect|remov|shad|til|partition|split|group|list|rewrit|swap|exchang|flip|mirror|shift|revers|invert|permut"
    r"|scal|set|fix|number|order|sum)(?:e|s|es|t?ing|n?ing|y|p?ing|ed|ted|ies)?\b"
)
STEP = re.compile(  # an introduction that goes on to act
    rf"(?:^|(?:\blet['’]s|[-–—:]) |\b(?:us|by|and|then|to|of|for|we|can|will|first|now|it|that|which|approach|method"
    rf"|idea|is|are|gets?) |, ){ACT}|\b(?:where|in which|so that|such that|whose)\b"
)
RESULT = re.compile(  # what a method gives, and facts it rests on
    rf"\b(?:because|since) (?:now )?(?:the|every|each|any|all|both|no)\b(?! {KNOWN})(?! (?:[\w-]+ )?(?:{WAYS}|focus|use"
    rf"|emphasis|idea|reasoning|argument|need|problem|steps?)\b)|\b(?:we|i)(?: can| first| then)? {ACT}|\band (?:get"
    rf"|obtain|deduce|conclude|(?:yields|gives|shows|proves|finds) that)\b"
    rf"|\b(?:approach|method|proof|technique) (?:yields|produces|counts|proves|leads|results"
    rf"|gives (?!.*\b(?:perspective|insights?|view|way|alternative|approach|method|solution|understanding|look)\b))"
)

# --- mathematics -----------------------------------------------------------------------------------------------------

EMPHASIS = re.compile(r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)")
NUMBERED = re.compile(rf"\b{WAYS} \d\d?\b(?:(?:,| and| or| to|,? and) \d\d?\b)*(?![.,]?\d)", re.IGNORECASE)
SIGN = re.compile(r"[$\\`=<>^{}|~@&%#+/\d\"“”„«»]|\w[*_]\w|\s\*\s|\w\(")
VARIABLE = re.compile(r"(?<![\w'’])(?![aAI]\b)[^\W\d_](?![\w'’])")
FIGURE = re.compile(r"\b(?!(?:CRT|AMC|AIME|IMO|USAMO|USAJMO|AI|AM|GM|NOTE)\b)[A-Z]{2,6}\b")


def _holds_mathematics(sentence: str) -> bool:
    """Whether a sentence holds anything that could be part of a step, its line mark and emphasis taken off before."""
    sentence = NUMBERED.sub("solution", sentence)
    if SIGN.search(sentence) or VARIABLE.search(sentence) or (FIGURE.search(sentence) and not sentence.isupper()):
        return True
    # relations and arrows (Sm), powers and fractions (No, Nl), other digits (Nd) and Greek; é and 解 are words
    return any(
        c > "\x7f" and (unicodedata.category(c) in ("Sm", "No", "Nl", "Nd") or "GREEK" in unicodedata.name(c, ""))
        for c in sentence
    )


# what stands before the words of a line: heading, item of a list
MARK = re.compile(r"(?:#{1,6}[ \t]+)?(?P<item>(?:[-*+•]|\(?(?:\d{1,2}[.)]|[ivx]{1,4}\)|[a-h]\)))[ \t]+)?")
LEADING_SIGNS = re.compile(r"^[^\w\s]+ *")
RULE = re.compile(r"-{3,}|\*{3,}|_{3,}")


# --- judgement -------------------------------------------------------------------------------------------------------


def kind_of(text: str) -> Kind:
    """The kind of one sentence or heading, by its own words; `text` has no white space around it."""
    if RULE.fullmatch(text):
        return Kind.RULE
    body = EMPHASIS.sub("", text[MARK.match(text).end() :])
    if len(text) > LONGEST or _holds_mathematics(body) or body.count("(") != body.count(")"):
        return Kind.KEEP
    words = " ".join(body.lower().split()).rstrip(".!?…'’) ")
    opens_list = words.endswith(":")
    words = LEADING_SIGNS.sub("", words).strip(":'‘ ")
    lead_in = LEAD_IN.match(words + " ")
    bare = words[lead_in.end() :] if lead_in else words
    if INFERENCE.search(bare) or RESULT.search(bare):
        return Kind.KEEP
    if ARGUMENT_HEADING.fullmatch(bare) and not body.rstrip().endswith("."):
        return Kind.ARGUMENT
    if _claims(bare):
        return Kind.ARGUMENT if opens_list and OPENS_LIST.fullmatch(bare) else Kind.TALK
    if HEADING.fullmatch(bare) or (INTRODUCTION.fullmatch(bare) and not STEP.search(bare)):
        bold = text.startswith("**")
        sure = SURE.search(bare) or text.startswith("#") or HERE.match(bare) or (bold and BOLD.search(bare))
        return Kind.TALK if sure else Kind.OPENING
    if OPENER.fullmatch(bare or words) and not STEP.search(bare):
        return Kind.TALK if PLAIN_TALK.search(bare) else Kind.OPENING
    return Kind.CLOSING if CLOSER.fullmatch(bare or words) else Kind.KEEP


def may_be_a_step(text: str) -> bool:
    """Whether a sentence could be a step of a solution: it holds mathematics, or is no plain talk and infers or acts.

    Whoever else says that it is talk, this is the guard by which it stays.
    """
    body = EMPHASIS.sub("", text[MARK.match(text).end() :])
    words = " ".join(body.lower().split())
    if _holds_mathematics(body):
        return True
    turns = INFERENCE.search(words) or RESULT.search(words) or STEP.search(words)
    return bool(turns) and kind_of(text) is Kind.KEEP


def _claims(words: str) -> bool:
    """Whether a sentence says of the solution as a whole that it is new.

    Said of a method (`this approach is different`) that is plain. Said of a `solution`, or of `it`, it may be about
    roots, so there the word must be a sure one, or the given solutions or the reason must be named.
    """
    if CONTRAST.fullmatch(words):
        return True
    subject = SUBJECT.match(words, BY_MEANS.match(words).end())
    if not subject:
        return False
    predicate = PREDICATE.match(words, subject.end())
    return bool(predicate and (subject["method"] or subject["mine"] or AS_A_METHOD.search(words, subject.end())))


def carries_on(text: str, start: int, end: int) -> bool:
    """Whether the sentence text[start:end] can hang on `This is novel because:` before it.

    It is an item of a list, or begins like `It uses` or `Unlike the first`; and it holds no mathematics.
    """
    mark = MARK.match(text, start)
    more = mark["item"] or GOES_ON.match(text, mark.end())
    body = EMPHASIS.sub("", text[mark.end() : end])
    return bool(more) and not (_holds_mathematics(body) or INFERENCE.search(body.lower()) or STEP.search(body.lower()))
