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

LONGEST = 500  # characters of a sentence of talk at most; it bounds what a pattern can cost


class Kind(Enum):
    """What a sentence is, judged by itself alone; where it stands then decides about all but KEEP and TALK."""

    KEEP = auto()
    TALK = auto()  # goes anywhere
    OPENING = auto()  # goes before the first kept sentence
    CLOSING = auto()  # goes after the last kept sentence
    ARGUMENT = auto()  # `This is novel because:`; as CLOSING, and so does the list below it
    RULE = auto()  # a line `---`; goes with talk beside it at either end


# --- words -----------------------------------------------------------------------------------------------------------


def _or(*patterns: str) -> str:
    return "(?:" + "|".join(patterns) + ")"


SURELY = (
    r"(?:novel|innovative|unconventional|creative|alternative|alternate(?= (?:solution|approach|method|proof|way)))"
)
PERHAPS = (  # of a method, or of a root, a case, a die
    r"(?:new|different|another|distinct|fresh|unusual|original|unique|non-?(?:standard|traditional|conventional))"
)
METHOD = r"(?:approach|method(?:ology)?|technique|strategy|perspective|viewpoint|line of reasoning|way of thinking)"
WAY = (
    r"(?:solution|proof|way|idea|approach|method(?:ology)?|technique|strategy|perspective|viewpoint|alternative"
    r"|take(?= on))"
)
WAYS = r"(?:solutions?|ones?|proofs?|approach(?:es)?|methods?|techniques?|strateg(?:y|ies)|perspectives?)"
KNOWN = r"(?:given|provided|reference|existing|typical|standard|traditional|conventional|usual|presented|listed)"
GIVEN = _or(rf"\b{KNOWN}(?: [\w-]+)? {WAYS}\b", rf"\b{WAYS} (?:\d+|above|{KNOWN})\b", rf"\babove {WAYS}\b")
OTHERS = _or(GIVEN, rf"\b(?:previous|earlier|other|prior|first|second|two|both|the)(?: [\w-]+)? {WAYS}\b")
# up to two adjectives between `novel` and `approach`, but nothing that begins another phrase
_TO_WAY = (
    r"(?:,? (?!(?:an?|the|is|are|has|have|of|to|for|in|with|from|that|which|by)\b)(?:(?:and|yet|but) )?[\w-]+){0,2}?"
)
SURELY_WAY = rf"\b{SURELY}{_TO_WAY} {WAY}s?\b"
NOVEL_WAY = _or(
    SURELY_WAY,
    rf"\b(?!unique solution){PERHAPS}{_TO_WAY} {WAY}s?\b",
    rf"\b{WAY}s?,? (?:(?:that|which) (?:is|are) )?(?:[a-z]+ly )?(?:(?:distinct|different) (?:from|to|than)|{SURELY})\b",
    rf"\b{WAY}s?,? (?:that|which) (?:[a-z]+ly )?differs?\b",
    rf"\bdifferently\b|\bfrom an? {PERHAPS} angle\b",
)

MAKE = (
    r"(?:present|provide|give|offer|propose|explore|try|use|take|consider|solve|approach|tackle|find|derive|look|think"
    r"|introduce|employ|develop|suggest|show|describe|outline|come up with|adopt|attempt|apply|share|generate|create"
    r"|devise|construct|formulate|produce|arrive at|obtain|write|explain|follow|output|demonstrate|utili[sz]e|leverage)"
)
USE = r"(?:us(?:e|ing)|employ|try|explore|apply|utili[sz]e|leverage|adopt|follow|rely on|make use of|propose|turn to)"
USES = (
    r"(?:uses?|utili[sz]es|employs|leverages|relies|avoids|applies|approaches|focuses|introduces|bypasses|exploits"
    r"|makes use|combines|is based|does not (?:use|rely|need|require|involve))"
)
OFFERS = (
    r"(?:offers|provides|gives|presents|brings|adds|takes|represents|constitutes|serves as|introduces|demonstrates)"
)
WE = (
    r"(?:let['’]?s|let us|let me|allow me to|(?:we|i|one|you)(?:['’](?:ll|d)| (?:will|can|could|shall|may|would|need to"
    r"|want to|are going to|am going to))?(?: like to)?)(?: (?:also|now|instead|first|try to|here))?"
)
BECAUSE = rf"\b(?:because|as|since|in that|for)(?: [\w-]+){{0,2}}? {USES}\b"
VERY = r"(?:(?:also|indeed|quite|very|truly|thus|therefore|both|somewhat|considered|in fact|[a-z]+ly) )*"
HELLO = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|definitely|okay|ok|all ?right|great(?: question)?|good question"
    r"|yes|understood|got it|no problem|gladly)"
)
LEAD_IN = re.compile(
    rf"(?:(?:{HELLO}|in (?:conclusion|summary|essence|short|this way)|to (?:conclude|summari[sz]e)|overall|thus"
    r"|therefore|hence|finally|now|note(?: that)?|notably|notice that|importantly|additionally|moreover|furthermore"
    r"|also|however|as requested|by doing so|as (?:you|we) can see|conclusion|remark|explanation|clearly)\b[,.!:;]* )+"
)

# --- sentences of talk; matched in lower case, without their marks, against the whole sentence -----------------------

INTRODUCES = r"(?:(?:given|based on|considering|inspired by|after|in addition to|instead of) [^,]{1,100}, )?" + _or(
    rf"(?:here|below|(?:the|what) follow(?:ing|s)|this)(?:['’]s| is| are| we| i)\b.{{0,60}}?{NOVEL_WAY}.*",
    rf"(?:{WE} {MAKE}|consider the following)\b.{{0,90}}?{NOVEL_WAY}.*",
    rf"(?:to|in order to|for) .{{0,70}}?{NOVEL_WAY}.{{0,90}}?, {WE} {USE}\b.*",
    rf"(?:to|in order to|for) .{{0,70}}?{NOVEL_WAY}.{{0,90}}?, {WE} [a-z]+\b.{{0,60}}"
    r"\b(?:approach|method|perspective|strategy|technique|concepts?|ideas?|properties|following|differently)\b.*",
    rf"to {MAKE} .{{0,60}}?{NOVEL_WAY}.{{0,60}}",
    rf"(?:there(?: is|['’]s) )?(?:an?|one|another|the|my|our)\b.{{0,20}}?{NOVEL_WAY}.{{0,80}}? (?:as follows"
    rf"|(?:shown )?below|the following|(?:is to|is by|involves|would be to|uses|is based on|relies on)(?: {USE})?\b.*)",
    rf"(?:i|we)(?: have|['’]ve) (?:found|come up with|devised|developed|prepared) .{{0,60}}?{NOVEL_WAY}.*",
)
OPENS = _or(
    HELLO,
    rf"(?:here|below)(?:['’]s| is) (?:the|an?|my|our|one|your)(?: [\w-]+){{0,3}}? (?:{WAY}|answer|explanation)"
    r"(?: (?:to|for|of) (?:the|this|your)(?: [\w-]+){0,3} (?:problem|question|task))?",
    r"(?:the|my|our)(?: [\w-]+)? (?:solution|proof|approach) is as follows",
    r"(?:let['’]s|let us|(?:i|we)(?: will|['’]ll| can)) (?:now )?(?:solve|tackle|work through|break(?: it| this)? down"
    r"|go through|approach|look at|address|begin|start|get started|dive in)"
    r"(?: (?:with )?(?:it|this|(?:this|the|your)(?: [\w-]+)? (?:problem|question|task|solution)))?"
    r"(?: step[ -]by[ -]step| together| systematically| into (?:smaller |simple |manageable )*(?:steps|parts))?",
    r"to solve (?:this|the)(?: [\w-]+)? problem, (?:we|i|you|one)(?: can| will| could|['’]ll| need to)? (?:use|follow"
    r"|take) (?:the following|these) (?:steps?|approach|method|strategy)",
    r"(?:i['’]d be|i would be|i am|i['’]m) (?:happy|glad) to (?:help|assist|provide)\b.*",
)
PLAIN_TALK = re.compile(r"\b(?:steps?|explanation|problem|question|task|break)\b")  # no root and no case is meant
HEADS = _or(  # a heading that claims novelty: as INTRODUCES
    rf"(?:{WAY} \d\d?: )?(?:the |an? |my |our |yet )?(?:[\w-]+ )?{NOVEL_WAY}"
    r"(?: (?:to|for|of) (?:this|the)(?: [\w-]+)? problem)?"
    r"(?:(?: [-–—]|,)? \(?(?:using|with|via|by|based on|through|distinct from|different from) .{1,70})?(?: \d\d?)?\)?",
    rf"{WAY} ?\d{{0,2}} ?[(–—-] ?(?:{SURELY}|{PERHAPS})(?: {WAY})?\)?",
)
HEADS_ARGUMENT = _or(
    r"(?:(?:the|key|main|explanation of|justification (?:of|for)|note on|on|statement of) )*(?:novelty|distinctness)"
    r"(?: (?:of|in|over|explanation|statement|and)\b.{1,60})?",
    r"(?:why|how|what makes)(?: is)? (?:this|it|the)\b.{0,60}\b(?:novel|different|distinct|unique|differs?)\b.{0,60}",
    rf"(?:key |main )?(?:differences?|comparison|contrast) (?:from|with|to|between) .{{0,40}}{OTHERS}.{{0,30}}",
)
CONTRARY = (
    r"(?:unlike|in contrast (?:to|with)|compared (?:to|with)|contrary to|as opposed to|different(?:ly)? from|instead of"
    r"|rather than)"
)
CONTRASTS = _or(
    rf"{CONTRARY} .{{0,80}}?{OTHERS}.{{0,120}}?, (?:(?:this|the|our|my)(?: [\w'’-]+){{0,3}}? {METHOD}\b|(?:it|this(?:"
    rf" (?:solution|proof|one))?) {USES}\b|(?:we|i) (?:avoid|never|do not (?:use|rely|need|require)|don['’]t)\b).*",
    rf"(?:{CONTRARY}|while|whereas|although) .{{0,60}}?{GIVEN}.{{0,160}}?, (?:this|our|my|the (?:new|novel|above))"
    rf"(?: [\w'’-]+){{0,3}}? (?:{WAY}|one)\b.*",
    rf"(?:what|the thing that) makes (?:this|the|our|my|it)\b.{{0,60}}\b(?:{SURELY}|{PERHAPS}|stand out)\b.*",
    r"the (?:[\w-]+ )?novelty\b.{0,60}\b(?:lies|is|comes)\b.*",
    rf"the (?:[\w-]+ )?(?:difference|distinction)s?\b.{{0,60}}\b(?:this|our|my|the n(?:ew|ovel))(?: [\w-]+)? {WAY}\b.*",
    r"(?:this|that|it) (?:is what )?(?:makes|sets|renders|distinguishes) (?:this|it|the|our|my)\b.{0,60}?"
    rf"(?:\b{SURELY}\b|\bapart\b|\bfrom\b.{{0,20}}{OTHERS}|\b{WAY}.{{0,20}}\b(?:different|distinct|unique)\b).*",
    rf"none of .{{0,20}}{GIVEN} {USES}\b.*",
)
SUBJECT = re.compile(
    rf"(?:this|that|the|our|my|such an?)(?: [\w'’-]+,?){{0,4}}? (?P<method>{METHOD})(?: (?:above|here|used))?\b"
    r"|(?:this|that|the|our|my)(?: [\w'’-]+){0,2}? (?:solution|proof)(?: (?:above|here))?\b"
    r"|(?:this|it)\b"
)
BY_MEANS = re.compile(r"(?:(?:by|through|with) [^,]{1,80}, )?")
PREDICATE = re.compile(
    rf"(?:,? which)? {VERY}(?:(?:is|are|was|can be|may be|should be|seems|remains) {VERY}(?:an? )?(?:[\w-]+ and )?"
    rf"(?:{SURELY}|{PERHAPS})\b(?! (?:for|in) (?:each|every|all)\b)"
    rf"|does not (?:use|rely|depend|follow)\b(?=.*{GIVEN})"
    r"|(?:differs|diverges|departs|deviates|stands apart|is set apart|stands out)\b(?! by an?\b)"
    rf"|{OFFERS}\b.{{0,60}}?(?:{NOVEL_WAY}|\b(?:{SURELY}|{PERHAPS}) (?:[\w-]+ )?(?:insights?|view|look|take)\b"
    r"|\balternative to\b))"
)
CLOSES = _or(
    r"(?:i )?hope (?:this|that|it|you)\b.{0,80}",
    r"(?:please )?(?:let me know|feel free|don['’]t hesitate|do not hesitate)\b.*",
    r"if you (?:have|need|would like|want|['’]d like)\b.{0,60}\b(?:questions?|help|clarif\w+|assistance|details?)\b.*",
    r"(?:thank you|thanks|good luck|happy (?:solving|learning|studying|problem[ -]solving))\b.{0,60}",
    r"(?:would you like|do you want|is there anything else)\b.*",
    rf"(?:this|the|our|my)(?: [\w'’-]+,?){{0,3}}? (?:solution|proof|{METHOD}) {VERY}(?:(?:demonstrat|showcas|highlight"
    r"|illustrat|emphasi[sz]|leverag|avoid|offer|provid|simplif|exemplif|streamlin|underscor)(?:e?s|ies)|not only"
    r"|allows us to (?:avoid|solve)|is (?:[\w-]+ ){0,2}?(?:elegant|simpler?|efficient|straightforward|short))\b.*",
    rf"(?:this|the|our|my) {SURELY} (?:{WAY}) {USES}\b.*",
    r"(?:conclusion|summary|(?:final |closing )?(?:remarks?|thoughts?|notes?)|explanation)",  # left over by what goes
)
INTRODUCTION, OPENER, HEADING, ARGUMENT_HEADING, CONTRAST, CLOSER = (
    re.compile(pattern, re.DOTALL) for pattern in (INTRODUCES, OPENS, HEADS, HEADS_ARGUMENT, CONTRASTS, CLOSES)
)
GOES_ON = re.compile(rf"(?:it|this|the (?:{KNOWN}|{WAY})|these|{CONTRARY}|while|whereas)\b", re.IGNORECASE)
OPENS_LIST = re.compile(r".*\b(?:because|as|since|reasons?|ways?|respects?|following|that|novelty|differences?|\w+:)")
SURE = re.compile(_or(SURELY_WAY, GIVEN, rf"\b{SURELY}\b"))
AS_A_METHOD = re.compile(_or(GIVEN, BECAUSE, rf"\b{SURELY}\b"))

INFERENCE = re.compile(  # could be a step, whatever else it says
    r"\b(?:answer is|equals?|equal to|congruent|similar to|(?:we|i) (?:get|obtain|conclude|know|deduce"
    r"|(?:find|see) that|have (?!found|come|devised|developed|prepared))|it follows|follows that|suppose|assum(?:e|ing)"
    r"|let(?!['’]?s\b| us\b| me\b)|denote|define|completes?|proves|shows that|implies|fact that|if and only if"
    r"|which (?:gives|means|shows|yields|leaves|implies)|contradiction)\b|[,;] (?:so|thus|hence|therefore|then)\b"
)
STEP = re.compile(  # an introduction that goes on to act
    r"(?:\b(?:by|and|then|to|we|can|will|first|now)|,) (?:draw|reflect|rotat|translat|extend|drop|plac|colou?r|label"
    r"|pair|arrang|fold|cut|connect|join|add|subtract|multipl|divid|substitut|squar|factor|expand|count|choos|pick|replac"
    r"|rearrang|integrat|differentiat|project|bisect|remov|shad|til|partition|split|group|list|rewrit|set|fix|number|order|sum)"
    r"(?:e|s|es|t?ing|n?ing|y|p?ing)?\b"
)

# --- mathematics -----------------------------------------------------------------------------------------------------

EMPHASIS = re.compile(r"\*{1,3}(?=\S)|(?<=\S)\*{1,3}|(?<!\w)_{1,3}|_{1,3}(?!\w)")
NUMBERED = re.compile(rf"\b{WAYS} \d\d?\b(?:(?:,| and| or| to|,? and) \d\d?\b)*(?![.,]?\d)", re.IGNORECASE)
SIGN = re.compile(r"[$\\`=<>^{}|~@&%#+/\d]|\w[*_]\w|\s\*\s|\w\(")
VARIABLE = re.compile(r"(?<![\w'’])(?![aAI]\b)[^\W\d_](?![\w'’])")
FIGURE = re.compile(r"\b(?!(?:AMC|AIME|IMO|USAMO|USAJMO|AI|AM|GM|NOTE)\b)[A-Z]{2,6}\b")


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


# what stands before the words of a line: quotation, heading, item of a list
MARK = re.compile(r"(?:>[ \t]*)*(?:#{1,6}[ \t]+)?(?P<item>(?:[-*+•]|\(?\d{1,2}[.)])[ \t]+)?")
RULE = re.compile(r"-{3,}|\*{3,}|_{3,}")


# --- judgement -------------------------------------------------------------------------------------------------------


def kind_of(text: str) -> Kind:
    """The kind of one sentence or heading, by its own words; `text` has no white space around it."""
    if RULE.fullmatch(text):
        return Kind.RULE
    body = EMPHASIS.sub("", text[MARK.match(text).end() :])
    if len(text) > LONGEST or _holds_mathematics(body):
        return Kind.KEEP
    words = " ".join(body.lower().split()).rstrip(".!?…\"”'’) ")
    opens_list = words.endswith(":")
    words = words.strip(":\"“”'‘ ")
    lead_in = LEAD_IN.match(words + " ")
    bare = words[lead_in.end() :] if lead_in else words
    if INFERENCE.search(bare):
        return Kind.KEEP
    if ARGUMENT_HEADING.fullmatch(bare) and not body.rstrip().endswith("."):
        return Kind.ARGUMENT
    if _claims(bare):
        return Kind.ARGUMENT if opens_list and OPENS_LIST.fullmatch(bare) else Kind.TALK
    if HEADING.fullmatch(bare) or (INTRODUCTION.fullmatch(bare) and not STEP.search(bare)):
        return Kind.TALK if SURE.search(bare) else Kind.OPENING
    if OPENER.fullmatch(bare or words):
        return Kind.TALK if PLAIN_TALK.search(bare) else Kind.OPENING
    return Kind.CLOSING if CLOSER.fullmatch(bare or words) else Kind.KEEP


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
    return bool(predicate and (subject["method"] or AS_A_METHOD.search(words, subject.end())))


def carries_on(text: str, start: int, end: int) -> bool:
    """Whether the sentence text[start:end] can hang on `This is novel because:` before it.

    It is an item of a list, or begins like `It uses` or `Unlike the first`; and it holds no mathematics.
    """
    mark = MARK.match(text, start)
    more = mark["item"] or GOES_ON.match(text, mark.end())
    return bool(more) and not _holds_mathematics(EMPHASIS.sub("", text[mark.end() : end]))
