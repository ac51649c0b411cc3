"""The form in which an endpoint takes a call, learnt from what it rejects: each lesson costs one call, once."""

from __future__ import annotations

import logging
from typing import Any

from creativemath_utils.backends.replies import Permanent
from creativemath_utils.backends.turns import fold_system, merge_turns
from creativemath_utils.models import Model
from creativemath_utils.records import Request

log = logging.getLogger(__name__)

PASSED_ON = ("temperature", "top_p", "seed", "stop", "frequency_penalty", "presence_penalty", "reasoning_effort")


class Dialect:
    """How one model's endpoint wants its parameters and roles."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.renamed_limit = False  # max_completion_tokens instead of max_tokens
        self.dropped: set[str] = set()  # parameters that it does not take
        self.folded = False  # system text goes into the user turn

    def form(self, request: Request) -> dict[str, Any]:
        """The JSON body of the call. The token limit is never left out: it bounds what an answer may cost."""
        sent: dict[str, Any] = {"model": self.model.id}
        messages = [dict(message) for message in request.messages]
        if self.model.interface == "completion":
            sent["prompt"] = "\n\n".join(message["content"] for message in messages)
        else:
            sent["messages"] = merge_turns(fold_system(messages)) if self.folded else messages
        limit = "max_completion_tokens" if self.renamed_limit else "max_tokens"
        for name, value in request.decoding.items():
            if value is not None and name not in self.dropped:
                sent[limit if name == "max_new_tokens" else name] = value
        return {**sent, **self.model.extra_body}

    def settings(self, request: Request, sent: dict[str, Any]) -> dict[str, Any]:
        """What was really sent beside the texts, for the record."""
        settings = {name: value for name, value in sent.items() if name not in ("messages", "prompt", "model")}
        folded = "messages" in sent and sent["messages"] != [dict(message) for message in request.messages]
        return {**settings, "system_folded": True} if folded else settings

    def learn(self, error: Permanent, request: Request, sent: dict[str, Any]) -> bool:
        """Learn from a rejection. True if a call made now would be another one, be it by another call's lesson."""
        if error.about == "roles":
            self.folded = self.folded or self.model.interface == "chat"
        elif error.about == "parameter" and error.parameter == "max_tokens":
            self.renamed_limit = True
        elif error.about == "parameter" and error.parameter in PASSED_ON:
            self.dropped.add(error.parameter)
        changed = self.form(request) != sent
        if changed:
            what = "these roles" if error.about == "roles" else error.parameter
            log.info("%s: the endpoint does not take %s; asked in another form from now on", self.model.name, what)
        return changed
