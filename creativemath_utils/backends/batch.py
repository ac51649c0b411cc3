"""A model asked in batches: a file of calls, answered within a day at half the price (`batch: true`).

What a batch has answered is answered; what it did not get to is asked again in the next one. A batch is remembered on
disk before it is made, so that the next run finds it again if this one is stopped or killed. Where something ends the
work on one batch, the others under way are collected all the same.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Any

from creativemath_utils.backends.batch_endpoint import BatchEndpoint, NotTaken, Unreachable
from creativemath_utils.backends.batch_replies import ENDED, BatchState, read_row
from creativemath_utils.backends.dialect import Dialect
from creativemath_utils.backends.endpoint import TRIES
from creativemath_utils.backends.replies import HOPELESS, Blank, Permanent, Transient
from creativemath_utils.backends.sent import SentBatch, SentBatches, form_of
from creativemath_utils.models import Model
from creativemath_utils.records import KitError, Request, Response
from creativemath_utils.spending import Charge, Spending
from creativemath_utils.store import dump_line

log = logging.getLogger(__name__)

MOST_LINES, MOST_BYTES = 50_000, 190_000_000  # of a file; the interface takes 200 MB
ROUNDS = 3  # batches that a request may go through: each may take a day
POLL_SECONDS, LONGEST_POLL_SECONDS = 5.0, 60.0
OUTAGE_SECONDS = 3600.0  # so long an endpoint may be out of reach before nobody waits for a batch any more


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
        outage_seconds: float = OUTAGE_SECONDS,
        tries: int = TRIES,
    ) -> None:
        super().__init__(model, spending, tries=tries, backoff_seconds=poll_seconds / 5)
        self.poll_seconds = poll_seconds
        self.outage_seconds = outage_seconds
        self._kept = kept
        self._memory = SentBatches(model.name, folder)
        self._most_lines = MOST_LINES
        self._one_by_one = False  # batches, where the endpoint takes only so many tokens at a time
        self._begin({})

    def _begin(self, wanted: dict[str, Request]) -> None:
        self._wanted = wanted
        self._waiting = deque(wanted.values())  # for a batch
        self._charges: dict[str, Charge] = {}  # of what is in a batch
        self._seen: dict[str, float] = {}  # when a batch was last seen, by its input file
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
                    if (batch := await self._send(lines)) is not None:
                        running.append(batch)
                        pause = self.poll_seconds
                if not running and (self._given_up or not self._waiting):
                    break
                await asyncio.sleep(pause)
                pause = min(1.5 * pause, max(LONGEST_POLL_SECONDS, self.poll_seconds))
                for batch in list(running):
                    if (responses := await self._look(batch)) is not None:
                        running.remove(batch)
                        pause = self.poll_seconds
                        for response in responses:
                            yield response
            if self._given_up:
                raise self._given_up
        finally:
            self._leave(list(self._charges))

    async def close(self) -> None:
        self._memory.forget_kept(self._kept)
        await super().close()

    async def _pick_up(self) -> list[SentBatch]:
        """The batches that an earlier process has sent, with answers that are wanted now."""
        self._memory.forget_kept(self._kept)
        running = []
        for batch in self._memory.all():
            keys = [key for key in batch.keys if key in self._wanted and key not in self._charges]
            if not keys or batch.where.rstrip("/") != self.where:
                continue
            if batch.id is None:
                try:
                    await self._make(batch, perhaps_there=True)
                except NotTaken as error:
                    log.warning("%s; it was never made a batch, and its calls are asked again", error)
                    continue
                except KitError as error:  # nobody knows whether it was made: no other batch may ask the same
                    self._given_up = self._given_up or error
                    continue
            for key in keys:
                self._charges[key] = self._spending.enter(self.model, self._wanted[key], batch=True)
            self._seen[batch.input_file] = time.monotonic()
            self._dialect = batch.dialect(self.model)  # what was learnt then holds for new batches too
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
            except KitError as reason:  # a limit that is reached, or a worst case that nobody knows
                self._given_up = self._given_up or reason
                break
            if charge is None:  # there may be money when calls in flight have cost less than their worst case
                break
            self._charges[request.key] = charge
            lines[request.key] = line
            self._waiting.popleft()
        return lines, refused

    async def _send(self, lines: dict[str, bytes]) -> SentBatch | None:
        """Make a batch of these lines; None where that cannot be done, and no further one is sent.

        It is remembered from before the endpoint may begin with it.
        """
        form = form_of(self._dialect)  # the lines are in this one, whatever is learnt meanwhile
        try:
            input_file = await self.upload(b"".join(lines.values()))
            batch = SentBatch(self.model.name, self.where, input_file, list(lines), form)
            self._memory.save(batch)
            await self._make(batch)
        except KitError as error:
            self._given_up = self._given_up or error
            self._leave(lines)
            return None
        self._seen[batch.input_file] = time.monotonic()
        print(
            f"{self.model.name}: batch {batch.id} of {len(lines)} calls is under way and may take a day; stop whenever "
            "you like, the next run picks it up",
            flush=True,
        )
        return batch

    async def _make(self, batch: SentBatch, perhaps_there: bool = False) -> None:
        """Let the endpoint make the batch. Raises KitError; where that is NotTaken, the batch is forgotten."""
        try:
            batch.id = await self.start(batch, perhaps_there)
        except NotTaken:
            self._memory.forget(batch)
            raise
        self._memory.save(batch)

    async def _look(self, batch: SentBatch) -> list[Response] | None:
        """The responses in a batch that has ended; None while it has not, or the endpoint is out of reach for a while.

        Whatever else is in the way ends the work on this batch alone: it stays remembered, and no new one is sent.
        """
        try:
            state = await self.state(batch)
            if state is None or state.status in ENDED:
                return await self._collect(batch, state)
            self._seen[batch.input_file] = time.monotonic()
            return None
        except KitError as error:
            outage = time.monotonic() - self._seen[batch.input_file]
            if isinstance(error, Unreachable) and outage < self.outage_seconds:
                log.warning("%s: out of reach for %.0f s, looking again: %s", self.model.name, outage, error)
                return None
            self._given_up = self._given_up or error
            self._leave(batch.keys)
            return []

    def _leave(self, keys: Iterable[str]) -> None:
        """Take these calls out of the account: whoever picks their batch up enters them again."""
        for key in keys:
            if key in self._charges:
                self._settle(key, Charge.withdraw)

    async def _collect(self, batch: SentBatch, state: BatchState | None) -> list[Response]:
        """The responses in a batch that has ended; what is worth another batch goes back to the queue."""
        mine = [key for key in batch.keys if key in self._charges]
        if self._is_too_many(state, len(mine)):
            self._memory.forget(batch)
            for key in reversed(mine):
                self._waiting.appendleft(self._wanted[key])
                self._settle(key, Charge.withdraw)
            return []
        rows = await self.rows(state) if state else {}
        dialect = batch.dialect(self.model)
        responses = []
        for key in mine:
            response = self._outcome_of(self._wanted[key], rows.get(key), state, dialect)
            self._settle(key)
            responses += [response] if response else []
        answered = {response.key for response in responses if response.status != "failed"}
        batch.keys = [key for key in batch.keys if key not in mine or key in answered]
        batch.collected = True
        try:
            if batch.keys and state:
                self._memory.save(batch)  # until the answers are on disk
            else:
                self._memory.forget(batch)
        except KitError as error:  # the answers in hand come first
            self._given_up = self._given_up or error
        return responses

    def _settle(self, key: str, how: Callable[[Charge], None] = lambda charge: None) -> None:
        charge = self._charges.pop(key)
        how(charge)
        self._spending.settle(charge)

    def _outcome_of(
        self, request: Request, row: dict[str, Any] | None, state: BatchState | None, dialect: Dialect
    ) -> Response | None:
        """The response to a request, its cost entered; None where it waits for another batch or all is in vain."""
        sent, charge = dialect.form(request), self._charges[request.key]
        try:
            response = read_row(request, row, state, {**dialect.settings(request, sent), "batch": True}, charge)
            charge.paid(response.usage)
            return response
        except Blank as error:
            charge.paid(error.response.usage)
            return error.response if error.paid else self._again(request, error)  # paid: it is what the model says
        except Transient as error:
            return self._again(request, error)
        except Permanent as error:
            if error.about in HOPELESS:
                self._given_up = self._given_up or self._hopeless(error)
                return None
            if self._dialect.learn(error, request, sent):
                self._waiting.append(request)
                return None
            return self._outcome(request, error)

    def _again(self, request: Request, error: Transient) -> Response | None:
        """Put a request back for the next batch, or fail it where it has been through enough of them."""
        self._rounds[request.key] += 1
        if self._rounds[request.key] >= ROUNDS:
            return Response.failure(request, self._clean(f"{error}; gave up after {ROUNDS} batches"))
        self._waiting.append(request)
        return None

    def _is_too_many(self, state: BatchState | None, size: int) -> bool:
        """Whether the endpoint took the batch for more than its queue holds; then the next ones are smaller."""
        faults = state.faults if state else ()
        too_many = [fault for fault in faults if fault.get("code") == "token_limit_exceeded"]
        if not too_many or size < 2:
            return False
        self._most_lines, self._one_by_one = max(1, size // 2), True
        line = f"{self.model.name}: batches of {self._most_lines} calls from now on, one after another"
        reason = self._clean(str(too_many[0].get("message")))
        print(f"{line} ({reason})", flush=True)
        return True
