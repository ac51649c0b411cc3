r"""Commentary marked by a model: it names the sentences, and code decides which of them may go.

With `commentary: <model>` in a profile a model takes the place of the rules of talk in `clean`. It never writes what
judges see: it can only name sentences of the answer, letter for letter. One is refused, and counted, if it is not in
the text, is no whole sentence, could be a step (mathematics, an inference, a figure, code, a table, a quotation), or
would leave nothing. Nothing is guessed at. Where a reply is no list, the rules do the work. Paper, Section 4.2.

    >>> marking = cut_marked("My way is the best. Let $x = 2$.", ["My way is the best.", "Let $x = 2$.", "It is."])
    >>> marking.solution, marking.removed, marking.refused
    ('Let $x = 2$.', ('My way is the best.',), ('a step', 'not in the text'))
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from creativemath_utils.clean import Sentence, cut, protected_spans, sentences_of, strip_commentary
from creativemath_utils.commentary import may_be_a_step
from creativemath_utils.parsing import CUT_OFF
from creativemath_utils.profile import Profile
from creativemath_utils.prompts import render
from creativemath_utils.reasoning import without_reasoning
from creativemath_utils.records import Request, Response, user_message

REFUSALS = ("not in the text", "stands more than once", "no whole sentence", "a step", "would leave nothing")


class Marking(NamedTuple):
    """What judges see of an answer, what was cut, and why marked sentences were refused, one of REFUSALS for each.

    `marked` is False where the model's reply was no list and the rules were used.
    """

    solution: str
    removed: tuple[str, ...]
    refused: tuple[str, ...] = ()
    marked: bool = True


def wants_marking(response: Response) -> bool:
    """Whether there is an answer to mark."""
    return response.status in ("ok", "truncated") and bool(response.text.strip())


def marking_request(answer: Response, about: str, generator: str, profile: Profile) -> Request:
    """The call that asks `profile.commentary` for the talk in an answer; kept in the ledger of the answer itself."""
    model = profile.model(profile.commentary)
    return Request(
        model=model.name,
        identity=model.identity(),
        messages=user_message(render("commentary", answer=answer.text), model.system),
        decoding=profile.decoding_of(model.name),
        slots={"about": f"commentary of {generator}, {about}"},
        ledger=f"generate.{generator}",
    )


def read_marking(text: str, reply: Response) -> Marking:
    """What a model's reply makes of an answer's text. The rules where it is no list, was cut off, or there is none."""
    cut_off = reply.status != "ok" or (reply.finish_reason or "").lower() in CUT_OFF
    spans = None if cut_off else marked_spans(reply.text)
    if spans is None:
        solution, removed = strip_commentary(text)
        return Marking(solution, tuple(removed), marked=False)
    return cut_marked(text, spans)


def marked_spans(reply: str) -> list[str] | None:
    """The last JSON list of strings in a reply, or None where there is none. What reasoning holds does not count."""
    reply = without_reasoning(reply)
    # A model that copies a formula forgets to double its backslashes.
    reply = re.sub(r'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})', r"\\\\", reply)
    decoder, found, at = json.JSONDecoder(strict=False), None, 0
    for bracket in re.finditer(r"\[(?=\s*[\]\"])", reply):
        if bracket.start() < at:
            continue
        try:
            value, at = decoder.raw_decode(reply, bracket.start())
        except json.JSONDecodeError:
            continue
        if all(isinstance(item, str) for item in value):
            found = value
    return found


def cut_marked(text: str, spans: Sequence[str]) -> Marking:
    """`text` without the marked sentences that may go; the white space at each cut is tidied as by the rules."""
    sentences = sentences_of(text)
    begins = {sentence.start: i for i, sentence in enumerate(sentences)}
    ends = {sentence.end: i for i, sentence in enumerate(sentences)}
    protected = [*protected_spans(text)]
    goes = [False] * len(sentences)
    refused: list[str] = []
    wanted = Counter(stripped for span in spans if (stripped := span.strip()))
    for span, times in wanted.items():
        places = [match.start() for match in re.finditer(re.escape(span), text)]
        # The numbers of the sentences that it is made of at each place; none where it cuts through one.
        inside = [range(begins.get(at, 0), ends.get(at + len(span), -1) + 1 if at in begins else 0) for at in places]
        if not places:
            why = "not in the text"
        elif len(places) > times:
            why = "stands more than once"
        elif not all(inside):
            why = "no whole sentence"
        elif any(_may_not_go(text, sentences[i], protected) for found in inside for i in found):
            why = "a step"
        else:
            for i in (i for found in inside for i in found):
                goes[i] = True
            continue
        refused += [why] * times
    solution, removed = cut(text, sentences, goes)
    if any(goes) and not removed:
        refused += ["would leave nothing"] * sum(goes)
    return Marking(solution, tuple(removed), tuple(refused))


def _may_not_go(text: str, sentence: Sentence, protected: Sequence[tuple[int, int]]) -> bool:
    touched = any(start < sentence.end and sentence.start < end for start, end in protected)
    return touched or may_be_a_step(text[sentence.start : sentence.end])


def summary(markings: Iterable[Marking]) -> str:
    """One line: how many answers, sentences cut, sentences refused and why, and answers that the rules cleaned."""
    markings = list(markings)
    refused = Counter(why for marking in markings for why in marking.refused)
    by_rules = sum(not marking.marked for marking in markings)
    reasons = ", ".join(f"{refused[why]} {why}" for why in REFUSALS if refused[why])
    return (
        f"commentary marked in {len(markings) - by_rules} of {len(markings)} answers"
        f"{f', the rules in {by_rules} without a readable list' if by_rules else ''}: "
        f"{sum(len(marking.removed) for marking in markings if marking.marked)} passages cut, "
        f"{refused.total()} refused{f' ({reasons})' if reasons else ''}"
    )
