"""Sends requests to a server, one by one, and looks at nothing of an answer but its status and its end."""

from __future__ import annotations

import re
import socket
from typing import Final, NamedTuple

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE).search
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding: *chunked", re.IGNORECASE).search
_CLOSES: Final = re.compile(rb"\r\nconnection: *close", re.IGNORECASE).search
# A request that is not whole is not answered; nobody waits for that.
ANSWER_SECONDS: Final = 0.2
_SLOW_SECONDS: Final = 20.0


class Reply(NamedTuple):
    """Status 0 stands for no answer; `shown` is the beginning of the body."""

    status: int
    shown: bytes = b""


class FuzzClient:
    def __init__(self, host: str, port: int) -> None:
        self._address = host, port
        self._socket: socket.socket | None = None

    def ask(self, data: bytes, *, endless: bool = False, whole: bool = True) -> Reply:
        """`endless` answers are not waited for. What is not `whole` may have no answer."""
        connection = self._socket or socket.create_connection(self._address, _SLOW_SECONDS)
        self._socket = None
        connection.settimeout(_SLOW_SECONDS if whole else ANSWER_SECONDS)
        keep = False
        try:
            connection.sendall(data)
            reply, keep = _read(connection, head_only=data.startswith(b"HEAD "), endless=endless)
            return reply
        except (TimeoutError, ConnectionError):
            return Reply(0)
        finally:
            if keep:
                self._socket = connection
            else:
                connection.close()

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()


def _read(connection: socket.socket, *, head_only: bool, endless: bool) -> tuple[Reply, bool]:
    """The reply, and whether the connection can be used again."""
    data = connection.recv(65536)
    while data.startswith(b"HTTP/1.1 100") and b"\r\n\r\n" in data:
        data = data.partition(b"\r\n\r\n")[2] or connection.recv(65536)
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return Reply(0), False
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    status = int(head[9:12])
    keep = not _CLOSES(head)
    if head_only or status in (101, 204, 304):
        return Reply(status), keep and status != 101
    if (length := _LENGTH(head)) is not None:
        wanted = int(length[1])
        while len(body) < wanted and (more := connection.recv(1 << 20)):
            body += more
        return Reply(status, body[:500]), keep and len(body) == wanted
    if _CHUNKED(head) and not endless:
        while not body.endswith(b"0\r\n\r\n") and (more := connection.recv(1 << 20)):
            body += more
        return Reply(status, body[:500]), keep
    return Reply(status, body[:500]), False
