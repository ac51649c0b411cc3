"""Which counts a printed percentage can come from.

A table prints ratios of small integers, so most values are the rounding of very few ratios, or of none. All arithmetic
is exact. A ratio that lies just between two printable values (3.125 between 3.12 and 3.13) is granted to both: some
round half up, some half to even.

    >>> third = read_percent("71.32", "Table 3")
    >>> [count for count in range(43) if third.matches(count, 42)]
    []
    >>> as_percent(Fraction(30, 42))
    '71.43'
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from creativemath_utils.metrics import rounded
from creativemath_utils.records import KitError

NOT_PRINTED = ("", "n/a", "na", "nan", "none", "-", "–", "—")
NUMBER = re.compile(r"(-?)([0-9]{1,6})(?:\.([0-9]{1,6}))?")  # so short that integers of 64 bits hold every product


class Finding(NamedTuple):
    """One finding of an audit: where it is, what is printed, what it should be, and why, in plain words."""

    item: str
    model: str
    column: str
    printed: str
    expected: str
    reason: str


@dataclass(frozen=True)
class Printed:
    """A number as printed: its text, and its value as `units` of 10 ** -decimals."""

    text: str
    units: int
    decimals: int

    @property
    def value(self) -> Fraction:
        """The number itself, exactly."""
        return Fraction(self.units, 10**self.decimals)

    def matches(self, numerator: Any, denominator: Any) -> Any:
        """Whether numerator / denominator, in percent, rounds to this number; integers, or arrays of them.

        Nothing is a percentage of nothing: False where the denominator is 0.
        """
        off = 2 * 100 * 10**self.decimals * numerator - 2 * self.units * denominator  # both sides times the denominator
        return (denominator > 0) & (abs(off) <= denominator)


def read_percent(text: str, where: str) -> Printed | None:
    """A cell of a table as a number; None for a cell without one (empty, n/a, ...).

    Raises KitError for anything else, naming `where`.
    """
    text = str(text).strip()
    if text.lower() in NOT_PRINTED:
        return None
    found = NUMBER.fullmatch(text)
    if not found:
        raise KitError(f"published numbers: {where} is {text!r}; write a percentage such as 64.28, or n/a")
    sign, whole, part = found[1], found[2], found[3] or ""
    return Printed(text, int(f"{sign}{whole}{part}"), len(part))


def ratio_counts(printed: Printed, most: int) -> np.ndarray:
    """All pairs (denominator, numerator) with numerator <= denominator <= most that give a printed ratio; shape (n, 2).

    >>> ratio_counts(Printed("27.78", 2778, 2), 42).tolist()
    [[18, 5], [36, 10]]
    """
    denominator, numerator = np.arange(most + 1)[:, None], np.arange(most + 1)[None, :]
    return np.argwhere(printed.matches(numerator, denominator) & (numerator <= denominator))


def as_percent(ratio: Fraction) -> str:
    """A ratio 0..1 in percent as the paper prints it: two decimals, but 100 bare."""
    return "100" if ratio == 1 else rounded(100 * ratio)


def nearest(printed: Printed, texts: Iterable[str]) -> list[str]:
    """Of some percentages as text the one nearest to a printed one, or both where two are equally near."""
    distances = {text: abs(Fraction(text) - printed.value) for text in texts}
    least = min(distances.values(), default=None)
    return sorted((text for text, distance in distances.items() if distance == least), key=Fraction)


def neighbours(printed: Printed, denominator: int) -> Sequence[tuple[int, int]]:
    """The counts (numerator, denominator) just below and above a printed percentage, within 0..denominator.

    >>> neighbours(Printed("71.32", 7132, 2), 42)
    [(29, 42), (30, 42)]
    """
    below = printed.units * denominator // (100 * 10**printed.decimals)
    return [(count, denominator) for count in (below, below + 1) if 0 <= count <= denominator]
