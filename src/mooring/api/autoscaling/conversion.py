"""The two shapes of a HorizontalPodAutoscaler: autoscaling/v2, in which it is stored, and autoscaling/v1.

The older one knows one number, the utilization of CPU; what it has no fields for stands in annotations, as JSON, so
that nothing is lost on the way there and back.
"""

import json
from typing import Any, Final

from mooring.api.autoscaling.annotations import BEHAVIOR, CONDITIONS, CURRENT, METRICS, read_annotation
from mooring.kube.objects import Object

__all__ = ["convert_autoscaler"]


_V1: Final = "autoscaling/v1"
_ANNOTATIONS: Final = (METRICS, CURRENT, CONDITIONS, BEHAVIOR)
_SOURCES: Final = ("resource", "containerResource", "pods", "object", "external")
_USUAL_CPU: Final = 80


def convert_autoscaler(obj: Object, wanted: str) -> Object:
    """The autoscaler in the shape of an apiVersion."""
    if obj["apiVersion"] == wanted:
        return obj
    return _to_old(obj) if wanted == _V1 else _to_new(obj)


def _annotated(metadata: Object, added: dict[str, str]) -> Object:
    kept = {key: value for key, value in metadata.get("annotations", {}).items() if key not in _ANNOTATIONS} | added
    rest = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**rest, "annotations": kept} if kept else rest


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


# To v1


def _to_old(obj: Object) -> Object:
    spec, status = dict(obj["spec"]), dict(obj.get("status") or {})
    metrics, behavior = spec.pop("metrics", []), spec.pop("behavior", None)
    added = {}
    cpu = next((each for each in metrics if _is_cpu(each)), None)
    if cpu is not None:
        spec["targetCPUUtilizationPercentage"] = cpu["resource"]["target"]["averageUtilization"]
    if others := [_old_metric(each) for each in metrics if each is not cpu]:
        added[METRICS] = _dump(others)
    if behavior is not None:
        added[BEHAVIOR] = _dump({_capital(k): _capitalized(v) for k, v in behavior.items()})
    current, conditions = status.pop("currentMetrics", None) or [], status.pop("conditions", None)
    for each in current:
        if each.get("type") == "Resource" and each["resource"]["name"] == "cpu":
            percent = each["resource"]["current"].get("averageUtilization")
            if percent is not None:
                status["currentCPUUtilizationPercentage"] = percent
    if current:
        added[CURRENT] = _dump([_old_status(each) for each in current])
    if conditions:
        added[CONDITIONS] = _dump(conditions)
    status.setdefault("currentReplicas", 0)
    status.setdefault("desiredReplicas", 0)
    metadata = _annotated(obj["metadata"], added)
    return {"apiVersion": _V1, "kind": obj["kind"], "metadata": metadata, "spec": spec, "status": status}


def _is_cpu(metric: Object) -> bool:
    resource = metric.get("resource", {})
    return resource.get("name") == "cpu" and "averageUtilization" in resource.get("target", {})


def _capital(name: str) -> str:
    return name[:1].upper() + name[1:]


def _capitalized(rules: Object) -> Object:
    """Rules as the annotation has them: under the names of the server's own types."""
    policies = [{_capital(k): v for k, v in each.items()} for each in rules.get("policies", ())]
    return {
        "StabilizationWindowSeconds": rules.get("stabilizationWindowSeconds"),
        "SelectPolicy": rules.get("selectPolicy"),
        "Policies": policies,
        "Tolerance": rules.get("tolerance"),
    }


def _old_metric(metric: Object) -> Object:
    kind = metric["type"]
    name = _small(kind)
    source = metric.get(name)
    if source is None:
        return metric
    target = source["target"]
    made: Object = {}
    if name in ("resource", "containerResource"):
        made = {key: source[key] for key in ("name", "container") if key in source}
        _move(target, made, averageUtilization="targetAverageUtilization", averageValue="targetAverageValue")
        return {"type": kind, name: made}
    made["metricName"] = source["metric"]["name"]
    selector = source["metric"].get("selector")
    if name == "object":
        made["target"] = source["describedObject"]
        made["targetValue"] = target.get("value", "0")
        _move(target, made, averageValue="averageValue")
    elif name == "pods":
        _move(target, made, averageValue="targetAverageValue")
    else:
        _move(target, made, value="targetValue", averageValue="targetAverageValue")
    if selector is not None:
        made["metricSelector" if name == "external" else "selector"] = selector
    return {"type": kind, name: made}


def _old_status(metric: Object) -> Object:
    kind = metric["type"]
    name = _small(kind)
    source = metric.get(name)
    if source is None:
        return metric
    current, identity = source["current"], source.get("metric", {})
    average: Object = {"currentAverageValue": current.get("averageValue", "0")}
    if name in ("resource", "containerResource"):
        made: Object = {"name": source["name"]}
        _move(current, made, averageUtilization="currentAverageUtilization")
        made |= average
        _move(source, made, container="container")
    elif name == "pods":
        made = {"metricName": identity["name"], **average}
        _move(identity, made, selector="selector")
    elif name == "object":
        made = {"target": source["describedObject"], "metricName": identity["name"]}
        made["currentValue"] = current.get("value", "0")
        _move(identity, made, selector="selector")
        _move(current, made, averageValue="averageValue")
    else:
        made = {"metricName": identity["name"]}
        _move(identity, made, selector="metricSelector")
        made["currentValue"] = current.get("value", "0")
        _move(current, made, averageValue="currentAverageValue")
    return {"type": kind, name: made}


def _move(source: Object, made: Object, **names: str) -> None:
    for name, other in names.items():
        if name in source:
            made[other] = source[name]


# To v2


def _to_new(obj: Object) -> Object:
    spec, status, metadata = dict(obj["spec"]), dict(obj.get("status") or {}), obj["metadata"]
    percent = spec.pop("targetCPUUtilizationPercentage", None)
    metrics = [_new_metric(each) for each in read_annotation(metadata, METRICS) or ()]
    if percent is not None:
        metrics.append(_cpu_metric(percent))
    spec["metrics"] = metrics or [_cpu_metric(_USUAL_CPU)]
    behavior = read_annotation(metadata, BEHAVIOR)
    if behavior is not None:
        spec["behavior"] = {_small(key): _uncapitalized(rules) for key, rules in behavior.items() if rules}
    percent = status.pop("currentCPUUtilizationPercentage", None)
    status["currentMetrics"] = None
    if percent is not None:
        current = {"name": "cpu", "current": {"averageUtilization": percent}}
        status["currentMetrics"] = [{"type": "Resource", "resource": current}]
    if told := read_annotation(metadata, CURRENT):
        status["currentMetrics"] = [_new_status(each) for each in told]
    if conditions := read_annotation(metadata, CONDITIONS):
        status["conditions"] = conditions
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)
    return {
        "apiVersion": "autoscaling/v2",
        "kind": obj["kind"],
        "metadata": _annotated(metadata, {}),
        "spec": spec,
        "status": status,
    }


def _cpu_metric(percent: int) -> Object:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _small(name: str) -> str:
    return name[:1].lower() + name[1:]


def _uncapitalized(rules: Object) -> Object:
    made = {_small(key): value for key, value in rules.items() if value is not None}
    made["policies"] = [{_small(k): v for k, v in each.items()} for each in made.get("policies") or ()]
    return made


def _new_metric(metric: Object) -> Object:
    kind = metric.get("type") or ""
    name = _small(kind)
    if name not in _SOURCES:
        return {"type": kind}
    source = metric.get(name) or {}
    if name in ("resource", "containerResource"):
        used = source.get("targetAverageUtilization")
        target: Object = {"type": "AverageValue", "averageValue": source.get("targetAverageValue")}
        if used is not None:
            target = {"type": "Utilization", "averageUtilization": used}
        kept = {"name": source.get("name") or "", **{key: source[key] for key in ("container",) if source.get(key)}}
        target = {key: value for key, value in target.items() if value is not None}
        return {"type": kind, name: {**kept, "target": target}}
    identity: Object = {"name": source.get("metricName") or ""}
    selector = source.get("metricSelector" if name == "external" else "selector")
    if selector is not None:
        identity["selector"] = selector
    made: Object = {"metric": identity}
    average = source.get("averageValue") if name == "object" else source.get("targetAverageValue")
    if average is not None:
        made["target"] = {"type": "AverageValue", "averageValue": average}
    else:
        made["target"] = {"type": "Value", "value": source.get("targetValue") or "0"}
    if name == "object":
        made["describedObject"] = source.get("target") or {}
    return {"type": kind, name: made}


def _new_status(metric: Object) -> Object:
    kind = metric.get("type") or ""
    name = _small(kind)
    if name not in _SOURCES:
        return {"type": kind}
    source = metric.get(name) or {}
    current: Object = {}
    made: Object = {"current": current}
    average = "averageValue" if name == "object" else "currentAverageValue"
    _move(source, current, **{"currentAverageUtilization": "averageUtilization", average: "averageValue"})
    if name in ("resource", "containerResource"):
        made["name"] = source.get("name") or ""
        _move(source, made, container="container")
        return {"type": kind, name: made}
    made["metric"] = {"name": source.get("metricName") or ""}
    _move(source, made["metric"], **{"metricSelector" if name == "external" else "selector": "selector"})
    _move(source, current, currentValue="value")
    if name == "object":
        made["describedObject"] = source.get("target") or {}
    return {"type": kind, name: made}
