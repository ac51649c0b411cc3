"""What the paper says of its numbers, as a list of claims, in our words, and what each has to be compared with.

Where a sentence is vague it is read in the way that favours it; the reading stands in brackets. Module `claims` tests
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations, product

from creativemath_utils.audit.readings import BY_K
from creativemath_utils.audit.sentences import (
    BY_LEFT,
    DEEPSEEK,
    GEMINI,
    GPT,
    LLAMA,
    MATH_7B,
    MATH_20B,
    MIXTRAL,
    OPUS,
    QWEN,
    YI,
)
from creativemath_utils.paper import count_tests as tests
from creativemath_utils.paper.count_tests import Comparison
from creativemath_utils.paper.numbers import Numbers
from creativemath_utils.table_formats import column_name

LARGE, SMALL = (GEMINI, OPUS, GPT, LLAMA, QWEN, DEEPSEEK, MIXTRAL), (YI, MATH_7B, MATH_20B)
MATHEMATICAL = (MATH_7B, MATH_20B)
OLYMPIADS = ("USAJMO", "USAMO", "IMO")

Comparisons = Callable[[Numbers], list[Comparison]]


@dataclass(frozen=True)
class Claim:
    """Something that the paper says of its numbers: the comparisons it rests on, and how many of them must be so."""

    question: str
    where: str
    says: str
    compares: Comparisons
    of: str = "each"  # each, most or any

    def needed(self, comparisons: int) -> int:
        """So many comparisons of all must come out as claimed."""
        return {"each": comparisons, "most": comparisons // 2 + 1, "any": 1}[self.of]


def _above(column: str, upper: Sequence[str], lower: Sequence[str] | None = None) -> Comparisons:
    """Each of some models is above each of others (by default all others) in a column of Table 2."""

    def compare(numbers: Numbers) -> list[Comparison]:
        below = numbers.models if lower is None else lower
        return [
            tests.higher(numbers.table_2(column, a), numbers.table_2(column, b))
            for a in upper
            for b in below
            if b not in upper
        ]

    return compare


def _below_the_mean(column: str, models: Sequence[str], others: Sequence[str]) -> Comparisons:
    """Each of some models is below the mean of others in a column of Table 2."""
    return lambda numbers: [
        tests.below_the_mean(numbers.table_2(column, model), [numbers.table_2(column, other) for other in others])
        for model in models
    ]


def _trends(table: str, columns: Sequence[str], models: Sequence[str] | None = None) -> Comparisons:
    """Each of some models (by default all) rises with k, or n - k."""
    return lambda numbers: [
        tests.scored(f"{model}: {_row(numbers, table, model, columns)}", numbers.trend(table, model, columns))
        for model in models or numbers.models
    ]


def _on_the_whole(table: str, columns: Sequence[str]) -> Comparisons:
    """All models together rise with k, or n - k."""

    def compare(numbers: Numbers) -> list[Comparison]:
        trends = {model: numbers.trend(table, model, columns) for model in numbers.models}
        known = [model for model, scores in trends.items() if scores]
        rising = sum(min(score.value for score in trends[model]) > 0 for model in known)
        unknown = ", ".join(model for model in trends if model not in known)
        shown = f"{rising} of {len(known)} models rise" + (f"; left out, for cells in doubt: {unknown}" * bool(unknown))
        return [tests.scored(shown, tests.total(trends.values()))]

    return compare


def _within_row(table: str, model: str, upper: str, lower: str) -> Comparisons:
    """A cell of a model's row is above another."""
    return lambda numbers: [
        tests.higher(*(numbers.group(table, model, column, column_name(column)) for column in (upper, lower)))
    ]


def _steeper(upper: Sequence[str], lower: Sequence[str]) -> Comparisons:
    """C of each of some models rises more from the first k to the last than that of each of others."""
    ends = (BY_K[0], BY_K[-1])
    return lambda numbers: [
        tests.scored(
            f"{_row(numbers, 'table3', a, ends)} ({a}) against {_row(numbers, 'table3', b, ends)} ({b})",
            tests.minus(numbers.trend("table3", a, ends), numbers.trend("table3", b, ends)),
        )
        for a in upper
        for b in lower
    ]


def _row(numbers: Numbers, table: str, model: str, columns: Sequence[str]) -> str:
    values = [numbers.evidence.values.get((table, model, column)) for column in columns]
    return ", ".join("?" if value is None else f"{float(value):.1f}" for value in values)


def _by_difficulty(numbers: Numbers) -> list[str]:
    """The competitions of Table 5 from the easiest to the hardest, by the middle of their ranges."""
    ranges = numbers.evidence.difficulty
    return sorted(ranges, key=lambda name: sum(ranges[name]))


def _falls_with_difficulty(numbers: Numbers) -> list[Comparison]:
    names, ranges = _by_difficulty(numbers), numbers.evidence.difficulty
    groups = [numbers.group("table5", name, "mean_C") for name in names]
    at = [-float(sum(ranges[name])) / 2 for name in names]
    values = [numbers.evidence.values.get(("table5", name, "mean_C")) for name in names]
    shown = ", ".join(f"{n} {'?' if v is None else f'{float(v):.1f}'}" for n, v in zip(names, values, strict=True))
    return [tests.scored(shown, tests.trend_scores(groups, at, apart=True) if len(names) > 1 else [])]


def _falls_at_every_step(numbers: Numbers) -> list[Comparison]:
    ranges = numbers.evidence.difficulty
    return [
        tests.higher(numbers.group("table5", easier, "mean_C"), numbers.group("table5", harder, "mean_C"), apart=True)
        for easier, harder in permutations(ranges, 2)
        if ranges[easier][1] <= ranges[harder][0]
    ]


def _novelty_rises_with_difficulty(numbers: Numbers) -> list[Comparison]:
    names = _by_difficulty(numbers)
    values = [numbers.evidence.values.get(("table5", name, "mean_N_over_C")) for name in names]
    return [tests.in_order("mean N/C rises from the easier to the harder competition", values)]


def _largest(categories: Sequence[str], by_competition: bool) -> Comparisons:
    """Each of some categories holds more problems than every other one (Figure 1)."""

    def compare(numbers: Numbers) -> list[Comparison]:
        counts = numbers.evidence.figure_1
        if not set(categories) <= set(counts.index):
            return []
        columns = counts.items() if by_competition else [("all", counts.sum(axis=1))]
        return [
            tests.counted(f"{where}, {category} against {other}", int(column[category]), int(column[other]))
            for where, column in columns
            for category in categories
            for other in counts.index
            if other not in categories
        ]

    return compare


def _more_solutions(upper: Sequence[str], lower: Sequence[str]) -> Comparisons:
    """Problems of each of some competitions have more solutions, on average, than those of each of others."""

    def compare(numbers: Numbers) -> list[Comparison]:
        counts = {str(name): row.tolist() for name, row in numbers.figure_2.iterrows()}
        if not {*upper, *lower} <= set(counts):
            return []
        pairs = product(upper, lower)
        return [tests.more_on_average(f"solutions a problem, {a} against {b}", counts[a], counts[b]) for a, b in pairs]

    return compare


def _extreme(named: Sequence[tuple[str, str]], most: bool) -> Comparisons:
    """Each of some pairs is more (or less) alike than every pair that is not named."""

    def compare(numbers: Numbers) -> list[Comparison]:
        others = [
            p for p in combinations(numbers.evidence.figure_6, 2) if not any(set(p) == set(pair) for pair in named)
        ]
        pairs = [(numbers.pair(*pair), numbers.pair(*other)) for pair in named for other in others]
        return [tests.higher(*(pair if most else pair[::-1])) for pair in pairs]

    return compare


def _apart_from_others(models: Sequence[str], more: bool, than: Sequence[str] | None = None) -> Comparisons:
    """Each of some models is more (or less) alike to the rest than each of others (by default every other one) is."""

    def compare(numbers: Numbers) -> list[Comparison]:
        others = [name for name in than or numbers.evidence.figure_6 if name not in models]
        pairs = [(numbers.alike(model), numbers.alike(other)) for model in models for other in others]
        return [tests.higher(*(pair if more else pair[::-1])) for pair in pairs]

    return compare


def _mostly_unlike(numbers: Numbers) -> list[Comparison]:
    pairs = [numbers.pair(*pair) for pair in combinations(numbers.evidence.figure_6, 2)]
    known = [pair.candidates[0] for pair in pairs if pair.candidates and numbers.common]
    mean = f"{100 * sum(p.numerator for p in known) / (len(known) * numbers.common):.1f}%" if known else "unknown"
    scores = tests.total(tests.share_scores(pair, 0.5, -1) for pair in pairs)
    return [tests.scored(f"mean over {len(known)} pairs: {mean}", scores)]


def share_where_compared(numbers: Numbers) -> Comparison:
    """Nu/N where a human solution is left to compare with, all models together, against the 95 % of all samples.

    The paper does not say this; it is what its average of 95 % is worth.
    """
    groups = [group for model in numbers.models if (group := numbers.compared_with_the_rest(model)).candidates]
    ends = [sum(pick(p[0] / p[1] for p in g.candidates) for g in groups) / len(groups) for pick in (min, max) if groups]
    shown = " to ".join(dict.fromkeys(f"{100 * end:.1f}%" for end in ends)) or "unknown"
    scores = tests.total(tests.share_scores(group, 0.95) for group in groups)
    return tests.scored(f"{shown}, over {len(groups)} models", scores)


DATA = "The data set"
Q1, Q2 = "Question 1: novelty", "Question 2: solutions shown"
Q3, Q4 = "Question 3: difficulty", "Question 4: similarity"
S3, S55, INTRO = "Section 3", "Section 5.5", "Section 1"
ALL_RATIOS = ("C", "N", "N_over_C", "Nu", "Nu_over_N")
CLAIMS = (
    Claim(
        *(DATA, S3, "Algebra and Geometry hold more problems than every other category, all competitions together"),
        _largest(("Algebra", "Geometry"), by_competition=False),
    ),
    Claim(
        *(DATA, S3, "... and so in every single competition"),
        _largest(("Algebra", "Geometry"), by_competition=True),
    ),
    Claim(
        DATA,
        S3,
        "Problems of medium difficulty (AMC 10, AMC 12, AIME) have more solutions than those of AMC 8 and of the "
        "Olympiads (on average, n up to 7)",
        _more_solutions(("AMC 10", "AMC 12", "AIME"), ("AMC 8", *OLYMPIADS)),
    ),
    Claim(
        *(Q1, "Abstract", "Models differ in how often their solutions are novel (N of some two differs)"),
        lambda numbers: [
            tests.higher(numbers.table_2("N", a), numbers.table_2("N", b)) for a, b in permutations(numbers.models, 2)
        ],
        of="any",
    ),
    *(
        Claim(Q1, S55, f"{GEMINI} is the best of all models in {column_name(column)}", _above(column, (GEMINI,)))
        for column in ALL_RATIOS
    ),
    Claim(
        *(Q1, S55, f"Nearly all that {GEMINI} gets right is novel (N/C above 90%)"),
        lambda numbers: [tests.above(numbers.table_2("N_over_C", GEMINI), 0.9)],
    ),
    Claim(
        *(Q1, S55, f"{LLAMA} and {OPUS} do well in N, too (above each of the other seven)"),
        _above("N", (LLAMA, OPUS), (GPT, QWEN, DEEPSEEK, YI, MIXTRAL, *MATHEMATICAL)),
    ),
    Claim(
        *(Q1, S55, f"{GPT}, {DEEPSEEK} and {MIXTRAL} have N/C below 50%"),
        lambda numbers: [
            tests.above(numbers.table_2("N_over_C", model), 0.5, below=True) for model in (GPT, DEEPSEEK, MIXTRAL)
        ],
    ),
    Claim(
        *(Q1, S55, f"... though their C is similar to that of {LLAMA} and {OPUS} (within 10 points)"),
        lambda numbers: [
            tests.within(numbers.table_2("C", a), numbers.table_2("C", b), 0.1)
            for a in (GPT, DEEPSEEK, MIXTRAL)
            for b in (LLAMA, OPUS)
        ],
    ),
    Claim(
        *(Q1, S55, f"... and far below that of {LLAMA} (N/C of each is lower)"),
        _above("N_over_C", (LLAMA,), (GPT, DEEPSEEK, MIXTRAL)),
    ),
    Claim(Q1, S55, f"{LLAMA} outperforms {GPT} in novelty (N)", _above("N", (LLAMA,), (GPT,))),
    Claim(Q1, S55, f"{LLAMA} outperforms {OPUS} in novelty (N)", _above("N", (LLAMA,), (OPUS,))),
    Claim(
        *(Q1, S55, "The smaller models (Yi, both mathematical ones) have a lower C than large ones (than their mean)"),
        _below_the_mean("C", SMALL, LARGE),
    ),
    Claim(
        *(Q1, S55, "... and a lower N/C than large ones (than their mean)"),
        _below_the_mean("N_over_C", SMALL, LARGE),
    ),
    Claim(
        *(Q1, S55, "The two mathematical models have a lower N/C than each other model"),
        _above("N_over_C", (*LARGE, YI), MATHEMATICAL),
    ),
    Claim(
        *(Q1, S55, "Most novel solutions are unlike every human one, for each model (Nu/N above 50%)"),
        lambda numbers: [tests.above(numbers.table_2("Nu_over_N", model), 0.5) for model in numbers.models],
    ),
    Claim(
        *(Q1, S55, "... also where a human solution was left to compare with (n > k), for most models"),
        lambda numbers: [tests.above(numbers.compared_with_the_rest(model), 0.5) for model in numbers.models],
        of="most",
    ),
    Claim(
        *(Q1, S55, f"{GPT}, the best on MATH, is poor at novelty (N and N/C below the two other closed models)"),
        lambda numbers: [
            *_above("N", (GEMINI, OPUS), (GPT,))(numbers),
            *_above("N_over_C", (GEMINI, OPUS), (GPT,))(numbers),
        ],
    ),
    Claim(Q2, S55, "C rises with k for most models", _trends("table3", BY_K), of="most"),
    Claim(Q2, INTRO, "C rises with k in general (all models together)", _on_the_whole("table3", BY_K)),
    Claim(
        *(Q2, INTRO, f"With four solutions shown {GEMINI} is perfect (C at k = 4 above that at k = 1)"),
        _within_row("table3", GEMINI, "k4", "k1"),
    ),
    Claim(Q2, S55, f"C of {LLAMA} and {DEEPSEEK} rises with k", _trends("table3", BY_K, (LLAMA, DEEPSEEK))),
    Claim(Q2, S55, f"... but less than that of {GEMINI} (from k = 1 to k = 4)", _steeper((GEMINI,), (LLAMA, DEEPSEEK))),
    Claim(
        *(Q2, S55, f"C of {QWEN} and {YI} rises less than that of {LLAMA} and {DEEPSEEK} (from k = 1 to k = 4)"),
        _steeper((LLAMA, DEEPSEEK), (QWEN, YI)),
    ),
    Claim(
        *(Q2, S55, "N/C is higher at a higher n - k for most models"),
        _trends("table4", BY_LEFT),
        of="most",
    ),
    Claim(
        *(Q2, S55, "N/C is higher at a higher n - k in general (all models together)"),
        _on_the_whole("table4", BY_LEFT),
    ),
    Claim(
        *(Q2, S55, f"{GEMINI} is perfect at n - k = 2 (N/C above that at n - k = 0)"),
        _within_row("table4", GEMINI, "n_minus_k_2", "n_minus_k_0"),
    ),
    Claim(Q3, S55, "C falls with difficulty", _falls_with_difficulty),
    Claim(
        *(Q3, S55, "... consistently (wherever one competition is harder throughout than another)"),
        _falls_at_every_step,
    ),
    Claim(
        *(Q3, S55, "C is lower on USAMO and on IMO than on AMC 8"),
        lambda numbers: [
            tests.higher(*(numbers.group("table5", name, "mean_C") for name in ("AMC 8", hard)), apart=True)
            for hard in ("USAMO", "IMO")
        ],
    ),
    Claim(Q3, S55, "N/C rises with difficulty (over competitions)", _novelty_rises_with_difficulty),
    Claim(
        *(Q4, S55, "Different models' novel solutions are in general unlike (mean similarity below 50%)"),
        _mostly_unlike,
    ),
    Claim(
        *(Q4, S55, f"{LLAMA} with {YI} is the most distinct pair"),
        _extreme(((LLAMA, YI),), most=False),
    ),
    Claim(
        *(Q4, S55, f"{MIXTRAL} with {GPT} and {MIXTRAL} with {OPUS} are the most similar pairs"),
        _extreme(((MIXTRAL, GPT), (MIXTRAL, OPUS)), most=True),
    ),
    Claim(
        *(Q4, S55, f"{MIXTRAL}, in the middle of the map, is more similar to the others than any other model"),
        _apart_from_others((MIXTRAL,), more=True),
    ),
    Claim(
        *(Q4, INTRO, f"{LLAMA} and {YI} go ways of their own (less similar to others than {MIXTRAL} is)"),
        _apart_from_others((LLAMA, YI), more=False, than=(MIXTRAL,)),
    ),
    Claim(
        *(Q4, S55, "The two mathematical models, left out here, have a lower N than each other model"),
        _above("N", (*LARGE, YI), MATHEMATICAL),
    ),
)
