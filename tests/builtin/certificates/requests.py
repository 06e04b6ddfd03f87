"""Certificate requests as clients make them, for tests."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import cache
from ipaddress import ip_address
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding

from mooring.api.certificates.x509_requests import KUBELET_CLIENT
from mooring.kube.objects import Object

NODE_CLIENT = ("digital signature", "client auth")


@cache
def private_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def pem(
    name: str = "system:node:a",
    organizations: Sequence[str] = ("system:nodes",),
    *,
    dns: Sequence[str] = (),
    ips: Sequence[str] = (),
    emails: Sequence[str] = (),
    uris: Sequence[str] = (),
) -> bytes:
    """A request that its key has signed."""
    subject = [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, each) for each in organizations]
    subject.append(x509.NameAttribute(x509.NameOID.COMMON_NAME, name))
    builder = x509.CertificateSigningRequestBuilder().subject_name(x509.Name(subject))
    names: list[x509.GeneralName] = [x509.DNSName(each) for each in dns]
    names += [x509.IPAddress(ip_address(each)) for each in ips]
    names += [x509.RFC822Name(each) for each in emails]
    names += [x509.UniformResourceIdentifier(each) for each in uris]
    if names:
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    return builder.sign(private_key(), SHA256()).public_bytes(Encoding.PEM)


def signing_request(
    request: bytes | None = None,
    signer: str = KUBELET_CLIENT,
    usages: Sequence[str] = NODE_CLIENT,
    *,
    name: str = "csr",
    **more: Any,
) -> Object:
    encoded = base64.b64encode(pem() if request is None else request).decode()
    return {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "metadata": {"name": name, "creationTimestamp": "2026-01-01T11:00:00Z"},
        "spec": {"request": encoded, "signerName": signer, "usages": list(usages), **more},
    }


def judged(request: Object, *kinds: str, certificate: str = "", at: str = "2026-01-01T11:30:00Z") -> Object:
    """The request with these conditions, since half an hour before noon."""
    conditions = [{"type": kind, "status": "True", "lastUpdateTime": at} for kind in kinds]
    return {**request, "status": {"conditions": conditions, "certificate": certificate}}
