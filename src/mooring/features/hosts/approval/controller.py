"""byoh-csr-approver: approves the certificates of hosts, and denies those that name somebody else's."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.kinds import Key
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BYO_HOST
from mooring.features.hosts.approval.indexes import INDEXES
from mooring.features.hosts.approval.judgement import judge
from mooring.kube.times import timestamp
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.view import View
from mooring.workloads.kinds import CERTIFICATE_SIGNING_REQUEST, NODE
from mooring.workloads.rule_kinds import SIGNER


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    request = view.get(CERTIFICATE_SIGNING_REQUEST, *key)
    if request is None or request.status.conditions or request.status.certificate:
        return Decision()
    verdict = judge(request, view)
    if verdict is None:
        return Decision()
    condition = {**verdict._asdict(), "status": "True", "lastUpdateTime": timestamp(now)}
    body = {"status": {"conditions": [condition]}}
    return Decision(status=(Patch(CERTIFICATE_SIGNING_REQUEST, key, body, "approval"),))


CONTROLLER: Final = Controller(
    "byoh-csr-approver",
    reconcile,
    of=CERTIFICATE_SIGNING_REQUEST,
    reads=(BOOTSTRAP_KUBECONFIG, BYO_HOST, NODE),
    indexers=INDEXES,
    writes={CERTIFICATE_SIGNING_REQUEST: ("approval",), SIGNER: ("approve",)},
)
