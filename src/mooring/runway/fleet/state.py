"""The fold behind nodes and workloads: fed with changes, it says which answers may have become others.

A pod on a node changes the node's answer and that of its workload, and nothing else, so a change costs what it touches.
"""

from __future__ import annotations

from collections.abc import Iterable

from mooring.runway.fleet.nodes import FleetNode, WorkloadReference, fleet_node
from mooring.runway.fleet.records import FleetPod, NodeRecord
from mooring.runway.workloads.ownership import Ownership
from mooring.runway.workloads.records import WorkloadRecord
from mooring.runway.workloads.summary import WorkloadSummary, bare_pod_summary, reference_of, workload_summary

__all__ = ["FleetState"]


class FleetState:
    """`changed_nodes` holds names and `changed_workloads` uids; whoever looks at the answers empties them."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeRecord] = {}
        self.pods: dict[str, FleetPod] = {}
        self.workloads: dict[str, WorkloadRecord] = {}
        self.changed_nodes: set[str] = set()
        self.changed_workloads: set[str] = set()
        self._pods_on: dict[str, set[str]] = {}
        self._ownership = Ownership()

    def node_changed(self, old: NodeRecord | None, new: NodeRecord | None) -> None:
        if old is not None:
            self.nodes.pop(old.name, None)
            self.changed_nodes.add(old.name)
        if new is not None:
            self.nodes[new.name] = new
            self.changed_nodes.add(new.name)

    def pod_changed(self, old: FleetPod | None, new: FleetPod | None) -> None:
        if old is not None and (new is None or new.uid != old.uid):
            self._drop_pod(old)
            old = None
        if new is None:
            return
        if old is not None and old.node != new.node:
            self._pods_on.get(old.node, set()).discard(old.uid)
        self.pods[new.uid] = new
        self._pods_on.setdefault(new.node, set()).add(new.uid)
        self.changed_nodes.add(new.node)
        self.changed_workloads |= self._ownership.put(new.uid, "" if new.owner is None else new.owner.uid)

    def _drop_pod(self, pod: FleetPod) -> None:
        self.changed_workloads |= self._ownership.remove(pod.uid)
        self.pods.pop(pod.uid, None)
        self._pods_on.get(pod.node, set()).discard(pod.uid)
        self.changed_nodes.add(pod.node)

    def workload_changed(self, old: WorkloadRecord | None, new: WorkloadRecord | None) -> None:
        if old is not None and (new is None or new.uid != old.uid):
            self._rename_below(old.uid)
            self.changed_workloads |= self._ownership.remove(old.uid)
            self.workloads.pop(old.uid, None)
            old = None
        if new is None:
            return
        self.workloads[new.uid] = new
        self.changed_workloads |= self._ownership.put(new.uid, "" if new.owner is None else new.owner.uid)
        if old is None or old.owner != new.owner:
            self._rename_below(new.uid)

    def _rename_below(self, uid: str) -> None:
        """Nodes tell by which workload a GPU is held."""
        for each in self._ownership.below(uid):
            if (pod := self.pods.get(each)) is not None:
                self.changed_nodes.add(pod.node)

    # Answers

    def node(self, name: str) -> FleetNode | None:
        record = self.nodes.get(name)
        return None if record is None else fleet_node(record, self.pods_on(name), self.workload_of)

    def pods_on(self, node: str) -> list[FleetPod]:
        return [self.pods[uid] for uid in self._pods_on.get(node, ())]

    def workload_of(self, pod: FleetPod) -> WorkloadReference:
        top = self._ownership.top(pod.uid)
        return reference_of(self.workloads.get(top) or self.pods.get(top) or pod)

    def workload(self, uid: str) -> WorkloadSummary | None:
        """None for what is gone, and for what belongs to another workload."""
        if uid not in self._ownership or self._ownership.top(uid) != uid:
            return None
        record = self.workloads.get(uid)
        if record is None:
            pod = self.pods.get(uid)
            return None if pod is None else bare_pod_summary(pod)
        pods = self.pods_of(uid)
        return workload_summary(record, self._wanted(record, pods), pods)

    def pods_of(self, uid: str) -> list[FleetPod]:
        found = [self.pods[each] for each in (uid, *self._ownership.below(uid)) if each in self.pods]
        return sorted(found, key=lambda pod: pod.key)

    def find(self, kind: str, namespace: str, name: str) -> str | None:
        """The uid of a workload."""
        records: Iterable[WorkloadRecord | FleetPod] = self.pods.values() if kind == "Pod" else self.workloads.values()
        for each in records:
            if (each.namespace, each.name) == (namespace, name) and reference_of(each).kind == kind:
                return each.uid
        return None

    def _wanted(self, record: WorkloadRecord, pods: list[FleetPod]) -> int:
        if record.wanted is not None:
            return record.wanted
        # Its children say it: each counts, but for those whose own owner has counted their pods already.
        below = (self.workloads.get(each) for each in self._ownership.below(record.uid))
        counted = [
            each.wanted for each in below if each is not None and each.wanted is not None and not self._is_counted(each)
        ]
        return sum(counted) if counted else sum(pod.phase not in ("Succeeded", "Failed") for pod in pods)

    def _is_counted(self, record: WorkloadRecord) -> bool:
        owner = None if record.owner is None else self.workloads.get(record.owner.uid)
        return owner is not None and owner.wanted is not None
