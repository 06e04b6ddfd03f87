"""When the answers to a probe change its verdict, and how a container is asked."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from mooring.net.certificates import ensure_certificates
from mooring.net.tls import server_context
from mooring.nodes.process.containers.prober import port_of, run_handler
from mooring.nodes.process.containers.probes import ProbeTiming, ProbeVerdict
from mooring.nodes.process.containers.processes import ContainerProcess, ExecResult
from tests.client.stories import awaited


def verdicts(first: bool, answers: str, **numbers: int) -> str:
    """What is thought after each answer; + is good and - is bad."""
    timing = ProbeTiming.of(numbers)
    verdict, found = ProbeVerdict(first), ""
    for answer in answers:
        verdict = verdict.after(answer == "+", timing)
        found += "+" if verdict.good else "-"
    return found


def test_a_probe_has_the_defaults_of_the_api() -> None:
    assert ProbeTiming.of({}) == ProbeTiming(0, 10, 1, 1, 3)


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
        self._outcome = ExecResult(code, output)

    async def execute(self, command: list[str], seconds: float) -> ExecResult:
        return self._outcome


async def asked(handler: dict[str, Any], inside: Inside | None = None) -> tuple[bool, str]:
    return await run_handler(handler, {}, cast(ContainerProcess, inside), "127.0.0.1", 0.5)


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


async def serve(answer: bytes, *more: bytes, tls: ssl.SSLContext | None = None) -> tuple[asyncio.Server, int]:
    """A server that gives these answers one after the other, and the last one from then on."""
    answers = [answer, *more]

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answers.pop(0) if len(answers) > 1 else answers[0])
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0, ssl=tls)
    return server, server.sockets[0].getsockname()[1]


def moved(location: str) -> bytes:
    return f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()


GOOD = b"HTTP/1.0 200 OK\r\n\r\nfine"
BAD = b"HTTP/1.1 503 Nope\r\nContent-Length: 0\r\n\r\n"


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


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        pytest.param((moved("/there"), GOOD), (True, ""), id="to a good answer"),
        pytest.param((moved("there?a=b"), BAD), (False, "HTTP probe failed with statuscode: 503"), id="to a bad one"),
        pytest.param((moved("http://elsewhere.example/"), BAD), (True, ""), id="to another host, which is not asked"),
    ],
)
@awaited
async def test_a_redirect_is_followed_while_it_stays_on_the_host(
    answers: tuple[bytes, ...], expected: tuple[bool, str]
) -> None:
    server, port = await serve(*answers)
    async with server:
        assert await asked({"httpGet": {"port": port}}) == expected


@awaited
async def test_redirects_without_end_are_a_failure() -> None:
    server, port = await serve(moved("/again"))
    async with server:
        good, why = await asked({"httpGet": {"port": port}})
        assert (good, why) == (False, f'Get "http://127.0.0.1:{port}/again": stopped after 10 redirects')


@awaited
async def test_who_answers_over_tls_is_not_asked(tmp_path: Path) -> None:
    files = ensure_certificates(tmp_path, ["elsewhere.example"], now=datetime.now(UTC))
    server, port = await serve(GOOD, tls=server_context(files.certificate, files.key))
    async with server:
        assert await asked({"httpGet": {"port": port, "scheme": "HTTPS"}}) == (True, "")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"SSH-2.0-OpenSSH\r\n", "the server does not speak HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort", "the server closed the connection"),
        (b"", "the server closed the connection"),
    ],
)
@awaited
async def test_an_answer_that_is_none_is_a_failure(answer: bytes, expected: str) -> None:
    server, port = await serve(answer)
    async with server:
        good, why = await asked({"httpGet": {"port": port}})
        assert not good
        assert why.startswith(expected)


@awaited
async def test_an_answer_that_takes_too_long_is_a_failure() -> None:
    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(wait, "127.0.0.1", 0)
    async with server:
        handler = {"httpGet": {"port": server.sockets[0].getsockname()[1]}}
        assert await asked(handler) == (False, "context deadline exceeded: no answer within 0.5 s")


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
