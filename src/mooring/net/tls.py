"""TLS contexts: the certificate of a server, and the authorities that a client trusts, as kubectl does it."""

from __future__ import annotations

import ssl
import tempfile
from pathlib import Path

__all__ = ["client_context", "server_context", "show_certificate"]


def server_context(certificate: Path, key: Path) -> ssl.SSLContext:
    """What a server shows to clients."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(certificate, key)
    return context


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
        context.load_verify_locations(cadata=authority.decode("ascii", errors="replace"))
    return context


def show_certificate(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Have new connections show this certificate. Raises ssl.SSLError when the two do not fit each other."""
    # The standard library reads them from files only; these live for a moment, in a folder that only this user may
    # enter.
    with tempfile.TemporaryDirectory(prefix="mooring-") as folder:
        shown, secret = Path(folder, "tls.crt"), Path(folder, "tls.key")
        shown.write_bytes(certificate)
        secret.write_bytes(key)
        # An empty password, because OpenSSL would ask for one on the terminal.
        context.load_cert_chain(shown, secret, password=b"")
