"""What the paper's text says of its tables and figures, as data, and which of it these contradict.

A sentence is one entry of SENTENCES: where it stands, what it says (in our words), and a check of the numbers.

A text speaks of its own tables. The numbers that it quotes tell whether a table is: where fewer than half of them are
found, no sentence is checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from creativemath_utils.audit.readings import (
    BY_K,
    Check,
    Evidence,
    average,
    best,
    between,
    by_difficulty,
    compared,
    extreme_pairs,
    generally_rising,
    greater_gain,
    largest,
    most_alike,
    quote,
    small_gains,
)
from creativemath_utils.audit.reconcile import Cell
from creativemath_utils.audit.recovery import Finding

OPEN = ("open", "math")  # Table 2 sets these two together when it highlights the best
ALL_RATIOS = ("C", "N", "N_over_C", "Nu", "Nu_over_N")
BY_LEFT = ("n_minus_k_0", "n_minus_k_1", "n_minus_k_2")


@dataclass(frozen=True)
class Sentence:
    """A statement of the text, and a check that yields a fault for each thing in it that the numbers contradict."""

    where: str
    says: str
    check: Check
    quotes: Cell | None = None  # the cell of a table that it repeats


def sentence_findings(evidence: Evidence) -> list[Finding]:
    """The sentences that the numbers contradict; none where the text is about other numbers."""
    faults = {sentence: list(sentence.check(evidence)) for sentence in SENTENCES}
    quotes = [sentence for sentence in SENTENCES if sentence.quotes]
    known = [sentence for sentence in quotes if evidence.values.get(sentence.quotes) is not None]
    if 2 * sum(not faults[sentence] for sentence in known) < len(quotes):
        return []
    return [
        Finding("text", model, column, printed, expected, f"{sentence.where}: {sentence.says}. {reason}")
        for sentence, found in faults.items()
        for model, column, printed, expected, reason in found
    ]


GEMINI, OPUS, GPT, LLAMA = "Gemini-1.5-Pro", "Claude-3-Opus", "GPT-4o", "Llama-3-70B"
QWEN, DEEPSEEK, YI, MIXTRAL = "Qwen1.5-72B", "DeepSeek-V2", "Yi-1.5-34B", "Mixtral-8x22B"
MATH_7B, MATH_20B = "Deepseek-Math-7B-RL", "Internlm2-Math-20B"
Q1, Q2, Q3, Q4 = (f"Section 5.5, question {number}" for number in (1, 2, 3, 4))


def _quoted(where: str, table: str, row: str, column: str, text: str) -> Sentence:
    cell = (table, row, column)
    return Sentence(where, f"{row} has {text} in {column}", quote(cell, text), quotes=cell)


def _highlighted(table: str, columns: Sequence[str], model: str, among: Sequence[str] | None = None) -> Sentence:
    of = " of its group" if among else ""
    where = f"Table {table[-1]}, in bold"
    return Sentence(where, f"{model} is the best{of} in {', '.join(columns)}", best(table, columns, model, among))


SENTENCES = (
    Sentence("Section 3", "Algebra and Geometry are the largest categories", largest(("Algebra", "Geometry"))),
    _highlighted("table2", ALL_RATIOS, GEMINI, ("closed",)),
    _highlighted("table2", ("MATH",), GPT, ("closed",)),
    _highlighted("table2", ("C",), DEEPSEEK, OPEN),
    _highlighted("table2", ("N", "N_over_C", "Nu"), LLAMA, OPEN),
    _highlighted("table2", ("Nu_over_N",), QWEN, OPEN),
    _highlighted("table2", ("MATH",), MATH_7B, OPEN),
    _highlighted("table3", BY_K, GEMINI),
    _highlighted("table4", BY_LEFT, GEMINI),
    Sentence(Q1, f"{GEMINI} is superior across all evaluated metrics", best("table2", ALL_RATIOS, GEMINI)),
    _quoted(Q1, "table2", GEMINI, "N", "66.94"),
    _quoted(Q1, "table2", GEMINI, "C", "69.92"),
    _quoted(Q1, "table2", GEMINI, "N_over_C", "95.75"),
    _quoted(Q1, "table2", LLAMA, "N_over_C", "82.87"),
    _quoted(Q1, "table2", GPT, "MATH", "76.6"),
    Sentence(
        Q1,
        f"{GPT}, {DEEPSEEK} and {MIXTRAL} have N/C below 50%",
        between("table2", "N_over_C", (GPT, DEEPSEEK, MIXTRAL), 0, 50),
    ),
    Sentence(
        Q1,
        f"{LLAMA} outperforms {OPUS} and {GPT} in novelty",
        compared("table2", "N", (LLAMA,), (OPUS, GPT)),
    ),
    Sentence(
        Q1,
        f"smaller models ({YI}, {MATH_7B}, {MATH_20B}) have a lower C than large ones",
        compared("table2", "C", (GEMINI, OPUS, GPT, LLAMA, QWEN, DEEPSEEK, MIXTRAL), (YI, MATH_7B, MATH_20B)),
    ),
    Sentence(
        Q1,
        "the models for mathematics alone have a low N/C",
        compared("table2", "N_over_C", (GEMINI, OPUS, GPT, LLAMA, QWEN, DEEPSEEK, YI, MIXTRAL), (MATH_7B, MATH_20B)),
    ),
    Sentence(Q1, "Nu/N is 95% on average across models", average("table2", "Nu_over_N", "95")),
    Sentence(Q2, "correctness improves with k across most models", generally_rising("table3", BY_K, "most models")),
    _quoted(Q2, "table3", GEMINI, "k4", "100"),
    Sentence(
        Q2, f"{LLAMA} and {DEEPSEEK} gain with k, but less than {GEMINI}", greater_gain(GEMINI, (LLAMA, DEEPSEEK))
    ),
    Sentence(
        Q2,
        f"{QWEN} and {YI} show minimal increases in correctness with k",
        small_gains((QWEN, YI), (LLAMA, DEEPSEEK)),
    ),
    Sentence(
        Q2,
        "models generally show a higher N/C at a higher n - k, and more references make new solutions harder",
        generally_rising("table4", BY_LEFT, "generally"),
    ),
    _quoted(Q2, "table4", GEMINI, "n_minus_k_2", "100"),
    Sentence(
        Q3,
        "as difficulty increases, correctness consistently decreases",
        by_difficulty("mean_C", -1, "consistently", always=True),
    ),
    _quoted(Q3, "table5", "AMC 8", "mean_C", "71.80"),
    Sentence(Q3, "C is around 35% on USAMO and IMO", between("table5", "mean_C", ("USAMO", "IMO"), 34, 36)),
    Sentence(Q3, "N/C increases with difficulty", by_difficulty("mean_N_over_C", 1, "increases", always=False)),
    _quoted(Q3, "table5", "AMC 8", "mean_N_over_C", "55.39"),
    _quoted(Q3, "table5", "USAMO", "mean_N_over_C", "83.01"),
    Sentence(
        Q4,
        f"the most distinct pair is {LLAMA} with {YI}, at 6%",
        extreme_pairs(((LLAMA, YI),), "6", most=False),
    ),
    Sentence(
        Q4,
        f"the most similar pairs are {MIXTRAL} with {GPT} and {MIXTRAL} with {OPUS}, at 47%",
        extreme_pairs(((MIXTRAL, GPT), (MIXTRAL, OPUS)), "47", most=True),
    ),
    Sentence(Q4, f"{MIXTRAL} is slightly more similar to other models than these are", most_alike(MIXTRAL)),
    Sentence(
        Q4,
        "the models for mathematics alone are left out for their low N",
        compared("table2", "N", (GEMINI, OPUS, GPT, LLAMA, QWEN, DEEPSEEK, YI, MIXTRAL), (MATH_7B, MATH_20B)),
    ),
)
