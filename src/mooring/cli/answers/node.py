"""The answer about a node: what it has free, what keeps pods off, who holds its devices, which pods it gets."""

from __future__ import annotations

from mooring.cli.answers.answer import Question, ShownAnswer
from mooring.cli.errors import LANDS
from mooring.cli.render.node import NodeReport, node_data, node_page
from mooring.kube.errors import InputError
from mooring.kube.near_names import did_you_mean
from mooring.placement.devices.unknowns import without_claims
from mooring.placement.engine import Engine
from mooring.placement.node_report.obstacles import obstacles
from mooring.placement.node_report.room import device_holders, node_rooms
from mooring.placement.node_report.waiting_pods import place_waiting
from mooring.placement.pods import PodInfo
from mooring.placement.snapshot import Snapshot
from mooring.placement.unknowns import without_volumes
from mooring.runway.explain.asked_pods.cluster_pods import wanted_by
from mooring.runway.explain.explain_target import WAITING_PODS
from mooring.runway.sources.cluster_source import ClusterSource

__all__ = ["answer_node"]


def answer_node(cluster_source: ClusterSource, asked: Question) -> ShownAnswer:
    assert asked.target is not None
    snapshot = cluster_source.load(wanted_by(WAITING_PODS, None))
    cluster, name = snapshot.cluster, asked.target.name
    slot = cluster.slots.get(name)
    if slot is None:
        raise InputError(f'node "{name}" not found in {cluster_source.name}{did_you_mean(name, list(cluster.slots))}')
    node = cluster.nodes[slot]
    assert node is not None
    waiting = [cluster.pods[key] for key in snapshot.kept]
    waiting.sort(key=lambda pod: -pod.priority)
    unknowns = _set_aside(snapshot, waiting)
    rooms = node_rooms(cluster, slot)
    report = NodeReport(
        node,
        rooms,
        obstacles(node, rooms, waiting, [cluster.pods[key] for key in cluster.placed]),
        device_holders(cluster, slot),
        [pod.key for pod in cluster.nominated.get(name, {}).values()],
        place_waiting(Engine(cluster, asked.percentage), slot, waiting),
        unknowns,
        list(cluster_source.gaps),
    )
    return ShownAnswer(lambda: node_page(report, all_pods=asked.all_nodes), lambda: node_data(report), LANDS)


def _set_aside(snapshot: Snapshot, pods: list[PodInfo]) -> dict[str, list[str]]:
    """Judge pods without what is not known of them; the texts by pod."""
    found: dict[str, list[str]] = {}
    for pod in pods:
        if unknowns := snapshot.unknowns(pod):
            without_volumes(pod, unknowns)
            without_claims(pod, unknowns)
            found[pod.key] = [unknown.text for unknown in unknowns]
    return found
