"""What no request gets past: foreign hosts, foreign pages, bodies without end."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from mooring.runway.rest.errors import RestError
from mooring.runway.rest.guard import MAX_BODY_BYTES, Guard


async def _app(scope: Any, receive: Any, send: Any) -> None:
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"{}"})


def ask(headers: dict[str, str], names: tuple[str, ...] = ()) -> tuple[int, Any]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    pairs = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "GET", "path": "/api/health", "headers": pairs}
    asyncio.run(Guard(_app, names)(scope, receive, send))
    return sent[0]["status"], json.loads(sent[1]["body"])


@pytest.mark.parametrize("host", ["localhost:7444", "127.0.0.1:7444", "[::1]:7444", "10.0.0.7", "LOCALHOST"])
def test_addresses_and_localhost_are_ours(host: str) -> None:
    assert ask({"Host": host}) == (200, {})


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:7444", "", "127.0.0.1.evil.example"])
def test_a_name_that_somebody_points_at_us_is_not(host: str) -> None:
    status, body = ask({"Host": host})
    assert (status, body["error"]["statusCode"]) == (421, 421)


def test_a_name_is_ours_when_it_is_allowed() -> None:
    assert ask({"Host": "mooring.example:80"}, ("Mooring.example",)) == (200, {})


def test_the_page_itself_may_ask_and_no_other_may() -> None:
    host = {"Host": "127.0.0.1:7444"}
    assert ask({**host, "Origin": "http://127.0.0.1:7444"})[0] == 200
    for origin in ("http://evil.example", "null", "http://127.0.0.1:8000", "http://localhost:7444"):
        assert ask({**host, "Origin": origin})[0] == 403


def test_a_body_is_of_a_sensible_size() -> None:
    host = {"Host": "127.0.0.1"}
    assert ask({**host, "Content-Length": str(MAX_BODY_BYTES)})[0] == 200
    assert ask({**host, "Content-Length": str(MAX_BODY_BYTES + 1)})[0] == 413
    assert ask({**host, "Content-Length": "many"})[0] == 413


def bodies(*sizes: int) -> tuple[list[int], RestError | None]:
    """What of a body without a length comes through, part by part, and what ends it."""
    parts, read = [b"x" * size for size in sizes], []
    error: list[RestError] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            while True:
                message = await receive()
                read.append(len(message["body"]))
                if not message["more_body"]:
                    return
        except RestError as refused:
            error.append(refused)

    scope = {"type": "http", "headers": [(b"host", b"127.0.0.1")]}

    async def send(message: Any) -> None:
        raise AssertionError(message)

    asyncio.run(Guard(app)(scope, receive, send))
    return read, error[0] if error else None


def test_a_body_without_a_length_is_of_a_sensible_size_too() -> None:
    half = MAX_BODY_BYTES // 2
    assert bodies(half, half) == ([half, half], None)
    assert bodies(MAX_BODY_BYTES) == ([MAX_BODY_BYTES], None)
    for sizes, through in (((half, half, 1), [half, half]), ((MAX_BODY_BYTES + 1,), [])):
        read, error = bodies(*sizes)
        assert (read, error and (error.status, str(error))) == (through, (413, "a request has at most 3,145,728 bytes"))


def test_what_is_refused_says_what_to_do() -> None:
    status, body = ask({"Host": "evil.example"})
    assert body["error"]["message"] == '"evil.example" is not a host name of this server; --allowed-host makes it one'
    status, body = ask({"Host": "127.0.0.1", "Origin": "http://evil.example"})
    assert (status, body["error"]["message"]) == (403, 'requests from pages of "http://evil.example" are not answered')
    status, body = ask({"Host": "127.0.0.1", "Content-Length": "-1"})
    assert (status, body["error"]["message"]) == (413, "a request has at most 3,145,728 bytes")
