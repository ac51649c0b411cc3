"""Room to grow for the keys and values of a decoding batch.

transformers' own cache makes new tensors, with all that was there, at each step: for a batch of long prompts the copy
costs more than the step. Here a step writes its own keys and values behind the others, and only every so many steps the
room is made anew.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers.cache_utils import DynamicLayer

ROOM = 128  # tokens that a layer can take before it is copied again


class RoomyLayer(DynamicLayer):
    """A layer of a cache that stands for a DynamicLayer. `keys` and `values` are views of the part in use."""

    def __init__(self, layer: DynamicLayer) -> None:
        self.__dict__.update(vars(layer))
        self._rooms: dict[str, torch.Tensor] = {}

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The keys and values (rows × heads × tokens × width) with those of a step behind them."""
        self.keys = self._append("keys", self.keys, key_states)
        self.values = self._append("values", self.values, value_states)
        return self.keys, self.values

    def _append(self, name: str, kept: torch.Tensor, new: torch.Tensor) -> torch.Tensor:
        length = kept.shape[-2]
        needed = length + new.shape[-2]
        room = self._rooms.get(name)
        moved = room is None or kept.data_ptr() != room.data_ptr() or kept.shape[0] != room.shape[0]  # rows have left
        if moved or needed > room.shape[-2]:
            room = kept.new_empty((*kept.shape[:-2], needed + ROOM, kept.shape[-1]))
            room[..., :length, :] = kept
            self._rooms[name] = room
        room[..., length:needed, :] = new
        return room[..., :needed, :]


def give_room(cache: Any) -> None:
    """Let the plain layers of a filled cache grow in place. Layers of other kinds stay as they are."""
    layers = getattr(cache, "layers", [])
    for at, layer in enumerate(layers):
        if type(layer) is DynamicLayer and layer.is_initialized:
            layers[at] = RoomyLayer(layer)
