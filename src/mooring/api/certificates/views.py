"""CertificateSigningRequests as the controllers that approve, sign and clean them see them."""

from __future__ import annotations

import msgspec

from mooring.api.core.types import View
from mooring.api.meta import Condition, Meta


class CertificateSigningRequestSpec(View, frozen=True):
    """`request` is PEM in base64. The user is whoever created the object; the API server says so."""

    request: str = ""
    signer_name: str = ""
    usages: tuple[str, ...] = ()
    expiration_seconds: int | None = None
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


class CertificateSigningRequestStatus(View, frozen=True):
    conditions: tuple[Condition, ...] = ()
    certificate: str = ""


class CertificateSigningRequest(View, frozen=True):
    metadata: Meta = Meta()
    spec: CertificateSigningRequestSpec = CertificateSigningRequestSpec()
    status: CertificateSigningRequestStatus = CertificateSigningRequestStatus()
