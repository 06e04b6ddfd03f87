"""The endpoint of the node: logs and streams for the API server's token, and for no other."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from mooring.kube.objects import Object
from mooring.nodes.process.containers.processes import ContainerProcess
from mooring.nodes.process.logs import LogWriter
from mooring.nodes.process.node_server import NodeServer
from mooring.nodes.process.pods.worker import NoLog
from mooring.nodes.process.streams.endpoint import NotRunning, StreamEndpoint
from tests.client.stories import awaited

TOKEN = "secret"


class NothingRuns:
    def running(self, namespace: str, pod: str, container: str) -> tuple[Object, ContainerProcess]:
        raise NotRunning("pod does not exist")

    def uid_of(self, namespace: str, pod: str) -> str:
        raise NotRunning("pod does not exist")


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[int, LogWriter]]:
    log = LogWriter(folder / "0.log")
    log.feed("stdout", b"one\ntwo\n")

    def logs(namespace: str, pod: str, container: str, *, previous: bool) -> tuple[Path, LogWriter | None]:
        if (namespace, pod, container, previous) != ("default", "web", "main", False):
            raise NoLog(f'container "{container}" in pod "{pod}" is not available')
        return log.path, log

    server = NodeServer(logs, StreamEndpoint(NothingRuns()), hashlib.sha256(TOKEN.encode()).hexdigest())
    try:
        yield await server.start(None), log
    finally:
        await server.close()
        log.close()


async def run_handler(port: int, path: str, token: str = TOKEN, method: str = "GET") -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{method} {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    writer.close()
    return answer


@awaited
async def test_a_log_is_given_to_who_has_the_token(tmp_path: Path) -> None:
    async with serving(tmp_path) as (port, _):
        answer = await run_handler(port, "/containerLogs/default/web/main?tailLines=1")
        assert answer.startswith("HTTP/1.1 200 OK\r\n")
        assert answer.endswith("\r\n\r\n4\r\ntwo\n\r\n0\r\n\r\n")


@awaited
async def test_a_followed_log_ends_with_its_container(tmp_path: Path) -> None:
    async with serving(tmp_path) as (port, log):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        path = "/containerLogs/default/web/main?follow=true&tailLines=0"
        writer.write(f"GET {path} HTTP/1.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode())
        await reader.readuntil(b"\r\n\r\n")
        log.feed("stdout", b"more\n")
        assert await reader.readuntil(b"more\n\r\n") == b"5\r\nmore\n\r\n"
        log.close()
        assert await reader.read() == b"0\r\n\r\n"
        writer.close()


@pytest.mark.parametrize(
    ("path", "token", "method", "expected"),
    [
        ("/containerLogs/default/web/main", "wrong", "GET", "401 Unauthorized"),
        ("/containerLogs/default/web/main", "", "GET", "401 Unauthorized"),
        ("/containerLogs/default/web/main", TOKEN, "POST", "405 Method Not Allowed"),
        ("/exec/default/web/main", TOKEN, "GET", "404 Not Found"),
        ("/containerLogs/default/web", TOKEN, "GET", "404 Not Found"),
        ("/containerLogs/default/web/other", TOKEN, "GET", "400 Bad Request"),
        ("/containerLogs/default/web/main?sinceTime=now", TOKEN, "GET", "400 Bad Request"),
    ],
)
@awaited
async def test_everything_else_is_refused(tmp_path: Path, path: str, token: str, method: str, expected: str) -> None:
    async with serving(tmp_path) as (port, _):
        answer = await run_handler(port, path, token, method)
        assert answer.startswith(f"HTTP/1.1 {expected}\r\n")
        assert "two" not in answer
