"""The next node of a MachineDeployment or MachineSet, from its annotations and its infrastructure template alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from mooring.api.core.types import Labels
from mooring.features.autoscaler.settings import AutoscalerSettings, NodeGroupOptions
from mooring.features.autoscaler.templates.annotations import (
    Bounds,
    annotated_capacity,
    annotated_csi_drivers,
    annotated_devices,
    annotated_labels,
    annotated_options,
    annotated_taints,
    scaling_bounds,
)
from mooring.features.autoscaler.views import (
    AutoscalerMeta,
    AutoscalerNode,
    AutoscalerNodeSpec,
    AutoscalerNodeStatus,
    AutoscalerTaint,
)
from mooring.kube.errors import MooringError, QuantityError
from mooring.kube.objects import Object
from mooring.kube.quantities import Quantity, parse_quantity

__all__ = ["PoolTemplate", "ScalablePool", "SystemInfo", "infrastructure_reference", "pool_template", "read_pool"]

DEFAULT_ARCHITECTURE: Final = "amd64"
DEFAULT_OPERATING_SYSTEM: Final = "linux"
_ARCHITECTURE: Final = "kubernetes.io/arch"
_OPERATING_SYSTEM: Final = "kubernetes.io/os"
_HOSTNAME: Final = "kubernetes.io/hostname"
# What a node that the group has tells about those to come.
_TAKEN_FROM_NODES: Final = (
    _ARCHITECTURE,
    _OPERATING_SYSTEM,
    "beta.kubernetes.io/instance-type",
    "node.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
)
_CLUSTER_NAME: Final = "cluster.x-k8s.io/cluster-name"
_ROLE: Final = "node-role.kubernetes.io"
_MANAGED: Final = ("node-restriction.kubernetes.io", "node.cluster.x-k8s.io")


class SystemInfo(NamedTuple):
    architecture: str = ""
    operating_system: str = ""


class ScalablePool(msgspec.Struct, frozen=True):
    """A pool as its object tells; `capacity_error` says why no capacity could be read."""

    name: str
    bounds: Bounds
    # None where the object does not say.
    replicas: int | None
    capacity: Mapping[str, Quantity]
    capacity_error: str
    options: NodeGroupOptions

    @property
    def can_scale_from_zero(self) -> bool:
        return "cpu" in self.capacity and "memory" in self.capacity

    @property
    def is_group(self) -> bool:
        """Whether the pool can be scaled at all."""
        return self.bounds.max > 0 and (self.replicas != 0 or self.can_scale_from_zero)


class PoolTemplate(msgspec.Struct, frozen=True):
    """What a new node would be, but for its name."""

    labels: Labels
    taints: tuple[AutoscalerTaint, ...]
    capacity: Mapping[str, Quantity]
    system: SystemInfo
    devices: Mapping[str, int]
    csi_drivers: Mapping[str, int]

    def node(self, name: str) -> AutoscalerNode:
        amounts: dict[str, str | int | float] = {resource: str(amount) for resource, amount in self.capacity.items()}
        return AutoscalerNode(
            metadata=AutoscalerMeta(name=name, labels={_HOSTNAME: name, **self.labels}),
            spec=AutoscalerNodeSpec(taints=self.taints or None),
            status=AutoscalerNodeStatus(capacity=amounts, allocatable=amounts),
        )


class InfrastructureReference(NamedTuple):
    kind: str
    group: str
    # Empty where the reference leaves the version to the API server.
    version: str
    name: str


def infrastructure_reference(scalable: Object) -> InfrastructureReference | None:
    """What the pool's machines are made from. Raises MooringError where the reference is incomplete."""
    found = _text_map(scalable, "spec", "template", "spec", "infrastructureRef")
    if found is None:
        return None
    told = f"{scalable['kind']} {scalable['metadata']['name']}'s InfrastructureReference"
    for field, present in (
        ("kind", "kind" in found),
        ("apiVersion", "apiGroup" in found or "apiVersion" in found),
        ("name", "name" in found),
    ):
        if not present:
            raise MooringError(f"Missing {field} from {told}")
    if "apiGroup" in found:
        return InfrastructureReference(found["kind"], found["apiGroup"], "", found["name"])
    group, _, version = found["apiVersion"].rpartition("/")
    return InfrastructureReference(found["kind"], group, version, found["name"])


def read_pool(
    scalable: Object,
    infrastructure: Object | None,
    problem: str,
    defaults: NodeGroupOptions,
    host_capacity: Mapping[str, Quantity],
) -> ScalablePool:
    """Raises MooringError where the bounds cannot be read. `problem` says why there is no infrastructure template.

    What a host has is taken where neither annotations nor the infrastructure template tell.
    """
    metadata = scalable["metadata"]
    annotations = metadata.get("annotations") or {}
    bounds = scaling_bounds(annotations)
    error = ""
    try:
        capacity = annotated_capacity(annotations)
    except MooringError as unreadable:
        capacity, error = {}, unreadable.message
    else:
        if infrastructure is not None:
            capacity = {**host_capacity, **_infrastructure_capacity(infrastructure), **capacity}
        elif host_capacity:
            capacity = {**host_capacity, **capacity}
        elif len(capacity) == 1:
            # Nothing but the number of pods, which is always there.
            capacity, error = {}, problem
    return ScalablePool(
        f"{scalable['kind']}/{metadata['namespace']}/{metadata['name']}",
        bounds,
        scalable["spec"].get("replicas"),
        capacity,
        error,
        annotated_options(annotations, defaults),
    )


def pool_template(
    pool: ScalablePool,
    scalable: Object,
    infrastructure: Object | None,
    existing: AutoscalerNode | None,
    settings: AutoscalerSettings,
) -> PoolTemplate | None:
    """None where the pool does not say enough about a node."""
    if not pool.can_scale_from_zero:
        return None
    annotations = scalable["metadata"].get("annotations") or {}
    system = None if infrastructure is None else _system_info(infrastructure)
    labels = {_ARCHITECTURE: DEFAULT_ARCHITECTURE, _OPERATING_SYSTEM: DEFAULT_OPERATING_SYSTEM}
    if system is not None:
        labels |= {_ARCHITECTURE: system.architecture, _OPERATING_SYSTEM: system.operating_system}
    labels |= _managed_labels(scalable)
    taints = annotated_taints(annotations)
    if settings.template_labels_and_taints:
        labels |= _machine_labels(scalable)
        taints = (*_machine_taints(scalable, taints), *taints)
    labels |= annotated_labels(annotations)
    known = {} if existing is None else existing.metadata.labels or {}
    labels |= {key: known[key] for key in _TAKEN_FROM_NODES if known.get(key)}
    return PoolTemplate(
        labels,
        taints,
        pool.capacity,
        system or SystemInfo(),
        annotated_devices(annotations),
        annotated_csi_drivers(annotations),
    )


def _machine_labels(scalable: Object) -> dict[str, str]:
    """The labels of the Machine's template, which nodes get when they join, but for the name of the cluster."""
    found = _text_map(scalable, "spec", "template", "metadata", "labels") or {}
    return {key: value for key, value in found.items() if key != _CLUSTER_NAME}


def _machine_taints(scalable: Object, annotated: Iterable[AutoscalerTaint]) -> Iterable[AutoscalerTaint]:
    """The taints of the Machine's template that no annotation replaces."""
    replaced = {(taint.key, taint.effect) for taint in annotated}
    found = msgspec.convert(scalable["spec"]["template"]["spec"].get("taints") or [], list[AutoscalerTaint])
    return (taint for taint in found if (taint.key, taint.effect) not in replaced)


def _managed_labels(scalable: Object) -> dict[str, str]:
    """The labels that Cluster API hands on to nodes, read where upstream's autoscaler reads them."""
    found = _text_map(scalable, "spec", "template", "spec", "metadata", "labels") or {}
    return {key: value for key, value in found.items() if _is_managed(key.split("/")[0])}


def _is_managed(domain: str) -> bool:
    return domain == _ROLE or any(domain == each or domain.endswith(f".{each}") for each in _MANAGED)


def _infrastructure_capacity(infrastructure: Object) -> dict[str, Quantity]:
    found = {}
    for resource, text in (_text_map(infrastructure, "status", "capacity") or {}).items():
        try:
            found[resource] = parse_quantity(text)
        except QuantityError:
            continue
    return found


def _system_info(infrastructure: Object) -> SystemInfo:
    found = _text_map(infrastructure, "status", "nodeInfo") or {}
    return SystemInfo(found.get("architecture", ""), found.get("operatingSystem", ""))


def _text_map(obj: Any, *path: str) -> dict[str, str] | None:
    """A map of texts below a path; None where there is none, or something else."""
    for name in path:
        obj = obj.get(name) if isinstance(obj, dict) else None
    if not isinstance(obj, dict) or not all(isinstance(value, str) for value in obj.values()):
        return None
    return obj
