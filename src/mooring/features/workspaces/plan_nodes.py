"""Nodes in a plan that nobody has reported on: they are ready.

Workspaces count ready nodes. Elsewhere a kubelet says so; in a plan there is none for the nodes that claims become, nor
for those of a snapshot that was written by hand.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

import msgspec

from mooring.api.conditions import changed_conditions
from mooring.api.kinds import Key
from mooring.api.meta import Condition
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch, status
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE

_NOT_READY_TAINT: Final = "node.kubernetes.io/not-ready"
_READY: Final = Condition("Ready", "True", "KubeletReady", "a node of a plan is ready")


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    node = view.get(NODE, *key)
    if node is None or node.readiness is not None:
        return Decision()
    told = changed_conditions(node.status.conditions, (_READY,), now)
    kept = [taint for taint in node.spec.taints or () if taint.key != _NOT_READY_TAINT]
    free = Patch(NODE, key, {"spec": {"taints": msgspec.to_builtins(kept)}})
    is_tainted = len(kept) < len(node.spec.taints or ())
    return Decision(intent=(free,) if is_tainted else (), status=(status(NODE, node, {"conditions": told}),))


CONTROLLER: Final = Controller("plan-nodes", reconcile, of=NODE, writes={NODE: ("patch", "status")})
