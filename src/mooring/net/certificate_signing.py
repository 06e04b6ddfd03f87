"""Signs certificate requests with the cluster's authority, as kube-controller-manager does.

Subject and alternative names are taken from the request, and nothing else of it: whoever calls this has decided that
they are right. What the certificate may be used for and how long it counts are the caller's.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Final

from mooring.net.certificates import Certificates, load_authority

__all__ = ["sign_request"]

# Clocks of clients may be behind. Of a long life this is taken away again.
_BACKDATED: Final = timedelta(minutes=5)
_SHORT: Final = timedelta(hours=8)
# Usages that no signer of ours gives.
_NEVER: Final = (
    *("content_commitment", "data_encipherment", "key_agreement", "key_cert_sign", "crl_sign"),
    *("encipher_only", "decipher_only"),
)


def sign_request(
    files: Certificates, request: bytes, *, usages: Collection[str], life: timedelta, now: datetime
) -> bytes:
    """A certificate in PEM for a request in PEM. Raises CertificateError, or ValueError for what is no request."""
    from cryptography import x509
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import Encoding
    from cryptography.x509.oid import ExtendedKeyUsageOID

    authority, key = load_authority(files)
    asked = x509.load_pem_x509_csr(request)
    end = now + life if life < _SHORT else now + life - _BACKDATED
    builder = (
        x509.CertificateBuilder()
        .subject_name(asked.subject)
        .issuer_name(authority.subject)
        .public_key(asked.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(min(end, authority.not_valid_after_utc))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key()), critical=False)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(asked.public_key()), critical=False)
    )
    granted = {kind: kind.replace("_", " ") in usages for kind in ("digital_signature", "key_encipherment")}
    if any(granted.values()):
        # An extension without a single usage is no valid one.
        never = dict.fromkeys(_NEVER, False)
        builder = builder.add_extension(x509.KeyUsage(**granted, **never), critical=True)
    known = {"client auth": ExtendedKeyUsageOID.CLIENT_AUTH, "server auth": ExtendedKeyUsageOID.SERVER_AUTH}
    if extended := [oid for usage, oid in known.items() if usage in usages]:
        builder = builder.add_extension(x509.ExtendedKeyUsage(extended), critical=False)
    try:
        names = asked.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        builder = builder.add_extension(names, critical=False)
    except x509.ExtensionNotFound:
        pass
    return builder.sign(key, SHA256()).public_bytes(Encoding.PEM)
