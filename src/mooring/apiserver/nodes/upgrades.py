"""Requests that leave HTTP: passed on to the server behind, and both ends joined when it grants them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Final

from mooring.apiserver.calls import Call
from mooring.apiserver.messages.request import HttpRequest
from mooring.apiserver.nodes.kubelets import DIAL_SECONDS, kubelet_failure
from mooring.kube.status import ApiError, InternalError
from mooring.net.asgi import Send, send_whole
from mooring.net.byte_stream import ByteStream, join_streams
from mooring.net.client_connection import ConnectionCut, HttpResponse
from mooring.net.destination import Destination

__all__ = ["Granted", "open_upgrade", "pass_upgrade", "refuse_upgrade", "upgrade_headers"]

_ANSWER_SECONDS: Final = 30.0
_PASSED: Final = ("upgrade", "connection", "x-stream-protocol-version")
_TEXT: Final = b"text/plain; charset=utf-8"

Granted = tuple[HttpResponse, ByteStream | None]
"""The answer to a request that wants to leave HTTP, and what it became; None where that was refused."""


def upgrade_headers(call: Call) -> dict[str, str]:
    """The headers that two ends of another protocol agree on it with."""
    found: dict[str, str] = {}
    for key, value in call.request.headers:
        name = key.decode("latin-1")
        if name in _PASSED or name.startswith("sec-websocket-"):
            text = value.decode("latin-1")
            found[name] = f"{found[name]}, {text}" if name in found else text
    return found


async def pass_upgrade(
    request: HttpRequest,
    send: Send,
    target: Destination,
    data: bytes,
    fallback: Callable[[], Awaitable[int]] | None = None,
) -> int:
    """Pass the request on, and join both ends when it is granted; the status of the answer.

    `fallback` is tried in another protocol when this one is refused.
    """
    async with open_upgrade(target, data) as (answer, behind):
        if behind is not None:
            assert request.upgrade is not None
            client = request.upgrade(list(answer.headers.items()))
            await join_streams(client, behind)
            return answer.status
    if fallback is not None and 400 <= answer.status < 500:
        return await fallback()
    return await refuse_upgrade(answer, send)


@asynccontextmanager
async def open_upgrade(target: Destination, request: bytes) -> AsyncIterator[Granted]:
    """Dial, and ask; the connection is closed at the end. Raises ApiError where there is no answer."""
    # A request is begun outside of a task and becomes one when it first waits; time limits need one.
    await asyncio.sleep(0)
    try:
        connection = await target.dial(seconds=DIAL_SECONDS)
    except (OSError, ConnectionCut) as error:
        raise ApiError(f"error dialing backend: {kubelet_failure(error, target)}") from None
    try:
        answer = await connection.open(request, _ANSWER_SECONDS)
        if answer.status == 101:
            yield answer, connection.upgraded()
        else:
            yield await connection.rest(_ANSWER_SECONDS), None
    except TimeoutError:
        raise InternalError.of(f"{target.authority} did not answer in {_ANSWER_SECONDS:.0f} s") from None
    except ConnectionCut as error:
        raise InternalError.of(f"{target.authority} closed the connection: {error}") from None
    finally:
        connection.close()


async def refuse_upgrade(answer: HttpResponse, send: Send) -> int:
    """Tell the client what the server behind said."""
    if answer.status < 400:
        raise InternalError.of(f"invalid upgrade response: status code {answer.status}")
    kind = answer.headers.get(b"content-type", _TEXT)
    await send_whole(send, answer.status, kind, answer.body, (b"connection", b"close"))
    return answer.status
