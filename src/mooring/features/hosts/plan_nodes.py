"""Nodes of hosts in a plan: ready as soon as they are there.

Elsewhere a kubelet says that its Node is ready, and the node lifecycle controller takes off the taint that every new
Node has until then. A plan has neither, because the nodes of a snapshot are as they are.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.conditions import changed_conditions
from mooring.api.kinds import Key
from mooring.api.meta import Condition
from mooring.features.hosts.api.names import PROVIDER_ID_SCHEME
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch, status
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE

_NOT_READY: Final = "node.kubernetes.io/not-ready"


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    node = view.get(NODE, *key)
    if node is None or node.metadata.deleting or not node.spec.provider_id.startswith(PROVIDER_ID_SCHEME):
        return Decision()
    conditions = changed_conditions(node.status.conditions, (Condition("Ready", "True", "KubeletReady"),), now)
    told = () if conditions is None else (status(NODE, node, {"conditions": conditions}),)
    taints = node.spec.taints or ()
    if not any(taint.key == _NOT_READY for taint in taints):
        return Decision(status=told)
    kept: list[Object] = [
        {name: text for name, text in (("key", t.key), ("value", t.value), ("effect", t.effect)) if text}
        for t in taints
        if t.key != _NOT_READY
    ]
    return Decision(children=(Patch(NODE, key, {"spec": {"taints": kept or None}}),), status=told)


CONTROLLER = Controller("host-nodes", reconcile, of=NODE, writes={NODE: ("patch", "status")})
