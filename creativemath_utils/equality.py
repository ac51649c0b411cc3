r"""Whether two final answers are equal: equal, different or unchecked. What could not be compared is not different.

    >>> compare_answers("41", r"\boxed{\textbf{(B)}\ 041}")
    'equal'
    >>> compare_answers("41", "B"), compare_answers("41", "B", {"A": "40", "B": "41"})
    ('unchecked', 'equal')

What can be told from the text or from exact fractions is; the rest is asked of math-verify (module `symbolic`). How a
value is read from its LaTeX is in `notation`. The rules:

- An option letter stands for its value and is never a variable. Letter and value that contradict each other are
  unchecked.
- Units, counted nouns and currency signs do not count, but values in two different units or currencies are unchecked,
  and so is a word that changes a number ("3 million", "5 squared").
- A percentage p% equals p/100, and p where the other side has no percent sign (the question then asks for percent).
- "x = 3" and "1 + 2 = 3" are 3. A bare list is a set: its order does not count. In brackets it does.
- Of an exact value and a rounded one in the same answer, the exact one is taken first. A decimal fraction that is the
  other side's exact value rounded is unchecked: neither right nor wrong.
- Prose ("none of these") is equal to the same words, otherwise unchecked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction

from creativemath_utils.notation import (
    UNITS,
    Answer,
    Group,
    elements,
    forms,
    has_words,
    is_range,
    plain,
    rational,
    right_side,
    split_letter,
    without_unit,
)
from creativemath_utils.symbolic import WORKER, Budget, Outcome


def compare_answers(reference: str, candidate: str, options: Mapping[str, str] | None = None) -> Outcome:
    """Whether two final answers (LaTeX) are equal; `options` as answers.options_of gives them.

    The outcome is "equal", "different" or "unchecked". Works in any thread, in TIME_LIMIT_SECONDS of computing at most.
    Raises KitError if the math-verify process cannot start.
    """
    known = {letter: plain(value) for letter, value in (options or {}).items()}
    stated = [split_letter(plain(text)) for text in (reference, candidate)]
    if any(re.fullmatch("[A-E]", value) for value in known.values()) and not all(answer.value for answer in stated):
        return "unchecked"  # the options are letters themselves: "B" may be either
    first, second = (_completed(answer, known) for answer in stated)
    comparable = first.value and second.value and not _in_two_currencies(reference, candidate)
    values = _compare(first.value, second.value, Budget()) if comparable else "unchecked"
    if first.letter and second.letter:
        letters: Outcome = "equal" if first.letter == second.letter else "different"
        return letters if values in (letters, "unchecked") else "unchecked"
    return values


_CURRENCIES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (r"\\\$|\bdollars?\b", r"¢|\\cent\b|\bcents?\b", r"€|\beuros?\b", r"£|\\pounds\b", r"¥|\byen\b")
]


def _in_two_currencies(first: str, second: str) -> bool:
    ours, theirs = ([bool(currency.search(text)) for currency in _CURRENCIES] for text in (first, second))
    return any(ours) and any(theirs) and ours != theirs


def _completed(answer: Answer, options: Mapping[str, str]) -> Answer:
    """The answer with its other half from the options: the value of a letter, or the letter of a value."""
    if answer.letter and not answer.value:
        return Answer(answer.letter, options.get(answer.letter, ""))
    if answer.value and not answer.letter:
        fits = [letter for letter, value in options.items() if _quick(answer.value, value) == "equal"]
        return Answer(fits[0] if len(fits) == 1 else "", answer.value)
    return answer


def _compare(first: str, second: str, budget: Budget) -> Outcome:
    """Two values, by the cheapest means that decides."""
    quick = _quick(first, second)
    if quick:
        return quick
    ours, theirs = forms(first), forms(second)
    if len(ours) + len(theirs) > 2:  # an exact and a rounded form: the exact ones first, then any two
        exact = _compare(ours[0], theirs[0], budget)
        others = (_quick(a, b) == "equal" for a in ours for b in theirs)
        return "equal" if exact == "equal" or any(others) else exact
    groups = elements(first), elements(second)
    if any(kind != "scalar" for kind, _ in groups):
        return _compare_groups(*groups, first, second, budget)
    (a, a_unit), (b, b_unit) = (without_unit(right_side(parts[0])) for _, parts in groups)
    if (a, b) != (first, second):
        # 2 hours and 120 minutes, 3 cm and 3 m, degrees and radians: not compared
        in_two_units = (a_unit and b_unit and a_unit != b_unit) or any(
            (unit == "degree" and not other and "\\pi" in value) or (unit and value.endswith("%"))
            for unit, other, value in ((a_unit, b_unit, b), (b_unit, a_unit, a))
        )
        return _compare(a, b, budget) if a and b and not in_two_units else "unchecked"
    if has_words(first) or has_words(second) or _UNREAD.search(first) or _UNREAD.search(second):
        return "unchecked"  # "none of these": only the same words are known to be the same
    if _is_equation(first) != _is_equation(second):
        return "unchecked"  # x + y = 3 and 3, or 2x - y + 1 = 0 and the right side of y = 2x + 1
    return _asked(first, second, budget)


def _asked(first: str, second: str, budget: Budget) -> Outcome:
    """What math-verify says; its "different" is not believed where the notation has several readings."""
    outcome = WORKER.compare(first, second, budget)
    doubted = outcome == "different" and any(_DOUBTED.search(text) for text in (first, second))
    return "unchecked" if doubted else outcome


# What math-verify reads wrongly or skips: a time of day, accents, digits in another base, residues, minutes of arc,
# three dots, values of a function, and 3/4\pi, which may have \pi above the line or below.
_UNREAD = re.compile(
    r":|\\(?:overline|bar|hat|vec|widehat|widetilde|tilde|overrightarrow|dot|dots|ldots|cdots|circ|emptyset|equiv|p?mod|bmod)"
    r"(?![A-Za-z])|\d[A-F\d]*\s*_|(?<![A-Za-z\\])[A-Za-z]\(\s*\d|\d\s*/\s*\d+\s*(?:\\[a-z]|[A-Za-z(])|^-?\d+(?:\s+\d+)+$|\d\s*x\s*\d"
)

# Logarithms without a base, angles without a unit, double factorials, sets by a property, a lone letter (an option?),
# Roman numerals, 3 > x > 1.
_DOUBTED = re.compile(
    r"\\log(?![A-Za-z])(?!\s*_)|\\(?:sin|cos|tan|cot|sec|csc)\s*[({]?\s*\d|!!|\\mathbb|\\mid|:|^\s*[A-Ha-df-h]\s*$"
    r"|^\s*[IVX]+\s*$|(?:>|\\geq?(?![A-Za-z])).*(?:>|\\geq?(?![A-Za-z]))"
)


def _is_equation(text: str) -> bool:
    return bool(re.search(r"(?<![<>!:])=", text))


def _quick(first: str, second: str) -> Outcome | None:
    """Equal text, or two rational numbers: decided here, else None."""
    ours, theirs = (re.sub(r"(?<!\d)\s|\s(?!\d)", "", text) for text in (first, second))
    if ours == theirs or (has_words(first) and first.lower() == second.lower()):
        return "equal"
    a, b = rational(first), rational(second)
    if all(re.fullmatch(r"-?\s*\\infty", text) for text in (first, second)):
        return "different"  # two infinities of one sign are the same text
    if a is None or b is None:
        return None
    (value, is_percent), (other, other_percent) = a, b
    if is_percent == other_percent:
        if value == other:
            return "equal"
        return "unchecked" if _rounds(value, second) or _rounds(other, first) else "different"
    percent, number = (value, other) if is_percent else (other, value)
    return "equal" if number in (percent, percent / 100) else "different"


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


def _compare_groups(first: Group, second: Group, a: str, b: str, budget: Budget) -> Outcome:
    """Sets in any order, tuples and intervals in theirs; `a` and `b` are the texts of the two."""
    (kind, parts), (other, others) = first, second
    if {kind, other} == {"named", "tuple"}:  # x = 1, y = 2 beside (1, 2): by position
        parts, others = ([part.rpartition("=")[2] for part in group] for group in (parts, others))
        kind = other = "tuple"
    if kind == other and kind != "set":
        if len(parts) != len(others):
            return "different"
        return _all_of([_compare(x, y, budget) for x, y in zip(parts, others, strict=True)])
    if any(_decimal_comma(x, y) for x, y in ((a, b), (b, a))):
        return "unchecked"
    if any(len({*(without_unit(part)[1] for part in group)} & UNITS) > 1 for group in (parts, others)):
        return "unchecked"  # 2 minutes and 30 seconds
    if {kind, other} <= {"set", "scalar"} and not (is_range(a) or is_range(b)):
        return _compare_sets(parts, others, budget)
    if "scalar" in (kind, other) and not (has_words(a) or has_words(b)):  # a union of intervals, an inequality
        outcome = _asked(a, b, budget)
        # "x < 1 or x > 2" is read as a list of two, which is not known to be another set
        return outcome if outcome == "equal" or "set" not in (kind, other) else "unchecked"
    return "different" if {kind, other} <= {"tuple", "[]", "[)", "(]"} else "unchecked"


def _decimal_comma(listed: str, number: str) -> bool:
    """Whether a list of two numbers is, as one number with a decimal comma or a spaced digit group, the other one."""
    joined = re.fullmatch(r"(-?\d+),\s?(\d+)", listed)
    value = rational(number)
    return bool(joined and value) and value[0] in (Fraction(f"{joined[1]}.{joined[2]}"), int(joined[1] + joined[2]))


def _compare_sets(parts: Sequence[str], others: Sequence[str], budget: Budget) -> Outcome:
    """Each element has its equal on the other side; repeated elements count once."""
    if len(parts) * len(others) > 1000:
        return "unchecked"
    grid = [[_compare(x, y, budget) for y in others] for x in parts]
    rows = [*grid, *map(list, zip(*grid, strict=True))]
    return _all_of(["equal" if "equal" in row else "unchecked" if "unchecked" in row else "different" for row in rows])


def _all_of(outcomes: Sequence[Outcome]) -> Outcome:
    return "different" if "different" in outcomes else "unchecked" if "unchecked" in outcomes else "equal"
