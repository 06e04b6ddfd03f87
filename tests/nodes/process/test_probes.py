"""When the answers to a probe change its verdict, and how a container is asked."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from mooring.nodes.process.prober import ask, port_of
from mooring.nodes.process.probes import Timing, Verdict
from mooring.nodes.process.processes import Outcome, Process
from tests.client.stories import awaited


def verdicts(first: bool, answers: str, **numbers: int) -> str:
    """What is thought after each answer; + is good and - is bad."""
    timing = Timing.of(numbers)
    verdict, found = Verdict(first), ""
    for answer in answers:
        verdict = verdict.after(answer == "+", timing)
        found += "+" if verdict.good else "-"
    return found


def test_a_probe_has_the_defaults_of_the_api() -> None:
    assert Timing.of({}) == Timing(0, 10, 1, 1, 3)


@pytest.mark.parametrize(
    ("first", "answers", "numbers", "expected"),
    [
        (True, "---", {}, "++-"),
        (True, "--+--+---", {}, "++++++++-"),
        (False, "+", {}, "+"),
        (False, "++-+", {"successThreshold": 2, "failureThreshold": 1}, "-+--"),
        (True, "-", {"failureThreshold": 1}, "-"),
    ],
)
def test_enough_answers_in_a_row_change_the_verdict(
    first: bool, answers: str, numbers: dict[str, int], expected: str
) -> None:
    assert verdicts(first, answers, **numbers) == expected


def test_a_port_may_be_given_by_its_name() -> None:
    container = {"ports": [{"name": "http", "containerPort": 8080}]}
    assert [port_of(port, container) for port in (80, "http", "81")] == [80, 8080, 81]
    with pytest.raises(ValueError, match="couldn't find port"):
        port_of("https", container)


class Inside:
    """A container whose commands end as they are told."""

    def __init__(self, code: int | None, output: str = "") -> None:
        self._outcome = Outcome(code, output)

    async def execute(self, command: list[str], seconds: float) -> Outcome:
        return self._outcome


async def asked(handler: dict[str, Any], inside: Inside | None = None) -> tuple[bool, str]:
    return await ask(handler, {}, cast(Process, inside), "127.0.0.1", 0.5)


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        (Inside(0, "fine"), (True, "fine")),
        (Inside(1, "bad"), (False, "bad")),
        (Inside(None), (False, 'command timed out: "run it" timed out after 0.5s')),
    ],
)
@awaited
async def test_a_command_answers_with_its_exit_code(inside: Inside, expected: tuple[bool, str]) -> None:
    assert await asked({"exec": {"command": ["run", "it"]}}, inside) == expected


async def serve(answer: bytes) -> tuple[asyncio.Server, int]:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("204 No Content", (True, "")),
        ("302 Found", (True, "")),
        ("404 Not Found", (False, "HTTP probe failed with statuscode: 404")),
        ("503 Nope", (False, "HTTP probe failed with statuscode: 503")),
    ],
)
@awaited
async def test_http_answers_below_400_are_good(status: str, expected: tuple[bool, str]) -> None:
    server, port = await serve(f"HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n".encode())
    async with server:
        assert await asked({"httpGet": {"port": port, "path": "/healthz"}}) == expected


@awaited
async def test_nobody_at_a_port_is_a_failure() -> None:
    server, port = await serve(b"")
    assert await asked({"tcpSocket": {"port": port}}) == (True, "")
    server.close()
    await server.wait_closed()
    assert await asked({"tcpSocket": {"port": port}}) == (False, "connect: connection refused")
    assert await asked({"httpGet": {"port": port}}) == (False, "connect: connection refused")


@awaited
async def test_what_cannot_be_asked_is_said() -> None:
    assert await asked({"grpc": {"port": 1}}) == (False, "a process node has no grpc probes")
