"""A local model's files: what is missing before a load, the load itself, and the memory it takes."""

from __future__ import annotations

import importlib.util
import json
import logging
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from creativemath_utils.models import Model
from creativemath_utils.records import KitError

log = logging.getLogger(__name__)

KEPT = ("repetition_penalty", "no_repeat_ngram_size", "suppress_tokens", "bad_words_ids")  # a model's own advice
BYTES = {"float32": 4.0, "bfloat16": 2.0, "float16": 2.0, "8bit": 1.0, "4bit": 0.5}  # a parameter


def memory_gib(model: Model) -> float | None:
    """GiB of memory that the weights and a fifth for the rest take, or None without `parameters_b`.

    A GGUF file is unpacked when it is loaded, into float32 unless `dtype` says otherwise.
    """
    if model.parameters_b is None:
        return None
    unsaid = "float32" if model.gguf_file else "bfloat16"
    kind = model.quantization or (model.dtype if model.dtype not in (None, "auto") else unsaid)
    return model.parameters_b * 1e9 * BYTES.get(kind, BYTES[unsaid]) * 1.2 / 2**30


def free_gpu_gib() -> list[float]:
    """Free memory of each CUDA GPU, in GiB; empty where there is none."""
    import torch

    if not torch.cuda.is_available():
        return []
    return [torch.cuda.mem_get_info(gpu)[0] / 2**30 for gpu in range(torch.cuda.device_count())]


def end_token_ids(model: Model, tokenizer: Any, *others: int | list[int] | None) -> list[int]:
    """The union of all that ends an answer: the tokenizer's, the model's configurations', the table's `end_tokens`.

    Raises KitError for an end token that is no single token of the tokenizer.
    """
    ids = {tokenizer.eos_token_id}
    for other in others:
        ids |= set(other) if isinstance(other, list) else {other}
    vocabulary = tokenizer.get_vocab() if model.end_tokens else {}
    for token in model.end_tokens:
        if token not in vocabulary:
            raise KitError(f"model {model.name}: end token {token!r} is no token of {model.id}; correct `end_tokens`")
        ids.add(vocabulary[token])
    return sorted(ids - {None})


def load_tokenizer(model: Model, where: dict[str, Any]) -> Any:
    """The tokenizer; `where` as `from_pretrained` below gives it."""
    if model.use_fast_tokenizer:
        from transformers import AutoTokenizer

        return AutoTokenizer.from_pretrained(model.id, trust_remote_code=model.trust_remote_code, **where)
    # transformers 5 ignores `use_fast=False`. This is its tokenizer on the sentencepiece library itself, which cuts
    # some texts otherwise than the converted one does.
    from transformers.tokenization_utils_sentencepiece import SentencePieceBackend

    return SentencePieceBackend.from_pretrained(model.id, **where)


def load_network(model: Model, where: dict[str, Any]) -> Any:
    """The model with its weights, in evaluation mode; `where` as `from_pretrained` below gives it."""
    import torch
    from transformers import AutoModelForCausalLM, BitsAndBytesConfig
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()  # a bar that counts weights is noise in a notebook kept for its results
    if model.gguf_file:  # for some architectures the reader has a bar of its own, which heeds no setting
        import transformers.modeling_gguf_pytorch_utils as reader

        reader.tqdm = lambda tensors, **_: tensors
    settings: dict[str, Any] = {"dtype": model.dtype or "auto", "trust_remote_code": model.trust_remote_code, **where}
    if model.quantization == "4bit":
        kind = torch.bfloat16 if model.dtype in (None, "auto") else getattr(torch, model.dtype)
        settings["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=kind
        )
    elif model.quantization == "8bit":
        settings["quantization_config"] = BitsAndBytesConfig(load_in_8bit=True)
    if device_map := model.device_map or ("auto" if torch.cuda.is_available() else None):
        settings["device_map"] = device_map
    return AutoModelForCausalLM.from_pretrained(model.id, **settings).eval()


def from_pretrained(model: Model, load: Callable[[Model, dict[str, Any]], Any]) -> Any:
    """What `load` makes of the model's files. Raises KitError, the library's own error behind it."""
    where = {name: value for name in ("revision", "gguf_file") if (value := getattr(model, name)) is not None}
    try:
        return load(model, where)
    except Exception as error:  # files of any state, and with trust_remote_code anybody's code, can raise anything
        reason = str(error).strip().split("\n")[0] or type(error).__name__
        raise KitError(f"model {model.name}: cannot load {model.id}: {type(error).__name__}: {reason}") from error


@dataclass(frozen=True)
class Loaded:
    """A model that is ready, and what is to be known of it."""

    network: Any
    device: Any  # torch.device, of the embeddings
    end_ids: list[int]
    window: int  # tokens, prompt and answer together
    budget: int  # tokens whose keys and values there is room for
    penalties: dict[str, Any]  # of KEPT, those that change anything
    about: dict[str, Any]  # for the record of every answer


def set_up(model: Model, tokenizer: Any, network: Any) -> Loaded:
    """Leave of the network's generation config the end tokens, a pad token and KEPT; measure what room there is."""
    from transformers import GenerationConfig

    from creativemath_utils.backends.batching import token_budget

    config, own = network.config.get_text_config(), network.generation_config
    end_ids = end_token_ids(model, tokenizer, own.eos_token_id, config.eos_token_id)
    pad = tokenizer.pad_token_id
    if pad is None:  # only fills up rows that have ended; any token will do
        pad = end_ids[0] if end_ids else 0
    kept = {name: value for name in KEPT if (value := getattr(own, name, None)) is not None}
    network.generation_config = GenerationConfig(eos_token_id=end_ids or None, pad_token_id=pad, **kept)
    penalties = {name: value for name, value in kept.items() if value not in (1.0, 0)}
    device = network.get_input_embeddings().weight.device
    dtype = str(network.dtype).removeprefix("torch.")
    places = {str(place) for place in (getattr(network, "hf_device_map", None) or {}).values()}
    if len(places) > 1 and places & {"cpu", "disk"}:
        log.warning("model %s does not fit on the GPUs: parts of it are on %s, which is slow", model.name, places)
    return Loaded(
        network=network,
        device=device,
        end_ids=end_ids,
        window=model.window or getattr(config, "max_position_embeddings", None) or tokenizer.model_max_length,
        budget=token_budget(config, free_bytes(device), network.dtype.itemsize),
        penalties=penalties,
        about={"dtype": dtype, "device": str(device), "end_token_ids": end_ids, **penalties},
    )


def free_bytes(device: Any) -> int:
    """Free memory where the keys and values will lie, in bytes."""
    if device.type == "cuda":
        return int(sum(free_gpu_gib()) * 2**30)
    import psutil

    return psutil.virtual_memory().available


def missing_for(model: Model) -> list[str]:
    """What stands in the way of loading a model: one line each, with the remedy. Downloads and loads nothing."""
    packages = ["torch", "transformers", "accelerate"]
    packages += ["gguf"] if model.gguf_file else []
    packages += ["bitsandbytes"] if model.quantization else []
    packages += [] if model.use_fast_tokenizer else ["sentencepiece"]
    lacking = [name for name in packages if importlib.util.find_spec(name) is None]
    lines = [f"package {name} is not installed: pip install {name}" for name in lacking]
    if unknown := sorted(set(model.extra_body) - {"chat_template_kwargs"}):
        lines.append(f"extra_body key {unknown[0]!r} means nothing to a local model; it takes chat_template_kwargs")
    if model.quantization not in (None, "4bit", "8bit"):
        lines.append(f"quantization {model.quantization!r} is unknown; use 4bit, 8bit or null")
    elif model.quantization and model.gguf_file:
        lines.append("a GGUF file brings its own quantization; set `quantization: null`")
    if (model.quantization or model.gpus) and "torch" not in lacking:
        import torch

        there = torch.cuda.device_count() if torch.cuda.is_available() else 0
        if model.quantization and not there:
            lines.append(
                f"quantization: {model.quantization} needs a CUDA GPU and there is none; set `quantization: null` "
                "to run in full precision, or run where there is a GPU"
            )
        if model.gpus > there:
            lines.append(f"it is set for {model.gpus} GPUs and there are {there}; change `gpus`, or run elsewhere")
    return lines + _missing_files(model)


def _missing_files(model: Model) -> list[str]:
    folder = Path(model.id).expanduser()
    local = folder.is_dir()
    if folder.is_file():
        return [f"{model.id} is a file; set `id` to its folder and `gguf_file` to its name"]
    if not local and not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", model.id):
        return [f"folder {model.id} does not exist; correct `id`"]
    lines = []
    if model.trust_remote_code and not (
        model.revision if local else re.fullmatch("[0-9a-f]{40}", model.revision or "")
    ):
        pin = "`revision` to name the state of the folder" if local else "`revision` to a commit's 40 hex digits"
        lines.append(f"trust_remote_code runs code that comes with {model.id}: set {pin}, once you have read that code")
    name = model.gguf_file or "config.json"
    if local:
        found = folder / name if (folder / name).is_file() else None
        if found is None:
            lines.append(f"there is no {name} in {model.id}; correct `id` or `gguf_file`")
    else:
        found = _cached(model, name)
        if found is None and _offline():
            lines.append(
                f"{model.id} is no folder here and not in the hub cache, and HF_HUB_OFFLINE is set; download it first "
                f"(hf download {model.id}) or correct `id`"
            )
    if found and not model.gguf_file and not model.trust_remote_code:
        try:
            about = json.loads(found.read_text("utf-8"))
        except (OSError, ValueError) as error:
            return [*lines, f"{found} cannot be read ({error}); get the model's files again"]
        if not isinstance(about, dict):
            return [*lines, f"{found} describes no model; get the model's files again"]
        if "auto_map" in about and not _known_type(about.get("model_type")):
            lines.append(f"{model.id} ships its own code; read it, then set `trust_remote_code: true` and `revision`")
    return lines


def _cached(model: Model, name: str) -> Path | None:
    from huggingface_hub import try_to_load_from_cache

    path = try_to_load_from_cache(model.id, name, revision=model.revision)
    return Path(path) if isinstance(path, str | os.PathLike) else None


def _offline() -> bool:
    return any(
        os.environ.get(name, "").upper() in {"1", "ON", "YES", "TRUE"}
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    )


def _known_type(model_type: str | None) -> bool:
    from transformers import CONFIG_MAPPING

    return model_type in CONFIG_MAPPING
