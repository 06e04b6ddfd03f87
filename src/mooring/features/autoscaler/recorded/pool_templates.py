"""Recorded requests about one pool: whether it is a node group, and what its next node would be."""

from __future__ import annotations

import msgspec

from mooring.features.autoscaler.settings import UPSTREAM, NodeGroupOptions
from mooring.features.autoscaler.templates.pool_template import infrastructure_reference, pool_template, read_pool
from mooring.features.autoscaler.views import AutoscalerNode
from mooring.kube.durations import duration_text
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

__all__ = ["answer_template"]

_NO_GROUP: Object = {"isGroup": False, "min": 0, "max": 0, "target": 0, "pods": 0}
# The mirror pod of kube-proxy, which every template holds.
_TEMPLATE_PODS = 1


def answer_template(request: Object) -> Object:
    scalable = request["scalable"]
    infrastructure, problem = _infrastructure(scalable, request.get("infrastructureTemplate"))
    try:
        pool = read_pool(scalable, infrastructure, problem, NodeGroupOptions(), {})
    except MooringError as error:
        return {"template": {**_NO_GROUP, "error": error.message}}
    told: Object = {"capacityError": pool.capacity_error} if pool.capacity_error else {}
    if not pool.is_group:
        return {"template": {**_NO_GROUP, **told}}
    template = pool_template(pool, scalable, infrastructure, _existing_node(request), UPSTREAM)
    told |= {
        "isGroup": True,
        "nodeGroup": pool.name,
        "min": pool.bounds.min,
        "max": pool.bounds.max,
        "target": pool.replicas or 0,
        "node": "notImplemented" if template is None else "built",
        "pods": 0 if template is None else _TEMPLATE_PODS,
        "options": _options(pool.options),
    }
    if template is not None:
        view = template.node("<node name>")
        told |= {
            "labels": view.metadata.labels,
            "taints": msgspec.to_builtins(view.spec.taints or ()),
            "capacity": view.status.capacity,
            "allocatable": view.status.allocatable,
            "devices": template.devices,
            "csiDrivers": template.csi_drivers,
        }
        system = {"architecture": template.system.architecture, "operatingSystem": template.system.operating_system}
        told |= {name: text for name, text in system.items() if text}
    return {"template": told}


def _existing_node(request: Object) -> AutoscalerNode | None:
    """The node of the group, as far as the recording saw it.

    To look for an infrastructure template started the recording's informers, which forgot the Machine of that node.
    """
    existing = request.get("existingNode")
    try:
        looked_up = infrastructure_reference(request["scalable"]) is not None
    except MooringError:
        looked_up = False
    return None if existing is None or looked_up else msgspec.convert(existing, AutoscalerNode)


def _infrastructure(scalable: Object, template: Object | None) -> tuple[Object | None, str]:
    """The infrastructure template that the pool's reference finds, or the reason why it finds none."""
    try:
        reference = infrastructure_reference(scalable)
    except MooringError as error:
        return None, error.message
    if reference is None:
        return None, ""
    if template is not None:
        group, _, version = template["apiVersion"].rpartition("/")
        name = template["metadata"]["name"]
        if (template["kind"], group, name) == (reference.kind, reference.group, reference.name) and (
            reference.version in ("", version)
        ):
            return template, ""
    return None, f'{reference.kind.lower()}s.{reference.group} "{reference.name}" not found'


def _options(options: NodeGroupOptions) -> Object:
    return {
        "maxNodeProvisionTime": duration_text(options.max_node_provision_time),
        "maxNodeStartupTime": duration_text(options.max_node_startup_time),
        "scaleDownGpuUtilizationThreshold": options.scale_down_gpu_utilization_threshold,
        "scaleDownUnneededTime": duration_text(options.scale_down_unneeded_time),
        "scaleDownUnreadyTime": duration_text(options.scale_down_unready_time),
        "scaleDownUtilizationThreshold": options.scale_down_utilization_threshold,
    }
