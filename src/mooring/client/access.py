"""What a client must know to reach an API server, however it was found out: a kubeconfig, a service account, or a test.

`headers` is called for every request, so a source of rotating tokens returns the current one; `refresh` is awaited
once when the server answers 401, and says whether there are new credentials worth a second try.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

from mooring.kube.objects import Object

# A header with several values is sent once with each.
RequestHeaders = Mapping[str, str | tuple[str, ...]]


def _no_headers() -> RequestHeaders:
    return {}


async def _nothing_new() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Access:
    """`server` is the base URL; `tls` is None for plain http.

    `server_name` is the name that the certificate must bear where it is not the URL's; `proxy` is the URL of an HTTP
    proxy that is asked for a tunnel. `cluster` and `user` are what a kubeconfig has of the same access, for programs
    that are started on behalf of this one; they are None where nobody knows.
    """

    server: str
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    headers: Callable[[], RequestHeaders] = _no_headers
    refresh: Callable[[], Awaitable[bool]] = _nothing_new
    namespace: str = "default"
    proxy: str | None = None
    cluster: Object | None = None
    user: Object | None = None

    def impersonating(self, username: str, groups: tuple[str, ...]) -> Access:
        """The same for requests that are carried out with the rights of somebody else."""
        headers: RequestHeaders = {"Impersonate-User": username, "Impersonate-Group": groups}
        return replace(self, headers=lambda: {**self.headers(), **headers})
