r"""Whether two final answers are equal: equal, different or unchecked. What could not be compared is not different.

    >>> compare_answers("41", r"\boxed{\textbf{(B)}\ 041}")
    'equal'
    >>> compare_answers("41", "B"), compare_answers("41", "B", {"A": "40", "B": "41"})
    ('unchecked', 'equal')

What can be told from the text or from exact fractions is; the rest is asked of math-verify (module `symbolic`).
The rules:

- An option letter stands for its value and is never a variable. Letter and value that contradict each other are
  unchecked.
- Units, counted nouns and currency signs do not count, but values in two different units are unchecked.
- A percentage p% equals p/100, and p where the other side has no percent sign (the question then asks for percent).
- "x = 3" and "1 + 2 = 3" are 3. A bare list is a set: its order does not count. In brackets it does.
- Of an exact value and a rounded one in the same answer, the exact one is taken first. A decimal fraction that is the
  other side's exact value rounded is unchecked: neither right nor wrong.
- Prose ("none of these") is equal to the same words, otherwise unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from creativemath_utils.answers import final_answer
from creativemath_utils.symbolic import WORKER, Budget, Outcome


@dataclass(frozen=True)
class _Answer:
    """An answer taken apart: the option letter and the value as plain LaTeX, "" for what is not there."""

    letter: str
    value: str


def compare_answers(reference: str, candidate: str, options: Mapping[str, str] | None = None) -> Outcome:
    """Whether two final answers (LaTeX) are equal; `options` as answers.options_of gives them.

    The outcome is "equal", "different" or "unchecked". Works in any thread, in TIME_LIMIT_SECONDS of computing at most.
    Raises KitError if the math-verify process cannot start.
    """
    known = {letter: _plain(value) for letter, value in (options or {}).items()}
    stated = [_split_letter(_plain(text)) for text in (reference, candidate)]
    if any(re.fullmatch("[A-E]", value) for value in known.values()) and not all(answer.value for answer in stated):
        return "unchecked"  # the options are letters themselves: "B" may be either
    first, second = (_completed(answer, known) for answer in stated)
    values = _compare(first.value, second.value, Budget()) if first.value and second.value else "unchecked"
    if first.letter and second.letter:
        letters: Outcome = "equal" if first.letter == second.letter else "different"
        return letters if values in (letters, "unchecked") else "unchecked"
    return values


def _completed(answer: _Answer, options: Mapping[str, str]) -> _Answer:
    """The answer with its other half from the options: the value of a letter, or the letter of a value."""
    if answer.letter and not answer.value:
        return _Answer(answer.letter, options.get(answer.letter, ""))
    if answer.value and not answer.letter:
        fits = [letter for letter, value in options.items() if _quick(answer.value, value) == "equal"]
        return _Answer(fits[0] if len(fits) == 1 else "", answer.value)
    return answer


_SPACING = re.compile(r"\\(?:qquad|quad|enspace|thinspace|,|;|:|!|\s|hspace\s*\{[^{}]*\})|~")
_UNWRAP = re.compile(
    r"\\(?:textbf|textrm|textit|textsf|text|mathrm|mathbf|mathit|mathsf|mbox|emph|operatorname)\s*\{([^{}]*)\}"
)
_SIGNS = str.maketrans({
    "−": "-", "–": "-", "π": r"\pi ", "×": r"\times ", "·": r"\cdot ", "√": r"\sqrt ", "°": r"^\circ ",
    "≈": r"\approx ", "∞": r"\infty ", "≤": r"\le ", "≥": r"\ge ", "∪": r"\cup ", "％": "%",
})  # fmt: skip


def _plain(text: str) -> str:
    r"""LaTeX without what does not change its value: delimiters, spacing, fonts, \left and \right, a full stop."""
    if re.search(r"\\(?:boxed|fbox|framebox)", text):
        text = final_answer(text) or ""
    text = text.translate(_SIGNS)
    text = re.sub(
        r"\\\$|(?<!\\)\$|\\[()\[\]]|\\(?:displaystyle|textstyle|left|right|[Bb]igg?[lr]?)(?![A-Za-z])", " ", text
    )
    text = re.sub(r"\{,\}|\\,(?=\d{3}(?!\d))", ",", text)
    text = re.sub(r"\\[dtc]frac(?![A-Za-z])", r"\\frac", _SPACING.sub(" ", text))
    if re.search(r"\\(?:sin|cos|tan|cot|sec|csc)", text):  # degrees are a unit only where they are not an argument
        text = re.sub(r"(\d+(?:\.\d+)?)\s*\^\s*\{?\s*\\circ\s*\}?", r"(\\frac{\1\\pi}{180})", text)
    for _ in range(3):
        text = _UNWRAP.sub(r" \1 ", text)
    text = re.sub(r"\\(?:textbf|mathbf|mathrm|bf|rm)\s+(?=\(?[A-E]\b)", "", text)  # \textbf C
    text = re.sub(r"\*\*|\\%", lambda m: "" if m[0] == "**" else "%", text)
    text = re.sub(r"^\s*(?:(?:the\s+)?(?:final\s+)?answer\s*(?:is|:)|\{\s*\}|[=:])\s*", "", text, flags=re.IGNORECASE)
    return re.sub(r"\s+", " ", text).strip().rstrip(".,; ").strip()


_LEADS_TO = r"(?:\\(?:implies|Rightarrow|rightarrow|to)|=+>|→)"


def _split_letter(text: str) -> _Answer:
    """The option letter before or behind a value, or alone."""
    text = re.sub(r"^\s*[A-Za-z]\s*=\s*(?=\(\s*[A-E]\s*\)\s*\S)", "", text)  # x = (B) 41
    alone = re.fullmatch(r"\(?\s*\{?([A-E])\}?\s*[).:]?", text)
    if alone:
        return _Answer(alone[1], "")
    before = re.match(r"(?:\(\s*([A-E])\s*\)|([A-E])\s*[):.]|([A-E])\s+(?=[-\d]|\\frac|\\sqrt))[\s:=]*", text)
    if before:
        return _Answer(before[1] or before[2] or before[3], text[before.end() :].strip())
    behind = re.search(
        rf"(?<=[\d\s}})%])\s*(?:{_LEADS_TO}\s*)?(?:\(\s*([A-E])\s*\)|([A-E])\))$|{_LEADS_TO}\s*([A-E])$", text
    )
    if behind:
        return _Answer(behind[1] or behind[2] or behind[3], text[: behind.start()].strip())
    return _Answer("", text)


def _compare(first: str, second: str, budget: Budget) -> Outcome:
    """Two values, by the cheapest means that decides."""
    quick = _quick(first, second)
    if quick:
        return quick
    forms = _forms(first), _forms(second)
    if len(forms[0]) + len(forms[1]) > 2:  # an exact and a rounded form: the exact ones first, then any two
        exact = _compare(forms[0][0], forms[1][0], budget)
        others = (_quick(a, b) == "equal" for a in forms[0] for b in forms[1])
        return "equal" if exact == "equal" or any(others) else exact
    kinds = _elements(first), _elements(second)
    if kinds[0][0] != "scalar" or kinds[1][0] != "scalar":
        return _compare_groups(*kinds, first, second, budget)
    (a, a_unit), (b, b_unit) = (_without_unit(_right_side(parts[0])) for _, parts in kinds)
    if (a, b) != (first, second):
        return _in_units(_compare(a, b, budget), a_unit, b_unit) if a and b else "unchecked"
    if _words(first) or _words(second) or _UNREAD.search(first) or _UNREAD.search(second):
        return "unchecked"  # "none of these": only the same words are known to be the same
    return WORKER.compare(first, second, budget)


# What math-verify reads wrongly or skips: a time of day, accents, digits in another base.
_UNREAD = re.compile(r":|\\(?:overline|bar|hat|vec|widehat|widetilde|tilde|overrightarrow|dot)(?![A-Za-z])|\d\s*_")


def _quick(first: str, second: str) -> Outcome | None:
    """Equal text, or two rational numbers: decided here, else None."""
    if re.sub(r"\s", "", first) == re.sub(r"\s", "", second) or (_words(first) and first.lower() == second.lower()):
        return "equal"
    a, b = _rational(first), _rational(second)
    if a is None or b is None:
        return None
    (value, is_percent), (other, other_percent) = a, b
    if is_percent == other_percent:
        if value == other:
            return "equal"
        return "unchecked" if _rounds(value, second) or _rounds(other, first) else "different"
    percent, number = (value, other) if is_percent else (other, value)
    return "equal" if number in (percent, percent / 100) else "different"


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


def _rational(text: str) -> tuple[Fraction, bool] | None:
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


def _rounds(exact: Fraction, decimal: str) -> bool:
    """Whether `decimal` is a fraction with no end in decimals, rounded (1/3 and 0.33)."""
    places = re.fullmatch(r"-?\d*\.(\d+)", decimal.strip())
    ends = exact.denominator
    for prime in (2, 5):
        while ends % prime == 0:
            ends //= prime
    return (
        bool(places) and ends != 1 and abs(exact - Fraction(decimal.strip())) <= Fraction(1, 2 * 10 ** len(places[1]))
    )


def _forms(text: str) -> list[str]:
    r"""The forms of a value written as "exact \approx rounded"."""
    return [
        form.strip() for form in re.split(r"\\(?:approx|simeq|doteq)(?![A-Za-z])|\bor about\b", text) if form.strip()
    ] or [text]


def _right_side(text: str) -> str:
    """The value of "x = 3" or "1 + 2 = 3"; an equation that defines something else stays whole."""
    left, equals, right = text.rpartition("=")
    if not equals or left.rstrip().endswith(("\\ne", "!", "<", ">", "\\neq")):
        return text
    name = r"(?:[A-Za-z]{1,3}|\\[a-zA-Z]+|[A-Z]{1,4})(?:_\{?\w+\}?)?'*(?:\s*\([^()]*\))?"
    sides = left.split("=")
    is_name = re.fullmatch(rf"\s*(?:\\angle\s*|\[|\|)?{name}[\]|]?\s*", sides[0])
    is_sum = not re.search(r"[A-Za-z]", re.sub(r"\\[a-zA-Z]+", "", sides[-1]))
    if re.fullmatch(r"\s*[A-Za-z]?\s*", right):  # a = b says how two things are related
        return text
    return right.strip() if (is_name or is_sum or _words(left)) else text


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


def _without_unit(text: str) -> tuple[str, str]:
    """(value, unit): what stands behind a number is taken off; the unit has one name for its spellings."""
    match = _UNIT.search(text)
    if not match:
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


def _in_units(outcome: Outcome, first: str, second: str) -> Outcome:
    """The outcome for values that have units: 2 hours and 120 minutes, or 3 cm and 3 m, are not compared."""
    return outcome if first == second or not first or not second else "unchecked"


_FUNCTIONS = frozenset(["sin", "cos", "tan", "cot", "sec", "csc", "log", "exp", "gcd", "lcm", "max", "min", "mod"])


def _words(text: str) -> bool:
    """Whether there is a word of prose in the text: three letters in a row that are no command and no function."""
    text = re.sub(r"\\[A-Za-z]+", " ", text)
    if re.search(r"(?<![A-Za-z])(?:is|if|to|of|at|no|by|on)(?![A-Za-z])", text):
        return True
    return any(word not in _FUNCTIONS for word in re.findall(r"[A-Za-z]{3,}", text))


_Group = tuple[str, list[str]]


def _elements(text: str) -> _Group:
    r"""("set", "tuple", "[)" and the like, or "scalar"; the elements). A bare list "1, 2" is a set, \pm 2 as well."""
    inner = re.fullmatch(r"\\\{\s*(.*?)\s*\\\}", text) or re.fullmatch(r"\{\s*([^{}]*)\s*\}", text)
    if inner and not re.search(r"\\mid|\||:|\\ldots|\\dots", inner[1]):
        return ("scalar", [inner[1]]) if _is_range(inner[1]) else ("set", _split_top(inner[1]))
    if re.fullmatch(r"[(\[].*[)\]]", text) and _closes_at_end(text):
        parts = _split_top(text[1:-1])
        if len(parts) > 1:
            return ("tuple" if text[0] + text[-1] == "()" else text[0] + text[-1]), parts
    parts = _split_top(text)
    if len(parts) > 1 and not re.search(r"\\ldots|\\dots|\\mid", text):
        names = [re.match(r"\s*([A-Za-z])\s*=", part) for part in parts]
        if all(names) and len({name[1] for name in names}) == len(parts):  # x = 1, y = 2: one answer in several parts
            return "named", sorted(re.sub(r"\s", "", part) for part in parts)
        return "set", parts
    plus_minus = re.fullmatch(r"\\pm\s*(.+)", text) or re.fullmatch(r"[A-Za-z]\s*=\s*\\pm\s*(.+)", text)
    return ("set", [plus_minus[1], f"-{plus_minus[1]}"]) if plus_minus else ("scalar", [text])


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


def _compare_groups(first: _Group, second: _Group, a: str, b: str, budget: Budget) -> Outcome:
    """Sets in any order, tuples and intervals in theirs; `a` and `b` are the texts of the two."""
    (kind, parts), (other, others) = first, second
    if {kind, other} == {"named", "tuple"}:  # x = 1, y = 2 beside (1, 2): by position
        parts, others = ([part.rpartition("=")[2] for part in group] for group in (parts, others))
        kind = other = "tuple"
    if kind == other and kind != "set":
        if len(parts) != len(others):
            return "different"
        return _all_of([_compare(x, y, budget) for x, y in zip(parts, others, strict=True)])
    if {kind, other} <= {"set", "scalar"} and not (_is_range(a) or _is_range(b)):
        return _compare_sets(parts, others, budget)
    if "scalar" in (kind, other) and not (_words(a) or _words(b)):  # a union of intervals, an inequality
        return WORKER.compare(a, b, budget)
    return "different" if {kind, other} <= {"tuple", "[]", "[)", "(]"} else "unchecked"


def _is_range(text: str) -> bool:
    return bool(
        re.search(r"[<>]|\\(?:leq?|geq?|leqslant|geqslant|lt|gt|in|cup|cap|setminus|mid|infty)(?![A-Za-z])", text)
    )


def _compare_sets(parts: Sequence[str], others: Sequence[str], budget: Budget) -> Outcome:
    """Each element has its equal on the other side; repeated elements count once."""
    if len(parts) * len(others) > 1000:
        return "unchecked"
    grid = [[_compare(x, y, budget) for y in others] for x in parts]
    rows = [*grid, *map(list, zip(*grid, strict=True))]
    return _all_of(["equal" if "equal" in row else "unchecked" if "unchecked" in row else "different" for row in rows])


def _all_of(outcomes: Sequence[Outcome]) -> Outcome:
    return "different" if "different" in outcomes else "unchecked" if "unchecked" in outcomes else "equal"
