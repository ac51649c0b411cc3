"""What lines of a page say of themselves: a text is missing, unfinished, a video, a bare answer. Rules 7.1, D2, D3.

The sentences are the wiki's own (a template shows them, `wikitext` writes the same) or what people write in a gap.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from creativemath_utils.wiki.text import (
    BAD_LATEX,
    FORMULA,
    LINK_END,
    LINK_START,
    PICTURE,
    SIGN,
    Line,
    Marks,
    has_formula,
    without_links,
)

SHARED = re.compile(
    rf"(?<![\s(\[*])[\s(\[*]*The following problem is from\b.{{,2000}}?\bredirects? to this page{SIGN}*",
    re.IGNORECASE | re.DOTALL,
)
NO_IMAGE = re.compile(
    r"An image is supposed to go here\.?(?:[^.]{0,20}You can help[^.]*\.)?(?: *Thanks\.)?", re.IGNORECASE
)
NEEDS_SOLUTION = re.compile(r"This problem needs a solution\b[^.]*\.?(?: *If you have [^.]*\.)?", re.IGNORECASE)
STUB = re.compile(r"This (?:article|page) is a stub\b", re.IGNORECASE)  # says nothing of one solution on the page
INCOMPLETE = re.compile(
    r"This (?:article|page|problem|solution|section) is (?:a stub|incomplete)\b[^.]*\.?(?: *(?:You can )?help[^.]*\.)?",
    re.IGNORECASE,
)
_EMBARGO = re.compile(
    r"\b(?:problems?|questions?|exams?|tests?|statements?|page)\b[^.]{0,60}\b(?:will|may|can|could|should)"
    r"(?:\s*not|n['’]t)?\s+(?:be|get)\s+(?:\w+\s+)?(?:posted|available|released|added|uploaded|published|put|made"
    r"|up|discussed|shared)\b"
    r"|\b(?:not|n['’]t)\s+(?:yet\s+)?(?:been\s+|be\s+)?(?:posted|released|available|published|edited in|entered)\b"
    r"|\b(?:problems?|statement|text) (?:is|are) missing\b|\bproblem needs to be added\b"
    r"|\b(?:please )?do(?:\s+not|n['’]t)\s+(?:post|discuss|share)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"\?|\b(?:find|determine|compute|calculate|evaluate|prove|show)\b", re.IGNORECASE)
PLACEHOLDER = re.compile(
    r"[\W_]*+(?:wip|work in progress|(?:\w+ )?coming (?:very )?soon|tb[adc]|(?:to|will) be "
    r"(?:added|determined|announced|written|posted)(?: \w+)?|to ?do|(?:there (?:is|are) )?no solutions?"
    r"(?: (?:is|are|has been|have been))?(?: \w+){0,3}?"
    r"(?: here| yet| available| posted| so far)*(?:[.!,;]* please (?:add|write|post)(?: \w+){0,3})?"
    r"|(?:(?:add|insert|type|write|put|enter) )?(?:(?:a|the|your|my) )?solution (?:goes )?here"
    r"|(?:add|insert|type|write|put|enter) (?:(?:a|the|your|my) )?solution|this (?:section|page|solution) is empty"
    r"|not (?:yet )?done(?: yet)?|solutions? (?:to come|needed|wanted|pending|soon)"
    r"|needs? (?:a )?solution|(?:this problem )?needs a solution.*|in progress|under construction|placeholder"
    r"|(?:(?:a|the|full|my) )*solution (?:will|can|should|is to) be "
    r"(?:added|posted|written|uploaded|provided)(?: \w+){0,3}"
    r"|not (?:yet )?(?:available|written)(?: yet)?|none(?: yet)?|n/?a|nothing(?: here)?(?: yet)?|empty|blank)?[\W_]*",
    re.IGNORECASE,
)
_UNFINISHED = re.compile(
    r"\bto be (?:continued|completed|finished)\b|\bwork in progress\b|\bwip\b"
    r"|(?:\bwill|['’]ll)\s+(?:\w+\s+){0,3}?(?:finish|add|complete(?! the square)|continue|write|do)\b"
    r".*\b(?:later|here|soon|tomorrow)\b|\b(?:finish|complete|continue)(?:d|ing)? (?:\w+ ){0,3}(?:later|soon)\b"
    r"|^\W*+(?:(?:this|the|my)\s+)?(?:solution|proof|write-?up|it|this|still|currently)?\s*(?:is|was|left)?"
    r"\s*(?:still|currently|yet)?\s*unfinished\b(?! (?!solution|proof|for now|so far|as|sorry|please|because|since)\w)",
    re.IGNORECASE,
)
VIDEO = re.compile(r"\bvideos?\b|\byoutu\.?be\b|https?://|www\.", re.IGNORECASE)
_LABEL = (
    r"\\(?:textbf|textrm|textit|text|mathrm|mathbf|mathit|mbox|bf|rm)\s*\{?\s*\(?\s*[A-E]\b"
    r"|\(\s*(?:\\\w+\s*\{\s*)?[A-E]\s*\}?\s*\)"
)
_SAYS_ANSWER = (
    rf"(?:(?:so|thus|hence|therefore|and|then|clearly){SIGN}+)*(?:(?:the|our)\s+)?(?:(?:final|correct)\s+)?"
    rf"answer\s*(?:choice\s*)?(?:is|=|:){SIGN}*(?:(?:choice|option)\s*)?"
)
_CHOICE_LABELS = re.compile(
    r"\(\s*(?:\\\w+\s*\{\s*)?([A-E])\s*\}?\s*\)|\\(?:textbf|textrm|text|mathrm|mathbf|mbox)\s*\{\s*\(?\s*([A-E])\s*[).:]"
    r"|\{\s*\\(?:bf|rm)\s*\(?\s*([A-E])\b"
)
_LOOSE_CHOICES = re.compile(r"(?<!\w)A\s*[).:].*?(?<!\w)B\s*[).:]", re.DOTALL)
_WHICH = re.compile(r"\bwhich(?:\s+one)?\s+of\s+(?:the\s+following|these)\b", re.IGNORECASE)
TO_FIGURE = re.compile(
    r"\bas (?:is )?(?:shown|pictured|depicted|illustrated|drawn)\b|\bpictured\b"
    r"|\b(?:shown|illustrated|depicted|displayed) (?:below|above|here|at (?:left|right)"
    r"|(?:at|on|to|in) the (?:left|right|figure|diagram|picture|drawing|graph|map|grid|table|chart))\b"
    r"|\b(?:region|area|square|rectangle|triangle|polygon|circle|path|grid|shape|solid|cube|pattern|spiral|board) "
    r"(?:is |are )?shown\b(?! (?:to|that|by|on)\b)"
    r"|\b(?:in|see|from|of|on|to) (?:the|this) (?:figure|diagram|picture|drawing)\b|\bsee (?:figure|diagram|picture)\b"
    r"|\b(?:figures?|diagrams?|pictures?|drawings?|graphs?|tables?|charts?|maps?) (?:is |are )?"
    r"(?:shown|(?:below|above)(?! (?:the|an?|its)\b)|shows?|here|at (?:the )?(?:left|right)"
    r"|(?:to|on) the (?:left|right))\b"
    r"|\b(?:following|accompanying|adjoining|adjacent|above|below) (?:figure|diagram|picture|drawing|graph|chart)\b",
    re.IGNORECASE,
)
TO_SOLUTION = re.compile(
    r"\bsolutions?\s*#?\d"
    r"|\b(?:previous|preceding|earlier|above|other|first|second|third|last|former) (?:solutions?|methods?|proofs?)\b"
    r"|\bas (?:above|before|in (?:the )?above)\b|\bsolutions? above\b",
    re.IGNORECASE,
)


def choice_labels(text: str) -> set[str]:
    """The choices that a problem's text shows, of A to E."""
    return {next(filter(None, found.groups())) for found in _CHOICE_LABELS.finditer(text)}


def asks_without_choices(text: str) -> bool:
    """Whether a problem asks which of the following, and nothing follows. Rule D3."""
    return bool(_WHICH.search(text)) and not choice_labels(text) and not _LOOSE_CHOICES.search(text)


def is_embargo(lines: Sequence[Line]) -> bool:
    """Whether the text only says that the problem is not there yet. Rule D3."""
    text = " ".join(line.text for line in lines)
    if has_formula(text) or len(text.split()) > 60 or _ASKS.search(text):
        return False
    return _EMBARGO.search(text) is not None or PLACEHOLDER.fullmatch(text) is not None


def is_link(line: Line) -> bool:
    """Whether a line is links and nothing else."""
    rest = re.sub(f"{LINK_START}[^{LINK_END}]*{LINK_END}", "", line.text)
    return rest != line.text and not has_formula(rest) and re.search(r"\w", rest) is None


def is_mention_of_video(line: Line) -> bool:
    """Whether a line only points at a video."""
    text = without_links(line.text)
    return not has_formula(text) and len(text.split()) <= 20 and VIDEO.search(text) is not None


def says_unfinished(line: Line) -> bool:
    """Whether a formula-free line or bracket says that the solution is not complete."""
    parts = [part for part in line.text.split("\n") if len(part.split()) <= 20]
    parts += re.findall(r"\([^()]{,400}\)|\[[^\[\]]{,400}\]", line.text)
    return any(not has_formula(part) and _UNFINISHED.search(part) for part in parts)


def is_bare_answer(lines: Sequence[Line], marks: Marks) -> bool:
    """Whether a solution is one formula with a box or a choice label, or that letter in words.

    A chain of relations that ends in a box shows its work, so it is a solution.
    """
    text = " ".join(line.text for line in lines)
    found = re.fullmatch(rf"{SIGN}*+(?:{_SAYS_ANSWER})?(?:({FORMULA})|[A-E]){SIGN}*", text, re.IGNORECASE)
    if not found or PICTURE in text or BAD_LATEX in text:
        return False
    if not found[1]:
        return re.search(r"(?<!\w)[A-E](?!\w)\W*$", text) is not None
    source = marks.source(found[1])
    if len(re.findall(r"=|\\(?:le|ge|leq|geq|implies|equiv|Rightarrow)\b", source)) > 1:
        return False
    return re.search(rf"\\(?:boxed|fbox|framebox)\b|{_LABEL}", source) is not None
