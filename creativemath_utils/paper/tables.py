"""Tables 2 to 5 of the paper rebuilt from its printed percentages, with counts and intervals; all of figures/published.

Each percentage is shown as printed, with the counts behind it and Wilson's 95 % interval. A cell that can stand for
several counts shows them, and an interval that covers theirs; a wrong one shows what the audit expects in its place;
one in doubt has no interval. csv for machines, Markdown for people, LaTeX for papers; each says whose numbers it holds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pandas as pd

from creativemath_utils import published
from creativemath_utils.audit.consistency import Count
from creativemath_utils.audit.recovery import as_percent
from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.paper.claims import write_claims
from creativemath_utils.paper.count_tests import shown_counts
from creativemath_utils.paper.figures import write_figures
from creativemath_utils.paper.numbers import Numbers, read_numbers
from creativemath_utils.store import ROOT, write_atomic
from creativemath_utils.table_formats import HEADINGS, Column, cells, column_name, latex_table, plain_latex
from creativemath_utils.uncertainty.intervals import wilson

FOLDER = ROOT / "figures" / "published"
RATIO_COLUMN = re.compile(r"C|Nu?|Nu?_over_[CN]|k\d+|n_minus_k_\d+|mean_C|mean_N_over_C")
DETAILS = ("state", "expected", "numerator", "denominator", "candidates", "low", "high", "widening")
MOST_LISTED = 20  # of more candidates than these, the csv gives the number
OWNER = "Ye et al., arXiv 2410.18336 (not results of this kit)"
INTERVALS = (
    "In round brackets the counts that give the printed value, in square brackets Wilson's 95% interval in percent, "
    "which takes samples as independent."
)
BY_CELL = (
    "Within a cell no two samples share a problem, so there they are; but cells of a row or of a column share problems "
    "(up to five samples of a model do), and are not independent of one another."
)
DEPENDENCE = {
    2: "They are not: up to five samples share a problem. With counts alone no bootstrap over problems is possible; "
    "but if samples of a problem hang together as far as the counts allow, standard errors are at most {widest:.1f} "
    "times as large.",
    3: BY_CELL,
    4: BY_CELL,
    5: "They are not: all models answer the same problems. With counts alone no bootstrap over problems is possible; "
    "but standard errors are at most {widest:.1f} times as large. Mean N/C is a mean of ratios whose counts are not "
    "printed, so it has no interval.",
}


def write_published(folder: Path | None = None, source: Path | None = None) -> list[Path]:
    """Write all of figures/published: table_2 to table_5, claims.md, audit.md, figures 1, 2, 6; their paths.

    `folder` is where to, by default figures/published; `source` a folder of the paper's csv files, by default the
    shipped ones. The same numbers give the same bytes. Raises KitError for a file that is missing or not readable.
    """
    folder = Path(folder or FOLDER)
    written = []
    numbers, findings = read_numbers(source), published.audit(source)
    for number in HEADINGS:
        table = rebuilt_table(number, numbers, findings, source)
        texts = {
            "csv": table.to_csv(index=False, lineterminator="\n"),
            "md": as_markdown(number, table) + "\n",
            "tex": as_latex(number, table) + "\n",
        }
        for suffix, text in texts.items():
            written.append(folder / f"table_{number}.{suffix}")
            write_atomic(written[-1], text.encode("utf-8"))
    written += [write_claims(folder, source), published.write_audit(findings, folder)]
    return [*written, *write_figures(folder, source)]  # last: what the audit doubts may be no figure


def rebuilt_table(number: int, numbers: Numbers, findings: pd.DataFrame, source: Path | None = None) -> pd.DataFrame:
    """Table `number` (2..5) as printed, after a column `numbers_of`, and for each percentage the columns of DETAILS.

    `state` is agrees, wrong or suspect, or empty where nothing can be recovered; `expected` what the audit expects in
    place of a wrong value; `numerator` and `denominator` where there is one pair only, `candidates` all pairs; `low`
    and `high` Wilson's interval in percent, over all of them, empty for a suspect cell; `widening` at most how many
    times as large the standard error is if samples of a problem hang together.
    """
    item = f"table{number}"
    printed = published.load(item, source).rename(columns=str.strip)
    key = printed.columns[0]
    expected = {(row.model, row.column): row.expected for row in findings[findings["item"] == item].itertuples()}
    rows = []
    for record in printed.to_dict("records"):
        row = {"numbers_of": OWNER, **record}
        for column in filter(RATIO_COLUMN.fullmatch, printed.columns):
            found = numbers.found.verdicts.get((item, record[key].strip(), column))
            counts = found.counts if found and column != "mean_N_over_C" else ()
            details = _details(counts, found.state if found else "")
            if row[column] and found and found.state != "agrees":
                details["expected"] = expected.get((record[key].strip(), column), "")
            if details["low"]:
                details["widening"] = f"{max(numbers.widening(item, count) for count in counts):.2f}"
            row |= {f"{column}_{name}": details[name] for name in DETAILS}
        rows.append(row)
    return pd.DataFrame(rows, dtype=object)


def _details(counts: Sequence[Count], state: str) -> dict[str, str]:
    """The details of a cell as text, empty where there are none."""
    details = dict.fromkeys(DETAILS, "") | {"state": state}
    counts = [count for count in counts if count[1]]
    if not counts:
        return details
    listed = ", ".join(f"{numerator}/{denominator}" for numerator, denominator in counts)
    details["candidates"] = listed if len(counts) <= MOST_LISTED else f"{len(counts)} pairs of counts"
    if len(counts) == 1:
        details["numerator"], details["denominator"] = map(str, counts[0])
    if state != "suspect":
        lows, highs = zip(*(wilson(*count) for count in counts), strict=True)
        details["low"], details["high"] = f"{100 * min(lows):.2f}", f"{100 * max(highs):.2f}"
    return details


# --- for people -----------------------------------------------------------------------------------


def caption(number: int, table: pd.DataFrame) -> str:
    """What the table shows, and what the intervals are worth."""
    widest = [float(value) for name in table if name.endswith("_widening") for value in table[name] if value]
    depends = DEPENDENCE[number].format(widest=max(widest, default=1.0))
    marks = "A cell marked wrong, or in doubt, cannot stand beside the others; expected is what these leave for it."
    states = {value for name in table if name.endswith("_state") for value in table[name]}
    parts = [f"{HEADINGS[number]}; rebuilt from the printed percentages.", INTERVALS, depends]
    return " ".join([*parts, *([marks] if states & {"wrong", "suspect"} else [])])


def _layout(table: pd.DataFrame) -> tuple[list[Column], list[list[list[str]]], set[tuple[int, int]]]:
    """The columns as readers see them, the lines of every cell, and the places of the best of each group."""
    details = re.compile(f"(.+)_({'|'.join(DETAILS)})")
    names = [name for name in table if name != "numbers_of" and not details.fullmatch(name)]
    ratios = [name for name in names if f"{name}_state" in table]
    best = {name for name in names if name in ratios or name == "MATH"} if "model" in names else set()
    columns = [Column(_header(name), name, best=name in best) for name in names]
    numeric = table.copy()
    for name in best:
        numeric[name] = [value if re.fullmatch(r"[0-9.]+", value.strip()) else None for value in table[name]]
    bold = cells(numeric, columns)[1]
    lines = [[_lines(record, name, name in ratios) for name in names] for record in table.to_dict("records")]
    return columns, lines, bold


def _header(name: str) -> str:
    return name.capitalize() if re.fullmatch("[a-z]{2,}", name) else column_name(name).replace("mean", "Mean")


def _lines(record: dict[str, str], name: str, is_ratio: bool) -> list[str]:
    """A cell: what is printed with its counts, or what is expected instead, and the interval."""
    if not is_ratio:
        return [str(record[name])]
    state, expected, listed, low, high = (
        record[f"{name}_{detail}"] for detail in ("state", "expected", "candidates", "low", "high")
    )
    counts = [tuple(map(int, pair.split("/"))) for pair in listed.split(", ")] if "/" in listed else []
    in_brackets = f" ({shown_counts(counts)})" if counts else ""
    interval = [f"[{float(low):.1f}, {float(high):.1f}]"] if low else []
    if state == "suspect":
        return [f"{record[name]} in doubt"]
    if state == "wrong":
        values = {as_percent(Fraction(*count)) for count in counts}
        several = shown_counts(counts) if len(values) > 1 else f"one of {listed}" if listed and not counts else ""
        left = f"{several}, nearest {expected}" if several else f"{expected}{in_brackets}"
        return [f"{record[name]} wrong,", f"expected {left}", *interval]
    return [f"{record[name]}{in_brackets}", *interval]


def as_markdown(number: int, table: pd.DataFrame) -> str:
    """A rebuilt table as GitHub-flavoured Markdown; the best of a group as printed is bold."""
    columns, rows, bold = _layout(table)
    shown = [
        [
            "<br>".join(
                f"**{plain_markdown(line)}**" if (i, j) in bold and not at else plain_markdown(line)
                for at, line in enumerate(lines)
            )
            for j, lines in enumerate(row)
        ]
        for i, row in enumerate(rows)
    ]
    return "\n\n".join(
        [
            f"# Table {number} of the paper, with counts and intervals",
            published.NOT_OURS,
            plain_markdown(caption(number, table)),
            pipe_table(shown, [column.header for column in columns]),
            "What is wrong with a cell is in `audit.md`, what can be concluded in `claims.md`.",
        ]
    )


def as_latex(number: int, table: pd.DataFrame) -> str:
    """A rebuilt table as LaTeX; the document needs the packages booktabs and graphicx."""
    columns, rows, bold = _layout(table)
    lines = []
    for i, row in enumerate(rows):
        if i:
            lines.append(r"\addlinespace")
        for at in range(max(map(len, row))):
            shown = [plain_latex(cell[at]) if at < len(cell) else "" for cell in row]
            if at == 0:
                shown = [rf"\textbf{{{text}}}" if (i, j) in bold else text for j, text in enumerate(shown)]
            lines.append(" & ".join(shown) + r" \\")
    words = f"Table {number} of the paper. {published.NOT_OURS} {caption(number, table)}"
    headers = [column.header for column in columns]
    return f"% {published.NOT_OURS}\n{latex_table(words, f'published-{number}', headers, lines)}"
