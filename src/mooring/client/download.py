"""A body of any length, as it comes: for answers that are no objects of the API."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Final

from mooring.client.access import Access
from mooring.client.answers import error_of
from mooring.client.connections import Connections
from mooring.client.http import ANSWER_SECONDS
from mooring.client.transport import Unreachable
from mooring.net.client_connection import ClientConnection, ConnectionCut

__all__ = ["download"]

_HEADERS: Final = {"Accept": "*/*", "User-Agent": "mooring"}


async def download(access: Access, path: str, seconds: float = ANSWER_SECONDS) -> AsyncGenerator[bytes]:
    """The parts of an answer; `seconds` is how long the next one may take. ApiError where the server refuses."""
    connections = Connections(access, 1)
    connection = await connections.open_watch()
    try:
        await _opened(connections, connection, path, seconds)
        async with aclosing(connection.parts(seconds)) as parts:
            async for part in parts:
                yield part
    except TimeoutError:
        raise Unreachable(f"{access.server} has sent nothing for {seconds:.0f} s") from None
    except ConnectionCut as error:
        raise Unreachable(f"{access.server} did not answer to the end: {error}") from None
    finally:
        connections.end_watch(connection)
        await connections.close()


async def _opened(connections: Connections, connection: ClientConnection, path: str, seconds: float) -> None:
    if (await connection.open(connections.request("GET", path, _HEADERS), seconds)).status != 200:
        raise error_of(await connection.rest(seconds))
