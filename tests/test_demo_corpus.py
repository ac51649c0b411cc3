"""The demo corpus, checked without its own solutions: each answer is found again from the problem itself."""

import difflib
import json
import re
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product
from math import gcd, isqrt
from pathlib import Path

import pytest
import sympy as sp

LINES = (Path(__file__).parents[1] / "data/demo/problems.jsonl").read_text(encoding="utf-8").splitlines()
PROBLEMS = [json.loads(line) for line in LINES]
BY_ID = {p["problem_id"]: p for p in PROBLEMS}

COMPETITIONS = ["AMC_8", "AMC_10", "AMC_12", "AHSME", "AIME", "USAJMO", "USAMO", "IMO"]
WITH_OPTIONS = {"AMC_8", "AMC_10", "AMC_12", "AHSME"}
CATEGORIES = {"Algebra", "Arithmetic", "Counting", "Geometry", "Number Theory", "Probability", "Others"}
KEYS = [
    "problem_id",
    "competition",
    "competition_id",
    "year",
    "number",
    "difficulty",
    "category",
    "statement",
    "solutions",
    "source",
    "schema",
]
# Plausible difficulty on the usual 1-10 scale of contest levels.
DIFFICULTY = {
    "AMC_8": (1, 1.5),
    "AMC_10": (1, 3),
    "AMC_12": (2, 4),
    "AHSME": (1, 4),
    "AIME": (3, 6),
    "USAJMO": (6, 7),
    "USAMO": (7, 9),
    "IMO": (5.5, 10),
}


# --- answers from the problems themselves ---------------------------------------------------------


def two_stalls():
    # Simulation of the fifteen days.
    return sum((31 + 2 * day) - (22 + 3 * day) for day in range(15))


def two_spinners():
    # All 35 outcomes.
    outcomes = list(product(range(1, 6), range(1, 8)))
    return Fraction(sum(ben > ana for ana, ben in outcomes), len(outcomes))


def ribbon_round_banner():
    # Length and width as two unknowns.
    length, width = sp.symbols("length width", positive=True)
    (sides,) = sp.solve([length - 3 * width, 2 * (length + width) - 48], [length, width], dict=True)
    return (length * width).subs(sides)


def sum_and_product():
    # Every solution pair, exactly; all must give one value.
    a, b = sp.symbols("a b", real=True)
    pairs = sp.solve([a + 2 * b - 9, a * b - 7], [a, b], dict=True)
    (value,) = {sp.simplify((a**2 + a * b + 4 * b**2).subs(pair)) for pair in pairs}
    return value


def odd_red_signals():
    # All 243 signals.
    return sum(signal.count("r") % 2 == 1 for signal in product("rwy", repeat=5))


def juggling_boxes():
    # Every split of the twenty boxes.
    (large,) = [large for large in range(21) if 5 * large + 3 * (20 - large) == 76]
    return large


def two_divisibilities():
    # The conditions have period 143, so the range holds the least n.
    return next(n for n in range(1, 144) if (7 * n + 3) % 11 == 0 and (5 * n + 1) % 13 == 0)


def cevian_quadrilateral():
    # A general triangle of area 130 with B at the origin: the answer must not depend on the free u.
    u, s, t = sp.symbols("u s t", real=True)
    B, C, A = sp.Matrix([0, 0]), sp.Matrix([26, 0]), sp.Matrix([u, 10])
    D, E = B + (C - B) * sp.Rational(2, 5), A + (C - A) / 5
    meet = sp.solve(list(A + s * (D - A) - (B + t * (E - B))), [s, t], dict=True)[0]
    P = A + meet[s] * (D - A)
    corners = [P, D, C, E]
    shoelace = sum(p[0] * q[1] - q[0] * p[1] for p, q in zip(corners, corners[1:] + corners[:1], strict=True))
    area = sp.simplify(shoelace / 2)
    assert area.is_number
    return area


def sixth_round():
    # Five general scores with mean 14: the answer must not depend on the free ones.
    *scores, last = sp.symbols("s1:6 s")
    (fifth,) = sp.solve(sum(scores) / 5 - 14, scores[-1])
    (value,) = sp.solve((sum(scores[:-1]) + fifth + last) / 6 - 16, last)
    assert value.is_number
    return value


def radical_equation():
    # The real solution set; solveset takes the extraneous roots out.
    x = sp.symbols("x", real=True)
    (root,) = sp.solveset(sp.sqrt(x + 19) - sp.sqrt(x - 8) - 3, x, sp.S.Reals)
    return root


def village_of_liars():
    # The number of liars fixes who speaks the truth, so nineteen plus one cases are the whole range.
    (liars,) = [c for c in range(20) if sum(not c >= 2 * k for k in range(1, 20)) == c]
    return liars


def bridges():
    # All 81 ordered pairs; a bridge is the set of its two ends.
    return len({frozenset(ends) for ends in product(range(9), repeat=2) if ends[0] != ends[1]})


def painted_fence():
    # All 126 sets of green boards.
    rows = ("".join("G" if i in green else "W" for i in range(9)) for green in combinations(range(9), 4))
    return sum("WWW" not in row for row in rows)


def blue_between_reds():
    # All 210 sets of positions of the red tiles.
    reds = list(combinations(range(10), 4))
    mean = Fraction(sum(r[-1] - r[0] + 1 - 4 for r in reds), len(reds))
    assert gcd(mean.numerator, mean.denominator) == 1
    return mean.numerator + mean.denominator


def square_values():
    # For n > 13 the value lies strictly between (n+4)^2 and (n+5)^2: the differences are n-13 and n+22. So a
    # search to 13 is complete; it is run to 5000 to test that remark as well.
    found = [n for n in range(1, 5001) if isqrt(n * n + 9 * n + 3) ** 2 == n * n + 9 * n + 3]
    assert max(found) <= 13
    return sum(found)


def pedal_chord():
    # Exact coordinates; the side lengths are checked, not assumed.
    A, B, C = sp.Point(0, 12), sp.Point(-5, 0), sp.Point(16, 0)
    assert (A.distance(B), A.distance(C), B.distance(C)) == (13, 20, 21)
    D = sp.Line(B, C).projection(A)
    return sp.Line(A, B).projection(D).distance(sp.Line(A, C).projection(D))


def least_quadratic():
    # One stationary point on the plane and a positive definite Hessian: its value is the global minimum.
    y, z = sp.symbols("y z", real=True)
    x = 73 - 4 * y - 9 * z
    f = sp.expand(x**2 + 2 * y**2 + 3 * z**2 - 2 * x)
    assert sp.hessian(f, (y, z)).is_positive_definite
    (point,) = sp.solve([sp.diff(f, y), sp.diff(f, z)], [y, z], dict=True)
    return f.subs(point)


def counter_game():
    # The full game table up to 123, so the whole range is covered.
    wins = []
    for size in range(124):
        wins.append(any(size >= take and not wins[size - take] for take in (1, 4, 6)))
    return sum(not win for win in wins[1:])


def bounded_permutations():
    # All 40320 permutations.
    return sum(a[0] != 1 and all(v <= i + 3 for i, v in enumerate(a)) for a in permutations(range(1, 9)))


def power_of_two():
    # The product itself, in exact integers.
    value = 1
    for i in range(1, 41):
        value *= 3**i - 1
    return (value & -value).bit_length() - 1


ANSWERS = {
    "Demo_AMC_8_Problems/1": two_stalls,
    "Demo_AMC_8_Problems/2": two_spinners,
    "Demo_AMC_8_Problems/3": ribbon_round_banner,
    "Demo_AMC_10_Problems/1": sum_and_product,
    "Demo_AMC_10_Problems/2": odd_red_signals,
    "Demo_AMC_10_Problems/3": juggling_boxes,
    "Demo_AMC_12_Problems/1": two_divisibilities,
    "Demo_AMC_12_Problems/2": cevian_quadrilateral,
    "Demo_AMC_12_Problems/3": sixth_round,
    "Demo_AHSME_Problems/1": radical_equation,
    "Demo_AHSME_Problems/2": village_of_liars,
    "Demo_AHSME_Problems/3": bridges,
    "Demo_AIME_Problems/1": painted_fence,
    "Demo_AIME_Problems/2": blue_between_reds,
    "Demo_USAJMO_Problems/1": square_values,
    "Demo_USAJMO_Problems/2": pedal_chord,
    "Demo_USAMO_Problems/1": least_quadratic,
    "Demo_USAMO_Problems/2": counter_game,
    "Demo_IMO_Problems/1": bounded_permutations,
    "Demo_IMO_Problems/2": power_of_two,
}


# --- reading answers out of the texts -------------------------------------------------------------

LABEL = re.compile(r"\\(?:textbf|text|mathrm)\{\(([A-E])\)\s*\}(?:\\ )?\s*")


def braced(text, start):
    """The text inside the brace that opens at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return text[start + 1 : i]
    raise ValueError(f"unclosed brace in {text!r}")


def last_boxed(text):
    return braced(text, text.rindex(r"\boxed{") + len(r"\boxed"))


def value_of(tex):
    """An integer or a plain fraction, which is all that the corpus uses; anything else is an error."""
    match = re.fullmatch(r"(-?)(?:\\[dt]?frac\{(\d+)\}\{(\d+)\}|(\d+))", tex.strip())
    if not match:
        raise ValueError(f"not an integer or a fraction: {tex!r}")
    sign, top, bottom, whole = match.groups()
    number = sp.Integer(whole) if whole else sp.Rational(int(top), int(bottom))
    return -number if sign else number


def options_of(statement):
    """Letter -> value, from the last line of a statement with options."""
    options = {}
    for part in statement.splitlines()[-1].strip("$").split(r"\qquad"):
        label = LABEL.match(part.strip())
        options[label[1]] = value_of(part.strip()[label.end() :])
    return options


@pytest.mark.parametrize(
    ("tex", "value"),
    [
        ("12", 12),
        ("-3", -3),  # a sign
        (r"\frac{4}{7}", sp.Rational(4, 7)),
        (r"-\dfrac{1}{2}", -sp.Rational(1, 2)),  # display size and a sign
    ],
)
def test_value_of(tex, value):
    assert value_of(tex) == value


def test_last_boxed_matches_braces():
    # Nested braces, and an earlier box that is not the answer.
    assert last_boxed(r"\boxed{1} then \boxed{\text{(C)}\ \frac{4}{7}}.") == r"\text{(C)}\ \frac{4}{7}"


# --- the corpus -----------------------------------------------------------------------------------

EACH = pytest.mark.parametrize("problem", PROBLEMS, ids=[p["problem_id"] for p in PROBLEMS])
SOLUTIONS = [pytest.param(p, s, id=f"{p['problem_id']}#{i}") for p in PROBLEMS for i, s in enumerate(p["solutions"], 1)]
TEXTS = [
    pytest.param(t, id=f"{p['problem_id']}#{i}")
    for p in PROBLEMS
    for i, t in enumerate([p["statement"], *p["solutions"]])
]


def test_every_problem_has_an_independent_answer():
    assert list(BY_ID) == list(ANSWERS)


@pytest.mark.parametrize(("problem", "solution"), SOLUTIONS)
def test_solution_ends_in_the_answer(problem, solution):
    answer = sp.sympify(ANSWERS[problem["problem_id"]]())
    boxed = last_boxed(solution)
    label = LABEL.match(boxed)
    assert value_of(boxed[label.end() :] if label else boxed) == answer
    assert bool(label) == (problem["competition"] in WITH_OPTIONS)
    if label:
        matching = [letter for letter, value in options_of(problem["statement"]).items() if value == answer]
        assert matching == [label[1]]
    # One box, at the very end: the final answer and nothing after it but the close of the sentence.
    assert solution.count(r"\boxed") == 1
    assert re.search(r"\\boxed\{[^$]*\}\$( ways)?\.$", solution)


@EACH
def test_options(problem):
    if problem["competition"] in WITH_OPTIONS:
        options = options_of(problem["statement"])
        assert list(options) == list("ABCDE")
        assert len(set(options.values())) == 5
    else:
        assert not LABEL.search(problem["statement"])


@pytest.mark.parametrize("problem_id", [i for i in ANSWERS if "AIME" in i])
def test_aime_range(problem_id):
    assert ANSWERS[problem_id]() in range(1000)


@EACH
def test_record_shape(problem):
    assert list(problem) == KEYS
    assert problem["competition_id"] == f"Demo_{problem['competition']}_Problems"
    assert problem["problem_id"] == f"{problem['competition_id']}/{problem['number']}"
    assert problem["year"] is None
    assert problem["source"] == {"kind": "demo"}
    assert problem["schema"] == 1
    assert problem["category"] in CATEGORIES
    low, high = DIFFICULTY[problem["competition"]]
    assert low <= problem["difficulty"] <= high


def test_corpus_shape():
    # Each competition has two problems; the four with options have a third that a small model can solve.
    numbers = {c: (1, 2, 3) if c in WITH_OPTIONS else (1, 2) for c in COMPETITIONS}
    assert [(p["competition"], p["number"]) for p in PROBLEMS] == [(c, n) for c in COMPETITIONS for n in numbers[c]]
    assert len(BY_ID) == 20
    assert {p["category"] for p in PROBLEMS} == CATEGORIES
    # Every number of references from 1 to 5, so that each number of shown solutions k <= n has a case.
    counts = [len(p["solutions"]) for p in PROBLEMS]
    assert Counter(counts) == {1: 3, 2: 6, 3: 8, 4: 2, 5: 1}
    assert sum(counts) == 52


def test_file_is_canonical_json_lines():
    assert [json.dumps(p, ensure_ascii=False) for p in PROBLEMS] == LINES


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_well_formed(text):
    assert text == text.strip()
    assert text.count("$") % 2 == 0
    depth = 0
    for char in text.replace(r"\{", "").replace(r"\}", ""):
        depth += {"{": 1, "}": -1}.get(char, 0)
        assert depth >= 0
    assert depth == 0
    assert "[asy]" not in text


@pytest.mark.parametrize(("problem", "solution"), SOLUTIONS)
def test_solution_stands_alone(problem, solution):
    # A reference may be shown without the others, so it must not point to them.
    pointer = r"solution\s+\d|(previous|above|other|first|second) (solution|method)"
    assert not re.search(pointer, solution, re.IGNORECASE)


@EACH
def test_solutions_differ(problem):
    for one, two in combinations(problem["solutions"], 2):
        assert difflib.SequenceMatcher(None, one, two, autojunk=False).ratio() < 0.8
