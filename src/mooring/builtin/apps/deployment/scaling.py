"""How large each ReplicaSet of a Deployment should be: the arithmetic of a rollout, apart from everything else.

Sizes are returned by name of the set. A rollout never has more than `replicas + maxSurge` pods asked for and never
fewer than `replicas - maxUnavailable` available.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mooring.api.apps.views import Deployment, ReplicaSet, RollingUpdateDeployment
from mooring.kube.intorpercent import resolve

Sizes = dict[str, int]


def _fenceposts(deployment: Deployment) -> tuple[int, int]:
    """Surge rounded up, unavailability rounded down; if both vanish one pod may be missing, or nothing would move."""
    rolling = deployment.spec.strategy.rolling_update or RollingUpdateDeployment(0, 0)
    surge = resolve(rolling.max_surge, deployment.spec.replicas, up=True)
    unavailable = resolve(rolling.max_unavailable, deployment.spec.replicas, up=False)
    return (surge, unavailable) if surge or unavailable else (0, 1)


def is_rolling(deployment: Deployment) -> bool:
    return deployment.spec.strategy.type == "RollingUpdate"


def max_surge(deployment: Deployment) -> int:
    return _fenceposts(deployment)[0] if is_rolling(deployment) else 0


def max_unavailable(deployment: Deployment) -> int:
    replicas = deployment.spec.replicas
    return min(_fenceposts(deployment)[1], replicas) if is_rolling(deployment) else 0


def asked_for(sets: Iterable[ReplicaSet]) -> int:
    return sum(one.spec.replicas for one in sets)


def available(sets: Iterable[ReplicaSet]) -> int:
    return sum(one.status.available_replicas for one in sets)


def size_of_new(deployment: Deployment, everything: Iterable[ReplicaSet], size: int) -> int:
    """How large the set of today's template may be now."""
    wanted = deployment.spec.replicas
    if not is_rolling(deployment) or size >= wanted:
        return wanted
    room = wanted + max_surge(deployment) - asked_for(everything)
    return size + min(room, wanted - size) if room > 0 else size


def shrink_old(deployment: Deployment, new: ReplicaSet, old: Sequence[ReplicaSet]) -> Sizes:
    """Old sets in the order of their age: first pods that do no good, then as many as availability allows."""
    least = deployment.spec.replicas - max_unavailable(deployment)
    coming = new.spec.replicas - new.status.available_replicas
    spare = asked_for((*old, new)) - least - coming
    sizes = {one.metadata.name: one.spec.replicas for one in old}
    if spare <= 0:
        return sizes
    for one in old:
        useless = min(spare, one.spec.replicas - one.status.available_replicas)
        if useless > 0:
            sizes[one.metadata.name] -= useless
            spare -= useless
    spare = available((*old, new)) - least
    for one in old:
        fewer = min(sizes[one.metadata.name], spare)
        if fewer > 0:
            sizes[one.metadata.name] -= fewer
            spare -= fewer
    return sizes


def proportional(deployment: Deployment, active: Sequence[ReplicaSet], largest: str) -> Sizes:
    """A change of size in the middle of a rollout goes to all sets in proportion, so that risk stays as it was.

    `largest` names the annotation that tells how many pods a set's Deployment could have before the change.
    """
    replicas = deployment.spec.replicas
    allowed = replicas + max_surge(deployment) if replicas > 0 else 0
    to_add = allowed - asked_for(active)
    sizes = {one.metadata.name: one.spec.replicas for one in active}
    if to_add == 0:
        return sizes
    # When growing the younger of two equal sets comes first, when shrinking the older.
    aged = sorted(active, key=_age, reverse=to_add > 0)
    ordered = sorted(aged, key=lambda one: -one.spec.replicas)
    left = to_add
    for one in ordered:
        if left == 0:
            break
        share = _share(deployment, one, allowed, largest)
        share = min(share, left) if to_add > 0 else max(share, left)
        sizes[one.metadata.name] += share
        left -= share
    first = ordered[0].metadata.name
    sizes[first] = max(0, sizes[first] + left)
    return sizes


def _age(one: ReplicaSet) -> tuple[str, str]:
    return one.metadata.creation_timestamp or "", one.metadata.name


def _share(deployment: Deployment, one: ReplicaSet, allowed: int, largest: str) -> int:
    size = one.spec.replicas
    if deployment.spec.replicas == 0:
        return -size
    noted = one.metadata.annotations.get(largest, "")
    before = (int(noted) if noted.isdecimal() else 0) or deployment.status.replicas
    if before == 0:
        return 0
    # Halves are rounded away from zero.
    return (2 * size * allowed + before) // (2 * before) - size
