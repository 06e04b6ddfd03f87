"""A snapshot of a cluster, taken object by object from what `kubectl get -o yaml` printed.

Objects arrive as typed views in any order and go straight into the cluster's columns, so a snapshot needs little more
memory than the cluster made of it. An object that cannot be used says which field is to blame.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Any, Final

import msgspec

from mooring.api.apps.owners import ReplicaSet, StatefulSet
from mooring.api.core.types import Container, Namespace, Node, ObjectMeta, Pod, ReplicationController, Service, View
from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.node.views import RuntimeClass
from mooring.api.policy.budgets import PodDisruptionBudget
from mooring.api.resource.views import DeviceClass, ResourceClaim, ResourceClaimTemplate, ResourceSlice
from mooring.api.scheduling.priority_classes import SYSTEM_PRIORITIES
from mooring.api.scheduling.views import PriorityClass
from mooring.api.storage.views import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    StorageClass,
    VolumeAttachment,
    VolumeStatus,
)
from mooring.kube.errors import MooringError, QuantityError
from mooring.kube.quantities import parse_quantity
from mooring.placement.devices.dra_manager import DEVICE_KINDS
from mooring.placement.devices.unknowns import claim_unknowns
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.unknowns import Unknown, volume_unknowns
from mooring.placement.volumes.storage_cache import STORAGE_VIEWS


class SnapshotContents(View, frozen=True):
    """The kinds that a snapshot holds all objects of, none at all included."""

    metadata: ObjectMeta = ObjectMeta()
    kinds: tuple[str, ...] = ()


VIEWS: Final[dict[tuple[str, str], type[msgspec.Struct]]] = {
    ("v1", "Node"): Node,
    ("v1", "Pod"): Pod,
    ("v1", "Namespace"): Namespace,
    ("v1", "Service"): Service,
    ("v1", "ReplicationController"): ReplicationController,
    ("apps/v1", "ReplicaSet"): ReplicaSet,
    ("apps/v1", "StatefulSet"): StatefulSet,
    ("policy/v1", "PodDisruptionBudget"): PodDisruptionBudget,
    ("scheduling.k8s.io/v1", "PriorityClass"): PriorityClass,
    ("v1", "PersistentVolumeClaim"): PersistentVolumeClaim,
    ("v1", "PersistentVolume"): PersistentVolume,
    ("storage.k8s.io/v1", "StorageClass"): StorageClass,
    ("storage.k8s.io/v1", "CSINode"): CSINode,
    ("storage.k8s.io/v1", "CSIDriver"): CSIDriver,
    ("storage.k8s.io/v1", "CSIStorageCapacity"): CSIStorageCapacity,
    ("storage.k8s.io/v1", "VolumeAttachment"): VolumeAttachment,
    ("node.k8s.io/v1", "RuntimeClass"): RuntimeClass,
    **{("resource.k8s.io/v1", kind): view for kind, view in DEVICE_KINDS.items()},
}
"""What a snapshot is read as, by apiVersion and kind. Objects of other kinds do not matter to placement."""

CONTENTS: Final = ("mooring.dev/v1", "SnapshotContents")
"""The kind of the object in which a snapshot file says what was read for it."""

CLUSTER_WIDE: Final = (
    SnapshotContents,
    Node,
    Namespace,
    PriorityClass,
    PersistentVolume,
    StorageClass,
    CSINode,
    CSIDriver,
    VolumeAttachment,
    RuntimeClass,
    DeviceClass,
    ResourceSlice,
)

SOMETIMES_ABSENT: Final = frozenset({"RuntimeClass", *(view.__name__ for view in STORAGE_VIEWS), *DEVICE_KINDS})
"""Kinds of which people's snapshots may hold nothing although the cluster has some."""

# msgspec works out the fields of a view anew each time, which takes as long as reading an object.
_wire_fields: dict[type[Any], list[tuple[str, str, Any]]] = {}
_RESOURCE_LISTS: Final = frozenset({"allocatable", "allocatedResources", "capacity", "limits", "overhead", "requests"})


class Snapshot:
    """A cluster and what surrounds it. The views of pods that are `wanted` are kept, by `namespace/name`."""

    def __init__(self, nodes: int = 64, wanted: Callable[[Pod], bool] | None = None) -> None:
        self.cluster = SchedulerCache(nodes)
        self.priority_classes: dict[str, PriorityClass] = {}
        self.runtime_classes: dict[str, RuntimeClass] = {}
        # Kinds of which it is not known whether the cluster has objects beside those that are here.
        self.unread_kinds: set[str] = set(SOMETIMES_ABSENT)
        # Claims that nothing has acted on yet: those that a workload brings with it.
        self.new_claims: set[str] = set()
        self.kept: dict[str, Pod] = {}
        self._wanted = wanted

    def add(self, view: msgspec.Struct) -> None:
        """Take an object in. Raises MooringError, with the path of the field, when it cannot be used."""
        try:
            self._add(view)
        except QuantityError as error:
            raise _located(view, error) from None
        except OverflowError:
            raise MooringError("holds a number that does not fit into 64 bits") from None

    def _add(self, view: msgspec.Struct) -> None:
        cluster = self.cluster
        match view:
            case Pod():
                _require_name(view)
                view = _with_requests(view)
                if self._wanted is not None and self._wanted(view):
                    self.kept[f"{view.metadata.namespace}/{view.metadata.name}"] = view
                cluster.set_pod(view)
            case Node():
                _require_name(view)
                cluster.set_node(view)
            case Namespace():
                cluster.set_namespace(view)
            case Service():
                cluster.default_selectors.set_service(view)
            case ReplicaSet() | StatefulSet() | ReplicationController():
                cluster.default_selectors.set_owner(type(view).__name__, view)
            case PodDisruptionBudget():
                cluster.set_budget(view)
            case PriorityClass():
                self.priority_classes[view.metadata.name] = view
            case SnapshotContents():
                self.unread_kinds.difference_update(view.kinds)
            case RuntimeClass():
                self.runtime_classes[view.metadata.name] = view
                self.unread_kinds.discard("RuntimeClass")
            case DeviceClass() | ResourceSlice() | ResourceClaim() | ResourceClaimTemplate():
                cluster.devices.set(view)
                self.unread_kinds.discard(type(view).__name__)
            case _:
                cluster.storage.set(view)
                self.unread_kinds.discard(type(view).__name__)

    def add_new_claim(self, claim: PersistentVolumeClaim) -> None:
        """Take in a claim that is about to be made. One that exists stays as it is; the default class is filled in."""
        storage, key = self.cluster.storage, f"{claim.metadata.namespace}/{claim.metadata.name}"
        if key in storage.claims:
            return
        replace = msgspec.structs.replace
        if claim.spec.storage_class_name is None and claim.metadata.annotations.storage_class is None:
            marked = [each.metadata for each in storage.classes.values() if each.is_default]
            newest = max((each.creation_timestamp or "" for each in marked), default="")
            names = [each.name for each in marked if (each.creation_timestamp or "") == newest]
            claim = replace(claim, spec=replace(claim.spec, storage_class_name=min(names, default=None)))
        storage.set(claim)
        self.new_claims.add(key)

    def add_new_volume(self, volume: PersistentVolume) -> None:
        """Take in a volume that is about to be made, and is free then. One that exists stays as it is."""
        if volume.metadata.name not in self.cluster.storage.volumes:
            phase = volume.status.phase or "Available"
            self.cluster.storage.set(msgspec.structs.replace(volume, status=VolumeStatus(phase)))

    def remove(self, view: msgspec.Struct) -> None:
        """Forget an object that was taken in."""
        cluster = self.cluster
        match view:
            case Pod(metadata=metadata):
                cluster.remove_pod(f"{metadata.namespace}/{metadata.name}")
            case Node(metadata=metadata):
                cluster.remove_node(metadata.name)
            case Namespace(metadata=metadata):
                cluster.remove_namespace(metadata.name)
            case Service(metadata=metadata):
                cluster.default_selectors.remove_service(metadata.namespace, metadata.name)
            case (
                ReplicaSet(metadata=metadata)
                | StatefulSet(metadata=metadata)
                | ReplicationController(metadata=metadata)
            ):
                cluster.default_selectors.remove_owner(type(view).__name__, metadata.namespace, metadata.name)
            case PodDisruptionBudget(metadata=metadata):
                cluster.remove_budget(f"{metadata.namespace}/{metadata.name}")
            case PriorityClass(metadata=metadata):
                del self.priority_classes[metadata.name]
            case RuntimeClass(metadata=metadata):
                del self.runtime_classes[metadata.name]
            case DeviceClass() | ResourceSlice() | ResourceClaim() | ResourceClaimTemplate():
                cluster.devices.remove(view)
            case _:
                cluster.storage.remove(view)

    def unknowns(self, pod: PodInfo) -> list[Unknown]:
        """What cannot be known of a pod from what was read."""
        found = volume_unknowns(self.cluster.storage, pod, self.unread_kinds, self.new_claims) if pod.volumes else []
        return [*found, *claim_unknowns(self.cluster.devices, pod, self.unread_kinds)]

    @property
    def priorities(self) -> dict[str, int]:
        """The value of every priority class by name."""
        return {**SYSTEM_PRIORITIES, **{name: found.value for name, found in self.priority_classes.items()}}

    def remarks(self, explained: Collection[str]) -> list[str]:
        """What the snapshot leaves open, as sentences. `explained` are the pods that are asked about."""
        cluster = self.cluster
        found = []
        pending = [
            p.key for p in cluster.pods.values() if not p.node_name and not p.finished and p.key not in explained
        ]
        if len(pending) == 1:
            found.append(f"pod {pending[0]} waits for a node too and was not placed first")
        elif pending:
            found.append(f"{len(pending):,} other pods wait for a node and were not placed first")
        homeless = {name: pods for name, pods in cluster.waiting.items() if pods}
        if homeless:
            count = sum(map(len, homeless.values()))
            names = ", ".join(sorted(homeless)[:3]) + (", ..." if len(homeless) > 3 else "")
            found.append(f"{'1 pod is' if count == 1 else f'{count:,} pods are'} on nodes that are not there ({names})")
        return found


def describe(view: Any) -> str:
    """An object by kind and name, as people refer to it: `Pod default/web`."""
    name, namespace = view.metadata.name or "without a name", view.metadata.namespace
    kind = type(view).__name__
    return f"{kind} {name}" if isinstance(view, CLUSTER_WIDE) or not namespace else f"{kind} {namespace}/{name}"


def wire_fields(view: type[Any]) -> list[tuple[str, str, Any]]:
    """Name, name on the wire and default of every field, in the order in which kubectl prints them."""
    found = _wire_fields.get(view)
    if found is None:
        fields = [(field.name, field.encode_name, field.default) for field in msgspec.structs.fields(view)]
        found = _wire_fields[view] = sorted(fields, key=lambda field: field[1])
    return found


def to_object(view: Any) -> Any:
    """A view as the plain object it was read from, as far as the view tells."""
    if isinstance(view, msgspec.Struct):
        return {
            wire_name: to_object(value)
            for name, wire_name, default in wire_fields(type(view))
            if (value := getattr(view, name)) != default
        }
    if isinstance(view, tuple):
        return [to_object(item) for item in view]
    return dict(view) if isinstance(view, dict) else view


def _with_requests(pod: Pod) -> Pod:
    """What a limit is set for is requested too; the API server sees to that, people who write snapshots may not."""
    spec = pod.spec
    containers, init = _completed(spec.containers), _completed(spec.init_containers)
    if containers is spec.containers and init is spec.init_containers:
        return pod
    replace = msgspec.structs.replace
    return replace(pod, spec=replace(spec, containers=containers, init_containers=init))


def _completed(containers: tuple[Container, ...] | None) -> tuple[Container, ...] | None:
    """The same object where nothing is missing, which is the rule."""
    replace = msgspec.structs.replace
    for container in containers or ():
        limits, asked = container.resources.limits, container.resources.requests
        if limits and (asked is None or limits.keys() - asked.keys()):
            break
    else:
        return containers
    completed = ((c.resources.limits or {}) | (c.resources.requests or {}) for c in containers or ())
    return tuple(
        replace(c, resources=replace(c.resources, requests=amounts))
        for c, amounts in zip(containers or (), completed, strict=True)
    )


def _require_name(view: Pod | Node) -> None:
    if not view.metadata.name:
        raise MooringError("a name is needed", "metadata.name")


def _located(view: msgspec.Struct, error: QuantityError) -> MooringError:
    """The same error with the path of the quantity that cannot be read."""
    for path, quantity in _quantities(msgspec.to_builtins(view), "", False):
        try:
            parse_quantity(quantity)
        except QuantityError:
            return MooringError(f'"{quantity}" is not a quantity: {error.message}', path)
    return error


def _quantities(value: Any, path: str, inside: bool) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for key, item in value.items():
            here = f"{path}[{key}]" if inside else f"{path}.{key}" if path else key
            if inside:
                yield here, item
            else:
                yield from _quantities(item, here, key in _RESOURCE_LISTS)
    elif isinstance(value, list | tuple):
        for i, item in enumerate(value):
            yield from _quantities(item, f"{path}[{i}]", False)
