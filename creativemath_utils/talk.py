"""The phrases of a model's talk about its own answer: introductions, claims of novelty, contrasts, courtesies.

Patterns alone; `commentary` tells by them what a sentence is. Lower case, for sentences without their marks.
"""

from __future__ import annotations

import re

# --- words -----------------------------------------------------------------------------------------------------------


def _or(*patterns: str) -> str:
    return "(?:" + "|".join(patterns) + ")"


SURELY = (
    r"(?:novel|innovative|unconventional|creative|alternative|alternate(?= (?:solution|approach|method|proof|way)))"
)
PERHAPS = (  # of a method, or of a root, a case, a die
    r"(?:new|different|another|distinct|fresh|unusual|original|unique|non-?(?:standard|traditional|conventional))"
)
METHOD = r"(?:approach|method(?:ology)?|technique|perspective|viewpoint|line of reasoning|way of thinking)"
WAY = (  # but no solution of an equation, and no way to seat the guests
    r"(?:solution(?!s? (?:of|to) (?:the|this|an?|each) (?:[\w-]+ )?(?:equation|system|inequality|congruence"
    r"|recurrence))|proof|way(?!s? to (?!(?:re)?solve|approach|look|think|see|tackle|view|prove|answer|do (?:it"
    r"|this)))|idea|approach|method(?:ology)?|technique|strategy|perspective|viewpoint|alternative|take(?= on))"
)
FIELD = (  # what a method is said to use, where a root or a case is not meant
    r"\b(?:approach|method|technique|perspective|reasoning|argument|geometr\w+|algebra\w*|combinatori\w+|calculus"
    r"|vectors?|trigonometr\w+|coordinates?|induction|symmetry|generating functions?|complex numbers|modular|theorem"
    r"|inequality|principle|factor(?:ing|i[sz]ation)|casework|substitution|parity|similar\w*|concepts?|formulas?"
    r"|calculations?|probabilit\w+|assumptions?)\b"
)
WAYS = r"(?:solutions?|ones?|those|proofs?|approach(?:es)?|methods?|techniques?|strateg(?:y|ies)|perspectives?)"
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
    rf"\b(?!unique solution){PERHAPS}{_TO_WAY} (?:{WAY}|{METHOD}(?:e?s)?)\b",
    rf"\b{WAY}s?,? (?:(?:that|which) (?:is|are) )?(?:[a-z]+ly )?(?:(?:distinct|different) (?:from|to|than)|{SURELY})\b",
    rf"\b{WAY}s?,? (?:(?:that|which) (?:[a-z]+ly )?differs?|(?:(?:that|which) is )?not (?:among|in|like)) \b",
    rf"\bdifferently\b(?! for| when| if)|\bfrom an? {PERHAPS} angle\b",
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
BECAUSE = rf"\b(?:because|as|since|in that|for) (?:(?:it|this|the)(?: {WAY})?(?: [a-z]+ly)?|we|i) {USES}\b(?=.*{FIELD})"
VERY = r"(?:(?:also|indeed|quite|very|truly|thus|therefore|both|somewhat|considered|in fact|[a-z]+ly) )*"
HELLO = (
    r"(?:sure(?: thing)?|certainly|of course|absolutely|definitely|okay|ok|all ?right|great(?: question)?|good question"
    r"|yes|understood|got it|no problem|gladly)"
)
LEAD_IN = re.compile(
    rf"(?:(?:{HELLO}|in (?:conclusion|summary|essence|short|this way)|to (?:conclude|summari[sz]e)|overall|thus"
    rf"|therefore|hence|finally|now|note(?: that)?|notably|notice that|importantly|additionally|moreover|furthermore"
    rf"|solution(?: \d\d?)?(?= ?:)|also|however|as requested|by doing so|as (?:you|we) can see|conclusion|remark"
    rf"|explanation(?= ?:)|clearly|as (?:such|a result)|so|and|but|well|(?:with )?th(?:at|is)(?: being)? (?:said|in"
    rf" mind)|please note(?: that)?|i (?:believe|think)(?: that)?|novelty(?= ?:)|it (?:is|should be) (?:worth noting"
    rf"|noted)(?: that)?)\b[,.!:;]* )+"
)

# --- sentences of talk; matched in lower case, without their marks, against the whole sentence -----------------------

CONTRARY = (
    r"(?:unlike|in contrast (?:to|with)|compared (?:to|with)|contrary to|as opposed to|different(?:ly)? from|instead of"
    r"|rather than)"
)

INTRODUCES = (
    r"(?:(?:given|based on|considering|inspired by|after|in addition to|instead of|in) [^,]{1,100}, |in what follows )?"
    + _or(
        rf"(?:here|below|(?:the|what) follow(?:ing|s)|this)(?:['’]s| is| are| we| i)\b.{{0,60}}?{NOVEL_WAY}.*",
        rf"(?:{WE} {MAKE}|consider the following)\b.{{0,90}}?{NOVEL_WAY}.*",
        rf"(?:to|in order to|for) .{{0,70}}?{NOVEL_WAY}.{{0,90}}?, {WE} {USE}\b.*",
        rf"(?:to|in order to|for) .{{0,70}}?{NOVEL_WAY}.{{0,90}}?, {WE} [a-z]+\b.{{0,60}}"
        r"\b(?:approach|method|perspective|strategy|technique|concepts?|ideas?|properties|following|differently)\b.*",
        rf"(?:to|in order to|for) .{{1,200}}?, {WE} {USE} (?:an? |the )?(?:(?:[\w-]+ ){{0,2}})?{NOVEL_WAY}"
        rf"(?: (?:that|which) (?:{USES}|involves)\b.{{1,120}})?",
        rf"(?:as )?(?:{CONTRARY}|an? alternative to) .{{0,100}}?{GIVEN}.{{0,120}}?, (?:{WE} (?:{USE}|{MAKE})|consider"
        rf"|try) (?:[\w-]+ ){{0,4}}?{FIELD}",
        rf"to {MAKE} .{{0,60}}?{NOVEL_WAY}.{{0,60}}",
        rf"(?:there(?: is|['’]s) )?(?:(?:an?|one|another|the|my|our)\b.{{0,20}}?)?{NOVEL_WAY}.{{0,80}}? (?:as follows|"
        rf"(?:shown )?below|the following|(?:(?:(?:is|would be) to (?:{USE}|consider|approach|look|think)|is by"
        rf"|involves|uses|is based on|relies on|using))\b.*)",
        rf"(?:i|we)(?: have|['’]ve)(?: found| come up with| devised| developed| prepared| provided| presented)?"
        rf" .{{0,60}}?{NOVEL_WAY}.*",
        rf"(?:for .{{1,80}}, )?an? .{{0,10}}?{NOVEL_WAY}.{{0,60}}? can be (?:as follows|derived|obtained|found"
        rf"|given|achieved|constructed)(?: (?:as follows|(?:(?:by )?(?:us|apply|employ|utili[sz]|consider)ing|with"
        rf"|through|via) .{{1,80}}))?",
        rf"(?:please )?(?:output|provide|give|write|present|generate) (?:me |us )?an? {SURELY_WAY}.*",
        r"(?:this|the)(?: [\w-]+)? (?:problem|question) can (?:also|alternatively|instead) be (?:solved|approached"
        r"|tackled)\b.{0,200}",
    )
)
OPENS = _or(
    rf"(?!yes\b){HELLO}",  # which may be the answer
    rf"(?:here|below)(?:['’]s| is) (?:the|an?|my|our|one|your)(?: [\w-]+){{0,3}}? (?:{WAY}|answer|explanation)"
    r"(?: (?:to|for|of) (?:the|this|your)(?: [\w-]+){0,3} (?:problem|question|task))?"
    r"(?: (?:using|via|with|based on|by|that (?:uses|involves|relies on)) .{1,80})?",
    rf"{WE} (?:try|do|consider) something (?:different|new|else)",
    r"let['’]s think (?:outside the box|creatively)",
    rf"here(?:['’]s| is) an? (?:[\w-]+ )?unique {WAY}\b.{{0,90}}",
    r"here(?: are|['’]s| is) (?:the|our|my|how|a)\b(?: [\w-]+){0,3}? (?:steps?|plan|way)"
    r"(?: (?:to|for) [a-z]+(?: (?:it|this|(?:the|this)(?: [\w-]+)? (?:problem|question))))?",
    r"(?:here(?:['’]s| is) how|let me (?:show|explain) how)(?: to| (?:we|you|i) can) (?:do|solve|approach)"
    r" (?:it|this|th(?:e|is) problem)",
    r"(?:to|in order to) .{1,160}, (?:(?:let['’]s|let us|we|i|you)(?: can| will| could| need to)? )?(?:follow|go"
    r" through|take) (?:the following|these|the) steps(?: (?:below|in detail))?",
    r"(?:to|in order to) .{1,160}, (?:let['’]s|let us|we(?: can| will)) (?:analy[sz]e|break down|work through)"
    r" (?:it|this|the problem) step[ -]by[ -]step",
    r"(?:the|my|our)(?: [\w-]+)? (?:solution|proof|approach) is as follows",
    r"(?:let['’]s|let us|(?:i|we)(?: will|['’]ll| can)) (?:now )?(?:solve|tackle|work through|break(?: it| this)? down"
    r"|go through|approach|look at|address|begin|start|get started|dive in)(?: (?:with )?(?:it|this|(?:this|the|your)"
    r"(?: [\w-]+)? (?:problem|question|task|solution|steps)))?(?: step[ -]by[ -]step| in (?:more )?detail| together|"
    r" systematically| into (?:smaller |simple |manageable )*(?:steps|parts))?",
    r"to solve (?:this|the)(?: [\w-]+)? problem, (?:we|i|you|one)(?: can| will| could|['’]ll| need to)? (?:use|follow"
    r"|take) (?:the following|these) (?:steps?|approach|method|strategy)",
    r"(?:i['’]d be|i would be|i am|i['’]m) (?:happy|glad) to (?:help|assist|provide)\b.*",
)
PLAIN_TALK = re.compile(
    r"\b(?:steps?|in detail|explanation|problem|question|task|break)\b"  # no root and no case is meant
)
HEADS = _or(  # a heading that claims novelty: as INTRODUCES
    rf"(?:{WAY} \d\d?: )?(?:the |an? |my |our |yet )?(?:(?!no|not|every|each)[\w-]+ )?{NOVEL_WAY}"
    r"(?: (?:to|for|of) (?:this|the)(?: [\w-]+)? problem)?"
    r"(?:(?: [-–—]|,)? \(?(?:using|with|via|by|based on|through|distinct from|different from) .{1,70})?(?: \d\d?)?\)?",
    rf"{WAY} ?\d{{0,2}} ?[(–—-] ?(?:{SURELY}|{PERHAPS})(?: {WAY})?\)?",
)
HEADS_ARGUMENT = _or(
    r"(?:(?:the|key|main|explanation of|justification (?:of|for)|note on|on|statement of) )*(?:novelty|distinctness)"
    r"(?: (?:of|in|over|explanation|statement|and)\b.{1,60})?",
    r"(?:why|how|what makes)(?: is)? (?:this|it)(?: is)? (?:novel|different|distinct|differs?)\b.{0,60}",
    rf"(?:why|how|what makes)(?: is)? (?:this|the|our|my)(?: [\w-]+)? {WAY}\b.{{0,40}}\b(?:novel|different|distinct"
    rf"|unique|differs?)\b.{{0,60}}",
    rf"(?:key |main )?(?:differences?|comparison|contrast) (?:from|with|to|between) .{{0,40}}{OTHERS}.{{0,30}}",
)
CONTRASTS = _or(
    rf"{CONTRARY} .{{0,80}}?{OTHERS}.{{0,120}}?, (?:(?:this|the|our|my)(?: [\w'’-]+){{0,3}}? {METHOD}\b|(?:it|this(?:"
    rf" (?:solution|proof|one))?) {USES}\b|(?:we|i) (?:avoid|never|do not (?:use|rely|need|require)|don['’]t)\b).*",
    rf"(?:{CONTRARY}|while|whereas|although) .{{0,60}}?{GIVEN}.{{0,160}}?, (?:this|our|my|the (?:new|novel|above))"
    rf"(?: [\w'’-]+){{0,3}}? (?:{WAY}|one)\b.*",
    rf"{CONTRARY} .{{0,80}}?{GIVEN}.{{0,120}}?, (?:it|this|mine|ours)(?: one| solution| proof)?(?: is| was)"
    rf" (?:[\w-]+ ){{0,3}}?(?:simpler|shorter|more|less|elegant|geometric|algebraic|purely|direct|cleaner|faster)\b.*",
    rf"(?:(?:both|all|each|most|many)(?: of)? )?(?:the )?(?!.{{0,14}}\b(?:ones|standard|usual)\b)(?=.*{FIELD})"
    rf"(?:{GIVEN}|other {WAYS}) (?:all |both |mainly |rely |each )*(?:us(?:e|es|ed)|rely|relies|relied|employ|depend"
    rf"|focus|are based|on)\b[^,;]{{1,100}}(?:[,;] (?:while|whereas|but|and)? ?(?:this|mine|ours|my|our|the (?:new"
    rf"|novel))\b.{{1,120}})?",
    rf"(?:this|the|our|my)(?: [\w-]+)? {WAY}\b.{{1,200}}, (?:making|which makes|rendering) (?:it|this)\b.{{0,40}}?"
    rf"(?:{SURELY}\b|(?:different|distinct) (?:from|to|than)\b.{{0,30}}{GIVEN}).*",
    rf"my (?:[\w-]+ )?(?:solution|proof|{METHOD})(?: [a-z]+)? {USES}\b.*",
    r"(?:this|it|the|our|my)(?: [\w-]+){0,3} (?:satisfies|meets|fulfill?s) .{0,30}\bcriteri(?:a|on)\b"
    r".{0,40}\b(?:novel|distinct|differ).*",
    rf"(?:what|the thing that) makes (?:it|(?:this|the|our|my)(?: [\w-]+)? {WAY})\b.{{0,30}}?"
    rf"\b(?:{SURELY}|{PERHAPS}|stand out)\b(?=.*\b(?:{SURELY}|{WAY}|{USE}|stand out)\b).*",
    r"(?:the|its) (?:[\w-]+ )?novelty\b.{0,60}\b(?:lies|is|comes)\b.*",
    rf"the (?:[\w-]+ )?(?:difference|distinction)s?\b(?=.*{GIVEN}).{{0,60}}\b(?:this|our|my|the n(?:ew|ovel))(?:"
    rf" [\w-]+)? {WAY}\b.*",
    r"(?:this|that|it) (?:is what )?(?:makes|sets|renders|distinguishes) (?:this|it|the|our|my)\b.{0,60}?"
    rf"(?:\b{SURELY}\b|(?<=\bit) apart\b|(?<= solution) apart\b|\b{METHOD} apart\b|\bfrom\b.{{0,20}}{GIVEN}"
    rf"|\b{METHOD}.{{0,20}}\b(?:different|distinct|unique)\b).*",
    rf"none of .{{0,20}}{GIVEN} {USES}\b.*",
)
_OF_THIS = r"(?: (?:presented|given|described|taken|used|shown|proposed|developed|outlined))?(?: (?:above|here|below))?"
SUBJECT = re.compile(
    rf"(?P<mine>my (?:[\w-]+ )?(?:solution|proof|one)\b)|(?:this|that|the|our|my|such an?)(?: (?!(?:is|are|{OFFERS}"
    rf"|{USES})\b)[\w'’-]+,?){{0,4}}? (?P<method>{METHOD}){_OF_THIS}\b|(?:this|that|the|our|my)(?: [\w'’-]+){{0,2}}? "
    rf"(?:solution|proof){_OF_THIS}\b|(?:this|it)\b"
)
_QUALIFIES = r" (?:because|as|since|in|from|to (?:the|those)|than|and|yet|but|compared|with|due|for its|that|both)\b"
BY_MEANS = re.compile(r"(?:(?:by|using|via|through|with|according to|based on|under) [^,]{1,80}, )?")
PREDICATE = re.compile(
    rf"(?:,? which)? {VERY}(?:(?:is|are|was|can be|may be|should be|seems|remains) {VERY}(?:(?:[\w-]+ and )?"
    rf"(?:{SURELY}|{PERHAPS})\b(?! in (?:each|every|all)\b)(?=$|[,;:(–—]|{_QUALIFIES})|an? (?:[\w-]+,? (?:and"
    rf" )?){{0,2}}?{NOVEL_WAY})|does not (?:use|rely|depend|follow)\b(?=.*{GIVEN})|(?:differs|diverges|departs"
    rf"|deviates|stands apart|is set apart|stands out)\b(?! by an?\b)|(?:(?:is|are) (?:[\w-]+ ){{1,3}}(?:and|while) "
    rf"(?:also )?)?{OFFERS}\b.{{0,60}}?(?:{NOVEL_WAY}|\b(?:{SURELY}|{PERHAPS}) (?:[\w-]+ )?(?:insights?|view|look"
    rf"|take)\b|\balternative to\b))"
)
CLOSES = _or(
    r"(?:i )?hope (?:this|that|it|you)\b.{0,80}",
    r"(?:please )?(?:let me know (?:if|whether|in case|how|what you)|feel free to (?:ask|reach|let|contact|comment"
    r"|share)|don['’]t hesitate|do not hesitate)\b.*",
    r"if you (?:have|need|would like|want|['’]d like)\b.{0,60}\b(?:questions?|help|clarif\w+|assistance|details?)\b.*",
    r"(?:thank you|thanks|good luck(?= (?:with|on)\b|$)|happy (?:solving|learning|studying|problem["
    r" -]solving))\b.{0,60}",
    r"(?:would you like (?:me|to|more|further|any|another)|do you want (?:me )?to|is there anything else)\b.*",
    rf"(?:this|the|our|my)(?: [\w'’-]+,?){{0,3}}? (?:solution|proof|{METHOD}) {VERY}(?:(?:showcas|highlight"
    rf"|emphasi[sz]|leverag|exemplif|streamlin|underscor)(?:e?s|ies)|(?:demonstrates|illustrates|offers|provides) "
    rf"(?!that\b).{{0,40}}?\b(?:insights?|understanding|clarity|view|way|alternative|elegan\w+|simpl\w+|efficien\w+"
    rf"|power|beauty|importance|approach|method|explanation|framework|solution)|simplifies (?:the|this|our|a)|avoids"
    rf" .{{0,30}}?\b(?:need|computations?|calculations?|calculus|algebra\w*|cases?|casework|trigonometry|coordinates?"
    rf"|work|manipulations?|formulas?|steps)|not only|allows us to (?:avoid|solve)|is (?:[\w-]+ ){{0,2}}?(?:elegant"
    rf"|simpler?|efficient|straightforward|short))\b.*",
    rf"(?:this|the|our|my) {SURELY} (?:{WAY}) {USES}\b.*",
    rf"(?:this|the|our|my) (?:solution|proof|{METHOD})(?: [a-z]+ly)? (?:{USES}|does not (?:use|rely|require)|relates)\b"
    rf"(?=.*(?:{FIELD}|straightforward)).*",
    rf"(?:(?:in|with|by) [^,]{{1,60}}, )?(?:we|i)(?: have|['’]ve)? (?:avoided\b.*"
    rf"|(?:used|took|taken|chose|employed|presented)\b(?=.*(?:{NOVEL_WAY}|{GIVEN}|\bavoided\b)).*)",
    rf"this concludes .{{0,20}}{SURELY_WAY}",
    r"(?:conclusion|summary|(?:final |closing )?(?:remarks?|thoughts?|notes?)|explanation)",  # left over by what goes
)
INTRODUCTION, OPENER, HEADING, ARGUMENT_HEADING, CONTRAST, CLOSER = (
    re.compile(pattern, re.DOTALL) for pattern in (INTRODUCES, OPENS, HEADS, HEADS_ARGUMENT, CONTRASTS, CLOSES)
)
GOES_ON = re.compile(rf"(?:it|this|the (?:{KNOWN}|{WAY})|these|{CONTRARY}|while|whereas)\b", re.IGNORECASE)
OPENS_LIST = re.compile(r".*\b(?:because|as|since|reasons?|ways?|respects?|following|that|novelty|differences?|\w+:)")
SURE = re.compile(_or(SURELY_WAY, GIVEN, rf"\b{SURELY}\b"))
HERE = re.compile(  # no root is meant
    rf"(?:here|below)(?:['’]s| is)\b.{{0,40}}?\b{PERHAPS}{_TO_WAY} (?:{METHOD}(?! (?:of|for) \w+ing)|solution to"
    rf" (?:the|this)(?: [\w-]+)? problem)\b"
)
BOLD = re.compile(rf"\bnew (?:solution|proof)\b|\b{PERHAPS}{_TO_WAY} {METHOD}\b")
AS_A_METHOD = re.compile(
    _or(GIVEN, BECAUSE, rf"\b{SURELY}\b", rf"\b{PERHAPS}{_TO_WAY} (?:approach|perspective|viewpoint)\b")
)
