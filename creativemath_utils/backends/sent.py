"""What is under way in batches, remembered on disk: a run that was killed picks it up instead of paying twice.

One small file a batch, beside the ledger, from before the batch is made until its answers are kept. One a batch, since
runs that share a judge may each have batches of their own under way.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from creativemath_utils.backends.dialect import Dialect
from creativemath_utils.models import Model
from creativemath_utils.records import KitError
from creativemath_utils.store import shown, write_atomic

DAYS_KEPT = 30  # after that the endpoint has forgotten the answers


@dataclass
class SentBatch:
    """One batch: the keys of its requests, the form in which they were sent, and where it is at the endpoint."""

    model: str
    where: str  # the endpoint
    input_file: str
    keys: list[str]
    form: dict[str, Any] = field(default_factory=dict)
    id: str | None = None  # None: it may have been made, and the process killed before it knew
    collected: bool = False  # then `keys` are those with an answer, which may not be on disk yet
    created: float = field(default_factory=time.time)  # seconds since 1970

    def dialect(self, model: Model) -> Dialect:
        """The form in which the batch was sent."""
        dialect = Dialect(model)
        dialect.renamed_limit = bool(self.form.get("renamed_limit"))
        dialect.folded = bool(self.form.get("folded"))
        dialect.dropped = set(self.form.get("dropped", ()))
        return dialect

    @property
    def file_name(self) -> str:
        return f"batch.{self.model}.{''.join(c if c.isalnum() else '-' for c in self.input_file)}.json"


class SentBatches:
    """The batches of a model that are remembered in `folder`; without a folder none is."""

    def __init__(self, model: str, folder: Path | None) -> None:
        self.model = model
        self.folder = folder

    def all(self) -> list[SentBatch]:
        """Those of this model, the oldest first."""
        files = sorted(self.folder.glob(f"batch.{self.model}.*.json")) if self.folder else []
        found = [_read(file) for file in files]
        return sorted((batch for batch in found if batch.model == self.model), key=lambda batch: batch.created)

    def save(self, batch: SentBatch) -> None:
        if self.folder:
            write_atomic(self.folder / batch.file_name, json.dumps(asdict(batch)).encode())

    def forget(self, batch: SentBatch) -> None:
        if self.folder:
            file = self.folder / batch.file_name
            try:
                file.unlink(missing_ok=True)
            except OSError as error:
                line = f"{shown(file)} cannot be taken away: {error.strerror}; mend that and run again"
                raise KitError(line) from None

    def forget_kept(self, kept: Callable[[str], bool]) -> None:
        """Forget the batches whose answers are all on disk (`kept`), and those that the endpoint has forgotten too."""
        for batch in self.all():
            old = time.time() - batch.created > DAYS_KEPT * 86400
            if old or (batch.collected and all(map(kept, batch.keys))):
                self.forget(batch)


def form_of(dialect: Dialect) -> dict[str, Any]:
    """What has to be remembered of a dialect."""
    return {"renamed_limit": dialect.renamed_limit, "folded": dialect.folded, "dropped": sorted(dialect.dropped)}


def _read(file: Path) -> SentBatch:
    try:
        return SentBatch(**json.loads(file.read_text("utf-8")))
    except (ValueError, TypeError):
        raise KitError(f"{shown(file)} is no batch that this kit has sent; take the file away") from None
