"""Placeable of a LeaderWorkerSet: its units are groups, and a group lands when all its pods do."""

from __future__ import annotations

from mooring.api.apps.views import StatefulSet
from mooring.api.core.views import Pod
from mooring.features.groups.api import LeaderWorkerSet
from mooring.features.groups.state import Group, ObservedGroups
from mooring.runtime.view import View
from mooring.workloads.kinds import POD, STATEFUL_SET
from mooring.workloads.ownerrefs import is_controlled_by
from mooring.workloads.placeable import Placing, RememberedAdvice, first_by_name, placeable


def tell_placing(
    view: View,
    lws: LeaderWorkerSet,
    leaders: StatefulSet | None,
    observed: ObservedGroups,
    before: RememberedAdvice | None,
) -> Placing:
    """`before` is the advice that was given last. Nothing is told before there are leaders."""
    if leaders is None:
        return Placing()
    blocked = sorted(group for group in observed.groups.values() if group.unschedulable)
    waiting = ((group, _unschedulable_pod(view, leaders, group)) for group in blocked)
    group, pod = next(((group, pod) for group, pod in waiting if pod is not None), (None, None))
    return placeable(
        view,
        total=max(leaders.spec.replicas, len(observed.groups)),
        blocked=len(blocked),
        pod=pod,
        before=before,
        unit="group",
        otherwise="" if group is None else _own_nodes(lws, f"{leaders.metadata.name}-{group.number}"),
    )


def _own_nodes(lws: LeaderWorkerSet, leader: str) -> str:
    """A replica with nodes of its own waits for those, where nothing about those that are there would help."""
    policy = lws.spec.template.scheduling_policy
    key = "" if policy is None else policy.replica_unique_node_selector
    return f"Add nodes with label {key}={leader}" if key else ""


def _unschedulable_pod(view: View, leaders: StatefulSet, group: Group) -> Pod | None:
    """The first unschedulable pod of a group."""
    namespace, name = leaders.metadata.namespace, f"{leaders.metadata.name}-{group.number}"
    leader = view.get(POD, namespace, name)
    if leader is None or leader.unschedulable is not None:
        return leader
    workers = view.get(STATEFUL_SET, namespace, name)
    if workers is None or not is_controlled_by(workers, leader):
        return None
    return first_by_name(pod for pod in view.owned(POD, workers) if pod.unschedulable is not None)
