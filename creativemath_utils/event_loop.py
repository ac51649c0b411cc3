"""An event loop in a thread of its own: work that runs many calls at once, waited for like a plain function.

So it can be waited for in a script and in JupyterLab alike, where the kernel has a loop of its own.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any

STOP_SECONDS = 30  # how long Ctrl-C waits for the work to come to its end


class LoopThread:
    """The thread, begun with the first `run` and ended by `close`, after which it may begin anew."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Do `work` and wait for it. Ctrl-C cancels it, and lets it end, before KeyboardInterrupt."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self.thread = threading.Thread(target=self._loop.run_forever, name=self.name, daemon=True)
            self.thread.start()
        ended = threading.Event()

        async def watched() -> Any:
            try:
                return await work
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(watched(), self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            ended.wait(STOP_SECONDS)
            raise

    def close(self) -> None:
        """End the thread."""
        if self._loop is not None and self.thread is not None:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self.thread.join(STOP_SECONDS)
            if not self.thread.is_alive():
                self._loop.close()
            self._loop = self.thread = None
