"""How a request reaches a model: one small interface, several ways.

A backend turns requests into responses, as many at a time as suits it, and yields each as soon as it is there, in any
order. It retries what is transient and gives a response of status `failed` for what is not; it raises only KitError,
where no further request can succeed. It knows nothing of ledgers, stages or runs.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Protocol

from creativemath_utils.models import Model
from creativemath_utils.records import Request, Response
from creativemath_utils.spending import Spending


class Backend(Protocol):
    """What the engine asks of every backend."""

    def missing(self) -> list[str]:
        """What stands in the way of a first call (a key, weights, a package, a GPU): one line each, with the remedy."""
        ...

    async def preflight(self) -> None:
        """Try the way to the model once, at no cost worth naming. Raises KitError with the cause and the remedy."""
        ...

    def answers(self, requests: Iterable[Request]) -> AsyncIterator[Response]:
        """A response for each request, in any order. `requests` may be lazy: one is taken when there is room for it."""
        ...

    async def close(self) -> None:
        """Let go of connections, processes or GPU memory."""
        ...


def open_backend(
    model: Model,
    concurrency: int = 1,
    *,
    spending: Spending | None = None,
    folder: Path | None = None,
    kept: Callable[[str], bool] = lambda key: False,
) -> Backend:
    """The backend of a model. Heavy packages are imported here, by the backend that needs them, and nowhere else.

    `spending` is the run's account, in which a backend of endpoints enters its calls. One that sends batches remembers
    them in `folder`, until the answer of every key is `kept`.
    """
    if model.batch:
        from creativemath_utils.backends.batch import BatchBackend

        return BatchBackend(model, spending=spending, folder=folder, kept=kept)
    if model.backend == "api":
        from creativemath_utils.backends.api import ApiBackend

        return ApiBackend(model, concurrency, spending=spending)
    if model.backend == "local":
        from creativemath_utils.backends.local import LocalBackend

        return LocalBackend(model)
    if model.backend == "embedding":
        from creativemath_utils.backends.embedding import EmbeddingBackend

        return EmbeddingBackend(model)
    from creativemath_utils.backends.rules import RulesBackend

    return RulesBackend(model)
