"""The channels of remote commands over WebSocket: stdin, stdout, stderr, the final status, and the terminal's size.

The first byte of a message is its channel. In version 5 a client can also say that a channel ends (255).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final, NamedTuple

from mooring.net.websocket import WebSocket
from mooring.net.websocket_frames import Opcode

__all__ = ["PROTOCOLS", "Channel", "ChannelMessage", "WebSocketChannels"]

_V5: Final = "v5.channel.k8s.io"
PROTOCOLS: Final = (_V5, "v4.channel.k8s.io")


class Channel(IntEnum):
    STDIN = 0
    STDOUT = 1
    STDERR = 2
    ERROR = 3
    RESIZE = 4
    CLOSE = 255


class ChannelMessage(NamedTuple):
    """`data` is None at the end of the channel."""

    channel: Channel
    data: bytes | None


class WebSocketChannels:
    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def receive(self) -> ChannelMessage | None:
        """What the client sends next; None when it has gone."""
        while (message := await self._socket.receive()) is not None:
            if found := channel_message(message, closes=self._socket.protocol == _V5):
                return found
        return None

    async def send(self, channel: Channel, data: bytes) -> None:
        await self._socket.send(bytes((channel,)) + data)

    async def ping(self) -> None:
        await self._socket.send(b"", Opcode.PING)

    async def close(self) -> None:
        await self._socket.close()


def channel_message(message: bytes, *, closes: bool) -> ChannelMessage | None:
    """A message by its channel; None where there is nothing in it that a client may say."""
    if not message:
        return None
    number, data = message[0], message[1:]
    if number == Channel.CLOSE:
        return ChannelMessage(Channel.STDIN, None) if closes and data == bytes((Channel.STDIN,)) else None
    if number in (Channel.STDIN, Channel.RESIZE):
        return ChannelMessage(Channel(number), data)
    return None
