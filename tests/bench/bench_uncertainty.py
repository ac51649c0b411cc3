"""Seconds and memory from votes to intervals, differences and trends at the size of the full data set.

    python tests/bench/bench_uncertainty.py
    python tests/bench/bench_uncertainty.py --problems 400 --samples 605    # the paper's subset

Invented votes: 10 models x 14,223 samples of 6,469 problems x 3 judges, 2,000 resamples. The bar: 60 s and 2 GB on two
cores. Nothing is asserted: read the table.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from workload import load_line

from creativemath_utils.metrics import RATIOS, collect_outcomes
from creativemath_utils.records import COMPETITIONS, Problem, Sample, Solution, Vote, samples_of
from creativemath_utils.uncertainty.coverage import best_sets
from creativemath_utils.uncertainty.differences import paired_differences
from creativemath_utils.uncertainty.intervals import ratio_intervals
from creativemath_utils.uncertainty.measures import measure
from creativemath_utils.uncertainty.trends import trends

BAR_SECONDS, BAR_GIGABYTES = 60, 2
JUDGES = ("a", "b", "c")


def invented_problems(problems: int, samples: int) -> list[Problem]:
    """So many problems with so many solutions in all: one each, the rest spread unevenly, ten at most."""
    draw = random.Random(0)
    sizes = [1] * problems
    for _ in range(samples - problems):
        place = draw.randrange(problems)
        while sizes[place] == 10:
            place = draw.randrange(problems)
        sizes[place] += 1
    return [
        Problem(f"{i:05}", COMPETITIONS[i % 8], f"{i:05}", None, i, 1 + i % 8, None, "How many?", ("So many.",) * n)
        for i, n in enumerate(sizes)
    ]


def invented_votes(samples: list[Sample], models: int) -> tuple[list[Solution], list[Vote]]:
    """A solution of each model to each sample, and the votes on those that passed the stage before."""
    draw = random.Random(1)
    solutions, votes = [], []
    for model in range(models):
        name, chance = f"model-{model}", 0.6 + 0.03 * model
        for sample in samples:
            at = (sample.problem.problem_id, sample.k)
            solutions.append(Solution(*at, sample.n, name, "text", "text", (), "ok", "key"))
            for stage in ("correctness", "coarse", "fine")[: 3 if sample.k < sample.n else 2]:
                verdicts = ["YES" if draw.random() < chance ** (1 / 3) else "NO" for _ in JUDGES]
                votes += [
                    Vote(*at, name, stage, judge, said, None) for judge, said in zip(JUDGES, verdicts, strict=True)
                ]
                if verdicts.count("YES") < (3 if stage == "correctness" else 2):
                    break
    return solutions, votes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=int, default=10)
    parser.add_argument("--problems", type=int, default=6469)
    parser.add_argument("--samples", type=int, default=14223)
    parser.add_argument("--resamples", type=int, default=2000)
    asked = parser.parse_args()
    problems = invented_problems(asked.problems, asked.samples)
    samples = samples_of(problems)
    solutions, votes = invented_votes(samples, asked.models)
    names = sorted({s.generator for s in solutions})
    how = {"resamples": asked.resamples}
    print(
        f"{asked.models} models x {len(samples)} samples of {len(problems)} problems, {len(votes)} votes; {load_line()}"
    )
    print(f"{peak_gigabytes():.2f} GB before the start: problems, solutions and votes in memory")

    def timed(what, call):
        started = time.perf_counter()
        found = call()
        seconds = time.perf_counter() - started
        print(f"{what:<44}{seconds:6.1f} s   {peak_gigabytes():.2f} GB at most so far")
        return found, seconds

    outcomes, first = timed("votes to outcomes", lambda: collect_outcomes(problems, solutions, votes, JUDGES))
    total = first
    total += timed("intervals by model", lambda: ratio_intervals(outcomes, **how))[1]
    total += timed(
        "differences, all pairs, five ratios", lambda: [paired_differences(outcomes, r, **how) for r in RATIOS]
    )[1]
    total += timed("trends", lambda: trends(outcomes, **how))[1]
    total += timed("best sets", lambda: best_sets(outcomes, names))[1]
    print(
        f"{'together':<44}{total:6.1f} s   {peak_gigabytes():.2f} GB   (the bar: {BAR_SECONDS} s, {BAR_GIGABYTES} GB)"
    )
    timed("the same and all cells, as for uncertainty.md", lambda: measure(outcomes, names, **how))


def peak_gigabytes() -> float:
    """The most memory that this process had so far."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


if __name__ == "__main__":
    main()
