"""Models on this machine, through Hugging Face transformers: hub names, local folders, GGUF files.

Nothing is loaded before the first request, and what would stop a load is said before it. Batches are filled from the
longest prompt down; in float32 an answer is the same, to the character, alone and in a batch. A sampled answer follows
from its request alone. All work on the model runs in one thread, so that the event loop stays free.

Greedy calls can also go through transformers' continuous batching (`continuous`). The model's `continuous` says
whether: true, false, or, by default, on a GPU where a trial on calls of the run itself finds it faster. Where it cannot
start or breaks off, one line says why, and the batches above do the rest.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from creativemath_utils.backends.loading import (
    Loaded,
    free_gpu_gib,
    from_pretrained,
    load_network,
    load_tokenizer,
    memory_gib,
    missing_for,
    set_up,
)
from creativemath_utils.models import Model
from creativemath_utils.reasoning import split_reasoning
from creativemath_utils.records import KitError, Request, Response, user_message

if TYPE_CHECKING:  # torch takes seconds to import: only where a model is really used
    from creativemath_utils.backends.batching import Call, Row

__all__ = ["LocalBackend", "free_gpu_gib", "memory_gib"]

log = logging.getLogger(__name__)

Deliver = Callable[[Response], None]
Work = Callable[[list["Call"], Callable[[], bool], Deliver], list["Call"]]


class LocalBackend:
    """A Backend on transformers for one model of the table.

    Of `generation_config.json` only the penalties in loading.KEPT are used, beside the end tokens; how tokens are
    chosen is the request's `decoding` (max_new_tokens, temperature, top_p, top_k, seed) alone.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.rows = model.batch_size  # halved for good when memory runs out
        self.continuous = model.continuous  # None until it has been tried; False where something rules it out
        self.loaded: Loaded | None = None
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
        """A response for each request: first for those that cannot be asked, then batch by batch, longest first."""
        stop = threading.Event()
        self._running.add(stop)
        tried: set[Call] = set()
        try:
            taken = list(requests)
            waiting, refused = await self._in_worker(self._prepare, taken) if taken else ([], [])
            if refused:
                some = f"{len(refused)} of {len(refused) + len(waiting)} calls cannot be asked as they are"
                log.warning("model %s: %s, the first: %s", self.model.name, some, refused[0].error)
            for response in refused:
                yield response
            while waiting:
                work, calls = self._next(waiting, tried)
                begun = set(calls)
                waiting = [call for call in waiting if call not in begun]
                async for response in self._stream(work, calls, stop, waiting):
                    yield response
        finally:
            stop.set()
            self._running.discard(stop)

    def _next(self, waiting: list[Call], tried: set[Call]) -> tuple[Work, list[Call]]:
        """What to do next, and with which calls. `tried` are those that continuous batching has had."""
        from creativemath_utils.backends.batching import next_batch
        from creativemath_utils.backends.continuous import trial_calls

        greedy = [call for call in waiting if call.decoding.temperature == 0 and call not in tried]
        if self.continuous and greedy:
            tried.update(greedy)
            return self._answer_continuously, greedy
        if self.continuous is None and (calls := trial_calls(greedy, self.rows)):
            return self._try_both, calls
        return self._answer, next_batch(waiting, self.rows, self.loaded.budget)

    async def _stream(
        self, work: Work, calls: list[Call], stop: threading.Event, left: list[Call]
    ) -> AsyncIterator[Response]:
        """Do `work` in the worker; yield each response as it comes, and add the calls that got none to `left`."""
        loop = asyncio.get_running_loop()
        arrived: asyncio.Queue[Any] = asyncio.Queue()

        def deliver(response: Response) -> None:
            loop.call_soon_threadsafe(arrived.put_nowait, response)

        job = loop.run_in_executor(self._worker, work, calls, stop.is_set, deliver)
        job.add_done_callback(arrived.put_nowait)
        try:
            while (item := await arrived.get()) is not job:
                yield item
        finally:
            job.cancel()  # where nobody listens any more; `stop` ends the work itself
        left += job.result()

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

    def _load(self) -> Loaded:
        """The model itself, loaded once."""
        if self.loaded is None:
            from creativemath_utils.backends.continuous import wanted

            self._load_encoder()
            self.loaded = set_up(self.model, self._tokenizer, from_pretrained(self.model, load_network))
            self.continuous = wanted(self.model, self.loaded)
        return self.loaded

    def _prepare(self, requests: list[Request]) -> tuple[list[Call], list[Response]]:
        """The calls that can be made, and a failed response for each that cannot."""
        from jinja2.exceptions import TemplateError

        from creativemath_utils.backends.batching import Call, Decoding, check_length

        window = self._load().window
        calls, refused = [], []
        for request in requests:
            try:
                call = Call(request, self._encoder.encode(request.messages), Decoding.read(request.decoding))
                check_length(call, window)
                calls.append(call)
            except KitError as error:
                refused.append(Response.failure(request, str(error)))
            except TemplateError as error:
                roles = [turn["role"] for turn in request.messages]
                refused.append(Response.failure(request, f"the chat template refuses turns {roles}: {error}"))
        return calls, refused

    def _answer(self, batch: list[Call], stopped: Callable[[], bool], deliver: Deliver) -> list[Call]:
        """Answer a batch; returns the calls to try again since memory ran out."""
        from creativemath_utils.backends.batching import too_large

        rows = self._decode(batch, stopped)
        if rows is None:
            if len(batch) > 1:
                self.rows = len(batch) // 2
                log.warning("model %s: out of memory at batch size %d; now %d", self.model.name, len(batch), self.rows)
                return batch
            deliver(too_large(batch[0]))
            return []
        for call, row in zip(batch, rows, strict=True):
            deliver(self._respond(call, row, len(batch), stopped))
        return []

    def _answer_continuously(self, calls: list[Call], stopped: Callable[[], bool], deliver: Deliver) -> list[Call]:
        """Answer the calls, each as soon as it has ended; returns those that are left to the batches."""
        from accelerate.utils.memory import clear_device_cache

        from creativemath_utils.backends.batching import respond
        from creativemath_utils.backends.continuous import EngineStopped, decode_continuously

        longest = max(call.tokens for call in calls)
        rows = max(1, min(self.rows, len(calls), self.loaded.budget // longest))
        left = dict.fromkeys(calls)

        def finish(call: Call, row: Row) -> None:
            text, reasoning = self._read(call, row)
            if row.answers(text, reasoning):
                del left[call]
                about = {**self.loaded.about, "batch_size": rows, "continuous": True, **call.prompt.notes}
                deliver(respond(call, row, text, reasoning, about))

        try:
            decode_continuously(self.loaded.network, calls, rows, self.loaded.end_ids, stopped, finish)
        except EngineStopped as error:
            log.warning("model %s: continuous batching broke off, plain batches go on: %s", self.model.name, error)
            self.continuous = False
        clear_device_cache(garbage_collection=True)  # outside the handler: the error keeps tensors alive
        return list(left)

    def _try_both(self, calls: list[Call], stopped: Callable[[], bool], deliver: Deliver) -> list[Call]:
        """Answer the calls by batches; then run them again by continuous batching, to see which is faster."""
        from creativemath_utils.backends.batching import next_batch
        from creativemath_utils.backends.continuous import Pace

        pace, rest, batches = Pace(), list(calls), 0
        while batch := next_batch(rest, self.rows, self.loaded.budget):
            started, responses = time.perf_counter(), []
            again = self._answer(batch, stopped, responses.append)
            batches += 1
            pace.batches(responses, time.perf_counter() - started if batches > 1 else None)  # the first warms up
            rest = [call for call in rest if call not in batch] + again
            for response in responses:
                deliver(response)
        started, responses = time.perf_counter(), []
        self._answer_continuously(calls, stopped, responses.append)
        pace.continuous(responses, time.perf_counter() - started)
        if self.continuous is None and not stopped():
            self.continuous = pace.speaks_for_continuous()
            log.info("model %s: %s", self.model.name, pace)
        return []

    def _decode(self, batch: list[Call], stopped: Callable[[], bool]) -> list[Row] | None:
        """What the model writes, or None where memory ran out."""
        import torch
        from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size

        from creativemath_utils.backends.batching import decode

        try:
            return decode(self.loaded.network, batch, self.loaded.end_ids, stopped)
        except RuntimeError as error:
            if not isinstance(error, torch.OutOfMemoryError) and not should_reduce_batch_size(error):
                raise
        # Here, outside the handler: the error's traceback would keep the batch's tensors alive.
        clear_device_cache(garbage_collection=True)
        return None

    def _respond(self, call: Call, row: Row, batch_size: int, stopped: Callable[[], bool]) -> Response:
        """The response that a row amounts to. A faulty row is decoded once more, alone, before it counts as failed."""
        from creativemath_utils.backends.batching import respond, too_large

        about = {**self.loaded.about, "batch_size": batch_size, **call.prompt.notes}
        if call.decoding.temperature > 0:
            about["seed"] = call.seed
        text, reasoning = self._read(call, row)
        if not row.answers(text, reasoning):
            log.warning("model %s: a row without an answer is redone alone", self.model.name)
            alone = self._decode([call], stopped)
            if alone is None:
                return too_large(call)
            row = alone[0]
            about |= {"batch_size": 1, "redone_alone": True}
            text, reasoning = self._read(call, row)
        if not row.finite:
            return Response.failure(
                call.request, f"NaN or infinite logits, twice, in {about['dtype']}; try another dtype, such as float32"
            )
        if not row.answers(text, reasoning):
            return Response.failure(
                call.request, "the model wrote nothing, twice; check interface, add_generation_prompt and end_tokens"
            )
        return respond(call, row, text, reasoning, about)

    def _read(self, call: Call, row: Row) -> tuple[str, str | None]:
        """Text and reasoning of a row: cut off by ids, never by characters."""
        text = self._tokenizer.decode(row.ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        return split_reasoning(text, call.prompt.opens_reasoning)

    def _release(self) -> None:
        if self.loaded is not None:
            from accelerate.utils.memory import clear_device_cache

            self.loaded = None
            clear_device_cache(garbage_collection=True)
        self._encoder = self._tokenizer = None
