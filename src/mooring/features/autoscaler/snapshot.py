"""The cluster in which the autoscaler tries things out, and takes them back.

It stands on the columns of the placement engine. What is tried inside `fork` is undone step by step, so that a try
costs what it changes and not what the cluster holds. The search over all nodes begins after the node that was found
last, as upstream's does, and forks do not reset that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from mooring.api.core.types import Namespace
from mooring.features.autoscaler.views import AutoscalerNode, AutoscalerPod, AutoscalerTaint
from mooring.placement.filters import Filters, has_room, needs
from mooring.placement.labels import Mask
from mooring.placement.plugins.interpod import InterPodFilter
from mooring.placement.plugins.node_matching import NodeMatching
from mooring.placement.plugins.spread import SpreadFilter
from mooring.placement.pods import PodInfo
from mooring.placement.reservations import assume, reservation
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.verdicts import Reason

__all__ = ["HOSTNAME", "AutoscalerSnapshot", "Fork", "NodeTemplate", "fresh_node"]

HOSTNAME = "kubernetes.io/hostname"


class NodeTemplate(NamedTuple):
    """A node that a group could get, and the pods that would be on it from the beginning."""

    node: AutoscalerNode
    pods: tuple[AutoscalerPod, ...]


def fresh_node(template: NodeTemplate, suffix: str) -> NodeTemplate:
    """One more node of a template, with names of its own."""
    replace = msgspec.structs.replace
    node = template.node
    name = f"{node.name}-{suffix}"
    metadata = replace(node.metadata, name=name, labels={**(node.metadata.labels or {}), HOSTNAME: name})
    pods = tuple(
        replace(
            pod,
            metadata=replace(pod.metadata, name=f"{pod.metadata.name}-{suffix}"),
            spec=replace(pod.spec, node_name=name),
        )
        for pod in template.pods
    )
    return NodeTemplate(replace(node, metadata=metadata), pods)


class Fork:
    """Whether what changes in a fork outlasts it."""

    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept = False


class AutoscalerSnapshot:
    def __init__(
        self,
        nodes: Iterable[AutoscalerNode],
        pods: Iterable[AutoscalerPod],
        namespaces: Iterable[Namespace] = (),
        storage: Iterable[msgspec.Struct] | None = None,
    ) -> None:
        """`storage` is None where it is not known; then pods are tried without their volumes."""
        self.cluster = SchedulerCache()
        self._knows_storage = storage is not None
        for view in storage or ():
            self.cluster.storage.set(view)
        self.matching = NodeMatching(self.cluster)
        # Slots in the order in which nodes came.
        self._order: dict[str, int] = {}
        self._listed: NDArray[np.int64] | None = None
        self._cursor = 0
        # How to take back what has changed in the innermost fork; None outside of any.
        self._undo: list[Callable[[], None]] | None = None
        self._views: dict[str, AutoscalerPod] = {}
        for namespace in namespaces:
            self.cluster.set_namespace(namespace)
        for node in nodes:
            self._put_node(node)
        for pod in pods:
            if pod.spec.node_name in self.cluster.slots:
                self._put_pod(pod)

    # What is there

    @property
    def nodes(self) -> list[AutoscalerNode]:
        """In the order in which they came."""
        return [self.node(name) for name in self._order]

    def node(self, name: str) -> AutoscalerNode:
        found = self.cluster.nodes[self.cluster.slots[name]]
        assert isinstance(found, AutoscalerNode)
        return found

    def infos_on(self, name: str) -> list[PodInfo]:
        return list(self.cluster.node_pods[self.cluster.slots[name]].values())

    def pods_on(self, name: str) -> list[AutoscalerPod]:
        return [self._views[info.key] for info in self.infos_on(name)]

    def pods_with_infos_on(self, name: str) -> list[tuple[AutoscalerPod, PodInfo]]:
        return [(self._views[info.key], info) for info in self.infos_on(name)]

    def compile(self, pod: AutoscalerPod) -> PodInfo:
        """A pod that is ready to be tried.

        Which devices a new node would offer is not known, so pods are tried without their resource claims.
        """
        self._views[pod.key] = pod
        info = self.cluster.compiler.compile(pod)
        info.claims = ()
        if not self._knows_storage:
            info.volumes = ()
        return info

    # Forks

    @contextmanager
    def fork(self) -> Iterator[Fork]:
        """What changes inside is undone at the end, unless the fork is kept."""
        outer, undo, fork = self._undo, list[Callable[[], None]](), Fork()
        self._undo = undo
        try:
            yield fork
        finally:
            self._undo = outer
            if not fork.kept:
                for step in reversed(undo):
                    step()
            elif outer is not None:
                outer += undo

    def _changed(self, undo: Callable[[], None]) -> None:
        if self._undo is not None:
            self._undo.append(undo)

    # Changes

    def add(self, template: NodeTemplate) -> int:
        """A new node with its pods; its slot."""
        slot = self._put_node(template.node)
        for pod in template.pods:
            self._put_pod(pod)
        name, keys = template.node.name, [pod.key for pod in template.pods]

        def undo() -> None:
            for key in keys:
                self.cluster.remove_pod(key)
            self._drop_node(name)

        self._changed(undo)
        return slot

    def remove_node(self, name: str) -> None:
        """Forget a node and the pods on it."""
        for info in self.infos_on(name):
            self.unbind(info)
        node, order = self.node(name), dict(self._order)
        self._drop_node(name)

        def undo() -> None:
            order[name] = self._put_node(node)
            self._order = order

        self._changed(undo)

    def taint(self, name: str, taint: AutoscalerTaint) -> None:
        replace = msgspec.structs.replace
        old = self.node(name)
        self.cluster.set_node(replace(old, spec=replace(old.spec, taints=(*(old.spec.taints or ()), taint))))
        self._changed(lambda: self.cluster.set_node(old))

    def bind(self, info: PodInfo, slot: int) -> None:
        before = self._assume_volumes(info, slot) if info.volumes else ()
        self.cluster.bind(info, slot)

        def undo() -> None:
            self.cluster.remove_pod(info.key)
            info.node_name = ""
            for view in before:
                self.cluster.storage.set(view)

        self._changed(undo)

    def _assume_volumes(self, info: PodInfo, slot: int) -> list[msgspec.Struct]:
        """Hold the volumes that a pod is given as taken; claims and volumes as they were before."""
        storage = self.cluster.storage
        reserved = reservation(self.cluster, info, slot)
        before: list[msgspec.Struct] = [storage.claims[write.claim] for write in reserved.volumes]
        before += [storage.volumes[write.volume].view for write in reserved.volumes if write.volume]
        assume(self.cluster, reserved)
        return before

    def unbind(self, info: PodInfo) -> None:
        """Take a pod off its node; it is as one that waits for a node."""
        name = info.node_name
        self.cluster.remove_pod(info.key)
        info.node_name = ""

        def undo() -> None:
            info.node_name = name
            self.cluster.put(info)

        self._changed(undo)

    def _put_pod(self, pod: AutoscalerPod) -> None:
        """A pod that has ended counts like any other for as long as it is there."""
        held = pod
        if pod.status.phase in ("Succeeded", "Failed"):
            held = msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, phase="Running"))
        self.cluster.put(self.compile(held))
        self._views[pod.key] = pod

    def _put_node(self, node: AutoscalerNode) -> int:
        self.cluster.set_node(node)
        slot = self.cluster.slots[node.name]
        self._order[node.name] = slot
        self._listed = None
        return slot

    def _drop_node(self, name: str) -> None:
        del self._order[name]
        self._listed = None
        self.cluster.remove_node(name)

    # Questions

    def rejections(self, info: PodInfo, slot: int) -> list[Reason] | None:
        """Why a node does not take a pod, in the words of the first filter that rejects it; None where it does."""
        filters = Filters(self.matching, info)
        if filters.rejection is not None:
            return [Reason(*filters.rejection)]
        verdicts = filters.verdicts()
        bits = int(verdicts.bits[slot])
        if not bits:
            return None
        if filters.narrowed is not None and not filters.inside()[slot]:
            # Filtered out before any filter ran: there are no words for that.
            return []
        return verdicts.first(bits)

    def fits(self, info: PodInfo, slot: int) -> bool:
        """The same without the reasons, and without a look at other nodes where that is possible."""
        template, cluster = info.template, self.cluster
        if template.rejection is not None or not self.matching.admitted_at(template, slot):
            return False
        if not has_room(cluster, template, needs(cluster, template), slot):
            return False
        if info.volumes and self.rejections(info, slot) is not None:
            return False
        if template.spread_hard:
            missing, crowded = SpreadFilter(self.matching, info).verdicts()
            if missing[slot] or crowded[slot]:
                return False
        interpod = InterPodFilter.of(self.matching, info)
        return interpod is None or not any(mask[slot] for mask in interpod.verdicts())

    def schedule_on(self, info: PodInfo, slot: int) -> bool:
        """Put a pod on a node if it fits there."""
        if not self.fits(info, slot):
            return False
        self.bind(info, slot)
        return True

    def schedule_anywhere(self, info: PodInfo, acceptable: Mask | None = None, *, afresh: bool = False) -> int:
        """Put a pod on the next node that takes it, of those that are acceptable; the node's slot, or -1.

        `afresh`: the search begins at the first node.
        """
        if not self._order or info.template.rejection is not None:
            return -1
        if self._listed is None:
            self._listed = np.fromiter(self._order.values(), dtype=np.int64, count=len(self._order))
        slots = self._listed
        filters = Filters(self.matching, info)
        if filters.rejection is not None:
            return -1
        mask = filters.feasible() & ~self.cluster.unschedulable
        if acceptable is not None:
            mask &= acceptable
        if not mask.any():
            return -1
        found = np.flatnonzero(mask[slots])
        after = 0 if afresh else int(np.searchsorted(found, self._cursor % slots.size))
        index = int(found[after % found.size])
        self._cursor = (index + 1) % slots.size
        slot = int(slots[index])
        self.bind(info, slot)
        return slot
