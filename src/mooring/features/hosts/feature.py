"""Hosts as a feature: what the product must know of them, and nothing that takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.features.hosts.settings import SETTINGS
from mooring.kube.objects import Object
from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource
    from mooring.runtime.controller import Controller
    from mooring.runtime.webhooks.model import Webhook


def _resources() -> tuple[CustomResource, ...]:
    from mooring.features.hosts.api.definitions import RESOURCES

    return RESOURCES


def _controllers() -> tuple[Controller, ...]:
    from mooring.features.hosts.controllers import CONTROLLERS

    return CONTROLLERS


def _rules() -> tuple[Object, ...]:
    from mooring.features.hosts.access.agents import agent_rules

    return agent_rules()


def _webhooks() -> tuple[Webhook, ...]:
    from mooring.features.hosts.webhooks import WEBHOOKS

    return WEBHOOKS


def _plan_controllers() -> tuple[Controller, ...]:
    from mooring.features.hosts import plan_cluster_info, plan_nodes

    return (plan_cluster_info.CONTROLLER, plan_nodes.CONTROLLER)


def _machine_progress(obj: Object) -> str:
    status = obj.get("status", {})
    if status.get("ready"):
        return ""
    found = [each for each in status.get("conditions", ()) if each["type"] == "BYOHostReady"]
    return str(found[0].get("message", "")) if found else "no host is claimed yet"


HOSTS: Final = Feature(
    "hosts",
    resources=_resources,
    controllers=Parts(
        (
            "byohost",
            "byomachine",
            "byomachinetemplate",
            "byocluster",
            "k8sinstallerconfig",
            "bootstrapkubeconfig",
            "byoh-csr-approver",
            "byoh-agent-rights",
            "simulated-hosts",
        ),
        _controllers,
    ),
    rules=_rules,
    webhooks=Parts(("byohost-webhook", "bootstrapkubeconfig-webhook"), _webhooks),
    progress={("infrastructure.cluster.x-k8s.io/v1beta1", "ByoMachine"): _machine_progress},
    plan_controllers=_plan_controllers,
    upstream=dict.fromkeys(
        ("byohost", "byomachine", "byocluster", "k8sinstallerconfig", "bootstrapkubeconfig", "byoh-csr-approver"),
        "byoh-controller-manager",
    ),
    settings=SETTINGS,
    # On a real cluster an agent speaks for each host.
    on_request=frozenset({"simulated-hosts"}),
)
