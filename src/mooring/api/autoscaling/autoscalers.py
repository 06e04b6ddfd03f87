"""HorizontalPodAutoscalers: what the API server adds to them, and what it says about them, in its order."""

from collections.abc import Callable
from typing import Final

from mooring.api.core.validation.meta import check_dns_label, check_nonnegative
from mooring.api.core.validation.resources import check_container_resource_name
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_supported, required
from mooring.kube.names import path_segment_texts
from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity

__all__ = [
    "default_autoscaler",
    "default_old_autoscaler",
    "validate_autoscaler",
    "validate_autoscaler_status",
    "validate_autoscaler_update",
]

Errors = list[FieldError]

_SCALE_UP: Final = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_SCALE_DOWN: Final = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}
_METRICS: Final = "autoscaling.alpha.kubernetes.io/metrics"
_MAX_PERIOD_SECONDS: Final = 1800
_MAX_WINDOW_SECONDS: Final = 3600
_SELECT_POLICIES: Final = ("Disabled", "Max", "Min")
_POLICY_TYPES: Final = ("Percent", "Pods")
_SOURCE_TYPES: Final = ("ContainerResource", "External", "Object", "Pods", "Resource")
_FIELDS: Final = {
    "Object": "object",
    "External": "external",
    "Pods": "pods",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def default_autoscaler(obj: Object) -> None:
    spec = obj["spec"]
    spec.setdefault("minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    if behavior is not None:
        for name, usual in (("scaleUp", _SCALE_UP), ("scaleDown", _SCALE_DOWN)):
            behavior[name] = usual | behavior.get(name, {})


def default_old_autoscaler(obj: Object) -> None:
    """Of an autoscaler in the shape of autoscaling/v1."""
    spec = obj["spec"]
    spec.setdefault("minReplicas", 1)
    if _METRICS not in obj["metadata"].get("annotations", {}):
        spec.setdefault("targetCPUUtilizationPercentage", 80)


def validate_autoscaler(obj: Object) -> list[FieldError]:
    errors: Errors = []
    _check_spec(errors, obj["spec"], tolerant=False)
    return errors


def validate_autoscaler_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    was, now = old["spec"]["scaleTargetRef"], new["spec"]["scaleTargetRef"]
    _check_spec(errors, new["spec"], tolerant=_type(was) == _type(now))
    return errors


def _check_spec(errors: Errors, spec: Object, *, tolerant: bool) -> None:
    """`tolerant`: the target is of the kind that it was of, however that is written."""
    least, most = spec["minReplicas"], spec["maxReplicas"]
    if least < 1:
        errors.append(invalid("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most < 1:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than 0"))
    if most < least:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"))
    target = spec["scaleTargetRef"]
    # The one kind without a group that has replicas.
    grouped = target.get("kind") != "ReplicationController"
    _check_reference(errors, target, "spec.scaleTargetRef", grouped=grouped, tolerant=tolerant)
    metrics = spec["metrics"]
    for index, metric in enumerate(metrics):
        _check_metric(errors, metric, f"spec.metrics[{index}]")
    if least == 0 and not any(metric["type"] in ("Object", "External") for metric in metrics):
        detail = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(forbidden("spec.metrics", detail))
    for name, rules in spec.get("behavior", {}).items():
        _check_rules(errors, rules, f"spec.behavior.{name}")


def _check_reference(errors: Errors, reference: Object, path: str, *, grouped: bool, tolerant: bool = False) -> None:
    for name in ("kind", "name"):
        value = reference[name]
        if value:
            errors += [invalid(f"{path}.{name}", value, text) for text in path_segment_texts(value)]
        else:
            errors.append(required(f"{path}.{name}", ""))
    if not tolerant and (problem := _version_problem(reference, grouped)):
        errors.append(invalid(f"{path}.apiVersion", reference.get("apiVersion", ""), problem))


def _type(reference: Object) -> tuple[str, str]:
    return reference.get("apiVersion", ""), reference.get("kind", "")


def _version_problem(reference: Object, grouped: bool) -> str:
    version = reference.get("apiVersion", "")
    if version.count("/") > 1:
        return f"unexpected GroupVersion string: {version}"
    if grouped and "/" not in version.strip("/") and not version.endswith("/"):
        return "apiVersion must specify API group"
    return "apiVersion must specify API group" if grouped and version.startswith("/") else ""


# Metrics


def _check_metric(errors: Errors, metric: Object, path: str) -> None:
    kind = metric["type"]
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric source type"))
    if kind not in _SOURCE_TYPES:
        errors.append(not_supported(f"{path}.type", Enum(kind), _SOURCE_TYPES))
    present = [name for name in _FIELDS.values() if name in metric]
    if present:
        _SOURCES[present[0]](errors, metric[present[0]], f"{path}.{present[0]}")
    expected = _FIELDS.get(kind, "")
    if expected and expected not in metric:
        detail = "must populate information for the given metric source"
        errors.append(required(f"{path}.{expected}", detail))
    if not expected:
        errors.append(not_supported(f"{path}.type", Enum(kind), _SOURCE_TYPES))
    if len(present) > 1:
        for name in present:
            if name != expected:
                errors.append(forbidden(f"{path}.{name}", "must populate the given metric source only"))


def _check_object(errors: Errors, source: Object, path: str) -> None:
    _check_reference(errors, source["describedObject"], f"{path}.describedObject", grouped=False)
    _check_identifier(errors, source["metric"], f"{path}.metric")
    target = source["target"]
    _check_target(errors, target, f"{path}.target")
    if "value" not in target and "averageValue" not in target:
        errors.append(required(f"{path}.target.averageValue", "must set either a target value or averageValue"))


def _check_external(errors: Errors, source: Object, path: str) -> None:
    _check_identifier(errors, source["metric"], f"{path}.metric")
    target = source["target"]
    _check_target(errors, target, f"{path}.target")
    if "value" not in target and "averageValue" not in target:
        detail = "must set either a target value for metric or a per-pod target"
        errors.append(required(f"{path}.target.averageValue", detail))
    if "value" in target and "averageValue" in target:
        detail = "may not set both a target value for metric and a per-pod target"
        errors.append(forbidden(f"{path}.target.value", detail))


def _check_pods(errors: Errors, source: Object, path: str) -> None:
    _check_identifier(errors, source["metric"], f"{path}.metric")
    _check_target(errors, source["target"], f"{path}.target")
    if "averageValue" not in source["target"]:
        errors.append(required(f"{path}.target.averageValue", "must specify a positive target averageValue"))


def _check_container_resource(errors: Errors, source: Object, path: str) -> None:
    if source["name"]:
        check_container_resource_name(errors, source["name"], f"{path}.name")
    else:
        errors.append(required(f"{path}.name", "must specify a resource name"))
    if source["container"]:
        check_dns_label(errors, source["container"], f"{path}.container")
    else:
        errors.append(required(f"{path}.container", "must specify a container"))
    _check_utilization(errors, source["target"], f"{path}.target")


def _check_resource(errors: Errors, source: Object, path: str) -> None:
    if not source["name"]:
        errors.append(required(f"{path}.name", "must specify a resource name"))
    _check_utilization(errors, source["target"], f"{path}.target")


def _check_utilization(errors: Errors, target: Object, path: str) -> None:
    _check_target(errors, target, path)
    if "averageUtilization" not in target and "averageValue" not in target:
        detail = "must set either a target raw value or a target utilization"
        errors.append(required(f"{path}.averageUtilization", detail))
    if "averageUtilization" in target and "averageValue" in target:
        detail = "may not set both a target raw value and a target utilization"
        errors.append(forbidden(f"{path}.averageValue", detail))


def _check_target(errors: Errors, target: Object, path: str) -> None:
    kind = target["type"]
    if not kind:
        errors.append(required(f"{path}.type", "must specify a metric target type"))
    if kind not in ("Utilization", "Value", "AverageValue"):
        errors.append(invalid(f"{path}.type", Enum(kind), "must be either Utilization, Value, or AverageValue"))
    for name in ("value", "averageValue"):
        if name in target and parse_quantity(target[name]).mantissa <= 0:
            errors.append(invalid(f"{path}.{name}", Enum(target[name]), "must be positive"))
    if target.get("averageUtilization", 1) < 1:
        errors.append(invalid(f"{path}.averageUtilization", target["averageUtilization"], "must be greater than 0"))


def _check_identifier(errors: Errors, metric: Object, path: str) -> None:
    if metric["name"]:
        errors += [invalid(f"{path}.name", metric["name"], text) for text in path_segment_texts(metric["name"])]
    else:
        errors.append(required(f"{path}.name", "must specify a metric name"))


_SOURCES: Final[dict[str, Callable[[Errors, Object, str], None]]] = {
    "object": _check_object,
    "external": _check_external,
    "pods": _check_pods,
    "resource": _check_resource,
    "containerResource": _check_container_resource,
}


# Behaviour


def _check_rules(errors: Errors, rules: Object, path: str) -> None:
    window = rules.get("stabilizationWindowSeconds", 0)
    if window < 0:
        errors.append(invalid(f"{path}.stabilizationWindowSeconds", window, "must be greater than or equal to zero"))
    if window > _MAX_WINDOW_SECONDS:
        detail = f"must be less than or equal to {_MAX_WINDOW_SECONDS}"
        errors.append(invalid(f"{path}.stabilizationWindowSeconds", window, detail))
    # Rules out of an annotation of the older version have no defaults.
    selected, policies = rules.get("selectPolicy"), rules.get("policies") or ()
    if selected is not None and selected not in _SELECT_POLICIES:
        errors.append(not_supported(f"{path}.selectPolicy", Enum(selected), _SELECT_POLICIES))
    if not policies:
        errors.append(required(f"{path}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(policies):
        _check_policy(errors, policy, f"{path}.policies[{index}]")
    tolerance = rules.get("tolerance")
    if tolerance is not None and parse_quantity(tolerance).mantissa < 0:
        errors.append(invalid(f"{path}.tolerance", str(tolerance), "must be greater than or equal to 0"))


def _check_policy(errors: Errors, policy: Object, path: str) -> None:
    kind, period = policy.get("type") or "", policy.get("periodSeconds") or 0
    if kind not in _POLICY_TYPES:
        errors.append(not_supported(f"{path}.type", Enum(kind), _POLICY_TYPES))
    for name, value in (("value", policy.get("value") or 0), ("periodSeconds", period)):
        if value <= 0:
            errors.append(invalid(f"{path}.{name}", value, "must be greater than zero"))
    if period > _MAX_PERIOD_SECONDS:
        detail = f"must be less than or equal to {_MAX_PERIOD_SECONDS}"
        errors.append(invalid(f"{path}.periodSeconds", period, detail))


def validate_autoscaler_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    for name in ("currentReplicas", "desiredReplicas"):
        check_nonnegative(errors, new["status"].get(name, 0), f"status.{name}")
    return errors
