"""The kinds of cluster.x-k8s.io as controllers of any feature read them."""

from __future__ import annotations

from typing import Final

from mooring.api.kinds import Kind
from mooring.features.machines.api.clusters import Cluster
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.machine_sets import MachineSet
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import API_VERSION

__all__ = ["CLUSTER", "MACHINE", "MACHINE_DEPLOYMENT", "MACHINE_SET"]

CLUSTER: Final = Kind(API_VERSION, "Cluster", Cluster, optional=True)
MACHINE_DEPLOYMENT: Final = Kind(API_VERSION, "MachineDeployment", MachineDeployment, optional=True)
MACHINE_SET: Final = Kind(API_VERSION, "MachineSet", MachineSet, optional=True)
MACHINE: Final = Kind(API_VERSION, "Machine", Machine, optional=True)
