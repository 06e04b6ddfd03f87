"""Requests drawn from a seed with what a server must make of them, and a transport that keeps what is written to it."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import unquote

Header = tuple[bytes, bytes]
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
TARGETS = (
    "/",
    "/a",
    "/a/b?x=1",
    "/a%20b/%C3%A9?q=%2F&r",
    "/?",
    "/a?b?c",
    "http://h:80/from/proxy?x=y",
    "*",
    "/a//b/../c",
    "/%2e",
    "http://h",
)
NAMES = ("Host", "X-A", "x-a", "Accept", "AUTHORIZATION", "Cookie")
STATUSES = (200, 201, 202, 204, 304, 400, 404, 409, 422, 500, 503, 799)


@dataclass
class Answer:
    """What the application sends: the pieces of a body, measured or not, and headers."""

    status: int
    pieces: list[bytes]
    measured: bool
    headers: list[Header]
    # Whether it waits for something else than the server's own waiters before it answers.
    waits: bool


@dataclass
class Drawn:
    """A request as bytes, what the application must see of it, and what it answers."""

    data: bytes
    method: str
    path: str
    raw_path: bytes
    query: bytes
    headers: list[Header]
    body: bytes
    version: str
    closes: bool
    continues: bool
    answer: Answer


def drawn_request(draw: random.Random, *, last: bool) -> Drawn:
    method = draw.choice(METHODS)
    target = (
        "*" if method == "OPTIONS" and draw.random() < 0.5 else draw.choice([each for each in TARGETS if each != "*"])
    )
    version = "1.0" if last and draw.random() < 0.3 else "1.1"
    sent: list[tuple[str, str]] = [("Host", "h")]
    sent += [
        (draw.choice(NAMES), draw.choice(("v", "a, b", "", "Bearer t", "x" * 40))) for _ in range(draw.randrange(4))
    ]
    closes = last and draw.random() < 0.5
    if closes:
        sent.append(("Connection", draw.choice(("close", "Close"))))
    body = draw.randbytes(draw.choice((0, 0, 1, 7, 300))) if method not in ("GET", "HEAD") else b""
    framed, continues = body, False
    if body and draw.random() < 0.2 and version == "1.1":
        sent.append(("Expect", draw.choice(("100-continue", "100-Continue"))))
        continues = True
    if body and version == "1.1" and draw.random() < 0.4:
        sent.append(("Transfer-Encoding", "chunked"))
        framed = chunked(draw, body)
    elif body or draw.random() < 0.3:
        sent.append(("Content-Length", str(len(body))))
    head = f"{method} {target} HTTP/{version}\r\n" + "".join(
        f"{name}:{draw.choice(('', ' ', '  '))}{value}\r\n" for name, value in sent
    )
    raw_path, query = _split(target)
    headers = [(name.lower().encode(), value.encode()) for name, value in sent]
    path = unquote(raw_path.decode())
    closed = closes or version == "1.0"
    return Drawn(
        head.encode() + b"\r\n" + framed,
        method,
        path,
        raw_path,
        query,
        headers,
        body,
        version,
        closed,
        continues,
        drawn_answer(draw),
    )


def _split(target: str) -> tuple[bytes, bytes]:
    rest = target
    if target.startswith("http://"):
        slash = target.find("/", 7)
        rest = "/" if slash < 0 else target[slash:]
    path, _, query = rest.partition("?")
    return path.encode(), query.encode()


def chunked(draw: random.Random, body: bytes) -> bytes:
    """The body in chunks of any sizes, with extensions and trailers."""
    parts = []
    at = 0
    while at < len(body):
        size = draw.randint(1, len(body) - at)
        extension = draw.choice((b"", b"", b";x=1"))
        parts.append(b"%x%b\r\n%b\r\n" % (size, extension, body[at : at + size]))
        at += size
    trailer = draw.choice((b"", b"", b"X-Trailer: t\r\n"))
    return b"".join(parts) + b"0\r\n" + trailer + b"\r\n"


def drawn_answer(draw: random.Random) -> Answer:
    status = draw.choice(STATUSES)
    pieces = (
        []
        if status in (204, 304)
        else [draw.randbytes(draw.choice((0, 1, 20, 500))) for _ in range(draw.choice((1, 1, 2, 4)))]
    )
    headers = draw.choice(
        ([], [(b"content-type", b"text/plain")], [(b"warning", b"a"), (b"warning", b"b")], [(b"connection", b"close")])
    )
    return Answer(status, pieces, draw.random() < 0.5, list(headers), draw.random() < 0.3)


def written(request: Drawn, date: bytes) -> bytes:
    """What the server must write for an answer."""
    answer = request.answer
    phrase = HTTPStatus(answer.status).phrase if answer.status in set(HTTPStatus) else ""
    lines = [f"HTTP/1.1 {answer.status} {phrase}\r\n".encode(), date]
    body = b"".join(answer.pieces)
    headers = list(answer.headers)
    if answer.measured:
        headers.append((b"content-length", b"%d" % len(body)))
    lines += [b"%b: %b\r\n" % header for header in headers]
    if request.closes and (b"connection", b"close") not in headers:
        lines.append(b"connection: close\r\n")
    in_chunks = not answer.measured and answer.status not in (204, 304) and request.version != "1.0"
    if in_chunks:
        lines.append(b"transfer-encoding: chunked\r\n")
        body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in answer.pieces if piece) + b"0\r\n\r\n"
    return b"".join(lines) + b"\r\n" + (b"" if request.method == "HEAD" else body)


def pieces_of(draw: random.Random, data: bytes) -> list[bytes]:
    """The same bytes in pieces of any sizes."""
    found = []
    at = 0
    while at < len(data):
        size = draw.choice((1, 2, 3, 10, 50, 1000))
        found.append(data[at : at + size])
        at += size
    return found


@dataclass
class FakeTransport(asyncio.Transport):
    """Keeps what is written, and how it ended. `unsent` is what the client has not read."""

    written: bytearray = field(default_factory=bytearray)
    closed: bool = False
    aborted: bool = False
    reading: bool = True
    unsent: int = 0
    limits: list[int] = field(default_factory=list)

    def write(self, data: Any) -> None:
        assert not self.closed, "written after its end"
        self.written += data

    def close(self) -> None:
        self.closed = True

    def abort(self) -> None:
        self.closed = self.aborted = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        assert self.reading
        self.reading = False

    def resume_reading(self) -> None:
        assert not self.reading
        self.reading = True

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self.limits.append(high or 0)

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("1.2.3.4", 56) if name == "peername" else default

    def __hash__(self) -> int:
        return id(self)
