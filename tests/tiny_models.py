"""Random models of a few thousand weights, with tokenizer and chat template, in a folder; and how they are asked."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    AutoModelForCausalLM,
    Gemma3TextConfig,
    Lfm2Config,
    LlamaConfig,
    MambaConfig,
    MistralConfig,
    PreTrainedTokenizerFast,
    Qwen2Config,
)

from creativemath_utils.backends.local import LocalBackend
from creativemath_utils.models import Model
from creativemath_utils.records import Response

SPECIAL = ["<s>", "</s>", "<|user|>", "<|assistant|>", "<|system|>", "<|stop|>", "<|pad|>"]
TURNS = "{{ bos_token }}{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
CUE = "{% if add_generation_prompt %}<|assistant|>{% endif %}"
PLAIN = TURNS + CUE
STRICT = (  # refuses a system role and two turns of one role
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system role') }}{% endif %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}{% endif %}"
    "{% endfor %}" + PLAIN
)
DEAF = PLAIN.replace("{% for m in messages %}", "{% for m in messages if m.role != 'system' %}")  # drops it silently
THINKING = TURNS + "{% if add_generation_prompt %}<|assistant|><think>{% endif %}"

ATTENTION = {
    "intermediate_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 512,
}  # fmt: skip
ARCHITECTURES: dict[str, tuple[Any, dict[str, Any]]] = {
    "llama": (LlamaConfig, ATTENTION),
    "qwen2": (Qwen2Config, ATTENTION),
    "mistral": (MistralConfig, ATTENTION | {"sliding_window": 16}),
    "gemma3": (
        Gemma3TextConfig,
        ATTENTION
        | {"head_dim": 12, "sliding_window": 16, "layer_types": ["sliding_attention", "full_attention"]}
        | {"tie_word_embeddings": False},  # a random model would only repeat itself
    ),
    "lfm2": (Lfm2Config, ATTENTION | {"layer_types": ["conv", "full_attention"]}),
    "mamba": (MambaConfig, {"state_size": 8}),
}


def tiny_tokenizer(template: str | None = PLAIN, pad: bool = True, adds_bos: bool = False) -> PreTrainedTokenizerFast:
    """A tokenizer of the 256 bytes and SPECIAL: every text is as many tokens as it has bytes."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: at for at, token in enumerate([*SPECIAL, *alphabet])}
    backend = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    backend.decoder = decoders.ByteLevel()
    if adds_bos:
        backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<|pad|>" if pad else None,
        extra_special_tokens=SPECIAL[2:6],
        chat_template=template,
    )


def tiny_model(folder: Path, architecture: str = "llama", generation: dict[str, Any] | None = None, **tokenizer) -> str:
    """Write a random two-layer model with its tokenizer to `folder`; returns the folder's name."""
    kind, about = ARCHITECTURES[architecture]
    torch.manual_seed(0)
    config = kind(
        vocab_size=len(SPECIAL) + 256,
        hidden_size=48,
        num_hidden_layers=2,
        initializer_range=0.3,  # wide, so that what is written depends on what was read
        bos_token_id=0,
        eos_token_id=1,
        **about,
    )
    network = AutoModelForCausalLM.from_config(config)
    for name, value in (generation or {}).items():
        setattr(network.generation_config, name, value)
    network.save_pretrained(folder)
    tiny_tokenizer(**tokenizer).save_pretrained(folder)
    return str(folder)


def tiny_gguf(folder: Path, name: str = "tiny.gguf") -> torch.Tensor:
    """Write a random llama in llama.cpp's format, without a chat template; returns its output matrix."""
    from gguf import GGUFWriter, TokenType

    folder.mkdir(parents=True, exist_ok=True)
    tokens = [*SPECIAL, *sorted(pre_tokenizers.ByteLevel.alphabet()), "ab"]
    width, hidden, heads, layers = 64, 96, 4, 2
    writer = GGUFWriter(folder / name, "llama")
    writer.add_name("tiny")
    writer.add_context_length(512)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(width // heads)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([TokenType.CONTROL] * len(SPECIAL) + [TokenType.NORMAL] * 257)
    writer.add_token_merges(["a b"])  # readers expect a merge
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    torch.manual_seed(0)
    shapes = {"token_embd": (len(tokens), width), "output": (len(tokens), width)}
    for layer in range(layers):
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            shapes[f"blk.{layer}.{part}"] = (width, width)
        shapes |= {f"blk.{layer}.ffn_gate": (hidden, width), f"blk.{layer}.ffn_up": (hidden, width)}
        shapes |= {f"blk.{layer}.ffn_down": (width, hidden)}
        shapes |= {f"blk.{layer}.attn_norm": (width,), f"blk.{layer}.ffn_norm": (width,)}
    shapes["output_norm"] = (width,)
    tensors = {n: torch.randn(shape) * 0.3 if len(shape) == 2 else torch.ones(shape) for n, shape in shapes.items()}
    for tensor, values in tensors.items():
        writer.add_tensor(f"{tensor}.weight", values.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return tensors["output"]


async def ask(backend: LocalBackend, requests) -> list[Response]:
    """All responses, in the order of the requests; each request must be answered exactly once."""
    found = [response async for response in backend.answers(requests)]
    assert Counter(r.key for r in found) == Counter(r.key for r in requests)
    order = {r.key: r for r in found}
    return [order[r.key] for r in requests]


def answers(model: Model, requests) -> list[Response]:
    async def run() -> list[Response]:
        backend = LocalBackend(model)
        try:
            return await ask(backend, requests)
        finally:
            await backend.close()

    return asyncio.run(run())
