"""Many prompts through one model at once: which go together, and the decoding itself.

Rows of a batch are padded on the left, so that every prompt ends where its answer begins. Decoding runs through
transformers' own `generate`, a few steps at a time: between two spells, rows that have ended leave the batch with
their part of the cache, and a run that is no longer wanted ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from inspect import signature
from typing import Any

import torch
from transformers import (
    LogitsProcessor,
    LogitsProcessorList,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from creativemath_utils.backends.cache import give_room
from creativemath_utils.backends.encoding import Prompt
from creativemath_utils.models import nearest
from creativemath_utils.records import KitError, Request, Response

STEPS = 32  # tokens between two looks at the batch: rows leave soon enough, and a spell costs little beside its steps
_NEVER = torch.iinfo(torch.long).max


class Stopped(Exception):
    """Decoding was given up because nobody waits for its answers any more."""


@dataclass(frozen=True)
class Decoding:
    """How tokens are chosen. Temperature 0 is greedy, and then `top_p` and `top_k` say nothing."""

    max_new_tokens: int = 1024
    temperature: float = 0.0
    top_p: float | None = None
    top_k: int | None = None

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> Decoding:
        """From the decoding of a request, whose `seed` is no concern here. Raises KitError that names the key."""
        known = {f.name for f in fields(cls)} | {"seed"}
        for name in settings:
            if name not in known:
                raise KitError(f"decoding key {name!r} is unknown to a local model; {nearest(name, known)}")
        values = {name: value for name, value in settings.items() if name != "seed" and value is not None}
        decoding = cls(**values)
        ranges = {
            "max_new_tokens": ("a whole number from 1", lambda x: _whole(x) and x >= 1),
            "temperature": ("a number from 0", lambda x: _number(x) and x >= 0),
            "top_p": ("a number above 0 and up to 1", lambda x: x is None or (_number(x) and 0 < x <= 1)),
            "top_k": ("a whole number from 1", lambda x: x is None or (_whole(x) and x >= 1)),
        }
        for name, (expected, fits) in ranges.items():
            if not fits(getattr(decoding, name)):
                raise KitError(f"decoding key {name!r} must be {expected}, found {getattr(decoding, name)!r}")
        return decoding


@dataclass(frozen=True, eq=False)
class Call:
    """A request ready for the model."""

    request: Request
    prompt: Prompt
    decoding: Decoding

    @property
    def tokens(self) -> int:
        """Most tokens that the call can take: prompt and answer."""
        return len(self.prompt.ids) + self.decoding.max_new_tokens

    @property
    def seed(self) -> int:
        """Seed of a sampled answer: of the request's key, and so of its `seed` and sample number, of nothing else."""
        return int(self.request.key[:15], 16)


@dataclass
class Row:
    """What the model wrote for a call: ids without the end token, and how it came to a stop."""

    ids: list[int] = field(default_factory=list)
    ended: bool = False  # by an end token, not by the limit
    finite: bool = True  # False: NaN or infinite logits, and the ids mean nothing
    steps: int = 0  # tokens generated, the end token among them

    def answers(self, text: str, reasoning: str | None) -> bool:
        """Whether its text and reasoning are worth an answer: not where it has ended without a word."""
        return self.finite and not (self.ended and not text.strip() and reasoning is None)


def check_length(call: Call, window: int) -> None:
    """Raises KitError where prompt and answer together could pass the window, or there is no prompt."""
    prompt, new = len(call.prompt.ids), call.decoding.max_new_tokens
    if not prompt:
        raise KitError("the prompt is empty: nothing to continue")
    if call.tokens > window:
        raise KitError(
            f"prompt of {prompt:,} tokens and {new:,} new ones exceed the window of {window:,}; lower "
            f"max_new_tokens or select.max_prompt_tokens, or raise `window` if the model was trained for more"
        )


def too_large(call: Call) -> Response:
    """The response to a call for which memory ran out though it was alone."""
    return Response.failure(
        call.request,
        f"out of memory for a single call of {call.tokens:,} tokens; lower max_new_tokens, or use a smaller dtype, "
        "quantization: 4bit, or more GPUs",
    )


def respond(call: Call, row: Row, text: str, reasoning: str | None, about: Mapping[str, Any]) -> Response:
    """The response to a call; `about` is what was really used."""
    return Response.answer(
        call.request,
        text,
        status="ok" if row.ended else "truncated",
        reasoning=reasoning,
        finish_reason="stop" if row.ended else "length",
        usage={"input_tokens": len(call.prompt.ids), "output_tokens": row.steps},
        settings_used=about,
    )


def next_batch(calls: Sequence[Call], rows: int, budget: int | None = None) -> list[Call]:
    """The calls to run next: from the longest prompt down, decoded alike, at most `rows`.

    `budget` is the most tokens that the padded batch may take, prompts and answers together; one call always goes.
    """
    ordered = sorted(calls, key=lambda call: len(call.prompt.ids), reverse=True)
    if not ordered:
        return []
    longest = ordered[0]
    if budget is not None:
        rows = min(rows, budget // longest.tokens)
    return [call for call in ordered if call.decoding == longest.decoding][: max(rows, 1)]


def token_budget(config: Any, free_bytes: int, bytes_per_value: int) -> int:
    """Tokens whose keys and values fit in half of `free_bytes`; the other half is for activations.

    `config` is a text model's. An upper bound on the need: layers with a sliding window take less, and a model without
    attention has no keys and values: what it keeps of a row does not grow.
    """
    heads = getattr(config, "num_key_value_heads", None) or getattr(config, "num_attention_heads", None)
    if heads is None:
        return _NEVER
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return int(free_bytes // 2) // (2 * config.num_hidden_layers * heads * width * bytes_per_value)


@torch.inference_mode()
def decode(model: Any, calls: Sequence[Call], end_ids: Sequence[int], stopped: Callable[[], bool]) -> list[Row]:
    """What the model writes for each call, in order. All calls are decoded alike (see `next_batch`).

    `model.generation_config` holds the end tokens and a pad token. Raises Stopped once `stopped()` is true, and
    torch.OutOfMemoryError.
    """
    device = model.get_input_embeddings().weight.device
    prompts = [call.prompt.ids for call in calls]
    width = max(map(len, prompts))
    # A row is padded with its own first token. The mask hides it from attention, and to a repetition penalty, which
    # looks at ids and not at the mask, it is no news; a pad token that is also an end token would be.
    ids = torch.tensor([[p[0]] * (width - len(p)) + p for p in prompts], device=device)
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=device)
    generators = [torch.Generator().manual_seed(call.seed) for call in calls]
    rows = [Row() for _ in calls]
    active = list(range(len(calls)))
    cache: dict[str, Any] = {}
    resumes = "past_key_values" in signature(model.forward).parameters  # recurrent models read all anew at each spell
    left = calls[0].decoding.max_new_tokens
    spell = 1  # the first token fills the cache, which then gets room to grow
    while active and left > 0:
        if stopped():
            raise Stopped
        watch = _FiniteWatch(len(active), device)
        out = model.generate(
            ids,
            attention_mask=mask,
            max_new_tokens=min(spell, left),
            logits_processor=_processors(watch, calls[0].decoding, [generators[row] for row in active]),
            return_dict_in_generate=True,
            **cache,
        )
        spell = STEPS
        written = out.sequences[:, ids.shape[1] :]
        left -= written.shape[1]
        going = []
        for place, (tokens, bad_step) in enumerate(zip(written.tolist(), watch.bad_step.tolist(), strict=True)):
            row = rows[active[place]]
            end = next((at for at, token in enumerate(tokens) if token in end_ids), None)
            row.ids += tokens[:end]
            row.ended = end is not None
            taken = len(tokens) if end is None else end + 1
            row.steps += taken
            row.finite = bad_step >= taken
            if row.finite and not row.ended:
                going.append(place)
        ids = out.sequences
        mask = torch.cat([mask, mask.new_ones(written.shape)], dim=1)
        past = out.past_key_values if resumes else None
        give_room(past)
        if len(going) < len(active):
            keep = torch.tensor(going, dtype=torch.long, device=device)
            ids, mask, active = ids[keep], mask[keep], [active[place] for place in going]
            if past is not None and going:
                # Selects rows, whatever kind of layers the cache has; `batch_select_indices` leaves recurrent ones out.
                past.reorder_cache(keep)
        cache = {"past_key_values": past} if past is not None else {}
    return rows


def _processors(watch: LogitsProcessor, decoding: Decoding, generators: list[torch.Generator]) -> LogitsProcessorList:
    """The watch first, then, for sampling, the cut of the distribution and the draw."""
    chain = LogitsProcessorList([watch])
    if decoding.temperature > 0:
        chain.append(TemperatureLogitsWarper(float(decoding.temperature)))
        if decoding.top_k is not None:
            chain.append(TopKLogitsWarper(decoding.top_k))
        if decoding.top_p is not None and decoding.top_p < 1:
            chain.append(TopPLogitsWarper(float(decoding.top_p)))
        chain.append(_SeededDraw(generators))
    return chain


class _FiniteWatch(LogitsProcessor):
    """Notes the first step at which a row's logits hold NaN or infinity, or nothing finite, and lets the rest go on."""

    def __init__(self, rows: int, device: torch.device) -> None:
        self.bad_step = torch.full((rows,), _NEVER, device=device)
        self.step = 0

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        bad = scores.isnan().any(-1) | scores.isposinf().any(-1) | scores.isneginf().all(-1)
        self.bad_step = torch.where(bad, self.bad_step.clamp(max=self.step), self.bad_step)
        self.step += 1
        return scores.masked_fill(bad[:, None], 0.0)


class _SeededDraw(LogitsProcessor):
    """Draws each row's token by the row's own generator, so that the neighbours in a batch have no say in it.

    Leaves the drawn token as the only possible one, which `generate` then takes as the greatest.
    """

    def __init__(self, generators: list[torch.Generator]) -> None:
        self.generators = generators

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        draws = torch.stack([torch.rand(1, generator=g, dtype=torch.float64) for g in self.generators])
        cumulative = scores.double().softmax(-1).cumsum(-1)
        targets = draws.to(scores.device) * cumulative[:, -1:]
        drawn = torch.searchsorted(cumulative, targets, right=True).clamp(max=scores.shape[-1] - 1)
        return torch.full_like(scores, float("-inf")).scatter(1, drawn, 0.0)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
