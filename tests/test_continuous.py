"""Continuous batching against plain batches: random models of two layers, in float32, on whatever device there is."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import threading
from types import SimpleNamespace

import pytest
import torch
from tiny_models import SPECIAL, answers, tiny_model, tiny_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM

from creativemath_utils.backends import continuous, local
from creativemath_utils.backends.batching import Call, Decoding, Stopped, decode
from creativemath_utils.backends.continuous import Pace, decode_continuously, obstacle, trial_calls
from creativemath_utils.backends.encoding import Prompt, PromptEncoder
from creativemath_utils.backends.local import LocalBackend
from creativemath_utils.models import Model
from creativemath_utils.records import Request, Response, user_message

ASSISTANT = SPECIAL.index("<|assistant|>")
ENDS = tuple(tiny_tokenizer().convert_ids_to_tokens(range(len(SPECIAL), len(SPECIAL) + 8)))
Z = tiny_tokenizer().convert_tokens_to_ids("Z")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Threads cost models of this size more than they bring."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    """So that short prompts, too, take several pages and several steps."""
    monkeypatch.setattr(continuous, "PAGE", 32)
    monkeypatch.setattr(continuous, "PROMPT_TOKENS", 32)


@pytest.fixture(scope="module")
def llama(tmp_path_factory) -> str:
    return tiny_model(tmp_path_factory.mktemp("llama"))


def table_row(folder: str, **fields) -> Model:
    given = {"name": "tiny", "backend": "local", "id": str(folder), "dtype": "float32", "end_tokens": ENDS}
    return Model(**{**given, **fields})


def request(model: Model, text: str, **decoding) -> Request:
    return Request(model.name, model.identity(), user_message(text), {"max_new_tokens": 12, **decoding})


def told(responses) -> list[tuple]:
    """All of the responses that a reader of the ledger goes by."""
    assert [r.error for r in responses] == [None] * len(responses)
    return [(r.text, r.status, r.finish_reason, r.usage) for r in responses]


def ways(responses) -> list[bool]:
    return ["continuous" in r.settings_used for r in responses]


def lines(caplog) -> list[str]:
    return [r.getMessage() for r in caplog.records if "continuous batching" in r.getMessage()]


# -- the same answers ------------------------------------------------------------------------------------------------


def test_it_gives_what_batches_give(llama):
    requests = [request(table_row(llama), "abcdefgh "[n % 7 :] * n, max_new_tokens=4 + 9 * n) for n in range(1, 13)]
    plain = answers(table_row(llama, batch_size=4, continuous=False), requests)
    paged = answers(table_row(llama, batch_size=4, continuous=True), requests)
    assert told(paged) == told(plain)
    assert {r.status for r in plain} == {"ok", "truncated"}  # both ends of an answer are among them
    assert (ways(plain), ways(paged)) == ([False] * 12, [True] * 12)
    assert {r.settings_used["batch_size"] for r in paged} == {4}


def calls_of(lengths, prefix=(), **decoding) -> list[Call]:
    model, draw = table_row("m"), torch.Generator().manual_seed(1)
    prompts = [[*prefix, *torch.randint(3, 200, (n,), generator=draw).tolist()] for n in lengths]
    decoding = Decoding(**{"max_new_tokens": 16, **decoding})
    return [Call(request(model, str(n)), Prompt(ids), decoding) for n, ids in enumerate(prompts)]


def network(kind=LlamaForCausalLM, config=LlamaConfig, attention="sdpa", **fields):
    torch.manual_seed(0)
    sizes = {"vocab_size": 200, "hidden_size": 48, "intermediate_size": 64, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.3, "eos_token_id": 1}
    made = kind(config(**sizes, **heads, attn_implementation=attention, **fields)).eval()
    made.generation_config.eos_token_id = list(range(8))
    made.generation_config.pad_token_id = 0
    return made


@pytest.mark.parametrize(
    ("fields", "lengths", "prefix"),
    [
        ({"attention": "eager"}, (5, 30, 12), ()),  # another attention for the run, and the old one after it
        ({"kind": MistralForCausalLM, "config": MistralConfig, "sliding_window": 8}, (5, 30, 12), ()),
        ({}, (5, 90, 12, 70), ()),  # prompts longer than a step may read
        ({}, (5, 8, 3), range(3, 103)),  # a beginning in common, over several pages
    ],
    ids=["eager", "sliding", "split", "prefix"],
)
def test_attention_of_all_kinds(fields, lengths, prefix):
    model, calls, ends = network(**fields), calls_of(lengths, prefix), list(range(8))
    before, found = model.config._attn_implementation, {}
    decode_continuously(model, calls, 2, ends, lambda: False, found.__setitem__)
    assert [found[call] for call in calls] == [decode(model, [call], ends, lambda: False)[0] for call in calls]
    assert model.config._attn_implementation == before


def test_sampled_calls_keep_their_own_seed(llama):
    # The draw follows from the key, and the key here from the temporary folder: few end tokens and little heat, so that
    # no draw begins with an end.
    heat = [{"temperature": 0.2, "seed": 1}, {}, {"temperature": 0.2, "seed": 2}, {}]
    row = {"end_tokens": ()}
    requests = [request(table_row(llama, **row), "abc" * n, **decoding) for n, decoding in enumerate(heat, 1)]
    paged = answers(table_row(llama, continuous=True, **row), requests)
    assert told(paged) == told(answers(table_row(llama, continuous=False, **row), requests))
    assert ways(paged) == [False, True, False, True]


def test_it_is_no_part_of_a_key(llama):
    keys = {request(table_row(llama, continuous=value), "a").key for value in (True, False, None)}
    assert len(keys) == 1


# -- where it cannot be had ------------------------------------------------------------------------------------------


def spoil(monkeypatch, fault) -> list[int]:
    """Run `fault(ids, logits, paged)` on what the network gives; returns the rows of its calls, 1 where paged."""
    sizes: list[int] = []
    load = local.load_network

    def load_spoilt(model, where):
        made = load(model, where)
        forward = made.forward

        def spoilt(input_ids=None, **rest):
            sizes.append(len(input_ids))
            out = forward(input_ids=input_ids, **rest)
            fault(input_ids, out.logits, "cache" in rest)
            return out

        made.forward = spoilt
        return made

    monkeypatch.setattr(local, "load_network", load_spoilt)
    return sizes


def test_a_row_of_nan_is_left_to_the_batches(llama, monkeypatch):
    requests = [request(table_row(llama), text) for text in ("aaaa", "bbZ", "cc", "dZ")]
    clean = answers(table_row(llama, continuous=False), requests)
    values = iter([float("nan"), float("inf")])

    def fault(ids, logits, paged):
        if paged and ids.shape[1] > len(requests):  # the step that reads the prompts
            for at in (ids[0] == Z).nonzero()[:, 0]:  # `<|assistant|>` follows, and its logits give the first token
                logits[0, at + 1, 5] = next(values)

    spoil(monkeypatch, fault)
    found = answers(table_row(llama, continuous=True), requests)
    assert told(found) == told(clean)
    assert ways(found) == [True, False, True, False]


def test_an_empty_answer_is_left_to_the_batches(llama, monkeypatch):
    def fault(ids, logits, paged):
        if paged:
            logits[..., 1] = 1e6

    spoil(monkeypatch, fault)
    model = table_row(llama, continuous=True)
    found = answers(model, [request(model, "ab"), request(model, "abc")])
    assert ways(found) == [False, False]
    assert all(r.text for r in found)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), "CUDA out of memory."),
        (RuntimeError("no kernel image\nfor this device"), "no kernel image"),
    ],
)
def test_a_broken_run_goes_on_in_batches(llama, monkeypatch, caplog, error, line):
    steps = []

    def fault(ids, logits, paged):
        steps.append(paged)
        if paged and len(steps) == 14:  # by then the shortest have been answered
            raise error

    requests = [request(table_row(llama), "ab" * n, max_new_tokens=1 + 3 * n) for n in range(1, 9)]
    clean = answers(table_row(llama, continuous=False), requests)
    spoil(monkeypatch, fault)
    found = answers(table_row(llama, continuous=True), requests)
    assert told(found) == told(clean)
    assert set(ways(found)) == {True, False}
    assert len(lines(caplog)) == 1 and line in lines(caplog)[0]
    assert steps[14:] == [False] * len(steps[14:])  # it is not tried again


def test_a_start_that_fails_is_one_line(llama, monkeypatch, caplog):
    pages = "transformers.generation.continuous_batching.cache.get_device_and_memory_breakdown"
    monkeypatch.setattr(pages, lambda: (torch.device("cpu"), 0, 0, 0))
    model = table_row(llama, continuous=True)
    assert ways(answers(model, [request(model, "ab")])) == [False]
    assert len(lines(caplog)) == 1 and "MemoryError" in lines(caplog)[0]


def test_a_fault_of_the_model_itself_is_raised(llama, monkeypatch):
    def fault(ids, logits, paged):
        raise RuntimeError("shapes do not match")

    spoil(monkeypatch, fault)
    model = table_row(llama, continuous=True)
    with pytest.raises(RuntimeError, match="shapes do not match"):
        answers(model, [request(model, "a")])


@pytest.mark.parametrize(
    ("model", "penalties", "about", "reason"),
    [
        ({}, {}, {}, None),
        ({}, {"repetition_penalty": 1.1}, {}, "repetition_penalty needs earlier tokens"),
        ({"trust_remote_code": True}, {}, {}, "in its own way"),
        ({}, {}, {"_supports_attention_backend": False}, "in its own way"),
        ({}, {}, {"hf_device_map": {"": 0}}, None),  # one GPU is one device
        ({}, {}, {"hf_device_map": {"model.layers.0": 0, "model.layers.1": 1}}, "several devices"),
    ],
)
def test_obstacles(model, penalties, about, reason):
    loaded = SimpleNamespace(
        penalties=penalties, network=SimpleNamespace(**{"_supports_attention_backend": True, **about})
    )
    found = obstacle(table_row("m", **model), loaded)
    assert found is None if reason is None else reason in found


def test_a_model_with_a_penalty_goes_in_batches(tmp_path, caplog):
    folder = tiny_model(tmp_path, generation={"repetition_penalty": 1.5})
    model = table_row(folder, continuous=True)
    assert ways(answers(model, [request(model, "ab")])) == [False]
    assert len(lines(caplog)) == 1


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_without_a_gpu_it_is_used_only_where_asked_for(llama, caplog):
    model = table_row(llama)
    assert ways(answers(model, [request(model, "ab" * n) for n in range(1, 9)])) == [False] * 8
    assert lines(caplog) == []


# -- as they come, and stopped ---------------------------------------------------------------------------------------


def test_answers_come_one_by_one_and_a_run_can_be_cancelled(llama):
    model = table_row(llama, end_tokens=(), window=10**6, continuous=True)
    requests = [request(model, "short", max_new_tokens=1), request(model, "long", max_new_tokens=20_000)]

    async def run() -> Response:
        backend, first = LocalBackend(model), asyncio.Future()

        async def listen() -> None:
            async for response in backend.answers(requests):
                first.set_result(response)

        task = asyncio.create_task(listen())
        response = await asyncio.wait_for(asyncio.shield(first), timeout=300)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        await asyncio.wait_for(backend.close(), timeout=60)  # else for as long as 20,000 tokens take
        return response

    before = set(threading.enumerate())
    assert asyncio.run(run()).key == requests[0].key
    begun = [thread for thread in threading.enumerate() if thread not in before]
    for thread in begun:  # the worker's and the engine's may take a moment to end
        thread.join(30)
    assert [thread.name for thread in begun if thread.is_alive()] == []


def test_stopped_before_it_began():
    model, calls = network(), calls_of((5, 6))
    decode_continuously(model, calls, 2, [1], lambda: True, lambda *_: pytest.fail("answered"))
    with pytest.raises(Stopped):
        decode(model, calls, [1], lambda: True)


# -- the trial -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("waiting", "rows", "tried"),
    [
        (7, 1, 0),  # fewer than two times four batches
        (8, 1, 4),
        (16, 2, 8),
        (128, 8, 32),  # a pool of batches of eight
        (128, 128, 0),
    ],
)
def test_trial_calls(waiting, rows, tried):
    calls = calls_of(range(1, waiting + 1))
    chosen = trial_calls(calls, rows)
    assert len(chosen) == len(set(chosen)) == tried
    if tried:  # of all lengths, and not the longest alone
        assert len(chosen[0].prompt.ids) == 1 and len(chosen[-1].prompt.ids) > waiting / 2


def written(key: str, text: str, tokens: int) -> Response:
    return Response(key, "m", {}, "ok", text, usage={"input_tokens": 1, "output_tokens": tokens})


@pytest.mark.parametrize(
    ("seconds", "texts", "better"),
    [
        (1.0, ("abc", "def"), True),  # 20 tokens in 1 s, against 10 in the 2 s of the second batch
        (5.0, ("abc", "def"), False),  # slower
        (1.0, ("abc", "xyz"), False),  # half of them begin otherwise
        (1.0, ("abc",), False),  # one was left
        (1.0, (), False),
    ],
)
def test_the_trial_is_by_pace_and_likeness(seconds, texts, better):
    pace = Pace()
    pace.batches([written("1", "abc", 10)], None)  # warms up
    pace.batches([written("2", "def", 10)], 2.0)
    pace.continuous([written(str(n), text, 10) for n, text in enumerate(texts, 1)], seconds)
    assert pace.speaks_for_continuous() is better
    assert str(pace).startswith("5 tokens/s in batches")


@pytest.mark.parametrize("better", [True, False])
def test_a_trial_decides_for_the_rest(llama, monkeypatch, caplog, better):
    def on_a_gpu(*about):
        return dataclasses.replace(set_up(*about), device=SimpleNamespace(type="cuda"))

    set_up = local.set_up
    monkeypatch.setattr(local, "set_up", on_a_gpu)
    monkeypatch.setattr(Pace, "speaks_for_continuous", lambda self: better)
    requests = [request(table_row(llama), "abc" * n) for n in range(1, 11)]
    with caplog.at_level(logging.INFO):
        found = answers(table_row(llama, batch_size=1), requests)
    assert sum(ways(found)) == (6 if better else 0)  # ten less the four of the trial, which keep their first answer
    (line,) = [r.getMessage() for r in caplog.records if "tokens/s" in r.getMessage()]
    assert "4 of 4 answers begin alike" in line and line.endswith(f"is {'' if better else 'not '}used")


def test_assistant_ends_every_prompt():
    """What the place of a NaN above rests on."""
    ids = PromptEncoder(tiny_tokenizer(), table_row("m")).encode(user_message("bbZ")).ids
    assert ids[-2:] == [Z, ASSISTANT]
