"""Ways to read a sentence about the published tables and figures, each as a check of the numbers.

A check is made of what the sentence names, and yields a fault for each thing that the numbers contradict. It says
nothing where it lacks a number. Where words are vague it takes the reading that favours them: "generally" and "most"
ask only for more models than chance would give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import pandas as pd

from creativemath_utils.audit.reconcile import Cell
from creativemath_utils.audit.recovery import read_percent
from creativemath_utils.metrics import rounded

BY_K = ("k1", "k2", "k3", "k4")
CHANCE = Fraction(1, 20)


@dataclass(frozen=True)
class Evidence:
    """The paper's numbers: percentages (None where unknown), groups of models, ranges of difficulty, and figures."""

    values: Mapping[Cell, Fraction | None]
    source: Mapping[str, str]
    difficulty: Mapping[str, tuple[Fraction, Fraction]]
    figure_1: pd.DataFrame
    figure_6: pd.DataFrame

    def column(self, table: str, column: str) -> dict[str, Fraction]:
        """The known values of a column by row."""
        return {
            row: value for (t, row, c), value in self.values.items() if (t, c) == (table, column) and value is not None
        }

    def pairs(self) -> dict[tuple[str, str], int]:
        """On how many samples two models are alike, for pairs whose count is the same both ways."""
        counts = self.figure_6
        return {
            (a, b): int(counts.loc[a, b]) for a, b in combinations(counts, 2) if counts.loc[a, b] == counts.loc[b, a]
        }


Fault = tuple[str, str, str, str, str]  # model, column, printed, expected, reason
Check = Callable[[Evidence], Iterator[Fault]]


def _shown(value: Fraction, decimals: int = 2) -> str:
    return "100" if value == 100 else rounded(value, decimals)


def quote(cell: Cell, text: str) -> Check:
    """A number of a table, repeated."""

    def check(evidence: Evidence) -> Iterator[Fault]:
        (table, row, column), value, quoted = cell, evidence.values.get(cell), read_percent(text, "the text")
        if value is not None and abs(value - quoted.value) > Fraction(1, 2 * 10**quoted.decimals):
            shown = _shown(value, max(quoted.decimals, 1))
            yield row, f"{table} {column}", text, shown, f"The text has {text}; by the tables it is {shown}."

    return check


def best(table: str, columns: Sequence[str], model: str, among: Sequence[str] | None = None) -> Check:
    """A model has the highest value of each column, of all models or of those of some groups."""

    def check(evidence: Evidence) -> Iterator[Fault]:
        for column in columns:
            values = evidence.column(table, column)
            rivals = {m: v for m, v in values.items() if among is None or evidence.source.get(m) in among}
            if model in values and (better := [m for m in rivals if rivals[m] > values[model]]):
                best = max(better, key=rivals.__getitem__)
                reason = f"{model} has {_shown(values[model])}, but {best} has {_shown(values[best])}."
                yield model, f"{table} {column}", _shown(values[model]), f"{best}: {_shown(values[best])}", reason

    return check


def compared(table: str, column: str, higher: Sequence[str], lower: Sequence[str]) -> Check:
    """Every model of one list is above every model of another."""

    def check(evidence: Evidence) -> Iterator[Fault]:
        values = evidence.column(table, column)
        for a in higher:
            for b in lower:
                if a in values and b in values and values[a] <= values[b]:
                    reason = f"{a} has {_shown(values[a])} and {b} {_shown(values[b])}."
                    yield a, f"{table} {column}", _shown(values[a]), f"more than {_shown(values[b])}", reason

    return check


def between(table: str, column: str, rows: Sequence[str], low: int, high: int) -> Check:
    """Some values lie within bounds, in percent."""

    def check(evidence: Evidence) -> Iterator[Fault]:
        for row in rows:
            value = evidence.values.get((table, row, column))
            if value is not None and not low <= value < high:
                yield row, f"{table} {column}", f"{low} to {high}", _shown(value), f"{row} has {_shown(value)}."

    return check


def average(table: str, column: str, text: str) -> Check:
    """The mean of a column, rounded as in the text."""

    def check(evidence: Evidence) -> Iterator[Fault]:
        values = [v for (t, _, c), v in evidence.values.items() if (t, c) == (table, column)]
        if values and None not in values:
            mean, quoted = sum(values) / len(values), read_percent(text, "the text")
            if abs(mean - quoted.value) > Fraction(1, 2 * 10**quoted.decimals):
                reason = f"The mean over {len(values)} models is {_shown(mean)}."
                yield "", f"{table} {column}", text, _shown(mean), reason

    return check


def generally_rising(table: str, columns: Sequence[str], word: str) -> Check:
    """Rows rise more often than they fall from column to column, and more rows than by chance do (sign test)."""

    def check(evidence: Evidence) -> Iterator[Fault]:
        by_column = [evidence.column(table, column) for column in columns]
        rising = {}
        doubtful = sorted(set().union(*by_column) - set.intersection(*map(set, by_column)))
        for row in by_column[0]:
            values = [column[row] for column in by_column if row in column]
            if len(values) == len(columns):
                rising[row] = sum((b > a) - (b < a) for a, b in combinations(values, 2))
        up, down = ([row for row, trend in rising.items() if trend * sign > 0] for sign in (1, -1))
        trials = len(up) + len(down)
        chance = Fraction(sum(math.comb(trials, i) for i in range(len(up), trials + 1)), 2**trials)
        if trials and chance > CHANCE:
            reason = (
                f"{len(up)} of {len(rising)} models rise, {len(down)} fall ({', '.join(down) or 'none'}); by chance "
                f"alone as many or more would rise in {float(100 * chance):.0f} of 100 tables."
            )
            if doubtful:
                reason += f" Not counted, for a cell in doubt: {', '.join(doubtful)}."
            yield "", f"{table} {columns[0]}..{columns[-1]}", word, f"{len(up)} of {len(rising)} models", reason

    return check


def by_difficulty(column: str, sign: int, word: str, always: bool) -> Check:
    """Table 5 rises (sign 1) or falls (-1) with difficulty, always or more often than not.

    Only competitions of which one is harder throughout are compared: those whose ranges do not overlap.
    """

    def check(evidence: Evidence) -> Iterator[Fault]:
        values, ranges = evidence.column("table5", column), evidence.difficulty
        order = [
            (a, b)
            for a in values
            for b in values
            if a in ranges and b in ranges and ranges[a][1] <= ranges[b][0] and a != b
        ]
        against = [(a, b) for a, b in order if sign * (values[b] - values[a]) < 0]
        if against and (always or 2 * len(against) >= len(order)):
            shown = "; ".join(f"{a} {_shown(values[a])}, {b} {_shown(values[b])}" for a, b in against)
            reason = (
                f"{len(against)} of {len(order)} pairs of competitions of which one is harder throughout "
                f"{'goes' if len(against) == 1 else 'go'} the other way (easier, harder): {shown}."
            )
            yield "", f"table5 {column}", word, shown, reason

    return check


def small_gains(models: Sequence[str], moderate: Sequence[str]) -> Check:
    """A model's correctness rises from k = 1 to some k, by less there than that of models with a moderate rise."""

    def check(evidence: Evidence) -> Iterator[Fault]:
        by_k = [evidence.column("table3", column) for column in BY_K]
        if any(model not in column for model in moderate for column in by_k):
            return
        for model in models:
            if all(model in column for column in by_k):
                gains = [column[model] - by_k[0][model] for column in by_k[1:]]
                limits = [min(column[other] - by_k[0][other] for other in moderate) for column in by_k[1:]]
                if not any(0 <= gain <= limit for gain, limit in zip(gains, limits, strict=True)):
                    shown = ", ".join(f"{float(gain):+.2f}" for gain in gains)
                    reason = (
                        f"From k = 1 to k = 2, 3, 4 {model} changes by {shown}: where it rises, it rises more than one "
                        f"of {', '.join(moderate)}, whose rise the text calls moderate."
                    )
                    yield model, "table3 k1..k4", "minimal increases", shown, reason

    return check


def greater_gain(model: str, others: Sequence[str]) -> Check:
    """From k = 1 to k = 4 others rise, but by less than a model."""

    def check(evidence: Evidence) -> Iterator[Fault]:
        first, last = (evidence.column("table3", column) for column in (BY_K[0], BY_K[-1]))
        gains = {m: last[m] - first[m] for m in (model, *others) if m in first and m in last}
        for other in others:
            if model in gains and other in gains and not 0 < gains[other] < gains[model]:
                shown, limit = (f"{float(gains[m]):+.2f}" for m in (other, model))
                yield (
                    other,
                    "table3 k1..k4",
                    "smaller increase",
                    shown,
                    f"{other} changes by {shown}, {model} by {limit}.",
                )

    return check


def extreme_pairs(pairs: Sequence[tuple[str, str]], percent: str, most: bool) -> Check:
    """The most (or least) similar pairs of Figure 6 are these, and no others."""

    def check(evidence: Evidence) -> Iterator[Fault]:
        counts, named = evidence.pairs(), [tuple(sorted(pair)) for pair in pairs]
        by_pair = {tuple(sorted(pair)): count for pair, count in counts.items()}
        if not by_pair or any(pair not in by_pair for pair in named):
            return
        extreme = max(by_pair.values()) if most else min(by_pair.values())
        found = [pair for pair, count in by_pair.items() if count == extreme]
        samples = int(evidence.figure_6.to_numpy().diagonal().max())
        quoted = read_percent(percent, "the text")
        if set(found) != set(named) or not quoted.matches(extreme, samples):
            word = "most" if most else "least"
            shown = "; ".join(" and ".join(pair) for pair in found)
            alike = f"{extreme} of {samples}, {_shown(Fraction(100 * extreme, samples), 0)}%"
            reason = f"{len(found)} pair{'s are' if len(found) > 1 else ' is'} {word} similar ({alike}): {shown}."
            count = f"{len(found)} pair{'s' * (len(found) > 1)} at {_shown(Fraction(100 * extreme, samples), 0)}"
            printed = f"{len(named)} pair{'s' * (len(named) > 1)} at {percent}"
            yield "; ".join(" and ".join(pair) for pair in pairs), "figure6_similarity", printed, count, reason

    return check


def most_alike(model: str) -> Check:
    """On average a model is more similar to the others than any other model."""

    def check(evidence: Evidence) -> Iterator[Fault]:
        counts = evidence.figure_6
        if model not in counts or len(evidence.pairs()) < len(counts) * (len(counts) - 1) // 2:
            return
        sums = {name: int(counts[name].sum() - counts.loc[name, name]) for name in counts}
        best = max(sums, key=sums.__getitem__)
        if sums[best] > sums[model]:
            reason = f"In all it is alike to others {sums[model]} times, {best} {sums[best]} times."
            yield model, "figure6_similarity", str(sums[model]), f"{best}: {sums[best]}", reason

    return check


def largest(categories: Sequence[str]) -> Check:
    """Some categories hold the most problems, all competitions together."""

    def check(evidence: Evidence) -> Iterator[Fault]:
        totals = evidence.figure_1.sum(axis=1)
        if all(category in totals for category in categories):
            lowest = min(int(totals[category]) for category in categories)
            for category, total in totals.items():
                if category not in categories and total > lowest:
                    reason = f"{category} has {int(total):,} problems, one of these only {lowest:,}."
                    yield "", "figure1", " and ".join(categories), str(category), reason

    return check
