"""WebSocket of clients into SPDY of kubelets, for those that do not speak the newest protocol over WebSocket.

kubectl begins with `v5.channel.k8s.io`, which many a container engine does not know, and would try again over SPDY; a
client in a browser cannot. kube-apiserver translates in the same way. Port-forward needs no translation: its messages
are SPDY already.
"""

import asyncio
from contextlib import suppress
from typing import Final

from mooring.apiserver.calls import Call
from mooring.apiserver.nodes.upgrades import open_upgrade, refuse_upgrade
from mooring.kube.status import BadRequestError
from mooring.net.asgi import Send
from mooring.net.byte_stream import ByteStream, join_streams
from mooring.net.client_connection import request_bytes
from mooring.net.destination import Destination
from mooring.net.spdy import SpdySession, SpdyStream, WebSocketPipe
from mooring.net.websocket import HandshakeRefused, WebSocket, accept_websocket, is_websocket

__all__ = ["can_translate", "translate_stream"]

_V5: Final = "v5.channel.k8s.io"
_V4: Final = "v4.channel.k8s.io"
_TUNNEL: Final = "SPDY/3.1+portforward.k8s.io"
_FORWARD: Final = "portforward.k8s.io"
# The number of a channel in messages, by the type of its stream.
_CHANNELS: Final = {"stdin": 0, "stdout": 1, "stderr": 2, "error": 3, "resize": 4}
_CLOSE: Final = 255
# RFC 6455: the server met something that it did not expect.
_LOST: Final = 1011


def can_translate(call: Call) -> bool:
    """Whether a client offers what can be said in SPDY."""
    offered = call.request.header(b"sec-websocket-protocol")
    return is_websocket(_scope(call)) and any(each in offered for each in (_V5, _TUNNEL))


def _scope(call: Call) -> dict[str, object]:
    return {"headers": call.request.headers, "upgrade": call.request.upgrade}


async def translate_stream(
    call: Call, send: Send, target: Destination, path: str, credentials: dict[str, str], streams: tuple[str, ...]
) -> int:
    """Ask the kubelet once more, for SPDY; the status of the answer. `streams` are those that a command has."""
    forwards = call.target.subresource == "portforward"
    headers = {
        "Host": target.authority,
        **credentials,
        "Connection": "Upgrade",
        "Upgrade": "SPDY/3.1",
        "X-Stream-Protocol-Version": _FORWARD if forwards else _V4,
    }
    async with open_upgrade(target, request_bytes("POST", path, headers)) as (answer, behind):
        if behind is not None:
            try:
                client = accept_websocket(_scope(call), (_TUNNEL,) if forwards else (_V5,))
            except HandshakeRefused as refused:
                raise BadRequestError(str(refused)) from None
            if forwards:
                await join_streams(WebSocketPipe(client), behind)
            else:
                await _join_command(client, behind, streams)
            return answer.status
    return await refuse_upgrade(answer, send)


async def _join_command(client: WebSocket, kubelet: ByteStream, types: tuple[str, ...]) -> None:
    """Pass channels and streams on to each other until the command has ended, or either end has gone."""
    session = SpdySession(kubelet, client=True)
    running = asyncio.create_task(session.run())
    tasks = [running]
    try:
        streams = {name: await session.open({"streamtype": name}) for name in types}
        output = asyncio.create_task(_send_to_client(client, streams))
        tasks += [output, asyncio.create_task(_send_to_kubelet(client, streams))]
        # A client whose stdin has ended still listens, so only its going ends that way.
        await asyncio.wait((output, tasks[-1]), return_when=asyncio.FIRST_COMPLETED)
    except ConnectionResetError:
        pass
    finally:
        # The session ends with the task that runs it.
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await client.close()


async def _send_to_client(client: WebSocket, streams: dict[str, SpdyStream]) -> None:
    """Output as it comes; how the command ended when all of it is there, because clients close on that."""
    copies = [_copy(client, _CHANNELS[name], streams[name]) for name in ("stdout", "stderr") if name in streams]
    await asyncio.gather(*copies)
    status = b""
    while data := await streams["error"].read():
        status += data
    if streams["error"].cut and not status:
        # An empty status, or a goodbye as usual, would say that the command went well.
        await client.close(_LOST, "the node was lost before the command had ended")
    else:
        await client.send(bytes((_CHANNELS["error"],)) + status)


async def _copy(client: WebSocket, channel: int, stream: SpdyStream) -> None:
    while data := await stream.read():
        await client.send(bytes((channel,)) + data)


async def _send_to_kubelet(client: WebSocket, streams: dict[str, SpdyStream]) -> None:
    """Input and the sizes of the terminal, until the client has gone."""
    by_channel = {_CHANNELS[name]: streams[name] for name in ("stdin", "resize") if name in streams}
    while (message := await client.receive()) is not None:
        if len(message) < 2:
            continue
        if message[0] == _CLOSE:
            stream = by_channel.get(message[1])
            if stream is not None:
                await stream.finish()
        elif (stream := by_channel.get(message[0])) is not None:
            # What the command no longer reads does not end it.
            with suppress(ConnectionResetError):
                await stream.write(message[1:])
