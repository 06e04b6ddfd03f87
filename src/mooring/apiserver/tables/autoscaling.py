"""The row of a HorizontalPodAutoscaler: what it scales, and each metric as `current/target`."""

from datetime import datetime
from typing import Any, Final

from mooring.api.autoscaling.conversion import convert_autoscaler
from mooring.apiserver.tables.printing import NONE, Cells, age, items, name, part, printer, quantity
from mooring.kube.objects import Object

__all__: list[str] = []

_SHOWN_METRICS: Final = 2
_UNKNOWN: Final = "<unknown>"
# Types of metrics, and the field that describes each.
_SOURCES: Final = {
    "ContainerResource": "containerResource",
    "External": "external",
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
}


_COLUMNS: Final = "Name, Reference, Targets, MinPods, MaxPods, Replicas, Age"


@printer("autoscaling/v1", "HorizontalPodAutoscaler", _COLUMNS)
def _old_autoscaler(obj: Object, now: datetime) -> Cells:
    # A bookmark has no spec, and nothing to convert.
    return _autoscaler(convert_autoscaler(obj, "autoscaling/v2") if "spec" in obj else obj, now)


@printer("autoscaling/v2", "HorizontalPodAutoscaler", _COLUMNS)
def _autoscaler(obj: Object, now: datetime) -> Cells:
    spec, status = part(obj, "spec"), part(obj, "status")
    target, least = part(spec, "scaleTargetRef"), spec.get("minReplicas")
    return [
        name(obj),
        f"{target.get('kind') or ''}/{target.get('name') or ''}",
        _metrics(items(spec, "metrics"), items(status, "currentMetrics")),
        "<unset>" if least is None else str(least),
        spec.get("maxReplicas") or 0,
        status.get("currentReplicas") or 0,
        age(obj, now),
    ]


def _metrics(specs: list[Any], statuses: list[Any]) -> str:
    if not specs:
        return NONE
    padded = [*statuses, *[{}] * len(specs)]
    shown = [_metric(spec, status) for spec, status in zip(specs, padded, strict=False)]
    text = ", ".join(shown[:_SHOWN_METRICS])
    return f"{text} + {len(shown) - _SHOWN_METRICS} more..." if len(shown) > _SHOWN_METRICS else text


def _metric(spec: Object, status: Object) -> str:
    field = _SOURCES.get(spec.get("type") or "")
    if field is None:
        return "<unknown type>"
    source, seen = part(spec, field), status.get(field)
    target, current = part(source, "target"), None if seen is None else part(seen, "current")
    if field in ("resource", "containerResource"):
        return f"{source.get('name')}: {_resource(target, current)}"
    if field == "pods":
        return f"{_amount(current, 'averageValue')}/{_quantity(target.get('averageValue'))}"
    if target.get("averageValue") is not None:
        known = current is not None and current.get("averageValue") is not None
        shown = _amount(current, "averageValue") if known else _UNKNOWN
        return f"{shown}/{_quantity(target['averageValue'])} (avg)"
    return f"{_amount(current, 'value')}/{_quantity(target.get('value'))}"


def _resource(target: Object, current: Object | None) -> str:
    if target.get("averageValue") is not None:
        return f"{_amount(current, 'averageValue')}/{_quantity(target['averageValue'])}"
    used = None if current is None else current.get("averageUtilization")
    wanted = target.get("averageUtilization")
    return f"{_UNKNOWN if used is None else f'{used}%'}/{'<auto>' if wanted is None else f'{wanted}%'}"


def _amount(current: Object | None, field: str) -> str:
    return _UNKNOWN if current is None else _quantity(current.get(field))


def _quantity(value: Any) -> str:
    return "<nil>" if value is None else quantity(value)
