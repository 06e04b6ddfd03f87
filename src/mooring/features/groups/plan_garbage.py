"""Groups in a plan: the workers of a leader that is gone go, too.

Elsewhere garbage collection sees to that. A plan has none, because a snapshot rarely holds the owners of everything in
it; the leader of a group is in it whenever its workers are.
"""

from __future__ import annotations

from datetime import datetime

from mooring.api.kinds import Key, key_of
from mooring.features.groups.api import NAME
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Patch
from mooring.runtime.view import View
from mooring.workloads.kinds import POD, STATEFUL_SET


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    workers = view.get(STATEFUL_SET, *key)
    owner = None if workers is None else workers.metadata.controller
    if workers is None or owner is None or owner.kind != "Pod" or NAME not in workers.metadata.labels:
        return Decision()
    leader = view.get(POD, key.namespace, owner.name)
    if leader is not None and leader.metadata.uid == owner.uid:
        return Decision()
    # A set that is on its way out makes no pods any more; then its pods go, and then it goes itself.
    if not workers.metadata.deleting:
        return Decision(intent=(Delete(STATEFUL_SET, key, propagation="Foreground"),))
    if pods := view.owned(POD, workers):
        return Decision(children=tuple(Delete(POD, key_of(pod), grace=0) for pod in pods))
    return Decision(release=(Patch(STATEFUL_SET, key, {"metadata": {"finalizers": None}}),))


CONTROLLER = Controller(
    "group-garbage",
    reconcile,
    of=STATEFUL_SET,
    reads=(POD,),
    writes={POD: ("delete",), STATEFUL_SET: ("patch", "delete")},
)
