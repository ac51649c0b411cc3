r"""The words of a judge's reply: verdicts, labels, and what takes a verdict away. Patterns alone, for `parsing`.

A verdict is taken away by what stands before it, in its clause or sentence: a denial (`not YES`), a condition (`if step
3 held, YES`), a citation (`the candidate says YES`), a label about something else (`Same method: YES`); or by what
follows (`YES would need a new idea`). A label that is not known to announce a verdict is about something else.
"""

from __future__ import annotations

import re

VERDICT_NOUN = (
    r"(?:answer|output|verdict|decision|judge?ment|conclusion|response|reply|evaluation|assessment|result|ruling|"
    r"determination|classification|choice|vote|assistant|judge|final|overall|outcome|输出|答案|结论|判断|回答|判定)"
)
SAME_RESULT = r"same[ _](?:(?:final|numerical)[ _])?(?:result|answer)"
NOUN = rf"(?:{VERDICT_NOUN}|novelty|novel(?: solution)?|correctness|correct|(?:leads? to (?:the )?)?{SAME_RESULT})"
LABEL = (
    r"(?:(?:so|thus|therefore|hence|overall|finally|in conclusion|to conclude)[,:]?\s+)?"
    rf"(?:(?:my|the|our|your|final|overall|short|is|最终)\s*){{0,4}}{NOUN}(?:\s+{NOUN}){{0,4}}"
    r"(?:\s*(?:\([^()]*\)|…|\?)){0,4}"
)
# "no" is also an everyday word ("no error was found"): it must stand at a stop, or before a word that no noun begins.
STOP = r"(?=\s*(?:$|[.,;:!()<\[\]}\"'|]|[^\w\s\x00-\x7f]|--?\s|-$))(?!\.\s*\d)"
NO_NOUN = (
    r"(?=\s+(?i:because|since|as|for|the|this|that|it|its|they|both|these|there|given|due|here|in|rather|not|again|is|"
    r"under|by|on|with|from|to|if|when|unless|otherwise|than|instead|while|whereas|although|though|but|and|or)\b)"
)
NO = rf"(?:(?i:no){STOP}|(?i:no)(?=\s+(?i:because|since|it|this|that|they|the|these)\b)|NO{NO_NOUN})"
SAID = rf"(?P<verdict>(?i:yes)(?!\s+(?i:if|when|unless|or)\b)|{NO})(?![\w'/]|-\w)"
LINE_ALONE = re.compile(r"[^\w?]*(?P<verdict>(?i:yes|no))[^\w?]*")
LABEL_ALONE = re.compile(rf"[^\w(]*(?i:{LABEL})\s*[:=-]?\W*")
LINE_LABELLED = re.compile(
    rf"[^\w(…]*(?:(?P<label>(?i:{LABEL}))\s*"
    r"(?:[:=|]|-+>?|=>|–|—|→|(?i:is|must be|would be|will be)\b\s*:?|(?=(?:YES|NO)\W*$))"
    rf"|(?P<question>[^?]{{1,200}})\?(?:\s*A:)?(?=\s*\W?\s*(?:YES|NO|Yes|No)\W*$))"
    rf"[^\w?]*{SAID}"
)
# A question that a judge puts to itself is the one it was asked only if it is about this, and not about its contrary.
ASKED = re.compile(
    rf"\b(?:novel|novelty|correct|leads?|YES or NO|{VERDICT_NOUN}\W*$)\b|…"
    r"|\b(?:results?|answers?)\b.*\b(?:same|equal|equivalent|match\w*|agree\w*|coincide|identical)\b"
    r"|\bsame (?:final |numerical )?(?:result|answer)\b",
    re.IGNORECASE,
)
CONTRARY = re.compile(
    r"\b(?i:not|no|isn't|never|non|lack\w*|incorrect\w*|differ\w*|fail\w*|other|another|false|wrong\w*|hardly|barely|merely|"
    r"just|too|than|anything|trivial\w*|absent|missing|contradict\w*|doubt\w*|mistaken|known|without|"
    r"un(?!der|til|i[qtv])\w+)\b|\b(?:YES|NO)\b(?! or\b)(?<!or NO)"
)
# A label that is about something else: a criterion, or the contrary of what was asked.
ITEM = re.compile(
    r"^(?!.*\b(?:is|are|was|were|has|have|does|do|use[sd]?|follows|results?|answers?|I|they|both|despite)\b)[^:]{0,60}?\b(?:same|"
    r"similar\w*|identical|cop(?:y|ied)|repeat\w*|differ\w*|distinct|steps?|methods?|approach\w*|assumptions?|"
    r"conditions?|general\w*|simpl\w*|complex\w*|errors?|mistakes?|flaws?|gaps?|known|overlap|incorrect\w*|wrong)\b"
    r"[^:]{0,60}:\W*$|^\W*(?:not|non|lack of)\W?\w+\s*:\W*$",
    re.IGNORECASE,
)
# A few words and a colon, with no verb that makes them a sentence, are a label. Where it is not made up of the words
# for a verdict, as in "Duplicate: YES" or "Reference: NO", it is about something else.
ANY_LABEL = re.compile(
    r"^\W*(?!.*\b(?:I|it|we|they)\b)(?!.*\w\s+(?:is|are|was|were|has|have|does|do|gives?|gets?|uses?|leads?|agrees?|differs?|"
    r"match(?:es)?|coincides?|equals?)\b)"
    r"(?P<label>[^\W\d_]\w*(?:['-]\w+)*(?:\s+(?:[^\W\d_]\w*(?:['-]\w+)*|\d(?=\s*[:=]))){0,6})"
    r"[\s\"']*[:=]\W*$",
    re.IGNORECASE,
)
_VERDICT_WORD = (
    rf"(?:{NOUN}|results|answers|match(?:es|ing)?|agree(?:ment)?|grader|evaluator|rater|model|gpt\S*|claude|gemini|qwen|"
    r"rather|consensus|determined|validity|uniqueness|originality|creativity|"
    r"conclude|summary|summarize|short|sum|brief|bottom line|call|label|rating|grade|mark|opinion|finding|selected|"
    r"option|pick|recommendation|ans|(?:no|without) doubt|after|upon|reflection|review|(?:re-?)?check(?:ing)?|"
    r"balance|consideration|second thought|inspection|correction|corrected|revised|antwort|urteil|ergebnis|ausgabe|"
    r"fazit|sortie|finale|respuesta|veredicto|salida|resultado|resposta|risposta|verdetto|conclusione|daher|donc|ergo|"
    r"por lo tanto|(?!\S*(?:参考|新解|候选|标准|正确))\S*[^\s\x00-\x7f]\S*)"
)
_FILLER = (
    r"(?:my|the|our|your|this|an?|of|for|on|as|in|to|with|last|new|solution|references?|equal|identical|same|comparison|"
    r"(?:judge|assistant|grader|evaluator|model)'s)"
)
KNOWN_LABEL = re.compile(rf"(?:{_FILLER}\s+)*{_VERDICT_WORD}(?:\s+(?:{_VERDICT_WORD}|{_FILLER}))*", re.IGNORECASE)
# Right behind these words YES would say the contrary of them: "not novel (YES)".
NOT_SO = re.compile(
    r"(?:\b(?:not|never|hardly|non|no longer)\b|n't\b)(?! (?:only|just|merely))\W(?:\w+ ){0,4}?(?:novel|new|correct)"
    r"(?: solution)?\W*$"
    r"|\b(?:results?|answers?)\b[^,.;:]{0,20}(?:\bnot|n't) (?:match|agree|coincide)\W*$"
    r"|(?:\bnot|n't) lead to the same (?:final )?(?:result|answer)\W*$",
    re.IGNORECASE,
)
# In a numbered list a conclusion may be the last item.
ENUMERATED = re.compile(
    r"^\W*(?:step\s*)?\(?(?:\d+|[ivx]+)(?:[.):]|\s*[-–—])\W*(?=(?:final|overall|conclusion|verdict|decision)\b)",
    re.IGNORECASE,
)
ITEM_HEAD = re.compile(
    r"\W*(?:(?:criterion|step|question|part|check)\W*)?\(?(?:\d+|[ivx]+|[a-e])\b[.):]?(?:[^.!?]{2,120})?", re.IGNORECASE
)
LINE_LEADS = re.compile(rf"[^\w?]*{SAID}")
ASIDE = re.compile(
    r"\W*(?:wait|hold on|hmm|problem|worries|doubt|let me|let's|here(?:'s| is| are)|of course,? I|I'll|I'd be|"
    r"I (?:will|understand|can (?:help|assist|do))|I(?:'ve| have) (?:\w+ )?(?:read|reviewed|compared|looked|considered|"
    r"analy[sz]ed|examined|evaluated))\b",
    re.I,
)
WORD = re.compile(r"(?<![\w'/-])(?P<verdict>yes|no)(?![\w'/]|-\w)", re.IGNORECASE)

TURNS = r"\b(?:so|therefore|thus|hence|consequently|(?<!anything )but|however|actually|finally|overall)\b"
CONNECTIVE = re.compile(rf"{TURNS}|→|[-=]+>|所以|因此", re.IGNORECASE)
PHRASE = re.compile(
    r"(?:\b(?:answer|output|verdict|decision|judge?ment|conclusion|response|vote)\b[^.;:!?]{0,60}?"
    r"(?:\b(?:is|remains|stays|becomes|must be|should be|would be|will be|to|of|as)|[:=])"
    r"|\bfinal\s*[:=]|(?:输出|答案|结论)(?:应该|应)?(?:是|为)?"
    r"|\b(?:I|we)\b(?:'d|'ll)?[^.;:!?]{0,30}?\b(?:say|output|answer|vote|conclude|judge|reply|respond|go|rule)(?:\s+with|\s+for)?)"
    r"[\s:]*(?:(?:therefore|thus|hence|clearly|still|simply|definitely|now|an?|that|with)\b[\s:]*)*[\"'$(\[]*$",
    re.IGNORECASE,
)
PROPERTY = re.compile(r"\b(?:novel|novelty|correct|correctness)\s*[:=]\W*$", re.IGNORECASE)
# In small letters, too, where nothing else in the reply is a verdict: "So yes, the result is the same."
CONCLUDES = re.compile(
    r"^\W*(?:so|thus|therefore|hence|overall|finally|consequently|in (?:conclusion|short|summary)|to conclude|"
    r"definitely|absolutely|certainly|clearly|obviously)[\s,:]*$"
    r"|\b(?:it|that|this)(?:'s| is) an?\s*$",
    re.IGNORECASE,
)
CONCLUSION = re.compile(r"\W*$|,? (?:it|they|both|(?:the|this) (?:new )?(?:solution|result|answer))\b", re.I)
THEIRS = r"(?:candidate|student|author|solver|writer|references?|(?:new |proposed )?solutions?|proof)(?:'s|s')?"
_NOT_COMPARED = r"(?!.*\b(?:match\w*|equals?|same|agrees?|coincides?|identical|differs?)\b)"
THEIR_NOUN = r"(?:answer|result|output|conclusion|response)s?"
CITES = re.compile(
    rf"\b(?:{THEIRS}|new|it|he|she|they)\s+(?:\w+\s+){{0,3}}?"
    r"(?:says?|said|states?|stated|claims?|claimed|concludes?|concluded|writes?|wrote|answers?|answered|outputs?|"
    r"asserts?|ends?|reads?|verdict|replies|replied|conclusion|claiming|writing|saying|concluding)\b"
    rf"|\b(?:(?:new|proposed|expected)|{THEIRS}) (?:final )?(?:answer|result)\b{_NOT_COMPARED}"
    rf"|(?:\b(?:new|expected|original|predicted|problem|both|known|official|truth|{THEIRS}) (?:final )?{THEIR_NOUN}"
    rf"|^\W*(?:the )?(?:correct|right|true) (?:final )?(?:answer|result)(?=\s*[:=])|\b{THEIR_NOUN}\s*"
    r"(?:\(|(?:(?:obtained|given|found|reached|stated) )?(?:of|in|from|by)\b)[^:]{0,60}?"
    r"\b(?:references?|solutions?|candidate|student|both|all|each|new|problem|program|code|text)(?: \d)?\b)"
    r"\)?\s*(?:is|are|was|were)?\s*[:=]?\W*$"
    rf"|\b(?:according to|per) (?:the )?(?:reference )?{THEIRS}\b"
    r"|\b(?:(?!it|that|let)\w+'s|new one is)\s*$"
    rf"|\b{THEIRS} (?:has|have|gives?|gets?|obtains?|finds?)\W*$"
    rf"|\banswer (?:of|in|from) the (?:\w+ )?solutions?\b{_NOT_COMPARED}"
    r"|\banswer to the (?:\w+ )?problem\b"
    r"|\bthe (?:sentence|phrase|words?|string)\b",
    re.IGNORECASE,
)
HEDGES = re.compile(
    r"\b(?:if|unless|whether|were|might|may|could|would have|at first|initial(?:ly)?|preliminary|tentative(?:ly)?|"
    r"tempt\w*|first thought|otherwise|else|suppos\w+|assum\w+|"
    r"(?:some|one|a \w+ (?:reader|judge)) (?:would|will|may|might)|in order to|should I|lean\w*|inclin\w*|"
    r"(?:step|point|case|item|part|check|condition|question|criterion)\s*\(?[\divx]+\)?)\b"
    r"|\b(?:instruction|task|prompt|rule|asked|told)(?: \w+){0,3} to (?:output|answer|say|print|write|give|respond)\b"
    r"|\bcriteria are\W*$|^\W*for (?:\$|[b-z]\b|odd|even)|^\W*(?:answer|result|output|response)\s*#?\d\s*[:=]"
    r"|如果|若|假如|否则"
    r"|^\W*\(?(?:\d+|[ivx]+|[a-e])[.)]|^\W*(?:\w+ (?:with|to|from) )?(?:reference )?solution \d"
    r"|^\W*to (?:output|answer(?! your)|say|get|be|earn|justify|warrant)\b|^\W*for an?\s*$"
    r"|\b(?:maybe|perhaps|probably|possibly|likely|part(?:ial)?ly|almost|nearly)(?: an?)?\W*$",
    re.IGNORECASE,
)
# A clause that does not say for what the verdict is, but against or because of what.
CONCEDES = re.compile(
    r"\b(?:although|though|while|whereas|even if|despite|whether or not)\b[^,]*,"
    r"|^\W*(?:since|because|given|based on|considering|for th(?:is|ese)|with this)\b"
    r"(?![^,:]*\b(?:says?|claims?|states?|writes?|concludes?|answers?|results?|output|conclusion)\s*[,:])[^,:]*[,:]",
    re.IGNORECASE,
)
NEGATES = re.compile(
    r"\b(?:not|never|neither|nor|cannot|nothing|without|hardly|rather than|instead of|far from|anything but|no longer|"
    r"short of|close to|no (?:way|means|reason|grounds?|basis)|(?:criteri(?:a|on)|case|grounds?|argument) for|"
    r"(?:wrong|incorrect|a mistake|premature|hard|hesitate|reluctant) to)\b|\bthan\W*$|n't\b|[不非没勿无]",
    re.IGNORECASE,
)
REACH = 200  # how far back, in characters, a sentence is read for what qualifies a verdict in it
GEOMETRY = re.compile(
    r"\b(?:segment|line|side|ray|chord|diagonal|median|length(?: of)?|distance|midpoint of)\s+$", re.I
)
DENIED = re.compile(
    r"[\"'*`)\].…]*\s*\?"
    r"|\W*\s(?:is|was|would be|seems|looks)\s+(?:wrong|incorrect|not|too|premature|unjustified|for|reserved|only)\b",
    re.IGNORECASE,
)
NOT_SAID_AFTER = re.compile(
    r"\s*\((?:the )?(?:new|references?|candidate)(?: solution| answer)?\s*\d?\)"
    r"|[\"'*`)\]]*\s*(?:(?:,|\.\.+|…)\s*)?(?:if|when|only if|unless|or|nor|requires?|means?|needs?|would|should|"
    r"cannot|can't|appl(?:y|ies)|stands for|appears|[=/|]|in (?:both|each|either)|"
    r"(?:and|while|whereas) (?:the|that of the) (?:new|candidate|references?|student)\b[^.;]{0,20}\b"
    r"(?:says|gives|claims|has|states|concludes|answers))\s?\b",
    re.IGNORECASE,
)
REFUSAL = re.compile(
    r"\b(?:I(?:'m| am) (?:sorry|unable|not able)|I (?:can(?:'t|not)|could not|must decline|won't|will not|am afraid)|"
    r"as an AI|unable to (?:judge|determine|evaluate|assess|decide|say)|(?:I )?decline to)\b",
    re.IGNORECASE,
)
