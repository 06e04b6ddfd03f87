"""The state of the cluster as a fold: the scheduler cache, the placement engine and the pods that wait for a node.

Besides observed objects the cache holds assumed pods: those that the scheduler has bound and no watch has delivered
yet. Their resources count as used for every reader. The runtime adds them when the scheduler has decided, and does not
run the scheduler again before its writes are observed; a pod that is still assumed by then was never bound, and the
runtime removes it first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple, cast

import msgspec

from mooring.api.apps import owners as apps
from mooring.api.core import types as core
from mooring.api.core.views import Namespace, Node, Pod, Service
from mooring.api.kinds import Key, Kind
from mooring.api.policy import budgets as policy
from mooring.api.policy.views import PodDisruptionBudget
from mooring.placement.engine import Engine
from mooring.placement.overlay import Assumption, Overlay
from mooring.placement.plugins.resources import has_what_it_asks_for
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.folds import Fold
from mooring.workloads.kinds import (
    CSI_DRIVER,
    CSI_NODE,
    CSI_STORAGE_CAPACITY,
    DEVICE_CLASS,
    NAMESPACE,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    POD,
    POD_DISRUPTION_BUDGET,
    REPLICA_SET,
    REPLICATION_CONTROLLER,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    SERVICE,
    STATEFUL_SET,
    STORAGE_CLASS,
    VOLUME_ATTACHMENT,
)

SCHEDULERS = ("", "default-scheduler")
# Their selectors say which pods default spreading keeps apart.
OWNERS: tuple[Kind[Any], ...] = (REPLICA_SET, REPLICATION_CONTROLLER, STATEFUL_SET)
STORAGE: tuple[Kind[Any], ...] = (
    PERSISTENT_VOLUME_CLAIM,
    PERSISTENT_VOLUME,
    STORAGE_CLASS,
    CSI_NODE,
    CSI_DRIVER,
    CSI_STORAGE_CAPACITY,
    VOLUME_ATTACHMENT,
)
DEVICES: tuple[Kind[Any], ...] = (DEVICE_CLASS, RESOURCE_SLICE, RESOURCE_CLAIM)

# Older events are dropped beyond this many; a reader that has missed some must suppose that any may have happened.
MAX_CLUSTER_EVENTS = 20_000


class ClusterEvent(NamedTuple):
    """A change that may make a pending pod schedulable.

    `node`: a node was added or updated. `left`: a pod or a node was deleted, or a pod released resources. `came`: a pod
    is on a node, with the labels it has now. `namespace`: labels of one changed. `pod`: the pending pod itself changed.
    `devices`: a claim, a class of devices or a slice changed.
    `storage`: a claim, a volume, a class or something of a driver changed.
    """

    what: Literal["node", "left", "came", "namespace", "pod", "devices", "storage"]
    # A node, or the key of a pod for `pod`.
    name: str = ""
    namespace: str = ""
    labels: core.Labels | None = None


class ClusterState:
    def __init__(self) -> None:
        self._cluster = SchedulerCache()
        self._engine = Engine(self._cluster)
        # Pods without a node that this scheduler is to place, in order of arrival.
        self.pending: dict[str, Pod] = {}
        # Victims of preemption that are marked as such and not terminating yet.
        self.victims: dict[str, Pod] = {}
        # Assumed pods: decided, and not observed yet. Whoever asks for `cluster` or `engine` finds them there.
        self._unconfirmed = Overlay(self._cluster)
        self._events: list[ClusterEvent] = []
        # How many events were dropped: event number n is `_events[n - _forgotten]`.
        self._forgotten = 0

    @property
    def cluster(self) -> SchedulerCache:
        """The cluster with every assumed pod on its node."""
        self._unconfirmed.settle()
        return self._cluster

    @property
    def engine(self) -> Engine:
        self._unconfirmed.settle()
        return self._engine

    # Cluster events

    @property
    def position(self) -> int:
        return self._forgotten + len(self._events)

    def since(self, position: int) -> Sequence[ClusterEvent] | None:
        """The events since a position; None when some of them were dropped."""
        if position < self._forgotten:
            return None
        return self._events[position - self._forgotten :]

    def record(self, event: ClusterEvent) -> None:
        if len(self._events) >= MAX_CLUSTER_EVENTS:
            self._forgotten += len(self._events)
            self._events.clear()
        self._events.append(event)

    # Assumed pods

    @contextmanager
    def supposing(self) -> Iterator[Overlay]:
        """An overlay for the length of a `with` block, after which the state is what it was."""
        overlay = Overlay(self.cluster)
        try:
            yield overlay
        finally:
            overlay.take_back()
            self._cluster.devices.take_back()
            self._cluster.storage.take_back()

    def assume(self, assumptions: Sequence[Assumption]) -> None:
        """Assume pods on their nodes until they are observed there, in place of what was assumed before."""
        self._unconfirmed.take_back()
        self._unconfirmed.assume(assumptions)

    def facts(self) -> object:
        """Everything that an answer depends on; caches are left out."""
        cluster = self.cluster
        nominated = {node: frozenset(pods) for node, pods in cluster.nominated.items()}
        nodes = [(cluster.names[slot], list(cluster.node_pods[slot])) for slot in cluster.order.tolist()]
        used = [each[cluster.order].tolist() for each in (cluster.pod_count, cluster.used_cpu, cluster.used_memory)]
        pods = [(info, info.node_name, info.nominated) for info in cluster.pods.values()]
        waiting = (list(self.pending.items()), list(self.victims.items()), self._unconfirmed.assumed())
        claims = (cluster.storage.facts(), list(cluster.devices.claims.items()))
        return nodes, used, pods, nominated, waiting, claims, self.position, self._engine.start

    # Observed objects

    def change_pod(self, key: Key, old: Pod | None, new: Pod | None) -> None:
        name = str(key)
        if new is None:
            self._unconfirmed.confirm(name)
            self.victims.pop(name, None)
            self.pending.pop(name, None)
            gone = self._cluster.pods[name]
            self._cluster.remove_pod(name)
            self._record_left(gone)
            return
        if _is_pending(new):
            self.pending[name] = new
        else:
            self.pending.pop(name, None)
        if is_victim(new):
            self.victims[name] = new
        else:
            self.victims.pop(name, None)
        if old is not None and name not in self._unconfirmed and _same_to_placement(old, new):
            self._cluster.pods[name].start_time = new.status.start_time
            return
        self._unconfirmed.confirm(name, new.spec.node_name)
        before = self._cluster.pods.get(name)
        info = self._cluster.set_pod(cast(core.Pod, new))
        self._record_pod(before, info, old, new)

    def _record_pod(self, before: PodInfo | None, info: PodInfo, old: Pod | None, new: Pod) -> None:
        if before is not None and (before.node_name, before.nominated) != (info.node_name, info.nominated):
            self._record_left(before)
        if not info.node_name:
            if old is not None and not info.finished and _asks_differently(old, new):
                self.record(ClusterEvent("pod", info.key))
            return
        if info.finished:
            if before is not None:
                self._record_left(before)
            return
        if before is not None and before.node_name == info.node_name and old is not None and old.spec.node_name:
            changed = before.labels != info.labels
            if changed or before.template is not info.template or before.terminating != info.terminating:
                self.record(ClusterEvent("left", info.node_name, info.namespace, before.labels))
            if not changed:
                return
        self.record(ClusterEvent("came", info.node_name, info.namespace, info.labels))

    def _record_left(self, gone: PodInfo) -> None:
        if not gone.finished and (gone.node_name or gone.nominated):
            self.record(ClusterEvent("left", gone.node_name or gone.nominated, gone.namespace, gone.labels))

    def change_node(self, key: Key, new: Node | None) -> None:
        if new is None:
            self._cluster.remove_node(key.name)
            self.record(ClusterEvent("left", key.name))
        else:
            self._cluster.set_node(cast(core.Node, new))
            self.record(ClusterEvent("node", key.name))

    def change_namespace(self, key: Key, old: Namespace | None, new: Namespace | None) -> None:
        if new is None:
            self._cluster.remove_namespace(key.name)
        else:
            self._cluster.set_namespace(cast(core.Namespace, new))
        if old is None or new is None or old.metadata.labels != new.metadata.labels:
            self.record(ClusterEvent("namespace", namespace=key.name))

    def change_owner(self, kind: str, key: Key, old: Any, new: Any) -> None:
        if new is None:
            self._cluster.default_selectors.remove_owner(kind, *key)
            return
        # Only the selector counts, and only for scores: it never keeps a pod waiting.
        if old is None or old.spec.selector != new.spec.selector:
            self._cluster.default_selectors.set_owner(kind, _selecting(kind, key, new))

    def change_service(self, key: Key, new: Service | None) -> None:
        if new is None:
            self._cluster.default_selectors.remove_service(*key)
        else:
            self._cluster.default_selectors.set_service(cast(core.Service, new))

    def change_devices(self, old: Any, new: Any) -> None:
        if new is None:
            self._cluster.devices.remove(old)
        else:
            self._cluster.devices.set(new)
        self.record(ClusterEvent("devices"))

    def change_storage(self, old: Any, new: Any) -> None:
        if new is None:
            self._cluster.storage.remove(old)
        else:
            self._cluster.storage.set(new)
        self.record(ClusterEvent("storage"))

    def change_budget(self, key: Key, new: PodDisruptionBudget | None) -> None:
        if new is None:
            self._cluster.remove_budget(str(key))
        else:
            self._cluster.set_budget(cast(policy.PodDisruptionBudget, new))


def _selecting(kind: str, key: Key, owner: Any) -> apps.ReplicaSet | core.ReplicationController:
    """What placement reads of an owner; a StatefulSet selects as a ReplicaSet does."""
    meta = core.ObjectMeta(name=key.name, namespace=key.namespace)
    if kind == "ReplicationController":
        return core.ReplicationController(meta, core.ReplicationControllerSpec(selector=owner.spec.selector))
    selector = msgspec.convert(owner.spec.selector, core.LabelSelector | None)
    return apps.ReplicaSet(meta, apps.SelectorSpec(selector))


def _is_pending(pod: Pod) -> bool:
    return (
        not pod.spec.node_name
        and not pod.finished
        and not pod.metadata.deleting
        and pod.spec.scheduler_name in SCHEDULERS
    )


def is_victim(pod: Pod) -> bool:
    """Chosen as a victim of preemption, but not deleted yet."""
    return pod.active and any(
        c.type == "DisruptionTarget" and c.status == "True" and c.reason == "PreemptionByScheduler"
        for c in pod.status.conditions
    )


def _same_to_placement(old: Pod, new: Pod) -> bool:
    """Whether nothing changed that the engine reads, start times aside; most changes of a pod are of this kind."""
    before, after = old.status, new.status
    return (
        old.finished == new.finished
        and old.metadata.deleting == new.metadata.deleting
        and before.nominated_node_name == after.nominated_node_name
        and old.metadata.uid == new.metadata.uid
        and old.metadata.labels == new.metadata.labels
        and old.metadata.owner_references == new.metadata.owner_references
        and old.spec == new.spec
        and before.resource_claim_statuses == after.resource_claim_statuses
        and (not new.metadata.deleting or before.conditions == after.conditions)
        and _resizes(old) == _resizes(new)
    )


def _asks_differently(old: Pod, new: Pod) -> bool:
    """Whether a waiting pod may fare better for what changed on itself; what the scheduler writes does not count."""
    lost_nomination = bool(old.status.nominated_node_name) and not new.status.nominated_node_name
    claims_made = old.status.resource_claim_statuses != new.status.resource_claim_statuses
    return lost_nomination or claims_made or old.spec != new.spec or old.metadata.labels != new.metadata.labels


def _resizes(pod: Pod) -> list[tuple[Any, ...]]:
    """What a node reports of containers that have something else than they ask for, with the condition of a resize."""
    spec, status = pod.spec, pod.status
    asked = {each.name: each.resources for each in (*(spec.containers or ()), *(spec.init_containers or ()))}
    every = (*status.container_statuses, *status.init_container_statuses)
    found: list[tuple[Any, ...]] = [
        (each.name, each.resources, each.allocated_resources)
        for each in every
        if each.resources is not None and not has_what_it_asks_for(asked.get(each.name), each)
    ]
    return [*found, *((c.status, c.reason) for c in status.conditions if c.type == "PodResizePending")]


def _apply(state: ClusterState, kind: Kind[Any], change: Changed) -> bool:
    """Take a change in. The scheduler is woken if there are pods to place or victims to delete, or a pod is gone."""
    key, old, new = change[:3]
    if kind is POD:
        state.change_pod(key, old, new)
    elif kind is NODE:
        state.change_node(key, new)
    elif kind in OWNERS:
        state.change_owner(kind.kind, key, old, new)
    elif kind is NAMESPACE:
        state.change_namespace(key, old, new)
    elif kind is SERVICE:
        state.change_service(key, new)
    elif kind in DEVICES:
        state.change_devices(old, new)
    elif kind in STORAGE:
        state.change_storage(old, new)
    else:
        state.change_budget(key, new)
    # A pod that was bound is what the scheduler decided, and no reason to run it.
    return bool(state.pending or state.victims) or (kind is POD and new is None)


CLUSTER = Fold(
    "cluster",
    (NODE, POD, NAMESPACE, SERVICE, *OWNERS, POD_DISRUPTION_BUDGET, *STORAGE, *DEVICES),
    ClusterState,
    _apply,
    assume=ClusterState.assume,
    facts=ClusterState.facts,
    without_status=(NAMESPACE, SERVICE, *OWNERS),
)
