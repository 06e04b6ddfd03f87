"""Rows of the core group's kinds that are about a cluster and its settings: nodes, namespaces, secrets, quotas."""

from datetime import datetime
from typing import Final

from mooring.apiserver.tables.printing import (
    NONE,
    Cells,
    age,
    containers,
    items,
    joined_labels,
    name,
    part,
    printer,
    quantity,
)
from mooring.kube.objects import Object

__all__: list[str] = []

_ROLE_PREFIX: Final = "node-role.kubernetes.io/"
_ROLE: Final = "kubernetes.io/role"


@printer("v1", "ConfigMap", "Name, Data, Age")
def _config_map(obj: Object, now: datetime) -> Cells:
    return [name(obj), len(part(obj, "data")) + len(part(obj, "binaryData")), age(obj, now)]


@printer("v1", "Secret", "Name, Type, Data, Age")
def _secret(obj: Object, now: datetime) -> Cells:
    return [name(obj), obj.get("type") or "", len(part(obj, "data")), age(obj, now)]


@printer("v1", "ServiceAccount", "Name, Age")
def _service_account(obj: Object, now: datetime) -> Cells:
    return [name(obj), age(obj, now)]


@printer("v1", "Namespace", "Name, Status, Age")
def _namespace(obj: Object, now: datetime) -> Cells:
    return [name(obj), part(obj, "status").get("phase") or "", age(obj, now)]


@printer(
    "v1",
    "Node",
    "Name, Status, Roles, Age, Version, Internal-IP+, External-IP+, OS-Image+, Kernel-Version+, Container-Runtime+",
)
def _node(obj: Object, now: datetime) -> Cells:
    status = part(obj, "status")
    info = part(status, "nodeInfo")
    return [
        name(obj),
        _node_status(obj),
        ",".join(sorted(_roles(part(obj, "metadata", "labels")))) or NONE,
        age(obj, now),
        info.get("kubeletVersion") or "",
        _address(items(status, "addresses"), "InternalIP"),
        _address(items(status, "addresses"), "ExternalIP"),
        info.get("osImage") or "<unknown>",
        info.get("kernelVersion") or "<unknown>",
        info.get("containerRuntimeVersion") or "<unknown>",
    ]


def _node_status(obj: Object) -> str:
    ready = {each.get("type"): each.get("status") for each in items(part(obj, "status"), "conditions")}.get("Ready")
    word = "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    return f"{word},SchedulingDisabled" if part(obj, "spec").get("unschedulable") else word


def _roles(labels: dict[str, str]) -> set[str]:
    found = {key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)}
    return (found | {labels.get(_ROLE, "")}) - {""}


def _address(addresses: list[Object], kind: str) -> str:
    return next((each.get("address") or "" for each in addresses if each.get("type") == kind), NONE)


@printer("v1", "PodTemplate", "Name, Containers, Images, Pod Labels")
def _pod_template(obj: Object, now: datetime) -> Cells:
    labels = part(obj, "template", "metadata", "labels")
    return [name(obj), *containers(part(obj, "template", "spec")), joined_labels(labels)]


@printer("v1", "ResourceQuota", "Name, Request, Limit, Age")
def _resource_quota(obj: Object, now: datetime) -> Cells:
    hard, used = part(obj, "status", "hard"), part(obj, "status", "used")
    requests: list[str] = []
    limits: list[str] = []
    for resource in sorted(hard):
        column = limits if resource.startswith("limits.") else requests
        column.append(f"{resource}: {quantity(used.get(resource))}/{quantity(hard[resource])}")
    return [name(obj), ", ".join(requests), ", ".join(limits), age(obj, now)]
