"""The certificates that a webhook server shows: read from where replicas share them, and renewed there when due.

The server follows them without a new socket or process.
"""

from __future__ import annotations

import ssl
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from mooring.kube.errors import MooringError
from mooring.net.rotation import RotatedCertificates, read_certificates, renewed
from mooring.net.tls import show_certificate
from mooring.runtime.webhooks.certificate_stores import CertificateStore

__all__ = ["CERTIFICATE_LIFE", "Keys"]

CERTIFICATE_LIFE: Final = timedelta(days=365)
# Of all replicas that renew at once, each round one is done.
_RETRIES: Final = 10
# How often a certificate is looked after while it lives.
_LOOKS: Final = 10


class Keys:
    """`tls` is what the server shows. Before `look` has been there once, that is nothing."""

    def __init__(
        self,
        store: CertificateStore,
        names: Sequence[str],
        clock: Callable[[], datetime],
        life: timedelta = CERTIFICATE_LIFE,
    ) -> None:
        self._store, self._names, self._clock, self._life = store, names, clock, life
        self._known: RotatedCertificates | None = None
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.minimum_version = ssl.TLSVersion.TLSv1_2

    @property
    def are_there(self) -> bool:
        return self._known is not None

    @property
    def bundle(self) -> str:
        """What configurations must trust, as they write it."""
        return b64encode(self._known.bundle).decode() if self._known is not None else ""

    @property
    def look_seconds(self) -> float:
        """How often to look, so that a certificate which another replica has renewed is shown in time."""
        return self._life.total_seconds() / _LOOKS

    async def look(self) -> None:
        """Take what is kept, renew what is due, and show it."""
        for _ in range(_RETRIES):
            kept = await self._store.read()
            # What was lost from the store is put back: clients trust it.
            found = read_certificates(kept.files) or self._known
            wanted = renewed(found, self._names, self._clock(), self._life)
            files = wanted.files()
            if files.items() <= kept.files.items() or await self._store.write(files, kept.version):
                if self._known is None or wanted.certificate != self._known.certificate:
                    show_certificate(self.tls, wanted.certificate, wanted.key)
                self._known = wanted
                return
        raise MooringError("others change the certificates of the webhooks all the time")
