"""Models on this machine, through Hugging Face transformers: hub names, local folders, GGUF files.

Nothing is loaded before the first request, and what would stop a load is said before it. Batches are filled from the
longest prompt down; in float32 an answer is the same, to the character, alone and in a batch. A sampled answer follows
from its request alone. All work on the model runs in one thread, so that the event loop stays free.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any

from creativemath_utils.backends.loading import (
    end_token_ids,
    free_bytes,
    free_gpu_gib,
    from_pretrained,
    load_network,
    load_tokenizer,
    memory_gib,
    missing_for,
)
from creativemath_utils.models import Model
from creativemath_utils.reasoning import split_reasoning
from creativemath_utils.records import KitError, Request, Response, user_message

if TYPE_CHECKING:  # torch takes seconds to import: only where a model is really used
    from creativemath_utils.backends.batching import Call, Row

__all__ = ["LocalBackend", "free_gpu_gib", "memory_gib"]

log = logging.getLogger(__name__)

POOL = 16  # batches' worth of requests looked at together when a batch is filled
KEPT = ("repetition_penalty", "no_repeat_ngram_size", "suppress_tokens", "bad_words_ids")  # a model's own advice


class LocalBackend:
    """A Backend on transformers for one model of the table.

    Of `generation_config.json` only the penalties in KEPT are used, beside the end tokens; how tokens are chosen is
    the request's `decoding` (max_new_tokens, temperature, top_p, top_k, seed) alone.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.rows = model.batch_size  # halved for good when memory runs out
        self.budget: int | None = None
        self.network: Any = None
        self.window: int | None = model.window
        self.end_ids: list[int] = []
        self._tokenizer: Any = None
        self._encoder: Any = None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"model-{model.name}")
        self._running: set[threading.Event] = set()

    def missing(self) -> list[str]:
        """What stands in the way of loading the model: one line each, with the remedy. Downloads and loads nothing."""
        return missing_for(self.model)

    async def preflight(self) -> None:
        """Load the tokenizer and render one message. Raises KitError with the cause and the remedy."""
        await self._in_worker(lambda: self._load_encoder().encode(user_message("2 + 2?")))

    async def answers(self, requests: Iterable[Request]) -> AsyncIterator[Response]:
        """A response for each request, batch by batch. Requests are taken in pools and run longest first."""
        from creativemath_utils.backends.batching import next_batch

        stop = threading.Event()
        self._running.add(stop)
        source, waiting = iter(requests), []
        try:
            while True:
                taken = list(islice(source, POOL * self.model.batch_size - len(waiting)))
                if not taken and not waiting:
                    return
                if taken:
                    calls, refused = await self._in_worker(self._prepare, taken)
                    waiting += calls
                    for response in refused:
                        yield response
                if batch := next_batch(waiting, self.rows, self.budget):
                    waiting = [call for call in waiting if call not in batch]
                    responses, again = await self._in_worker(self._answer, batch, stop.is_set)
                    waiting += again
                    for response in responses:
                        yield response
        finally:
            stop.set()
            self._running.discard(stop)

    async def close(self) -> None:
        """Stop what runs, and let go of the model and its memory."""
        for stop in self._running:
            stop.set()
        await self._in_worker(self._release)
        self._worker.shutdown(wait=False)

    async def _in_worker(self, work: Callable[..., Any], *arguments: Any) -> Any:
        return await asyncio.get_running_loop().run_in_executor(self._worker, work, *arguments)

    # In the worker thread from here on.

    def _load_encoder(self) -> Any:
        """The tokenizer with its template, loaded once."""
        if self._encoder is None:
            if lines := self.missing():
                raise KitError(f"model {self.model.name}: {'; '.join(lines)}")
            from creativemath_utils.backends.encoding import PromptEncoder

            self._tokenizer = from_pretrained(self.model, load_tokenizer)
            self._encoder = PromptEncoder(self._tokenizer, self.model)
        return self._encoder

    def _load(self) -> None:
        """The model itself, loaded once, with its end tokens, window and token budget."""
        if self.network is not None:
            return
        from transformers import GenerationConfig

        from creativemath_utils.backends.batching import token_budget

        self._load_encoder()
        network = from_pretrained(self.model, load_network)
        config, own = network.config.get_text_config(), network.generation_config
        self.end_ids = end_token_ids(self.model, self._tokenizer, own.eos_token_id, config.eos_token_id)
        self.window = (
            self.window or getattr(config, "max_position_embeddings", None) or self._tokenizer.model_max_length
        )
        pad = self._tokenizer.pad_token_id
        if pad is None:  # only fills up rows that have ended; any token will do
            pad = self.end_ids[0] if self.end_ids else 0
        kept = {name: value for name in KEPT if (value := getattr(own, name, None)) is not None}
        network.generation_config = GenerationConfig(eos_token_id=self.end_ids or None, pad_token_id=pad, **kept)
        device = network.get_input_embeddings().weight.device
        self.budget = token_budget(config, free_bytes(device), network.dtype.itemsize)
        self._about = {
            "dtype": str(network.dtype).removeprefix("torch."),
            "device": str(device),
            "end_token_ids": self.end_ids,
            **{name: value for name, value in kept.items() if value not in (1.0, 0)},
        }
        places = {str(place) for place in (getattr(network, "hf_device_map", None) or {}).values()}
        if len(places) > 1 and places & {"cpu", "disk"}:
            log.warning(
                "model %s does not fit on the GPUs: parts of it are on %s, which is slow", self.model.name, places
            )
        self.network = network

    def _prepare(self, requests: list[Request]) -> tuple[list[Call], list[Response]]:
        """The calls that can be made, and a failed response for each that cannot."""
        from jinja2.exceptions import TemplateError

        from creativemath_utils.backends.batching import Call, Decoding

        self._load()
        calls, refused = [], []
        for request in requests:
            try:
                call = Call(request, self._encoder.encode(request.messages), Decoding.read(request.decoding))
                self._check_length(call)
                calls.append(call)
            except KitError as error:
                refused.append(Response.failure(request, str(error)))
            except TemplateError as error:
                roles = [turn["role"] for turn in request.messages]
                refused.append(Response.failure(request, f"the chat template refuses turns {roles}: {error}"))
        return calls, refused

    def _check_length(self, call: Call) -> None:
        """Raises KitError where prompt and answer together could pass the window, or there is no prompt."""
        prompt, new = len(call.prompt.ids), call.decoding.max_new_tokens
        if not prompt:
            raise KitError("the prompt is empty: nothing to continue")
        if call.tokens > self.window:
            raise KitError(
                f"prompt of {prompt:,} tokens and {new:,} new ones exceed the window of {self.window:,}; lower "
                f"max_new_tokens or select.max_prompt_tokens, or raise `window` if the model was trained for more"
            )

    def _answer(self, batch: list[Call], stopped: Callable[[], bool]) -> tuple[list[Response], list[Call]]:
        """The responses to a batch, and the calls to try again since memory ran out."""
        rows = self._decode(batch, stopped)
        if rows is None:
            if len(batch) > 1:
                self.rows = len(batch) // 2
                log.warning("model %s: out of memory at batch size %d; now %d", self.model.name, len(batch), self.rows)
                return [], batch
            return [Response.failure(batch[0].request, self._too_large(batch[0]))], []
        return [self._respond(call, row, len(batch), stopped) for call, row in zip(batch, rows, strict=True)], []

    def _decode(self, batch: list[Call], stopped: Callable[[], bool]) -> list[Row] | None:
        """What the model writes, or None where memory ran out."""
        import torch
        from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size

        from creativemath_utils.backends.batching import decode

        try:
            return decode(self.network, batch, self.end_ids, stopped)
        except RuntimeError as error:
            if not isinstance(error, torch.OutOfMemoryError) and not should_reduce_batch_size(error):
                raise
        # Here, outside the handler: the error's traceback would keep the batch's tensors alive.
        clear_device_cache(garbage_collection=True)
        return None

    def _respond(self, call: Call, row: Row, batch_size: int, stopped: Callable[[], bool]) -> Response:
        """The response that a row amounts to. A faulty row is decoded once more, alone, before it counts as failed."""
        about = {**self._about, "batch_size": batch_size, **call.prompt.notes}
        if call.decoding.temperature > 0:
            about["seed"] = call.seed
        text, reasoning = self._read(call, row)
        if not row.finite or (row.ended and not text.strip() and reasoning is None):
            log.warning("model %s: a row without an answer is redone alone", self.model.name)
            alone = self._decode([call], stopped)
            if alone is None:
                return Response.failure(call.request, self._too_large(call))
            row = alone[0]
            about |= {"batch_size": 1, "redone_alone": True}
            text, reasoning = self._read(call, row)
        if not row.finite:
            return Response.failure(
                call.request, f"NaN or infinite logits, twice, in {about['dtype']}; try another dtype, such as float32"
            )
        if row.ended and not text.strip() and reasoning is None:
            return Response.failure(
                call.request, "the model wrote nothing, twice; check interface, add_generation_prompt and end_tokens"
            )
        return Response.answer(
            call.request,
            text,
            status="ok" if row.ended else "truncated",
            reasoning=reasoning,
            finish_reason="stop" if row.ended else "length",
            usage={"input_tokens": len(call.prompt.ids), "output_tokens": row.steps},
            settings_used=about,
        )

    def _read(self, call: Call, row: Row) -> tuple[str, str | None]:
        """Text and reasoning of a row: cut off by ids, never by characters."""
        text = self._tokenizer.decode(row.ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return split_reasoning(text, call.prompt.opens_reasoning)

    def _too_large(self, call: Call) -> str:
        return (
            f"out of memory for a single call of {call.tokens:,} tokens; lower max_new_tokens, or use a smaller dtype, "
            "quantization: 4bit, or more GPUs"
        )

    def _release(self) -> None:
        if self.network is not None:
            from accelerate.utils.memory import clear_device_cache

            self.network = None
            clear_device_cache(garbage_collection=True)
        self._encoder = self._tokenizer = None
