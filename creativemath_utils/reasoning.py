"""Reasoning that a model wrote along with its answer: kept apart, and never taken for the answer or a verdict."""

from __future__ import annotations

import re

# <think>, <seed:think>, <think type="deep">, <|thinking|>, <|begin_of_thought|>, ◁think▷, [THINK]; Gemma's
# unused tokens; Harmony's channels, of which the final one is the answer, with their marks or the words left of them.
_NAME = r"(?:think|thinking|thoughts?|reason|reasoning|analysis|scratchpad|reflection|cot|chain_of_thought)"
_START = re.compile(
    rf"<(?:\w+:)?{_NAME}(?:\s+\w+=[^<>]*)?\s*>|<\|(?:begin_of_)?{_NAME}\|>|◁{_NAME}▷|\[think\]|<unused94>thought\b"
    r"|<\|channel\|>(?:analysis|commentary)\b[^<]*<\|message\|>|\A\s*analysis(?=.*?assistantfinal)",
    re.IGNORECASE | re.DOTALL,
)
_END = re.compile(
    rf"(?:</(?:\w+:)?{_NAME}\s*>|<\|(?:/|end_of_){_NAME}\|>|◁/{_NAME}▷|\[/think\]|<unused95>"
    r"|<\|channel\|>final\b[^<]*<\|message\|>|assistantfinal)\s*",
    re.IGNORECASE,
)


def split_reasoning(text: str, opened: bool = False) -> tuple[str, str | None]:
    """The answer without its `<think>` blocks, and the text of those blocks (None where there is none).

    A block that is never closed is all reasoning; one whose end alone is there began with the text, since some
    templates open the block in the prompt. `opened` says that the prompt did.

    >>> split_reasoning("<think>2 + 2</think>4")
    ('4', '2 + 2')
    """
    if opened and not ((start := _START.search(text)) and start.start() == 0):  # else the model opened it once more
        end = _END.search(text)
        if end is None:
            return "", text.strip()
        answers, thoughts = _split(text[end.end() :])
        thoughts.insert(0, text[: end.start()])
    else:
        answers, thoughts = _split(text)
    return "".join(answers), "\n\n".join(thought.strip() for thought in thoughts) if thoughts else None


def without_reasoning(text: str) -> str:
    """The text without its <think> blocks. One never closed runs to the end, one never opened begins with the text."""
    return "\n".join(_split(text)[0])


def _split(text: str) -> tuple[list[str], list[str]]:
    """What stands outside of the blocks of reasoning, and what stands in them, each in order."""
    answers: list[str] = []
    thoughts: list[str] = []
    at = 0
    while mark := _START.search(text, at):
        answers.append(text[at : mark.start()])
        end = _END.search(text, mark.end())
        thoughts.append(text[mark.end() : end.start() if end else len(text)])
        if end is None:
            break
        at = end.end()
    else:
        answers.append(text[at:])
    for i, answer in enumerate(answers):  # an end without a beginning: all before it was reasoning
        if ends := [*_END.finditer(answer)]:
            thoughts.append("".join([*answers[:i], answer[: ends[-1].start()]]))
            answers = [answer[ends[-1].end() :], *answers[i + 1 :]]
            break
    return answers, thoughts
