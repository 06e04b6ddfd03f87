"""What a client must know to reach an API server, however it was found out: a kubeconfig, a service account, or a test.

`headers` is called for every request, so a source of rotating tokens returns the current one; `refresh` is awaited
once when the server answers 401, and says whether there are new credentials worth a second try.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass


def _no_headers() -> Mapping[str, str]:
    return {}


async def _nothing_new() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Access:
    """`server` is the base URL; `tls` is None for plain http.

    `server_name` is the name that the certificate must bear where it is not the URL's; `proxy` is the URL of an HTTP
    proxy that is asked for a tunnel.
    """

    server: str
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    headers: Callable[[], Mapping[str, str]] = _no_headers
    refresh: Callable[[], Awaitable[bool]] = _nothing_new
    namespace: str = "default"
    proxy: str | None = None
