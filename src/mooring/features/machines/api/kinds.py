"""The kinds of cluster.x-k8s.io as controllers of any feature read them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mooring.api.kinds import HasMeta, Kind
from mooring.features.machines.api.clusters import Cluster
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.machine_sets import MachineSet
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import API_VERSION

__all__ = ["CLUSTER", "MACHINE", "MACHINE_DEPLOYMENT", "MACHINE_SET", "cluster_index"]


def cluster_index(namespace: str, name: str) -> str:
    """The value of index `cluster`: what belongs to one Cluster."""
    return f"{namespace}/{name}"


def _by_cluster(obj: Machine | MachineSet | MachineDeployment) -> Iterable[str]:
    return (cluster_index(obj.metadata.namespace, obj.spec.cluster_name),)


def _orphans(obj: HasMeta) -> Iterable[str]:
    """By namespace, objects without a controller."""
    meta = obj.metadata
    return (meta.namespace,) if meta.controller is None and not meta.deleting else ()


CLUSTER: Final = Kind(API_VERSION, "Cluster", Cluster, optional=True)
MACHINE_DEPLOYMENT: Final = Kind(
    API_VERSION,
    "MachineDeployment",
    MachineDeployment,
    indexes={"cluster": _by_cluster},
    placed_by=("spec",),
    optional=True,
)
MACHINE_SET: Final = Kind(
    API_VERSION,
    "MachineSet",
    MachineSet,
    indexes={"cluster": _by_cluster, "orphan": _orphans},
    placed_by=("spec",),
    optional=True,
)
MACHINE: Final = Kind(
    API_VERSION,
    "Machine",
    Machine,
    indexes={"cluster": _by_cluster, "orphan": _orphans},
    placed_by=("spec",),
    optional=True,
)
