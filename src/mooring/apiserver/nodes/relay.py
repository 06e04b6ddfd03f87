"""Passes an answer of another server on to a client as it comes, and stops asking for it when the client has gone."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from mooring.apiserver.messages.request import HttpRequest
from mooring.kube.status import ApiError
from mooring.net.asgi import Message, Send

__all__ = ["relay"]


async def relay(request: HttpRequest, answer: AsyncGenerator[bytes], head: Callable[[], Message], send: Send) -> None:
    """`answer` yields nothing, and then the parts of the body; `head` is asked for when the first has come.

    Raises what `answer` raises before that. What fails later cuts the connection, so that the client does not take a
    part for the whole.
    """
    leaving = asyncio.ensure_future(request.gone())
    try:
        async with aclosing(answer) as parts:
            await _pass_on(parts, leaving, head, send)
    finally:
        leaving.cancel()


async def _pass_on(
    parts: AsyncGenerator[bytes], leaving: "asyncio.Future[None]", head: Callable[[], Message], send: Send
) -> None:
    begun = False
    while True:
        coming = asyncio.ensure_future(anext(parts, None))
        await asyncio.wait((coming, leaving), return_when=asyncio.FIRST_COMPLETED)
        if leaving.done():
            coming.cancel()
            await asyncio.gather(coming, return_exceptions=True)
            return
        try:
            data = coming.result()
        except ApiError:
            if not begun:
                raise
            return
        if not begun:
            await send(head())
            begun = True
        if data is None:
            await send({"type": "http.response.body", "body": b""})
            return
        if data:
            await send({"type": "http.response.body", "body": data, "more_body": True})
