"""The node's endpoints for streams into pods, with the paths and parameters of a kubelet.

`/exec/NAMESPACE/POD/CONTAINER`, `/attach/NAMESPACE/POD/CONTAINER` and `/portForward/NAMESPACE/POD`. What is wrong with
a request is said before the connection leaves HTTP, so that a client which then tries another protocol hears it too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

import msgspec

from mooring.kube.objects import Object
from mooring.net.asgi import Receive, Scope, Send, Upgrade, send_whole
from mooring.net.byte_stream import ByteStream
from mooring.net.spdy import WebSocketPipe
from mooring.net.websocket import HandshakeRefused, WebSocket, accept_websocket, is_websocket
from mooring.nodes.process.containers.processes import ContainerProcess
from mooring.nodes.process.containers.streams.attachment import Attachment
from mooring.nodes.process.containers.streams.exec import ExecFailed, ExecProcess
from mooring.nodes.process.streams import port_forward, spdy_channels
from mooring.nodes.process.streams.channels import PROTOCOLS, Channel, WebSocketChannels
from mooring.nodes.process.streams.remote_command import Channels, RemoteCommand, internal_error, serve_command

__all__ = ["ROOTS", "NotRunning", "RunningPods", "StreamEndpoint", "StreamRefused"]

ROOTS: Final = frozenset({"exec", "attach", "portForward"})
_TEXT: Final = b"text/plain"
_CLOSE: Final = (b"connection", b"close")
_OUTPUTS: Final = {"output": Channel.STDOUT, "error": Channel.STDERR}
_SPDY: Final = b"SPDY/3.1"
_SPDY_PROTOCOL: Final = b"x-stream-protocol-version"


class NotRunning(Exception):
    """There is nothing to enter; the text is the kubelet's."""


class StreamRefused(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class RunningPods(Protocol):
    """What of the node can be entered. Both raise NotRunning."""

    def running(self, namespace: str, pod: str, container: str) -> tuple[Object, ContainerProcess]:
        """The spec and the process of a container."""

    def uid_of(self, namespace: str, pod: str) -> str: ...


class StreamEndpoint:
    def __init__(self, pods: RunningPods) -> None:
        self._pods = pods

    async def serve(
        self, scope: Scope, receive: Receive, send: Send, path: Sequence[str], query: Mapping[str, list[str]]
    ) -> None:
        """Answer a request whose path begins with one of ROOTS."""
        try:
            await self._serve(scope, path, query)
        except NotRunning as error:
            await send_whole(send, 404, _TEXT, str(error).encode(), _CLOSE)
        except StreamRefused as refused:
            await send_whole(send, refused.status, _TEXT, str(refused).encode(), _CLOSE)

    async def _serve(self, scope: Scope, path: Sequence[str], query: Mapping[str, list[str]]) -> None:
        if scope["method"] not in ("GET", "POST"):
            raise StreamRefused(405, "GET and POST are all that can be done here")
        # A request is begun outside of a task, and the tasks of a stream are ended with it.
        await asyncio.sleep(0)
        root, *names = path
        # Some clients name the pod's uid too, after its name.
        if root == "portForward" and len(names) in (2, 3):
            uid = self._pods.uid_of(names[0], names[1])
            await _forward(scope, query, f"{names[1]}_{names[0]}, uid {uid}")
        elif root != "portForward" and len(names) in (3, 4):
            await _enter(scope, root, query, *self._pods.running(names[0], names[1], names[-1]))
        else:
            raise StreamRefused(404, "404 page not found")


# Remote commands


async def _enter(
    scope: Scope, root: str, query: Mapping[str, list[str]], container: Object, process: ContainerProcess
) -> None:
    tty = _flag(query, "tty")
    wanted = frozenset(channel for name, channel in _OUTPUTS.items() if _flag(query, name))
    stdin, words = _flag(query, "input"), query.get("command") or []
    if not stdin and not wanted:
        raise StreamRefused(400, "you must specify at least 1 of stdin, stdout, stderr")
    if root == "exec" and not words:
        raise StreamRefused(400, "you must specify at least one command for the container")
    if tty:
        # A terminal has one output.
        wanted -= {Channel.STDERR}
    channels = await _channels(scope, wanted, stdin=stdin, tty=tty)
    if channels is None:
        return
    command: RemoteCommand
    try:
        if root == "exec":
            command = ExecProcess(process, words, stdin=stdin, tty=tty)
        else:
            command = Attachment(process, stdin=stdin, once=bool(container.get("stdinOnce")))
    except (ExecFailed, OSError) as error:
        why = f"error executing command in container: {error}"
        await channels.send(Channel.ERROR, msgspec.json.encode(internal_error(why)))
        await channels.close()
        return
    await serve_command(channels, command, wanted)


async def _channels(scope: Scope, wanted: frozenset[Channel], *, stdin: bool, tty: bool) -> Channels | None:
    if is_websocket(scope):
        return WebSocketChannels(_websocket(scope, PROTOCOLS))
    channels = spdy_channels.SpdyChannels(_spdy(scope, spdy_channels.PROTOCOL))
    streams = wanted | {Channel.ERROR} | ({Channel.STDIN} if stdin else set()) | ({Channel.RESIZE} if tty else set())
    if await channels.open(streams):
        return channels
    await channels.close()
    return None


# Ports


async def _forward(scope: Scope, query: Mapping[str, list[str]], pod: str) -> None:
    if not is_websocket(scope):
        await port_forward.forward_spdy(_spdy(scope, port_forward.SPDY), pod)
        return
    if port_forward.TUNNEL.encode() in dict(scope["headers"]).get(b"sec-websocket-protocol", b""):
        # Within a tunnel each connection says its own port.
        await port_forward.forward_spdy(WebSocketPipe(_websocket(scope, (port_forward.TUNNEL,))), pod)
        return
    try:
        ports = port_forward.ports_of(query)
    except ValueError as error:
        raise StreamRefused(400, str(error)) from None
    await port_forward.forward_channels(_websocket(scope, (port_forward.CHANNELS,)), ports, pod)


# Handshakes


def _websocket(scope: Scope, protocols: Sequence[str]) -> WebSocket:
    try:
        return accept_websocket(scope, protocols)
    except HandshakeRefused as refused:
        raise StreamRefused(400, f"unable to upgrade websocket connection, because {refused}") from None


def _spdy(scope: Scope, protocol: str) -> ByteStream:
    upgrade: Upgrade | None = scope.get("upgrade")
    headers: list[tuple[bytes, bytes]] = scope["headers"]
    if upgrade is None or (b"upgrade", _SPDY.lower()) not in [(name, value.lower()) for name, value in headers]:
        raise StreamRefused(400, "Upgrade request required")
    offered = [word.strip() for name, value in headers if name == _SPDY_PROTOCOL for word in value.decode().split(",")]
    if protocol not in offered:
        listed = " ".join(offered)
        why = f"unable to negotiate protocol: client supports [{listed}], server accepts [{protocol}]"
        raise StreamRefused(403, why)
    return upgrade([(b"connection", b"Upgrade"), (b"upgrade", _SPDY), (_SPDY_PROTOCOL, protocol.encode())])


def _flag(query: Mapping[str, list[str]], name: str) -> bool:
    return (query.get(name) or [""])[0] in ("1", "true")
