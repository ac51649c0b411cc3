"""The `rules` judge: no language model, but two rules that can be read. A baseline, not a careful reader.

Correctness: the candidate's final answer is equal to that of a reference. It does not look at the way there.
Novelty: the candidate's wording is not that of any reference. A known method in new words passes for novel, so its
YES is worth little; its NO says that the text is an edited copy.

The answer is a text like any judge's, with the verdict on the last line, or without one where the rules cannot tell.
**Whenever a rule here, in `answers`, `notation`, `symbolic`, `equality` or `reasoning` changes what is answered, raise
the `revision` of the model `rules` in the table of models: it is part of the key under which an answer is kept.**
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Sequence

from creativemath_utils.answers import final_answer, options_of
from creativemath_utils.equality import compare_answers
from creativemath_utils.models import Model
from creativemath_utils.records import KitError, Request, Response
from creativemath_utils.symbolic import WORKER

# From this likeness on a solution counts as known. Set where it errs least both ways: of 532 ordered pairs of human
# solutions of one problem (the paper's published subset) 0.8 % reach it; of 602 solutions edited by program there fail
# to reach it 0.2 % with other words, 1 % with other letters as well, 9 % with the sentences reordered on top.
LIKENESS_THRESHOLD = 0.35
# A reference shorter than this many word triples is too easily covered by chance.
LEAST_TRIPLES = 12

NOVELTY_STAGES = ("coarse", "fine", "pair")

_DRESS = re.compile(
    r"\\(?:qquad|quad|left|right|[Bb]igg?[lr]?|displaystyle|textstyle|text|textbf|mathrm|mathbf|boxed|fbox)(?![A-Za-z])"
    r"|\\(?:begin|end)\s*\{[^{}]*\}|\\[\s,;:!()\[\]\\]|[$~&{}]"
)
_TOKEN = re.compile(r"\\[a-z]+|[^\W\d_]+|\d+|[^\s\w.,;:!?'\"*`#]")


def tokens_of(text: str) -> list[str]:
    r"""Words, numbers, commands and signs in lower case, without LaTeX spacing, delimiters, fonts and punctuation.

    >>> tokens_of(r"Thus $x\,=\,\dfrac{1}{2}$.")
    ['thus', 'x', '=', '\\frac', '1', '2']
    """
    return _TOKEN.findall(_DRESS.sub(" ", re.sub(r"\\[dtc]frac(?![A-Za-z])", r"\\frac", text)).lower())


def likeness(candidate: str, reference: str, statement: str = "") -> float | None:
    """How much of the shorter text's wording is in the other one, 0..1: the overlap coefficient of token triples.

    Triples that the problem's statement holds are left out, as every solution repeats them. An excerpt, a padded and a
    reordered copy are as alike as the copy itself. None where the candidate has no triple of its own, or the reference
    is blank.
    """
    given = _triples(statement)
    ours, theirs = _triples(candidate) - given, _triples(reference) - given
    if not ours or not tokens_of(reference):
        return None
    return len(ours & theirs) / min(len(ours), max(len(theirs), LEAST_TRIPLES))


def _triples(text: str) -> set[tuple[str, ...]]:
    tokens = tokens_of(text)
    return set(zip(tokens, tokens[1:], tokens[2:], strict=False))


def judge_correctness(statement: str, references: Sequence[str], candidate: str) -> str:
    """The reply on correctness: YES if the candidate's final answer is equal to a reference's, NO if it differs.

    No verdict where the candidate or every reference states no final answer, or where equality is unchecked: such a
    candidate is not known to be wrong. Raises KitError if the math-verify process cannot start.
    """
    answer = final_answer(candidate)
    if answer is None:
        return "The candidate states no final answer that the rules can find; no verdict."
    stated = [(number, final_answer(text)) for number, text in enumerate(references, start=1)]
    options = options_of(statement)
    lines, outcomes = [f"The candidate states {_quoted(answer)}."], set()
    for number, expected in stated:
        if expected is None:
            lines.append(f"Reference {number} states no final answer that the rules can find.")
            continue
        outcome = compare_answers(expected, answer, options)
        outcomes.add(outcome)
        lines.append(f"Reference {number} states {_quoted(expected)}: {outcome}.")
    if "equal" in outcomes:
        return "\n".join([*lines, "YES"])
    if outcomes == {"different"}:
        return "\n".join([*lines, "NO"])
    return "\n".join([*lines, "Equality could not be checked; no verdict."])


def judge_novelty(statement: str, references: Sequence[str], candidate: str) -> str:
    """The reply on novelty: NO if the candidate is as like a reference as LIKENESS_THRESHOLD or more, else YES.

    No verdict where there is nothing to compare.
    """
    values = [(likeness(candidate, text, statement), number) for number, text in enumerate(references, start=1)]
    known = [(value, number) for value, number in values if value is not None]
    if not known:
        return "The candidate or the reference has no wording of its own to compare; no verdict."
    value, number = max(known, key=lambda pair: (pair[0], -pair[1]))
    verdict = "NO" if value >= LIKENESS_THRESHOLD else "YES"
    return f"Likeness {value:.2f} to reference {number}; known from {LIKENESS_THRESHOLD:.2f} on.\n{verdict}"


def _quoted(answer: str) -> str:
    """An answer in code marks, on one line, such that nothing in it can be read as this judge's own verdict."""
    answer = re.sub(r"\s+", " ", re.sub(r"</?\w+>|\|", " ", answer.replace("`", "'").replace('"', "'"))).strip()
    return f"`{answer[:200]}{'…' if len(answer) > 200 else ''}`"


class RulesBackend:
    """Answers judging requests from their slots: `stage`, `problem` (the statement), `references` and `solution`."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def missing(self) -> list[str]:
        """Nothing: the rules need no key, weights or GPU."""
        return []

    async def preflight(self) -> None:
        """Nothing to try."""

    async def answers(self, requests: Iterable[Request]) -> AsyncIterator[Response]:
        """One response a request, in order, each computed in a thread so that the event loop is free."""
        for request in requests:
            text = await asyncio.to_thread(self._reply, request)
            yield Response.answer(request, text, finish_reason="stop")

    async def close(self) -> None:
        """End the math-verify process; a later comparison starts a new one."""
        await asyncio.to_thread(WORKER.close)

    def _reply(self, request: Request) -> str:
        try:
            stage, statement, references, candidate = (
                request.slots[name] for name in ("stage", "problem", "references", "solution")
            )
        except KeyError as slot:
            raise KitError(
                f"judge {self.model.name!r}: the request has no slot {slot}; the rules judge answers judging requests "
                "only and cannot be a generator"
            ) from None
        if stage == "correctness":
            return judge_correctness(statement, references, candidate)
        if stage in NOVELTY_STAGES:
            return judge_novelty(statement, references, candidate)
        raise KitError(
            f"judge {self.model.name!r}: unknown stage {stage!r}; known: correctness, {', '.join(NOVELTY_STAGES)}"
        )
