"""Approves requests for the client certificates of kubelets, if whoever asks for one may have it.

Whether that is so is asked of the API server, by a SubjectAccessReview: a decision knows no access rules. So the
approval is an effect, which ends with the condition Approved or with nothing. Certificates that kubelets serve with
are not approved here, as in any cluster: somebody has to know that the names in them are the node's.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from mooring.api.certificates.views import CertificateSigningRequest
from mooring.api.certificates.x509_requests import KUBELET_CLIENT, problem_of, read_request
from mooring.api.core.types import View as Typed
from mooring.api.kinds import Key
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.effects import Effect, Report, Run
from mooring.runtime.view import View
from mooring.workloads.kinds import CERTIFICATE_SIGNING_REQUEST
from mooring.workloads.rule_kinds import SIGNER, SUBJECT_ACCESS_REVIEW

# A right may be given later; kube-controller-manager asks again too.
_AGAIN: Final = timedelta(minutes=1)
_MESSAGES: Final = {
    "selfnodeclient": "Auto approving self kubelet client certificate after SubjectAccessReview.",
    "nodeclient": "Auto approving kubelet client certificate after SubjectAccessReview.",
}


class Review(Typed, frozen=True):
    """Who asks, and which rights would do, the first one first."""

    user: str
    uid: str
    groups: tuple[str, ...]
    extra: dict[str, tuple[str, ...]]
    subresources: tuple[str, ...]


def approval(subresource: str) -> Report:
    """The condition that says that a right was found."""
    condition = {
        "type": "Approved",
        "status": "True",
        "reason": "AutoApproved",
        "message": _MESSAGES[subresource],
    }
    return Report("Succeeded", status={"conditions": [condition]}, subresource="approval")


def _model(review: Review) -> tuple[timedelta, Report]:
    """In a simulation everybody who asks may."""
    return timedelta(), approval(review.subresources[0])


def _is_judged(request: CertificateSigningRequest) -> bool:
    return bool(request.status.conditions or request.status.certificate)


APPROVE: Final = Effect("approve", "certificates", Review, timedelta(seconds=30), _model, done=_is_judged)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    request = view.get(CERTIFICATE_SIGNING_REQUEST, *key)
    if request is None or _is_judged(request) or request.spec.signer_name != KUBELET_CLIENT:
        return Decision()
    spec = request.spec
    asked = read_request(spec.request)
    if asked is None or problem_of(KUBELET_CLIENT, asked, spec.usages):
        return Decision()
    own = ("selfnodeclient",) if spec.username == asked.common_name else ()
    review = Review(spec.username, spec.uid, spec.groups, spec.extra, (*own, "nodeclient"))
    view.poll_again(now + _AGAIN)
    # A review that ended with nothing is another one a minute later.
    attempt = int(now.timestamp() // _AGAIN.total_seconds())
    return Decision(effects=(Run(APPROVE, CERTIFICATE_SIGNING_REQUEST, key, str(attempt), review),))


CONTROLLER: Final = Controller(
    "csr-approver",
    reconcile,
    of=CERTIFICATE_SIGNING_REQUEST,
    writes={
        CERTIFICATE_SIGNING_REQUEST: ("approval",),
        SIGNER: ("approve",),
        SUBJECT_ACCESS_REVIEW: ("create",),
    },
    effects=(APPROVE,),
)
