"""A small OpenAI-compatible server on 127.0.0.1 for tests: scripted faults, and a record of what was sent.

    with Loopback([error(429, "slow down", headers={"Retry-After": "1"})]) as server:
        ...  # the first call is refused; all others are answered with an echo of their last message
    server.calls[0].body["messages"], server.most_in_flight

Run as a program (`python tests/loopback.py --delay 0.2 --seconds 60`) it prints its address and serves until its time
is up or its input ends.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass
class Call:
    """One call as it arrived: `number` counts all calls from 0, `attempt` those with this very body."""

    number: int
    attempt: int
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


@dataclass
class Reply:
    """What to send back. `body` is JSON, or bytes as they are; `reset` cuts the connection instead, after `delay`."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    reset: bool = False


Script = Callable[[Call], Reply | None]


def answer(text: Any, finish: str | None = "stop", delay: float = 0.0, **message: Any) -> Reply:
    """An answer with `text` as its content; further fields go into the message."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    return Reply({"object": "chat.completion", "choices": [choice], "usage": usage}, delay=delay)


def error(status: int, message: str, headers: dict[str, str] | None = None, **fields: Any) -> Reply:
    """An error of that HTTP status in the usual form; further fields (code, param, type) go beside the message."""
    return Reply({"error": {"message": message, **fields}}, status, headers or {})


def echo(call: Call) -> Reply:
    """The last message, or the prompt, sent back."""
    if "prompt" in call.body:
        return Reply({"choices": [{"text": f"echo {call.body['prompt']}", "finish_reason": "stop"}]})
    return answer(f"echo {call.body['messages'][-1]['content']}")


class Loopback:
    """The server, in a thread. `script` is a list of replies for the first calls, or a function (None: an echo)."""

    def __init__(
        self,
        script: Sequence[Reply] | Script = (),
        *,
        delay: float = 0.0,
        models: Reply | None = None,
        keep_calls: bool = True,
        seconds: float = 120.0,
        port: int = 0,
    ) -> None:
        self.calls: list[Call] = []
        self.connections = 0
        self.most_in_flight = 0
        self.script = script
        self._delay = delay
        self._models = models or Reply({"object": "list", "data": []})
        self._keep_calls = keep_calls
        self._seconds = seconds
        self.in_flight = self._count = 0
        self._attempts: dict[str, int] = {}
        self._loop = asyncio.new_event_loop()
        self._up = threading.Event()
        self._port = port
        self._thread = threading.Thread(target=self._serve, name="loopback", daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Loopback:
        self._thread.start()
        assert self._up.wait(10), "the loopback server did not start"
        return self

    def __exit__(self, *_: object) -> None:
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(10)

    def _serve(self) -> None:
        self._loop.run_until_complete(self._run())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()

    async def _run(self) -> None:
        self._end = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self._port, limit=1 << 26, backlog=1024)
        self._port = server.sockets[0].getsockname()[1]
        self._up.set()
        try:
            await asyncio.wait_for(self._end.wait(), self._seconds)
        except TimeoutError:
            pass
        finally:
            server.close()
            tasks = asyncio.all_tasks() - {asyncio.current_task()}
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await _read_head(reader):
                path, headers = head
                content = await reader.readexactly(int(headers.get("content-length", 0)))
                reply = self._models if path.endswith("/models") else await self._reply(path, headers, content)
                if reply.reset:
                    writer.transport.abort()
                    return
                writer.write(_encode(reply))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client went away, or the server's time is up
        finally:
            writer.close()

    async def _reply(self, path: str, headers: dict[str, str], content: bytes) -> Reply:
        text = content.decode("utf-8")
        self._attempts[text] = self._attempts.get(text, 0) + 1
        call = Call(self._count, self._attempts[text] - 1, path, headers, json.loads(text))
        self._count += 1
        if self._keep_calls:
            self.calls.append(call)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if callable(self.script):
                reply = self.script(call) or echo(call)
            else:
                reply = self.script[call.number] if call.number < len(self.script) else echo(call)
            await asyncio.sleep(self._delay + reply.delay)
            return reply
        finally:
            self.in_flight -= 1


async def _read_head(reader: asyncio.StreamReader) -> tuple[str, dict[str, str]] | None:
    try:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    fields = (line.partition(":") for line in lines[1:] if line)
    return lines[0].split()[1], {name.lower(): value.strip() for name, _, value in fields}


def _encode(reply: Reply) -> bytes:
    content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(content)), **reply.headers}
    lines = [f"HTTP/1.1 {reply.status} {REASONS.get(reply.status, 'Status')}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + content


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="an OpenAI-compatible server that echoes")
    parser.add_argument("--delay", type=float, default=0.2, help="seconds until each answer")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to serve")
    options = parser.parse_args()
    with Loopback(delay=options.delay, keep_calls=False, seconds=options.seconds) as loopback:
        print(loopback.url, flush=True)
        sys.stdin.read()  # until whoever started this closes the pipe
