"""The best teams: by hand, and beside a search that counts each set by itself."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from creativemath_utils.records import KitError
from creativemath_utils.uncertainty.coverage import best_sets

pytestmark = pytest.mark.filterwarnings("error")
DECISIONS = {"-": (False, False, False), "c": (True, False, False), "n": (True, True, False), "u": (True, True, True)}


def outcomes(models):
    """Models by name, a letter a sample: - wrong, c correct, n novel, u novel-unknown; a space: not there."""
    rows = [
        (f"{i // 2:02}", 1 + i % 2, name, *DECISIONS[letter])
        for name, letters in models.items()
        for i, letter in enumerate(letters)
        if letter != " "
    ]
    columns = ["problem_id", "k", "generator", "correct", "novel", "novel_unknown"]
    return pd.DataFrame(rows, columns=columns, dtype=object)


def rows(table):
    return list(table.itertuples(index=False, name=None))


def test_the_best_pair_is_not_that_of_the_best_two():
    """a and b have the most, and nearly the same; c, the least of all, has what both lack."""
    table = outcomes({"a": "uuuu--", "b": "uuu-u-", "c": "--u--u"})
    assert rows(best_sets(table, ["a", "b", "c"])) == [
        (1, ("a",), 4, 6),
        (1, ("b",), 4, 6),  # all that tie
        (2, ("a", "b"), 5, 6),
        (2, ("a", "c"), 5, 6),
        (2, ("b", "c"), 5, 6),
        (3, ("a", "b", "c"), 6, 6),
    ]


@pytest.mark.parametrize(("decision", "covered"), [("correct", 4), ("novel", 3), ("novel_unknown", 1)])
def test_decisions(decision, covered):
    assert rows(best_sets(outcomes({"a": "-cnnu"}), ["a"], decision)) == [(1, ("a",), covered, 5)]


@pytest.mark.parametrize(
    ("models", "names", "expected"),
    [
        ({"a": "u-"}, ["silent", "a"], [(1, ("a",), 1, 2), (2, ("silent", "a"), 1, 2)]),  # without answers
        ({"a": "--"}, ["b", "a"], [(1, ("b",), 0, 2), (1, ("a",), 0, 2), (2, ("b", "a"), 0, 2)]),  # in their order
        ({"a": "u ", "b": " u"}, ["a", "b"], [(1, ("a",), 1, 2), (1, ("b",), 1, 2), (2, ("a", "b"), 2, 2)]),
        ({"a": "u-", "other": "uu"}, ["a"], [(1, ("a",), 1, 2)]),  # models that are not named count for nothing
        ({"a": "u"}, ["a", "a"], [(1, ("a",), 1, 1)]),
        ({}, ["a"], [(1, ("a",), 0, 0)]),
        ({"a": "u"}, [], []),
    ],
)
def test_models_that_have_little(models, names, expected):
    assert rows(best_sets(outcomes(models), names)) == expected


def test_ten_models_beside_a_search_set_by_set():
    draw = np.random.default_rng(2)
    has = draw.random((60, 10)) < draw.random(10) * 0.4
    names = [f"m{i}" for i in range(10)]
    table = outcomes({name: "".join("u" if one else "c" for one in has[:, i]) for i, name in enumerate(names)})
    expected = []
    for m in range(1, 11):
        covered = {team: int(has[:, team].any(axis=1).sum()) for team in combinations(range(10), m)}
        most = max(covered.values())
        expected += [(m, tuple(names[i] for i in t), most, 60) for t, count in covered.items() if count == most]
    assert rows(best_sets(table, names)) == expected
    assert rows(best_sets(table.sample(frac=1, random_state=0), names)) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(([f"m{i}" for i in range(21)],), "21 models have 2,097,152 sets"), ((["a"], "best"), "'best' is none of")],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(KitError, match=message):
        best_sets(outcomes({"a": "u"}), *arguments)


def test_twenty_models_are_tried():
    """Model i alone has i + 1 samples: the best m are the last m."""
    names = [f"m{i:02}" for i in range(20)]
    owner = [i for i in range(20) for _ in range(i + 1)]
    table = outcomes({name: "".join("u" if i == who else " " for who in owner) for i, name in enumerate(names)})
    found = best_sets(table, names)
    assert found["models"].tolist() == [tuple(names[20 - m :]) for m in range(1, 21)]
    assert found["covered"].tolist() == [sum(range(21 - m, 21)) for m in range(1, 21)]
