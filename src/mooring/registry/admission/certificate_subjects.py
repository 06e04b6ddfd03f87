"""CertificateSubjectRestriction: nobody asks for a client certificate of system:masters, whoever would approve it."""

from typing import Final

from mooring.api.certificates.x509_requests import CLIENT, read_request
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError
from mooring.registry.admission.chain import AdmissionRequest, ClusterView

__all__ = ["restrict_certificate_subject"]

_MASTERS: Final = "system:masters"


def restrict_certificate_subject(request: AdmissionRequest, view: ClusterView) -> Object | None:
    """Refuse a request whose certificate could never be taken back, and whose holder may do everything."""
    if request.resource.store != "certificatesigningrequests.certificates.k8s.io" or request.subresource:
        return None
    spec = (request.object or {}).get("spec") or {}
    if spec.get("signerName") != CLIENT:
        return None
    asked = read_request(spec.get("request") or "")
    if asked is not None and _MASTERS in asked.organizations:
        why = f"use of {CLIENT} signer with {_MASTERS} group is not allowed"
        raise ForbiddenError.of(request.resource.plural, request.resource.group, request.name, why)
    return None
