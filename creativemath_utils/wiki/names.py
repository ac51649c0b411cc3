"""Whether a few words are somebody's name, a signature, or a line such as "Solution by ab_cd". Rules C2, C3.

>>> is_name("copper_finch"), is_name("Firstname Lastname"), is_name("induction"), is_name("AM-GM"), is_name("the way")
(True, True, False, False, False)
>>> is_by_line("Solution by ab_cd"), is_by_line("Solution by substitution"), is_by_line("By symmetry, both agree.")
(True, False, False)
"""

from __future__ import annotations

import re

from creativemath_utils.wiki.text import CREDIT

_METHODS = """induction contradiction contraposition contrapositive case cases casework symmetry substitution inspection
construction exhaustion counting descent infinite brute force bash bashing am-gm qm-am gm-hm hm cauchy cauchy-schwarz
schwarz jensen jensen's vieta vieta's vietas ptolemy ptolemy's menelaus menelaus' ceva ceva's stewart stewart's
pythagoras pythagorean fermat fermat's euler euler's holder hölder holder's muirhead muirhead's schur schur's chebyshev
chebyshev's bezout bezout's bézout's wilson wilson's moivre moivre's heron heron's power pie pigeonhole crt lte lagrange
lagrange's newton newton's taylor descartes sophie titu titu's rearrangement burnside burnside's zsigmondy lucas
legendre legendre's simson pascal pascal's brianchon miquel desargues monge apollonius brahmagupta brahmagupta's pick
pick's shoelace angle angles area areas similar similarity congruence congruent parity modular mod modulo factoring
factorization completing recursion recursive generating complementary definition definitions elimination trial guess
guessing hand computer calculator observation observing expansion expanding squaring bounding graphing graph coordinate
coordinates vector vectors complex trigonometry trig geometry algebra calculus derivative derivatives integration
differentiation linearity probability combinatorics number numbers homothety inversion reflection rotation translation
spiral projective barycentric mass law laws rule rational roots root matrix determinant telescoping partial direct
simple pure elementary noticing using considering listing enumeration stars sticks balls logic intuition dissection
barycentrics logarithms common inclusion-exclusion inclusion minimality maximality divisibility monotonicity
periodicity continuity extremal picture pictures states markov simon simon's sfft conjugate
conjugates""".split()  # noqa: SIM905 - reads as prose
_ABSTRACT = re.compile(r"[a-z]+(?:tion|sion|sis|ics|ence|ment)s?")  # calculation, analysis, statics: no names
_OF_A_METHOD = {"theorem", "inequality", "lemma", "formula", "identity", "principle", "method", "rule", "criterion"}
_OF_A_METHOD |= {"algorithm", "bash", "law", "chasing", "chase", "theorems", "induction", "symmetry", "casework"}
_OF_A_METHOD |= {"trick", "chains"}
_NO_NAMES = {"a", "an", "the", "this", "that", "these", "our", "we", "i", "it", "both", "all", "each", "and"}
_NO_NAMES |= {"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
NO_SIGNATURES = {"fallacy", "qed", "q.e.d", "done", "contradiction", "proved", "impossible", "false", "true", "axis"}
NO_SIGNATURES |= {"axes", "coordinate", "coordinates", "intercept", "intercepts", "th", "gon"}


def is_username(word: str) -> bool:
    """Whether a word has the shape of a user name: a digit, an underscore or a capital after a small letter."""
    return re.search(r"[^\W\d_]", word) is not None and re.search(r"\d|_|[a-z][A-Z]", word) is not None


def is_name(text: str, of_person: bool = False) -> bool:
    """Whether what follows "by" names a person and not a method. Rule C3.

    `of_person`: it names nothing else, as after "Proposed", so that Titu is no inequality.
    """
    tokens = text.split()
    if not tokens:
        return False
    if re.match(rf"\W*{CREDIT}", tokens[0]):
        return True
    first = tokens[0].strip("()[]{}<>,.;:~'\"*-–—∼")
    if is_username(first):
        return True
    if not re.match(r"[^\W\d_]", first) or first.lower() in _NO_NAMES or _ABSTRACT.fullmatch(first.lower()):
        return False
    if of_person and first[0].isupper():
        return True
    if first.lower() in _METHODS or any(token.strip("().,;:").lower() in _OF_A_METHOD for token in tokens[:5]):
        return False
    if first[0].isupper():
        return not (first.endswith("ing") and len(tokens) > 1 and tokens[1][0].islower())
    if first.endswith("ing") or len(first) < 2:
        return False
    return len(tokens) == 1 or tokens[0].endswith((",", ".", ";")) or re.match(r"\(|\[|and$|&$", tokens[1]) is not None


def is_signature(text: str) -> bool:
    """One to three words that can be a name, such as `ab_cd` or `Firstname Lastname`. Rule C2."""
    tokens = re.split(r"[\s,&]+|\band\b", text.strip(" .,()[]"))
    tokens = [token for token in tokens if token]
    if not 1 <= len(tokens) <= 3 or any(token.strip(".").lower() in NO_SIGNATURES for token in tokens):
        return False
    if any(re.match(CREDIT, token) for token in tokens):
        return True
    if len(tokens) == 1:
        shaped = re.fullmatch(r"(?=.*[^\W\d_])\w[\w.'’*-]+", tokens[0])
        return shaped is not None and not re.match(r"\d+\w{0,2}$", tokens[0])
    return all(re.fullmatch(r"[A-Z]\.?|\w[\w.'’-]+", t) and (t[0].isupper() or is_username(t)) for t in tokens)


_ROLE = (
    r"(?:solutions?|proofs?|written|submitted|proposed|proposers?|contributed|contributions?|contributors?|authors?|"
    r"authored|edit(?:s|ed|ing|or|ors)?|corrections?|corrected|credits?|credited|diagrams?|figures?|pictures?|images?|"
    r"drawings?|asymptote|asy|formatting|formatted|revised|revisions?|fix(?:ed|es)?|clarified|clarifications?|clarity|"
    r"improved|improvements?|updated|typed|typeset|rewritten|modified|modifications?|added|additions?|adapted|posted|"
    r"created|made|drawn|(?:\$?\\?latex\$?)(?:ed|'d|-ed)?|thanks|shout-?out|kudos|props|courtesy|explanation|explained|"
    r"idea|found|discovered|problem|cleaned|polished|expanded|elaborated|simplified|minor|small|slight|major|tiny|"
    r"original(?:ly)?|official|alternate|alternative|another|video|further|more|some|grammar|grammatical|typos?|"
    r"additional|special)"
)
_BY_LINE = re.compile(
    rf"[^\w\ue100-\uefff$\\]*(?P<role>(?:(?:all|the|this|full|above)\s+)*{_ROLE})"
    rf"(?P<more>(?:[\s,/&+-]+(?:{_ROLE}|\d+|and|or|up|slightly|a|bit|mostly|again|was|is|go(?:es)?|due|here|of|above))*)"
    rf"\s*(?P<tie>\bby\b\s*[:~∼-]*|\bto\b\s*:?|:|(?={CREDIT}))\s*(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_THANKS = re.compile(r"credit|thanks|shout|kudos|props|due", re.IGNORECASE)
_AUTHOR = re.compile(
    r"author|written|submitted|proposed|proposer|contribut|edit|credit|revis|correct|fix", re.IGNORECASE
)


def is_by_line(text: str) -> bool:
    """Whether a line says who wrote, edited or drew something, and nothing else. Rule C3."""
    alone = re.fullmatch(r"\W*by:?\s+(\S+?)\W*", text, re.IGNORECASE)
    if alone and is_username(alone[1]):
        return True
    found = _BY_LINE.fullmatch(text)
    if not found:
        return False
    tie, role, rest = found["tie"].lower(), found["role"] + found["more"], found["rest"].lstrip(" ([~∼-–—:*'\"")
    if tie.startswith("to"):
        return _THANKS.search(role) is not None and is_name(re.split(r"\s+for\b", rest)[0])
    if tie == ":" and not _AUTHOR.search(role):
        return is_username(rest.split()[0]) if len(rest.split()) == 1 else False
    return is_name(rest, of_person=re.search("propos|submitt|author", role, re.IGNORECASE) is not None)
