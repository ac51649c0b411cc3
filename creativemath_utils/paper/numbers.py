"""The paper's numbers as its claims are tested on them: the counts behind cells and figures, with their dependence.

>>> numbers = read_numbers()
>>> str(numbers.group("table3", "DeepSeek-V2", "k3"))
'DeepSeek-V2 30/42 or 31/42'
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd

from creativemath_utils import published
from creativemath_utils.audit.consistency import Count
from creativemath_utils.audit.readings import Evidence
from creativemath_utils.audit.reconcile import Explanation
from creativemath_utils.audit.tallies import figure_6_findings
from creativemath_utils.paper.count_tests import Group, Proportion, Score, trend_scores, widening

MOST_CANDIDATES = 20  # of more counts than these, a cell tells nothing


@dataclass(frozen=True)
class Numbers:
    """The paper's numbers as claims are tested on them: what explains its tables, and its figures."""

    found: Explanation
    evidence: Evidence
    figure_2: pd.DataFrame
    subset: pd.DataFrame

    @cached_property
    def models(self) -> list[str]:
        """The models of Table 2."""
        return [row for table, row, column in self.found.cells if (table, column) == ("table2", "C")]

    def group(self, table: str, row: str, column: str, name: str | None = None) -> Group:
        """The counts behind a cell, under the name of its row or another; none where the audit leaves it in doubt."""
        verdict = self.found.verdicts.get((table, row, column))
        known = verdict is not None and verdict.state != "suspect" and len(verdict.counts) <= MOST_CANDIDATES
        counts = verdict.counts if known else ()
        return Group(name or row, tuple(Proportion(*count, self.widening(table, count)) for count in counts))

    def widening(self, table: str, count: Count) -> float:
        """At most how many times as large a standard error is, since samples of one problem may hang together.

        In Table 2 a problem gives up to n samples, in Table 5 one for each model. Those of one k, or of one n - k, are
        of as many problems, so that nothing in a cell of Tables 3 and 4 hangs together.
        """
        if table == "table2":
            return widening(count, self.found.design.by_k)
        return math.sqrt(len(self.models)) if table == "table5" else 1.0

    def table_2(self, column: str, model: str) -> Group:
        """The counts behind a cell of Table 2."""
        return self.group("table2", model, column)

    def trend(self, table: str, model: str, columns: Sequence[str]) -> list[Score]:
        """How a model's ratio rises with k (Table 3) or n - k (Table 4)."""
        at = [int(column.removeprefix("n_minus_k_").removeprefix("k")) for column in columns]
        return trend_scores([self.group(table, model, column) for column in columns], at)

    def compared_with_the_rest(self, model: str) -> Group:
        """Nu/N of a model over the samples that have a human solution left to compare with (n > k).

        With k = n each novel solution is Novel-Unknown, so those of Table 4's n - k = 0 are taken from both counts.
        """
        novel, unknown = self.table_2("N", model).candidates, self.table_2("Nu", model).candidates
        shown_all = self.group("table4", model, "n_minus_k_0").candidates
        pairs = {(nu[0] - own[0], n[0] - own[0]) for n in novel for nu in unknown for own in shown_all}
        if any(nu < 0 or n <= 0 for nu, n in pairs):  # then Nu was not counted by this definition
            return Group(model, ())
        return Group(model, tuple(Proportion(*pair, self.widening("table2", pair)) for pair in sorted(pairs)))

    def mean_by_mix(self) -> list[tuple[float, float]]:
        """For k = 1, 2, ...: the mean C that the mix of competitions alone would give, and that of Table 3, 0..1.

        The first weights each competition's mean C at k = 1 by its problems with k solutions or more. Ends where counts
        are unknown.
        """
        first = {row: self.group("table5", row, "mean_C").candidates for row in self.subset.index}
        means = []
        for k in range(1, len(self.found.design.by_k) + 1):
            groups = [self.group("table3", model, f"k{k}").candidates for model in self.models]
            if not all(groups) or not all(len(counts) == 1 for counts in first.values()):
                break
            weights = self.subset[[c for c in self.subset if int(c.removeprefix("n")) >= k]].sum(axis=1)
            shares = [first[row][0].numerator / first[row][0].denominator for row in self.subset.index]
            expected = sum(share * weight for share, weight in zip(shares, weights, strict=True)) / weights.sum()
            means.append((float(expected), sum(_middle(counts) for counts in groups) / len(groups)))
        return means

    def pair(self, first: str, second: str) -> Group:
        """On how many of the common samples two models are alike (Figure 6)."""
        count = self._pairs.get((first, second), self._pairs.get((second, first)))
        if count is None or not 0 <= count <= self.common:
            return Group(f"{first} with {second}", ())
        known = (Proportion(count, self.common, self.widening("table2", (count, self.common))),)  # any of all samples
        return Group(f"{first} with {second}", known)

    def alike(self, model: str) -> Group:
        """How often a model is alike to others, all pairs together."""
        others = [name for name in self.evidence.figure_6 if name != model]
        pairs = [self.pair(model, other).candidates for other in others]
        if model not in self.evidence.figure_6 or () in pairs:
            return Group(model, ())
        total = sum(pair[0].numerator for pair in pairs)
        widest = math.sqrt(len(pairs)) * max(pair[0].widening for pair in pairs)
        return Group(model, (Proportion(total, len(pairs) * self.common, widest),))

    @cached_property
    def common(self) -> int:
        """The samples on which models are compared in Figure 6."""
        return int(self.evidence.figure_6.to_numpy().diagonal().max(initial=0))

    @cached_property
    def _pairs(self) -> dict[tuple[str, str], int]:
        return self.evidence.pairs()


def _middle(counts: Sequence[Proportion]) -> float:
    """The middle of what a cell can be, 0..1."""
    shares = [count.numerator / count.denominator for count in counts]
    return (min(shares) + max(shares)) / 2


def read_numbers(source: Path | None = None) -> Numbers:
    """The published numbers from a folder of csv files, by default the shipped ones."""
    found = published.explanation(source)
    figures = [published.load(name, source) for name in ("figure1", "figure6_similarity", "figure2_digitised")]
    list(figure_6_findings(figures[1]))  # raises KitError for other models in its rows than in its columns
    evidence = Evidence(published.corrected(found), *published.groups(source), *figures[:2])
    return Numbers(found, evidence, figures[2], published.load("subset_counts", source))
