"""Connections to a server that answers by a script, in virtual time: everything that a client sends is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tests.support.virtual_time import clock


class Reply(NamedTuple):
    """What comes back for one request: its bytes, after a while, and whether the connection ends with them."""

    name: str
    data: bytes = b""
    after: float = 0.0
    cuts: bool = False
    # What comes in a piece of its own, a while later.
    rest: bytes = b""
    later: float = 0.0


REFUSED = Reply("nobody listens")


class Network:
    """Every connection that is opened and every request, each with its moment; replies come in their order."""

    def __init__(self, replies: Sequence[Reply], otherwise: Callable[[str, str], Reply]) -> None:
        self.told: list[str] = []
        self.wires: list[Wire] = []
        self._replies = list(replies)
        self._otherwise = otherwise
        self._began = clock()

    async def connect(
        self, factory: Callable[[], asyncio.Protocol], host: str, port: int, **_: Any
    ) -> tuple[asyncio.Transport, asyncio.Protocol]:
        if self._replies and self._replies[0] is REFUSED:
            self._replies.pop(0)
            self.tell("nobody listens")
            raise ConnectionRefusedError(111, "Connection refused")
        wire = Wire(self, len(self.wires) + 1, factory())
        self.wires.append(wire)
        wire.protocol.connection_made(wire)
        return wire, wire.protocol

    def tell(self, text: str) -> None:
        self.told.append(f"{clock() - self._began:.2f} {text}")

    def reply(self, method: str, path: str) -> Reply:
        while self._replies:
            found = self._replies.pop(0)
            if found is not REFUSED:
                return found
        return self._otherwise(method, path)


class Wire(asyncio.Transport):
    def __init__(self, network: Network, number: int, protocol: asyncio.Protocol) -> None:
        super().__init__()
        self._network, self._number, self.protocol = network, number, protocol
        self.closed = False

    def write(self, data: Any) -> None:
        head, _, body = bytes(data).decode().partition("\r\n\r\n")
        first, *headers = head.split("\r\n")
        sent = [each for each in headers if not each.startswith(("Host: ", "User-Agent: "))]
        self._network.tell(
            " | ".join([f"{self._number} {first.removesuffix(' HTTP/1.1')}", *sent, *filter(None, [body])])
        )
        method, path, *_ = first.split(" ")
        reply = self._network.reply(method, path)
        asyncio.get_running_loop().call_later(reply.after, self._come, reply)

    def _come(self, reply: Reply) -> None:
        if not self.closed and reply.data:
            self.protocol.data_received(reply.data)
        if reply.rest:
            after = reply._replace(data=reply.rest, rest=b"")
            asyncio.get_running_loop().call_later(reply.later, self._come, after)
        elif reply.cuts:
            self.abort()

    def is_closing(self) -> bool:
        return self.closed

    def abort(self) -> None:
        if not self.closed:
            self.closed = True
            asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)

    close = abort

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass
