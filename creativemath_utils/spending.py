"""What a run asks and pays: each call is counted before it is sent, and refused where it would pass a limit.

The worst case of a call (its input by a cautious count of characters, and every token it may write) is set aside until
its real cost is known, so that calls in flight cannot pass a limit together. Only what endpoints charge is money here:
a model on one's own machine costs none, and the baselines among the judges (rules, embedding) are no calls.

    >>> model = Model(name="m", backend="api", id="x", price={"input": 1, "output": 10, "date": "2026-01-01"})
    >>> cost_usd(model, {"input_tokens": 1_000_000, "output_tokens": 100_000})
    2.0
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass

from creativemath_utils.ledger_index import Tally
from creativemath_utils.models import Model
from creativemath_utils.records import KitError, Request

CHARACTERS_PER_TOKEN = 3.0  # mathematics in LaTeX: a cautious count that needs no tokenizer
FRAME_TOKENS = 16  # what a chat template puts around a message
BATCH_SHARE = 0.5  # of the price, for calls that an endpoint may answer within a day


class LimitReached(KitError):
    """The next call would pass a limit of the profile."""


@dataclass
class Charge:
    """One call's entry: what is set aside for it, in US dollars, until what it cost is known."""

    model: Model
    aside_usd: float
    batch: bool = False
    cost_usd: float | None = None  # None to the end: nobody said, so the worst case counts
    sent: bool = True

    def paid(self, usage: Mapping[str, int] | None) -> None:
        """The call was answered; `usage` counts its tokens, or is None where the endpoint does not say."""
        self.cost_usd = cost_usd(self.model, usage, batch=self.batch)

    def free(self) -> None:
        """The endpoint refused the call, which costs nothing."""
        self.cost_usd = 0.0

    def withdraw(self) -> None:
        """The call is not sent, or is another's to enter."""
        self.cost_usd, self.sent = 0.0, False

    def send(self) -> None:
        """The call goes out: until somebody says what it costs, its worst case counts."""
        self.cost_usd, self.sent = None, True


class Spending:
    """The account of a run, shared by all its models. Without limits it only counts.

    The limits are the run's, from the first notebook to the last: what its ledger holds already (`count_earlier`)
    counts with what this process asks, at today's table of prices. While a recording is made, the recording is that
    ledger. Tries that earlier processes made in vain are not
    known any more, and processes that run at the same time do not know of each other.
    """

    def __init__(self, max_cost_usd: float | None = None, max_calls: int | None = None) -> None:
        self.max_cost_usd = max_cost_usd
        self.max_calls = max_calls
        self.calls = 0  # every try is one
        self.reached: str | None = None  # the limit that has stopped the run
        self._earlier_usd = 0.0
        self._counted_earlier = False
        self._spent_usd: dict[str, float] = defaultdict(float)  # by model, in this process
        self._aside_usd = 0.0
        self._in_flight = 0
        self._priced = False
        self._underestimate: dict[str, float] = {}  # how far a model's calls have passed their worst case
        self._change = asyncio.Event()

    @property
    def total_usd(self) -> float:
        """What the run has cost so far, in US dollars; of calls in flight nothing yet."""
        return self._earlier_usd + sum(self._spent_usd.values())

    def cost_of(self, model: Model) -> float | None:
        """What this process has paid for a model so far, in US dollars; None where its price is not known."""
        return self._spent_usd[model.name] if model.price and model.backend == "api" else None

    def missing(self, model: Model) -> list[str]:
        """What stands in the way of holding the limit, with the remedy."""
        if self.max_cost_usd is None or model.backend != "api" or model.price is not None:
            return []
        return [
            "max_cost_usd needs its price; add `price: {input: ..., output: ..., date: ...}` (US dollars for a million "
            "tokens, 0 where it is free) to its entry under `models:`"
        ]

    def count_earlier(self, tallies: Iterable[Tally], models: Mapping[str, Model]) -> None:
        """Count, once, what the run's ledger holds: calls, and money by their usage; where that is unknown, none.

        Without a limit it is not counted.
        """
        if self._counted_earlier or (self.max_cost_usd is None and self.max_calls is None):
            return
        self._counted_earlier = True
        for tally in tallies:
            model = models.get(tally.model)
            backend = model.backend if model else "api"
            self.calls += tally.calls if backend in ("api", "local") else 0
            if model and backend == "api":
                self._earlier_usd += cost_usd(model, tally.usage, batch=tally.batch) or 0.0

    def count(self, model: Model) -> None:
        """Count a call to a model whose backend does not do so itself. Raises LimitReached."""
        self._refuse_if_reached()
        if model.backend == "local":
            self._refuse_one_more()
            self.calls += 1

    def try_reserve(self, model: Model, request: Request, *, batch: bool = False) -> Charge | None:
        """Set a call's worst case aside; None where only calls in flight stand in the way, which may cost less.

        Raises LimitReached where the call would pass a limit, KitError where its worst case is not known.
        """
        self._refuse_if_reached()
        self._refuse_one_more()
        aside = self._worst_usd(model, request, batch)
        if self.max_cost_usd is not None and self.total_usd + self._aside_usd + aside > self.max_cost_usd:
            if self._in_flight:
                return None
            self._stop("max_cost_usd")
        return self.enter(model, request, batch=batch)

    def enter(self, model: Model, request: Request, *, batch: bool = False) -> Charge:
        """Enter a call whatever the limits say: one that an earlier process has sent."""
        charge = Charge(model, self._worst_usd(model, request, batch), batch)
        self.calls += 1
        self._in_flight += 1
        self._aside_usd += charge.aside_usd
        self._priced = self._priced or model.price is not None
        return charge

    def settle(self, charge: Charge) -> None:
        """A call has ended: its cost takes the place of what was set aside."""
        self._in_flight -= 1
        self._aside_usd = self._aside_usd - charge.aside_usd if self._in_flight else 0.0  # no rounding stays behind
        self.calls -= 0 if charge.sent else 1
        cost = charge.aside_usd if charge.cost_usd is None else charge.cost_usd
        self._spent_usd[charge.model.name] += cost
        if cost > charge.aside_usd > 0:
            self._underestimate[charge.model.name] = self._factor(charge.model) * cost / charge.aside_usd
        self._wake()

    @contextlib.asynccontextmanager
    async def call(self, model: Model, request: Request) -> AsyncIterator[Charge]:
        """Around one call: waits until there is money for its worst case. Raises LimitReached where there is none."""
        while (charge := self.try_reserve(model, request)) is None:
            await self._change.wait()
        try:
            yield charge
        finally:
            self.settle(charge)

    def stop_line(self) -> str:
        """What was reached, what the run has cost, and how to go on: one line."""
        money = f" for {self.total_usd:.4g} US dollars" if self._priced or self._earlier_usd else ""
        limit = f"{self.reached}: {getattr(self, self.reached):g}" if self.reached else "no limit"
        return (
            f"stopped before {limit} is passed: the run has made {self.calls} calls{money}, and all answers are kept; "
            f"raise {self.reached} in the profile and run again to go on"
        )

    def _refuse_if_reached(self) -> None:
        if self.reached:
            raise LimitReached(self.stop_line())

    def _refuse_one_more(self) -> None:
        if self.max_calls is not None and self.calls >= self.max_calls:
            self._stop("max_calls")

    def _stop(self, limit: str) -> None:
        self.reached = limit
        self._wake()
        raise LimitReached(self.stop_line())

    def _wake(self) -> None:
        """Whoever waits for money looks again."""
        self._change.set()
        self._change = asyncio.Event()

    def _factor(self, model: Model) -> float:
        return self._underestimate.get(model.name, 1.0)

    def _worst_usd(self, model: Model, request: Request, batch: bool) -> float:
        if model.price is None:
            return 0.0
        most = request.decoding.get("max_new_tokens")
        if self.max_cost_usd is not None and most is None:
            raise KitError(f"{model.name}: max_cost_usd needs max_new_tokens, which bounds a call's cost; set it")
        tokens = math.ceil(prompt_characters(request) / CHARACTERS_PER_TOKEN) + FRAME_TOKENS * len(request.messages)
        usage = {"input_tokens": tokens, "output_tokens": most or 0}
        return self._factor(model) * (cost_usd(model, usage, batch=batch) or 0.0)


def prompt_characters(request: Request) -> int:
    """Characters of a call's messages, of which CHARACTERS_PER_TOKEN make a token."""
    return sum(len(message["content"]) for message in request.messages)


def cost_usd(model: Model, usage: Mapping[str, int] | None, *, batch: bool = False) -> float | None:
    """US dollars for so many tokens by the model's price; None where the price or the tokens are not known."""
    if model.price is None or usage is None or not {"input_tokens", "output_tokens"} <= usage.keys():
        return None
    full = (usage["input_tokens"] * model.price.input + usage["output_tokens"] * model.price.output) / 1e6
    return full * BATCH_SHARE if batch else full
