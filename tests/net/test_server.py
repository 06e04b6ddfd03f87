"""A server that has stopped has let go of every connection; one whose application fails answers all the same."""

from __future__ import annotations

import asyncio
import gc
import socket
import warnings

import pytest

from mooring.net.asgi import Receive, Scope, Send
from mooring.net.client_connection import request_bytes
from mooring.net.destination import Destination
from mooring.net.server import HttpServer
from tests.client.stories import awaited


async def silent(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.sleep(60)


def left_open(rounds: int, said: bytes) -> list[str]:
    """The warnings about connections that a server left open, which a client opened so many rounds before its end."""

    async def story() -> None:
        server = HttpServer(silent)
        port = await server.listen("127.0.0.1", 0)
        # In the kernel: the loop of the server has no part in it.
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(said)
            for _ in range(rounds):
                await asyncio.sleep(0)
            server.close()
            await server.finish(0)
        assert not server.connections

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        # The loop of the standard library: uvloop's sockets are closed by their own.
        asyncio.run(story())
        gc.collect()
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("said", [b"", b"GET / HTTP/1.1\r\nhost: a\r\n\r\n"], ids=["idle", "being answered"])
@pytest.mark.parametrize("rounds", range(6))
def test_no_connection_is_left_open_when_a_server_has_stopped(rounds: int, said: bytes) -> None:
    assert left_open(rounds, said) == []


@pytest.mark.parametrize("begun", [False, True], ids=["before it answered", "between head and body"])
@awaited
async def test_an_application_that_fails_is_answered_for(begun: bool) -> None:
    async def failing(scope: Scope, receive: Receive, send: Send) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        raise RuntimeError("a fault")

    server = HttpServer(failing)
    connection = await Destination("127.0.0.1", await server.listen("127.0.0.1", 0)).dial()
    try:
        answer = await connection.ask(request_bytes("GET", "/", {"Host": "x"}), 5)
        assert (answer.status, answer.headers[b"content-type"]) == (500, b"text/plain")
        assert answer.body == b"Internal Server Error"
        # Whatever state it left behind, the next request starts on another connection.
        assert not connection.usable
    finally:
        server.close()
        await server.finish(1.0)
