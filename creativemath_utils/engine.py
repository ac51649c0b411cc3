"""`complete(requests)`: an answer for each request, in order, each asked at most once.

The ledger is looked up first; what is not there is asked of the models, several at once, as many calls in flight as the
profile allows each. An answer is on disk before it counts. A call that failed for good is returned with status
`failed`, kept in `failures`, and never stored: the next run asks it again.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from creativemath_utils import backends
from creativemath_utils.backends import Backend
from creativemath_utils.backends.recorded import RecordedBackend
from creativemath_utils.event_loop import LoopThread
from creativemath_utils.ledger import Ledgers
from creativemath_utils.models import Model, find_model
from creativemath_utils.progress import Progress
from creativemath_utils.records import KitError, Request, Response
from creativemath_utils.spending import LimitReached, Spending
from creativemath_utils.store import shown

Complete = Callable[[Sequence[Request]], list[Response]]


class Engine:
    """Asks models, and remembers. Use as a context manager, or call `close` at the end.

    `models` is the table of models, `ledgers` where answers are looked up and kept, `concurrency` the calls in flight
    a model, `offline` forbids asking any model. `max_cost_usd` and `max_calls` are limits of the run (`spending.py`):
    answers that its own ledger holds count too, those of a recording that it reads do not. (While a recording is made,
    it is the run's own ledger: so one that was stopped goes on within the same limit.)
    """

    def __init__(
        self,
        models: dict[str, Model],
        ledgers: Ledgers,
        *,
        concurrency: int = 50,
        offline: bool = False,
        max_cost_usd: float | None = None,
        max_calls: int | None = None,
        open_backend: Callable[[Model, int], Backend] | None = None,
    ) -> None:
        self.models = models
        self.ledgers = ledgers
        self.concurrency = concurrency
        self.offline = offline
        self.asked = 0  # calls that reached a backend
        self._failed: dict[tuple[str, str], Response] = {}  # by ledger and key
        self.spending = Spending(max_cost_usd, max_calls)
        self._open_backend = open_backend or partial(
            backends.open_backend,
            spending=self.spending,
            folder=ledgers.folder,
            kept=lambda key: bool(ledgers.find(key)),
        )
        self._backends: dict[str, Backend] = {}
        self._in_memory: str | None = None  # the local model that was asked last, and is still loaded
        self._loop = LoopThread("engine")

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def failures(self) -> dict[str, list[Response]]:
        """The calls that have failed and were not answered since, by ledger."""
        by_ledger: dict[str, list[Response]] = {}
        for (ledger, _), response in self._failed.items():
            by_ledger.setdefault(ledger, []).append(response)
        return by_ledger

    def complete(self, requests: Sequence[Request]) -> list[Response]:
        """The responses to `requests`, in their order.

        Raises KitError before the first call if anything is missing (a key, weights, a wrong address), and where a
        limit of the profile stops the run: then all answers that came are kept.
        """
        found: dict[str, Response] = {}
        pending: dict[str, Request] = {}
        for request in requests:
            if request.key in found or request.key in pending:
                continue
            recorded = self.ledgers.find(request.key, request.ledger)
            if recorded is not None:
                found[request.key] = recorded
            else:
                pending[request.key] = request
        if pending:
            known = Counter(request.model for request in requests if request.key in found)
            for response in self._run(self._ask(list(pending.values()), known)):
                found[response.key] = response
        for request in requests:
            if found[request.key].status == "failed":
                self._failed[request.ledger, request.key] = found[request.key]
            else:
                self._failed.pop((request.ledger, request.key), None)
        return [replace(found[request.key], model=request.model) for request in requests]

    def check(self, names: Iterable[str]) -> None:
        """Try the way to these models, at no cost. Raises KitError with everything that is missing, at once."""
        self._run(self._prepare(names))

    def close(self) -> None:
        """Let go of backends, ledgers and the thread."""
        try:
            if self._backends:
                self._run(_close_all(self._backends.values()))
        finally:
            self._backends.clear()
            self.ledgers.close()
            self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do `work` and wait for it. Ctrl-C ends the work first, with its answers written."""
        try:
            return self._loop.run(work)
        except KeyboardInterrupt:
            print("Stopped. All answers so far are kept: run the same again to go on from here.", flush=True)
            raise

    async def _ask(self, requests: list[Request], known: Mapping[str, int]) -> list[Response]:
        by_model: dict[str, list[Request]] = defaultdict(list)
        await self._prepare({request.model for request in requests})
        writers = {} if self.offline else {r.ledger: self.ledgers.writable(r.ledger) for r in requests}
        done: list[Response] = []
        for request in requests:  # another run may have answered since they were looked up; now it cannot any more
            if writers and (answer := writers[request.ledger].find(request.key)) is not None:
                done.append(answer)
            else:
                by_model[request.model].append(request)
        if not self.offline:
            self.spending.count_earlier(self.ledgers.tallies(), self.models)
        queue: asyncio.Queue[Response | None] = asyncio.Queue()
        ledger_of = {request.key: request.ledger for request in requests}
        totals = {name: len(rs) for name, rs in by_model.items()}
        with Progress(totals, known, cost=lambda name: self.spending.cost_of(self.models[name])) as progress:

            async def ask_model(name: str) -> None:
                async with contextlib.aclosing(self._answers(name, by_model[name], progress)) as responses:
                    async for response in responses:
                        queue.put_nowait(response)

            async def ask_local_models(names: list[str]) -> None:
                """One after another, as two large models may not fit into the same GPUs. The one that is in memory is
                first, and the last one stays there until another is wanted.
                """
                for name in sorted(names, key=lambda name: name != self._in_memory):
                    if self._in_memory != name and (other := self._backends.pop(self._in_memory or "", None)):
                        await other.close()
                    self._in_memory = name
                    await ask_model(name)

            async def write() -> None:
                """Write what has come in since the last write, in one go: one sync for many answers."""
                last = False
                while not last:
                    batch = [await queue.get()]
                    while not queue.empty():
                        batch.append(queue.get_nowait())
                    last = batch[-1] is None
                    answers = [response for response in batch if response is not None]
                    by_ledger: dict[str, list[Response]] = defaultdict(list)
                    for response in answers:
                        if response.status != "failed":
                            by_ledger[ledger_of[response.key]].append(response)
                    for ledger, responses in by_ledger.items():
                        await asyncio.to_thread(writers[ledger].append, responses)
                    done.extend(answers)
                    progress.advance(answers)

            local = [name for name in by_model if self.models[name].backend == "local" and not self.offline]
            work = [ask_model(name) for name in by_model if name not in local] + [ask_local_models(local)]
            asking = [asyncio.create_task(part) for part in work]
            writer = asyncio.create_task(write())
            showing = asyncio.create_task(progress.keep_showing())
            try:
                running: set[asyncio.Task[None]] = {writer, *asking}
                while running != {writer}:
                    ended, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    for task in ended:
                        task.result()  # raises what it raised: a bug, or the writer's full disk
            finally:
                for task in (*asking, showing):
                    task.cancel()
                await asyncio.gather(*asking, showing, return_exceptions=True)
                queue.put_nowait(None)
                await asyncio.shield(writer)
        if self.spending.reached and len(done) < len(requests):
            raise KitError(self.spending.stop_line())
        return done

    async def _answers(self, name: str, requests: list[Request], progress: Progress) -> AsyncGenerator[Response, None]:
        """The backend's responses, stamped with the time. When it gives up, what is left failed for the same reason.

        Where a limit of the run is reached, what is left has no response.
        """
        left = {request.key: request for request in requests}

        def taken() -> Iterator[Request]:
            for request in requests:
                if not self.offline:
                    try:
                        self.spending.count(self.models[name])
                    except LimitReached:
                        return
                    self.asked += 1
                progress.begin(name)
                yield request

        try:
            async for response in self._backends[name].answers(taken()):
                left.pop(response.key, None)
                progress.arrive(name)
                yield replace(response, created=response.created or _now())
        except LimitReached:
            return
        except KitError as error:
            for request in left.values():
                yield Response.failure(request, str(error))
            return
        if left and not self.spending.reached:
            raise RuntimeError(f"the backend of {name!r} ended with {len(left)} requests without a response")

    async def _prepare(self, names: Iterable[str]) -> None:
        """Open the models' backends. Raises KitError with everything that is missing, at once, before any is asked."""
        opened: dict[str, Backend] = {}
        lines: dict[str, list[str]] = {}
        try:
            for name in sorted(set(names) - set(self._backends)):
                try:
                    opened[name] = self._open(name)
                    lines[name] = opened[name].missing()
                    if not self.offline:
                        lines[name] += self.spending.missing(self.models[name])
                except KitError as error:
                    lines[name] = [str(error)]
            ready = [name for name in opened if not lines[name]]
            tries = await asyncio.gather(*(opened[name].preflight() for name in ready), return_exceptions=True)
            for name, result in zip(ready, tries, strict=True):
                if isinstance(result, KitError):
                    lines[name] = [str(result)]
                elif isinstance(result, BaseException):
                    raise result
            if any(lines.values()):
                missing = dict.fromkeys(f"{name}: {line}" for name in lines for line in lines[name])
                raise KitError("nothing was asked; " + "; ".join(missing))
        except BaseException:
            await _close_all(opened.values())
            raise
        self._backends.update(opened)

    def _open(self, name: str) -> Backend:
        if self.offline:
            return RecordedBackend(shown(self.ledgers.recording or self.ledgers.folder))
        return self._open_backend(find_model(self.models, name, "the run"), self.concurrency)


async def _close_all(backends: Iterable[Backend]) -> None:
    """Close them all, also where one cannot be closed; then that is raised."""
    results = await asyncio.gather(*(backend.close() for backend in backends), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result


def failure_summary(failures: Iterable[Response]) -> str:
    """How many calls failed, and why: `3 calls failed: timed out (2), context too long (1)`."""
    reasons: dict[str, int] = defaultdict(int)
    for response in failures:
        reasons[response.error or "unknown"] += 1
    total = sum(reasons.values())
    ranked = sorted(reasons.items(), key=lambda item: -item[1])
    shown_reasons = "; ".join(f"{reason} ({count})" if count > 1 else reason for reason, count in ranked[:3])
    more = f"; and {len(ranked) - 3} more reasons" if len(ranked) > 3 else ""
    return f"{total} call{'s' if total > 1 else ''} failed: {shown_reasons}{more}"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
