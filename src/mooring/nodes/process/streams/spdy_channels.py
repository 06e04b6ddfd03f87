"""The channels of remote commands over SPDY, a stream for each, for clients that do not speak WebSocket."""

from __future__ import annotations

import asyncio
from typing import Final

from mooring.net.byte_stream import ByteStream
from mooring.net.spdy import SpdySession, SpdyStream
from mooring.nodes.process.streams.channels import Channel, ChannelMessage

__all__ = ["PROTOCOL", "SpdyChannels"]

PROTOCOL: Final = "v4.channel.k8s.io"
_CREATION_SECONDS: Final = 30.0
_TYPES: Final = {
    "stdin": Channel.STDIN,
    "stdout": Channel.STDOUT,
    "stderr": Channel.STDERR,
    "error": Channel.ERROR,
    "resize": Channel.RESIZE,
}


class SpdyChannels:
    def __init__(self, stream: ByteStream) -> None:
        self._session = SpdySession(stream)
        self._streams: dict[Channel, SpdyStream] = {}
        self._messages: asyncio.Queue[ChannelMessage | None] = asyncio.Queue(1)
        self._tasks = [asyncio.create_task(self._session.run())]

    async def open(self, wanted: frozenset[Channel]) -> bool:
        """Wait until the client has opened its streams; False if it does not."""
        try:
            async with asyncio.timeout(_CREATION_SECONDS):
                while not wanted <= self._streams.keys():
                    if (stream := await self._session.accept()) is None:
                        return False
                    channel = _TYPES.get(stream.headers.get("streamtype", ""))
                    if channel is None or channel in self._streams:
                        await stream.reset()
                        continue
                    await stream.reply()
                    self._streams[channel] = stream
        except (TimeoutError, ConnectionResetError):
            return False
        for channel in (Channel.STDIN, Channel.RESIZE):
            if channel in self._streams:
                self._tasks.append(asyncio.create_task(self._listen(channel)))
        self._tasks.append(asyncio.create_task(self._end()))
        return True

    async def _listen(self, channel: Channel) -> None:
        stream = self._streams[channel]
        while data := await stream.read():
            await self._messages.put(ChannelMessage(channel, data))
        if channel is Channel.STDIN:
            await self._messages.put(ChannelMessage(channel, None))

    async def _end(self) -> None:
        while (stream := await self._session.accept()) is not None:
            await stream.reset()
        await self._messages.put(None)

    async def receive(self) -> ChannelMessage | None:
        return await self._messages.get()

    async def send(self, channel: Channel, data: bytes) -> None:
        if (stream := self._streams.get(channel)) is not None:
            await stream.write(data)

    async def ping(self) -> None:
        """The session does that by itself."""

    async def close(self) -> None:
        for stream in self._streams.values():
            await stream.finish()
        self._session.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
