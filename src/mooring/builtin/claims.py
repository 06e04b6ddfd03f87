"""Claims are bound at once, each to a volume that exists in name only.

Storage is not simulated: what matters is that no pod waits for it. So a claim gets all it asks for, as from a
provisioner that never runs out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.kinds import Key
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch, status
from mooring.runtime.view import View
from mooring.workloads.kinds import PERSISTENT_VOLUME_CLAIM

_BOUND: Final = {"pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes"}


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    claim = view.get(PERSISTENT_VOLUME_CLAIM, *key)
    if claim is None or claim.metadata.deleting or claim.status.phase == "Bound":
        return Decision()
    if not claim.spec.volume_name:
        # A real cluster names the volume in the claim before it says that the claim is bound.
        body = {"metadata": {"annotations": _BOUND}, "spec": {"volumeName": f"pvc-{claim.metadata.uid}"}}
        return Decision(intent=(Patch(PERSISTENT_VOLUME_CLAIM, key, body),))
    storage = claim.spec.resources.requests.get("storage")
    bound = {
        "phase": "Bound",
        "accessModes": list(claim.spec.access_modes),
        "capacity": {} if storage is None else {"storage": storage},
    }
    return Decision(status=(status(PERSISTENT_VOLUME_CLAIM, claim, bound),))


CONTROLLER: Final = Controller(
    "claims", reconcile, of=PERSISTENT_VOLUME_CLAIM, writes={PERSISTENT_VOLUME_CLAIM: ("patch", "status")}
)
