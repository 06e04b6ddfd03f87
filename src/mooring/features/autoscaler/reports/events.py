"""The events of a loop: on pods and nodes, and on the ConfigMap of the status for what concerns a whole pool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from mooring.api.kinds import Key
from mooring.features.autoscaler.loop import LoopDecision
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.scale_up.pending_pods import PendingPod
from mooring.kube.durations import duration_text
from mooring.runtime.decision import Event
from mooring.workloads.kinds import CONFIG_MAP, NODE, POD

__all__ = ["STATUS_CONFIG_MAP", "loop_events"]

STATUS_CONFIG_MAP: Final = Key("kube-system", "cluster-autoscaler-status")


def loop_events(decision: LoopDecision, groups: Iterable[NodeGroup]) -> Iterator[Event]:
    """What happened to pools first, then what is done, then what is not done and why."""
    yield from _failures(decision, groups)
    yield from _growth(decision)
    yield from _refusals(decision)
    yield from _deletions(decision)


def _failures(decision: LoopDecision, groups: Iterable[NodeGroup]) -> Iterator[Event]:
    state = decision.state
    for group, request in state.timed_out.items():
        waited = duration_text(state.now - request.requested_at)
        yield _warning("ScaleUpTimedOut", f"Nodes added to group {group} failed to register within {waited}")
    if not state.healthy:
        yield _warning("ClusterUnhealthy", "Cluster is unhealthy")
    for names in decision.remove.values():
        for name in names:
            yield _told("DeleteUnregistered", f"Removed unregistered node {name}")
    targets = {group.name: group.target for group in groups}
    for group, target in decision.lower.items():
        text = f"Lowering size of group {group} to {target} instead of {targets[group]}: no more nodes came in time"
        yield _warning("ScaleUpReverted", text)


def _growth(decision: LoopDecision) -> Iterator[Event]:
    plan = decision.scale_up.plan
    for each in plan:
        sizes = f"size to {each.new_size} instead of {each.size} (max: {each.max})"
        yield _told("ScaledUpGroup", f"Scale-up: setting group {each.group} {sizes}")
    if plan:
        text = f"pod triggered scale-up: [{' '.join(map(str, plan))}]"
        for pod in decision.scale_up.triggered:
            yield Event(POD, _key(pod), "Normal", "TriggeredScaleUp", text)


def _refusals(decision: LoopDecision) -> Iterator[Event]:
    grown = decision.scale_up
    if grown.result == "LimitedByMaxNodesTotal":
        most = decision.state.settings.max_nodes_total
        yield _warning("MaxNodesTotalReached", f"Max total nodes in cluster reached: {most}")
    if grown.result == "Error":
        yield _warning("ScaleUpFailed", f"Scale-up failed: {grown.error}")
    if grown.result in ("NoOptionsAvailable", "LimitedByMaxNodesTotal"):
        for group in grown.unschedulable:
            for pod in group.pods:
                yield Event(POD, _key(pod), "Normal", "NotTriggerScaleUp", grown.message(group))


def _deletions(decision: LoopDecision) -> Iterator[Event]:
    if decision.deletion is None or decision.unneeded is None:
        return
    moving = {each.node: each.pods for each in decision.unneeded.removable}
    for name in decision.deletion.empty:
        yield _told("ScaleDownEmpty", f'Scale-down: removing empty node "{name}"')
    for name in decision.deletion.drain:
        used = decision.unneeded.utilization[name]
        pods = ",".join(pod.metadata.name for pod in moving[name])
        share = f"{used.resource} {used.utilization:.2f}"
        yield _told("ScaleDown", f"Scale-down: removing node {name}, utilization: {share}, pods to reschedule: {pods}")
    for name in (*decision.deletion.empty, *decision.deletion.drain):
        yield Event(NODE, Key("", name), "Normal", "ScaleDown", "marked the node as toBeDeleted/unschedulable")


def _key(pod: PendingPod) -> Key:
    return Key(pod.info.namespace, pod.info.name)


def _told(reason: str, message: str) -> Event:
    return Event(CONFIG_MAP, STATUS_CONFIG_MAP, "Normal", reason, message)


def _warning(reason: str, message: str) -> Event:
    return Event(CONFIG_MAP, STATUS_CONFIG_MAP, "Warning", reason, message)
