"""TLS contexts: the certificate of a server, the authorities that either side trusts, and the client's certificate."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import ssl
from pathlib import Path
from typing import NamedTuple

__all__ = ["ClientCertificate", "client_certificate", "client_context", "server_context", "show_certificate"]

_log = logging.getLogger(__name__)


class ClientCertificate(NamedTuple):
    """What a client showed and TLS verified: pairs of its subject, its end in seconds since 1970, its SHA-256."""

    subject: tuple[tuple[str, str], ...]
    expires: float
    digest: str


class _TellingSSLObject(ssl.SSLObject):
    """Tells a client why its certificate is refused, before the connection ends.

    Event loops cut a connection whose handshake fails and drop the alert that says why. A Go client takes that for a
    server that is starting and tries for most of a minute. So the failure is kept back as if more had to be read: the
    alert goes out, the client closes, or the time for handshakes is up.
    """

    _refused = False

    def do_handshake(self) -> None:
        try:
            if not self._refused:
                super().do_handshake()
                return
        except ssl.SSLCertVerificationError as error:
            self._refused = True
            _log.warning("The certificate of a client was refused: %s", error.verify_message)
        raise ssl.SSLWantReadError


def server_context(certificate: Path, key: Path, clients: Path | None = None) -> ssl.SSLContext:
    """What a server shows to clients. With `clients`, an authority, it asks them for certificates of that one.

    A client need not have one; a wrong one ends the handshake.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if clients is None:
        context.load_cert_chain(certificate, key)
        return context
    context.load_verify_locations(clients)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.sslobject_class = _TellingSSLObject
    # The whole chain, because OpenSSL would build it out of the authorities of clients again in every handshake, which
    # costs as much as a third of one.
    show_certificate(context, certificate.read_bytes() + clients.read_bytes(), key.read_bytes())
    return context


def client_certificate(transport: asyncio.BaseTransport) -> ClientCertificate | None:
    """The certificate of the client at the other end, if it showed one."""
    found = transport.get_extra_info("peercert")
    if not found:
        return None
    raw: bytes = transport.get_extra_info("ssl_object").getpeercert(binary_form=True)
    subject = tuple(pair for part in found.get("subject", ()) for pair in part)
    return ClientCertificate(subject, ssl.cert_time_to_seconds(found["notAfter"]), hashlib.sha256(raw).hexdigest())


def client_context(*, authority: bytes | None, insecure: bool = False) -> ssl.SSLContext:
    """`authority` is PEM; without it the system's authorities count. Raises ssl.SSLError when it holds none."""
    # Not create_default_context: since Python 3.13 it refuses the authorities of many clusters that Go programs accept.
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif authority is None:
        context.load_default_certs()
    else:
        # Bundles have remarks between their certificates, in any alphabet.
        text = authority.decode("ascii", errors="ignore")
        if not text:
            raise ssl.SSLError("there is no certificate")
        context.load_verify_locations(cadata=text)
        # Go trusts whatever certificate it is given, be it a server's own; many webhooks are set up so.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def show_certificate(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Have new connections show this certificate. Raises ssl.SSLError when the two do not fit each other."""
    import tempfile

    # The standard library reads them from files only; these live for a moment, in a folder that only this user may
    # enter.
    with tempfile.TemporaryDirectory(prefix="mooring-") as folder:
        shown, secret = Path(folder, "tls.crt"), Path(folder, "tls.key")
        shown.write_bytes(certificate)
        secret.write_bytes(key)
        # An empty password, because OpenSSL would ask for one on the terminal.
        context.load_cert_chain(shown, secret, password=b"")
