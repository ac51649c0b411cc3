"""The prompts of the experiment: `render(name, **slots)` over the texts in `prompts/*.txt`.

A prompt file opens with comment lines that say where its text is from; the prompt begins below the line `---`. The
paper's strings are constants of the experiment: nothing here edits them.

    >>> render("correctness", problem="1 + 1?", solutions=numbered(["2."]), new_solution="Two.").splitlines()[1]
    '1 + 1?'
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib import resources

from creativemath_utils.records import KitError

SLOT = re.compile(r"\{([a-z ]+)\}")


@cache
def template(name: str) -> str:
    """The text of a prompt file, below its comment."""
    file = resources.files("creativemath_utils").joinpath("prompts", f"{name}.txt")
    if not file.is_file():
        raise KitError(f"no prompt named {name!r} in creativemath_utils/prompts")
    _, _, text = file.read_text("utf-8").partition("\n---\n")
    return text.rstrip("\n")


def render(name: str, **slots: str) -> str:
    """The prompt `name` with its slots filled; `{new solution}` is filled by `new_solution`.

    Each slot is filled once and what goes in is never read again, so braces in a solution stay as they are. Raises
    TypeError for a missing or an unknown slot: that is a fault of the caller, not of a person's input.
    """
    text = template(name)
    names = {slot.replace(" ", "_") for slot in SLOT.findall(text)}
    if names != set(slots):
        raise TypeError(f"prompt {name!r} takes {sorted(names)}, was given {sorted(slots)}")
    return SLOT.sub(lambda match: slots[match.group(1).replace(" ", "_")], text)


def numbered(solutions: Sequence[str]) -> str:
    """Blocks `Solution 1:` newline text, an empty line between them, numbered from 1 within each prompt."""
    return "\n\n".join(f"Solution {number}:\n{text}" for number, text in enumerate(solutions, start=1))
