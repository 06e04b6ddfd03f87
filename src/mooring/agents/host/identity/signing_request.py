"""Keys and certificate requests of an agent, and what a certificate says of its life."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from mooring.features.hosts.api.names import AGENT_GROUP, AGENT_USER_PREFIX

__all__ = ["RENEWED_AT_REMAINING", "CertificateLife", "certificate_life", "is_key", "new_key", "signing_request"]

# Of the whole life of a certificate: with less than this left it is renewed.
RENEWED_AT_REMAINING = 0.2


class CertificateLife(NamedTuple):
    begins: datetime
    ends: datetime

    def is_due(self, now: datetime) -> bool:
        """Whether it is time for a new one."""
        return (self.ends - now) < (self.ends - self.begins) * RENEWED_AT_REMAINING


def new_key() -> bytes:
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def is_key(data: bytes) -> bool:
    """Whether a file holds a key, and not what a crash left of one."""
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        load_pem_private_key(data, None)
    except (ValueError, TypeError):
        return False
    return True


def signing_request(key: bytes, host: str) -> bytes:
    """A request in PEM for a certificate of the host's agent."""
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding, load_pem_private_key

    loaded = load_pem_private_key(key, None)
    assert isinstance(loaded, EllipticCurvePrivateKey)
    subject = x509.Name(
        [
            x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, AGENT_GROUP),
            x509.NameAttribute(x509.NameOID.COMMON_NAME, f"{AGENT_USER_PREFIX}{host}"),
        ]
    )
    built = x509.CertificateSigningRequestBuilder().subject_name(subject).sign(loaded, SHA256())
    return built.public_bytes(Encoding.PEM)


def certificate_life(certificate: bytes) -> CertificateLife:
    """Raises ValueError for what is no certificate."""
    from cryptography import x509

    loaded = x509.load_pem_x509_certificate(certificate)
    return CertificateLife(loaded.not_valid_before_utc, loaded.not_valid_after_utc)
