"""How many hosts the pods of a replica need, and what each of them must have: asked of the placement engine.

Hosts need not be alike. Every size of host among the free ones is tried as the smallest that is good enough, and the
one that takes the least in all is chosen, GPUs before memory and memory before cpu.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.replica_pools.replicas import ReplicaLabel
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.snapshot import AutoscalerSnapshot, NodeTemplate, fresh_node
from mooring.features.autoscaler.templates.node_template import node_templates
from mooring.features.autoscaler.views import (
    AutoscalerDaemonSet,
    AutoscalerMeta,
    AutoscalerNode,
    AutoscalerNodeSpec,
    AutoscalerNodeStatus,
    AutoscalerTaint,
)
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.matching import fits
from mooring.features.hosts.api.names import GPU
from mooring.features.hosts.api.own_metadata import own_labels, own_taints
from mooring.kube.quantities import milli_value, value
from mooring.placement.pods import PodInfo

__all__ = ["NodeShape", "Sizing", "Trial", "packed", "rejection", "sizings"]

_PODS: Final = "110"
_GIB: Final = 2**30
_IN_BYTES: Final = ("memory", "ephemeral-storage")
_SCARCEST_FIRST: Final = (GPU, "memory", "cpu")


class NodeShape(NamedTuple):
    """What the nodes of a pool have in common."""

    label: ReplicaLabel
    taints: tuple[AutoscalerTaint, ...]


class Sizing(NamedTuple):
    """So many hosts, each with at least so much of what the pods ask for."""

    hosts: int
    requirements: Mapping[str, str]


class Trial(msgspec.Struct, frozen=True):
    """Where things are tried out: the cluster with its DaemonSets, whose pods are on every new node too."""

    snapshot: AutoscalerSnapshot
    daemon_sets: Sequence[AutoscalerDaemonSet]
    settings: AutoscalerSettings
    now: datetime

    def template(self, shape: NodeShape, hosts: Sequence[HostClaim], capacity: Mapping[str, str]) -> NodeTemplate:
        """A node of a pool that gets any of these hosts, with so much of each resource."""
        group = NodeGroup(f"replica-{shape.label.value}", 0, 0, 0, template=_node(shape, hosts, capacity))
        return node_templates([group], (), lambda name: (), self.daemon_sets, self.now, self.settings)[group.name]


def sizings(trial: Trial, infos: Sequence[PodInfo], shape: NodeShape, hosts: Sequence[HostClaim]) -> list[Sizing]:
    """The ways to take all of the pods on hosts such as these, the one that takes least first."""
    found: list[tuple[tuple[int, ...], Sizing]] = []
    for size in _sizes(hosts, _resources(infos)):
        large = [host for host in hosts if fits(host, size)]
        packing = packed(trial, infos, trial.template(shape, large, size))
        if packing is not None:
            cost = (*(packing.nodes * milli_value(size.get(name, 0)) for name in _SCARCEST_FIRST), packing.nodes)
            required = {name: amount for name, amount in packing.most_used.items() if name in size}
            found.append((cost, Sizing(packing.nodes, required)))
    return [sizing for _, sizing in sorted(found, key=lambda each: each[0])]


def rejection(trial: Trial, infos: Iterable[PodInfo], shape: NodeShape, hosts: Sequence[HostClaim]) -> str:
    """Why the first pod that fits on no such host does not, in the words of the scheduler."""
    snapshot = trial.snapshot
    for info in infos:
        words: set[str] = set()
        for size in _sizes(hosts, _resources([info])):
            large = [host for host in hosts if fits(host, size)]
            with snapshot.fork():
                slot = snapshot.add(trial.template(shape, large, size))
                reasons = None if snapshot.fits(info, slot) else snapshot.rejections(info, slot)
            if reasons is None:
                words.clear()
                break
            words.update(reason.text for reason in reasons)
        if words:
            return f"{info.name}: {', '.join(sorted(words))}"
    return ""


class Packing(NamedTuple):
    """How many nodes took all pods, and the most that is used of each resource on any of them."""

    nodes: int
    most_used: Mapping[str, str]


def packed(trial: Trial, infos: Sequence[PodInfo], template: NodeTemplate) -> Packing | None:
    """All pods on new nodes, the largest first; None where one fits on none."""
    snapshot, slots = trial.snapshot, list[int]()
    with snapshot.fork():
        for info in sorted(infos, key=_size, reverse=True):
            if any(snapshot.schedule_on(info, slot) for slot in slots):
                continue
            slots.append(snapshot.add(fresh_node(template, f"host-{len(slots)}")))
            if not snapshot.schedule_on(info, slots[-1]):
                return None
        return Packing(len(slots), _most_used(snapshot, slots, infos))


def _node(shape: NodeShape, hosts: Sequence[HostClaim], capacity: Mapping[str, str]) -> AutoscalerNode:
    """Labels that all of the hosts bring can be counted on, and any of their taints must be reckoned with."""
    own = [{**_system(host), **own_labels(host)} for host in hosts]
    common = {key: text for key, text in (own[0] if own else {}).items() if all(each.get(key) == text for each in own)}
    brought = {(each.key, each.value, each.effect) for host in hosts for each in own_taints(host)}
    taints = (*shape.taints, *(AutoscalerTaint(key=k, value=v, effect=e) for k, v, e in sorted(brought)))
    amounts: dict[str, str | int | float] = {"pods": _PODS, **capacity}
    return AutoscalerNode(
        metadata=AutoscalerMeta(name=f"of-{shape.label.value}", labels={**common, shape.label.key: shape.label.value}),
        spec=AutoscalerNodeSpec(taints=taints or None),
        status=AutoscalerNodeStatus(capacity=amounts, allocatable=amounts),
    )


def _system(host: HostClaim) -> dict[str, str]:
    info = host.status.hostinfo
    return {"kubernetes.io/os": info.osname or "linux", "kubernetes.io/arch": info.architecture or "amd64"}


def _sizes(hosts: Sequence[HostClaim], asked: frozenset[str]) -> list[dict[str, str]]:
    """The different sizes of hosts, in what is asked for. Machines of one kind differ by a few pages of memory."""
    found: dict[tuple[tuple[str, int], ...], dict[str, str]] = {}
    for host in hosts:
        size = {name: str(amount) for name, amount in sorted(host.spec.capacity.items()) if name in asked}
        rough = tuple((name, _rough(name, amount)) for name, amount in size.items())
        known = found.get(rough, size)
        found[rough] = {name: min(size[name], known[name], key=milli_value) for name in size}
    return list(found.values())


def _rough(name: str, amount: str) -> int:
    return value(amount) // _GIB if name in _IN_BYTES else milli_value(amount)


def _resources(infos: Iterable[PodInfo]) -> frozenset[str]:
    asked = {"cpu", "memory"}
    for info in infos:
        asked.update(name for name, _ in info.requests.scalars)
        asked.update(("ephemeral-storage",) if info.requests.ephemeral else ())
    return frozenset(asked)


def _size(info: PodInfo) -> tuple[int, int, int]:
    asked = info.requests
    return sum(amount for _, amount in asked.scalars), asked.memory, asked.cpu


def _most_used(snapshot: AutoscalerSnapshot, slots: Sequence[int], infos: Iterable[PodInfo]) -> dict[str, str]:
    cluster = snapshot.cluster
    used = {"cpu": cluster.used_cpu, "memory": cluster.used_memory, "ephemeral-storage": cluster.used_ephemeral}
    used |= {name: cluster.scalar(name)[1] for info in infos for name, _ in info.requests.scalars}
    most = {name: max(int(column[slot]) for slot in slots) for name, column in used.items()}
    return {name: _quantity(name, amount) for name, amount in most.items() if amount}


def _quantity(name: str, amount: int) -> str:
    """As people write it: cpu is counted in thousandths, memory and storage in bytes."""
    if name == "cpu":
        return str(amount // 1000) if amount % 1000 == 0 else f"{amount}m"
    if name in _IN_BYTES:
        for suffix, size in (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
            if amount % size == 0:
                return f"{amount // size}{suffix}"
    return str(amount)
