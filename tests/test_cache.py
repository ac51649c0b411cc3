"""A cache layer with room to grow: the same keys and values as transformers' own, written in place."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from creativemath_utils.backends.cache import ROOM, RoomyLayer, give_room


def states(rows: int, tokens: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    draw = torch.Generator().manual_seed(seed)
    return tuple(torch.randn(rows, 2, tokens, 3, generator=draw) for _ in range(2))


@pytest.mark.parametrize(
    ("steps", "leave"),
    [
        (5, ()),  # within the room
        (ROOM + 7, ()),  # the room is made anew once
        (6, (3,)),  # rows 0 and 2 stay from the third step on
        (6, (1, 4)),  # and twice
        (0, ()),  # nothing is added
    ],
)
def test_the_same_as_the_layer_it_stands_for(steps, leave):
    theirs, start = DynamicLayer(), DynamicLayer()
    for layer in (theirs, start):
        layer.update(*states(3, 4, seed=0))
    ours, rows = RoomyLayer(start), 3
    for step in range(steps):
        if step in leave:
            keep = torch.tensor([0, rows - 1])
            rows = 2
            for layer in (theirs, ours):
                layer.reorder_cache(keep)
        new = states(rows, 1, seed=step + 1)
        for got, wanted in zip(ours.update(*new), theirs.update(*new), strict=True):
            assert torch.equal(got, wanted)
    assert torch.equal(ours.keys, theirs.keys) and ours.get_seq_length() == theirs.get_seq_length() == 4 + steps


def test_a_step_copies_nothing_that_was_there():
    layer = DynamicLayer()
    layer.update(*states(3, 4, seed=0))
    layer = RoomyLayer(layer)
    places = {tuple(part.data_ptr() for part in layer.update(*states(3, 1, seed))) for seed in range(ROOM)}
    assert len(places) == 1
    layer.update(*states(3, 2, seed=ROOM))
    assert layer.keys.data_ptr() not in {keys for keys, _ in places}  # now it has moved, with all that was there


def test_only_plain_layers_get_room():
    plain, sliding, empty = DynamicLayer(), DynamicSlidingWindowLayer(sliding_window=8), DynamicLayer()
    for layer in (plain, sliding):
        layer.update(*states(1, 2, seed=0))
    cache = SimpleNamespace(layers=[plain, sliding, empty])
    give_room(cache)
    assert [type(layer) for layer in cache.layers] == [RoomyLayer, DynamicSlidingWindowLayer, DynamicLayer]
    give_room(None)  # a model without a cache
