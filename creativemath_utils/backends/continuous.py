"""transformers' continuous batching: the place of a row that has ended goes to the next call at once.

A second way to decode, for greedy calls. It knows no generator of a row's own, so sampled calls keep the way of
`batching`, and it shows a penalty on repetition no earlier token, so models that bring one keep it too. Its keys and
values lie in pages on one device. Without flash attention it lets every row look at the keys of all rows under a mask;
whether it is still the faster way depends on the model, the lengths and the GPU, and is measured, never assumed (see
`Pace`). In float32 it writes what the other way writes.

Of the interface, `generate_batch` would hold every answer back until the last is there and turn errors into missing
ones, so the manager behind it is driven here: all calls of a run are handed over before it starts, so that which rows
meet does not hang on the timing of two threads.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import torch
from transformers import ContinuousBatchingConfig
from transformers.utils import is_flash_attn_2_available, is_flash_attn_3_available

from creativemath_utils.backends.batching import Call, Row
from creativemath_utils.backends.loading import Loaded
from creativemath_utils.models import Model
from creativemath_utils.records import Response

PAGE = 256  # tokens: the least that flash attention takes
PROMPT_TOKENS = 2048  # most tokens in a step; a longer prompt is read in several
TRIAL = 4  # batches' worth of calls that are answered both ways to see which is faster
LIKENESS = 20  # characters at the beginning of an answer by which the two ways are compared

log = logging.getLogger(__name__)
logging.getLogger("ContinuousBatchingLogger").setLevel(logging.CRITICAL)  # what goes wrong is said once, by the backend


class EngineStopped(Exception):
    """Continuous batching could not go on; the message is the library's own. The calls without a row are unharmed."""


def obstacle(model: Model, loaded: Loaded) -> str | None:
    """Why a loaded model cannot be decoded so with the same result, or None."""
    network = loaded.network
    if loaded.penalties:
        return (
            f"the model's {', '.join(loaded.penalties)} needs earlier tokens, which continuous batching does not show"
        )
    if model.trust_remote_code or not network._supports_attention_backend:
        return "the model computes its attention in its own way, past the paged keys and values"
    if len(set((getattr(network, "hf_device_map", None) or {}).values())) > 1:
        return "the model lies on several devices, and the paged keys and values on one"
    return None


def wanted(model: Model, loaded: Loaded) -> bool | None:
    """Whether the model is to be decoded so, or None where a trial is to say. Logs what stands in the way."""
    if model.continuous is False or (model.continuous is None and loaded.device.type != "cuda"):
        return False
    if reason := obstacle(model, loaded):
        level = logging.WARNING if model.continuous else logging.INFO  # nobody misses what nobody asked for
        log.log(level, "model %s: plain batches, no continuous batching: %s", model.name, reason)
        return False
    return model.continuous


def decode_continuously(
    network: Any,
    calls: Sequence[Call],
    rows: int,
    end_ids: Sequence[int],
    stopped: Callable[[], bool],
    finish: Callable[[Call, Row], None],
) -> None:
    """Decode greedy calls, at most `rows` at a time, and give each row to `finish` as soon as it has ended.

    Returns early once `stopped()` is true. Raises EngineStopped where the engine cannot start or breaks off.
    """
    # The neighbours in this order share the beginning of their prompts, which is then read once.
    ordered = sorted(calls, key=lambda call: call.prompt.ids, reverse=True)
    attention = network.config._attn_implementation
    manager = None
    try:
        if flash := flash_attention(network):
            network.set_attn_implementation(flash)
        generation = deepcopy(network.generation_config)
        generation.do_sample = False
        manager = network.init_continuous_batching(generation, _engine_config(calls, rows))
        manager.warmup()
        for at, call in enumerate(ordered):
            manager.add_request(call.prompt.ids, request_id=str(at), max_new_tokens=call.decoding.max_new_tokens)
        manager.start()
        _collect(manager, ordered, end_ids, stopped, finish)
    except EngineStopped:
        raise
    except Exception as error:  # of any kind: the engine allocates, plans and compiles by the machine it finds
        raise EngineStopped(_line(error)) from error
    finally:
        if manager is not None and manager.is_running():
            manager.stop(hard_stop=True)
        if network.config._attn_implementation != attention:
            network.set_attn_implementation(attention)


def _collect(
    manager: Any,
    ordered: Sequence[Call],
    end_ids: Sequence[int],
    stopped: Callable[[], bool],
    finish: Callable[[Call, Row], None],
) -> None:
    """Take what the manager has finished until all calls are, or nobody waits any more."""
    left = len(ordered)
    while left and not stopped():
        output = manager.get_result(timeout=0.1)
        if output is None and not manager.is_running():
            raise EngineStopped(_line(manager.background_thread_status.fatal_error))
        if output is None:
            continue
        if output.error is not None:
            raise EngineStopped(output.error.strip().split("\n")[0])
        finish(ordered[int(output.request_id)], _row(output.generated_tokens, output.logprobs, end_ids))
        left -= 1


def _row(tokens: list[int], log_probabilities: list[float], end_ids: Sequence[int]) -> Row:
    """A row as `batching.decode` gives it. Logits that are NaN or infinite have made a log-probability NaN."""
    ended = bool(tokens) and tokens[-1] in end_ids
    finite = all(map(math.isfinite, log_probabilities))
    return Row(tokens[:-1] if ended else list(tokens), ended=ended, finite=finite, steps=len(tokens))


def _engine_config(calls: Sequence[Call], rows: int) -> ContinuousBatchingConfig:
    """Room for `rows` of the longest calls and no more: by default the engine takes nine tenths of the memory."""
    pages = math.ceil(max(call.tokens for call in calls) / PAGE) + 1
    return ContinuousBatchingConfig(
        page_size=PAGE,
        num_blocks=rows * pages,
        max_batch_tokens=max(PROMPT_TOKENS, rows),
        max_requests_per_batch=rows,
        max_blocks_per_request=pages + pages % 2,  # the table that flash attention reads; it is to be even
        safety_margin=0.0,  # no row can run out of pages
        return_logprobs=True,  # see `_row`
        auto_switch_to_flash=False,  # it would fetch compiled code from the hub; see `flash_attention`
        seed=0,
    )


def flash_attention(network: Any) -> str | None:
    """The flash attention that is installed, if it serves this model; it takes half precision only."""
    if network.dtype not in (torch.bfloat16, torch.float16) or not network._supports_flash_attn:
        return None
    if is_flash_attn_3_available():
        return "flash_attention_3"
    return "flash_attention_2" if is_flash_attn_2_available() else None


def _line(error: BaseException | None) -> str:
    """An error as one line."""
    return f"{type(error).__name__}: {str(error).strip()}".split("\n")[0] if error else "its thread ended"


def trial_calls(greedy: Sequence[Call], rows: int) -> list[Call]:
    """Calls of all lengths to be run both ways, or none where too few would be left to gain by it."""
    size = TRIAL * rows
    ordered = sorted(greedy, key=lambda call: len(call.prompt.ids))
    return ordered[:: len(ordered) // size][:size] if len(ordered) >= 2 * size else []


class Pace:
    """How fast the same calls went by batches and by continuous batching, and whether they were answered alike."""

    def __init__(self) -> None:
        self._tokens = {"batches": 0, "continuous": 0}
        self._seconds = {"batches": 0.0, "continuous": 0.0}
        self._beginning: dict[str, str] = {}
        self._alike: list[bool] = []

    def batches(self, responses: Sequence[Response], seconds: float | None) -> None:
        """Enter a batch and how long it took, or None where its time says nothing."""
        self._beginning |= {response.key: _beginning(response) for response in responses}
        if seconds is not None:
            self._enter("batches", responses, seconds)

    def continuous(self, responses: Sequence[Response], seconds: float) -> None:
        """Enter the same calls by continuous batching, and how long they took, start and end of it included."""
        self._alike += [self._beginning[response.key] == _beginning(response) for response in responses]
        self._enter("continuous", responses, seconds)

    def speaks_for_continuous(self) -> bool:
        """Whether it wrote more tokens a second, and most answers began as before.

        Rounding may part two answers in half precision, but not most of them within LIKENESS characters: where that
        happens, something other than rounding is at work.
        """
        return 2 * sum(self._alike) > len(self._beginning) and self._rate("continuous") > self._rate("batches")

    def __str__(self) -> str:
        rates = f"{self._rate('batches'):.0f} tokens/s in batches, {self._rate('continuous'):.0f} continuously"
        alike = f"{sum(self._alike)} of {len(self._beginning)} answers begin alike"
        return f"{rates}, {alike}: continuous batching is {'' if self.speaks_for_continuous() else 'not '}used"

    def _enter(self, way: str, responses: Sequence[Response], seconds: float) -> None:
        self._tokens[way] += sum(response.usage["output_tokens"] for response in responses if response.usage)
        self._seconds[way] += seconds

    def _rate(self, way: str) -> float:
        return self._tokens[way] / self._seconds[way] if self._seconds[way] else math.inf


def _beginning(response: Response) -> str:
    return ((response.reasoning or "") + response.text)[:LIKENESS]
