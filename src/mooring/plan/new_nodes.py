"""The kubelets of nodes that come during a plan: they report once, and the nodes are ready.

Nodes of the snapshot have reported already. There are no heartbeats, so that a plan comes to rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final

from mooring.api.core.views import Node
from mooring.api.kinds import Indexers, Key
from mooring.nodes.simulated.kubelet import node_status
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE
from mooring.workloads.taints import NOT_READY, swap_taints

_SILENT: Final = "silent"
_TAINT: Final = (NOT_READY, "NoSchedule")


def _silent(node: Node) -> Iterable[str]:
    return () if node.readiness is not None else (_SILENT,)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    new = view.list(NODE, _SILENT, _SILENT)
    untainted = (swap_taints(node, {_TAINT}, (), now) for node in new)
    reports = tuple(write for node in new for write in node_status(node, now))
    return Decision(children=tuple(write for write in untainted if write is not None), status=reports)


CONTROLLER: Final = Controller(
    "new-nodes",
    reconcile,
    reads=(NODE,),
    writes={NODE: ("patch", "status")},
    indexers=(Indexers(NODE, indexes={_SILENT: _silent}),),
)
