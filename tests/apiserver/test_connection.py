"""HTTP as it comes over a wire: in pieces, in a hurry, half-finished, from old clients and from strange ones."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pytest

from tests.apiserver.world import CONFIGMAPS, TOKEN, Api
from tests.registry.world import config


class Answer(NamedTuple):
    code: int
    headers: dict[str, str]
    body: bytes


class Wire:
    """A connection on which bytes are sent as a test says."""

    def __init__(self, api: Api) -> None:
        url = urlsplit(api.server.url)
        self.socket = socket.create_connection((url.hostname, url.port), 20)
        self._file = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def line(self) -> bytes:
        return self._file.readline()

    def answer(self, *, body: bool = True) -> Answer:
        code = int(self.line().split()[1])
        headers = {}
        while (line := self.line().strip()) != b"":
            name, _, value = line.decode().partition(": ")
            headers[name] = value
        if not body:
            return Answer(code, headers, b"")
        if "content-length" in headers:
            return Answer(code, headers, self._file.read(int(headers["content-length"])))
        if headers.get("transfer-encoding") != "chunked":
            return Answer(code, headers, self._file.read())
        parts = []
        while size := int(self.line(), 16):
            parts.append(self._file.read(size))
            self.line()
        self.line()
        return Answer(code, headers, b"".join(parts))

    def close(self) -> None:
        self._file.close()
        self.socket.close()

    def closed(self) -> bool:
        """Whether the server ends the connection."""
        return self._file.read() == b""


@contextmanager
def connected(api: Api) -> Iterator[Wire]:
    wire = Wire(api)
    try:
        yield wire
    finally:
        wire.close()


def request(method: str, path: str, body: Any = None, *headers: str, version: str = "1.1") -> bytes:
    data = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/{version}", "Host: here", f"Authorization: Bearer {TOKEN}", *headers]
    if data:
        lines.append(f"Content-Length: {len(data)}")
    return "\r\n".join((*lines, "", "")).encode() + data


def name_in(answer: Answer) -> str:
    name: str = json.loads(answer.body)["metadata"]["name"]
    return name


def test_requests_that_come_together_are_answered_in_their_order(api: Api) -> None:
    with connected(api) as wire:
        names = [f"c{number}" for number in range(300)]
        wire.send(b"".join(request("POST", CONFIGMAPS, config(name)) for name in names))
        assert [name_in(wire.answer()) for _ in names] == names
        wire.send(request("GET", f"{CONFIGMAPS}/c0"))
        assert wire.answer().code == 200


def test_a_request_may_come_byte_by_byte(api: Api) -> None:
    with connected(api) as wire:
        for byte in request("POST", CONFIGMAPS, config("c")):
            wire.send(bytes([byte]))
        assert wire.answer().code == 201


def test_a_body_may_come_in_chunks(api: Api) -> None:
    data = json.dumps(config("c")).encode()
    with connected(api) as wire:
        wire.send(request("POST", CONFIGMAPS, None, "Transfer-Encoding: chunked"))
        for part in (data[:10], data[10:]):
            wire.send(b"%x\r\n%b\r\n" % (len(part), part))
        wire.send(b"0\r\n\r\n")
        assert name_in(wire.answer()) == "c"


def test_who_asks_before_sending_a_body_is_told_to_go_on(api: Api) -> None:
    head, _, body = request("POST", CONFIGMAPS, config("c"), "Expect: 100-continue").partition(b"\r\n\r\n")
    with connected(api) as wire:
        wire.send(head + b"\r\n\r\n")
        assert wire.line() == b"HTTP/1.1 100 Continue\r\n"
        assert wire.line() == b"\r\n"
        wire.send(body)
        assert wire.answer().code == 201


@pytest.mark.parametrize(
    "last", [request("GET", "/version", None, "Connection: close"), request("GET", "/version", version="1.0")]
)
def test_who_does_not_stay_is_told_good_bye(api: Api, last: bytes) -> None:
    with connected(api) as wire:
        wire.send(last)
        answer = wire.answer()
        assert (answer.code, answer.headers["connection"]) == (200, "close")
        assert wire.closed()


def test_an_old_client_gets_a_long_list_up_to_the_end_of_the_connection(api: Api) -> None:
    api.fill(1200)
    with connected(api) as wire:
        wire.send(request("GET", CONFIGMAPS, version="1.0"))
        answer = wire.answer()
        assert "transfer-encoding" not in answer.headers
        assert len(json.loads(answer.body)["items"]) == 1200


def test_what_is_not_http_is_refused(api: Api) -> None:
    with connected(api) as wire:
        wire.send(b"\x16\x03\x01 hello\r\n\r\n")
        assert wire.answer().code == 400
        assert wire.closed()


def test_another_protocol_is_not_switched_to(api: Api) -> None:
    with connected(api) as wire:
        wire.send(request("GET", "/version", None, "Connection: Upgrade", "Upgrade: websocket"))
        answer = wire.answer()
        assert (answer.code, answer.headers["connection"]) == (200, "close")
        assert wire.closed()


def test_the_head_of_an_answer_can_be_asked_for_alone(api: Api) -> None:
    with connected(api) as wire:
        wire.send(request("HEAD", "/nowhere") + request("GET", "/version"))
        answer = wire.answer(body=False)
        assert (answer.code, answer.headers["content-length"]) == (404, "19")
        assert wire.answer().code == 200


def test_a_whole_address_is_as_good_as_a_path(api: Api) -> None:
    api.made(CONFIGMAPS, config("c"))
    with connected(api) as wire:
        wire.send(request("GET", f"http://here{CONFIGMAPS}/c?pretty=false"))
        assert name_in(wire.answer()) == "c"
        wire.send(request("GET", f"{CONFIGMAPS}/%63"))
        assert name_in(wire.answer()) == "c"


def test_a_body_that_is_larger_than_anybody_waits_for_is_refused_before_it_comes(api: Api) -> None:
    with connected(api) as wire:
        wire.send(request("POST", CONFIGMAPS, None, "Content-Length: 99999999"))
        answer = wire.answer()
        assert (answer.code, answer.headers["connection"]) == (413, "close")
        assert wire.closed()


def test_chunks_without_end_are_not_heard_out(api: Api) -> None:
    with connected(api) as wire:
        wire.send(request("POST", CONFIGMAPS, None, "Transfer-Encoding: chunked"))
        chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
        with pytest.raises(OSError, match=r"reset|Broken pipe"):
            wire.send(chunk * 64)


def test_a_client_that_reads_slowly_gets_everything_in_the_end(api: Api) -> None:
    api.fill(3000)
    with connected(api) as wire, connected(api) as other:
        wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        wire.send(request("GET", CONFIGMAPS))
        # Meanwhile nobody else is kept waiting.
        other.send(request("GET", "/version"))
        assert other.answer().code == 200
        assert len(json.loads(wire.answer().body)["items"]) == 3000


def test_what_comes_behind_a_watch_waits_for_its_end(api: Api) -> None:
    with connected(api) as wire:
        wire.send(request("GET", f"{CONFIGMAPS}?watch=1&timeoutSeconds=1") + request("GET", "/version"))
        assert wire.answer().headers["transfer-encoding"] == "chunked"
        assert json.loads(wire.answer().body)["major"] == "1"


def test_who_leaves_in_the_middle_of_a_watch_is_not_written_to(api: Api) -> None:
    with connected(api) as wire:
        wire.send(request("GET", f"{CONFIGMAPS}?watch=1"))
        assert wire.answer(body=False).code == 200
        assert sum(api.server.call(api.app.watches.counts).values()) == 1
    deadline = time.monotonic() + 20
    while api.server.call(api.app.watches.counts):
        assert time.monotonic() < deadline
        time.sleep(0.01)
