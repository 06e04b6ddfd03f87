"""The key that signs ServiceAccount tokens, and JSON Web Tokens in the one form that is used here: ES256.

The key is kept beside the cluster's certificates, because tokens in running pods must outlive a restart. The
cryptographic library is loaded when the first token comes or is asked for, not when the server starts. The parent of
the processes makes the key, so this module loads little else.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.net.private_files import write_private

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

__all__ = ["ALGORITHM", "SigningKey", "SigningKeyError", "ensure_signing_key", "read_claims"]

ALGORITHM: Final = "ES256"
# Of each of the two numbers of a signature.
_NUMBER_BYTES: Final = 32


class SigningKeyError(MooringError):
    """The file of the key is there and cannot be used."""


def ensure_signing_key(path: Path) -> None:
    """Make the key where there is none yet."""
    if not path.exists():
        write_private(path, _pem(_new_key()))


def read_claims(token: str) -> tuple[Object, Object] | None:
    """The header and the claims of a token, not verified; None for what is no token of this form."""
    parts = token.split(".")
    if len(parts) != 3:
        return None
    try:
        header, claims = (json.loads(_decoded(part)) for part in parts[:2])
    except (binascii.Error, ValueError, RecursionError):
        return None
    return (header, claims) if isinstance(header, dict) and isinstance(claims, dict) else None


class SigningKey:
    """Signs and verifies. Without a path the key lives as long as the process, as data in memory do."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path

    @cached_property
    def _key(self) -> EllipticCurvePrivateKey:
        if self._path is None:
            return _new_key()
        from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        way_out = "put it back, or remove it to have a new one made; tokens that it signed are then worth nothing"
        try:
            key = load_pem_private_key(self._path.read_bytes(), None)
        except OSError as error:
            raise SigningKeyError(f"{self._path} cannot be read: {error.strerror}; {way_out}") from None
        except (ValueError, TypeError):
            raise SigningKeyError(f"{self._path} is not PEM as Mooring writes it; {way_out}") from None
        if not isinstance(key, EllipticCurvePrivateKey) or not isinstance(key.curve, SECP256R1):
            raise SigningKeyError(f"{self._path} is no key of the curve P-256; {way_out}")
        return key

    @cached_property
    def id(self) -> str:
        """The name of the key in the headers of tokens: the hash of its public half."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return _encoded(hashlib.sha256(public).digest())

    @property
    def public(self) -> Object:
        """The public half as a JSON Web Key."""
        numbers = self._key.public_key().public_numbers()
        x, y = (_encoded(number.to_bytes(_NUMBER_BYTES, "big")) for number in (numbers.x, numbers.y))
        return {"use": "sig", "kty": "EC", "kid": self.id, "crv": "P-256", "alg": ALGORITHM, "x": x, "y": y}

    def sign(self, claims: Object) -> str:
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256

        parts = ({"alg": ALGORITHM, "kid": self.id}, claims)
        signed = ".".join(_encoded(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
        numbers = decode_dss_signature(self._key.sign(signed.encode(), ECDSA(SHA256())))
        return f"{signed}.{_encoded(b''.join(number.to_bytes(_NUMBER_BYTES, 'big') for number in numbers))}"

    def verifies(self, token: str) -> bool:
        """Whether this key signed it. The algorithm that the header names is not followed: there is one."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
        from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
        from cryptography.hazmat.primitives.hashes import SHA256

        signed, _, signature = token.rpartition(".")
        try:
            raw = _decoded(signature)
        except (binascii.Error, ValueError):
            return False
        if len(raw) != 2 * _NUMBER_BYTES:
            return False
        r, s = (int.from_bytes(part, "big") for part in (raw[:_NUMBER_BYTES], raw[_NUMBER_BYTES:]))
        try:
            self._key.public_key().verify(encode_dss_signature(r, s), signed.encode(), ECDSA(SHA256()))
        except InvalidSignature:
            return False
        return True


def _new_key() -> EllipticCurvePrivateKey:
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.generate_private_key(ec.SECP256R1())


def _pem(key: EllipticCurvePrivateKey) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _encoded(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _decoded(text: str) -> Any:
    # Strict: two spellings of one signature would be two tokens.
    if not text.isascii() or set("+/=") & set(text):
        raise ValueError("not base64url")
    return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)
