"""What a certificate request asks for, and what its signer has against it, in the words of kube-controller-manager."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

__all__ = ["CLIENT", "KUBELET_CLIENT", "KUBELET_SERVING", "SIGNERS", "X509Request", "problem_of", "read_request"]

CLIENT: Final = "kubernetes.io/kube-apiserver-client"
KUBELET_CLIENT: Final = "kubernetes.io/kube-apiserver-client-kubelet"
KUBELET_SERVING: Final = "kubernetes.io/kubelet-serving"

_NODES: Final = "system:nodes"
_NODE: Final = "system:node:"
_CLIENT_USAGES: Final = frozenset({"client auth", "digital signature", "key encipherment"})
_SERVING_USAGES: Final = frozenset({"server auth", "digital signature", "key encipherment"})


class X509Request(NamedTuple):
    """The subject and the alternative names of a request, and whether it is signed by its own key.

    Of names that no signer of ours signs there is only the number.
    """

    common_name: str = ""
    organizations: tuple[str, ...] = ()
    dns: tuple[str, ...] = ()
    emails: int = 0
    ips: tuple[str, ...] = ()
    uris: int = 0
    is_signed: bool = True


@lru_cache(maxsize=256)
def read_request(encoded: str) -> X509Request | None:
    """A request in PEM and base64; None when it cannot be read."""
    from cryptography import x509

    try:
        found = x509.load_pem_x509_csr(base64.b64decode(encoded))
        names = _alternative_names(found)
        common = found.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
        organizations = found.subject.get_attributes_for_oid(x509.NameOID.ORGANIZATION_NAME)
    except (ValueError, TypeError, binascii.Error):
        return None

    def count(kind: type[object]) -> int:
        return sum(isinstance(name, kind) for name in names)

    return X509Request(
        # Of several, the last counts.
        common_name=str(common[-1].value) if common else "",
        organizations=tuple(str(each.value) for each in organizations),
        dns=tuple(name.value for name in names if isinstance(name, x509.DNSName)),
        emails=count(x509.RFC822Name),
        ips=tuple(str(name.value) for name in names if isinstance(name, x509.IPAddress)),
        uris=count(x509.UniformResourceIdentifier),
        is_signed=found.is_signature_valid,
    )


def _alternative_names(found: object) -> Sequence[object]:
    from cryptography import x509

    try:
        return tuple(found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value)  # type: ignore[attr-defined]
    except x509.ExtensionNotFound:
        return ()


def problem_of(signer: str, request: X509Request, usages: Sequence[str]) -> str:
    """Why a signer does not sign a request; empty where it does."""
    if not request.is_signed:
        return "unable to verify certificate request signature"
    return SIGNERS[signer](request, usages)


def _client_problem(request: X509Request, usages: Sequence[str]) -> str:
    for usage in usages:
        if usage not in _CLIENT_USAGES:
            return f"invalid usage for client certificate: {usage}"
    return "" if "client auth" in usages else "missing required usage for client certificate: client auth"


def _kubelet_client_problem(request: X509Request, usages: Sequence[str]) -> str:
    if request.organizations != (_NODES,):
        return "subject organization is not system:nodes"
    for found, kind in (
        (request.dns, "DNS"),
        (request.emails, "Email"),
        (request.ips, "IP"),
        (request.uris, "URI"),
    ):
        if found:
            return f"{kind} subjectAltNames are not allowed"
    return _name_problem(request) or _usage_problem(usages, _CLIENT_USAGES)


def _kubelet_serving_problem(request: X509Request, usages: Sequence[str]) -> str:
    if request.organizations != (_NODES,):
        return "subject organization is not system:nodes"
    if not (request.dns or request.ips):
        return "DNS or IP subjectAltName is required"
    for count, kind in ((request.emails, "Email"), (request.uris, "URI")):
        if count:
            return f"{kind} subjectAltNames are not allowed"
    return _usage_problem(usages, _SERVING_USAGES) or _name_problem(request)


def _name_problem(request: X509Request) -> str:
    return "" if request.common_name.startswith(_NODE) else "subject common name does not begin with system:node:"


def _usage_problem(usages: Sequence[str], wanted: frozenset[str]) -> str:
    """Keys that are not RSA encipher nothing, so that usage may be left out."""
    if frozenset(usages) in (wanted, wanted - {"key encipherment"}):
        return ""
    return f"usages did not match [{' '.join(sorted(wanted))}]"


SIGNERS: Final[dict[str, Callable[[X509Request, Sequence[str]], str]]] = {
    CLIENT: _client_problem,
    KUBELET_CLIENT: _kubelet_client_problem,
    KUBELET_SERVING: _kubelet_serving_problem,
}
