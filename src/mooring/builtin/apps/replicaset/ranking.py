"""Which pods of a ReplicaSet go first when it shrinks: those that are worth least.

The order is that of Kubernetes: pods without a node, pods that have not come up, cheap ones, ones that share a node
with relatives, and then the youngest. Ages are compared by their magnitude, so that pods of about the same age are
chosen among by uid, which spreads the loss.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import cmp_to_key

from mooring.api.core.views import Pod
from mooring.kube.times import moment

_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


def least_valuable(pods: Sequence[Pod], related: Iterable[Pod], count: int, now: datetime) -> list[Pod]:
    """The `count` pods to delete. `related` are all pods of the same workload, whatever their revision."""
    if count >= len(pods):
        return list(pods)
    neighbours = Counter(pod.spec.node_name for pod in related if pod.active)

    def compare(one: Pod, other: Pod) -> int:
        first, second = _standing(one, neighbours), _standing(other, neighbours)
        if first != second:
            return -1 if first < second else 1
        if one.ready and (order := _by_age(one, other, _ready_since(one), _ready_since(other), now)):
            return order
        if (more := _restarts(other) - _restarts(one)) != 0:
            return more
        return _by_age(one, other, one.metadata.creation_timestamp, other.metadata.creation_timestamp, now)

    return sorted(pods, key=cmp_to_key(compare))[:count]


def _standing(pod: Pod, neighbours: Counter[str]) -> tuple[bool, int, bool, int, int]:
    node = pod.spec.node_name
    return bool(node), _PHASES.get(pod.status.phase, 0), pod.ready, _cost(pod), -neighbours[node]


def _cost(pod: Pod) -> int:
    try:
        return int(pod.metadata.annotations.deletion_cost)
    except ValueError:
        return 0


def _ready_since(pod: Pod) -> str | None:
    readiness = pod.readiness
    return readiness.last_transition_time if readiness is not None else None


def _restarts(pod: Pod) -> int:
    return max((container.restart_count for container in pod.status.container_statuses), default=0)


def _by_age(one: Pod, other: Pod, since: str | None, other_since: str | None, now: datetime) -> int:
    if since == other_since:
        return 0
    if since is None or other_since is None:
        return -1 if since is None else 1
    younger = _magnitude(moment(since), now) - _magnitude(moment(other_since), now)
    if younger:
        return younger
    return -1 if one.metadata.uid < other.metadata.uid else 1


def _magnitude(since: datetime, now: datetime) -> int:
    age = (now - since).total_seconds()
    return int(math.log2(age * 1e9)) if age > 0 else -1
