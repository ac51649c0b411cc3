"""A server on 127.0.0.1 that speaks OpenAI's batch interface, for tests.

with BatchServer(endings=[{"status": "expired", "answered": 2}]) as server:
    ...  # the first batch expires after two of its calls, later ones complete
server.batches, server.steps, server.sizes
"""

from __future__ import annotations

import email
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qs

from loopback import Call, Loopback, Reply, Script, echo

NO_SUCH = Reply({"error": {"message": "no such object"}}, 404)


class BatchServer(Loopback):
    """Each line of a batch is answered by `script` as a call of its own would be (None: an echo).

    `endings` say how the first batches end: `status`, `answered` (so many lines, default all), `errors` (of the whole
    file); further ones complete. A batch has ended at its `polls`-th look. `fault(step, number)` may answer a step
    (`upload`, `create`, `list`, `state`, `content`) in the server's place; `lost` are steps (name, number) that are
    done but whose reply never arrives; `spoil(step, number, reply)` gives what arrives in its place. The list comes in
    pages of `page` batches.
    """

    def __init__(
        self,
        script: Sequence[Reply] | Script = (),
        *,
        endings: Sequence[dict[str, Any]] = (),
        polls: int = 1,
        fault: Callable[[str, int], Reply | None] = lambda step, number: None,
        lost: Sequence[tuple[str, int]] = (),
        spoil: Callable[[str, int, Reply], Reply] = lambda step, number, reply: reply,
        page: int = 100,
        **options: Any,
    ) -> None:
        super().__init__(script, **options)
        self.endings = endings
        self.polls = polls
        self.fault = fault
        self.lost = lost
        self.spoil = spoil
        self.page = page
        self.headers: dict[str, str] = {}  # of the last step
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.steps: Counter[str] = Counter()
        self._looks: Counter[str] = Counter()

    @property
    def sizes(self) -> list[int]:
        """The number of lines in each batch."""
        return [self.files[batch["input_file_id"]].count(b"\n") for batch in self.batches.values()]

    def bodies(self, number: int = 0) -> list[dict[str, Any]]:
        """The lines of a batch, as they were sent."""
        batch = list(self.batches.values())[number]
        return [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]

    async def _reply(self, path: str, headers: dict[str, str], content: bytes) -> Reply:
        route = path.partition("/v1/")[2].partition("?")[0].split("/")
        step = {1: "upload" if route[0] == "files" else "create" if content else "list", 2: "state"}.get(len(route))
        step = step or "content"
        number, self.steps[step] = self.steps[step], self.steps[step] + 1
        self.headers, self._query = headers, parse_qs(path.partition("?")[2])
        if (fault := self.fault(step, number)) is not None:
            return fault
        reply = getattr(self, f"_{step}")(route, headers, content)
        return Reply(reset=True) if (step, number) in self.lost else self.spoil(step, number, reply)

    def _upload(self, route: list[str], headers: dict[str, str], content: bytes) -> Reply:
        form = email.message_from_bytes(b"Content-Type: " + headers["content-type"].encode() + b"\r\n\r\n" + content)
        parts = {part.get_param("name", header="content-disposition"): part for part in form.get_payload()}
        assert parts["purpose"].get_payload() == "batch"
        return Reply({"id": self._store(parts["file"].get_payload(decode=True)), "object": "file", "purpose": "batch"})

    def _create(self, route: list[str], headers: dict[str, str], content: bytes) -> Reply:
        asked = json.loads(content)
        assert asked["completion_window"] == "24h"
        if asked["input_file_id"] not in self.files:
            return NO_SUCH
        number = len(self.batches)
        batch = {**asked, "id": f"batch_{number}", "object": "batch", "status": "validating",
                 "created_at": int(time.time())}  # fmt: skip
        self.batches[batch["id"]] = batch
        return Reply(batch)

    def _list(self, route: list[str], headers: dict[str, str], content: bytes) -> Reply:
        newest, after = list(self.batches.values())[::-1], self._query.get("after")
        first = 1 + [batch["id"] for batch in newest].index(after[0]) if after else 0
        page = newest[first : first + self.page]
        return Reply({"object": "list", "data": page, "has_more": first + self.page < len(newest)})

    def _state(self, route: list[str], headers: dict[str, str], content: bytes) -> Reply:
        batch = self.batches.get(route[1])
        if batch is None:
            return NO_SUCH
        self._looks[batch["id"]] += 1
        if self._looks[batch["id"]] == self.polls:
            self._end_batch(batch)
        return Reply(batch)

    def _content(self, route: list[str], headers: dict[str, str], content: bytes) -> Reply:
        return Reply(self.files[route[1]]) if route[1] in self.files else NO_SUCH

    def _store(self, content: bytes) -> str:
        name = f"file-{len(self.files)}"
        self.files[name] = content
        return name

    def _end_batch(self, batch: dict[str, Any]) -> None:
        number = list(self.batches).index(batch["id"])
        ending = self.endings[number] if number < len(self.endings) else {}
        lines = [json.loads(line) for line in self.files[batch["input_file_id"]].splitlines()]
        answered = lines[: ending.get("answered", len(lines))]
        batch["status"] = ending.get("status", "completed")
        if errors := ending.get("errors"):
            batch["errors"] = {"object": "list", "data": errors}
            return
        good, bad = [], []
        for line in reversed(answered):  # the order of the answers is nobody's promise
            assert line["url"] == batch["endpoint"] and line["method"] == "POST"
            reply = self._answer(line)
            response = {"status_code": reply.status, "request_id": "r", "body": reply.body}
            (good if reply.status == 200 else bad).append(
                {"id": "x", "custom_id": line["custom_id"], "response": response, "error": None}
            )
        for line in lines[len(answered) :]:
            error = {"code": f"batch_{batch['status']}", "message": f"batch {batch['status']} before this call"}
            bad.append({"id": "x", "custom_id": line["custom_id"], "response": None, "error": error})
        batch["request_counts"] = {"total": len(lines), "completed": len(good), "failed": len(bad)}
        for name, rows in (("output_file_id", good), ("error_file_id", bad)):
            if rows:
                batch[name] = self._store(b"".join(json.dumps(row).encode() + b"\n" for row in rows))

    def _answer(self, line: dict[str, Any]) -> Reply:
        text = json.dumps(line["body"])
        self._attempts[text] = self._attempts.get(text, 0) + 1
        call = Call(len(self.calls), self._attempts[text] - 1, line["url"], {}, line["body"])
        self.calls.append(call)
        if callable(self.script):
            return self.script(call) or echo(call)
        return self.script[call.number] if call.number < len(self.script) else echo(call)
