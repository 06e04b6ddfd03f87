"""A small feature that uses the rarer writes: nodes are drained for maintenance, and Deployments rest at night.

It is an example for docs/writing-a-controller.md; nothing of the product evicts, scales or applies a status so far.
"""

from __future__ import annotations

from datetime import datetime

from mooring.api.kinds import Key, key_of
from mooring.runtime.controller import Controller
from mooring.runtime.decision import ApplyStatus, Decision, Evict, Scale
from mooring.runtime.view import View
from mooring.workloads.kinds import DEPLOYMENT, NODE, POD

MAINTENANCE = "example.com/maintenance"
REPLICAS_AT_NIGHT = "example.com/replicas-at-night"


def drain(key: Key, view: View, now: datetime) -> Decision:
    """Evict the pods of a node that is to be maintained, and say on the node how far that is."""
    node = view.get(NODE, *key)
    if node is None or MAINTENANCE not in node.metadata.labels:
        return Decision()
    pods = [pod for pod in view.list(POD, "node", key.name) if not pod.metadata.deleting]
    message = view.problem or f"{len(pods)} pods are left"
    condition = {"type": "Drained", "status": "False" if pods else "True", "reason": "Draining", "message": message}
    return Decision(
        intent=(ApplyStatus(NODE, key, {"conditions": [condition]}),),
        children=tuple(Evict(POD, key_of(pod)) for pod in pods),
    )


def rest(key: Key, view: View, now: datetime) -> Decision:
    """Give a Deployment the replicas that it should have at night."""
    deployment = view.get(DEPLOYMENT, *key)
    if deployment is None or REPLICAS_AT_NIGHT not in deployment.metadata.annotations:
        return Decision()
    wanted = int(deployment.metadata.annotations[REPLICAS_AT_NIGHT])
    return Decision(children=(Scale(DEPLOYMENT, key, wanted),) if deployment.spec.replicas != wanted else ())


DRAINING = Controller("draining", drain, of=NODE, reads=(POD,), writes={NODE: ("status",), POD: ("eviction",)})
RESTING = Controller("resting", rest, of=DEPLOYMENT, writes={DEPLOYMENT: ("scale",)})
