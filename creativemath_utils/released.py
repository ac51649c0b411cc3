"""The decision rules of the authors' released code, as a reference for the kit's own: fed with the same votes.

Written from its description and sharing no code with `judge` and `metrics`, so that one checks the other. It differs
from the paper, and from the kit, in these points: a vote that is no YES is a NO; every decision is therefore YES or NO;
with k = n, where the last stage has nothing to compare with, its script writes NO (its analysis notebook YES, as the
paper has it); a ratio over nothing is 0. How a reply is read is another matter (`sensitivity.rule_differences`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

import pandas as pd

from creativemath_utils.records import STAGES, KitError, Vote

SAMPLE = ["generator", "problem_id", "k", "n"]
DECISIONS = ("correct", "novel", "novel_unknown")  # of the three stages
K_IS_N = "k = n"
NO_VERDICT = "no clear verdict"  # votes without one leave the decision open by the kit's rules
NOT_JUDGED = "not judged"  # truncated, and by the run's settings not put to the judges
NO_SOLUTION = "no solution"  # blocked, refused or failed, though there are votes on it
UNEXPLAINED = "unexplained"
REASONS = (K_IS_N, NO_VERDICT, NOT_JUDGED, NO_SOLUTION, UNEXPLAINED)
DIFFERENCE_COLUMNS = [*SAMPLE, "decision", "ours", "released", "reason"]

AtKN = Literal["NO", "YES"]


class ReleasedRules:
    """The released code's rules on the votes of a panel, `judges`; a judge's last vote counts, those of others do not.

    Raises KitError without judges.
    """

    def __init__(self, votes: Iterable[Vote], judges: Sequence[str]) -> None:
        if not judges:
            raise KitError("released rules: no judges; name those of the run")
        self.panel = len(judges)
        self._given: dict[tuple[str, str, int, str], dict[str, str]] = defaultdict(dict)  # judge -> verdict
        for vote in votes:
            if vote.judge in judges:
                self._given[vote.generator, vote.problem_id, vote.k, vote.stage][vote.judge] = vote.verdict

    def decide(self, samples: pd.DataFrame, at_k_n: AtKN = "NO") -> pd.DataFrame:
        """What the rules decide on samples: their generator, problem_id, k, n, and three decisions, all YES or NO.

        `samples` has those four columns (such as `metrics.collect_outcomes` gives); one row each comes back, in their
        order and with their index. `at_k_n` is what the last stage writes for a novel solution with k = n: NO as the
        script, YES as the analysis notebook. A judge without a vote counts like one that did not say YES.
        """
        rows = []
        for sample in samples[SAMPLE].itertuples(index=False, name=None):
            *_, k, n = sample
            correct = self._cast(sample, "correctness").count("YES") == self.panel
            novel = correct and 2 * self._cast(sample, "coarse").count("YES") > self.panel
            unknown = novel and (
                at_k_n == "YES" if k == n else 2 * self._cast(sample, "fine").count("YES") > self.panel
            )
            rows.append((*sample, *("YES" if decision else "NO" for decision in (correct, novel, unknown))))
        return pd.DataFrame(rows, columns=[*SAMPLE, *DECISIONS], index=samples.index)

    def differences(self, outcomes: pd.DataFrame, at_k_n: AtKN = "NO") -> pd.DataFrame:
        """The samples on which the kit's decisions on the same votes differ, each with its reason.

        `outcomes` comes from `metrics.collect_outcomes` with the paper's rules of the panel. Columns
        DIFFERENCE_COLUMNS: `decision` is the first of the three that differs, `ours` YES, NO or undecided, `released`
        YES or NO, `reason` one of REASONS. A reason is given only where the sample and its votes bear it out; else it
        is `unexplained`, which is a fault of either set of rules.
        """
        ours = outcomes[[*SAMPLE, "status", *DECISIONS]].itertuples(index=False, name=None)
        released = self.decide(outcomes, at_k_n)[list(DECISIONS)].itertuples(index=False, name=None)
        rows = []
        for row, theirs in zip(ours, released, strict=True):
            sample, status = row[:4], row[4]
            for stage, decision, here, there in zip(STAGES, DECISIONS, map(_word, row[5:]), theirs, strict=True):
                if here != there:
                    reason = self._reason(sample, status, stage, here, there)
                    rows.append((*sample, decision, here, there, reason))
                    break  # the later decisions only follow
        return pd.DataFrame(rows, columns=DIFFERENCE_COLUMNS)

    def _cast(self, sample: tuple, stage: str) -> list[str]:
        """The verdicts of the panel on a sample at a stage."""
        return list(self._given.get((*sample[:3], stage), {}).values())

    def _reason(self, sample: tuple, status: str, stage: str, here: str, there: str) -> str:
        """Why a decision differs, as far as the sample and the votes of that stage bear it out."""
        *_, k, n = sample
        cast = self._cast(sample, stage)
        yes, no = cast.count("YES"), cast.count("NO")
        still_open = self.panel - yes - no  # without a verdict, or never cast
        if (stage, k, here, there) == ("fine", n, "YES", "NO"):
            return K_IS_N
        if (here, there) == ("undecided", "NO"):
            if status == "truncated" and stage == "correctness" and not cast:
                return NOT_JUDGED
            could_be_yes = no == 0 if stage == "correctness" else 2 * (yes + still_open) > self.panel
            if still_open and could_be_yes:
                return NO_VERDICT
        if (stage, here, there) == ("correctness", "NO", "YES") and status in ("blocked", "refused", "failed"):
            return NO_SOLUTION
        return UNEXPLAINED


def _word(decision: bool | None) -> str:
    """A decision of the kit, which has a third state."""
    return "undecided" if decision is None else "YES" if decision else "NO"


def released_ratios(decisions: pd.DataFrame) -> pd.DataFrame:
    """Counts and the ratios C, N, N/C, Nu, Nu/N (0..1) of each generator, by the released rules: 0 over nothing.

    `decisions` is what `ReleasedRules.decide` returns. The denominator of C, N and Nu is all samples.
    """
    rows = []
    for generator, of_one in decisions.groupby("generator", sort=False):
        correct, novel, unknown = (int((of_one[name] == "YES").sum()) for name in DECISIONS)
        bases = {"C": (correct, len(of_one)), "N": (novel, len(of_one)), "N_over_C": (novel, correct)}
        bases |= {"Nu": (unknown, len(of_one)), "Nu_over_N": (unknown, novel)}
        ratios = {name: over / base if base else 0.0 for name, (over, base) in bases.items()}
        rows.append((generator, len(of_one), correct, novel, unknown, *ratios.values()))
    return pd.DataFrame(rows, columns=["generator", "samples", *DECISIONS, "C", "N", "N_over_C", "Nu", "Nu_over_N"])
