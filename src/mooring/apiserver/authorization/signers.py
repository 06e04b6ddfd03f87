"""Certificate signers: approving or signing a CertificateSigningRequest needs a right to its signer."""

from __future__ import annotations

from typing import Final

from mooring.apiserver.authentication.users import User
from mooring.apiserver.authorization.attributes import AccessDecision, Attributes, Authorizer
from mooring.kube.errors import go_quote
from mooring.kube.objects import Object
from mooring.kube.status import ForbiddenError
from mooring.registry.admission.chain import AdmissionRequest, ClusterView

__all__ = ["SignerCheck"]

_GROUP: Final = "certificates.k8s.io"
_STORE: Final = f"certificatesigningrequests.{_GROUP}"
_VERBS: Final = {"approval": "approve", "status": "sign"}


class SignerCheck:
    """A validating admission function, which writes of the server itself pass."""

    def __init__(self, authorize: Authorizer) -> None:
        self._authorize = authorize

    def __call__(self, request: AdmissionRequest, view: ClusterView) -> Object | None:
        verb, new, old = _VERBS.get(request.subresource), request.object, request.old_object
        if request.resource.store != _STORE or verb is None or new is None or old is None or not request.user:
            return None
        if verb == "sign" and _signed(new) == _signed(old):
            return None
        signer = old["spec"]["signerName"]
        if not self._allowed(User(request.user, request.groups), verb, signer):
            why = f"user not permitted to {verb} requests with signerName {go_quote(signer)}"
            raise ForbiddenError.of("certificatesigningrequests", _GROUP, request.name, why)
        return None

    def _allowed(self, user: User, verb: str, signer: str) -> bool:
        """Whether the user has a right to the signer, or to all signers of its domain."""
        domain = signer.partition("/")[0]
        return any(
            self._authorize(Attributes(user, verb, _GROUP, "signers", "", "", name, "*")).decision
            is AccessDecision.ALLOW
            for name in (signer, f"{domain}/*")
        )


def _signed(obj: Object) -> tuple[object, object]:
    status = obj.get("status") or {}
    return status.get("certificate"), status.get("conditions")
