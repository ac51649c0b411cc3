"""The table of models: name -> backend, id, endpoint, system prompt, price, window.

The table is data (`models.yaml`); a profile adds to it or overrides single fields. A name in the table is the kit's
own (it names files); `id` is what the endpoint or the hub calls the model; `label` is what tables and figures show.
"""

from __future__ import annotations

import difflib
import re
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from creativemath_utils.records import KitError

NAME = re.compile(r"[A-Za-z0-9._-]+")
RESERVED = ("pairs", "stability")  # votes/pairs.jsonl holds the votes on pairs of models, stability.jsonl others
# What decoding may say, of what type, from which least value. A backend that takes less of it says so.
DECODING: dict[str, tuple[type | tuple[type, ...], float | None]] = {
    "max_new_tokens": (int, 1),
    "temperature": ((int, float), 0),
    "top_p": ((int, float), 0),
    "top_k": (int, 0),
    "seed": (int, None),
    "frequency_penalty": ((int, float), None),
    "presence_penalty": ((int, float), None),
    "reasoning_effort": (str, None),
    "stop": ((str, list), None),
}
# What to add to pydantic's own words.
REMEDIES = {
    "string_type": "; put it in quotes",
    "tuple_type": "; write a list, such as [a, b]",
    "too_short": "; name one or more",
    "int_parsing": "; write a whole number",
    "int_from_float": "; write a whole number",
    "int_type": "; write a whole number",
    "float_parsing": "; write a number",
    "bool_parsing": "; write true or false",
    "bool_type": "; write true or false",
    "greater_than": "; write a larger number",
    "greater_than_equal": "; write a larger number",
    "dict_type": "; write a mapping, such as {name: {...}}",
    "model_type": "; write a mapping, such as {key: value}",
}
# Fields of a call that are the kit's own: under extra_body they would undo what the record says was asked.
KITS_OWN = ("model", "messages", "prompt", "n", "stream", "max_tokens", "max_completion_tokens")
SECRETIVE = {
    "api_key_env": "the name of an environment variable, such as MY_KEY, that holds the key",
    "base_url": "an address that begins with http:// or https://",
}


def check_decoding(values: dict[str, Any]) -> dict[str, Any]:
    """`values` as they are: they are part of a key, so 0 stays 0 and does not become 0.0.

    None stands for the endpoint's own default. Raises ValueError for an unknown key or a value that cannot be meant.
    """
    for name, value in values.items():
        if name not in DECODING:
            raise ValueError(f"unknown key {name!r}; {nearest(name, DECODING)} Others go under `extra_body:`.")
        kinds, least = DECODING[name]
        fits = isinstance(value, kinds) and not isinstance(value, bool)
        if value is not None and not (fits and (least is None or value >= least)):
            kind = " or ".join(k.__name__ for k in (kinds if isinstance(kinds, tuple) else (kinds,)))
            raise ValueError(f"{name} must be {kind}{'' if least is None else f' from {least} on'}, found {value!r}")
    return values


DecodingValues = Annotated[dict[str, Any], AfterValidator(check_decoding)]


class Price(BaseModel):
    """US dollars for a million tokens, on a date."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    date: str


class Model(BaseModel):
    """One row of the table. What can change an answer is in `identity()`; the rest says how to reach the model."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(exclude=True)
    backend: Literal["api", "local", "rules", "embedding"]
    id: str
    label: str = ""
    family: str | None = None  # models that share a family share habits; a judge of its own family is shown apart
    source: Literal["closed", "open", "math"] | None = None  # the groups of Table 2
    # what can change an answer
    revision: str | None = None
    weights: str | None = None  # which weights file, by hash, where the id alone does not say
    quantization: str | None = None  # local: null, 4bit or 8bit; api: as the server loaded it
    dtype: Literal["auto", "float32", "bfloat16", "float16"] | None = None
    gguf_file: str | None = None
    interface: Literal["chat", "completion"] = "chat"  # completion: a base model, prompted with the plain text
    add_generation_prompt: bool = True
    end_tokens: tuple[str, ...] = ()  # beside the tokenizer's own
    extra_body: dict[str, Any] = {}
    decoding: DecodingValues = {}
    system: str | None = None
    # how to reach it
    base_url: str | None = Field(default=None, pattern=r"^https?://")
    api_key_env: str | None = Field(default=None, pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")  # the name, never the key itself
    timeout_seconds: float = Field(default=600, gt=0)
    batch: bool = False  # api: ask through the endpoint's batch interface, at half the price, within a day
    window: int | None = Field(default=None, gt=0)  # tokens, prompt and answer together
    price: Price | None = None
    parameters_b: float | None = None  # billions, for the memory estimate
    gpus: int = Field(default=0, ge=0)
    batch_size: int = Field(default=32, gt=0)
    continuous: bool | None = None  # local, greedy: continuous batching; null: on a GPU, where a trial finds it faster
    device_map: str | None = None
    use_fast_tokenizer: bool = True
    trust_remote_code: bool = False
    threshold: float | None = None  # embedding: cosine likeness from which a solution counts as known

    def identity(self) -> dict[str, Any]:
        """What of the model can change its answer: part of every key. Never its name, address or batch size."""
        about = {
            "id": self.id,
            "revision": self.revision,
            "weights": self.weights,
            "quantization": self.quantization,
            "dtype": self.dtype,
            "gguf_file": self.gguf_file,
            "threshold": self.threshold,
            "end_tokens": list(self.end_tokens) or None,
            "extra_body": self.extra_body or None,
            "interface": self.interface if self.interface != "chat" else None,
            "add_generation_prompt": None if self.add_generation_prompt else False,
            "use_fast_tokenizer": None if self.use_fast_tokenizer else False,  # it may cut a text differently
        }
        return {name: value for name, value in about.items() if value is not None}

    @property
    def shown(self) -> str:
        """The name in tables and figures."""
        return self.label or self.name


def nearest(word: str, known: Any) -> str:
    """A hint for a misspelt word: the nearest known one, or all of them."""
    close = difflib.get_close_matches(str(word), [str(k) for k in known], n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(sorted(map(str, known)))}"


def explain(error: ValidationError, where: str, kind: type[BaseModel]) -> str:
    """The first fault of a failed validation as one line: the thing, what is wrong with it, the remedy."""
    fault = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in fault["loc"])
    if fault["type"] == "extra_forbidden":
        known: Any = kind
        for part in fault["loc"][:-1]:
            known = _nested(known, part)
        return f"{where}: unknown key {place!r}; {nearest(fault['loc'][-1], keys_of(known or kind))}"
    if fault["type"] == "missing":
        return f"{where}: {place} is missing"
    if fault["type"] == "value_error":
        return f"{where}: {place}: {fault['ctx']['error']}"
    if place in SECRETIVE:  # what stands there may hold a key or a password: it is not shown
        return f"{where}: {place} must be {SECRETIVE[place]}"
    found = repr(fault["input"])
    found = found if len(found) <= 80 else found[:77] + "..."
    return f"{where}: {place}: {fault['msg']} (found {found}){REMEDIES.get(fault['type'], '')}"


def keys_of(kind: type[BaseModel]) -> list[str]:
    """The keys that a mapping of this kind may have in a file."""
    return [name for name, field in kind.model_fields.items() if not field.exclude]


def _nested(kind: Any, part: Any) -> Any:
    """The model class behind a field, through Optional."""
    field = getattr(kind, "model_fields", {}).get(part)
    if field is None:
        return None
    options = [field.annotation, *getattr(field.annotation, "__args__", ())]
    return next((o for o in options if isinstance(o, type) and issubclass(o, BaseModel)), None)


def read_model(name: str, fields: Any, where: str) -> Model:
    """One row of the table, checked. Raises KitError that names the model, the field and the remedy."""
    if not NAME.fullmatch(str(name)):
        raise KitError(f"{where}: model name {name!r} may hold only letters, digits, '.', '_' and '-': it names files")
    if name in RESERVED:
        raise KitError(f"{where}: model name {name!r} is the name of a file of the run; choose another")
    where = f"{where}: models.{name}"
    if not isinstance(fields, dict):
        raise KitError(f"{where} must be a mapping such as {{backend: api, id: ...}}")
    for key in fields:
        if key not in (known := keys_of(Model)):
            raise KitError(f"{where}: unknown key {key!r}; {nearest(key, known)}")
    for key in ("backend", "id"):
        if key not in fields:
            raise KitError(f"{where}: {key} is missing; an entry with a backend or id of its own inherits nothing")
    try:
        model = Model(name=name, **fields)
    except ValidationError as error:
        raise KitError(explain(error, where, Model)) from None
    for key in model.extra_body:
        if key in (*KITS_OWN, *DECODING) and key != "top_k":
            instead = "`id`" if key == "model" else "`decoding`" if key in DECODING or "max" in key else "the prompts"
            raise KitError(f"{where}: extra_body: {key!r} is set by the kit, from {instead}; take it out")
    if model.quantization in ("4bit", "8bit") and model.backend == "api":
        raise KitError(
            f"{where}: quantization: {model.quantization} is how a local model is loaded; of an endpoint say what it "
            "serves, such as Q4_K_M, or take it out"
        )
    if model.batch and model.backend != "api":
        raise KitError(f"{where}: batch is for backend api alone, this one is {model.backend}; take it out")
    return model


def load_table(overrides: dict[str, dict[str, Any]] | None = None, where: str = "profile") -> dict[str, Model]:
    """The kit's models with a profile's own laid over them, field by field.

    An entry that names another `backend` or `id` is a model of its own and inherits nothing: weights, price and window
    of one model would be wrong for another.
    """
    table = _shipped_table()
    models = {name: read_model(name, fields, "models.yaml") for name, fields in table.items()}
    for name, fields in (overrides or {}).items():
        if isinstance(fields, dict):
            base = table.get(name, {})
            another = any(key in fields and fields[key] != base.get(key) for key in ("backend", "id"))
            fields = fields if another else {**base, **fields}
        models[name] = read_model(name, fields, where)
    return models


@cache
def _shipped_table() -> dict[str, dict[str, Any]]:
    return yaml.safe_load(resources.files("creativemath_utils").joinpath("models.yaml").read_text("utf-8"))


def find_model(models: dict[str, Model], name: str, where: str) -> Model:
    """The model of that name. Raises KitError with the nearest known name."""
    if name not in models:
        raise KitError(f"{where}: model {name!r} is in no table; {nearest(name, models)} Add it under `models:`.")
    return models[name]
