"""Reasoning is kept apart from the answer, in whatever way a model marks it."""

from __future__ import annotations

import pytest

from creativemath_utils.reasoning import split_reasoning, without_reasoning


@pytest.mark.parametrize(
    ("text", "opened", "expected"),
    [
        ("4", False, ("4", None)),
        ("<think>2 + 2</think>\n\n4", False, ("4", "2 + 2")),
        ("<think>\n\n</think>\n\n4", False, ("4", "")),  # thinking switched off
        ("<think>2 + 2 is", False, ("", "2 + 2 is")),  # cut off while thinking
        ("2 + 2</think>4", True, ("4", "2 + 2")),  # the template opened the block
        ("2 + 2</think>4", False, ("4", "2 + 2")),  # so it did here, unbeknown to us
        ("2 + 2 is", True, ("", "2 + 2 is")),
        ("<think>2 + 2</think>4", True, ("4", "2 + 2")),  # opened once more by the model
        ("<think>a</think>b<think>c</think>d", False, ("bd", "a\n\nc")),
        ("x <think>a</think>b", False, ("x b", "a")),
        ("<THINK>a</THINK>b", False, ("b", "a")),
        ("<thought>a</thought>b", False, ("b", "a")),
        ("[think]a[/think]b", False, ("b", "a")),
        ("if a < think > b", False, ("if a < think > b", None)),  # no tag
        ("", False, ("", None)),
    ],
)
def test_split_reasoning(text, opened, expected):
    assert split_reasoning(text, opened) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think>YES</think>NO", "\nNO"),
        ("YES</think>NO", "NO"),
        ("NO<think>YES", "NO"),
        ("<think>YES", ""),
    ],
)
def test_a_verdict_is_sought_outside_of_reasoning_alone(text, expected):
    assert without_reasoning(text) == expected
