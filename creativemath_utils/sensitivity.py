"""How much of a result hangs on one judge, on the rule of the panel, on the rule by which replies are read, or on kin.

Everything here is computed from votes and replies that are there; nothing is asked again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import pandas as pd

from creativemath_utils.judge import any_yes, majority, read_vote, unanimous
from creativemath_utils.metrics import collect_outcomes, summarize
from creativemath_utils.parsing import unparsed_reason
from creativemath_utils.records import STAGES, Problem, Response, Solution, Vote

# Why a vote has no verdict: there is no reply, the reply is none, or it takes no clear side.
REASONS = (
    *("failed", "not kept", "blocked", "refused"),
    *("truncated", "empty", "refusal", "contradiction", "no verdict"),
)

RULES = {  # name -> rules for correctness and for novelty
    "as in the paper: correct by all, novel by the majority": (unanimous, majority),
    "correct by the majority": (majority, majority),
    "correct by any one": (any_yes, majority),
    "novel by all": (unanimous, unanimous),
    "novel by any one": (unanimous, any_yes),
}


def panel_variants(
    problems: Sequence[Problem],
    solutions: Sequence[Solution],
    votes: Sequence[Vote],
    judges: Sequence[str],
    judge_truncated: bool = True,
) -> pd.DataFrame:
    """The run's counts and ratios under other rules of the panel, and with each judge left out; a row a variant.

    Columns variant and those of `metrics.summarize`. Later stages were asked only of what passed under the rules of the
    run, so what a laxer rule lets through has no votes there: those samples are undecided, and counted as that.
    """
    panels = [(name, judges, rules) for name, rules in RULES.items()]
    if len(judges) > 1:
        paper = RULES[next(iter(RULES))]
        panels += [(f"without {out}", [j for j in judges if j != out], paper) for out in judges]
    rows = []
    for name, seated, (correct_by, novel_by) in panels:
        outcomes = collect_outcomes(problems, solutions, votes, seated, judge_truncated, correct_by, novel_by)
        rows.append({"variant": name, **summarize(outcomes).to_dict("records")[0]})
    return pd.DataFrame(rows)


def rule_differences(votes: Iterable[Vote], reply_of: Callable[[str], Response | None]) -> pd.DataFrame:
    """Where the released rule (any upper-case YES is YES, all else NO) reads a reply otherwise than the strict one.

    Columns judge, stage, strict, release, replies: one row for each kind of difference that occurs. A vote whose reply
    is not in the ledger any more is left out.
    """
    counts: Counter[tuple[str, str, str, str]] = Counter()
    for vote in votes:
        reply = reply_of(vote.key) if vote.key else None
        if reply is not None:
            strict, release = (read_vote(reply, rule)[0] for rule in ("strict", "release"))
            counts[vote.judge, vote.stage, strict, release] += strict != release
    rows = [(*kind, count) for kind, count in sorted(counts.items()) if count]
    return pd.DataFrame(rows, columns=["judge", "stage", "strict", "release", "replies"])


def unparsed_reasons(votes: Iterable[Vote], reply_of: Callable[[str], Response | None]) -> pd.DataFrame:
    """Why votes have no verdict, a row for each judge and stage in their order.

    Columns judge, stage, votes, unparsed (those without a verdict), and one for each of REASONS that occurs: the call
    failed, the reply is not in the ledger any more, it was blocked, refused or cut off by its endpoint, is empty, says
    that it will not judge, contradicts itself, or takes no side.
    """
    counts: dict[tuple[str, str], Counter[str]] = {}
    for vote in votes:
        count = counts.setdefault((vote.judge, vote.stage), Counter())
        count["votes"] += 1
        if vote.verdict == "UNPARSED":
            count.update(["unparsed", _reason(reply_of(vote.key)) if vote.key else "failed"])
    seen = [reason for reason in REASONS if any(count[reason] for count in counts.values())]
    order = sorted(counts, key=lambda place: (place[0], STAGES.index(place[1])))
    rows = [[*place, *(counts[place][name] for name in ("votes", "unparsed", *seen))] for place in order]
    return pd.DataFrame(rows, columns=["judge", "stage", "votes", "unparsed", *seen])


def _reason(reply: Response | None) -> str:
    if reply is None:
        return "not kept"
    if reply.status != "ok":
        return reply.status
    return unparsed_reason(reply.text, reply.finish_reason) or "no verdict"


def own_family(votes: Sequence[Vote], families: Mapping[str, str | None]) -> pd.DataFrame:
    """Votes of judges on solutions of their own family, beside the other judges' votes on the same solutions.

    `families` gives the family of generators and judges by name. Columns judge, family, stage, kin (whether the
    solutions are of its family), solutions, yes (of this judge), others_votes, others_yes. Votes without a verdict are
    left out. A judge without a family, or with no kin among the generators, has no row.
    """
    clear = [v for v in votes if v.verdict != "UNPARSED"]
    by_solution: dict[tuple, dict[str, str]] = {}
    for vote in clear:
        by_solution.setdefault((vote.stage, vote.problem_id, vote.k, vote.generator), {})[vote.judge] = vote.verdict
    kin_of = {judge: families.get(judge) for judge in dict.fromkeys(v.judge for v in clear)}
    generators = {families.get(v.generator) for v in clear}
    rows = []
    for judge, family in kin_of.items():
        if family is None or family not in generators:
            continue
        for stage in STAGES:
            for kin in (True, False):
                seen = [
                    verdicts
                    for (at, _, _, generator), verdicts in by_solution.items()
                    if at == stage and judge in verdicts and (families.get(generator) == family) is kin
                ]
                others = [verdict for verdicts in seen for name, verdict in verdicts.items() if name != judge]
                yes = sum(verdicts[judge] == "YES" for verdicts in seen)
                rows.append((judge, family, stage, kin, len(seen), yes, len(others), others.count("YES")))
    names = ["judge", "family", "stage", "kin", "solutions", "yes", "others_votes", "others_yes"]
    return pd.DataFrame(rows, columns=names)
