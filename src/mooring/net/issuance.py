"""Issues certificates: a new authority, and certificates that it signs, with keys of their own.

It loads a cryptographic library, so what must start fast imports it only when there is something to issue.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID

__all__ = ["BACKDATED", "Leaf", "issue_authority", "issue_leaf", "pem"]

# Clocks of clients may be behind.
BACKDATED: Final = timedelta(hours=1)


class Leaf(NamedTuple):
    """Whom a certificate stands for. With names it is a server's, without a client's."""

    common_name: str
    names: Sequence[str] = ()


def issue_authority(now: datetime, life: timedelta) -> tuple[x509.Certificate, EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = _name("Mooring authority")
    builder = _builder(name, name, key, now, now + life)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_usage(key_cert_sign=True, crl_sign=True), critical=True)
    return _signed(builder, key, key), key


def issue_leaf(
    authority: x509.Certificate, authority_key: EllipticCurvePrivateKey, leaf: Leaf, now: datetime, end: datetime
) -> tuple[x509.Certificate, EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    usage = ExtendedKeyUsageOID.SERVER_AUTH if leaf.names else ExtendedKeyUsageOID.CLIENT_AUTH
    builder = _builder(_name(leaf.common_name), authority.subject, key, now, end)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    builder = builder.add_extension(_usage(digital_signature=True), critical=True)
    builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
    if leaf.names:
        alternatives = [_alternative(name) for name in dict.fromkeys(leaf.names)]
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    return _signed(builder, key, authority_key), key


def pem(what: x509.Certificate | EllipticCurvePrivateKey) -> bytes:
    if isinstance(what, x509.Certificate):
        return what.public_bytes(Encoding.PEM)
    return what.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _usage(**granted: bool) -> x509.KeyUsage:
    kinds = (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    )
    return x509.KeyUsage(**{kind: granted.get(kind, False) for kind in kinds})


def _builder(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, now: datetime, end: datetime
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .not_valid_after(end)
    )


def _signed(
    builder: x509.CertificateBuilder, key: EllipticCurvePrivateKey, issuer_key: EllipticCurvePrivateKey
) -> x509.Certificate:
    """Both key identifiers are in it, without which Python 3.13 and newer accept no certificate."""
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    issuers = x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key())
    return builder.add_extension(own, critical=False).add_extension(issuers, critical=False).sign(issuer_key, SHA256())
