"""LeaderWorkerSets as a feature: what the product must know of them, and nothing that takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.kube.objects import Object
from mooring.runtime.feature import Feature, Parts

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource
    from mooring.placement.workloads.kinds import WorkloadKind
    from mooring.runtime.controller import Controller
    from mooring.runtime.webhooks.model import Webhook


def _resources() -> tuple[CustomResource, ...]:
    from mooring.features.groups.definition import LEADER_WORKER_SETS

    return (LEADER_WORKER_SETS,)


def _controllers() -> tuple[Controller, ...]:
    from mooring.features.groups import controller, group_controller

    return (controller.CONTROLLER, group_controller.CONTROLLER)


def _webhooks() -> tuple[Webhook, ...]:
    from mooring.features.groups.webhooks import WEBHOOKS

    return WEBHOOKS


def _workloads() -> tuple[WorkloadKind, ...]:
    from mooring.features.groups.workload import LEADER_WORKER_SETS

    return (LEADER_WORKER_SETS,)


def _plan_controllers() -> tuple[Controller, ...]:
    from mooring.features.groups.plan_garbage import CONTROLLER

    return (CONTROLLER,)


def _progress(obj: Object) -> str:
    wanted, ready = obj.get("spec", {}).get("replicas"), obj.get("status", {}).get("readyReplicas", 0)
    if not isinstance(wanted, int) or ready >= wanted:
        return ""
    return f"{ready:,} of {wanted:,} groups are ready"


GROUPS: Final = Feature(
    "groups",
    resources=_resources,
    controllers=Parts(("lws", "lws-groups"), _controllers),
    webhooks=Parts(("lws-webhook", "lws-pod-webhook"), _webhooks),
    workloads=Parts(("LeaderWorkerSet",), _workloads),
    progress={("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): _progress},
    plan_controllers=_plan_controllers,
    add_ons=frozenset({"lws-pod-webhook"}),
)
