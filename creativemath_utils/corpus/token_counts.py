"""How many tokens a text has, by the tokenizer that a profile names in `select: {tokenizer: ...}`.

    >>> token_counter("characters")("x" * 3000)
    1000

The count is of the text alone: no chat template around it, no begin token. So it does not hang on the model, and a
limit must leave room for both (some 10 to 40 tokens) and for the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from creativemath_utils.records import KitError
from creativemath_utils.spending import CHARACTERS_PER_TOKEN
from creativemath_utils.store import shown

CHARACTERS = "characters"
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
REMEDY = (
    "give `characters`, a folder with a tokenizer, a tokenizer.json, a .gguf file, or a name of the Hugging Face hub"
)

CountTokens = Callable[[str], int]


def by_characters(text: str) -> int:
    """The offline estimate: one token for CHARACTERS_PER_TOKEN (3) characters.

    Of the 400 published problems' longest prompts it makes 18 % more than the tokenizers of Qwen2.5 and of Gemma 3 do,
    on average (9 % less to 44 % more, 5th to 95th percentile): it is high where the prompt's own English is most of the
    text. Among prompts of 1,000 tokens and more it is right on average, from 25 % less (digits, code of drawings) to
    34 % more. None of the 400 changes sides of the paper's 3,000 tokens; of 1,000, which some 90 pass, 29 do.
    """
    return round(len(text) / CHARACTERS_PER_TOKEN)


def token_counter(name: str, path_of: Callable[[str], Path] = Path, offline: bool = False) -> CountTokens:
    """A function from a text to its number of tokens.

    `name`: `characters`; a local folder with a tokenizer, a `tokenizer.json` or a `.gguf` file (`path_of` finds it,
    such as `Profile.path`); else a name of the Hugging Face hub, of which `offline` takes only what is here already.
    Raises KitError where none of these has a tokenizer.
    """
    if name == CHARACTERS:
        return by_characters
    path = path_of(name)
    if not path.exists() and (path.suffix in (".json", ".gguf") or not HUB_NAME.fullmatch(name)):
        raise KitError(f"select: tokenizer {name!r}: there is no file or folder {shown(path)}; {REMEDY}")
    try:
        return _from_json(path) if path.suffix == ".json" and path.is_file() else _by_transformers(name, path, offline)
    except Exception as error:  # files of any state raise anything, and `tokenizers` raises Exception itself
        said = (str(error).strip() or type(error).__name__).splitlines()[0][:160]
        here = "it" if path.exists() else "no such file or folder is here, and the hub's"
        raise KitError(f"select: tokenizer {name!r}: {here} cannot be loaded ({said}); {REMEDY}") from None


def _from_json(path: Path) -> CountTokens:
    from tokenizers import Tokenizer  # wanted here alone, as transformers is below

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()  # the file may ask for it
    tokenizer.no_padding()
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _by_transformers(name: str, path: Path, offline: bool) -> CountTokens:
    """By a local folder or GGUF file, else by that name in the hub's cache here, else on the hub.

    Code that comes with a tokenizer is not run.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.utils import logging
    from transformers import AutoTokenizer

    logging.set_verbosity_error()  # tries in vain end in one line
    file = {"gguf_file": path.name} if path.is_file() else {}
    where = str(path.parent if path.is_file() else path if path.is_dir() else name)
    try:
        tokenizer = AutoTokenizer.from_pretrained(where, trust_remote_code=False, local_files_only=True, **file)
    except OSError:
        if path.exists() or offline:
            raise
        HfApi().model_info(name, timeout=10)  # fails at once without a network; transformers tries for a minute
        tokenizer = AutoTokenizer.from_pretrained(where, trust_remote_code=False)
    return lambda text: len(tokenizer.encode(text, add_special_tokens=False, truncation=False, verbose=False))
