"""Responses of handlers, and how they are sent with the headers that every response of an API server has.

A body is bytes, or a list in pieces that are encoded while they are sent: other requests are served between two pieces,
so that a list of ten thousand objects does not block the server.
"""

import asyncio
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import msgspec

from mooring.apiserver.messages.list_body import ListBody
from mooring.kube.status import ApiError
from mooring.net.asgi import Header, Send, Turn

__all__ = [
    "JSON",
    "TEXT",
    "Response",
    "encode",
    "failure",
    "json_response",
    "pretty",
    "send_response",
    "text_response",
    "warning_headers",
]


JSON: Final = b"application/json"
TEXT: Final = b"text/plain; charset=utf-8"

# Compressing less than this costs more than it saves, in the real server's experience too.
_MIN_GZIP_BYTES: Final = 128 * 1024
_PRIVATE: Final[Header] = (b"cache-control", b"no-cache, private")
_MAX_WARNING_CHARACTERS: Final = 4096

encode = msgspec.json.Encoder().encode


@dataclass(slots=True)
class Response:
    """One response. `body` may be encoded piece by piece.

    `revision` is the revision that it was read at, where known: then it need not wait for later writes to be durable.
    """

    status: int
    body: bytes | ListBody | Iterator[bytes]
    content_type: bytes = JSON
    headers: Sequence[Header] = ()
    revision: int | None = None


def json_response(value: Any, status: int = 200, warnings: Sequence[str] = ()) -> Response:
    return Response(status, encode(value), headers=warning_headers(warnings) if warnings else ())


def pretty(response: Response) -> Response:
    """The same for a person to read, indented as the real server does it."""
    if response.content_type != JSON:
        return response
    if isinstance(response.body, ListBody):
        return replace(response, body=response.body.indented())
    if not isinstance(response.body, bytes):
        return response
    return replace(response, body=msgspec.json.format(response.body, indent=2))


def text_response(text: str, status: int = 200, headers: Sequence[Header] = ()) -> Response:
    return Response(status, text.encode(), TEXT, headers)


def failure(error: ApiError, warnings: Sequence[str] = ()) -> Response:
    """The Status of an error."""
    headers = warning_headers(warnings)
    if error.retry_after is not None:
        headers.append((b"retry-after", str(error.retry_after).encode()))
    if error.code == 413:
        # The client may still be sending a body that will not be read.
        headers.append((b"connection", b"close"))
    return Response(error.code, encode(error.status()), headers=headers)


def warning_headers(warnings: Sequence[str]) -> list[Header]:
    """Warning headers (RFC 7234), cut at the length at which kube-apiserver cuts them."""
    found, length = [], 0
    for warning in dict.fromkeys(warnings):
        text = " ".join(warning.split()).replace("\\", "\\\\").replace('"', '\\"')
        printable = "".join(char for char in text if char.isprintable())
        if not printable:
            continue
        length += len(printable)
        if length > _MAX_WARNING_CHARACTERS:
            break
        found.append((b"warning", f'299 - "{printable}"'.encode()))
    return found


async def send_response(send: Send, response: Response, turn: Turn, *, gzip: bool = False) -> None:
    """Send it all; `turn` lets other requests be served."""
    body = response.body
    headers: list[Header] = [(b"content-type", response.content_type), *response.headers]
    if not (response.headers and any(name == b"cache-control" for name, _ in response.headers)):
        headers.append(_PRIVATE)
    if isinstance(body, bytes):
        if gzip and len(body) >= _MIN_GZIP_BYTES:
            body = await asyncio.to_thread(_compressed, body)
            headers += ((b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding"))
        headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return
    await _send_pieces(send, response.status, headers, body, turn, gzip=gzip)


async def _send_pieces(
    send: Send, status: int, headers: list[Header], pieces: Iterable[bytes], turn: Turn, *, gzip: bool
) -> None:
    packer = None
    if gzip:
        packer = _packer()
        headers += ((b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    for piece in pieces:
        if packer is not None:
            piece = await asyncio.to_thread(packer.compress, piece)
        await send({"type": "http.response.body", "body": piece, "more_body": True})
        await turn()
    await send({"type": "http.response.body", "body": packer.flush() if packer is not None else b""})


def _packer() -> Any:
    return zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)


def _compressed(body: bytes) -> bytes:
    packer = _packer()
    packed: bytes = packer.compress(body) + packer.flush()
    return packed
