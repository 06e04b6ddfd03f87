"""Certificates that several servers share, and what of them is renewed when.

Clients trust a list of authorities, and hear of changes to it a while later than the servers. So a new authority is
trusted long before it signs anything, an old one is trusted until it ends, and no server has to tell another about it:
what comes next follows from the certificates and the time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from mooring.net.issuance import BACKDATED, Leaf, issue_authority, issue_leaf, pem

__all__ = ["AUTHORITY_LIVES", "RotatedCertificates", "read_certificates", "renewed"]

# The life of an authority, in lives of the certificates that it signs.
AUTHORITY_LIVES: Final = 10
# With less than this left, in lives of a certificate, an authority gets a successor, which signs the certificates after
# the next.
_SUCCESSION_LIVES: Final = 3
# How long an authority is trusted before it signs anything, in lives of a certificate.
_SETTLED_LIVES: Final = 1

_BLOCK: Final = re.compile(rb"-----BEGIN [A-Z0-9 ]+-----\n.+?-----END [A-Z0-9 ]+-----\n", re.DOTALL)
_AUTHORITIES, _AUTHORITY_KEYS, _CERTIFICATE, _KEY = "ca.crt", "ca.key", "tls.crt", "tls.key"


class _Pair(NamedTuple):
    certificate: x509.Certificate
    key: EllipticCurvePrivateKey

    @property
    def ends(self) -> datetime:
        return self.certificate.not_valid_after_utc

    @property
    def made(self) -> datetime:
        return self.certificate.not_valid_before_utc + BACKDATED


class RotatedCertificates(NamedTuple):
    """The authorities that clients must trust, oldest first, and what servers show. One of the former signed it."""

    authorities: tuple[_Pair, ...]
    shown: _Pair

    @property
    def bundle(self) -> bytes:
        """What clients must trust."""
        return b"".join(pem(each.certificate) for each in self.authorities)

    @property
    def certificate(self) -> bytes:
        return pem(self.shown.certificate)

    @property
    def key(self) -> bytes:
        return pem(self.shown.key)

    def files(self) -> dict[str, bytes]:
        """All of it by name, as a Secret of type kubernetes.io/tls has it."""
        keys = b"".join(pem(each.key) for each in self.authorities)
        return {_CERTIFICATE: self.certificate, _KEY: self.key, _AUTHORITIES: self.bundle, _AUTHORITY_KEYS: keys}


def read_certificates(files: Mapping[str, bytes]) -> RotatedCertificates | None:
    """What `files` gave; None if it is not whole."""
    authorities, keys = (_BLOCK.findall(files.get(name, b"")) for name in (_AUTHORITIES, _AUTHORITY_KEYS))
    try:
        known = tuple(_pair(*each) for each in zip(authorities, keys, strict=True))
        shown = _pair(files.get(_CERTIFICATE, b""), files.get(_KEY, b""))
    except (ValueError, TypeError):
        return None
    if not any(_signed(each, shown) for each in known):
        return None
    return RotatedCertificates(known, shown)


def renewed(
    known: RotatedCertificates | None, names: Sequence[str], now: datetime, life: timedelta
) -> RotatedCertificates:
    """What there should be now, for servers of these names; the same object where nothing is due."""
    authorities = tuple(each for each in (known.authorities if known else ()) if each.ends > now)
    if not authorities or authorities[-1].ends - now < _SUCCESSION_LIVES * life:
        authorities = (*authorities, _Pair(*issue_authority(now, AUTHORITY_LIVES * life)))
    shown = known.shown if known else None
    if shown is None or not _is_good(shown, authorities, names, now, life):
        settled = [each for each in authorities if each.made + _SETTLED_LIVES * life <= now]
        # Where no client trusts anything yet, the first authority need not wait.
        authority = settled[-1] if settled else authorities[0]
        end = min(now + life, authority.ends)
        shown = _Pair(*issue_leaf(*authority, Leaf("Mooring webhooks", names), now, end))
    if known is not None and (authorities, shown) == known:
        return known
    return RotatedCertificates(authorities, shown)


def _is_good(shown: _Pair, authorities: Sequence[_Pair], names: Sequence[str], now: datetime, life: timedelta) -> bool:
    """Whether it can be shown for another third of a life."""
    in_time = shown.ends - now >= life / 3
    return in_time and _names(shown) == set(names) and any(_signed(each, shown) for each in authorities)


def _names(pair: _Pair) -> set[str]:
    found = pair.certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    addresses = {str(each) for each in found.get_values_for_type(x509.IPAddress)}
    return addresses | set(found.get_values_for_type(x509.DNSName))


def _signed(authority: _Pair, shown: _Pair) -> bool:
    try:
        shown.certificate.verify_directly_issued_by(authority.certificate)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _pair(certificate: bytes, key: bytes) -> _Pair:
    found, secret = x509.load_pem_x509_certificate(certificate), load_pem_private_key(key, None)
    if not isinstance(secret, EllipticCurvePrivateKey) or secret.public_key() != found.public_key():
        raise ValueError("the key is another's")
    return _Pair(found, secret)
