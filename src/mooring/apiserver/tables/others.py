"""Rows of kinds that are alone in their groups: leases, priority classes, runtime classes."""

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
