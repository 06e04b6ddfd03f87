"""Rows of kinds of small groups: leases, priority classes, runtime classes, devices, flow control, API services."""

from datetime import datetime

from mooring.apiserver.tables.printing import NONE, Cells, age, items, name, part, printer
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


@printer(
    "flowcontrol.apiserver.k8s.io/v1",
    "FlowSchema",
    "Name, PriorityLevel, MatchingPrecedence, DistinguisherMethod, Age, MissingPL",
)
def _flow_schema(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    return [
        name(obj),
        part(spec, "priorityLevelConfiguration").get("name") or "",
        spec.get("matchingPrecedence") or 0,
        part(spec, "distinguisherMethod").get("type") or NONE,
        age(obj, now),
        _condition(obj, "Dangling").get("status") or "?",
    ]


def _condition(obj: Object, kind: str) -> Object:
    return next((each for each in items(part(obj, "status"), "conditions") if each.get("type") == kind), {})


@printer(
    "flowcontrol.apiserver.k8s.io/v1",
    "PriorityLevelConfiguration",
    "Name, Type, NominalConcurrencyShares, Queues, HandSize, QueueLengthLimit, Age",
)
def _priority_level(obj: Object, now: datetime) -> Cells:
    spec = part(obj, "spec")
    limited = part(spec, "limited")
    queuing = part(limited, "limitResponse", "queuing")
    queues = (queuing.get(field, NONE) for field in ("queues", "handSize", "queueLengthLimit"))
    return [
        name(obj),
        spec.get("type") or "",
        limited.get("nominalConcurrencyShares", NONE),
        *queues,
        age(obj, now),
    ]


@printer("apiregistration.k8s.io/v1", "APIService", "Name, Service, Available, Age")
def _api_service(obj: Object, now: datetime) -> Cells:
    service = part(obj, "spec").get("service")
    where = "Local" if service is None else f"{service.get('namespace', '')}/{service.get('name', '')}"
    available = _condition(obj, "Available")
    status, reason = available.get("status") or "Unknown", available.get("reason")
    shown = f"{status} ({reason})" if reason and status != "True" else status
    return [name(obj), where, shown, age(obj, now)]
