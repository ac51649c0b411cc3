r"""How an answer is written: its LaTeX in plain form, and what it is made of, read from the text alone.

>>> split_letter(plain(r"$\textbf{(B)}\ \dfrac{3}{8}$"))
Answer(letter='B', value='\\frac{3}{8}')
>>> rational(r"\frac{3}{8}"), rational("37.5%")
((Fraction(3, 8), False), (Fraction(75, 2), True))
>>> right_side("x = 3 cm"), without_unit("3 centimeters"), elements("1, 2")
('3 cm', ('3', 'cm'), ('set', ['1', '2']))
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from creativemath_utils.answers import final_answer

Group = tuple[str, list[str]]  # a kind ("set", "tuple", "named", "[)" and the like, or "scalar") and its elements


@dataclass(frozen=True)
class Answer:
    """An answer taken apart: the option letter and the value as plain LaTeX, "" for what is not there."""

    letter: str
    value: str


# --- Plain LaTeX, and the option letter -------------------------------------------------------------------------------

_SPACING = re.compile(r"\\(?:qquad|quad|enspace|thinspace|,|;|:|!|\s|hspace\s*\{[^{}]*\})|~")
_UNWRAP = re.compile(
    r"\\(?:textbf|textrm|textit|textsf|text|mathrm|mathbf|mathit|mathsf|mbox|emph|operatorname)\s*\{([^{}]*)\}"
)
_SIGNS = str.maketrans({
    "−": "-", "–": "-", "π": r"\pi ", "×": r"\times ", "·": r"\cdot ", "√": r"\sqrt ", "°": r"^\circ ",
    "≈": r"\approx ", "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "∪": r"\cup ", "％": "%", "±": r"\pm ",
    "∅": r"\emptyset ", "²": "^2", "³": "^3", "€": "", "£": "", "¥": "",
    "½": r"\frac{1}{2}", "⅓": r"\frac{1}{3}", "⅔": r"\frac{2}{3}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}",
    "⅕": r"\frac{1}{5}", "⅖": r"\frac{2}{5}", "⅗": r"\frac{3}{5}", "⅘": r"\frac{4}{5}", "⅙": r"\frac{1}{6}",
    "⅚": r"\frac{5}{6}", "⅛": r"\frac{1}{8}", "⅜": r"\frac{3}{8}", "⅝": r"\frac{5}{8}", "⅞": r"\frac{7}{8}",
})  # fmt: skip
# One spelling for what TeX and people spell in several ways.
_SPELLINGS = [
    (re.compile(r"\\[dtc]frac(?![A-Za-z])"), r"\\frac"),
    (re.compile(r"\\[dt]binom(?![A-Za-z])"), r"\\binom"),
    (re.compile(r"\\binom\s*(\d)\s*(\d)(?!\d)"), r"\\binom{\1}{\2}"),
    (re.compile(r"\{([^{}]*)\\choose(?![A-Za-z])([^{}]*)\}"), r"\\binom{\1}{\2}"),
    (re.compile(r"\\sqrt\s*\(([^()]*)\)"), r"\\sqrt{\1}"),
    (re.compile(r"\\varnothing(?![A-Za-z])|^\s*\\\{\s*\\\}\s*$"), r"\\emptyset"),
    (re.compile(r"\\p?mod\s*(?:\{\s*(\w+)\s*\}|(\w))"), r"\\pmod{\1\2}"),
    (re.compile(r"^\s*\+\s*(?=\\infty)"), ""),
    (re.compile(r"(?<![A-Za-z\\])(sin|cos|tan|cot|sec|csc|log|ln|pi)(?![A-Za-z])"), r"\\\1 "),
    (re.compile(r"^\s*\d{1,3}(?:\s\d{3})+\s*$"), lambda grouped: re.sub(r"(?<=\d)\s(?=\d)", ",", grouped[0])),
]


def plain(text: str) -> str:
    r"""LaTeX without what does not change its value: delimiters, spacing, fonts, \left and \right, a full stop."""
    if re.search(r"\\(?:boxed|fbox|framebox)", text):
        text = final_answer(text) or ""
    text = re.sub(r"√\s*(\d+)", r"\\sqrt{\1}", text).translate(_SIGNS)
    text = re.sub(r"(?<=\d)\*\*(?=\d)", "^", text)
    text = re.sub(
        r"\\\$|(?<!\\)\$|\\[()\[\]]|\\(?:displaystyle|textstyle|left|right|[Bb]igg?[lr]?)(?![A-Za-z])", " ", text
    )
    text = re.sub(r"\{,\}|\\,(?=\d{3}(?!\d))", ",", text)
    text = _SPACING.sub(" ", text)
    for pattern, spelling in _SPELLINGS:
        text = pattern.sub(spelling, text)
    if re.search(r"\\(?:sin|cos|tan|cot|sec|csc)", text):  # degrees are a unit only where they are not an argument
        text = re.sub(r"(\d+(?:\.\d+)?)\s*\^\s*\{?\s*\\circ\s*\}?", r"(\\frac{\1\\pi}{180})", text)
    for _ in range(3):
        text = _UNWRAP.sub(r" \1 ", text)
    text = re.sub(r"(?<=\d)\s*\^\s*\{\s*(?:st|nd|rd|th)\s*\}", "", text)
    text = re.sub(r"\\(?:textbf|mathbf|mathrm|bf|rm)\s+(?=\(?[A-E]\b)", "", text)  # \textbf C
    text = re.sub(r"\*\*|\\%", lambda m: "" if m[0] == "**" else "%", text)
    text = re.sub(r"^\s*(?:(?:the\s+)?(?:final\s+)?answer\s*(?:is|:)|\{\s*\}|[=:])\s*", "", text, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", text).strip().rstrip(".,; ").strip()


_LEADS_TO = r"(?:\\(?:implies|Rightarrow|rightarrow|to)|=+>|→)"


def split_letter(text: str) -> Answer:
    """The option letter before or behind a value, or alone."""
    text = re.sub(r"^\s*[A-Za-z]\s*=\s*(?=\(\s*[A-E]\s*\)\s*\S)", "", text)  # x = (B) 41
    text = re.sub(r"^(?:the\s+)?(?:option|choice)\s+(?=\(?[A-E]\b)", "", text, flags=re.IGNORECASE)
    # A small letter is an option in brackets alone, and before a number: (c), (c) 12.
    text = re.sub(r"^\(([a-e])\)(?=$|\s*(?:-?\d|\\frac|\\sqrt))", lambda label: label[0].upper(), text)
    alone = re.fullmatch(r"\(?\s*\{?([A-E])\}?\s*[).:]?", text)
    if alone:
        return Answer(alone[1], "")
    before = re.match(
        r"(?:\(\s*([A-E])\s*\)|([A-E])\s*[):.]|([A-E])\s+(?=[-\d]|\\frac|\\sqrt))(?!\s*(?:[,;]|and\b|or\b))[\s:=]*",
        text,
    )
    if before:
        return Answer(before[1] or before[2] or before[3], text[before.end() :].strip())
    behind = re.search(
        rf"(?<=[\d\s}})%])\s*(?:{_LEADS_TO}\s*)?(?:\(\s*([A-E])\s*\)|([A-E])\))$|{_LEADS_TO}\s*([A-E])$", text
    )
    if behind and not re.search(r"(?:[,;]|\band|\bor)\s*$", text[: behind.start()]):  # "(A), (C)" is a list
        return Answer(behind[1] or behind[2] or behind[3], text[: behind.start()].strip())
    return Answer("", text)


# --- Numbers ----------------------------------------------------------------------------------------------------------

_DECIMAL = r"(?P<decimal>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?)"
_REPEATING = r"(?P<whole>\d*)\.(?P<start>\d*)\\(?:overline|bar)\s*\{(?P<period>\d+)\}"
_IN_BASE = r"(?P<digits>\d+)_\s*\{?(?P<base>\d{1,2})\}?"


def _number(match: re.Match[str]) -> Fraction | None:
    """The value of a decimal, a repeating decimal, or digits with the base as an index."""
    if match["decimal"]:
        return Fraction(match["decimal"])
    if match["period"]:
        start, period = match["start"], match["period"]
        repeated = Fraction(int(period), 10 ** len(period) - 1)
        return int(match["whole"] or 0) + (int(start or 0) + repeated) / 10 ** len(start)
    digits, base = match["digits"], int(match["base"])
    return Fraction(int(digits, base)) if 2 <= base <= 10 and int(max(digits)) < base else None


def rational(text: str) -> tuple[Fraction, bool] | None:
    """The exact value of a written rational number and whether it is in percent; None for anything else."""
    if len(text) > 1000:
        return None
    text = re.sub(r"\s+", " ", text).strip()
    bare = re.sub(r"\s*(?:%|percent|per cent)$", "", text)
    number = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", bare) if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?", bare) else bare
    number = re.sub(r"\\frac\s*(\d)\s*(\d)(?!\d)", r"\\frac{\1}{\2}", number)
    number = re.sub(r"\\frac\s*(?:\{\s*(-?\d+)\s*\}|(\d))\s*(?:\{\s*(-?\d+)\s*\}|(\d))", r" \1\2/\3\4", number)
    match = re.fullmatch(r"([-+]?)\s*(?:(\d+)\s+)?(-?\d+)\s*[/:]\s*(-?\d+)", number.strip())
    if match and int(match[4]) and not (match[2] and "-" in match[3] + match[4]):
        value = int(match[2] or 0) + Fraction(int(match[3]), int(match[4]))
    else:
        match = re.fullmatch(rf"([-+]?)\s*(?:{_DECIMAL}|{_REPEATING}|{_IN_BASE})", number.strip())
        value = _number(match) if match else None
        if match is None or value is None:
            return None
    return (-value if match[1] == "-" else value), bare != text


# --- What a value is made of ------------------------------------------------------------------------------------------


def forms(text: str) -> list[str]:
    r"""The forms of a value written as "exact \approx rounded"."""
    return [
        form.strip() for form in re.split(r"\\(?:approx|simeq|doteq)(?![A-Za-z])|\bor about\b", text) if form.strip()
    ] or [text]


def right_side(text: str) -> str:
    """The value of "x = 3" or "1 + 2 = 3"; an equation that defines something else stays whole."""
    left, equals, right = text.rpartition("=")
    if not equals or left.rstrip().endswith(("\\ne", "!", "<", ">", "\\neq")):
        return text
    name = r"(?:[A-Za-z]{1,3}|\\[a-zA-Z]+|[A-Z]{1,4})(?:_\{?\w+\}?)?'*(?:\s*\([^()]*\))?"
    sides = left.split("=")
    is_name = re.fullmatch(rf"\s*(?:\\angle\s*|\[|\|)?{name}[\]|]?\s*", sides[0])
    is_sum = not re.search(r"[A-Za-z]", re.sub(r"\\[a-zA-Z]+", "", sides[-1]))
    if re.fullmatch(r"\s*[A-Za-z]?\s*", right):  # a = b says how two things are related, 5 = x what x is
        return left.strip() if rational(left) else text
    if is_sum and re.search(r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z])", without_unit(right)[0]):  # 12 = 3x
        return text
    return right.strip() if (is_name or is_sum or has_words(left)) else text


# Words behind a number are its unit or what it counts; short ones only where they are a known unit, not "ab".
_UNIT = re.compile(
    r"(?<=[\d)}i])\s*(?P<degree>\^\s*\{?\s*\\circ\s*\}?\s*[CF]?|\\degree)$"
    r"|(?<=[\d)}i])\s*(?P<words>(?:(?:[a-z]{3,}|sq|cu|[cmk]m|in|ft|mi|yd|kg|ml|m|g|s|h|l|per|of|/)\b\.?\s*)+)(?P<power>\^\s*\{?[23]\}?)?$"
)
_UNIT_NAMES = {
    "centimeter": "cm", "centimetre": "cm", "millimeter": "mm", "kilometer": "km", "meter": "m", "metre": "m",
    "inche": "in", "inch": "in", "feet": "ft", "foot": "ft", "mile": "mi", "yard": "yd", "gram": "g", "kilogram": "kg",
    "second": "s", "sec": "s", "minute": "min", "hour": "h", "hr": "h", "liter": "l", "litre": "l", "unit": "",
}  # fmt: skip
UNITS = frozenset(_UNIT_NAMES.values()) - {""}
# Words behind a number that change its value.
_NO_UNITS = re.compile(
    r"\b(?:hundred|thousand|million|billion|trillion|dozen|score|gross|half|halves|thirds?|quarters?|fourths?|fifths?|sixths?|"
    r"sevenths?|eighths?|ninths?|tenths?|hundredths?|thousandths?|squared|cubed|factorial|plus|minus|over|below|zero)\b"
)


def without_unit(text: str) -> tuple[str, str]:
    """(value, unit): what stands behind a number is taken off; the unit has one name for its spellings."""
    match = _UNIT.search(text)
    if not match or _NO_UNITS.search(match["words"] or ""):
        return text, ""
    value = text[: match.start()].strip()
    if match["degree"]:
        return value, "degree"
    names = []
    for word in re.findall(r"[a-z]+", match["words"]):
        word = word[:-1] if len(word) > 2 and word.endswith("s") else word
        names.append(_UNIT_NAMES.get(word, word))
    power = {"square": "2", "sq": "2", "cubic": "3", "cu": "3"}.get(names[0], "")
    names = names[1:] if power else names
    return value, " ".join(names) and " ".join(names) + (power or "".join(re.findall(r"\d", match["power"] or "")))


_FUNCTIONS = frozenset(["sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "gcd", "lcm", "max", "min", "mod"])


def has_words(text: str) -> bool:
    """Whether there is a word of prose in the text: three letters in a row that are no command and no function."""
    text = re.sub(r"\\[A-Za-z]+", " ", text)
    if re.search(r"(?<![A-Za-z])(?:[Ii]s|[Ii]f|[Tt]o|of|[Aa]t|[Nn]o|[Bb]y|[Oo]n|[Ii]n(?=\s*\d))(?![A-Za-z])", text):
        return True
    return any(word not in _FUNCTIONS for word in re.findall(r"[A-Za-z]{3,}", text))


def elements(text: str) -> Group:
    r"""("set", "tuple", "[)" and the like, or "scalar"; the elements). A bare list "1, 2" is a set, \pm 2 as well."""
    inner = re.fullmatch(r"\\\{\s*(.*?)\s*\\\}", text) or re.fullmatch(r"\{\s*([^{}]*)\s*\}", text)
    if inner and not re.search(r"\\mid|\||:|\\ldots|\\dots", inner[1]):
        if "\\emptyset" in inner[1]:  # the set of the empty set is not the empty set
            return "scalar", [text]
        return ("scalar", [inner[1]]) if is_range(inner[1]) else ("set", _members(inner[1]))
    if re.fullmatch(r"[(\[].*[)\]]", text) and _closes_at_end(text):
        parts = _split_top(text[1:-1])
        if len(parts) > 1:
            return ("tuple" if text[0] + text[-1] == "()" else text[0] + text[-1]), parts
    parts = _split_top(text)
    if len(parts) > 1 and not re.search(r"\\ldots|\\dots|\\mid", text):
        names = [re.match(r"\s*([A-Za-z])\s*=", part) for part in parts]
        if all(names) and len({name[1] for name in names}) == len(parts):  # x = 1, y = 2: one answer in several parts
            return "named", sorted(re.sub(r"\s", "", part) for part in parts)
        return "set", _members(text)
    both = _both_signs(text)
    return ("set", both) if len(both) > 1 else ("scalar", both)


def _members(text: str) -> list[str]:
    return [member for part in _split_top(text) for member in _both_signs(part)]


def _both_signs(text: str) -> list[str]:
    r"""1 \pm \sqrt2 as 1 + \sqrt2 and 1 - \sqrt2, anywhere in a formula; what has none such, or several, as it is."""
    sign = re.fullmatch(r"(?:[A-Za-z]\s*=)?\s*(.*?)\\pm(?![A-Za-z])\s*(.+)", text)
    if not sign or re.search(r"\\pm(?![A-Za-z])|\\mp", sign[2]):
        return [text]
    first, second = sign.groups()
    return [f"{first}+{second}" if first else second, f"{first}-{second}"]


def _closes_at_end(text: str) -> bool:
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign in "([") - (sign in ")]")
        if depth == 0:
            return at == len(text) - 1
    return False


def _split_top(text: str) -> list[str]:
    """The parts between commas, semicolons, "and" and "or" outside all brackets; digit groups are no parts."""
    if re.fullmatch(r"-?\d{1,3}(,\d{3})+(\.\d+)?%?", text):
        return [text]
    depth, parts, start = 0, [], 0
    for match in re.finditer(r"\\[{}]|[()\[\]{}]|[,;]|\b(?:and|or)\b", text):
        sign = match[0].lstrip("\\")
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        elif depth == 0:
            parts.append(text[start : match.start()])
            start = match.end()
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def is_range(text: str) -> bool:
    """Whether there is an inequality, an interval sign or a set operation in the text."""
    return bool(
        re.search(r"[<>]|\\(?:leq?|geq?|leqslant|geqslant|lt|gt|in|cup|cap|setminus|mid|infty)(?![A-Za-z])", text)
    )
