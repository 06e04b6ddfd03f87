"""Nodes whose deletion has started: they are tainted, and after a while their Machine goes, or they are kept after all.

The taint is on record at the API server, so a deletion goes on whoever is started again in the middle of it. When the
time is over the pods are looked at once more: one that came meanwhile may forbid what was decided without it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from mooring.features.autoscaler.observation import ClusterObjects
from mooring.features.autoscaler.pods import is_daemon_set_pod, is_mirror_pod
from mooring.features.autoscaler.pools import ScaledPool
from mooring.features.autoscaler.scale_down.disruption_budgets import RemainingBudgets
from mooring.features.autoscaler.scale_down.drain_rules import BlockingPod, DrainRules
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.templates.node_taints import TO_BE_DELETED
from mooring.features.autoscaler.views import AutoscalerNode, AutoscalerPod

__all__ = ["StartedDeletions", "started_at", "started_deletions", "with_started"]


class StartedDeletions(msgspec.Struct, frozen=True):
    """`due` are nodes whose Machine goes now, `kept` those that a pod keeps, `waiting` when the others are due."""

    due: Sequence[str] = ()
    kept: Mapping[str, BlockingPod] = msgspec.field(default_factory=dict)
    waiting: Sequence[datetime] = ()


def started_at(node: AutoscalerNode) -> datetime | None:
    """When the deletion of a node has started, as its taint tells."""
    for taint in node.spec.taints or ():
        if taint.key == TO_BE_DELETED and taint.value.isdecimal():
            return datetime.fromtimestamp(int(taint.value), UTC)
    return None


def with_started(objects: ClusterObjects, pools: Iterable[ScaledPool]) -> ClusterObjects:
    """With the nodes whose deletion has started and that the targets of their pools still count."""
    started = {node.name for node in objects.nodes if started_at(node) is not None}
    names = [name for pool in pools for name in pool.machines if name in started]
    on_nodes = _pods_on(objects.pods, names)
    deleting = {name: any(_moves(pod) for pod in on_nodes[name]) for name in names}
    return msgspec.structs.replace(objects, deleting=deleting)


def _moves(pod: AutoscalerPod) -> bool:
    return not is_daemon_set_pod(pod) and not is_mirror_pod(pod)


def started_deletions(
    objects: ClusterObjects, delay: timedelta, now: datetime, settings: AutoscalerSettings
) -> StartedDeletions:
    """What becomes of the deletions that have started."""
    nodes = {node.name: node for node in objects.nodes}
    on_nodes = _pods_on(objects.pods, objects.deleting)
    rules = DrainRules(settings, RemainingBudgets(objects.budgets), objects.controllers, now)
    due: list[str] = []
    kept: dict[str, BlockingPod] = {}
    waiting: list[datetime] = []
    for name in objects.deleting:
        since = started_at(nodes[name])
        assert since is not None, f"node {name} is being deleted and has no taint"
        if since + delay > now:
            waiting.append(since + delay)
            continue
        verdict = rules.pods_to_move(on_nodes[name])
        if isinstance(verdict, BlockingPod):
            kept[name] = verdict
        else:
            due.append(name)
    return StartedDeletions(due, kept, waiting)


def _pods_on(pods: Iterable[AutoscalerPod], names: Iterable[str]) -> Mapping[str, list[AutoscalerPod]]:
    wanted = frozenset(names)
    found: dict[str, list[AutoscalerPod]] = defaultdict(list)
    for pod in pods if wanted else ():
        if pod.spec.node_name in wanted:
            found[pod.spec.node_name].append(pod)
    return found
