"""The rows of metrics.k8s.io: what a pod or a node uses, as metrics-server shows it."""

from datetime import datetime
from typing import Any, Final

from mooring.apiserver.tables.printing import Cells, items, name, part, printer
from mooring.kube.objects import Object
from mooring.kube.quantities import Quantity, parse_quantity

__all__: list[str] = []

_COLUMNS: Final = "Name, cpu, memory, Window"


@printer("metrics.k8s.io/v1beta1", "NodeMetrics", _COLUMNS)
def _node(obj: Object, now: datetime) -> Cells:
    return _row(obj, [part(obj, "usage")])


@printer("metrics.k8s.io/v1beta1", "PodMetrics", _COLUMNS)
def _pod(obj: Object, now: datetime) -> Cells:
    return _row(obj, [part(each, "usage") for each in items(obj, "containers")])


def _row(obj: Object, usages: list[Any]) -> Cells:
    totals = [sum((parse_quantity(each[key]) for each in usages), Quantity(0)) for key in ("cpu", "memory")]
    return [name(obj), *map(str, totals), obj.get("window") or ""]
