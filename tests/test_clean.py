"""Commentary is cut, mathematics never. Each case names its reason."""

from __future__ import annotations

import random
import re
import time

import pytest

from creativemath_utils.clean import strip_commentary

STEP = "Let $x = 2$, so $x^2 = 4$."

# (answer with {} for the step, what is removed)
TALK = [
    # openings
    ("Sure! Here is a novel solution that differs from the given ones:\n\n{}", 2),  # interjection and introduction
    ("Certainly! Here's a novel solution to the problem:\n\n{}", 2),  # contraction
    ("Certainly! Here’s a new solution to the problem:\n\n{}", 2),  # typographic apostrophe
    ("Sure, here is a novel solution to the problem using the Law of Cosines:\n{}", 1),  # interjection in the sentence
    ("Of course! Let me provide a different approach.\n\n{}", 2),  # let me
    ("I will present a novel solution to this problem.\n{}", 1),  # first person
    ("To find a novel solution, we can use the concept of modular arithmetic.\n{}", 1),  # aim, then a generic plan
    ("To provide a novel solution to this problem, let's consider a different approach:\n{}", 1),  # plan with a colon
    ("Given the problem and the typical solutions, here is a novel solution:\n{}", 1),  # a clause before
    ("A novel solution to this problem is as follows:\n{}", 1),  # the solution as subject
    ("One possible novel solution is to use the Pythagorean theorem.\n{}", 1),  # names a method, does no step
    ("A different approach is to use complex numbers.\n{}", 1),  # a weak word, but nothing stands before it
    ("We can use a different approach to solve this problem.\n{}", 1),  # we can
    ("We approach the problem from a different angle.\n{}", 1),  # an angle that is no angle
    ("Here is a solution that is distinct from the given ones:\n{}", 1),  # the word for new after the noun
    ("Here's a distinct solution:\n{}", 1),  # weak word at the opening
    ("Let's solve this problem step by step.\n{}", 1),  # a courtesy, no claim
    ("Here is the step-by-step solution:\n{}", 1),  # likewise
    ("Okay, let's break it down step by step.\n{}", 1),  # likewise
    ("HERE IS A NOVEL SOLUTION:\n{}", 1),  # capitals are no names of figures here
    ("Here is a novel solution that differs\nfrom the given ones:\n{}", 1),  # one sentence on two lines
    ("Voilà! Here is a novel solution:\n{}", 1),  # an interjection that is not known stays, the rest goes
    ("Consider the following alternative approach:\n{}", 1),  # consider, with no object of mathematics
    # headings
    ("Method 3: A Novel Approach\n{}", 1),  # a label before the claim
    ("Novel Solution:\n{}", 1),  # plain
    ("**Novel Solution:**\n\n{}", 1),  # colon inside the bold
    ("**Novel Solution**:\n\n{}", 1),  # colon outside
    ("**A new approach**\n\n{}", 1),  # no colon
    ("### Novel Solution\n\n{}", 1),  # markdown
    ("## 2. A New Approach\n\n{}", 1),  # numbered and markdown
    ("1. Novel Solution:\n{}", 1),  # numbered
    ("Novel Solution 2:\n{}", 1),  # a number that is a label
    ("Solution 2 (Novel):\n{}", 1),  # the claim in brackets
    ("Alternative Method:\n{}", 1),  # other words for new
    ("New Solution:\n{}", 1),  # a weak word at the opening
    ("Novel Solution Using Coordinates:\n{}", 1),  # title and claim are one phrase
    ("---\n\n**Novel Solution**\n\n---\n\n{}", 3),  # rules beside talk go with it
    # claims of novelty
    ("{} This approach is novel because it avoids trigonometry.", 1),  # reason
    ("{}\n\nThis solution is distinct from the given ones because it uses a geometric argument.", 1),  # given ones
    ("{} This differs from the solutions above because it uses vectors.", 1),  # solutions above
    ("{}\n\nIn conclusion, this method provides a different perspective on the problem.", 1),  # closing phrase
    ("{} Therefore, this solution is novel.", 1),  # a therefore that infers nothing about the problem
    ("Unlike Solution 1, this approach does not use coordinates.\n{}", 1),  # a digit that is a label
    ("Unlike Solutions 1 and 2, this approach does not use coordinates.\n{}", 1),  # two of them
    ("{} Unlike the given solutions, which use algebra, this solution is geometric.", 1),  # relative clause
    ("{} While the given solutions use algebra, this solution uses geometry.", 1),  # concession
    ("{} Note that this method is different from the provided solutions, as it uses generating functions.", 1),  # as
    ("{} The key novelty of this approach lies in the use of symmetry.", 1),  # the novelty as subject
    ("{} It is distinct from the given solutions.", 1),  # it
    ("{} What makes this solution unique is the use of symmetry.", 1),  # what makes
    ("{} This sets it apart from the reference solutions.", 1),  # sets apart
    ("{} The main difference between this solution and the given ones is the use of symmetry.", 1),  # difference
    ("{}\n\n**Explanation:**\nThis solution is novel because it uses a different approach.", 2),  # orphaned heading
    ("{}\n\nThis solution is novel because:\n1. It uses coordinates.\n2. It avoids cases.", 3),  # with its list
    ("{}\n\n### Why this solution is novel\n\nIt uses vectors. This avoids cases.", 3),  # heading and its text
    ("{} This approach is different. {} This approach is novel.", 2),  # in the middle as well
    ("{} By using symmetry, this solution is different from the typical solutions.", 1),  # the means first
    ("{} This solution does not rely on the methods of the given solutions.", 1),  # what it does without
    ("{} This approach differs because it relies on symmetry rather than algebra.", 1),  # a plain `differs`
    ("{} The given solutions use algebra; this one uses geometry.", 1),  # the given ones as subject
    ("{} Both given solutions rely on factoring. My solution instead uses symmetry.", 2),  # in two sentences
    ("{} Compared to the given solutions, this is much shorter.", 1),  # a comparative
    ("{} Thus we have a new solution distinct from the given ones.", 1),  # told as a result
    ("{} According to the criteria, this solution can be considered distinct as it uses a geometric argument.", 1),
    ("{} This solution satisfies the criteria for novelty because it uses a different method.", 1),  # the criteria
    ("{} (This approach is novel because it avoids algebra.)", 1),  # in parentheses
    ("{}\n\n**Novelty:** The approach is distinct since it uses combinatorics.", 2),  # a label before the claim
    ("{}\n\n**Why this is different:** It does not use coordinates.", 2),  # a label that opens the argument
    ("{} This method is novel: it uses no algebra.", 1),  # what follows the colon is of the claim
    ("{} I have provided a novel solution that differs from the given ones.", 1),  # first person, looking back
    (
        "{} This solution counts the edges of a complete graph, making it distinct from the given solutions.",
        1,
    ),  # making
    # more openings
    ("To find how many boxes are large, we can use a different approach that involves algebra.\n{}", 1),  # aim first
    ("This problem can also be solved using the following approach:\n{}", 1),  # the problem as subject
    ("Here's a unique solution that involves algebra:\n{}", 1),  # unique, but nothing stands before it
    ("Let me try something different.\n{}", 1),  # no word for way
    ("As an alternative to the given solutions, consider the following approach.\n{}", 1),  # an imperative
    ("In this solution, we will use a novel approach.\n{}", 1),  # where it will be
    ("**Solution:** Here is a novel approach.\n{}", 1),  # a label before the introduction
    ("💡 **Novel Solution:**\n{}", 1),  # an emoji before the heading
    ("\ufeffHere\u00a0is a novel solution:\n{}", 1),  # a byte order mark, a space that does not break
    ("{}\nPlease output a novel solution distinct from the given ones for this math problem.\n{}", 1),  # the prompt
    ("{}\n\n### New Solution\n\n{}", 1),  # a heading with its mark is a heading anywhere
    ("{}\n\n**A Different Approach**\n\n{}", 1),  # likewise in bold, where no root can be meant
    ("{} Here is a different approach: {}", 1),  # likewise in a sentence
    # closings
    ("{}\n\nI hope this helps!", 1),  # courtesy
    ("{} By using vectors, we avoided lengthy computations.", 1),  # looking back
    ("{} This solution uses the average to relate the totals, a straightforward way.", 1),  # praise
    ("{} Let me know if you have any questions.", 1),  # courtesy
    ("{}\n\nThis method is elegant and avoids lengthy computation.", 1),  # praise, at the very end
]

UNTOUCHED = [
    # steps that begin or sound like talk
    "Here the triangle is right-angled, so the legs are perpendicular. Thus $a = 3$.",  # Here, but no introduction
    "Unlike Solution 1, we draw the altitude. Then $h = 3$.",  # a step behind a contrast
    "To find a novel solution, we can reflect the triangle.\nThen $h = 3$.",  # a step behind an aim
    "Let's use a different approach and reflect the triangle across its base.\nThen $h = 3$.",  # a step after `and`
    "The two roots are distinct. The solution is unique. So $x = 1$.",  # said of roots
    "The solution is unique because the function is increasing. So $x = 1$.",  # a reason, but of uniqueness
    "This solution is different from the previous one, so there are two. Then $x = 1$.",  # roots again
    "$x^2 = 4$. Here is another solution: $x = -2$.",  # another root
    "$x = 1$. We find another solution by symmetry. $x = 2$",  # another root
    "$x = 1$. Unlike the other solutions, this solution is negative. $y = 2$",  # another root
    "$x = 1$. While the two solutions are real, the solution must be positive. $y = 2$",  # roots
    "$x = 1$. This makes the digits distinct. This makes the signs alternate. $y = 2$",  # distinct, alternate
    "$x = 1$. This approach is different for each case. $y = 2$",  # about cases
    "$x = 1$. The method gives a different value. $y = 2$",  # about a value
    "$x = 1$. Use a new angle. $y = 2$",  # an angle that is one
    "$x = 1$. Suppose this solution is distinct from the given ones. $y = 2$",  # an assumption
    "$x = 1$. Consider a new triangle formed by the midpoints. $y = 2$",  # new, but no way of solving
    "$x = 1$. A novel idea is to reflect the path across the line. $y = 2$",  # novel, and yet a step
    "$x = 1$. Let us find a different way to group the terms. $y = 2$",  # a step
    "$x = 1$. This strategy wins because it uses parity. $y = 2$",  # a strategy in a game
    "The base is fixed. This is an alternative form of the equation.",  # an alternative, but no way of solving
    "The base is fixed. This is a novel.",  # a book
    "The base is fixed. A different way to seat the guests is to start with the host.",  # a way to seat
    "A different way to seat the guests is to start with the host.",  # also at the beginning
    "The base is fixed. This strategy is different from the previous strategy.",  # in a game
    "The map is injective. What makes this number unique is its prime factorization.",  # of a number
    "The map is injective. This makes the solution unique.",  # of roots
    "The map is injective. The solution is unique because the equation does not involve squares.",  # of roots
    "This sets the two points three units apart. They stay there.",  # apart, but in space
    "This distinguishes the positive root from the other solutions. It stays.",  # of roots
    "Both cases close. This solution provides the maximum.",  # praise would be of the method
    "Both cases close. This solution avoids all forbidden squares.",  # a check
    "Both cases close. This solution uses every tile exactly once.",  # a check
    "Both cases close. This solution simplifies to the golden ratio.",  # an expression
    "Both cases close. This solution demonstrates that the bound is sharp.",  # a proof
    "Yes. The number is even.",  # the answer
    "Distinct solutions: one and two.",  # a list of roots
    "Here is another solution of the equation: the negative root.",  # a root, at the beginning
    "Here’s a novel approach — let’s reflect the triangle.\nIt is a rhombus.",  # goes on to act
    "Let's take a different approach, noticing that the sum telescopes.\nIt is small.",  # likewise
    "Here is a novel solution in which the triangle is reflected.\nIt is a rhombus.",  # likewise
    "A new idea is to mark the midpoint.\nIt is fixed.",  # likewise
    # arguments that also do mathematics
    "The base is fixed. This approach is different since the altitude bisects the base, so the legs agree.",
    "The base is fixed. This approach is novel because the triangle is isosceles.",
    "The base is fixed. This approach is novel because we reflect the triangle and obtain a parallelogram.",
    "The base is fixed. Unlike the given solutions, this approach starts by reflecting the triangle.",
    "The base is fixed. Unlike the first method, this method gives an upper bound.",
    "The base is fixed. While the given methods count pairs, our method counts triples, which halves the total.",
    "The base is fixed. This novel approach counts each pair twice.",
    "The base is fixed. This approach is novel, and yields that the area is seven.",
    "The base is fixed. Note that this is different from the given solution, because now the point lies outside.",
    "This approach is novel because:\n1. It uses symmetry.\n2. It follows that the triangle is isosceles.",
    # talk that holds mathematics
    "This approach is novel because it uses $x + y$.\nThen $x = 1$.",  # formula
    r"This approach is novel because it uses \(x\)." + "\nThen $x = 1$.",  # formula, other delimiters
    "This approach is novel because it uses x.\nThen x is even.",  # bare variable
    "This approach is novel because it takes 3 steps.\nThen $x = 1$.",  # digit
    "This approach is novel because it reflects ABC.\nThen $x = 1$.",  # figure
    "This approach is novel because it uses the angle α.\nThen $x = 1$.",  # Greek
    "This approach is novel because it uses x².\nThen $x = 1$.",  # power
    "This approach is novel because it uses a ≤ b.\nThen $x = 1$.",  # relation
    "This solution is novel because:\n1. It uses $x$.\n2. It avoids cases.",  # one item holds a formula: all stay
    # code and display formulas
    "```\n# Here is a novel solution:\nx = 1\n```\nSo $x = 1$.",  # fence
    "$x = 1$\n```\n# I hope this helps!\n",  # fence that is never closed
    "$x = 1$\n\\[\n\\text{This approach is novel.}\n\\]",  # display
    "\\begin{align}\nx &= 1\\\\\n\\text{Novel Solution:}\n\\end{align}",  # environment
    "\\begin{a}\n\\begin{b}\n1\n\\end{b}\nNovel Solution:\n\\end{a}\n2",  # nested environments
    "$x = 1\nNovel Solution:\n+ 2$ is odd.",  # an inline formula on three lines
    "$$\nx = 1\n\nThis approach is novel.\n$$\nBoth.",  # a blank line within a display
    "````\n```\n1\n```\nNovel Solution:\n````\nBoth.",  # a fence within a longer one
    "Run it.\n\n    # Here is a novel solution:\n    x = 1",  # code by its indent
    "Run `a. This approach is novel. b` now.",  # code in a line
    # tables and quotations
    "| a | b |\n|---|---|\n| Fine. This approach is novel. Done. | 1 |",  # a cell
    "a | b\n--- | ---\nFine. This approach is novel. Done. | 1",  # without bars at the sides
    "> **Problem.** Here is a novel solution: find it.\n> This approach is novel.\n\nIt is 1.",  # a quoted problem
    "It says “Start. This approach is novel. Stop.” and no more.",  # quoted words
    'It says "Start. This approach is novel. Stop." and no more.',  # with straight marks
    "It is 1. (This method is different from the given ones. It is short, as x = 1.)",  # half a parenthesis
    # other languages
    "¡Claro! Aquí tienes una solución novedosa: es 1.",
    "Ein neuer Lösungsweg: Das Dreieck ist gleichschenklig.",
    "这是一个新的解法：设边长为 1。",
    # titles that inform
    "Solution using coordinates:\nLet $x = 1$.",  # claims nothing
    "Solution 3:\nLet $x = 1$.",  # a number alone
    "**Step 1:** Let $x = 1$.",  # a step
    # nothing to do
    "",  # empty
    " \n\t",  # blank
    "Let $x = 1$.  \n\n\n",  # white space stays where nothing is cut
    "设 x = 1。 Así, el área es doble. Ответ: 2.",  # other languages
    # nothing would be left
    "Sure! Here is a novel solution.",  # only talk
    "Certainly! **Novel Solution:**\n\n---\n...",  # talk and signs
]

EXACT = [
    ("It is $a$. ∎ This approach is novel.", "It is $a$. ∎"),  # behind the sign that ends a proof
    ("$a$.\n\n### Novelty of the approach\nThis approach is novel.\n\n### Answer\n$b$.", "$a$.\n\n### Answer\n$b$."),
    (
        "$a$.\n\n**Key differences from the given solutions:**\n- Uses vectors.\n\n**Answer:** $b$",
        "$a$.\n\n**Answer:** $b$",
    ),
    ("The angle is right. Here is a novel approach: let a:b = 2:3.", "The angle is right. let a:b = 2:3."),  # inside
    ("Sure!\n\n    x = 1\n    y = 2", "    x = 1\n    y = 2"),  # code by its indent keeps it
    ("$a$.\r\n\r\nThis approach differs because it uses symmetry.\r\n", "$a$."),  # CRLF at the end
    ("Here is a novel approach: let a:b = 2:3, so a = 2k.", "let a:b = 2:3, so a = 2k."),  # talk up to the colon only
    ("### Novel Solution: Using Vectors\nLet $x$.", "### Using Vectors\nLet $x$."),  # the title stays with its mark
    ("**Novel Solution: Using Vectors**\nLet $x$.", "**Using Vectors**\nLet $x$."),  # and inside its bold
    ("**Novel Solution:** Let $x$.", "Let $x$."),  # the bold goes with the claim
    ("1. New approach: let $x$.", "1. let $x$."),  # the number of a list stays with its item
    ("$a$. This approach is novel. $b$.", "$a$. $b$."),  # one space
    ("$a$.\n\nThis approach is novel.\n\n$b$.", "$a$.\n\n$b$."),  # one blank line
    ("$a$.\nThis approach is novel.\n$b$.", "$a$.\n$b$."),  # no blank line where there was none
    ("\n\nSure!\n\n  $a$.\n\n", "$a$."),  # both ends
    ("$a$.\n\nThis approach is novel.\n    $b$.", "$a$.\n\n    $b$."),  # the indent of a line that stays
    ("Novel solution:\r\n\r\n$a$.\r\nThis approach is novel.\r\n$b$.\r\n", "$a$.\r\n$b$."),  # CRLF
    ("Novel solution:\u2028$a$.\u2028This approach is novel.\u2028$b$.", "$a$.\u2028$b$."),  # line separator
    ("Solução: é fácil, $a$. This approach is novel. Größe $b$.", "Solução: é fácil, $a$. Größe $b$."),  # letters
    ("It costs \\$5.\n\nThis approach is novel.\n\nIt costs $6.", "It costs \\$5.\n\nIt costs $6."),  # prices
    ("It costs $5.\n\nThis approach is novel.\n\nIt costs $6.", "It costs $5.\n\nIt costs $6."),  # no formula between
    ("this line\nNovel solution:\nruns on", "this line\nNovel solution:\nruns on"),  # would join its neighbours: stays
]


@pytest.mark.parametrize(("template", "count"), TALK)
def test_talk_goes_and_the_step_stays(template, count):
    text = template.replace("{}", STEP)
    solution, removed = strip_commentary(text)
    assert len(removed) == count
    kept = ["Voilà!"] if "Voilà" in template else []
    assert solution.split() == " ".join(kept + [STEP] * template.count("{}")).split()


@pytest.mark.parametrize("text", UNTOUCHED)
def test_in_doubt_the_text_stays_byte_for_byte(text):
    assert strip_commentary(text) == (text, [])


@pytest.mark.parametrize(("text", "solution"), EXACT)
def test_what_is_left_and_its_white_space(text, solution):
    assert strip_commentary(text)[0] == solution


def test_what_was_removed_is_told_in_the_words_of_the_answer():
    text = "Sure! Here is a novel approach: let $x$.\n\n**This method is novel.**\nI hope this helps!"
    assert strip_commentary(text)[1] == [
        "Sure!",
        "Here is a novel approach:",
        "**This method is novel.**",
        "I hope this helps!",
    ]


PIECES = [  # glued at random: talk, steps, marks and torn delimiters
    *(template.replace("{}", "").strip() for template, _ in TALK),
    *("$x = 1$", r"\[y\]", r"\(z\)", "$$w$$", "```\ncode\n```", r"\begin{a}b\end{a}", "then it follows", "Let us see."),
    *(
        "$",
        r"\[",
        "```",
        "**",
        "###",
        "1.",
        "-",
        ":",
        "we",
        "---",
        "This",
        "novel",
        "so a = 2k.",
        "$5",
        "é",
        "解。",
        "n!",
    ),
]
FORMULA = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$|\\\[.+?\\\]|\\\(.+?\\\)", re.DOTALL)


def _letters(text):
    return len("".join(text.split()))


def _glued(rng, pieces):
    gaps = [" ", " ", " ", "\n", "\n", "\n\n", "\r\n", "\u2028", ""]
    return "".join(rng.choice(pieces) + rng.choice(gaps) for _ in range(rng.randrange(1, 12)))


@pytest.mark.parametrize("seed", range(8))
def test_any_text_keeps_all_but_what_is_listed_and_a_second_pass_finds_nothing(seed):
    rng = random.Random(seed)
    for _ in range(250):
        text = _glued(rng, PIECES)
        solution, removed = strip_commentary(text)
        assert strip_commentary(solution)[0] == solution, text
        rest, at = [], 0
        for span in removed:
            found = text.index(span, at)  # in order; raises where it is no substring
            rest.append(text[at:found])
            at = found + len(span)
        rest.append(text[at:])
        same = "".join(rest).split() == solution.split()
        # a span may occur in what stays, too, before its place: then the counts must agree
        assert same or _letters(solution) == _letters(text) - sum(map(_letters, removed)), text
        assert not any(sign in span for span in removed for sign in ("$", "\\", "=", "`")), text


@pytest.mark.parametrize("seed", range(4))
def test_every_formula_survives_in_order(seed):
    rng = random.Random(100 + seed)
    whole = [piece for piece in PIECES if piece not in ("$", r"\[", "```", "$5")]  # no torn delimiters
    for _ in range(250):
        text = _glued(rng, whole)
        assert FORMULA.findall(strip_commentary(text)[0]) == FORMULA.findall(text)


@pytest.mark.parametrize(
    "piece", ["Here is a novel approach: ", "$", "(", "\\(", "\\begin{", "Sure! ", ".", "a\n", "* "]
)
def test_time_is_linear_in_the_length(piece):
    def seconds(length):  # of the processor: other work on the machine does not count
        start = time.process_time()
        strip_commentary(piece * (length // len(piece)))
        return time.process_time() - start

    short = min(seconds(10_000) for _ in range(3))
    assert seconds(80_000) < 40 * short + 0.5  # 8 times as long; a quadratic rule would take 64 times as long
