"""What a generator is asked, and what becomes of its answers. No model: `complete` is a stub that records."""

import pytest

from creativemath_utils.generate import generate_solutions, generation_request
from creativemath_utils.models import Model
from creativemath_utils.profile import Corpus, Profile
from creativemath_utils.records import Problem, Response, Sample, samples_of

PROBLEM = Problem("p", "IMO", "i", 2020, 1, None, None, "Is $x<y$?", ("First.", "Second.", "Third."))


def profile(**models):
    table = {name: Model(name=name, backend="api", id=f"id of {name}", **about) for name, about in models.items()}
    return Profile(run="r", corpus=Corpus(source="demo"), generators=[*table], judges=["j"]).model_copy(
        update={"table": table}
    )


def stub(answer):
    """A `complete` that answers with `answer(request)`, and the list of what it was asked."""
    asked = []

    def complete(requests):
        asked.extend(requests)
        return [answer(request) for request in requests]

    return complete, asked


def test_the_prompt_shows_the_first_k_solutions():
    request = generation_request(Sample(PROBLEM, 2), "a", profile(a={}))
    (message,) = request.messages
    assert message["role"] == "user"
    assert message["content"].endswith(
        "Given the following mathematical problem:\nIs $x<y$?\n\nAnd some typical solutions:\n"
        "Solution 1:\nFirst.\n\nSolution 2:\nSecond.\n\n"
        "Please output a novel solution distinct from the given ones for this math problem."
    )
    assert request.ledger == "generate.a"
    assert "p, k = 2" in request.slots["about"]


@pytest.mark.parametrize("system, roles", [(None, ["user"]), ("", ["user"]), ("Be brief.", ["system", "user"])])
def test_a_models_own_system_prompt_is_sent(system, roles):
    messages = generation_request(Sample(PROBLEM, 1), "a", profile(a={"system": system})).messages
    assert [message["role"] for message in messages] == roles


def test_a_models_own_decoding_wins():
    asked = profile(a={}, b={"decoding": {"max_new_tokens": 8192}})
    decodings = [generation_request(Sample(PROBLEM, 1), name, asked).decoding for name in "ab"]
    assert decodings == [{"max_new_tokens": 1024, "temperature": 0}, {"max_new_tokens": 8192, "temperature": 0}]


def test_each_generator_is_asked_once_a_sample_in_one_go():
    calls = []

    def complete(requests):
        calls.append(len(requests))
        return [Response.answer(request, f"{request.model} {request.slots['about']}") for request in requests]

    solutions = generate_solutions(samples_of([PROBLEM]), ["a", "b"], profile(a={}, b={}), complete)
    assert calls == [6]  # all generators at once: their calls overlap
    assert {name: [(s.generator, s.k, s.n, s.text) for s in own] for name, own in solutions.items()} == {
        name: [(name, k, 3, f"{name} p, k = {k}") for k in (1, 2, 3)] for name in "ab"
    }


def test_only_the_named_generators_are_asked():
    complete, asked = stub(lambda request: Response.answer(request, "x"))
    assert list(generate_solutions([Sample(PROBLEM, 1)], ["b"], profile(a={}, b={}), complete)) == ["b"]
    assert [request.model for request in asked] == ["b"]


@pytest.mark.parametrize(
    "answer, status, text",
    [
        (lambda r: Response.answer(r, "It is 2."), "ok", "It is 2."),
        (lambda r: Response.answer(r, "Let x", status="truncated", finish_reason="length"), "truncated", "Let x"),
        (lambda r: Response.answer(r, "", status="blocked"), "blocked", ""),
        (lambda r: Response.answer(r, "I cannot.", status="refused"), "refused", "I cannot."),
        (lambda r: Response.failure(r, "timed out"), "failed", ""),
        (
            lambda r: Response.answer(r, "", reasoning="Let x = 2", status="truncated"),
            "truncated",
            "",
        ),  # never the text
    ],
)
def test_the_status_of_an_answer_is_kept(answer, status, text):
    complete, asked = stub(answer)
    (solution,) = generate_solutions([Sample(PROBLEM, 1)], ["a"], profile(a={}), complete)["a"]
    assert (solution.status, solution.text, solution.key) == (status, text, asked[0].key)


def test_the_text_is_kept_as_written_and_the_talk_is_set_apart():
    text = "Here is a novel solution, distinct from the given ones:\n\nLet $a<b$.\r\nThen\u2028$a^2<b^2$."
    complete, _ = stub(lambda request: Response.answer(request, text))
    (solution,) = generate_solutions([Sample(PROBLEM, 1)], ["a"], profile(a={}), complete)["a"]
    assert solution.text == text
    assert solution.solution in text and solution.solution.startswith("Let $a<b$.")
    assert "Here is a novel solution" in "".join(solution.removed)
