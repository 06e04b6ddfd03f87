"""A server whose own certificate is what its clients are told to trust, as envtest sets webhooks up."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mooring.net.certificates import ensure_certificates
from mooring.net.tls import client_context, server_context


def handshake(client: ssl.SSLContext, server: ssl.SSLContext) -> None:
    """Both ends in memory; raises what a client finds wrong."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ours = client.wrap_bio(to_client, to_server, server_hostname="localhost")
    theirs = server.wrap_bio(to_server, to_client, server_side=True)
    for _ in range(4):
        for end in (ours, theirs):
            try:
                end.do_handshake()
            except ssl.SSLWantReadError:
                continue


def test_a_certificate_that_is_no_authority_can_be_trusted_by_itself(tmp_path: Path) -> None:
    files = ensure_certificates(tmp_path, ["localhost"], now=datetime.now(UTC))
    handshake(client_context(authority=files.certificate.read_bytes()), server_context(files.certificate, files.key))


def test_another_certificate_is_not_trusted_for_it(tmp_path: Path) -> None:
    files = ensure_certificates(tmp_path / "a", ["localhost"], now=datetime.now(UTC))
    others = ensure_certificates(tmp_path / "b", ["localhost"], now=datetime.now(UTC))
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(
            client_context(authority=others.certificate.read_bytes()), server_context(files.certificate, files.key)
        )
