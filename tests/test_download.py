"""A file from a pinned address, from a server on this machine that breaks off, ignores, or refuses."""

from __future__ import annotations

import fcntl
import hashlib
import socket
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx2
import pytest
from tenacity import wait_none

from creativemath_utils.corpus import download
from creativemath_utils.corpus.download import Source, fetch
from creativemath_utils.records import KitError

CONTENT = bytes(range(256)) * 40  # 10,240 bytes
BY_HAND = "take it by hand"


@dataclass
class Answer:
    """How the server answers one request: see `Server.handler`."""

    status: int | None = None  # None: 200, or 206 where a range was asked for
    content: bytes = CONTENT
    cut: int | None = None  # so many bytes of the body, then the connection ends
    ranges: bool = True  # False: a wish to go on is ignored
    shift: int = 0  # the range sent begins so many bytes from the one asked for
    location: str | None = None
    silent: float = 0.0  # seconds before the body


@dataclass
class Server:
    """Answers in turn; the last answer is given ever after. `asked` are the Range headers of the requests."""

    answers: list[Answer]
    asked: list[str | None] = field(default_factory=list)

    def __enter__(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            timeout = 5

            def log_message(self, *args):
                pass

            def do_GET(self):
                server.handle(self)

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.block_on_close = False
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.http.shutdown()
        self.http.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.http.server_port}/file.json"

    def handle(self, request):
        answer = self.answers[min(len(self.asked), len(self.answers) - 1)]
        wish = request.headers.get("Range")
        self.asked.append(wish)
        start = int(wish.removeprefix("bytes=").removesuffix("-")) if wish and answer.ranges else 0
        body = answer.content[start + answer.shift if start else 0 :]
        status = answer.status or (206 if start else 200)
        request.send_response(status)
        if status == 206:
            first = start + answer.shift
            request.send_header("Content-Range", f"bytes {first}-{len(answer.content) - 1}/{len(answer.content)}")
        if answer.location:
            request.send_header("Location", answer.location)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.flush()
        time.sleep(answer.silent)
        request.wfile.write(body[: answer.cut])
        request.close_connection = True


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(download, "WAIT", wait_none())
    monkeypatch.setattr(download, "TIMEOUT", httpx2.Timeout(2.0))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def target(tmp_path):
    return tmp_path / "downloads" / "file.json"


def source(url, content=CONTENT):
    return Source(url, hashlib.sha256(content).hexdigest(), len(content), "the file", BY_HAND)


def leave_part(target, content):
    target.parent.mkdir(exist_ok=True)
    part = target.with_name("file.json.part")
    part.write_bytes(content)
    return part


def files(target):
    return sorted(path.name for path in target.parent.iterdir())


@pytest.mark.parametrize(
    ("answers", "asked"),
    [
        ([Answer()], [None]),  # as it should be
        ([Answer(cut=3000), Answer()], [None, "bytes=3000-"]),  # broke off: taken up there
        ([Answer(cut=3000), Answer(cut=500), Answer()], [None, "bytes=3000-", "bytes=3500-"]),
        ([Answer(cut=3000), Answer(ranges=False)], [None, "bytes=3000-"]),  # sends all of it again
        ([Answer(cut=3000), Answer(shift=-100), Answer()], [None, "bytes=3000-", None]),  # another range
        ([Answer(cut=3000), Answer(416), Answer()], [None, "bytes=3000-", None]),  # no such range: from the start
        ([Answer(503), Answer(429), Answer()], [None, None, None]),  # busy, then not
        ([Answer(content=CONTENT[:50]), Answer()], [None, "bytes=50-"]),  # whole by its own count, and too short
    ],
)
def test_the_file_arrives(target, answers, asked):
    with Server(answers) as server:
        assert fetch(source(server.url), target, say=lambda line: None) == target
        assert target.read_bytes() == CONTENT
        assert files(target) == ["file.json"]  # no part is left
        assert server.asked == asked
        fetch(source(server.url), target)
        assert server.asked == asked  # what is there is not fetched again


@pytest.mark.parametrize(
    ("part", "asked"),
    [
        (CONTENT[:700], ["bytes=700-"]),  # of a run that was killed
        (CONTENT, []),  # killed before the last step
        (b"x" * 700, ["bytes=700-", None]),  # of another file: seen at the end, and fetched anew
        (b"x" * len(CONTENT), [None]),
        (b"x" * (len(CONTENT) + 1), [None]),  # longer than the file
    ],
)
def test_a_part_that_lies_there(target, part, asked):
    leave_part(target, part)
    with Server([Answer()]) as server:
        fetch(source(server.url), target, say=lambda line: None)
        assert target.read_bytes() == CONTENT and files(target) == ["file.json"]
        assert server.asked == asked


def test_a_redirect_is_followed(target):
    with Server([Answer()]) as there, Server([Answer(302, location=there.url)]) as server:
        fetch(source(server.url), target)
    assert target.read_bytes() == CONTENT


def test_another_file_under_the_name_is_replaced(target):
    target.parent.mkdir()
    target.write_bytes(b"old")
    with Server([Answer()]) as server:
        fetch(source(server.url), target)
    assert target.read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("answers", "message", "calls", "left"),
    [
        ([Answer(404)], "the file: {url} answers 404 Not Found; take it by hand", 1, []),
        ([Answer(403)], "the file: {url} answers 403 Forbidden; take it by hand", 1, []),
        ([Answer(503)], "cannot be downloaded from {url} (503 Service Unavailable); run again to go on, or", 4, []),
        ([Answer(content=CONTENT[::-1])], "and was thrown away (a sign-in page of the network?); take", 1, []),
        ([Answer(content=CONTENT + b"x")], "sends more than the 10,240 bytes of that file; take it by hand", 1, []),
        ([Answer(content=b"<html>")], "(it ends after 6 of 10,240 bytes); run again", 4, ["file.json.part"]),
        ([Answer(302, location="/file.json")], "(Exceeded maximum allowed redirects.); run again", 84, []),
        ([Answer(cut=1)], "(peer closed connection", 4, ["file.json.part"]),  # 1 byte an attempt: kept
    ],
)
def test_what_a_person_must_mend_is_one_line(target, answers, message, calls, left):
    with Server(answers) as server, pytest.raises(KitError) as caught:
        fetch(source(server.url), target, say=lambda line: None)
    said = str(caught.value)
    assert message.format(url=server.url) in said and BY_HAND in said and "\n" not in said
    assert len(server.asked) == calls
    assert files(target) == left


def test_no_network_is_said_with_what_to_do(target):
    with socket.socket() as free:  # nobody listens here
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}/file.json"
    with pytest.raises(KitError, match=r"cannot be downloaded from .*refused.*without a network: take it by hand"):
        fetch(source(url), target)
    assert files(target) == []


def test_a_wrong_proxy_is_named(target, monkeypatch):
    monkeypatch.setenv("ALL_PROXY", "socks9://nowhere")
    with pytest.raises(
        KitError, match=r"^the file: the proxy in the environment is wrong \(.*socks9.*\); correct or unset"
    ):
        fetch(source("http://127.0.0.1:1/file.json"), target)
    assert files(target) == []


def test_a_silent_server_is_not_waited_for(target, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", httpx2.Timeout(0.1))
    with Server([Answer(silent=0.5)]) as server, pytest.raises(KitError, match="timed out"):
        fetch(source(server.url), target)
    assert len(server.asked) == download.ATTEMPTS


def test_a_second_run_waits_for_its_turn(target):
    part = leave_part(target, CONTENT[:10])
    with part.open("ab") as held, Server([Answer()]) as server:
        fcntl.flock(held.fileno(), fcntl.LOCK_EX)
        with pytest.raises(KitError, match=r"file.json.part is being downloaded by another run; wait for that one"):
            fetch(source(server.url), target)
    assert part.read_bytes() == CONTENT[:10] and server.asked == []


def test_a_disk_that_says_no(tmp_path):
    (tmp_path / "downloads").write_text("a file where the folder should be")
    with pytest.raises(KitError, match=r"cannot be written \(.*\); take it by hand"):
        fetch(source("http://127.0.0.1:9/"), tmp_path / "downloads" / "file.json")


def test_progress_is_plain_lines(target, monkeypatch):
    monkeypatch.setattr(download, "EVERY_SECONDS", 0.0)
    said: list[str] = []
    leave_part(target, CONTENT[:1024])
    with Server([Answer()]) as server:
        fetch(source(server.url), target, said.append)
    assert said[0] == f"downloading the file (10,240 bytes) from {server.url}"
    assert said[1] == "  going on after 1,024 bytes that are here already"
    assert "  10,240 bytes, 100 percent" in said
    assert said[-1].endswith("file.json: 10,240 bytes, SHA-256 as expected")
