"""Certificates that several servers share: what is renewed when, and that clients trust it before they meet it."""

from __future__ import annotations

import ssl
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from mooring.net.rotation import RotatedCertificates, read_certificates, renewed
from mooring.net.tls import show_certificate

NOW = datetime.now(UTC).replace(microsecond=0)
LIFE = timedelta(days=365)
NAMES = ("mooring.apps.svc",)


@pytest.fixture(scope="module")
def first() -> RotatedCertificates:
    return renewed(None, NAMES, NOW, LIFE)


def convinces(shown: RotatedCertificates, trusted: RotatedCertificates, name: str = NAMES[0]) -> bool:
    """Whether a client that trusts what some server was told accepts what another shows."""
    client = ssl.create_default_context(cadata=trusted.bundle.decode())
    # The clocks of these certificates run ahead of this machine's.
    client.verify_flags |= ssl.VERIFY_X509_STRICT | 0x200000
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    show_certificate(server, shown.certificate, shown.key)
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    near = client.wrap_bio(incoming, outgoing, server_hostname=name)
    far = server.wrap_bio(outgoing, incoming, server_side=True)
    try:
        for side in (near, far, near, far):
            with suppress(ssl.SSLWantReadError):
                side.do_handshake()
    except ssl.SSLCertVerificationError:
        return False
    return near.getpeercert(binary_form=True) is not None


def test_nothing_changes_before_it_is_due(first: RotatedCertificates) -> None:
    assert renewed(first, NAMES, NOW + LIFE / 2, LIFE) is first


def test_a_certificate_is_renewed_when_a_third_of_its_life_is_left(first: RotatedCertificates) -> None:
    second = renewed(first, NAMES, NOW + LIFE * 0.7, LIFE)
    assert second.certificate != first.certificate
    assert second.bundle == first.bundle
    assert convinces(second, trusted=first)


def test_another_name_needs_another_certificate_of_the_same_authority(first: RotatedCertificates) -> None:
    second = renewed(first, ("10.0.0.7",), NOW, LIFE)
    assert convinces(second, trusted=first, name="10.0.0.7")
    assert not convinces(second, trusted=first)


def test_whoever_is_late_by_a_whole_life_trusts_and_is_trusted() -> None:
    """Through thirty lives, looked after three times in each, no server shows what clients could not know of."""
    now, history = NOW, [renewed(None, NAMES, NOW, LIFE)]
    while now < NOW + 30 * LIFE:
        now += LIFE / 3
        latest = renewed(history[-1], NAMES, now, LIFE)
        assert latest.shown.ends - now >= LIFE / 3
        assert all(each.ends > now for each in latest.authorities)
        for late in history[-3:]:
            # A client that has heard nothing since, and a server that has not renewed yet.
            assert convinces(latest, trusted=late)
            if late.shown.ends > now:
                assert convinces(late, trusted=latest)
        history.append(latest)
    assert len({each.bundle for each in history}) > 4


def test_what_is_kept_is_read_back(first: RotatedCertificates) -> None:
    found = read_certificates(first.files())
    assert found is not None
    assert found.files() == first.files()
    assert renewed(found, NAMES, NOW, LIFE) is found


@pytest.mark.parametrize("name", ["ca.crt", "ca.key", "tls.crt", "tls.key"])
@pytest.mark.parametrize("damage", ["lost", "cut", "another's"])
def test_what_is_not_whole_is_not_used(first: RotatedCertificates, name: str, damage: str) -> None:
    other = renewed(None, NAMES, NOW, LIFE).files()[name]
    data = {"lost": b"", "cut": first.files()[name][:-40], "another's": other}[damage]
    assert read_certificates({**first.files(), name: data}) is None
