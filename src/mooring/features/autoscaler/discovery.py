"""Node groups made from the objects of pools: what can be scaled, and why the rest cannot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.templates.pool_template import ScalablePool, pool_template, read_pool
from mooring.features.autoscaler.views import AutoscalerNode
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.quantities import Quantity

__all__ = ["DiscoveredGroups", "FreeHost", "PoolObjects", "discover", "read_scalable"]

_PAUSED = "cluster.x-k8s.io/paused"


class FreeHost(msgspec.Struct, frozen=True):
    """A host that nobody has and that fits a pool."""

    name: str
    capacity: Mapping[str, Quantity]


class PoolObjects(msgspec.Struct, frozen=True):
    """A pool and what belongs to it. `hosts` is None where its machines do not come from hosts."""

    scalable: Object
    infrastructure: Object | None = None
    # Why there is no infrastructure template.
    problem: str = ""
    instances: tuple[str, ...] = ()
    example: AutoscalerNode | None = None
    hosts: Sequence[FreeHost] | None = None
    # Who has paused it, beside its own annotation.
    paused_by: str = ""


class DiscoveredGroups(msgspec.Struct, frozen=True):
    """`problems` has a sentence for each pool that is not scaled."""

    groups: Sequence[NodeGroup]
    problems: Mapping[str, str]


def discover(pools: Iterable[PoolObjects], settings: AutoscalerSettings) -> DiscoveredGroups:
    """In the order in which pools are given. Upstream lists no group at all where the bounds of one cannot be read."""
    groups: list[NodeGroup] = []
    problems: dict[str, str] = {}
    malformed = False
    for objects in pools:
        name = _name(objects.scalable)
        try:
            pool = read_scalable(objects, settings)
        except MooringError as error:
            malformed = True
            problems[name] = (
                f"{name} is not scaled: {error.message}; write whole numbers, and no minimum above the maximum"
            )
            continue
        problem = _problem(objects, pool)
        if problem:
            problems[name] = f"{name} is not scaled: {problem}"
        else:
            groups.append(_group(objects, pool, settings))
    if malformed and not settings.skip_malformed_pools:
        return DiscoveredGroups([], problems)
    return DiscoveredGroups(groups, problems)


def _name(scalable: Object) -> str:
    metadata = scalable["metadata"]
    return f"{scalable['kind']}/{metadata['namespace']}/{metadata['name']}"


def read_scalable(objects: PoolObjects, settings: AutoscalerSettings) -> ScalablePool:
    """A pool as its objects tell. Raises MooringError where the bounds cannot be read."""
    hosts = sorted(objects.hosts or (), key=_size) if settings.capacity_from_hosts else []
    # The smallest host is the one that a node can count on.
    capacity = hosts[0].capacity if hosts else {}
    return read_pool(objects.scalable, objects.infrastructure, objects.problem, settings.options, capacity)


def _size(host: FreeHost) -> tuple[Quantity, Quantity, str]:
    nothing = Quantity(0)
    return host.capacity.get("cpu", nothing), host.capacity.get("memory", nothing), host.name


def _problem(objects: PoolObjects, pool: ScalablePool) -> str:
    """Why a pool whose bounds can be read is no node group all the same."""
    if objects.paused_by:
        return f"it is paused by {objects.paused_by}; set that to false"
    if _PAUSED in (objects.scalable["metadata"].get("annotations") or {}):
        return f"it is paused; take the annotation {_PAUSED} off"
    if pool.bounds.max == 0:
        return "its maximum is 0; raise the annotation cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
    if not pool.is_group:
        cause = f" ({pool.capacity_error})" if pool.capacity_error else ""
        return (
            f"it has no replicas and nothing tells the cpu and memory of its next node{cause}; write them as"
            " annotations capacity.cluster-autoscaler.kubernetes.io/cpu and /memory"
        )
    return ""


def _group(objects: PoolObjects, pool: ScalablePool, settings: AutoscalerSettings) -> NodeGroup:
    template = pool_template(pool, objects.scalable, objects.infrastructure, objects.example, settings)
    limited = settings.limit_by_free_hosts and objects.hosts is not None
    return NodeGroup(
        pool.name,
        pool.bounds.min,
        pool.bounds.max,
        pool.replicas or 0,
        objects.instances,
        None if template is None else template.node(f"{pool.name}-template"),
        pool.options,
        frozenset(host.name for host in objects.hosts or ()) if limited else None,
    )
