"""Runs the handlers of probes and lifecycle hooks: exec, httpGet, tcpSocket and sleep."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from typing import Final, NamedTuple
from urllib.parse import quote, urljoin, urlsplit

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.net.client_connection import HttpResponse as HttpAnswer
from mooring.net.client_connection import request_bytes
from mooring.net.destination import Destination
from mooring.net.tls import client_context
from mooring.nodes.process.containers.processes import ContainerProcess

__all__ = ["ProbeResult", "port_of", "run_handler"]


_MOST_BODY_BYTES: Final = 10 << 10
_MOST_REDIRECTS: Final = 10
# What Go leaves as it is in the path of a URL.
_PATH_SAFE: Final = "/%$&+,:;=@!'()*~"
_REDIRECTS: Final = (301, 302, 303, 307, 308)
_AGENT: Final = "kube-probe/1.35"


class ProbeResult(NamedTuple):
    good: bool
    output: str = ""


async def run_handler(
    handler: Object, container: Object, process: ContainerProcess, address: str, seconds: float
) -> ProbeResult:
    """The result of a probe or hook. `address` is the pod's."""
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
                return ProbeResult(True)
    except TimeoutError:
        return ProbeResult(False, f"context deadline exceeded: no answer within {seconds:g} s")
    except (OSError, ValueError, MooringError) as error:
        return ProbeResult(False, _words(error))
    kind = next((key for key in handler if key in ("grpc",)), "handler")
    return ProbeResult(False, f"a process node has no {kind} probes")


async def _command(process: ContainerProcess, command: Sequence[str], seconds: float) -> ProbeResult:
    try:
        code, output = await process.execute(command, seconds)
    except OSError as error:
        return ProbeResult(False, f"the command cannot be run: {error}")
    if code is None:
        return ProbeResult(False, f'command timed out: "{" ".join(command)}" timed out after {seconds:g}s')
    return ProbeResult(code == 0, output)


async def _tcp(host: str, port: int) -> ProbeResult:
    _, writer = await asyncio.open_connection(host, port)
    writer.close()
    return ProbeResult(True)


async def _http(get: Object, container: Object, address: str) -> ProbeResult:
    """As the kubelet asks: redirects are followed while they stay on the host, others count as an answer."""
    host, port = get.get("host") or address, port_of(get.get("port"), container)
    path = get.get("path") or "/"
    scheme = (get.get("scheme") or "HTTP").lower()
    first = url = f"{scheme}://{Destination(host, port).authority}{path if path.startswith('/') else '/' + path}"
    for _ in range(_MOST_REDIRECTS):
        answer = await _get(url, get.get("httpHeaders") or ())
        location = answer.headers.get(b"location", b"").decode("latin-1")
        if answer.status not in _REDIRECTS or not location:
            break
        url = urljoin(url, location)
        if urlsplit(url).hostname != urlsplit(first).hostname:
            break
    else:
        return ProbeResult(False, f'Get "{url}": stopped after {_MOST_REDIRECTS} redirects')
    if 200 <= answer.status < 400:
        return ProbeResult(True)
    return ProbeResult(False, f"HTTP probe failed with statuscode: {answer.status}")


async def _get(url: str, given: Sequence[Object]) -> HttpAnswer:
    """The head of an answer, once so much of the body has come as the kubelet reads."""
    place = urlsplit(url)
    secure = place.scheme == "https"
    # As with a kubelet, a probe does not verify certificates.
    tls = client_context(authority=None, insecure=True) if secure else None
    destination = Destination(place.hostname or "", place.port or (443 if secure else 80), tls)
    sent = {"host": destination.authority, "user-agent": _AGENT, "accept": "*/*", "connection": "close"}
    sent |= {each["name"].lower(): each.get("value", "") for each in given}
    connection = await destination.dial()
    try:
        target = quote(place.path or "/", safe=_PATH_SAFE) + (f"?{place.query}" if place.query else "")
        answer = await connection.open(request_bytes("GET", target, sent))
        size = 0
        async with aclosing(connection.parts()) as parts:
            async for part in parts:
                size += len(part)
                if size >= _MOST_BODY_BYTES:
                    break
        return answer
    finally:
        connection.close()


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
