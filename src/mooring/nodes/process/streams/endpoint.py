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
from mooring.net.asgi import Receive, Scope, Send, send_whole
from mooring.net.websocket import HandshakeRefused, accept_websocket
from mooring.nodes.process.containers.attachment import Attachment
from mooring.nodes.process.containers.exec import ExecFailed, ExecProcess
from mooring.nodes.process.containers.processes import ContainerProcess
from mooring.nodes.process.streams.channels import PROTOCOLS, Channel, WebSocketChannels
from mooring.nodes.process.streams.remote_command import RemoteCommand, internal_error, serve_command

__all__ = ["ROOTS", "NotRunning", "RunningContainer", "StreamEndpoint", "StreamRefused"]

ROOTS: Final = frozenset({"exec", "attach", "portForward"})
_TEXT: Final = b"text/plain"
_CLOSE: Final = (b"connection", b"close")
_OUTPUTS: Final = {"output": Channel.STDOUT, "error": Channel.STDERR}


class NotRunning(Exception):
    """There is nothing to enter; the text is the kubelet's."""


class StreamRefused(Exception):
    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class RunningContainer(Protocol):
    """From a namespace, a pod and a container to its spec and its process. Raises NotRunning."""

    def __call__(self, namespace: str, pod: str, container: str) -> tuple[Object, ContainerProcess]: ...


class StreamEndpoint:
    def __init__(self, running: RunningContainer) -> None:
        self._running = running

    async def serve(
        self, scope: Scope, receive: Receive, send: Send, path: Sequence[str], query: Mapping[str, list[str]]
    ) -> None:
        """Answer a request whose path begins with one of ROOTS."""
        try:
            await self._serve(scope, path, query)
        except StreamRefused as refused:
            await send_whole(send, refused.status, _TEXT, str(refused).encode(), _CLOSE)

    async def _serve(self, scope: Scope, path: Sequence[str], query: Mapping[str, list[str]]) -> None:
        if scope["method"] not in ("GET", "POST"):
            raise StreamRefused(405, "GET and POST are all that can be done here")
        root, *names = path
        if len(names) not in (3, 4):
            raise StreamRefused(404, "404 page not found")
        try:
            # Some clients name the pod's uid too, before the container.
            container, process = self._running(names[0], names[1], names[-1])
        except NotRunning as error:
            raise StreamRefused(404, str(error)) from None
        await self._command(scope, root, query, container, process)

    async def _command(
        self, scope: Scope, root: str, query: Mapping[str, list[str]], container: Object, process: ContainerProcess
    ) -> None:
        tty = root == "exec" and _flag(query, "tty")
        wanted = frozenset(channel for name, channel in _OUTPUTS.items() if _flag(query, name))
        stdin, words = _flag(query, "input"), query.get("command") or []
        if not stdin and not wanted:
            raise StreamRefused(400, "you must specify at least 1 of stdin, stdout, stderr")
        if root == "exec" and not words:
            raise StreamRefused(400, "you must specify at least one command for the container")
        channels = await _channels(scope)
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


async def _channels(scope: Scope) -> WebSocketChannels:
    # A request is begun outside of a task, and the tasks of a stream are ended with it.
    await asyncio.sleep(0)
    try:
        return WebSocketChannels(accept_websocket(scope, PROTOCOLS))
    except HandshakeRefused as refused:
        why = (
            f"this node speaks WebSocket ({', '.join(PROTOCOLS)}) and not SPDY, as kubectl 1.31 and later do: {refused}"
        )
        raise StreamRefused(400, why) from None


def _flag(query: Mapping[str, list[str]], name: str) -> bool:
    return (query.get(name) or [""])[0] in ("1", "true")
