"""Machines as a feature: what the product must know of them, and nothing that takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.features.machines.api.progress import machine_progress, pool_progress
from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource
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


MACHINES: Final = Feature(
    "machines",
    resources=_resources,
    controllers=Parts(("cluster", "machinedeployment", "machineset", "machine"), _controllers),
    webhooks=Parts(("machines-webhook",), _webhooks),
    upstream=dict.fromkeys(("cluster", "machinedeployment", "machineset", "machine"), "capi-controller-manager"),
    progress={
        (_API_VERSION, "MachineDeployment"): pool_progress,
        (_API_VERSION, "MachineSet"): pool_progress,
        (_API_VERSION, "Machine"): machine_progress,
    },
)
