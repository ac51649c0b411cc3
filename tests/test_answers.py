r"""Final answers: found in solutions, resolved through options, compared. Every row can be checked by hand."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from creativemath_utils import equality, symbolic
from creativemath_utils.answers import final_answer, options_of
from creativemath_utils.equality import compare_answers
from creativemath_utils.symbolic import Budget, Worker

OPTIONS = {"A": "14", "B": "41", "C": r"\frac{1}{2}", "D": "82", "E": r"\text{none of these}"}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (r"so \boxed{41}.", "41"),  # the plain case
        (r"Try \boxed{5}. No: \boxed{41}", "41"),  # the last box
        (r"\fbox{041}", "041"),  # another command
        (r"\framebox{B}", "B"),  # and another
        (r"\boxed{\frac{3}{8}}", r"\frac{3}{8}"),  # braces inside
        (r"\boxed{\textbf{(B)}\ 41}", r"\textbf{(B)}\ 41"),  # label and value
        (r"\boxed{\{1, 2\}}", r"\{1, 2\}"),  # braces that are signs
        (r"\boxed{x = \boxed{41}}", "x = 41"),  # one in another
        (r"\boxed 41", "41"),  # without braces
        (r"\boxed\frac{1}{2}", r"\frac{1}{2}"),  # without braces, a command
        (r"$\boxed{1}$ and $\boxed{3}$", "1, 3"),  # two boxes, one answer
        (r"$\boxed{5}$. Therefore $\boxed{41}$", "41"),  # two boxes, two claims
        (r"\boxed{41} so \boxed{}", "41"),  # an empty box says nothing
        (r"\boxed{5}, now \boxed{4", None),  # cut off inside the last box
        (r"\boxed {41}", "41"),  # a space before the brace
        (r"<think>\boxed{5}</think> \boxed{41}", "41"),  # reasoning is no solution
        (r"<think>\boxed{5}</think> So it is clear.", None),  # likewise
        ("The answer is 41.", "41"),  # a phrase
        (r"The final answer is $\frac{3}{8}$.", r"\frac{3}{8}"),  # with mathematics
        ("**Answer:** 41", "41"),  # a label
        ("Answer: (B) 41", "(B) 41"),  # option and value
        (r"Hence the answer is \(x+1\).", "x+1"),  # other delimiters
        ("The answer is 5. On reflection the answer is 41.", "41"),  # the last one
        ("the answer is therefore $41$", "41"),  # a filler word
        ("The answer is a sum of two squares.", None),  # says no value
        ("The answer is not 41.", None),  # denies one
        ("Thus we get\n**41**", "41"),  # bold value at the end
        (r"Thus **$\frac{3}{8}$**.", r"\frac{3}{8}"),  # bold mathematics at the end
        ("**Step 3**", None),  # a bold heading
        ("**2.** Let x be the sum.\nThen it grows.", None),  # a bold number of a list
        (r"which leaves $\mathrm{(B)}$.", r"\mathrm{(B)}"),  # an option letter at the end
        (r"$2^2+3 = 7 \implies (A)$", "(A)"),  # likewise
        (r"$= 502 \Rightarrow B$.", "B"),  # behind an arrow
        ("We prove that the sum is even.", None),  # a proof
        ("", None),  # nothing
    ],
)
def test_final_answer(text, answer):
    assert final_answer(text) == answer


@pytest.mark.parametrize(
    ("statement", "options"),
    [
        (
            r"Find it. $\textbf{(A)}\ 1\qquad\textbf{(B)}\ 2\qquad\textbf{(C)}\ \frac12\qquad\textbf{(D)}\ 4$",
            {"A": "1", "B": "2", "C": r"\frac12", "D": "4"},
        ),  # the common style
        (
            r"$\text{(A) } 3\quad \text{(B) } 17\quad \text{(C) } 29\quad \text{(D) } 58\quad \text{(E) } 61$",
            {"A": "3", "B": "17", "C": "29", "D": "58", "E": "61"},
        ),  # \text
        (
            "$\\mathrm{(A)}\\ 7 \\qquad \\mathrm{(B)}\\ 13$\n$\\mathrm{(C)}\\ 31 \\qquad \\mathrm{(D)}\\ 111$",
            {"A": "7", "B": "13", "C": "31", "D": "111"},
        ),  # over two lines
        (
            r"$(\mathrm {A})\ 1 \quad (\mathrm {B})\ 2 \quad (\mathrm{C})\ 3 \quad (\mathrm{D})\ 4$",
            dict(zip("ABCD", "1234", strict=True)),
        ),
        ("(A) 1 (B) 2 (C) 3 (D) 4", dict(zip("ABCD", "1234", strict=True))),  # plain
        (r"$\textbf{A)}\,1\ \textbf{B)}\,2\ \textbf{C)}\,3\ \textbf{D)}\,4$", dict(zip("ABCD", "1234", strict=True))),
        (
            r"$\textbf{(A)}\ \text{It is odd.}\\\textbf{(B)}\ \text{It is even.}\\\textbf{(C)}\ x \\ \textbf{(D)}\ y$",
            {"A": r"\text{It is odd.}", "B": r"\text{It is even.}", "C": "x", "D": "y"},
        ),  # words
        (
            r"$\textbf{(A)}\ \$5 \qquad \textbf{(B)}\ \$6 \qquad \textbf{(C)}\ \$7 \qquad \textbf{(D)}\ \$8$",
            {"A": r"\$5", "B": r"\$6", "C": r"\$7", "D": r"\$8"},
        ),  # currency
        (
            r'[asy] label("(A)",(0,0)); label("(B)",(1,0)); label("(C)",(2,0)); label("(D)",(3,0)); [/asy]',
            {},
        ),  # a picture
        (r"$\textbf{(A)}\qquad\textbf{(B)}\qquad\textbf{(C)}\qquad\textbf{(D)}$", {}),  # labels of a picture
        ("Point (A) lies on the line through (B).", {}),  # no options
        ("Find the least $n$.", {}),  # none
    ],
)
def test_options_of(statement, options):
    assert options_of(statement) == options


COMPARED = [
    # option and value, in any order and dress
    ("41", r"\boxed{\textbf{(B)} 41}", "equal"),  # letter first
    ("41", r"\boxed{41\textbf{(B)}}", "equal"),  # letter last
    ("41", r"\boxed{\textbf{B)}\,41}", "equal"),  # half a bracket
    ("41", r"\fbox{041}", "equal"),  # a leading zero
    ("41", r"\boxed{B}", "equal"),  # through the options
    ("41", "**41**", "equal"),  # bold
    ("41", r"\textbf C", "different"),  # option C is one half
    (r"\textbf{(B)}\ 41", "(B)", "equal"),  # letter against both
    ("B", r"\mathrm{(C)}", "different"),  # two letters
    ("(B)", "41", "equal"),  # letter against value
    (r"(C) \frac12", "0.5", "equal"),  # a decimal that is the value
    ("41", "(B) 14", "unchecked"),  # letter and value contradict each other: B is 41, 14 is A
    ("x = (B) 41", "41", "equal"),  # a name before it
    (r"41 \implies B", "41", "equal"),  # an arrow between
    ("E", "(E) none of the above", "equal"),  # by the letter
    ("E", "7", "unchecked"),  # may be none of these
    ("E", "14", "different"),  # is option A
    # numbers
    ("41", "41.0", "equal"),  # a decimal that is an integer
    ("41", "42", "different"),  # two integers
    ("41", "-41", "different"),  # sign
    ("41", "−41", "different"),  # the other minus sign
    ("1234", "1,234", "equal"),  # digit groups
    ("1234", "1{,}234", "equal"),  # in LaTeX
    ("1234", r"1\,234", "equal"),  # a thin space
    (r"\frac{3}{8}", "3/8", "equal"),  # a slash
    (r"\dfrac{3}{8}", r"\frac38", "equal"),  # macros without braces
    (r"\frac{3}{8}", "0.375", "equal"),  # an exact decimal
    (r"\frac{6}{16}", r"\frac{3}{8}", "equal"),  # not reduced
    (r"-\frac{3}{8}", r"\frac{-3}{8}", "equal"),  # where the sign stands
    (r"2\frac{1}{2}", r"\frac{5}{2}", "equal"),  # a mixed number
    (r"\frac{3}{8}", r"\frac{8}{3}", "different"),  # turned over
    (r"10^{-7}", "0", "different"),  # small is not nothing
    ("1.5", "15", "different"),  # the point counts
    (r"\frac{1}{3}", r"0.\overline{3}", "equal"),  # a repeating decimal
    (r"\frac{7}{30}", r"0.2\overline{3}", "equal"),  # one that begins later
    ("5", "101_2", "equal"),  # base two
    ("101", "101_2", "different"),  # base two is not base ten
    ("300000", r"3\times 10^5", "equal"),  # scientific
    # exact and rounded
    (r"\frac{1}{3}", "0.33", "unchecked"),  # a rounding: neither right nor wrong
    (r"2\sqrt{2}", "2.83", "unchecked"),  # likewise
    (r"2\sqrt{2}", "2.84", "different"),  # no rounding of it
    (r"\frac{1}{3}", "0.34", "different"),  # no rounding of it
    (r"2\sqrt{2}", r"2\sqrt{2} \approx 2.83", "equal"),  # the exact form counts
    ("2.83", r"2\sqrt{2} \approx 2.83", "equal"),  # or the same rounding
    (r"2\sqrt{2}", r"3\sqrt{2} \approx 2.83", "different"),  # its exact form is another
    ("0.75", "0.753", "different"),  # 0.75 is exact
    # units and percent
    ("12", r"12\text{ cm}", "equal"),  # a unit
    (r"12\ \text{cm}^2", r"12 \text{ square centimeters}", "equal"),  # two spellings
    ("12", r"12\text{ red marbles}", "equal"),  # what is counted
    ("12 cm", "12 m", "unchecked"),  # two units
    (r"2\text{ hours}", r"120\text{ minutes}", "unchecked"),  # two units
    (r"90^\circ", "90", "equal"),  # degrees
    (r"\angle ABC = 90^{\circ}", r"90\text{ degrees}", "equal"),  # degrees in words
    (r"\$5", "5 dollars", "equal"),  # currency
    (r"\$5", "5 cents", "unchecked"),  # two currencies
    ("€5", r"\$5", "unchecked"),  # likewise
    (r"60\%", r"60^\circ", "unchecked"),  # percent and a unit
    ("3 million", "3", "unchecked"),  # no unit, but a factor
    ("3 halves", "3", "unchecked"),  # likewise
    ("5 squared", "5", "unchecked"),  # likewise
    ("5 in 6", r"\frac{5}{6}", "unchecked"),  # words, and no inches
    ("2 minutes and 30 seconds", "2, 30", "unchecked"),  # one time, no list
    ("10:30", r"10:30 \text{ AM}", "unchecked"),  # a time of day
    ("1:2", "2:4", "equal"),  # a ratio
    (r"\frac{1}{2}", r"\sin 30^\circ", "equal"),  # degrees as an argument are no unit
    (r"84\%", "84", "equal"),  # the question asks for percent
    (r"84\%", "0.84", "equal"),  # what percent means
    (r"84\%", r"\frac{21}{25}", "equal"),  # likewise
    ("84", "0.84", "different"),  # no percent sign anywhere
    (r"84\%", "84 percent", "equal"),  # in words
    (r"84\%", r"0.84\%", "different"),  # both in percent
    # expressions
    (r"2\sqrt{2}", r"\sqrt{8}", "equal"),  # by math-verify
    (r"\frac{\pi}{2}", r"\frac{1}{2}\pi", "equal"),  # by math-verify
    (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}", "equal"),  # a rationalised denominator
    ("2^{10}", "1024", "equal"),  # a power
    (r"\binom{5}{2}", "10", "equal"),  # a binomial coefficient
    ("x^2+2x+1", "(x+1)^2", "equal"),  # a polynomial
    (r"\frac{n(n+1)}{2}", r"\frac{n^2+n}{2}", "equal"),  # likewise
    ("f(x) = 2x + 1", "2x+1", "equal"),  # named
    ("2x+1", "2x-1", "different"),  # two polynomials
    (r"\sqrt{2}", r"\sqrt{3}", "different"),  # two roots
    ("x = 3", "3", "equal"),  # a name before the value
    ("3+4=7", "7", "equal"),  # a calculation
    # sets, tuples, intervals
    (r"\{1, 2\}", r"\{2, 1\}", "equal"),  # no order
    ("1, 2", "2 and 1", "equal"),  # a bare list
    ("x=1 or x=2", r"\{1,2\}", "equal"),  # named
    (r"\{1, 2\}", r"\{1, 2, 3\}", "different"),  # one more
    (r"\{1, 2\}", "1", "different"),  # one less
    (r"\pm 2", "2, -2", "equal"),  # both signs
    ("(1, 2)", "(2, 1)", "different"),  # order counts
    ("(1, 2)", r"\left( 1,\ \frac{4}{2} \right)", "equal"),  # by element
    ("x = 1, y = 2", "(1, 2)", "equal"),  # named coordinates
    ("y = 2, x = 1", "x = 1, y = 2", "equal"),  # in any order
    ("(1,2), (2,1)", "(2,1), (1,2)", "equal"),  # a set of pairs
    ("(1,2)", "[1,2]", "different"),  # open and closed
    ("[1,2)", r"\left[1, 2\right)", "equal"),  # half open
    (r"(-\infty, 1) \cup (2, 3)", r"(2,3)\cup(-\infty,1)", "equal"),  # a union
    ("1 < x < 2", "(1, 2)", "equal"),  # an inequality
    (r"x \ge 2", r"[2, \infty)", "equal"),  # likewise
    (r"\{n \ge 13\}", r"n \geq 13", "equal"),  # a relation in braces
    # option labels in words, in small letters, in lists
    ("41", "Option B", "equal"),  # a word before it
    ("41", "the choice (B)", "equal"),  # likewise
    ("41", "(b)", "equal"),  # a small letter in brackets
    ("41", "(b) 41", "equal"),  # before its value
    ("(b)+c", "b+c", "equal"),  # a bracket in a formula
    ("(A), (C)", "(C), (A)", "equal"),  # two options are a list
    ("41", "F", "unchecked"),  # no option, and hardly a variable
    # one thing in several spellings
    ("2½", r"\frac{5}{2}", "equal"),  # a sign for a fraction
    ("x²", "x^2", "equal"),  # a sign for a power
    ("€5", "5", "equal"),  # currency
    ("√12", r"2\sqrt{3}", "equal"),  # without brackets it covers the number
    ("2pi", r"2\pi", "equal"),  # a name without its backslash
    ("sin x", r"\sin x", "equal"),  # likewise
    ("2**3", "8", "equal"),  # a power, not bold
    ("10 000", "10,000", "equal"),  # a digit group
    (r"5^{\text{th}}", "5", "equal"),  # an ordinal
    (r"{5 \choose 2}", "10", "equal"),  # plain TeX
    (r"\dbinom52", "10", "equal"),  # without braces
    ("√(2)", r"\sqrt2", "equal"),  # brackets for braces
    (r"\varnothing", r"\{\}", "equal"),  # the empty set
    (r"n\equiv 1\pmod 3", r"n \equiv 1 \pmod{3}", "equal"),  # residues
    (r"+\infty", r"\infty", "equal"),  # a sign that says nothing
    (r"\text{No}", r"\text{no}", "equal"),  # a short word
    # both signs, anywhere
    ("±2", "2, -2", "equal"),  # the character
    (r"1\pm\sqrt2", r"1+\sqrt2, 1-\sqrt2", "equal"),  # in a sum
    (r"\frac{1\pm\sqrt5}{2}", r"\frac{1+\sqrt5}{2},\frac{1-\sqrt5}{2}", "equal"),  # in a fraction
    (r"\pm1,\pm2", "1, -1, 2, -2", "equal"),  # in a list
    (r"\{\pm1\}", "1, -1", "equal"),  # in braces
    (r"1\pm\sqrt2", r"1+\sqrt2", "different"),  # one of two
    # readings that are not the only one
    (r"3/4\pi", r"\frac{3\pi}{4}", "unchecked"),  # or three over four pi
    (r"\frac{\pi}{6}", r"30^\circ", "unchecked"),  # radians and degrees
    (r"30^\circ 30'", "30.5", "unchecked"),  # minutes of arc
    (r"0.333\ldots", r"\frac13", "unchecked"),  # dots
    (r"\sqrt2", "1.41421356", "unchecked"),  # a rounding, however long
    ("1,5", "1.5", "unchecked"),  # a decimal comma, or a list
    ("1, 234", "1234", "unchecked"),  # a digit group, or a list
    ("1,2", "12.5", "different"),  # neither reading fits
    (r"\ln 2", r"\log 2", "unchecked"),  # to what base?
    (r"\sin 30", r"\sin 30^\circ", "unchecked"),  # of what unit?
    ("6!!", "48", "unchecked"),  # a double factorial
    ("3 4", "34", "unchecked"),  # two numbers, or one
    ("3 x 4", "12", "unchecked"),  # a product, or a size
    ("IV", "4", "unchecked"),  # a Roman numeral, or a product
    ("3 > x > 1", "1 < x < 3", "unchecked"),  # math-verify does not turn it round
    ("C(5,2)", "10", "unchecked"),  # a coefficient, or coordinates
    ("f(2)", "5", "unchecked"),  # a value that is not given
    (r"1 \pmod{3}", "1", "unchecked"),  # a class and a number
    ("1A_{16}", "26", "unchecked"),  # another base
    (r"\emptyset", "0", "unchecked"),  # no solution, or the solution 0
    (r"\{\emptyset\}", r"\emptyset", "unchecked"),  # one element and none
    (r"\{x: x>1\}", r"(1,\infty)", "unchecked"),  # a set by a property
    ("x<1 or x>2", r"(-\infty,1)\cup(2,\infty)", "unchecked"),  # a list of two ranges
    (r"\infty", r"-\infty", "different"),  # signs
    # equations
    ("5 = x", "5", "equal"),  # the value stands first
    ("12 = 3x", "12", "unchecked"),  # no value of x
    ("x+y=3", "3", "unchecked"),  # no value of anything
    ("y=2x+1", "2x-y+1=0", "unchecked"),  # two forms of a line
    # nothing can be said
    (r"\text{none of these}", r"\text{None of these}", "equal"),  # the same words
    (r"\text{YES}", r"\text{NO}", "unchecked"),  # words are not compared, in capitals neither
    ("-1", r"e^{i\pi}", "unchecked"),  # i may be the unit or an unknown
    (r"\overline{AB}", "AB", "unchecked"),  # an accent may mean something
    (r"\text{Tuesday}", r"\text{Friday}", "unchecked"),  # words are not compared
    ("41", r"\frac{x}{", "unchecked"),  # no LaTeX
    ("41", "", "unchecked"),  # nothing
]


@pytest.mark.parametrize(("reference", "candidate", "outcome"), COMPARED)
def test_compare(reference, candidate, outcome):
    assert compare_answers(reference, candidate, OPTIONS) == outcome


@pytest.mark.parametrize(
    ("reference", "candidate", "outcome"),
    [
        ("41", "B", "unchecked"),  # never the variable B
        ("B", "B", "equal"),  # the same letter
        ("B", "C", "different"),  # two letters
        (r"\textbf{(B)}\ 41", "B", "equal"),  # by the letter
        ("(B) 41", "(C) 41", "unchecked"),  # letter and value contradict each other
        ("(B) 41", "(B) 42", "unchecked"),  # likewise
        ("(B) 41", "42", "different"),  # by the value
        (r"P(A) = \frac{1}{2}", "0.5", "equal"),  # A is no option here
    ],
)
def test_compare_without_options(reference, candidate, outcome):
    assert compare_answers(reference, candidate) == outcome


def test_options_that_are_letters():
    options = {"A": "B", "B": "A", "C": "D", "D": "C"}
    assert compare_answers("(A) B", "B", options) == "unchecked"  # the option B, or the value B?


def test_comparison_is_symmetric():
    for first, second, outcome in COMPARED:
        assert compare_answers(second, first, OPTIONS) == outcome, (first, second)


def test_same_result_in_any_thread():
    pairs = [(r"\frac{3}{8}", "0.375"), (r"2\sqrt{2}", r"\sqrt{8}"), (r"\sqrt{2}", r"\sqrt{3}")] * 4
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda pair: compare_answers(*pair), pairs)) == ["equal", "equal", "different"] * 4


TOWER = "10^{(7^{7^{7^{7}}}-4)}"


def test_worker_survives_time_outs_and_interrupts():
    worker = Worker()
    assert worker.compare("x+1", "1+x", Budget()) == "equal"
    first, begun, budget = worker._process, time.monotonic(), Budget(0.5)
    assert worker.compare(TOWER, "41", budget) == "unchecked"
    assert time.monotonic() - begun < 5
    assert first.poll() is not None  # really ended, not left to run
    assert worker.compare("x", "2", budget) == "unchecked"  # nothing left of this question's time
    assert worker.compare("x+1", "1+x", Budget()) == "equal"

    ask = worker._ask

    def interrupted(question, limit_seconds):
        if question:
            worker._process.stdin.write(question + "\n")
            worker._process.stdin.flush()
        raise KeyboardInterrupt

    worker._ask = interrupted
    with pytest.raises(KeyboardInterrupt):
        worker.compare("x+1", "1+x", Budget())
    worker._ask = ask
    assert worker.compare("x", "y", Budget()) == "different"  # not the answer to the interrupted question
    worker.close()


def test_worker_that_cannot_start(monkeypatch):
    monkeypatch.setattr(symbolic.sys, "executable", "/bin/true")
    with pytest.raises(symbolic.KitError, match="math-verify"):
        Worker().compare("x", "y", Budget())


SCRIPT = """
import sys
sys.path.append({root!r})
print("main")
from creativemath_utils.equality import WORKER, compare_answers
print(compare_answers("x+1", "1+x"), "sympy" in sys.modules, WORKER._process.pid)
"""


def test_script_without_main_guard(tmp_path, request):
    """The worker does not run the caller's script, SymPy stays out of the caller's process, nothing outlives it."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(root=str(request.config.rootpath)))
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    *said, pid = done.stdout.split()
    assert said == ["main", "equal", "False"], done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


def test_no_thread_is_left_behind():
    compare_answers("x+1", "1+x")
    assert not [
        t for t in threading.enumerate() if isinstance(t, threading.Timer) and t.is_alive() and not t.finished.is_set()
    ]


def test_tower_of_powers_is_unchecked(monkeypatch, capfd):
    monkeypatch.setattr(equality, "Budget", lambda: Budget(0.5))
    assert compare_answers("41", rf"\boxed{{{TOWER}}}") == "unchecked"
    assert compare_answers("41", "41") == "equal"
    assert capfd.readouterr() == ("", "")
