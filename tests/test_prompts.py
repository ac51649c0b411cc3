"""The prompts are constants of the experiment: held to the letter by the hash of the paper's text."""

import hashlib

import pytest

from creativemath_utils.prompts import numbered, render, template
from creativemath_utils.records import KitError

# SHA-256 of the strings as printed in the paper (Figures 4 and 5), without a line end after the last line.
PUBLISHED = {
    "generation": "b8731e94d846334149a754fb011cff8949cd4b77f9824aff57e31a166f246d2c",
    "correctness": "19c41ad64fc4e7852eee27adb1e9ff5c7d3a6de3b444369d33ef25ad9f7073fd",
    "novelty": "525a3d347c540fc3be288a509ddf5ba94234276242b07c798db27369160c8c06",
    "pair": "261deef488bdef886b61b923ab018eafe3792e027fef432d5c2a21bcf662f3f8",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_prompt_is_the_papers_to_the_letter(name):
    assert hashlib.sha256(template(name).encode("utf-8")).hexdigest() == PUBLISHED[name]


def test_generation_shows_the_problem_then_the_numbered_solutions():
    prompt = render("generation", problem="1 + 1?", solutions=numbered(["Two.", "It is 2."]))
    assert prompt.split("Given the following mathematical problem:\n")[1] == (
        "1 + 1?\n\nAnd some typical solutions:\nSolution 1:\nTwo.\n\nSolution 2:\nIt is 2.\n\n"
        "Please output a novel solution distinct from the given ones for this math problem."
    )


@pytest.mark.parametrize("name", ["correctness", "novelty"])
def test_the_judges_see_problem_references_and_the_new_solution(name):
    prompt = render(name, problem="P", solutions=numbered(["R"]), new_solution="S")
    assert "\nP\n\nReference solutions:\nSolution 1:\nR\n\nNew solution:\nS\n\nPlease output YES if the new " in prompt


def test_a_pair_is_asked_in_the_releases_form():
    prompt = render("pair", problem="P", solution="R", new_solution="S")
    assert "\nP\n\nReference solution:\nR\n\nNew solution:\nS\n\nPlease output YES if the new solution is a" in prompt
    assert "Solution 1" not in prompt


def test_but_for_the_heading_a_pair_has_the_novelty_prompt():
    assert template("pair") == template("novelty").replace(
        "Reference solutions:\n{solutions}", "Reference solution:\n{solution}"
    )


@pytest.mark.parametrize(
    "text",
    [
        r"$\frac{1}{2}$",
        "{solutions} and {new solution}",  # a slot's name inside a text is text
        r"\1 \g<0>",  # no replacement pattern
        "a\r\nb\u2028c\x00",
        "  spaces around \n",
    ],
)
def test_a_text_is_put_in_as_it_is_and_never_read_again(text):
    prompt = render("correctness", problem=text, solutions="R", new_solution=text)
    assert prompt.count(text) == 2
    assert prompt == template("correctness").split("{problem}")[0] + text + (
        f"\n\nReference solutions:\nR\n\nNew solution:\n{text}\n\nPlease output YES if the new solution leads to the "
        "same result as the reference solutions; otherwise, output NO."
    )


@pytest.mark.parametrize(
    "solutions, text",
    [
        ([], ""),
        (["a"], "Solution 1:\na"),
        (["a", "b"], "Solution 1:\na\n\nSolution 2:\nb"),
        (["a\n", "b"], "Solution 1:\na\n\n\nSolution 2:\nb"),  # a text keeps its own line ends
    ],
)
def test_solutions_are_numbered_from_one(solutions, text):
    assert numbered(solutions) == text


@pytest.mark.parametrize("slots", [{"problem": "P"}, {"problem": "P", "solutions": "S", "answer": "A"}])
def test_a_missing_or_unknown_slot_is_the_callers_fault(slots):
    with pytest.raises(TypeError, match="prompt 'generation' takes"):
        render("generation", **slots)


def test_an_unknown_prompt_is_named():
    with pytest.raises(KitError, match="no prompt named 'novel'"):
        render("novel")
