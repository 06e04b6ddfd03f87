"""Machines as a feature: what the product must know of them, and nothing that takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.kube.objects import Object
from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource
    from mooring.placement.node_pools import NodePoolKind
    from mooring.runtime.controller import Controller
    from mooring.runtime.webhooks.model import Webhook

_API_VERSION: Final = "cluster.x-k8s.io/v1beta2"


def _resources() -> tuple[CustomResource, ...]:
    from mooring.features.machines.api.resources import RESOURCES

    return RESOURCES


def _controllers() -> tuple[Controller, ...]:
    from mooring.features.machines import cluster
    from mooring.features.machines.machine import controller as machine
    from mooring.features.machines.pools import deployment, machine_set

    return (cluster.CONTROLLER, deployment.CONTROLLER, machine_set.CONTROLLER, machine.CONTROLLER)


def _webhooks() -> tuple[Webhook, ...]:
    from mooring.features.machines.webhooks import WEBHOOKS

    return WEBHOOKS


def pool_progress(obj: Object) -> str:
    status = obj.get("status", {})
    wanted, ready = obj.get("spec", {}).get("replicas"), status.get("readyReplicas", 0)
    wanted = 1 if wanted is None else wanted
    if ready >= wanted:
        return _waits(status, "RollingOut")
    blocked = _waits(status, "RollingOut") or _message(status, "MachinesReady")
    return f"{ready:,} of {wanted:,} Machines are ready" + (f": {blocked}" if blocked else "")


def _waits(status: Object, kind: str) -> str:
    found = [each for each in status.get("conditions", ()) if each["type"] == kind and each["status"] == "True"]
    return found[0].get("message", "") if found else ""


def _message(status: Object, kind: str) -> str:
    found = [each for each in status.get("conditions", ()) if each["type"] == kind and each["status"] != "True"]
    return found[0].get("message", "") if found else ""


def _machine_progress(obj: Object) -> str:
    status = obj.get("status", {})
    going = _waits(status, "Deleting")
    return going or _message(status, "Ready")


def _node_pools() -> tuple[NodePoolKind, ...]:
    from mooring.features.machines.node_pools import MACHINE_DEPLOYMENTS

    return (MACHINE_DEPLOYMENTS,)


MACHINES: Final = Feature(
    "machines",
    resources=_resources,
    controllers=Parts(("cluster", "machinedeployment", "machineset", "machine"), _controllers),
    webhooks=Parts(("machines-webhook",), _webhooks),
    node_pools=_node_pools,
    progress={
        (_API_VERSION, "MachineDeployment"): pool_progress,
        (_API_VERSION, "MachineSet"): pool_progress,
        (_API_VERSION, "Machine"): _machine_progress,
    },
)
