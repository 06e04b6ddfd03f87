"""The interface between the HTTP server and what it serves: plain ASGI, with six additions.

`scope["push"]` sends a part of a streamed answer at once. `scope["too_large"]` says that a body exceeded the limit, of
which an application then sees only the beginning. `scope["upgrade"]` is there when the client asks for another
protocol: it sends 101 with the given headers, and the connection is a stream of bytes from then on. `scope["trust"]` is
called by an application that knows the sender: connections of others are bounded in number. `scope["certificate"]` is
the client's certificate, where TLS asked for one and it had one. `scope["turn"]` is awaited between two slices of long
work: other senders get their turn.
"""

from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mooring.net.byte_stream import ByteStream

__all__ = [
    "App",
    "Disconnected",
    "Header",
    "Message",
    "Push",
    "Receive",
    "Scope",
    "Send",
    "TooLarge",
    "Turn",
    "Upgrade",
    "read_body",
    "send_whole",
]

Header = tuple[bytes, bytes]
Scope = dict[str, Any]
Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Coroutine[Any, Any, None]]
# Sends what the given function makes, if that can be done without waiting; says whether it was.
Push = Callable[[Callable[[], bytes]], bool]
# Awaited where the requests of other senders may be served.
Turn = Callable[[], Awaitable[None]]
Upgrade = Callable[[list[Header]], "ByteStream"]


class Disconnected(Exception):
    """The client has closed the connection before the response."""


class TooLarge(Exception):
    """The body of a request exceeds the server's limit."""


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """The whole body of a request. Raises TooLarge or Disconnected."""
    if scope.get("too_large"):
        raise TooLarge
    message = await _next(receive)
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        return body
    parts = [body]
    while message.get("more_body"):
        message = await _next(receive)
        parts.append(message.get("body", b""))
    return b"".join(parts)


async def send_whole(send: Send, status: int, content_type: bytes, body: bytes, *headers: Header) -> None:
    """Send a response whose body is complete."""
    measured = [(b"content-type", content_type), (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": status, "headers": measured})
    await send({"type": "http.response.body", "body": body})


async def _next(receive: Receive) -> Message:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise Disconnected
    return message
