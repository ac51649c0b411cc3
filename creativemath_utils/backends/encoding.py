"""Messages to token ids, and generated text to answer and reasoning: what a chat template does to a call.

Templates differ in what they accept. One that refuses a system role, or drops it without a word, gets the system
text at the head of the first user turn; one that refuses two turns of the same role gets them as one. Every model so
reads the same text, and what was done stands in the response.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jinja2.exceptions import TemplateError

from creativemath_utils.backends.turns import fold_system, merge_turns
from creativemath_utils.models import Model
from creativemath_utils.records import KitError

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Prompt:
    """Token ids of a call, begin token included; `notes` says what of the messages was rearranged."""

    ids: list[int]
    opens_reasoning: bool = False  # the template itself wrote `<think>`, so the answer begins inside the block
    notes: Mapping[str, bool] = field(default_factory=dict)


class PromptEncoder:
    """Turns messages into ids for one tokenizer, by its chat template or, for a base model, as plain text.

    Raises KitError where the model is to chat and its tokenizer has no template, or has one that fails on a plain
    user turn.
    """

    def __init__(self, tokenizer: Any, model: Model) -> None:
        self.tokenizer = tokenizer
        self.model = model
        # A tokenizer that begins every text with a token of its own does so for an empty text too; the slow ones of
        # transformers 5 leave that to whoever reads their setting.
        first = tokenizer("", add_special_tokens=True)["input_ids"][:1]
        if not tokenizer.is_fast and tokenizer.init_kwargs.get("add_bos_token"):
            first = [tokenizer.bos_token_id]
        self.begin = [token for token in first if token is not None and token == tokenizer.bos_token_id]
        self.chat = model.interface == "chat"
        self.folds_system = self.merges_turns = False
        if not self.chat:
            return
        if tokenizer.chat_template is None:
            raise KitError(
                f"model {model.name}: the tokenizer of {model.id} has no chat template; set `interface: completion` "
                "for a base model, or take the instruction-tuned weights"
            )
        try:
            self._render([{"role": "user", "content": "alpha"}])
        except TemplateError as error:
            raise KitError(f"model {model.name}: its chat template fails on a plain user turn: {error}") from error
        turn, second = {"role": "user", "content": "alpha"}, {"role": "user", "content": "omega"}
        self.folds_system = not self._accepts([{"role": "system", "content": "sigma"}, turn])
        self.merges_turns = not self._accepts([turn, second])

    def encode(self, messages: Sequence[Mapping[str, str]]) -> Prompt:
        """The prompt of a call: exactly one begin token where the model has one. Raises jinja2's TemplateError."""
        turns = [{**turn, "content": _SURROGATE.sub("\ufffd", turn["content"])} for turn in messages]
        notes = {"surrogates_replaced": True} if turns != [dict(turn) for turn in messages] else {}
        turns = [turn for turn in turns if turn["role"] != "system" or turn["content"].strip()]
        if not self.chat:
            text = "\n\n".join(turn["content"] for turn in turns)
            # split_special_tokens: a problem that spells a control token out is text, not control.
            ids = self.tokenizer(text, add_special_tokens=False, split_special_tokens=True)["input_ids"]
            return Prompt(self.begin + ids, notes=notes)
        if self.folds_system and any(turn["role"] == "system" for turn in turns):
            turns = fold_system(turns)
            notes["system_folded"] = True
        if self.merges_turns and (merged := merge_turns(turns)) != turns:
            turns = merged
            notes["turns_merged"] = True
        ids = self._render(turns)
        while len(ids) > 1 and ids[0] == ids[1] == self.tokenizer.bos_token_id:
            ids = ids[1:]
        if self.begin and ids[:1] != self.begin:
            ids = self.begin + ids
        tail = self.tokenizer.decode(ids[-8:], skip_special_tokens=False).rstrip()
        return Prompt(ids, opens_reasoning=tail.endswith("<think>"), notes=notes)

    def _render(self, turns: list[dict[str, str]]) -> list[int]:
        """Ids by the template alone: it writes the control tokens, and those spelt out in a message stay text.

        `apply_chat_template` itself tokenizes with add_special_tokens=False, so nothing is put in front a second time.
        """
        encoded = self.tokenizer.apply_chat_template(
            turns,
            add_generation_prompt=self.model.add_generation_prompt,
            tokenize=True,
            return_dict=True,
            sanitize_control_tokens=True,
            **self.model.extra_body.get("chat_template_kwargs", {}),
        )
        return list(encoded["input_ids"])

    def _accepts(self, turns: list[dict[str, str]]) -> bool:
        """Whether the template takes these turns and leaves none of them out."""
        try:
            text = self.tokenizer.apply_chat_template(
                turns,
                add_generation_prompt=self.model.add_generation_prompt,
                tokenize=False,
                **self.model.extra_body.get("chat_template_kwargs", {}),
            )
        except TemplateError:
            return False
        return all(turn["content"] in text for turn in turns)
