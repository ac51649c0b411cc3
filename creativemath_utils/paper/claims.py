"""Which of the paper's claims hold: each tested on the counts behind its own tables and figures.

Claims are listed in `claim_list`; verdicts are computed, so changed csv files give changed verdicts:

- *holds*: as many of its comparisons as it needs lie on its side, by more than chance;
- *does not hold*: so many lie on the other side, by more than chance, that it cannot be true;
- *the data cannot tell*: neither.

Each claim has one p value each way, one-sided; Holm's correction is over the claims of one question of the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from creativemath_utils import published
from creativemath_utils.markdown import pipe_table, plain_markdown
from creativemath_utils.paper.claim_list import CLAIMS, DATA, Q1, Q2, Q4, Claim, share_where_compared
from creativemath_utils.paper.count_tests import Comparison, Verdict, at_least
from creativemath_utils.paper.numbers import Numbers, read_numbers
from creativemath_utils.store import write_atomic
from creativemath_utils.uncertainty.intervals import wilson

ALPHA = 0.025  # each way: 5 % both ways, as with 95 % intervals
HOLDS, FAILS, OPEN = "holds", "does not hold", "the data cannot tell"
P_VALUES = ("p_for", "p_against", "worst_for", "worst_against")
COLUMNS = (
    *("question", "where", "claim", "in_the_numbers", "decides", "verdict", "at_the_worst"),
    *P_VALUES,
    *(f"holm_{name}" for name in P_VALUES),
)


def claims(source: Path | None = None) -> pd.DataFrame:
    """The paper's claims with their verdicts, a row each: COLUMNS, all p values one-sided.

    `in_the_numbers` says whether the printed numbers are as claimed, before any test, and in how many comparisons;
    `decides` is the comparison on which the verdict hangs; `at_the_worst` is the verdict if samples hang together as
    far as can be (`count_tests`). `source` is a folder of csv files as for `published.audit`, by default the shipped
    ones. Raises KitError like it.
    """
    numbers = read_numbers(source)
    families: dict[str, list[tuple[Claim, list[Comparison]]]] = {}
    for claim in CLAIMS:
        families.setdefault(claim.question, []).append((claim, claim.compares(numbers)))
    return pd.DataFrame([row for family in families.values() for row in _tested(family)], columns=list(COLUMNS))


def _tested(family: Sequence[tuple[Claim, list[Comparison]]]) -> Iterator[dict[str, object]]:
    """The rows of the claims of one question; one without any comparison is open."""
    found = [at_least(compared, claim.needed(len(compared))) for claim, compared in family]
    corrected = {name: holm([getattr(verdict, name) for verdict in found]) for name in P_VALUES}
    for at, ((claim, compared), verdict) in enumerate(zip(family, found, strict=True)):
        said = _verdict(corrected["p_for"][at], corrected["p_against"][at])
        yield {
            **{"question": claim.question, "where": claim.where, "claim": claim.says, "verdict": said},
            "in_the_numbers": _in_the_numbers(claim, compared),
            "decides": _deciding(claim, verdict, len(compared), said),
            "at_the_worst": _verdict(corrected["worst_for"][at], corrected["worst_against"][at]),
            **{name: getattr(verdict, name) for name in P_VALUES},
            **{f"holm_{name}": corrected[name][at] for name in P_VALUES},
        }


def holm(p_values: Sequence[float]) -> list[float]:
    """P values corrected for their number by Holm's method.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    # statsmodels has this, but collects garbage at each call, which takes longer than all the tests here
    order = np.argsort(p_values, kind="stable")
    steps = np.maximum.accumulate(np.array(p_values)[order] * np.arange(len(order), 0, -1)).clip(max=1.0)
    return steps[np.argsort(order, kind="stable")].tolist()


def _verdict(p_for: float, p_against: float) -> str:
    return HOLDS if p_for <= ALPHA else FAILS if p_against <= ALPHA else OPEN


def _in_the_numbers(claim: Claim, compared: Sequence[Comparison]) -> str:
    """Whether the numbers themselves are as claimed, and how many comparisons are, also beyond chance."""
    sides, needed = [comparison.favours for comparison in compared], claim.needed(len(compared))
    yes, unknown = sides.count(True), sides.count(None)
    said = "unknown" if not sides else "yes" if yes >= needed else "unknown" if yes + unknown >= needed else "no"
    if len(sides) < 2 or claim.of == "any":
        return said
    beyond = sum(comparison.p_for <= ALPHA for comparison in compared)
    return f"{said}: {yes} of {len(sides)}{f', {unknown} unknown' if unknown else ''}; {beyond} beyond chance"


def _deciding(claim: Claim, verdict: Verdict, compared: int, said: str) -> str:
    """The comparison on which the verdict hangs, and its place among the others."""
    decides, place = verdict.decides_for, claim.needed(compared)
    if said == FAILS:
        decides, place = verdict.decides_against, compared - place + 1
    if compared < 2:
        return decides.shown
    against = " against it" if said == FAILS else ""
    rank = {1: "strongest", compared: "weakest"}.get(place, f"number {place}")
    return f"{rank}{against} of {compared}: {decides.shown}"


# --- for people -----------------------------------------------------------------------------------

ABOUT = (
    "The claims are the paper's, in our words; in brackets how a vague one is read, in its favour. Each is tested on "
    "the counts behind the printed percentages (`audit.md` says which are wrong), one-sided each way at "
    f"{100 * ALPHA:g}%, with Holm's correction over the claims of a question: two proportions by Fisher's exact test, "
    "one by the binomial test, trends by Cochran and Armitage's, orders by Kendall's, means by a z "
    "test. A claim may rest on several comparisons, of which each, most or any must be so (a partial conjunction). A "
    "cell in doubt makes its comparison unknown; where a cell can stand for several counts, the least favourable one "
    "speaks.",
    "*In the numbers* says whether the printed numbers are as claimed, before any test, and how many comparisons go "
    "beyond chance each by itself. *Decides* is the comparison on which the verdict hangs, with the difference and its "
    "95% interval (Newcombe's). P values are plain, and in brackets after Holm's correction, by which verdicts go.",
    "Counts do not tell which sample was right for whom, so samples are tested as if independent. They are not: up to "
    "five share a problem, and all models meet the same problems; with counts alone neither a bootstrap over problems "
    "nor a paired test can be made. *At the worst* is the verdict if samples hang together as far as the counts allow: "
    "a bound, not what is to be expected. What holds there holds whatever the dependence.",
)


def claims_markdown(table: pd.DataFrame, source: Path | None = None) -> str:
    """The claims for people to read, by question; `table` as from `claims`."""
    counts = {verdict: int((table["verdict"] == verdict).sum()) for verdict in (HOLDS, FAILS, OPEN)}
    said = "; ".join(f"{verdict}: {count}" for verdict, count in counts.items())
    parts = ["# Which of the paper's claims hold", published.NOT_OURS, *ABOUT, f"{len(table)} claims. {said}."]
    header = ["Claim", "Where", "In the numbers", "Decides", "p for", "p against", "Verdict", "At the worst"]
    notes = _notes(read_numbers(source))
    for question, group in table.groupby("question", sort=False):
        rows = [
            [
                *(plain_markdown(row[name]) for name in ("claim", "where", "in_the_numbers", "decides")),
                *(_p(row[name], row[f"holm_{name}"]) for name in ("p_for", "p_against")),
                *(f"**{row['verdict']}**", row["at_the_worst"]),
            ]
            for row in group.to_dict("records")
        ]
        parts += [f"## {question}", pipe_table(rows, header), *notes.get(str(question), [])]
    return "\n\n".join(parts) + "\n"


def _p(plain: float, corrected: float) -> str:
    return f"{_plain(plain)} ({_plain(corrected)})"


def _plain(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _notes(numbers: Numbers) -> dict[str, list[str]]:
    """What a reader should know beside the tests, computed."""
    sizes = numbers.found.design.by_k[2:4]
    half = [50 * (high - low) for low, high in (wilson(size // 2, size) for size in sizes)]
    small = (
        f"Small cells: with the {sizes[0]} samples at k = 3 a ratio of one half is known to {half[0]:.0f} points "
        f"either way, with the {sizes[1]} at k = 4 to {half[1]:.0f}. Little can be told from these alone."
    )
    mixed = numbers.mean_by_mix()
    mix = (
        "k does not vary alone: samples with k = 2 exist only for problems with two solutions or more, which come from "
        "another mix of competitions. By each competition's mean C at k = 1 (Table 5) the mix alone gives a mean C of "
        f"{', '.join(f'{100 * expected:.1f}' for expected, _ in mixed)} at k = 1..{len(mixed)}; Table 3 has "
        f"{', '.join(f'{100 * found:.1f}' for _, found in mixed)}. Within a competition, too, problems with more "
        "solutions may be easier. So a trend, even a certain one, does not show that it is the solutions shown that "
        "make a model better; nor does one in n - k."
    )
    compared = share_where_compared(numbers)
    known = (
        "With k = n no human solution is left to compare with, and each novel solution is Novel-Unknown by definition. "
        "For n > k the novel solutions at n - k = 0 (Table 4) are taken from both N and Nu; a model for which Table 4 "
        "is in doubt is left out. The average of 95% that the text gives is over all samples; over those with n > k it "
        f"is {compared.shown} (that this is below 95%: p {_plain(compared.p_against)}, one-sided, not corrected)."
    )
    read_off = (
        "Figure 1 counts all problems: there is no chance in it, and its p values are 0 or 1. Numbers of solutions are "
        "read off a picture (to 1 to 10 problems a bar), where n above 7 is not drawn; their "
        "means are tested as if the problems were a sample of more of their kind."
    )
    return {
        DATA: [read_off],
        Q1: [known],
        Q2: [small, mix] if mixed else [small],
        Q4: [f"All pairs rest on the same {numbers.common} samples, of which some may share a problem."],
    }


def write_claims(folder: Path, source: Path | None = None) -> Path:
    """Write claims.md into `folder`; its path."""
    path = Path(folder) / "claims.md"
    write_atomic(path, claims_markdown(claims(source), source).encode("utf-8"))
    return path
