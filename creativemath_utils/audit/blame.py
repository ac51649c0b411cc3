"""Findings on the published tables, in words, from the cheapest explanations of their cells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from creativemath_utils.audit.consistency import Count
from creativemath_utils.audit.reconcile import Cell, Explanation
from creativemath_utils.audit.recovery import Finding, Printed, as_percent, nearest, neighbours, ratio_counts
from creativemath_utils.metrics import rounded

MOST_SUSPECTS = 6  # of more cells than these, one finding names the constraint instead of each cell
SHOWN_VALUES = 4
BOUND_BY = {
    ("table2", "C"): "the correct answers by k (Table 3) and by n - k (Table 4) add up to C, and N/C is taken of it",
    ("table2", "N"): "the novel answers by n - k (Table 4) add up to N, and N/C and Nu/N are taken with it",
    ("table2", "N_over_C"): "it is N divided by C",
    ("table2", "Nu"): "Nu/N is taken of it",
    ("table2", "Nu_over_N"): "it is Nu divided by N",
    ("table3", "k1"): "the correct answers for all k add up to C of Table 2, and those at k = 1, over all models, to "
    "those of Table 5",
    "table3": "the correct answers for all k add up to C of Table 2",
    "table4": "the correct and the novel answers for all n - k add up to C and N of Table 2",
    "table5": "the models' correct answers at k = 1 are the same by competition (Table 5) as by model (Table 3)",
}


def table_findings(found: Explanation) -> list[Finding]:
    """Every cell that is wrong for certain, and every set of cells of which some must be wrong; by table and row."""
    findings: dict[Cell, Finding] = {}
    suspects: dict[str, list[Cell]] = defaultdict(list)
    for cell, verdict in found.verdicts.items():
        if verdict.state == "wrong":
            reason = f"{_alone(found, cell)} {_left(found.cells[cell], verdict.if_wrong)}"
            findings[cell] = _finding(found, cell, reason)
        elif verdict.state == "suspect":
            suspects[cell[1] if found.unsettled.get(cell[1]) and cell[0] != "table5" else ""].append(cell)
    for group, cells in suspects.items():
        if len(cells) > MOST_SUSPECTS:
            findings[cells[0]] = _constraint(found, group, cells)
            continue
        for cell in cells:
            others = ", ".join(_name(other, besides=cell) for other in cells if other != cell)
            left = _left(found.cells[cell], found.verdicts[cell].if_wrong)
            reason = (
                f"It disagrees with other cells: {_bound_by(cell)}. {_how_many(found, group, cells)}, and nothing "
                f"tells which: this one or {others}. If it is this one: {left[0].lower()}{left[1:]}"
            )
            findings[cell] = _finding(found, cell, reason)
    order = {cell: place for place, cell in enumerate(found.cells)}
    return [*_missing(found), *(findings[cell] for cell in sorted(findings, key=order.__getitem__))]


def corrected(found: Explanation) -> dict[Cell, Fraction | None]:
    """The tables' percentages with each wrong cell replaced by what it should be; None where that is not known."""
    values: dict[Cell, Fraction | None] = {}
    for cell, printed in found.cells.items():
        verdict = found.verdicts.get(cell)
        values[cell] = printed.value if printed is not None else None
        if verdict and verdict.state != "agrees":
            near = nearest(printed, _values(verdict.if_wrong)) if verdict.state == "wrong" else []
            values[cell] = Fraction(near[0]) if len(near) == 1 else None
    return values


def _missing(found: Explanation) -> Iterator[Finding]:
    """Rows that a table lacks, of which nothing can be checked, and a Table 5 that is not about these models."""
    models = list(dict.fromkeys(row for table, row, _ in found.cells if table != "table5"))
    for table in ("table2", "table3", "table4", "table5"):
        rows = {row for name, row, _ in found.cells if name == table}
        for row in found.design.problems if table == "table5" else models:
            if row not in rows:
                name = table.replace("table", "Table ")
                reason = f"{name} has no such row, so it could not be checked against the other tables."
                yield Finding(table, row, "", "", "", reason)
    if found.foreign_means:
        reason = (
            f"Most of the means are no counts out of {len(models)} models' samples: they are taken over other models "
            f"than the {len(models)} of Tables 2 to 4, and were not checked against these."
        )
        yield Finding("table5", "", "mean_C", "", "", reason)


def _finding(found: Explanation, cell: Cell, reason: str) -> Finding:
    printed = found.cells[cell]
    near = nearest(printed, _values(found.verdicts[cell].if_wrong))
    return Finding(*cell, printed.text, " or ".join(near) or "n/a", reason)


def _alone(found: Explanation, cell: Cell) -> str:
    """Whether some count gives a cell, apart from all others; if so, what it has to agree with."""
    printed, design = found.cells[cell], found.design
    table, _, column = cell
    if column == "mean_N_over_C":
        return f"No mean of ratios of counts gives {printed.text}."
    if column in ("N_over_C", "Nu_over_N") or table == "table4":
        most = design.by_k[int(column.removeprefix("n_minus_k_"))] if table == "table4" else sum(design.by_k)
        if not len(ratio_counts(printed, most)):
            return f"No ratio of two counts up to {most} gives {printed.text}."
    else:
        size = found.verdicts[cell].counts[0][1]
        around = neighbours(printed, size)
        if not any(printed.matches(*count) for count in around):
            shown = " and ".join(f"{count} gives {as_percent(Fraction(count, size))}" for count, size in around)
            return f"No count out of {size} gives {printed.text}" + (f": {shown}." if shown else ".")
    return (
        f"It is possible by itself, but {_bound_by(cell)}; if it were right, at least two other cells would be wrong."
    )


def _left(printed: Printed, counts: Sequence[Count]) -> str:
    """What a cell can be if the other cells are right."""
    values = _values(counts)
    if not values:
        return "They leave nothing to take a ratio of."
    (first, pairs), *others = values.items()
    if others:
        near = " or ".join(nearest(printed, values))
        shown = [f"{value} ({pairs[0][0]} of {pairs[0][1]})" for value, pairs in values.items()]
        text = ", ".join(shown) if len(shown) <= SHOWN_VALUES else f"from {shown[0]} to {shown[-1]}"
        return f"The other cells leave {len(values)} values, {text}; the nearest is {near}."
    if len(pairs) == 1:
        return f"The other cells leave {pairs[0][0]} of {pairs[0][1]}, which is {first}."
    return f"The other cells leave {first} ({len(pairs)} pairs of counts, such as {pairs[0][0]} of {pairs[0][1]})."


def _values(counts: Iterable[Count]) -> dict[str, list[Count]]:
    """The counts behind each value as printed, in the order of the values; a ratio over nothing has none."""
    values: dict[str, list[Count]] = defaultdict(list)
    for numerator, denominator in sorted((c for c in counts if c[1]), key=lambda c: Fraction(*c)):
        values[as_percent(Fraction(numerator, denominator))].append((numerator, denominator))
    return values


def _constraint(found: Explanation, group: str, cells: Sequence[Cell]) -> Finding:
    """One finding for a conflict that too many cells could be to blame for."""
    reason = f"{_how_many(found, group, cells)}, and nothing tells which"
    if group:
        names = ", ".join(_name(cell, besides=cell) for cell in cells)
        return Finding("table2", group, "", "", "", f"The row and those of Tables 3 and 4 disagree. {reason}: {names}.")
    by_model = [value for (_, _, column), value in found.cells.items() if column == "k1"]
    problems = found.design.problems
    by_competition = [(value, problems[name]) for (_, name, column), value in found.cells.items() if column == "mean_C"]
    printed = expected = ""
    if None not in by_model and all(value for value, _ in by_competition):
        total = sum(value.value * size for value, size in by_competition)
        printed = rounded(total / sum(size for _, size in by_competition))
        expected = rounded(sum((value.value for value in by_model), Fraction(0)) / len(by_model))
        reason += f". Over all competitions the mean C is {printed} by Table 5 and {expected} by Table 3 at k = 1"
    return Finding("table5", "", "mean_C", printed, expected, f"{reason}, though {BOUND_BY['table5']}.")


def _how_many(found: Explanation, group: str, cells: Sequence[Cell]) -> str:
    wrong = max(found.unsettled[group], 1)
    return f"At least {wrong} cell{'s' * (wrong > 1)} must be wrong, {len(cells)} could be"


def _bound_by(cell: Cell) -> str:
    table, _, column = cell
    return BOUND_BY.get((table, column)) or BOUND_BY[table]


def _name(cell: Cell, besides: Cell | None = None) -> str:
    """A cell in words; its row only where it is another than that of the cell it stands beside."""
    table, row, column = cell
    short = f"{table.replace('table', 'Table ')} {column}"
    return short if besides and besides[1] == row else f"{short} of {row}"
