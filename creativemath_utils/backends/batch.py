"""A model asked in batches: a file of calls, answered within a day at half the price (`batch: true`).

What a batch has answered is answered; what it did not get to is asked again in the next one. A batch is remembered on
disk before it is made, so that the next run finds it again if this one is stopped or killed.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

from openai.types import Batch

from creativemath_utils.backends.batch_endpoint import ENDED, BatchEndpoint
from creativemath_utils.backends.dialect import Dialect
from creativemath_utils.backends.endpoint import TRIES
from creativemath_utils.backends.replies import Blank, Permanent, Transient, classify, error_in, read_reply
from creativemath_utils.backends.sent import SentBatch, SentBatches
from creativemath_utils.models import Model
from creativemath_utils.records import KitError, Request, Response
from creativemath_utils.spending import Charge, LimitReached, Spending
from creativemath_utils.store import dump_line

MOST_LINES, MOST_BYTES = 50_000, 190_000_000  # of a file; the interface takes 200 MB
ROUNDS = 3  # batches that a request may go through: each may take a day
POLL_SECONDS, LONGEST_POLL_SECONDS = 5.0, 60.0


class BatchBackend(BatchEndpoint):
    """A model asked in batches, which are remembered in `folder` until the answer of every key is `kept`."""

    def __init__(
        self,
        model: Model,
        *,
        spending: Spending | None = None,
        folder: Path | None = None,
        kept: Callable[[str], bool] = lambda key: False,
        poll_seconds: float = POLL_SECONDS,
        tries: int = TRIES,
    ) -> None:
        super().__init__(model, spending, tries=tries, backoff_seconds=poll_seconds / 5)
        self.poll_seconds = poll_seconds
        self._kept = kept
        self._memory = SentBatches(model.name, folder)
        self._most_lines = MOST_LINES
        self._one_by_one = False  # batches, where the endpoint takes only so many tokens at a time
        self._begin({})

    def _begin(self, wanted: dict[str, Request]) -> None:
        self._wanted = wanted
        self._waiting = deque(wanted.values())  # for a batch
        self._charges: dict[str, Charge] = {}  # of what is in a batch
        self._rounds: Counter[str] = Counter()
        self._given_up: KitError | None = None  # why no further batch is sent

    async def answers(self, requests: Iterable[Request]) -> AsyncIterator[Response]:
        """Responses batch by batch. Where no further one may be sent, those under way are collected before KitError."""
        self._begin({request.key: request for request in requests})
        try:
            running = await self._pick_up()
            pause = self.poll_seconds
            while running or self._waiting:
                while self._waiting and not self._given_up and not (running and self._one_by_one):
                    lines, refused = self._take()
                    for response in refused:
                        yield response
                    if not lines:
                        break
                    running.append(await self._send(lines))
                    pause = self.poll_seconds
                if not running and (self._given_up or not self._waiting):
                    break
                await asyncio.sleep(pause)
                pause = min(1.5 * pause, max(LONGEST_POLL_SECONDS, self.poll_seconds))
                for batch in list(running):
                    state = await self.state(batch)
                    if state is None or state.status in ENDED:
                        running.remove(batch)
                        pause = self.poll_seconds
                        for response in await self._collect(batch, state):
                            yield response
            if self._given_up:
                raise self._given_up
        finally:
            for charge in self._charges.values():
                self._spending.settle(charge)

    async def close(self) -> None:
        self._memory.forget_kept(self._kept)
        await super().close()

    async def _pick_up(self) -> list[SentBatch]:
        """The batches that an earlier process has sent, with answers that are wanted now."""
        self._memory.forget_kept(self._kept)
        running = []
        for batch in self._memory.all():
            keys = [key for key in batch.keys if key in self._wanted and key not in self._charges]
            if not keys or batch.where != self.where:
                continue
            if batch.id is None:
                batch.id = await self.start(batch, perhaps_there=True)
                self._memory.save(batch)
            for key in keys:
                self._charges[key] = self._spending.enter(self.model, self._wanted[key], batch=True)
            self._dialect = self._dialect_of(batch)  # what was learnt then holds for new batches too
            running.append(batch)
            print(f"{self.model.name}: picked up batch {batch.id} with {len(keys)} of these calls", flush=True)
        self._waiting = deque(request for key, request in self._wanted.items() if key not in self._charges)
        return running

    def _take(self) -> tuple[dict[str, bytes], list[Response]]:
        """The lines of the next batch by key, as far as size and money go, and the failures of what cannot be sent."""
        lines: dict[str, bytes] = {}
        refused: list[Response] = []
        size = 0
        while self._waiting and len(lines) < self._most_lines:
            request = self._waiting[0]
            if refusal := self._refusal(request):
                refused.append(refusal)
                self._waiting.popleft()
                continue
            body = self._dialect.form(request)
            line = dump_line({"custom_id": request.key, "method": "POST", "url": self.path, "body": body})
            size += len(line)
            if lines and size > MOST_BYTES:
                break
            try:
                charge = self._spending.try_reserve(self.model, request, batch=True)
            except LimitReached as reached:
                self._given_up = reached
                break
            if charge is None:  # there may be money when calls in flight have cost less than their worst case
                break
            self._charges[request.key] = charge
            lines[request.key] = line
            self._waiting.popleft()
        return lines, refused

    async def _send(self, lines: dict[str, bytes]) -> SentBatch:
        """Make a batch of these lines. It is remembered from before the endpoint may begin with it."""
        dialect = self._dialect
        form = {"renamed_limit": dialect.renamed_limit, "folded": dialect.folded, "dropped": sorted(dialect.dropped)}
        input_file = await self.upload(b"".join(lines.values()))
        batch = SentBatch(self.model.name, self.where, input_file, list(lines), form)
        self._memory.save(batch)
        batch.id = await self.start(batch)
        self._memory.save(batch)
        print(
            f"{self.model.name}: batch {batch.id} of {len(lines)} calls is under way and may take a day; stop whenever "
            "you like, the next run picks it up",
            flush=True,
        )
        return batch

    async def _collect(self, batch: SentBatch, state: Batch | None) -> list[Response]:
        """The responses in a batch that has ended; what is worth another batch goes back to the queue."""
        mine = [key for key in batch.keys if key in self._charges]
        if self._is_too_many(state, len(mine)):
            self._memory.forget(batch)
            for key in reversed(mine):
                self._waiting.appendleft(self._wanted[key])
                self._settle(key, lambda charge: charge.withdraw())
            return []
        rows = await self.rows(state) if state else {}
        dialect = self._dialect_of(batch)
        responses = []
        for key in mine:
            response, usage = self._outcome_of(self._wanted[key], rows.get(key), state, dialect)
            known = usage is not None or (response is not None and response.status != "failed")
            self._settle(key, lambda charge, usage=usage, known=known: charge.paid(usage) if known else charge.free())
            responses += [response] if response else []
        answered = {response.key for response in responses if response.status != "failed"}
        batch.keys = [key for key in batch.keys if key not in mine or key in answered]
        batch.collected = True
        if batch.keys and state:
            self._memory.save(batch)  # until the answers are on disk
        else:
            self._memory.forget(batch)
        return responses

    def _settle(self, key: str, how: Callable[[Charge], None]) -> None:
        charge = self._charges.pop(key)
        how(charge)
        self._spending.settle(charge)

    def _outcome_of(
        self, request: Request, row: dict[str, Any] | None, state: Batch | None, dialect: Dialect
    ) -> tuple[Response | None, Any]:
        """The response to a request, None where it waits for another batch or all is in vain; and what usage it had."""
        sent = dialect.form(request)
        try:
            response = _read(request, row, state, {**dialect.settings(request, sent), "batch": True})
            return response, response.usage
        except Blank as error:
            if error.paid:  # it is what the model has to say
                return error.response, error.response.usage
            return self._again(request, error), None
        except Transient as error:
            return self._again(request, error), None
        except Permanent as error:
            if error.about in ("key", "credit", "model"):
                self._given_up = self._given_up or self._hopeless(error)
                return None, None
            if self._dialect.learn(error, request, sent):
                self._waiting.append(request)
                return None, None
            return self._outcome(request, error), None

    def _again(self, request: Request, error: Transient) -> Response | None:
        """Put a request back for the next batch, or fail it where it has been through enough of them."""
        self._rounds[request.key] += 1
        if self._rounds[request.key] >= ROUNDS:
            return Response.failure(request, self._clean(f"{error}; gave up after {ROUNDS} batches"))
        self._waiting.append(request)
        return None

    def _is_too_many(self, state: Batch | None, size: int) -> bool:
        """Whether the endpoint took the batch for more than its queue holds; then the next ones are smaller."""
        faults = (state.errors.data or []) if state and state.errors else []
        too_many = [fault for fault in faults if fault.code == "token_limit_exceeded"]
        if not too_many or size < 2:
            return False
        self._most_lines, self._one_by_one = max(1, size // 2), True
        line = f"{self.model.name}: batches of {self._most_lines} calls from now on, one after another"
        print(f"{line} ({self._clean(str(too_many[0].message))})", flush=True)
        return True

    def _dialect_of(self, batch: SentBatch) -> Dialect:
        """The form in which the batch was sent."""
        dialect = Dialect(self.model)
        dialect.renamed_limit = bool(batch.form.get("renamed_limit"))
        dialect.folded = bool(batch.form.get("folded"))
        dialect.dropped = set(batch.form.get("dropped", ()))
        return dialect


def _read(request: Request, row: dict[str, Any] | None, state: Batch | None, settings: dict[str, Any]) -> Response:
    """The response in a line of a batch's files. Raises Transient or Permanent where there is none."""
    reply = (row or {}).get("response")
    if isinstance(reply, dict) and isinstance(reply.get("status_code"), int):
        body = reply.get("body")
        if reply["status_code"] != 200:
            raise classify(reply["status_code"], body)
        if (fault := error_in(body)) is not None:
            raise fault
        return read_reply(request, body, settings)
    if state is not None and state.status == "cancelled":
        raise Permanent("the batch was cancelled at the endpoint; run again to ask the rest")
    if state is not None and state.status == "failed":  # the file was not taken; it would not be the next time either
        faults = (state.errors.data or []) if state.errors else []
        about = {"code": faults[0].code, "message": faults[0].message, "param": faults[0].param} if faults else {}
        fault = classify(400, {"error": about}, "the endpoint did not take the batch")
        raise fault if isinstance(fault, Permanent) else Permanent(str(fault))
    error = (row or {}).get("error")
    reason = (error.get("message") or error.get("code")) if isinstance(error, dict) else None
    raise Transient(str(reason or "the batch ended without an answer to this call"))
