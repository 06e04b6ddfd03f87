"""What there is to say of a node: what it has free, what keeps pods off, who holds its devices, which pods it gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mooring.api.core.types import Node
from mooring.kube.near_names import did_you_mean
from mooring.placement.causes.nodes import Cause
from mooring.placement.devices.unknowns import without_claims
from mooring.placement.engine import Engine
from mooring.placement.node_report.obstacles import Obstacle, obstacles
from mooring.placement.node_report.room import DeviceHolder, NodeRoom, device_holders, node_rooms
from mooring.placement.node_report.waiting_pods import Fate, WaitingPod, place_waiting
from mooring.placement.pods import PodInfo
from mooring.placement.snapshot import Snapshot
from mooring.placement.unknowns import without_volumes
from mooring.runway.explain.asked_pods.cluster_pods import MissingObject, wanted_by
from mooring.runway.explain.explain_target import WAITING_PODS
from mooring.runway.explain.pod_answers import ALL_NODES
from mooring.runway.sources.cluster_source import ClusterSource

__all__ = ["NodeReport", "report_node"]


class NodeReport(NamedTuple):
    node: Node
    rooms: Sequence[NodeRoom]
    obstacles: Sequence[Obstacle]
    holders: Sequence[DeviceHolder]
    # Pods that preemption has made room for, by key.
    nominated: Sequence[str]
    waiting: Sequence[WaitingPod]
    # What is not known of pods that wait, by their keys.
    unknowns: Mapping[str, Sequence[str]]
    notes: Sequence[str]

    def of(self, fate: Fate) -> list[WaitingPod]:
        return [each for each in self.waiting if each.fate is fate]

    @property
    def largest(self) -> dict[str, int]:
        """What the largest pod that has room may ask for; nothing where there is no place for one."""
        free = {room.name: room.free for room in self.rooms}
        return {name: left for name, left in free.items() if name != "pods" and left} if free["pods"] else {}

    @property
    def blocked(self) -> dict[tuple[Cause, ...], list[WaitingPod]]:
        """The pods that the node does not take, by what keeps them off; the most common first."""
        groups: dict[tuple[Cause, ...], list[WaitingPod]] = {}
        for each in self.of(Fate.BLOCKED):
            groups.setdefault(each.causes, []).append(each)
        return dict(sorted(groups.items(), key=lambda item: -len(item[1])))


def report_node(cluster_source: ClusterSource, name: str, percentage: int = ALL_NODES) -> NodeReport:
    """Raises MissingObject where there is no such node."""
    snapshot = cluster_source.load(wanted_by(WAITING_PODS, None))
    cluster = snapshot.cluster
    slot = cluster.slots.get(name)
    if slot is None:
        near = did_you_mean(name, list(cluster.slots))
        raise MissingObject(f'node "{name}" not found in {cluster_source.name}{near}')
    node = cluster.nodes[slot]
    assert node is not None
    waiting = [cluster.pods[key] for key in snapshot.kept]
    waiting.sort(key=lambda pod: -pod.priority)
    unknowns = _set_aside(snapshot, waiting)
    rooms = node_rooms(cluster, slot)
    return NodeReport(
        node,
        rooms,
        obstacles(node, rooms, waiting, [cluster.pods[key] for key in cluster.placed]),
        device_holders(cluster, slot),
        [pod.key for pod in cluster.nominated.get(name, {}).values()],
        place_waiting(Engine(cluster, percentage), slot, waiting),
        unknowns,
        list(cluster_source.gaps),
    )


def _set_aside(snapshot: Snapshot, pods: list[PodInfo]) -> dict[str, list[str]]:
    """Judge pods without what is not known of them; the texts by pod."""
    found: dict[str, list[str]] = {}
    for pod in pods:
        if unknowns := snapshot.unknowns(pod):
            without_volumes(pod, unknowns)
            without_claims(pod, unknowns)
            found[pod.key] = [unknown.text for unknown in unknowns]
    return found
