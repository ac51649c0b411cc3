"""What a repair does, and what it leaves alone."""

import pytest

from creativemath_utils.corpus.dirt_text import with_backslashes
from creativemath_utils.corpus.repair import repair_problems
from creativemath_utils.records import Problem


def problem(problem_id, *solutions, statement="Is $7$ odd?", competition="AMC_10", **about):
    contest, _, number = problem_id.partition("/")
    year = int(contest[:4])
    return Problem(problem_id, competition, contest, year, int(number), 2, None, statement, solutions, **about)


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        ("$\x0crac{m}{n}$", r"$\frac{m}{n}$"),
        ("$\x0crac12$ and \x0cbox{E}", r"$\frac12$ and \fbox{E}"),
        ("$\x08oxed{7}$, $\x08egin{align}1\\end{align}$", r"$\boxed{7}$, $\begin{align}1\end{align}$"),
        ("$3\times4$, $\text{two}$, $\theta$, $\to$, $\triangle ABC$", None),
        ("\\[\\left(1\right) \rho\\]", None),
        ("$a\neq b$, $\nu$", "$a\\neq b$, $\nu$"),  # \nu, or a new line and u: not ours to say
        ("$\x07lpha+\x0bec v$", r"$\alpha+\vec v$"),
        ("$$x\to 0$$ and \\[a\n\\]", r"$$x\to 0$$ and \[a" + "\n\\]"),
        # as it is
        ("Suppose $x<y$ and $p>q$.", "same"),
        ("a\timely word", "same"),  # a tab in running text
        ("$x$\neq", "same"),  # a line's end after a formula
        ("$\x0cracture$", "same"),  # no command ends there
        ("A page.\x0cA page.", "same"),
        ('[asy] label("$\tan$");\n\tdot(a); [/asy]', "same"),  # code
        ("$a\n\to$, \\[x&\tau\\]", "same"),  # lines indented and aligned
        ("$\\text{so\nless or\nmid}$", "same"),  # lines of words
        (r"It costs \$5" + "\times they say, $x$", "same"),  # no formula is open
        ("$a\n eq b$", "same"),  # a blank after the line's end
    ],
)
def test_backslashes(broken, mended):
    if mended is None:  # what Python's own escapes broke
        mended = broken.replace("\t", "\\t").replace("\r", "\\r")
    assert with_backslashes(broken)[0] == (broken if mended == "same" else mended)


def test_each_mended_text_is_a_row():
    broken = problem(
        "2030_AMC_10B_Problems/4", "No.", "$\x08oxed{7}$ as $3\times4$.", statement="$\x0crac12+\x0crac13$"
    )
    (mended,), rows = repair_problems([broken])
    assert mended.statement == r"$\frac12+\frac13$" and mended.solutions[1] == r"$\boxed{7}$ as $3\times4$."
    assert rows == [
        {"problem_id": broken.problem_id, "reason": "control_character", "detail": r"problem: 2 x \frac"},
        {
            "problem_id": broken.problem_id,
            "reason": "control_character",
            "detail": r"solution 2: 1 x \boxed, 1 x \times",
        },
    ]


def test_bare_answers_and_repeats_are_taken_off_the_list():
    given = problem("2030_AMC_10B_Problems/4", "It is.", r"$\fbox{A}$", "it  is.", "As in Solution 1, yes.")
    (kept,), rows = repair_problems([given])
    assert kept.solutions == ("It is.", "As in Solution 1, yes.")
    assert kept.removed_solutions == (
        {"heading": "Solution 2", "reason": "answer_only"},
        {"heading": "Solution 3", "reason": "same_solution"},
    )
    assert [row["reason"] for row in rows] == ["answer_only", "same_solution"]
    assert rows[0]["detail"] == r"solution 2: $\fbox{A}$; of those after it, 4 lean on others by their old numbers"
    assert rows[1]["detail"].startswith("solution 3 is solution 1")


def test_a_problem_without_a_solution_goes():
    kept, rows = repair_problems(
        [problem("1968_AHSME_Problems/9", r"$\fbox{E}$"), problem("1968_AHSME_Problems/8", "No.", statement="2?")]
    )
    assert [p.problem_id for p in kept] == ["1968_AHSME_Problems/8"]
    assert [(row["problem_id"], row["reason"]) for row in rows] == [
        ("1968_AHSME_Problems/9", "answer_only"),
        ("1968_AHSME_Problems/9", "no_solutions"),
    ]


def test_twins_become_one_with_the_solutions_of_both():
    """Two and one solutions, one of them in both: the AMC 10 stays, in its place, and gains what it lacks."""
    twins = [
        problem(
            "2030_AMC_12B_Problems/3",
            "By parity.",
            "By descent.",
            competition="AMC_12",
            statement=r"Is $\textbf{(A) }7$ odd?",
        ),
        problem("2030_AMC_12B_Problems/9", "Other.", competition="AMC_12", statement="Is $8$ odd?"),
        problem("2030_AMC_10B_Problems/4", "By  parity.", statement=r"Is $\text{(A)}\ 7$ odd?"),
    ]
    kept, rows = repair_problems(twins)
    assert [p.problem_id for p in kept] == ["2030_AMC_12B_Problems/9", "2030_AMC_10B_Problems/4"]
    assert kept[1].solutions == ("By  parity.", "By descent.")
    assert kept[1].statement == r"Is $\text{(A)}\ 7$ odd?"  # its own text
    assert kept[1].shared_with == ("2030 AMC 12B Problems/Problem 3",)
    assert rows == [
        {
            "problem_id": "2030_AMC_12B_Problems/3",
            "reason": "same_problem",
            "detail": "as 2030_AMC_10B_Problems/4, which gains 1 of its 2 solutions",
        }
    ]


@pytest.mark.parametrize(
    ("ids", "stays"),
    [
        (["2030_USAMO_Problems/1", "2030_USAJMO_Problems/2"], "2030_USAJMO_Problems/2"),  # the paper's order
        (["2031_IMO_Problems/1", "2030_IMO_Problems/6"], "2030_IMO_Problems/6"),  # the year
        (["2030_AIME_II_Problems/1", "2030_AIME_I_Problems/9"], "2030_AIME_I_Problems/9"),  # the contest
        (["2030_AIME_Problems/10", "2030_AIME_Problems/9"], "2030_AIME_Problems/9"),  # the number, as one
        (["2030_My_Contest/1", "2031_IMO_Problems/1", "2030_IMO_Problems/1"], "2030_IMO_Problems/1"),  # others last
    ],
)
def test_which_id_stays(ids, stays):
    competitions = [next((name for name in ("USAJMO", "USAMO", "AIME", "IMO") if name in i), "My_Contest") for i in ids]
    kept, rows = repair_problems(
        [problem(i, f"It is, says {i}.", competition=c) for i, c in zip(ids, competitions, strict=True)]
    )
    assert [p.problem_id for p in kept] == [stays]
    assert kept[0].n == len(ids) and len(rows) == len(ids) - 1


def test_a_bare_answer_is_replaced_by_the_twin_s_solution():
    kept, rows = repair_problems(
        [
            problem("2030_AMC_10B_Problems/4", r"$\fbox{A}$"),
            problem("2030_AMC_12B_Problems/3", "By parity.", competition="AMC_12"),
        ]
    )
    assert [(p.problem_id, p.solutions) for p in kept] == [("2030_AMC_10B_Problems/4", ("By parity.",))]
    assert [row["reason"] for row in rows] == ["answer_only", "same_problem"]


def test_headings_stay_beside_their_solutions():
    twins = [
        problem("2030_AMC_10B_Problems/4", "By parity.", solution_headings=("Solution 1",)),
        problem("2030_AMC_12B_Problems/3", "By descent.", competition="AMC_12"),  # has none
    ]
    (kept,), _ = repair_problems(twins)
    assert kept.solution_headings == ("Solution 1", "")


def test_what_a_rule_doubts_stays():
    """Lost words, drawings, signatures: reported, and not touched. A clean corpus comes back as it is."""
    given = [
        problem(
            "2030_AMC_10B_Problems/4",
            "Let it be the  of it.\n-Max",
            "See [asy] draw(p); [/asy]",
            statement=" Is $7 odd? ",
        )
    ]
    assert repair_problems(given) == (given, [])
    assert repair_problems([]) == ([], [])
