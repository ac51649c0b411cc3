"""Stage 2: a model sees a problem with its first k solutions and is asked for one unlike those. Paper, Section 4.1.

Greedy by default; the decoding, the system prompt and the rest are the profile's and the table's. What a model wrote is
kept as it wrote it; what the judges will see has the talk around the solution taken out (`clean.py`, or by the word of
a model `marked_commentary.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from creativemath_utils.clean import strip_commentary
from creativemath_utils.engine import Complete
from creativemath_utils.marked_commentary import Marking, marking_request, read_marking, summary, wants_marking
from creativemath_utils.profile import Profile
from creativemath_utils.prompts import numbered, render
from creativemath_utils.records import Edit, Request, Response, Sample, Solution, user_message
from creativemath_utils.review import cut_out


def generation_request(sample: Sample, generator: str, profile: Profile) -> Request:
    """The call that asks `generator` for a new solution to the sample's problem. Paper, Figure 4."""
    model = profile.model(generator)
    shown = sample.problem.solutions[: sample.k]
    prompt = render("generation", problem=sample.problem.statement, solutions=numbered(shown))
    return Request(
        model=generator,
        identity=model.identity(),
        messages=user_message(prompt, model.system),
        decoding=profile.decoding_of(generator),
        slots={"about": f"{sample.problem.problem_id}, k = {sample.k}"},
        ledger=f"generate.{generator}",
    )


def generate_solutions(
    samples: Sequence[Sample],
    generators: Sequence[str],
    profile: Profile,
    complete: Complete,
    edits: Mapping[str, Edit] | None = None,
) -> dict[str, list[Solution]]:
    """Each generator's solutions to all samples, in the samples' order. One call a sample and generator.

    `edits`, by the key of an answer, are a person's corrections of what judges see of it (`review.py`). With the
    profile's `commentary` a model is then asked, in a call an answer, which of the sentences of the others are talk.
    A call that failed for good gives a Solution of status `failed` with an empty text.
    """
    asked = [(name, sample) for name in generators for sample in samples]
    responses = complete([generation_request(sample, name, profile) for name, sample in asked])
    markings = mark_answers(asked, responses, profile, complete, edits)
    if markings:
        print(summary(markings.values()))
    solutions: dict[str, list[Solution]] = {name: [] for name in generators}
    for (name, sample), response in zip(asked, responses, strict=True):
        solutions[name].append(solution_from(sample, name, response, edits, markings.get(response.key)))
    return solutions


def mark_answers(
    asked: Sequence[tuple[str, Sample]],
    responses: Sequence[Response],
    profile: Profile,
    complete: Complete,
    edits: Mapping[str, Edit] | None = None,
) -> dict[str, Marking]:
    """By the key of an answer, what the profile's `commentary` model makes of it; {} where the profile names none.

    `asked` are generator and sample of each response. There is nothing to mark where a call failed, where an answer is
    empty, or where a person has said what judges see. The replies are kept in the generator's ledger, so that its
    solutions are written only when all are there.
    """
    if profile.commentary is None:
        return {}
    requests = {
        response.key: marking_request(response, f"{sample.problem.problem_id}, k = {sample.k}", name, profile)
        for (name, sample), response in zip(asked, responses, strict=True)
        if wants_marking(response) and response.key not in (edits or {})
    }
    texts = {response.key: response.text for response in responses}
    replies = complete(list(requests.values()))
    return {key: read_marking(texts[key], reply) for key, reply in zip(requests, replies, strict=True)}


def solution_from(
    sample: Sample,
    generator: str,
    response: Response,
    edits: Mapping[str, Edit] | None = None,
    marking: Marking | None = None,
) -> Solution:
    """The solution in a reply: the text as it came, and as the judges will see it."""
    if edits and response.key in edits:
        solution = edits[response.key].solution
        removed = cut_out(response.text, solution)
    elif marking is not None:
        solution, removed = marking.solution, marking.removed
    else:
        solution, removed = strip_commentary(response.text)
    return Solution(
        problem_id=sample.problem.problem_id,
        k=sample.k,
        n=sample.n,
        generator=generator,
        text=response.text,
        solution=solution,
        removed=tuple(removed),
        status=response.status,
        key=response.key,
    )
