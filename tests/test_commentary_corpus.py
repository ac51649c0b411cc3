"""Whole answers, with what a careful person would cut of each; every mistake of the rules is known.

A line of the corpus has `text`, the `solution` and the `removed` spans a person would leave and cut, and its `source`:
`recorded` (an answer of a demo model) or `written` (for this test). Where the rules do otherwise, `known_mistake` says
why and what they do. Mend a rule, and the test asks for the mistake to be taken off the list.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from creativemath_utils.clean import strip_commentary

CORPUS = Path(__file__).with_name("commentary_corpus.jsonl")
CASES = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").split("\n") if line]


def _characters(spans: Counter[str]) -> int:
    return sum(len(span) * count for span, count in spans.items())


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_rules_do_as_a_person_or_make_the_known_mistake(case):
    told = case.get("known_mistake", case)
    assert strip_commentary(case["text"]) == (told["solution"], told["removed"])


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_corpus_is_sound(case):
    versions = [case, *([case["known_mistake"]] if "known_mistake" in case else [])]
    for version in versions:
        spans = Counter("".join(version["removed"]))
        left = Counter(case["text"]) - Counter(version["solution"])
        ink = {c: n for c, n in left.items() if not c.isspace()}
        assert ink == {c: n for c, n in spans.items() if not c.isspace()}  # nothing is lost, nothing is told twice
        assert version["solution"].strip()
    if "known_mistake" in case:
        mistake = case["known_mistake"]
        assert mistake["why"] and (mistake["solution"], mistake["removed"]) != (case["solution"], case["removed"])


def test_a_second_pass_changes_nothing():
    for case in CASES:
        solution, _ = strip_commentary(case["text"])
        assert strip_commentary(solution) == (solution, []), case["id"]


def test_precision_and_recall_of_removed_characters():
    """Counts over the corpus; the talk that is missed is a choice, a step that is lost is not (`pytest -s` prints)."""
    wanted, cut, both = Counter(), Counter(), Counter()
    for case in CASES:
        person, rules = Counter(case["removed"]), Counter(strip_commentary(case["text"])[1])
        source = case["source"]
        wanted[source] += _characters(person)
        cut[source] += _characters(rules)
        both[source] += _characters(person & rules)
    for source in sorted(wanted):
        cases = [case for case in CASES if case["source"] == source]
        mistakes = sum("known_mistake" in case for case in cases)
        print(
            f"\n{source}: {len(cases)} answers, {mistakes} with a known mistake; "
            f"precision {both[source] / cut[source]:.3f}, recall {both[source] / wanted[source]:.3f} "
            f"({both[source]} of {cut[source]} characters cut, of {wanted[source]} to cut)"
        )
    assert len(CASES) >= 60
    assert both["recorded"] == cut["recorded"]  # no step of a recorded answer is lost
    assert both.total() / cut.total() > 0.95
