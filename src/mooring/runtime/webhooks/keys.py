"""The certificates of a webhook server: made when they are missing, and renewed in time and without a restart.

An API server trusts what the configurations say. So before a certificate of a new authority is shown, they must name
that authority; and they name the old one too, for as long as it may still be met.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from urllib.parse import urlsplit

from mooring.kube.errors import MooringError
from mooring.net.certificates import ensure_certificates
from mooring.net.tls import server_context


def host_of(url: str) -> str:
    """The name that a certificate for a URL must be for."""
    try:
        parts = urlsplit(url)
        host, good = parts.hostname or "", parts.scheme == "https" and not (parts.query or parts.fragment)
        _ = parts.port
    except ValueError as error:
        raise MooringError(f"{url} is no URL: {error}") from None
    if not good or not host:
        raise MooringError(f"{url} cannot be the URL of webhooks: it must be https://HOST:PORT")
    return host


class Keys:
    """`tls` is what the server shows; it follows the files without a new socket or process."""

    def __init__(self, folder: Path, url: str, clock: Callable[[], datetime]) -> None:
        self._folder = folder
        self._names = (host_of(url),)
        self._clock = clock
        found = ensure_certificates(folder, self._names, now=clock())
        self._authority = found.authority.read_bytes()
        self._shown = found.certificate.read_bytes()
        self._trusted = self._authority
        self.tls = server_context(found.certificate, found.key)

    @property
    def bundle(self) -> str:
        """What configurations must trust, as they write it."""
        return b64encode(self._trusted).decode()

    async def renew(self, announce: Callable[[], Awaitable[None]]) -> bool:
        """Look after the certificates; whether there are new ones. `announce` writes the bundle where it is read."""
        found = ensure_certificates(self._folder, self._names, now=self._clock())
        authority, shown = found.authority.read_bytes(), found.certificate.read_bytes()
        if shown == self._shown:
            return False
        if authority != self._authority:
            self._trusted = authority + self._authority
            await announce()
            self._authority = authority
        self.tls.load_cert_chain(found.certificate, found.key)
        self._shown = shown
        return True
