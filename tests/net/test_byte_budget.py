"""What all connections together may hold: of requests that come slowly, and of answers that nobody reads."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from mooring.net.certificates import ensure_certificates
from mooring.net.limits import DEFAULT
from mooring.net.tls import client_context, server_context
from tests.client.stories import awaited, now, until
from tests.net.test_limits import HEAD, serving


@awaited
async def test_slow_senders_together_may_hold_so_much_and_who_has_held_longest_goes_first() -> None:
    async with serving(replace(DEFAULT, unfinished_bytes=10_000)) as (server, _, port):
        clients = []
        for number in range(5):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(HEAD + b"Content-Length: 5000\r\n\r\n" + b"%d" % number * 2_900)
            clients.append((reader, writer))
            await until(lambda: server.unfinished.held_bytes >= 2_900 * min(len(clients), 3))
        answers = [await reader.read() for reader, _ in clients[:2]]
        assert [answer[:12] for answer in answers] == [b"HTTP/1.1 429", b"HTTP/1.1 429"]
        assert 3 * 2_900 < server.unfinished.held_bytes <= 10_000
        # The others go on, and hold nothing once they have been answered.
        for reader, writer in clients[2:]:
            writer.write(b"x" * 2_100)
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        assert server.unfinished.held_bytes == 0
        for _, writer in clients:
            writer.close()


@awaited
async def test_huge_heads_count_among_what_is_unfinished() -> None:
    async with serving(replace(DEFAULT, unfinished_bytes=10_000)) as (server, _, port):
        first = await asyncio.open_connection("127.0.0.1", port)
        first[1].write(HEAD + b"A: " + b"a" * 6_000)
        await until(lambda: server.unfinished.held_bytes > 6_000)
        second = await asyncio.open_connection("127.0.0.1", port)
        second[1].write(HEAD + b"A: " + b"a" * 6_000)
        assert (await first[0].read()).startswith(b"HTTP/1.1 429")
        second[1].write(b"\r\n\r\n")
        assert (await second[0].readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        for _, writer in (first, second):
            writer.close()


@awaited
async def test_a_client_that_leaves_in_the_middle_holds_nothing_any_more() -> None:
    async with serving(DEFAULT) as (server, _, port):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"Content-Length: 5000\r\n\r\n" + b"x" * 2_000)
        await until(lambda: server.unfinished.held_bytes > 2_000)
        writer.transport.abort()
        await until(lambda: server.unfinished.held_bytes == 0)


@pytest.mark.parametrize("secure", [False, True])
@awaited
async def test_deaf_clients_together_may_leave_so_much_unread(secure: bool, tmp_path: Path) -> None:
    files = ensure_certificates(tmp_path / "tls", ["127.0.0.1"], now=now())
    shown = server_context(files.certificate, files.key) if secure else None
    trusted = client_context(authority=files.authority.read_bytes()) if secure else None
    async with serving(replace(DEFAULT, unread_bytes=300_000), shown) as (server, echo, port):
        deaf = []
        for _ in range(6):
            _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=trusted)
            cast(asyncio.Transport, writer.transport).pause_reading()
            writer.write(b"GET /long HTTP/1.1\r\n\r\n")
            deaf.append(writer)
        await until(lambda: echo.answering + len(server.connections) <= 2 * 4 and server.unread.held_bytes > 65_536)
        assert 0 < len(server.connections) <= 4
        assert server.unread.held_bytes <= 300_000
        for writer in deaf:
            writer.transport.abort()
        await until(lambda: server.unread.held_bytes == 0)
