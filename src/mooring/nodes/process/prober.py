"""Asks a container how it is, or hooks into its life: by a command, over HTTP, or by a TCP connection."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from mooring.kube.objects import Object
from mooring.nodes.process.processes import Process

__all__ = ["Answer", "ask", "port_of"]


_LONGEST_BODY: Final = 10 << 10
_AGENT: Final = "kube-probe/1.35"


class Answer(NamedTuple):
    good: bool
    output: str = ""


async def ask(handler: Object, container: Object, process: Process, address: str, seconds: float) -> Answer:
    """The answer of a probe or hook. `address` is the pod's."""
    if (command := handler.get("exec")) is not None:
        return await _command(process, command.get("command") or [], seconds)
    try:
        async with asyncio.timeout(seconds):
            if (get := handler.get("httpGet")) is not None:
                return await _http(get, container, address)
            if (tcp := handler.get("tcpSocket")) is not None:
                return await _tcp(tcp.get("host") or address, port_of(tcp.get("port"), container))
            if (pause := handler.get("sleep")) is not None:
                await asyncio.sleep(float(pause.get("seconds") or 0))
                return Answer(True)
    except TimeoutError:
        return Answer(False, f"context deadline exceeded: no answer within {seconds:g} s")
    except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        return Answer(False, _words(error))
    kind = next((key for key in handler if key in ("grpc",)), "handler")
    return Answer(False, f"a process node has no {kind} probes")


async def _command(process: Process, command: Sequence[str], seconds: float) -> Answer:
    try:
        code, output = await process.execute(command, seconds)
    except OSError as error:
        return Answer(False, f"the command cannot be run: {error}")
    if code is None:
        return Answer(False, f'command timed out: "{" ".join(command)}" timed out after {seconds:g}s')
    return Answer(code == 0, output)


async def _tcp(host: str, port: int) -> Answer:
    _, writer = await asyncio.open_connection(host, port)
    writer.close()
    return Answer(True)


async def _http(get: Object, container: Object, address: str) -> Answer:
    host, port = get.get("host") or address, port_of(get.get("port"), container)
    secure = (get.get("scheme") or "HTTP").upper() == "HTTPS"
    path = get.get("path") or "/"
    reader, writer = await asyncio.open_connection(host, port, ssl=_anyone() if secure else None)
    try:
        headers = {"Host": f"{host}:{port}", "User-Agent": _AGENT, "Accept": "*/*", "Connection": "close"}
        for header in get.get("httpHeaders") or ():
            headers[header["name"]] = header.get("value", "")
        lines = [f"GET {path if path.startswith('/') else '/' + path} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join((*lines, "", "")).encode("latin-1"))
        status = int((await reader.readline()).split()[1])
        if 200 <= status < 400:
            return Answer(True)
        return Answer(False, f"HTTP probe failed with statuscode: {status}")
    except IndexError:
        return Answer(False, "the answer is not HTTP")
    finally:
        writer.close()
        with suppress(OSError):
            await asyncio.wait_for(writer.wait_closed(), 0.2)


def _anyone() -> ssl.SSLContext:
    """Probes ask whether somebody answers, not who."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def port_of(port: int | str | None, container: Object) -> int:
    """The number of a port, which may be given by its name."""
    if isinstance(port, int):
        return port
    for known in container.get("ports") or ():
        if known.get("name") == port:
            return int(known["containerPort"])
    if isinstance(port, str) and port.isdecimal():
        return int(port)
    raise ValueError(f'couldn\'t find port: "{port}"')


def _words(error: Exception) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connect: connection refused"
    return str(error) or type(error).__name__
