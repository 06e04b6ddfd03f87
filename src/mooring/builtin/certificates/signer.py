"""Signs requests for certificates that were approved: for clients of the API, for kubelets and for what they serve.

The key of the authority is not here: signing is an effect, and its executor has the key. A request that its signer does
not sign gets the condition Failed, with the reason.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from mooring.api.certificates.views import CertificateSigningRequest
from mooring.api.certificates.x509_requests import SIGNERS, problem_of, read_request
from mooring.api.conditions import changed_conditions, is_true
from mooring.api.core.types import View as Typed
from mooring.api.kinds import Key
from mooring.api.meta import Condition
from mooring.kube.times import timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, status
from mooring.runtime.effects import Effect, Report, Run
from mooring.runtime.view import View
from mooring.workloads.kinds import CERTIFICATE_SIGNING_REQUEST
from mooring.workloads.rule_kinds import SIGNER

# kube-controller-manager's own.
LONGEST_LIFE: Final = timedelta(days=365)
SHORTEST_LIFE: Final = timedelta(minutes=10)
_AGAIN: Final = timedelta(minutes=1)
# A certificate in base64 that is none, for simulations.
_MODEL_CERTIFICATE: Final = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCi0tLS0tRU5EIENFUlRJRklDQVRFLS0tLS0K"


class SigningArguments(Typed, frozen=True):
    """The request in PEM and base64, what it may be used for, and for how long."""

    request: str
    usages: tuple[str, ...]
    seconds: int


def _model(arguments: SigningArguments) -> tuple[timedelta, Report]:
    return timedelta(), Report("Succeeded", status={"certificate": _MODEL_CERTIFICATE})


def _is_over(request: CertificateSigningRequest) -> bool:
    return bool(request.status.certificate) or is_true(request.status.conditions, "Failed")


SIGN: Final = Effect("sign", "certificates", SigningArguments, timedelta(seconds=30), _model, done=_is_over)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    request = view.get(CERTIFICATE_SIGNING_REQUEST, *key)
    if request is None or request.spec.signer_name not in SIGNERS or _is_over(request):
        return Decision()
    conditions = request.status.conditions
    if not is_true(conditions, "Approved") or is_true(conditions, "Denied"):
        return Decision()
    asked = read_request(request.spec.request)
    if asked is None:
        return Decision()
    problem = problem_of(request.spec.signer_name, asked, request.spec.usages)
    if problem:
        failed = Condition("Failed", "True", "SignerValidationFailure", problem, last_update_time=timestamp(now))
        told = changed_conditions(conditions, (failed,), now)
        return Decision(status=(status(CERTIFICATE_SIGNING_REQUEST, request, {"conditions": told}),))
    arguments = SigningArguments(request.spec.request, request.spec.usages, lifetime(request.spec.expiration_seconds))
    view.poll_again(now + _AGAIN)
    # What ended without a certificate is begun again a minute later.
    attempt = int(now.timestamp() // _AGAIN.total_seconds())
    return Decision(effects=(Run(SIGN, CERTIFICATE_SIGNING_REQUEST, key, str(attempt), arguments),))


def lifetime(wanted: int | None) -> int:
    """How many seconds a certificate counts: as long as was asked for, within limits."""
    longest, shortest = int(LONGEST_LIFE.total_seconds()), int(SHORTEST_LIFE.total_seconds())
    return longest if wanted is None else min(max(wanted, shortest), longest)


CONTROLLER: Final = Controller(
    "csr-signer",
    reconcile,
    of=CERTIFICATE_SIGNING_REQUEST,
    writes={CERTIFICATE_SIGNING_REQUEST: ("status",), SIGNER: ("sign",)},
    effects=(SIGN,),
)
