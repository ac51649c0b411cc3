"""Reasoning that a model wrote along with its answer: kept apart, and never taken for the answer or a verdict."""

from __future__ import annotations

import re

_TAG = r"(?:think|thinking|thought|thoughts|reasoning|analysis|scratchpad|reflection)"
_START = re.compile(rf"<{_TAG}>|\[think\]", re.IGNORECASE)
_END = re.compile(rf"(?:</{_TAG}>|\[/think\])\s*", re.IGNORECASE)
_BLOCK = re.compile(
    rf"(?:<(?P<tag>{_TAG})>(?P<thought>.*?)</(?P=tag)>|\[think\](?P<other>.*?)\[/think\])\s*", re.IGNORECASE | re.DOTALL
)


def split_reasoning(text: str, opened: bool = False) -> tuple[str, str | None]:
    """The answer without its `<think>` blocks, and the text of those blocks (None where there is none).

    A block that is never closed is all reasoning; one whose end alone is there began with the text, since some
    templates open the block in the prompt. `opened` says that the prompt did.

    >>> split_reasoning("<think>2 + 2</think>4")
    ('4', '2 + 2')
    """
    thoughts: list[str] = []
    start, end = _START.search(text), _END.search(text)
    if opened and start and start.start() == 0:  # the model opened it once more
        text = text[start.end() :]
        end = _END.search(text)
    if end and (opened or start is None or end.start() < start.start()):
        thoughts.append(text[: end.start()])
        text = text[end.end() :]
    elif opened:
        return "", text.strip()
    thoughts += [block["thought"] or block["other"] or "" for block in _BLOCK.finditer(text)]
    answer = _BLOCK.sub("", text)
    if unclosed := _START.search(answer):
        thoughts.append(answer[unclosed.end() :])
        answer = answer[: unclosed.start()]
    return answer, "\n\n".join(thought.strip() for thought in thoughts) if thoughts else None


def without_reasoning(text: str) -> str:
    """The text without its <think> blocks. One never closed runs to the end, one never opened begins with the text."""
    text = _BLOCK.sub("\n", text)
    *_, text = _END.split(text)
    return _START.split(text)[0]
