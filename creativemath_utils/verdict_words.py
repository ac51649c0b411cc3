r"""The words of a judge's reply: verdicts, labels, and what takes a verdict away. Patterns alone, for `parsing`.

A verdict is taken away by what stands before it, in its clause or sentence: a denial (`not YES`), a condition (`if step
3 held, YES`), a citation (`the candidate says YES`), a label about something else (`Same method: YES`); or by what
follows (`YES would need a new idea`).
"""

from __future__ import annotations

import re

VERDICT_NOUN = (
    r"(?:answer|output|verdict|decision|judge?ment|conclusion|response|reply|evaluation|assessment|result|ruling|"
    r"determination|classification|choice|vote|assistant|judge|final|输出|答案|结论|判断|回答|判定)"
)
NOUN = rf"(?:{VERDICT_NOUN}|novelty|novel|correctness|correct)"
LABEL = (
    r"(?:(?:so|thus|therefore|hence|overall|finally|in conclusion|to conclude)[,:]?\s+)?"
    rf"(?:(?:my|the|our|your|final|overall|short|is|最终)\s*)*{NOUN}(?:\s+{NOUN})*(?:\s*(?:\([^()]*\)|…|\?))*"
)
# "no" is also an everyday word ("no error was found"): it must stand at a stop, or before a word that no noun begins.
STOP = r"(?=\s*(?:$|[.,;:!()<\[\]}\"'|]|[^\w\s\x00-\x7f]|-\s|-$))(?!\.\s*\d)"
NO_NOUN = (
    r"(?=\s+(?i:because|since|as|for|the|this|that|it|its|they|both|these|there|given|due|here|in|rather|not|again|is|"
    r"under|by|on|with|from|to|if|when|unless|otherwise|than|instead|while|whereas|although|though|but|and|or)\b)"
)
NO = rf"(?:(?i:no){STOP}|(?i:no)(?=\s+(?i:because|since|it|this|that|they|the|these)\b)|NO{NO_NOUN})"
SAID = rf"(?P<verdict>(?i:yes)(?!\s+(?i:if|when|unless|or)\b)|{NO})(?![\w'/]|-\w)"
LINE_ALONE = re.compile(r"[^\w?]*(?P<verdict>(?i:yes|no))[^\w?]*")
LABEL_ALONE = re.compile(rf"[^\w(]*(?i:{LABEL})\s*[:=-]?\W*")
LINE_LABELLED = re.compile(
    rf"[^\w(]*(?:(?P<label>(?i:{LABEL}))\s*"
    r"(?:[:=|]|-+>?|=>|–|—|→|(?i:is|must be|would be|will be)\b\s*:?|(?=(?:YES|NO)\W*$))"
    rf"|(?P<question>[^?]{{1,200}})\?(?=\s*\W?\s*(?:YES|NO|Yes|No)\W*$))"
    rf"[^\w?]*{SAID}"
)
# A question that a judge puts to itself is the one it was asked only if it is about this, and not about its contrary.
ASKED = re.compile(
    rf"\b(?:novel|novelty|correct|leads?|YES or NO|{VERDICT_NOUN}\W*$)\b|…"
    r"|\b(?:results?|answers?)\b.*\b(?:same|equal|equivalent|match\w*|agree\w*|coincide|identical)\b"
    r"|\bsame (?:final |numerical )?(?:result|answer)\b",
    re.IGNORECASE,
)
CONTRARY = re.compile(r"\b(?:not|isn't|lacks?|non|incorrect|differ\w*)\b|\b(?:YES|NO)\b(?! or\b)(?<!or NO)")
# A label that is about something else: a criterion, or the contrary of what was asked.
ITEM = re.compile(
    r"^(?!.*\b(?:is|are|was|were|has|have|does|do|use[sd]?|follows|results?|answers?|I|despite)\b)[^:]{0,60}?\b(?:same|"
    r"similar\w*|identical|cop(?:y|ied)|repeat\w*|differ\w*|distinct|steps?|methods?|approach\w*|assumptions?|"
    r"conditions?|general\w*|simpl\w*|complex\w*|errors?|mistakes?|flaws?|gaps?|known|overlap|incorrect\w*|wrong)\b"
    r"[^:]{0,60}:\W*$|^\W*(?:not|non|lack of)\W?\w+\s*:\W*$",
    re.IGNORECASE,
)
LINE_LEADS = re.compile(rf"[^\w?]*{SAID}")
ASIDE = re.compile(
    r"\W*(?:wait|hold on|hmm|problem|doubt|let me|let's|I'll|I'd be|I (?:will|understand|can (?:help|assist|do)))\b",
    re.I,
)
WORD = re.compile(r"(?<![\w'/-])(?P<verdict>yes|no)(?![\w'/]|-\w)", re.IGNORECASE)

TURNS = r"\b(?:so|therefore|thus|hence|consequently|(?<!anything )but|however|actually|finally|overall)\b"
CONNECTIVE = re.compile(rf"{TURNS}|→|[-=]+>", re.IGNORECASE)
PHRASE = re.compile(
    r"(?:\b(?:answer|output|verdict|decision|judge?ment|conclusion|response|vote)\b[^.;:!?]{0,60}?"
    r"(?:\b(?:is|remains|stays|becomes|must be|should be|would be|will be|to|of|as)|[:=])"
    r"|\bfinal\s*[:=]"
    r"|\b(?:I|we)\b(?:'d|'ll)?[^.;:!?]{0,30}?\b(?:say|output|answer|vote|conclude|judge|reply|respond|go|rule)(?:\s+with|\s+for)?)"
    r"[\s:]*(?:(?:therefore|thus|hence|clearly|still|simply|definitely|now|an?|that|with)\b[\s:]*)*[\"'$(\[]*$",
    re.IGNORECASE,
)
PROPERTY = re.compile(r"\b(?:novel|novelty|correct|correctness)\s*[:=]\W*$", re.IGNORECASE)
# In small letters, too, where nothing else in the reply is a verdict: "So yes, the result is the same."
CONCLUDES = re.compile(
    r"^\W*(?:so|thus|therefore|hence|overall|finally|consequently|in (?:conclusion|short|summary)|to conclude)[\s,:]*$"
    r"|\b(?:it|that|this)(?:'s| is) an?\s*$",
    re.IGNORECASE,
)
CONCLUSION = re.compile(r"\W*$|,? (?:it|they|both|(?:the|this) (?:new )?(?:solution|result|answer))\b", re.I)
THEIRS = r"(?:candidate|student|author|solver|writer|references?|(?:new |proposed )?solutions?|proof)(?:'s|s')?"
CITES = re.compile(
    rf"\b(?:{THEIRS}|it|he|she|they)\s+(?:\w+\s+){{0,3}}?"
    r"(?:says?|said|states?|stated|claims?|claimed|concludes?|concluded|writes?|wrote|answers?|answered|outputs?|"
    r"asserts?|ends?|reads?|verdict|replies|replied|conclusion|claiming|writing|saying|concluding)\b"
    rf"|\b(?:(?:new|proposed|expected)|{THEIRS}) (?:final )?(?:answer|result)\b"
    r"|\b(?:(?!it|that|let)\w+'s|new one is)\s*$"
    rf"|\b{THEIRS} (?:has|have|gives?|gets?|obtains?|finds?)\W*$"
    r"|\banswer (?:of|in|from) the (?:\w+ )?solutions?\b|\banswer to the (?:\w+ )?problem\b"
    r"|\bthe (?:sentence|phrase|words?|string)\b",
    re.IGNORECASE,
)
HEDGES = re.compile(
    r"\b(?:if|unless|whether|were|might|may|could|would have|at first|initial(?:ly)?|preliminary|tentative(?:ly)?|"
    r"tempt\w*|first thought|otherwise|else|suppos\w+|assum\w+|"
    r"(?:some|one|a \w+ (?:reader|judge)) (?:would|will|may|might)|in order to|should I|lean\w*|inclin\w*|"
    r"(?:step|point|case|item|part|check|condition|question|criterion)\s*\(?[\divx]+\)?)\b"
    r"|^\W*\(?(?:\d+|[ivx]+|[a-e])[.)]|^\W*(?:\w+ (?:with|to|from) )?(?:reference )?solution \d"
    r"|^\W*to (?:output|answer|say|get|be|earn|justify|warrant)\b|^\W*for an?\s*$"
    r"|\b(?:maybe|perhaps|probably|possibly|likely|part(?:ial)?ly|almost|nearly)(?: an?)?\W*$",
    re.IGNORECASE,
)
CONCEDES = re.compile(r"\b(?:although|though|while|whereas|even if|despite|whether or not)\b[^,]*,", re.IGNORECASE)
NEGATES = re.compile(
    r"\b(?:not|never|neither|nor|cannot|nothing|without|hardly|rather than|instead of|far from|anything but|no longer|"
    r"short of|close to|no (?:way|means|reason|grounds?|basis)|(?:criteri(?:a|on)|case|grounds?|argument) for|"
    r"(?:wrong|incorrect|a mistake|premature|hard|hesitate|reluctant) to)\b|\bthan\W*$|n't\b",
    re.IGNORECASE,
)
REACH = 200  # how far back, in characters, a sentence is read for what qualifies a verdict in it
GEOMETRY = re.compile(
    r"\b(?:segment|line|side|ray|chord|diagonal|median|length(?: of)?|distance|midpoint of)\s+$", re.I
)
DENIED = re.compile(
    r"[\"'*`)\]]*\s*\?|\W*\s(?:is|was|would be|seems|looks)\s+(?:wrong|incorrect|not|too|premature|unjustified)\b", re.I
)
NOT_SAID_AFTER = re.compile(
    r"[\"'*`)\]]*\s*(?:(?:,|\.\.+|…)\s*)?(?:if|when|only if|unless|or|nor|requires?|means?|needs?|would|should|"
    r"cannot|can't|appl(?:y|ies)|stands for|appears|[=/|])\s?\b",
    re.IGNORECASE,
)
REFUSAL = re.compile(
    r"\b(?:I(?:'m| am) (?:sorry|unable|not able)|I (?:can(?:'t|not)|could not|must decline|won't|will not|am afraid)|"
    r"as an AI|unable to (?:judge|determine|evaluate|assess|decide|say)|(?:I )?decline to)\b",
    re.IGNORECASE,
)
