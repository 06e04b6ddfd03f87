"""The kinds of cluster.x-k8s.io as custom resources: versions, columns, short names, and the scale sub-resource."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.api.crds.conversion import Spoke
from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, ScaleSubresource, Version
from mooring.features.machines.api.clusters import Cluster
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.machine_sets import MachineSet
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import GROUP, OLD_VERSION, VERSION
from mooring.features.machines.api.v1beta1 import conversion
from mooring.features.machines.api.v1beta1.clusters import OldCluster
from mooring.features.machines.api.v1beta1.machines import OldMachine, OldMachineDeployment, OldMachineSet

__all__ = ["CLUSTERS", "MACHINES", "MACHINE_DEPLOYMENTS", "MACHINE_SETS", "RESOURCES"]

# Upstream's priority of columns that -o wide shows.
_WIDE: Final = 10
_SCALE: Final = ScaleSubresource(label_selector=".status.selector")


def _text(name: str, path: str, *, wide: bool = False) -> PrinterColumn:
    return PrinterColumn(name, "string", path, priority=_WIDE if wide else 0)


def _number(name: str, path: str, *, wide: bool = False) -> PrinterColumn:
    return PrinterColumn(name, "integer", path, priority=_WIDE if wide else 0)


def _condition(name: str, kind: str, *, wide: bool = False) -> PrinterColumn:
    return _text(name, f'.status.conditions[?(@.type=="{kind}")].status', wide=wide)


def _address(name: str, kind: str) -> PrinterColumn:
    return _text(name, f'.status.addresses[?(@.type=="{kind}")].address', wide=True)


_CLUSTER: Final = _text("Cluster", ".spec.clusterName")
_PAUSED: Final = _condition("Paused", "Paused", wide=True)
_PHASE: Final = _text("Phase", ".status.phase")
_AVAILABLE: Final = _condition("Available", "Available")
_POOL_VERSION: Final = _text("Version", ".spec.template.spec.version")
_COUNTS: Final = (
    _number("Desired", ".spec.replicas"),
    _number("Current", ".status.replicas"),
    _number("Ready", ".status.readyReplicas"),
    _number("Available", ".status.availableReplicas"),
    _number("Up-to-date", ".status.upToDateReplicas"),
)
_OLD_DESIRED: Final = _number("Desired", ".spec.replicas", wide=True)
_OLD_REPLICAS: Final = _number("Replicas", ".status.replicas")
_OLD_READY: Final = _number("Ready", ".status.readyReplicas")


def _part(letter: str, part: str) -> tuple[PrinterColumn, ...]:
    """Columns of control plane or workers."""
    return (
        _number(f"{letter} Desired", f".status.{part}.desiredReplicas"),
        _number(f"{letter} Current", f".status.{part}.replicas", wide=True),
        _number(f"{letter} Ready", f".status.{part}.readyReplicas", wide=True),
        _number(f"{letter} Available", f".status.{part}.availableReplicas"),
        _number(f"{letter} Up-to-date", f".status.{part}.upToDateReplicas"),
    )


def _old(
    view: type[msgspec.Struct], columns: tuple[PrinterColumn, ...], spoke: Spoke, scale: ScaleSubresource | None = None
) -> Version:
    return Version(OLD_VERSION, view, columns=columns, scale=scale, conversion=spoke, deprecated=True)


CLUSTERS: Final = CustomResource(
    GROUP,
    "Cluster",
    "clusters",
    versions=(
        _old(
            OldCluster,
            (_text("ClusterClass", ".spec.topology.class"), _PHASE, AGE, _text("Version", ".spec.topology.version")),
            conversion.CLUSTERS,
        ),
        Version(
            VERSION,
            Cluster,
            columns=(
                _text("ClusterClass", ".spec.topology.classRef.name"),
                _AVAILABLE,
                *_part("CP", "controlPlane"),
                *_part("W", "workers"),
                _PAUSED,
                _PHASE,
                AGE,
                _text("Version", ".spec.topology.version"),
            ),
        ),
    ),
    short_names=("cl",),
    categories=("cluster-api",),
)
MACHINE_DEPLOYMENTS: Final = CustomResource(
    GROUP,
    "MachineDeployment",
    "machinedeployments",
    versions=(
        _old(
            OldMachineDeployment,
            (
                _CLUSTER,
                _OLD_DESIRED,
                _OLD_REPLICAS,
                _OLD_READY,
                _number("Updated", ".status.updatedReplicas"),
                _number("Unavailable", ".status.unavailableReplicas"),
                _PHASE,
                AGE,
                _POOL_VERSION,
            ),
            conversion.MACHINE_DEPLOYMENTS,
            _SCALE,
        ),
        Version(
            VERSION,
            MachineDeployment,
            columns=(_CLUSTER, _AVAILABLE, *_COUNTS, _PAUSED, _PHASE, AGE, _POOL_VERSION),
            scale=_SCALE,
        ),
    ),
    short_names=("md",),
    categories=("cluster-api",),
)
MACHINE_SETS: Final = CustomResource(
    GROUP,
    "MachineSet",
    "machinesets",
    versions=(
        _old(
            OldMachineSet,
            (
                _CLUSTER,
                _OLD_DESIRED,
                _OLD_REPLICAS,
                _OLD_READY,
                _number("Available", ".status.availableReplicas"),
                AGE,
                _POOL_VERSION,
            ),
            conversion.MACHINE_SETS,
            _SCALE,
        ),
        Version(VERSION, MachineSet, columns=(_CLUSTER, *_COUNTS, _PAUSED, AGE, _POOL_VERSION), scale=_SCALE),
    ),
    short_names=("ms",),
    categories=("cluster-api",),
)
MACHINES: Final = CustomResource(
    GROUP,
    "Machine",
    "machines",
    versions=(
        _old(
            OldMachine,
            (
                _CLUSTER,
                _text("NodeName", ".status.nodeRef.name"),
                _text("ProviderID", ".spec.providerID"),
                _PHASE,
                AGE,
                _text("Version", ".spec.version"),
            ),
            conversion.MACHINES,
        ),
        Version(
            VERSION,
            Machine,
            columns=(
                _CLUSTER,
                _text("Node Name", ".status.nodeRef.name"),
                _text("Provider ID", ".spec.providerID", wide=True),
                _text("Failure domain", ".status.failureDomain"),
                _condition("Ready", "Ready"),
                _AVAILABLE,
                _condition("Up-to-date", "UpToDate"),
                _address("Internal-IP", "InternalIP"),
                _address("External-IP", "ExternalIP"),
                _text("OS-Image", ".status.nodeInfo.osImage", wide=True),
                _PAUSED,
                _PHASE,
                AGE,
                _text("Version", ".spec.version"),
            ),
        ),
    ),
    short_names=("ma",),
    categories=("cluster-api",),
)
RESOURCES: Final = (CLUSTERS, MACHINE_DEPLOYMENTS, MACHINE_SETS, MACHINES)
