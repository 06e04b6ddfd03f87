"""What becomes of the pools of replicas: made, grown, removed, and Machines of lost hosts replaced; or why not.

All or nothing: a replica gets a pool, or more hosts for the pool that it has, only if hosts for all of its pods are
there at that moment. Hosts that other pools wait for are set aside first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

import msgspec

from mooring.api.core.types import Namespace
from mooring.api.kinds import Key
from mooring.features.autoscaler.cluster_state.node_readiness import node_readiness
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.replica_pools.lost_hosts import LostHost, lost_hosts
from mooring.features.autoscaler.replica_pools.names import pool_name
from mooring.features.autoscaler.replica_pools.policy import ReplicaPoolPolicy
from mooring.features.autoscaler.replica_pools.pools import ReplicaPool
from mooring.features.autoscaler.replica_pools.replicas import Replica
from mooring.features.autoscaler.replica_pools.sizing import NodeShape, Sizing, Trial, rejection, sizings
from mooring.features.autoscaler.scale_up.host_room import HostRoom
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.snapshot import AutoscalerSnapshot, fresh_node
from mooring.features.autoscaler.views import (
    AutoscalerDaemonSet,
    AutoscalerNode,
    AutoscalerPod,
    AutoscalerTaint,
)
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.matching import fits, suits
from mooring.kube.quantities import milli_value
from mooring.placement.pods import PodInfo

Obstacle = Literal["policy", "hosts", "pool"]

__all__ = ["NewPool", "Refusal", "ReplicaPoolsDecision", "ReplicaWorld", "decide_replica_pools"]


class ReplicaWorld(msgspec.Struct, frozen=True):
    """What is there, whoever has read it."""

    # None where there is none or it cannot be read; `obstacle` says why no pool is made at all.
    policy: ReplicaPoolPolicy | None
    obstacle: str
    replicas: Sequence[Replica]
    pools: Sequence[ReplicaPool]
    # Hosts that the policy selects, and those of them that are free.
    hosts: Sequence[HostClaim]
    free: Sequence[HostClaim]
    # What every pool of hosts has and waits for.
    claims: Sequence[NodeGroup]
    # MachineDeployments and templates of the hosts' namespace.
    taken_names: Collection[str]
    nodes: Mapping[str, AutoscalerNode]
    # Bound to nodes.
    pods: Sequence[AutoscalerPod]
    daemon_sets: Sequence[AutoscalerDaemonSet] = ()
    namespaces: Sequence[Namespace] = ()


class NewPool(NamedTuple):
    name: str
    replica: Replica
    sizing: Sizing
    taints: tuple[AutoscalerTaint, ...]


class GrownPool(NamedTuple):
    pool: ReplicaPool
    replica: Replica
    target: int


class Refusal(NamedTuple):
    """`where` is what would have to change."""

    replica: Replica
    reason: str
    where: Obstacle


class SharedPool(NamedTuple):
    """A replica that uses the pool of another."""

    replica: Replica
    pool: ReplicaPool


class ReplicaPoolsDecision(msgspec.Struct, frozen=True):
    made: Sequence[NewPool]
    grown: Sequence[GrownPool]
    refused: Sequence[Refusal]
    shared: Sequence[SharedPool]
    removed: Sequence[ReplicaPool]
    # Since when nobody needs a pool.
    unneeded_since: Mapping[Key, datetime]
    # Lost hosts whose Machine goes now, and those for which no other host is free.
    replaced: Sequence[LostHost]
    stuck: Sequence[LostHost]
    # When something else may be decided though nothing has changed.
    due: Sequence[datetime]


def decide_replica_pools(
    world: ReplicaWorld,
    unneeded_since: Mapping[Key, datetime],
    unneeded_time: timedelta,
    now: datetime,
    settings: AutoscalerSettings,
) -> ReplicaPoolsDecision:
    needed = {replica.label for replica in world.replicas}
    idle = [pool for pool in world.pools if pool.label not in needed and not pool.going]
    since = {pool.key: unneeded_since.get(pool.key, now) for pool in idle}
    removed = [pool for pool in idle if since[pool.key] + unneeded_time <= now and not pool.paused_by]
    due = [moment + unneeded_time for moment in since.values()]
    lost = [each for pool in world.pools if pool.label in needed for each in lost_hosts(pool, world.nodes, settings)]
    due += [each.due for each in lost]
    growth = _Growth(world, now, settings)
    replaced: list[LostHost] = []
    stuck: list[LostHost] = []
    for each in lost:
        if each.due <= now and not each.pool.paused_by and not each.pool.going:
            (replaced if growth.replace(each.pool) else stuck).append(each)
    for replica in world.replicas:
        growth.serve(replica)
    return ReplicaPoolsDecision(
        growth.made,
        growth.grown,
        growth.refused,
        growth.shared,
        removed,
        since,
        replaced,
        stuck,
        sorted(moment for moment in due if moment > now),
    )


class _Growth:
    """Replicas are served one after another; what one has got is gone for the next."""

    def __init__(self, world: ReplicaWorld, now: datetime, settings: AutoscalerSettings) -> None:
        self._world = world
        self._now = now
        self._settings = settings
        self._claims = [*world.claims]
        self._pools = {pool.label: pool for pool in world.pools}
        self._hosts = sum(pool.hosts for pool in world.pools)
        self._trial: Trial | None = None
        self.made: list[NewPool] = []
        self.grown: list[GrownPool] = []
        self.refused: list[Refusal] = []
        self.shared: list[SharedPool] = []

    def replace(self, pool: ReplicaPool) -> bool:
        """Whether there is a host for a Machine of a pool that would go."""
        suitable = [host for host in self._world.free if suits(host, pool.wants)]
        return self._claimed(pool.name, suitable, 1)

    def serve(self, replica: Replica) -> None:
        pool = self._pools.get(replica.label)
        if pool is not None and pool.made_for != replica.name:
            self.shared.append(SharedPool(replica, pool))
        if not replica.waits or any(new.replica.label == replica.label for new in self.made):
            return
        infos = self._without_room(replica)
        if infos:
            refusal = self._make(replica, infos) if pool is None else self._grow(replica, pool, infos)
            if refusal is not None:
                self.refused.append(refusal)

    def _without_room(self, replica: Replica) -> list[PodInfo]:
        """Pods that fit neither on nodes that are there nor on those that are on their way."""
        snapshot = self.trial.snapshot
        infos = [snapshot.compile(pod) for pod in (*replica.unbound, *replica.expected)]
        return [info for info in infos if snapshot.schedule_anywhere(info, afresh=True) < 0]

    @property
    def trial(self) -> Trial:
        """Made when it is needed: most looks find nobody who waits."""
        if self._trial is None:
            self._trial = self._new_trial()
        return self._trial

    def _new_trial(self) -> Trial:
        world = self._world
        of_pools = {each.node: pool for pool in world.pools for each in pool.machines if each.node}
        ready = {name: node for name, node in world.nodes.items() if node_readiness(node).ready}
        nodes = [_expected_node(node, of_pools.get(name)) for name, node in ready.items()]
        snapshot = AutoscalerSnapshot(nodes, world.pods, world.namespaces)
        trial = Trial(snapshot, world.daemon_sets, self._settings, self._now)
        for pool in world.pools:
            there = sum(each.staying and each.node in ready for each in pool.machines)
            capacity = {name: str(amount) for name, amount in pool.wants.capacity_requirements.items()}
            template = trial.template(_shape_of(pool), (), capacity)
            for i in range(0 if pool.going else pool.target - there):
                snapshot.add(fresh_node(template, f"upcoming-{i}"))
        return trial

    def _make(self, replica: Replica, infos: Sequence[PodInfo]) -> Refusal | None:
        """Why no pool is made; None if one is."""
        world, policy = self._world, self._world.policy
        if policy is None or world.obstacle:
            return Refusal(replica, world.obstacle, "policy")
        name = pool_name(replica.label, policy.label_keys[0])
        if name in world.taken_names:
            reason = (
                f"there is another MachineDeployment or ByoMachineTemplate {name} in namespace {policy.namespace}; "
                "rename it, or wait until it is gone"
            )
            return Refusal(replica, reason, "pool")
        count = len(world.pools) + len(self.made)
        if count >= policy.max_pools:
            reason = (
                f"there are {count} pools, and maxPools of the policy is {policy.max_pools}; raise it, or scale down"
            )
            return Refusal(replica, reason, "policy")
        shape = NodeShape(replica.label, replica.taints)
        found = sizings(self.trial, infos, shape, world.hosts)
        for sizing in found:
            group = f"MachineDeployment/{policy.namespace}/{name}"
            if self._granted(group, world.free, sizing, policy):
                self.made.append(NewPool(name, replica, sizing, shape.taints))
                return None
        return self._too_few(replica, found, policy) or Refusal(replica, self._misfit(infos, shape), "hosts")

    def _grow(self, replica: Replica, pool: ReplicaPool, infos: Sequence[PodInfo]) -> Refusal | None:
        world, policy = self._world, self._world.policy
        if policy is None or world.obstacle:
            return Refusal(replica, world.obstacle, "policy")
        if pool.going:
            reason = f"its old pool {pool.name} is on its way out; another is made when it is gone"
            return Refusal(replica, reason, "pool")
        if pool.paused_by:
            return Refusal(replica, f"its pool {pool.name} is paused by {pool.paused_by}; set that to false", "pool")
        if pool.label.key not in policy.label_keys:
            reason = f"its pool {pool.name} would have to grow, and labelKeys of the policy lacks {pool.label.key}"
            return Refusal(replica, reason, "policy")
        suitable = [host for host in world.hosts if suits(host, pool.wants)]
        found = sizings(self.trial, infos, _shape_of(pool), suitable)
        for sizing in found:
            if self._granted(pool.name, [host for host in world.free if suits(host, pool.wants)], sizing, policy):
                self.grown.append(GrownPool(pool, replica, pool.target + sizing.hosts))
                return None
        misfit = Refusal(replica, self._misfit(infos, _shape_of(pool)), "hosts")
        return self._too_few(replica, found, policy) or misfit

    def _misfit(self, infos: Sequence[PodInfo], shape: NodeShape) -> str:
        hosts = self._world.hosts
        if not hosts:
            return "no ByoHost matches hostSelector of the policy in its hostNamespace; label hosts, or correct it"
        words = rejection(self.trial, infos, shape, hosts)
        told = f" ({words})" if words else ""
        return f"none of the {len(hosts)} hosts that match the policy can take its pods{told}"

    def _too_few(self, replica: Replica, found: Sequence[Sizing], policy: ReplicaPoolPolicy) -> Refusal | None:
        """What to say where hosts are large enough: of those that would do, too few are free or allowed."""
        if not found:
            return None
        needed, world = found[0], self._world
        if self._hosts + needed.hosts > policy.max_hosts:
            reason = (
                f"it needs {needed.hosts} hosts, pools of replicas have {self._hosts}, and maxHosts of the policy is "
                f"{policy.max_hosts}; raise it, or scale down"
            )
            return Refusal(replica, reason, "policy")
        large = [host for host in world.hosts if fits(host, needed.requirements)]
        names = frozenset(host.metadata.name for host in world.free if fits(host, needed.requirements))
        free = HostRoom([*self._claims, NodeGroup("free", 0, 0, 0, hosts=names)]).take_up_to("free", len(names))
        reason = (
            f"it needs {needed.hosts} hosts at once, and {free} of the {len(large)} that are large enough "
            f"({_listed(needed.requirements)}) are free; free some, or label more"
        )
        return Refusal(replica, reason, "hosts")

    def _granted(self, name: str, free: Sequence[HostClaim], sizing: Sizing, policy: ReplicaPoolPolicy) -> bool:
        """Give a pool its hosts, all of them or none."""
        if self._hosts + sizing.hosts > policy.max_hosts:
            return False
        if not self._claimed(name, [host for host in free if fits(host, sizing.requirements)], sizing.hosts):
            return False
        self._hosts += sizing.hosts
        return True

    def _claimed(self, name: str, hosts: Sequence[HostClaim], count: int) -> bool:
        """Set so many hosts aside for a pool, if there are as many beside those that other pools wait for."""
        known = next((each for each in self._claims if each.name == name), None)
        before = 0 if known is None else known.target
        having = () if known is None else known.nodes
        names = frozenset(host.metadata.name for host in hosts)
        group = NodeGroup(name, 0, before, before, having, hosts=names)
        others = [each for each in self._claims if each.name != name]
        if HostRoom([*others, group]).take_up_to(name, count) < count:
            return False
        self._claims = [*others, msgspec.structs.replace(group, target=before + count)]
        return True


def _listed(requirements: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={amount}" for name, amount in sorted(requirements.items())) or "of any size"


def _shape_of(pool: ReplicaPool) -> NodeShape:
    written = pool.deployment.spec.template.spec.taints
    taints = tuple(AutoscalerTaint(key=each.key, value=each.value, effect=each.effect) for each in written)
    return NodeShape(pool.label, taints)


def _expected_node(node: AutoscalerNode, pool: ReplicaPool | None) -> AutoscalerNode:
    """A node of a pool as it will be: GPUs are told a while after it has come, and taints of the start go again."""
    if pool is None:
        return node
    replace = msgspec.structs.replace
    amounts = dict(node.status.allocatable or {})
    for name, required in pool.wants.capacity_requirements.items():
        if milli_value(amounts.get(name, 0)) < milli_value(required):
            amounts[name] = required
    return replace(
        node,
        spec=replace(node.spec, taints=_shape_of(pool).taints or None, unschedulable=False),
        status=replace(node.status, allocatable=amounts),
    )
