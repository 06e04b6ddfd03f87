"""A cluster in memory with pools, hosts, a scheduler and the autoscaler, in virtual time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mooring.builtin.apps.replicaset.controller import CONTROLLER as REPLICA_SETS
from mooring.builtin.nodelifecycle.controller import CONTROLLER as NODE_LIFECYCLE
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.features.autoscaler.controller import CONTROLLER
from mooring.kube.objects import Object
from mooring.runtime.settings import Configuration
from mooring.testing.builders import pod
from mooring.testing.hosts import byo_host
from tests.features.machines.world import CONTROLLERS, PoolWorld

# Pods with GPUs need not wait.
AT_ONCE = {"new-gpu-pod-delay": "0s"}
EVERYBODY = (*CONTROLLERS, SCHEDULER, NODE_LIFECYCLE, REPLICA_SETS, CONTROLLER)


def gpu_host(name: str = "g1") -> Object:
    return byo_host(name, labels={"purpose": "gpu"}, gpu=1)


def gpu_pod(name: str = "train", **parts: Any) -> Object:
    return pod(name, gpu=1, nodeSelector={"purpose": "gpu"}, **parts)


class ScaledWorld(PoolWorld):
    def __init__(
        self, *objects: Object, hosts: Iterable[Object] = (), settings: Mapping[str, str] | None = None, **parts: Any
    ) -> None:
        configuration = Configuration(settings={**AT_ONCE, **(settings or {})})
        parts = {"controllers": EVERYBODY, **parts}
        super().__init__(*objects, hosts=hosts, configuration=configuration, **parts)

    @property
    def targets(self) -> dict[str, int]:
        return {name: pool["spec"]["replicas"] for name, pool in self.all("MachineDeployment").items()}

    def node_of(self, name: str) -> str:
        return str(self.get("Pod", name)["spec"].get("nodeName", ""))

    @property
    def log(self) -> list[str]:
        """What the autoscaler has said, without the time."""
        found = self.registry.get(self.registry.resource("v1", "ConfigMap"), "kube-system", "cluster-autoscaler-status")
        return [line.partition(" ")[2] for line in found["data"]["log"].splitlines()]
