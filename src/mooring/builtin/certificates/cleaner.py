"""Deletes requests for certificates that nobody needs any more: answered an hour ago, or left without one for a day."""

from __future__ import annotations

import base64
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from mooring.api.certificates.views import CertificateSigningRequest
from mooring.api.kinds import Key
from mooring.kube.times import moment
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete
from mooring.runtime.view import View
from mooring.workloads.kinds import CERTIFICATE_SIGNING_REQUEST

ANSWERED: Final = timedelta(hours=1)
UNANSWERED: Final = timedelta(hours=24)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    request = view.get(CERTIFICATE_SIGNING_REQUEST, *key)
    if request is None or request.metadata.deleting:
        return Decision()
    end = deadline(request)
    if end is None or not view.reached(end):
        return Decision()
    return Decision(children=(Delete(CERTIFICATE_SIGNING_REQUEST, key),))


def deadline(request: CertificateSigningRequest) -> datetime | None:
    """When a request goes."""
    ends = []
    if not request.status.conditions and request.metadata.creation_timestamp:
        ends.append(moment(request.metadata.creation_timestamp) + UNANSWERED)
    for condition in request.status.conditions:
        if not condition.last_update_time:
            continue
        since = moment(condition.last_update_time)
        if condition.type in ("Denied", "Failed"):
            ends.append(since + ANSWERED)
        elif condition.type == "Approved":
            ends.append(since + (ANSWERED if request.status.certificate else UNANSWERED))
            expiry = _expiry(request.status.certificate)
            if expiry is not None:
                ends.append(expiry)
    return min(ends, default=None)


@lru_cache(maxsize=256)
def _expiry(certificate: str) -> datetime | None:
    if not certificate:
        return None
    from cryptography import x509

    try:
        return x509.load_pem_x509_certificate(base64.b64decode(certificate)).not_valid_after_utc
    except ValueError:
        return None


CONTROLLER: Final = Controller(
    "csr-cleaner",
    reconcile,
    of=CERTIFICATE_SIGNING_REQUEST,
    writes={CERTIFICATE_SIGNING_REQUEST: ("delete",)},
)
