"""Counts that explain the rows of one model in Tables 2, 3 and 4 with the fewest wrong cells.

By definition the same correct answers are counted three times: in all (Table 2), by the number k of solutions shown
(Table 3), and by the number n - k of solutions not shown (Table 4). The novel ones are counted twice. So the counts
behind the cells have to add up, and a cell that is possible by itself can be impossible beside the others.

A choice of counts is charged 1 for every printed cell that it does not give. The cheapest choices are found exactly:
the tables share only the two totals C and N, so each is searched by itself for every value of these. What a table does
not print (k = 5, n - k = 3 and 4, a cell without a number) is free.

Two facts are left unused. That k and n are known for each sample also bounds how Table 3 and Table 4 go together, but
too loosely to exclude anything; and Nu is not compared with Table 4, because the release is of two minds on k = n.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np

from creativemath_utils.audit.recovery import Printed, ratio_counts

Key = tuple[str, str]  # table and column
Count = tuple[int, int]  # numerator and denominator
NEVER = 99  # the cost of what cannot be; more than there are cells in a row


@dataclass(frozen=True)
class Verdict:
    """What the cheapest explanations say of a cell: `agrees` in all of them, `wrong` in all, or in some (`suspect`).

    `counts` are the cell's counts in all cheapest explanations, `if_wrong` in those where the print is wrong.
    """

    state: str
    counts: tuple[Count, ...]
    if_wrong: tuple[Count, ...]


def verdict(right: Iterable[Count], wrong: Iterable[Count]) -> Verdict:
    """The verdict on a cell from its counts in cheapest explanations that agree with the print, and in others."""
    right, wrong = set(right), set(wrong)
    state = "agrees" if not wrong else "suspect" if right else "wrong"
    return Verdict(state, tuple(sorted(right | wrong)), tuple(sorted(wrong)))


def mismatch(printed: Printed | None, numerator: np.ndarray, denominator: np.ndarray | int) -> np.ndarray:
    """1 where counts do not give a printed cell, else 0; all 0 where nothing is printed."""
    if printed is None:
        return np.zeros(np.broadcast_shapes(np.shape(numerator), np.shape(denominator)), np.int16)
    return (~printed.matches(numerator, denominator)).astype(np.int16)


def add_up(costs: Sequence[np.ndarray]) -> np.ndarray:
    """The least cost of each sum of integers, from the costs of each integer: a convolution with min and plus."""
    total = np.zeros(1, np.int16)
    for cost in costs:
        short, long = sorted((total, cost), key=len)
        total = np.full(len(short) + len(long) - 1, NEVER, np.int16)
        for start, extra in enumerate(short):
            if extra < NEVER:
                part = total[start : start + len(long)]
                np.minimum(part, long + extra, out=part)
    return total


def shifted(cost: np.ndarray, values: int) -> np.ndarray:
    """Row v holds the costs of v + 0, v + 1, ..., for v < values."""
    return np.lib.stride_tricks.sliding_window_view(cost, len(cost) - values + 1)


class ModelRows:
    """The rows of one model. `cells` maps (table, column) to what is printed, None or absent where nothing is.

    `sizes` are the samples with k = 1, 2, ..., which are also those with n - k = 0, 1, ... An array over totals has
    the correct answers C as rows and the novel ones N as columns.
    """

    def __init__(self, cells: Mapping[Key, Printed | None], sizes: Sequence[int]) -> None:
        self.cells = dict(cells)
        self.sizes = tuple(sizes)
        self.samples = sum(sizes)
        count = np.arange(self.samples + 1)
        base, part = count[:, None], count[None, :]
        self.by_k = [
            mismatch(self.cells.get(("table3", f"k{k}")), np.arange(size + 1), size) for k, size in enumerate(sizes, 1)
        ]
        self.fine = self._table_2("Nu", part, self.samples) + self._table_2("Nu_over_N", part, base)  # N by Nu
        self.fine[part > base] = NEVER
        self.totals = (
            self._table_2("C", base, self.samples)
            + self._table_2("N", part, self.samples)
            + self._table_2("N_over_C", part, base)
            + self.fine.min(axis=1)[None, :]
        )
        self.totals[part > base] = NEVER
        self.groups = {
            m: ratio_counts(printed, size)
            for m, size in enumerate(sizes)
            if (printed := self.cells.get(("table4", f"n_minus_k_{m}"))) is not None
        }
        self.reached = {wrong: self._reach(set(self.groups) - set(wrong)) for wrong in _subsets(self.groups)}
        self.by_group = np.full_like(self.totals, NEVER)
        for wrong, reached in self.reached.items():
            self.by_group[reached] = np.minimum(self.by_group[reached], len(wrong))

    def first(self) -> np.ndarray:
        """The least number of wrong cells for each number of correct answers at k = 1."""
        return self._with_k(0, self.by_k)

    def verdicts(self, outside: np.ndarray | None = None) -> dict[Key, Verdict]:
        """The verdict on every printed cell; `outside` are the costs elsewhere of each number correct at k = 1."""
        by_k = list(self.by_k)
        if outside is not None:
            by_k[0] = by_k[0] + outside
        head = add_up(by_k)[:, None] + self.totals
        cost = head + self.by_group
        best = cost.min()
        found: dict[Key, Verdict] = {}

        def judge(key: Key, costs: np.ndarray, numerator: np.ndarray, denominator: np.ndarray | int) -> None:
            printed = self.cells.get(key)
            if printed is None:
                return
            right = printed.matches(numerator, denominator)
            places = np.broadcast_arrays(costs == best, right, numerator, denominator)
            right, numerator, denominator = (place[places[0]] for place in places[1:])
            pairs = set(zip(right.tolist(), numerator.tolist(), denominator.tolist(), strict=True))
            found[key] = verdict({(a, b) for ok, a, b in pairs if ok}, {(a, b) for ok, a, b in pairs if not ok})

        count, size = np.arange(self.samples + 1), self.samples
        by_fine = (cost.min(axis=0) - self.fine.min(axis=1))[:, None] + self.fine
        judge(("table2", "C"), cost.min(axis=1), count, size)
        judge(("table2", "N"), cost.min(axis=0), count, size)
        judge(("table2", "N_over_C"), cost, count[None, :], count[:, None])
        judge(("table2", "Nu"), by_fine.min(axis=0), count, size)
        judge(("table2", "Nu_over_N"), by_fine, count[None, :], count[:, None])
        for at, size in enumerate(self.sizes):
            judge(("table3", f"k{at + 1}"), self._with_k(at, by_k), np.arange(size + 1), size)
        for m in self.groups:
            found["table4", f"n_minus_k_{m}"] = self._group_verdict(m, head, best)
        return found

    def _table_2(self, column: str, numerator: np.ndarray, denominator: np.ndarray | int) -> np.ndarray:
        return mismatch(self.cells.get(("table2", column)), numerator, denominator)

    def _with_k(self, at: int, by_k: Sequence[np.ndarray]) -> np.ndarray:
        """The least cost of all rows for each number of correct answers at one k."""
        others = add_up([cost for place, cost in enumerate(by_k) if place != at])
        rest = (self.totals + self.by_group).min(axis=1)
        return by_k[at] + (others[None, :] + shifted(rest, len(by_k[at]))).min(axis=1)

    def _reach(self, right: Iterable[int], without: int | None = None) -> np.ndarray:
        """Which totals (C, N) the groups n - k can add up to if some are as printed; `without` leaves one group out."""
        right = set(right)
        free = sum(size for m, size in enumerate(self.sizes) if m not in right and m != without)
        grid = np.zeros((self.samples + 1, self.samples + 1), bool)
        grid[0, 0] = True
        for m in right:
            grid = _moved(grid, self.groups[m].tolist())
        done = 0
        while done < free:  # each sample is wrong, correct, or correct and novel; these steps cover as many at once
            step = min((done + 2) // 2, free - done)
            grid = _moved(grid, [(0, 0), (step, 0), (step, step)])
            done += step
        return grid

    def _group_verdict(self, m: int, head: np.ndarray, best: int) -> Verdict:
        """The verdict on a cell of Table 4: counts that leave for the other groups what these can be."""
        right: set[Count] = set()
        wrong: set[Count] = set()
        for others_wrong in _subsets(set(self.groups) - {m}):
            if_right, if_wrong = (head == best - len(others_wrong) - charge for charge in (0, 1))
            if_wrong &= self.reached[tuple(sorted({m, *others_wrong}))]
            if if_right.any() or if_wrong.any():
                others = self._reach(set(self.groups) - {m, *others_wrong}, without=m)
                right |= {(v, c) for c, v in self.groups[m].tolist() if _leads(others, (c, v), if_right)}
                wrong |= {(v, c) for c, v in np.argwhere(_steps(others, if_wrong, self.sizes[m])).tolist() if v <= c}
        return verdict(right, wrong)


def _subsets(groups: Iterable[int]) -> list[tuple[int, ...]]:
    groups = sorted(groups)
    return list(chain.from_iterable(combinations(groups, size) for size in range(len(groups) + 1)))


def _moved(grid: np.ndarray, steps: Iterable[tuple[int, int]]) -> np.ndarray:
    """All places that one of some steps leads to."""
    moved = np.zeros_like(grid)
    for c, v in steps:
        moved[c:, v:] |= grid[: len(grid) - c, : len(grid) - v]
    return moved


def _leads(start: np.ndarray, step: tuple[int, int], goal: np.ndarray) -> bool:
    """Whether a step leads from some place to some other."""
    return bool((_moved(start, [step]) & goal).any())


def _steps(start: np.ndarray, goal: np.ndarray, most: int) -> np.ndarray:
    """Which steps of 0..most each way lead from some place to some other."""
    found = np.zeros((most + 1, most + 1), bool)
    for row, column in np.argwhere(goal).tolist():
        back = start[max(row - most, 0) : row + 1, max(column - most, 0) : column + 1][::-1, ::-1]
        found[: back.shape[0], : back.shape[1]] |= back
    return found
