"""WebSocket connections (RFC 6455): the handshake of both ends, and messages over an upgraded connection."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from mooring.net.asgi import Header, Scope, Upgrade
from mooring.net.byte_stream import ByteStream
from mooring.net.client_connection import ClientConnection, HttpResponse, request_bytes
from mooring.net.websocket_frames import (
    MOST_MESSAGE_BYTES,
    Frame,
    FrameReader,
    Opcode,
    WebSocketError,
    close_payload,
    frame_bytes,
)

__all__ = ["HandshakeRefused", "WebSocket", "accept_websocket", "is_websocket", "open_websocket"]

_VERSION: Final = "13"
_ACCEPT_SUFFIX: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_NORMAL: Final = 1000


class HandshakeRefused(Exception):
    """A request that cannot become a WebSocket; `response` is the server's answer where this end is the client."""

    def __init__(self, message: str, response: HttpResponse | None = None) -> None:
        super().__init__(message)
        self.response = response


class WebSocket:
    """Messages over a stream. `protocol` is the sub-protocol that was agreed on; empty when none was."""

    def __init__(self, stream: ByteStream, protocol: str, *, client: bool) -> None:
        self.protocol = protocol
        self._stream = stream
        self._client = client
        self._reader = FrameReader(masked=not client)
        self._frames: list[Frame] = []
        self._message: list[bytes] = []
        self._begun = False
        self._closed = False

    async def receive(self) -> bytes | None:
        """The next message, text as its bytes; None at the end. Pings are answered meanwhile."""
        while not self._closed:
            try:
                frames, self._frames = self._frames or self._reader.feed(await self._more()), []
                for index, frame in enumerate(frames):
                    if (message := await self._take(frame)) is not None:
                        self._frames = frames[index + 1 :]
                        return message
            except WebSocketError as error:
                await self.close(error.code, str(error))
            except ConnectionResetError:
                self._closed = True
        return None

    async def send(self, data: bytes, opcode: Opcode = Opcode.BINARY) -> None:
        """Send a message. Raises ConnectionResetError when the peer has gone or either end has closed."""
        if self._closed:
            # After the goodbye there is nothing to say, even while it is still on its way.
            raise ConnectionResetError("the WebSocket is closed")
        await self._write(data, opcode)

    async def close(self, code: int = _NORMAL, reason: str = "") -> None:
        """Say goodbye and close; a peer that has gone already is no error."""
        if not self._closed:
            self._closed = True
            with suppress(ConnectionResetError):
                await self._write(close_payload(code, reason), Opcode.CLOSE)
        self._stream.close()

    def abandon(self) -> None:
        """Close without a word."""
        self._closed = True
        self._stream.close()

    async def _write(self, data: bytes, opcode: Opcode) -> None:
        await self._stream.write(frame_bytes(opcode, data, os.urandom(4) if self._client else b""))

    async def _more(self) -> bytes:
        data = await self._stream.read()
        if not data:
            self._closed = True
        return data

    async def _take(self, frame: Frame) -> bytes | None:
        if frame.opcode is Opcode.PING:
            await self.send(frame.payload, Opcode.PONG)
        elif frame.opcode is Opcode.CLOSE:
            await self.close(*_reason(frame.payload))
        elif frame.opcode is not Opcode.PONG:
            return self._joined(frame)
        return None

    def _joined(self, frame: Frame) -> bytes | None:
        """The message that ends with this frame."""
        if (frame.opcode is Opcode.CONTINUATION) != self._begun:
            raise WebSocketError(1002, "a message begins in the middle of another, or without a beginning")
        self._begun = not frame.final
        if frame.final and not self._message:
            return frame.payload
        self._message.append(frame.payload)
        if sum(map(len, self._message)) > MOST_MESSAGE_BYTES:
            raise WebSocketError(1009, f"a message has more than {MOST_MESSAGE_BYTES} bytes")
        if not frame.final:
            return None
        message, self._message = b"".join(self._message), []
        return message


def _reason(payload: bytes) -> tuple[int, str]:
    """The code that a closing frame is answered with: the same one."""
    return (int.from_bytes(payload[:2]), "") if len(payload) >= 2 else (_NORMAL, "")


# The server's handshake


def is_websocket(scope: Scope) -> bool:
    """Whether a request asks to become a WebSocket."""
    return "upgrade" in scope and _values(scope, b"upgrade") == ["websocket"]


def accept_websocket(scope: Scope, protocols: Sequence[str]) -> WebSocket:
    """Turn a request into a WebSocket that speaks one of these protocols, the client's first choice among them.

    Raises HandshakeRefused while nothing has been sent.
    """
    upgrade: Upgrade | None = scope.get("upgrade")
    if upgrade is None or not is_websocket(scope):
        raise HandshakeRefused("the request does not ask for a WebSocket")
    if _values(scope, b"sec-websocket-version") != [_VERSION]:
        raise HandshakeRefused(f"only version {_VERSION} of WebSocket is spoken")
    key = dict(scope["headers"]).get(b"sec-websocket-key", b"")
    offered = _values(scope, b"sec-websocket-protocol")
    chosen = next((each for each in offered if each in protocols), None)
    if chosen is None:
        raise HandshakeRefused(f"none of the protocols [{', '.join(offered)}] is spoken, only [{', '.join(protocols)}]")
    headers: list[Header] = [
        (b"upgrade", b"websocket"),
        (b"connection", b"Upgrade"),
        (b"sec-websocket-accept", _accept(key)),
        (b"sec-websocket-protocol", chosen.encode()),
    ]
    return WebSocket(upgrade(headers), chosen, client=False)


def _values(scope: Scope, name: bytes) -> list[str]:
    found = [value.decode("latin-1") for key, value in scope["headers"] if key == name]
    words = [word.strip() for value in found for word in value.split(",")]
    return [word.lower() for word in words] if name == b"upgrade" else words


def _accept(key: bytes) -> bytes:
    return base64.b64encode(hashlib.sha1(key.strip() + _ACCEPT_SUFFIX, usedforsecurity=False).digest())


# The client's handshake


async def open_websocket(
    connection: ClientConnection, target: str, protocols: Sequence[str], headers: Mapping[str, str], seconds: float
) -> WebSocket:
    """Ask a server for a WebSocket. Raises HandshakeRefused with its answer when that is no."""
    key = base64.b64encode(os.urandom(16))
    asked = {
        **headers,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": _VERSION,
        "Sec-WebSocket-Key": key.decode(),
        "Sec-WebSocket-Protocol": ", ".join(protocols),
    }
    answer = await connection.open(request_bytes("GET", target, asked), seconds)
    if answer.status != 101:
        whole = await connection.rest(seconds)
        raise HandshakeRefused(f"the server answered {whole.status}", whole)
    if answer.headers.get(b"sec-websocket-accept") != _accept(key):
        connection.close()
        raise HandshakeRefused("the server's answer is to another request", answer)
    protocol = answer.headers.get(b"sec-websocket-protocol", b"").decode("latin-1")
    return WebSocket(connection.upgraded(), protocol, client=True)
