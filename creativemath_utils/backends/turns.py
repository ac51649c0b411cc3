r"""The same texts for a model that takes fewer roles: one rule for endpoints and for local templates.

>>> merge_turns(fold_system([{"role": "system", "content": "Be brief."}, {"role": "user", "content": "2 + 2?"}]))
[{'role': 'user', 'content': 'Be brief.\\n\\n2 + 2?'}]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def fold_system(turns: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The turns with all system text at the head of the first user turn, a blank line between."""
    system = [turn["content"] for turn in turns if turn["role"] == "system"]
    rest = [dict(turn) for turn in turns if turn["role"] != "system"]
    first = next((turn for turn in rest if turn["role"] == "user"), None)
    if first is None:
        return [{"role": "user", "content": "\n\n".join(system)}, *rest]
    first["content"] = "\n\n".join([*system, first["content"]])
    return rest


def merge_turns(turns: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The turns with neighbours of the same role joined, a blank line between."""
    merged: list[dict[str, str]] = []
    for turn in turns:
        if merged and merged[-1]["role"] == turn["role"]:
            merged[-1]["content"] += "\n\n" + turn["content"]
        else:
            merged.append(dict(turn))
    return merged
