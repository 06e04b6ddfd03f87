"""A client with the least work of its own, so that a benchmark measures the server: one TLS connection.

It sends bytes and looks for the end of the answer without parsing it.
"""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

_ALL = b"\r\n0\r\n\r\n"
_SECONDS = 60.0


class ApiEndpoint(NamedTuple):
    """The URL, token and authority of an API server. Passed to other processes as JSON."""

    url: str
    token: str
    ca: str

    def text(self) -> str:
        return json.dumps(self)

    @classmethod
    def of(cls, text: str) -> ApiEndpoint:
        return cls(*json.loads(text))


class Wire:
    """One connection."""

    def __init__(self, endpoint: ApiEndpoint) -> None:
        url = urlsplit(endpoint.url)
        assert url.hostname is not None
        assert url.port is not None
        trust = ssl.create_default_context(cafile=endpoint.ca)
        plain = socket.create_connection((url.hostname, url.port), _SECONDS)
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = trust.wrap_socket(plain, server_hostname=url.hostname)
        self._head = f"Host: {url.netloc}\r\nAuthorization: Bearer {endpoint.token}\r\nUser-Agent: bench/1\r\n"

    def request(
        self, method: str, path: str, body: bytes = b"", media: str = "application/json", accept: str = "*/*"
    ) -> bytes:
        """A request as bytes, to be made before the clock runs."""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}Accept: {accept}\r\n"
        if body:
            head += f"Content-Type: {media}\r\nContent-Length: {len(body)}\r\n"
        return head.encode() + b"\r\n" + body

    def send(self, request: bytes) -> None:
        self._socket.sendall(request)

    def answer(self) -> tuple[int, bytes]:
        """The code and the body of the next answer; chunks are not put together."""
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.more()
        head = data[:end].lower()
        parts, have = [data[end + 4 :]], len(data) - end - 4
        if (at := head.find(b"\r\ncontent-length:")) >= 0:
            length = int(head[at + 17 :].split(b"\r\n", 1)[0])
            while have < length:
                parts.append(self.more())
                have += len(parts[-1])
        else:
            # JSON holds no bare line ends, so this can only be the last chunk.
            while not _ends(parts):
                parts.append(self.more())
        return int(head[9:12]), b"".join(parts)

    def ask(self, request: bytes) -> tuple[int, bytes]:
        self._socket.sendall(request)
        return self.answer()

    def call(self, method: str, path: str, body: Any = None, media: str = "application/json") -> Any:
        """One request outside of what is measured: the object that came back. Raises on a refusal."""
        data = b"" if body is None else json.dumps(body).encode()
        code, found = self.ask(self.request(method, path, data, media))
        if code >= 300:
            raise RuntimeError(f"{method} {path} was answered {code}: {found[:500]!r}")
        return json.loads(found if found.startswith(b"{") else _joined(found))

    def more(self) -> bytes:
        data = self._socket.recv(1 << 18)
        if not data:
            raise ConnectionError("the server closed the connection")
        return data

    def stream(self) -> Iterator[bytes]:
        """The body of an answer that comes in chunks, as it comes. A server may cut it anywhere."""
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.more()
        at = end + 4
        while True:
            found = []
            while (end := data.find(b"\r\n", at)) >= 0:
                size = int(data[at:end], 16)
                if len(data) < end + size + 4:
                    break
                found.append(data[end + 2 : end + 2 + size])
                at = end + size + 4
                if not size:
                    yield b"".join(found)
                    return
            if found:
                yield b"".join(found)
            data, at = data[at:] + self.more(), 0

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._socket.close()


def _joined(chunks: bytes) -> bytes:
    parts, at = [], 0
    while (end := chunks.index(b"\r\n", at)) and (size := int(chunks[at:end], 16)):
        parts.append(chunks[end + 2 : end + 2 + size])
        at = end + 4 + size
    return b"".join(parts)


def _ends(parts: list[bytes]) -> bool:
    tail = parts[-1]
    if len(tail) < len(_ALL) and len(parts) > 1:
        parts[-2:] = [parts[-2] + tail]
        tail = parts[-1]
    return tail.endswith(_ALL)


def endpoint_of(url: str, token: str, ca: Path) -> ApiEndpoint:
    return ApiEndpoint(url, token, str(ca))


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]
