"""Rows of kinds of small groups: leases, priority classes, runtime classes, devices."""

from datetime import datetime

from mooring.apiserver.tables.printing import Cells, age, name, part, printer
from mooring.kube.objects import Object

__all__: list[str] = []


@printer("coordination.k8s.io/v1", "Lease", "Name, Holder, Age")
def _lease(obj: Object, now: datetime) -> Cells:
    return [name(obj), part(obj, "spec").get("holderIdentity") or "", age(obj, now)]


@printer(
    "scheduling.k8s.io/v1",
    "PriorityClass",
    "Name, Value:integer, Global-Default:boolean, Age, PreemptionPolicy",
)
def _priority_class(obj: Object, now: datetime) -> Cells:
    return [
        name(obj),
        obj.get("value") or 0,
        bool(obj.get("globalDefault")),
        age(obj, now),
        obj.get("preemptionPolicy") or "",
    ]


@printer("node.k8s.io/v1", "RuntimeClass", "Name, Handler, Age")
def _runtime_class(obj: Object, now: datetime) -> Cells:
    return [name(obj), obj.get("handler") or "", age(obj, now)]


@printer("resource.k8s.io/v1", "DeviceClass", "Name, Age")
@printer("resource.k8s.io/v1", "ResourceClaimTemplate", "Name, Age")
def _named(obj: Object, now: datetime) -> Cells:
    return [name(obj), age(obj, now)]


@printer("resource.k8s.io/v1", "ResourceClaim", "Name, State, Age")
def _resource_claim(obj: Object, now: datetime) -> Cells:
    status, deleted = part(obj, "status"), "deletionTimestamp" in obj["metadata"]
    states = ["deleted"] if deleted else []
    if status.get("allocation") is not None:
        states += ["allocated", "reserved"] if status.get("reservedFor") else ["allocated"]
    elif not deleted:
        states.append("pending")
    return [name(obj), ",".join(states), age(obj, now)]


@printer("resource.k8s.io/v1", "ResourceSlice", "Name, Node, Driver, Pool, Age")
def _resource_slice(obj: Object, now: datetime) -> Cells:
    spec, pool = part(obj, "spec"), part(obj, "spec", "pool")
    return [name(obj), spec.get("nodeName") or "", spec.get("driver") or "", pool.get("name") or "", age(obj, now)]
