"""The cluster as placement sees it: nodes and pods in columns that follow every change.

Each node has a slot; every per-node fact is an array over slots. A change costs what changed: a pod touches one slot
and the counts its labels and terms belong to, a node its slot and the pods on it. Facts derived from nodes alone
(which taints are tolerated, which selector matches where) are cached by the engine against `nodes_version`; facts that
move with pods are told apart by the `journal` of slots that pods came to or left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mooring.api.core.types import Labels, Namespace, Node, Pod, Taint
from mooring.api.policy.budgets import PodDisruptionBudget
from mooring.kube.quantities import milli_value, value
from mooring.placement.compiler import Compiler
from mooring.placement.devices.dra_manager import DRAManager
from mooring.placement.labels import LabelColumns, Mask
from mooring.placement.nodeorder import NodeOrder
from mooring.placement.plugins.images import Images
from mooring.placement.plugins.resources import is_scalar
from mooring.placement.plugins.terms import ExistingTerms
from mooring.placement.podindex import PodIndex
from mooring.placement.pods import PodInfo
from mooring.placement.volumes.storage_cache import StorageCache
from mooring.placement.workloads.default_selectors import DefaultSelectors

Amounts = NDArray[np.int64]
D = TypeVar("D", bound=np.generic)

# The journal is cut when it grows past this; engines that fall further behind start afresh.
MAX_JOURNAL = 200_000


class SchedulerCache:
    def __init__(self, size: int = 64) -> None:
        # One slot more than asked for, so that trying out a new node does not make every array grow.
        self.size = size + 1
        self.names: list[str] = []
        self.slots: dict[str, int] = {}
        self.nodes: list[Node | None] = []
        self.node_pods: list[dict[str, PodInfo]] = []
        self.valid: Mask = np.zeros(self.size, dtype=np.bool_)
        self.unschedulable: Mask = np.zeros(self.size, dtype=np.bool_)
        self.taint_set: NDArray[np.int32] = np.zeros(self.size, dtype=np.int32)
        self.taint_sets: list[tuple[Taint, ...]] = [()]
        self._taint_index: dict[tuple[tuple[str, str, str], ...], int] = {(): 0}
        self.alloc_cpu = self._column()
        self.alloc_memory = self._column()
        self.alloc_ephemeral = self._column()
        self.alloc_pods = self._column()
        self.used_cpu = self._column()
        self.used_memory = self._column()
        self.used_ephemeral = self._column()
        self.nonzero_cpu = self._column()
        self.nonzero_memory = self._column()
        self.pod_count = self._column()
        self.alloc_scalar: dict[str, Amounts] = {}
        self.used_scalar: dict[str, Amounts] = {}
        self.labels = LabelColumns(self.size)
        self.index = PodIndex(self.size)
        self.terms = ExistingTerms()
        self.images = Images()
        self.ports: dict[tuple[str, int], dict[int, dict[str, int]]] = {}
        self.pods: dict[str, PodInfo] = {}
        self.placed: dict[str, int] = {}
        self.waiting: dict[str, dict[str, PodInfo]] = {}
        self.nominated: dict[str, dict[str, PodInfo]] = {}
        self.namespaces: dict[str, Labels] = {}
        self.budgets: dict[str, PodDisruptionBudget] = {}
        self.default_selectors = DefaultSelectors()
        self.devices = DRAManager()
        self.storage = StorageCache()
        # Pods on nodes that have volumes: by slot, and how many mount each claim.
        self.mounting: dict[int, dict[str, PodInfo]] = {}
        self.claim_users: Counter[str] = Counter()
        self.compiler = Compiler()
        self.nodes_version = 0
        self.world_version = 0
        self.journal: list[int] = []
        self.journal_start = 0
        self._free: list[int] = []
        self._order = NodeOrder()

    def _column(self) -> Amounts:
        return np.zeros(self.size, dtype=np.int64)

    # Nodes

    @property
    def node_count(self) -> int:
        return len(self.slots)

    @property
    def order(self) -> NDArray[np.int64]:
        """Slots in the scheduler's order: one node of each zone in turn."""
        return self._order.slots

    def node(self, name: str) -> Node | None:
        slot = self.slots.get(name)
        return None if slot is None else self.nodes[slot]

    def reserve(self, size: int) -> None:
        """Make room for this many nodes at once."""
        if size >= self.size:
            self._grow(size + 1)

    def set_node(self, node: Node) -> None:
        """Add a node, or bring a known one up to date."""
        slot = self.slots.get(node.metadata.name)
        if slot is None:
            self._add_node(node)
            return
        old = self.nodes[slot]
        assert old is not None
        if old == node:
            return
        labels_changed = (old.metadata.labels or {}) != (node.metadata.labels or {})
        pods = list(self.node_pods[slot].values()) if labels_changed else []
        for pod in pods:
            self.terms.change(pod, slot, self.labels, -1)
        self._write_node(slot, old, node)
        for pod in pods:
            self.terms.change(pod, slot, self.labels, 1)
        self.nodes_version += 1

    def remove_node(self, name: str) -> None:
        """Forget a node. Its pods are kept aside, as they are still known to be bound to that name."""
        slot = self.slots[name]
        old = self.nodes[slot]
        assert old is not None
        aside = dict(self.node_pods[slot])
        for pod in aside.values():
            self._detach(pod, slot)
        if aside:
            self.waiting[name] = aside
        del self.slots[name]
        self._order.remove(slot, old)
        self.images.remove(slot, old)
        self.labels.write(slot, old.metadata.labels or {}, {})
        self.valid[slot] = False
        self.nodes[slot] = None
        self._free.append(slot)
        self.nodes_version += 1

    def _add_node(self, node: Node) -> None:
        if self._free:
            slot = self._free.pop()
        else:
            slot = len(self.names)
            if slot == self.size:
                self._grow(max(64, self.size + self.size // 4))
            self.names.append("")
            self.nodes.append(None)
            self.node_pods.append({})
        name = node.metadata.name
        self.names[slot] = name
        self.slots[name] = slot
        self.valid[slot] = True
        self._write_node(slot, None, node)
        self.nodes_version += 1
        for pod in self.waiting.pop(name, {}).values():
            self._attach(pod, slot)

    def _write_node(self, slot: int, old: Node | None, node: Node) -> None:
        labels = node.metadata.labels or {}
        self.labels.write(slot, (old.metadata.labels or {}) if old else {}, labels)
        self._order.set(slot, old, node)
        self.unschedulable[slot] = node.spec.unschedulable
        self.taint_set[slot] = self._taints(node.spec.taints or ())
        self._write_allocatable(slot, node)
        if old is not None:
            self.images.remove(slot, old)
        self.images.add(slot, node)
        self.nodes[slot] = node

    def _write_allocatable(self, slot: int, node: Node) -> None:
        amounts = node.status.allocatable or {}
        self.alloc_cpu[slot] = milli_value(amounts.get("cpu", 0))
        self.alloc_memory[slot] = value(amounts.get("memory", 0))
        self.alloc_ephemeral[slot] = value(amounts.get("ephemeral-storage", 0))
        self.alloc_pods[slot] = value(amounts.get("pods", 0))
        for column in self.alloc_scalar.values():
            column[slot] = 0
        for name, amount in amounts.items():
            if is_scalar(name):
                self.scalar(name)[0][slot] = value(amount)

    def scalar(self, name: str) -> tuple[Amounts, Amounts]:
        """What nodes have of a scalar resource, and what is in use of it."""
        if name not in self.alloc_scalar:
            self.alloc_scalar[name] = self._column()
            self.used_scalar[name] = self._column()
        return self.alloc_scalar[name], self.used_scalar[name]

    def _taints(self, taints: tuple[Taint, ...]) -> int:
        key = tuple((t.key, t.value, t.effect) for t in taints)
        found = self._taint_index.get(key)
        if found is None:
            found = self._taint_index[key] = len(self.taint_sets)
            self.taint_sets.append(taints)
        return found

    def _grow(self, size: int) -> None:
        def grown(column: NDArray[D]) -> NDArray[D]:
            bigger: NDArray[D] = np.zeros(size, dtype=column.dtype)
            bigger[: self.size] = column
            return bigger

        for field, column in vars(self).items():
            if isinstance(column, np.ndarray):
                setattr(self, field, grown(column))
        for table in (self.alloc_scalar, self.used_scalar):
            for name, column in table.items():
                table[name] = grown(column)
        self.labels.grow(size)
        self.index.grow(size)
        self.size = size
        self.nodes_version += 1

    # Pods

    def set_pod(self, pod: Pod) -> PodInfo:
        """Bring a pod up to date: on its node, nominated to one, waiting for a node of that name, or nowhere."""
        info = self.compiler.compile(pod)
        self.put(info)
        return info

    def put(self, info: PodInfo) -> None:
        if info.key in self.pods:
            self.remove_pod(info.key)
        self.pods[info.key] = info
        self._set_down(info)

    def remove_pod(self, key: str) -> None:
        self._lift(self.pods.pop(key))

    def move(self, info: PodInfo, node: str, nominated: str) -> None:
        """Hold a known pod elsewhere; it keeps its place among all pods."""
        self._lift(info)
        info.node_name, info.nominated = node, nominated
        self._set_down(info)

    def _set_down(self, info: PodInfo) -> None:
        if info.finished:
            return
        if info.node_name:
            slot = self.slots.get(info.node_name)
            if slot is None:
                self.waiting.setdefault(info.node_name, {})[info.key] = info
            else:
                self._attach(info, slot)
        elif info.nominated:
            self.nominated.setdefault(info.nominated, {})[info.key] = info

    def _lift(self, info: PodInfo) -> None:
        slot = self.placed.get(info.key)
        if slot is not None:
            self._detach(info, slot)
            return
        for table, name in ((self.waiting, info.node_name), (self.nominated, info.nominated)):
            if name in table and table[name].pop(info.key, None) is not None and not table[name]:
                del table[name]

    def bind(self, info: PodInfo, slot: int) -> None:
        """Put an incoming pod on a node."""
        if info.key in self.pods:
            self.remove_pod(info.key)
        info.node_name = self.names[slot]
        self.pods[info.key] = info
        self._attach(info, slot)

    def _attach(self, pod: PodInfo, slot: int) -> None:
        self.placed[pod.key] = slot
        self.node_pods[slot][pod.key] = pod
        self._account(pod, slot, 1)
        self.index.add(pod, slot)
        self.terms.change(pod, slot, self.labels, 1)
        if pod.volumes:
            self.mounting.setdefault(slot, {})[pod.key] = pod
            self.claim_users.update(_claims(pod))

    def _detach(self, pod: PodInfo, slot: int) -> None:
        del self.placed[pod.key]
        del self.node_pods[slot][pod.key]
        self._account(pod, slot, -1)
        self.index.remove(pod, slot)
        self.terms.change(pod, slot, self.labels, -1)
        if pod.volumes:
            del self.mounting[slot][pod.key]
            for claim in _claims(pod):
                self.claim_users[claim] -= 1
                if not self.claim_users[claim]:
                    del self.claim_users[claim]

    def _account(self, pod: PodInfo, slot: int, sign: int) -> None:
        resources = pod.template.resources
        held = resources.node
        self.pod_count[slot] += sign
        _add(self.used_cpu, slot, sign * held.cpu)
        _add(self.used_memory, slot, sign * held.memory)
        _add(self.nonzero_cpu, slot, sign * resources.nonzero[0])
        _add(self.nonzero_memory, slot, sign * resources.nonzero[1])
        if held.ephemeral:
            _add(self.used_ephemeral, slot, sign * held.ephemeral)
        for name, amount in held.scalars:
            _add(self.scalar(name)[1], slot, sign * amount)
        for port in pod.template.ports:
            self._account_port(port.ip, (port.protocol, port.port), slot, sign)
        self.journal.append(slot)
        if len(self.journal) > MAX_JOURNAL:
            self.journal_start += len(self.journal)
            self.journal.clear()

    def _account_port(self, ip: str, key: tuple[str, int], slot: int, sign: int) -> None:
        ips = self.ports.setdefault(key, {}).setdefault(slot, {})
        ips[ip] = ips.get(ip, 0) + sign
        if not ips[ip]:
            del ips[ip]
            if not ips:
                del self.ports[key][slot]

    # What if

    @contextmanager
    def pretending(self, nodes: Iterable[Node] = (), without_pods: Iterable[str] = ()) -> Iterator[None]:
        """The cluster with nodes added or changed and pods gone, for the length of a `with` block.

        Pods that are gone are still known, but are nowhere. Afterwards everything is as before, the order of nodes and
        of the pods on them included, because that order decides ties.
        """
        changed = list(nodes)
        order = self._order.copy()
        free = list(self._free)
        before = [old for n in changed if (old := self.node(n.metadata.name)) is not None]
        images = self.images.copies((*changed, *before))
        added = [n.metadata.name for n in changed if n.metadata.name not in self.slots]
        gone = [self.pods[key] for key in without_pods]
        touched = {slot: dict(self.node_pods[slot]) for p in gone if (slot := self.placed.get(p.key)) is not None}
        for pod in gone:
            self._lift(pod)
        for node in changed:
            self.set_node(node)
        try:
            yield
        finally:
            for name in added:
                self.remove_node(name)
            for old in before:
                self.set_node(old)
            for pod in gone:
                self._set_down(pod)
            for slot, pods in touched.items():
                self.node_pods[slot] = pods
            self._order = order
            # Slots that were made for added nodes stay, free for the next.
            self._free = [*free, *(slot for slot in self._free if slot not in free)]
            self.images.put_back(images)

    # What surrounds pods

    def set_namespace(self, namespace: Namespace) -> None:
        labels = namespace.metadata.labels or {}
        if self.namespaces.get(namespace.metadata.name) != labels:
            self.namespaces[namespace.metadata.name] = labels
            self.world_version += 1

    def remove_namespace(self, name: str) -> None:
        del self.namespaces[name]
        self.world_version += 1

    def set_budget(self, budget: PodDisruptionBudget) -> None:
        self.budgets[f"{budget.metadata.namespace}/{budget.metadata.name}"] = budget

    def remove_budget(self, key: str) -> None:
        del self.budgets[key]


def _claims(pod: PodInfo) -> list[str]:
    """The claims that a pod names, ephemeral volumes aside, as often as it mounts them."""
    return [f"{pod.namespace}/{v.claim}" for v in pod.volumes if v.claim and not v.ephemeral]


def _add(column: Amounts, slot: int, amount: int) -> None:
    """Add as kube-scheduler does, which wraps at 64 bits: NumPy would warn of it."""
    total = column.item(slot) + amount
    column[slot] = total if -(1 << 63) <= total < 1 << 63 else (total + (1 << 63)) % (1 << 64) - (1 << 63)
