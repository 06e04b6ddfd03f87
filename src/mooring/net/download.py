"""What a URL holds, read whole: over http or https, within a size and a time, through redirects that stay there."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from typing import Final
from urllib.parse import SplitResult, urldefrag, urljoin, urlsplit

from mooring.kube.errors import MooringError
from mooring.net.client_connection import ConnectionCut, HttpResponse, request_bytes
from mooring.net.destination import Destination, dial_failure
from mooring.net.tls import client_context

__all__ = ["DownloadError", "download", "is_url"]

SCHEMES: Final = ("http", "https")
_PORTS: Final = {"http": 80, "https": 443}
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS: Final = 10
_OK: Final = 200


class DownloadError(MooringError):
    """Why a URL cannot be read."""


def is_url(text: str) -> bool:
    return text.startswith(tuple(f"{scheme}://" for scheme in SCHEMES))


def _no_proxy(url: SplitResult) -> str | None:
    return None


async def download(
    url: str,
    *,
    seconds: float,
    most_bytes: int,
    tls: ssl.SSLContext | None = None,
    proxy: Callable[[SplitResult], str | None] = _no_proxy,
) -> bytes:
    """Raises DownloadError. `proxy` says which proxy an address is asked through; `tls` is the system's by default."""
    try:
        async with asyncio.timeout(seconds):
            return await _follow(url, most_bytes, tls, proxy)
    except TimeoutError:
        raise DownloadError(f"{url} was not answered in {seconds:.0f} s") from None


async def _follow(
    url: str, most_bytes: int, tls: ssl.SSLContext | None, proxy: Callable[[SplitResult], str | None]
) -> bytes:
    here = url
    for _ in range(_MOST_REDIRECTS + 1):
        where = _split(here)
        trusted = None if where.scheme == "http" else tls or client_context(authority=None)
        answer = await _ask(here, where, most_bytes, trusted, proxy(where))
        if answer.status == _OK:
            return answer.body
        if answer.status not in _REDIRECTS or b"location" not in answer.headers:
            raise DownloadError(f"{here} cannot be read: the server answered with status {answer.status}")
        # A fragment is for the reader, and is not sent.
        there = urldefrag(urljoin(here, answer.headers[b"location"].decode("latin-1"))).url
        if not is_url(there) or (where.scheme == "https" and not there.startswith("https://")):
            raise DownloadError(f"{here} leads to {there}, which is not followed: only from http to http and https")
        here = there
    raise DownloadError(f"{url} leads from one address to the next more than {_MOST_REDIRECTS} times")


async def _ask(
    url: str, where: SplitResult, most_bytes: int, tls: ssl.SSLContext | None, proxy: str | None
) -> HttpResponse:
    destination = Destination(where.hostname or "", where.port or _PORTS[where.scheme], tls, proxy=proxy)
    target = f"{where.path or '/'}{f'?{where.query}' if where.query else ''}"
    headers = {"Host": where.netloc.rpartition("@")[2], "User-Agent": "mooring", "Accept": "*/*", "Connection": "close"}
    try:
        connection = await destination.dial(most_bytes=most_bytes)
    except TimeoutError:
        raise
    except (OSError, ConnectionCut) as error:
        raise DownloadError(f"{url} cannot be reached: {dial_failure(error, destination)}") from None
    try:
        return await connection.ask(request_bytes("GET", target, headers))
    except ConnectionCut as error:
        raise DownloadError(f"{url} cannot be read: {error}") from None
    finally:
        connection.close()


def _split(url: str) -> SplitResult:
    found = urlsplit(url)
    try:
        port = found.port
    except ValueError as error:
        raise DownloadError(f"{url} is not an address: {error}") from None
    if not found.hostname or port == 0 or any(ord(letter) <= 32 or ord(letter) > 126 for letter in url):
        raise DownloadError(f"{url} is not an address; write it as https://HOST/PATH")
    return found
