"""LimitRanges and ResourceQuotas: what the API server adds to them, and what it says about them, in its order."""

from typing import Any, Final

from mooring.api.core.defaults.spec import rounded
from mooring.api.core.resources import is_hugepages, is_overcommit_allowed
from mooring.api.core.validation.meta import check_texts
from mooring.api.core.validation.resources import (
    check_container_resource_name,
    check_resource_name,
    check_resource_quantity,
)
from mooring.kube.errors import Enum, FieldError, duplicate, forbidden, invalid, required
from mooring.kube.names import is_qualified_name
from mooring.kube.objects import Object
from mooring.kube.quantities import Quantity, parse_quantity

__all__ = [
    "default_limit_range",
    "default_quota",
    "validate_limit_range",
    "validate_quota",
    "validate_quota_status",
    "validate_quota_update",
]

Errors = list[FieldError]

_LIMIT_TYPES: Final = ("Pod", "Container", "PersistentVolumeClaim")
_BOUNDS: Final = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_ONE: Final = parse_quantity("1")
_QUOTAS: Final = frozenset(
    {
        *("cpu", "memory", "ephemeral-storage", "requests.cpu", "requests.memory", "requests.storage"),
        *("requests.ephemeral-storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage", "pods"),
        *("resourcequotas", "services", "replicationcontrollers", "secrets", "persistentvolumeclaims", "configmaps"),
        *("services.nodeports", "services.loadbalancers"),
    }
)
_ALWAYS_EXISTS: Final = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")
_SCOPES: Final = (*_ALWAYS_EXISTS, "PriorityClass", "VolumeAttributesClass")
_POD_COMPUTE: Final = frozenset(
    {"cpu", "memory", "requests.cpu", "requests.memory", "limits.cpu", "limits.memory", "pods"}
)
_CONFLICTS: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})


def default_limit_range(obj: Object) -> None:
    for item in obj["spec"]["limits"] or ():
        for name in _BOUNDS:
            if name in item:
                item[name] = rounded(item[name])
        if item["type"] != "Container":
            continue
        default = item["default"] = item.get("max", {}) | item.get("default", {})
        item["defaultRequest"] = item.get("min", {}) | default | item.get("defaultRequest", {})
        for name in ("default", "defaultRequest"):
            if not item[name]:
                del item[name]


def validate_limit_range(obj: Object) -> list[FieldError]:
    errors: Errors = []
    seen: set[str] = set()
    for index, item in enumerate(obj["spec"]["limits"] or ()):
        path, kind = f"spec.limits[{index}]", item["type"]
        if texts := is_qualified_name(kind):
            check_texts(errors, f"{path}.type", Enum(kind), texts)
        elif "/" not in kind and kind not in _LIMIT_TYPES:
            detail = "must be a standard limit type or fully qualified"
            errors.append(invalid(f"{path}.type", Enum(kind), detail))
        if kind in seen:
            errors.append(duplicate(f"{path}.type", Enum(kind)))
        seen.add(kind)
        _check_item(errors, item, path)
    return errors


def _check_item(errors: Errors, item: Object, path: str) -> None:
    kind = item["type"]
    check_name = check_container_resource_name if kind in ("Pod", "Container") else check_resource_name
    amounts: dict[str, dict[str, Quantity]] = {}
    for bound in _BOUNDS:
        given = item.get(bound, {})
        if kind == "Pod" and bound in ("default", "defaultRequest"):
            if given:
                errors.append(forbidden(f"{path}.{bound}", "may not be specified when `type` is 'Pod'"))
            given = {}
        bounded = "storage" in item.get("min", {}) or "storage" in item.get("max", {})
        if bound == "maxLimitRequestRatio" and kind == "PersistentVolumeClaim" and not bounded:
            detail = "either minimum or maximum storage value is required, but neither was provided"
            errors.append(required(f"{path}.limits", detail))
        for name in sorted(given):
            check_name(errors, name, f"{path}.{bound}[{name}]")
        amounts[bound] = {name: parse_quantity(text) for name, text in given.items()}
    for name in sorted({name for each in amounts.values() for name in each}):
        _check_order(errors, name, {bound: each[name] for bound, each in amounts.items() if name in each}, path)


# Of two bounds, the first must not be greater than the second: whose fault it is, whose value is shown, and the words.
_ORDERED: Final = (
    ("min", "max", "min", "min", "min value", "max value"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest", "min value", "default request value"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest", "default request value", "max value"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest", "default request value", "default limit value"),
    ("min", "default", "default", "min", "min value", "default value"),
    ("default", "max", "default", "max", "default value", "max value"),
)


def _check_order(errors: Errors, name: str, found: dict[str, Quantity], path: str) -> None:
    for low, high, at, shown, low_words, high_words in _ORDERED:
        if low in found and high in found and found[low] > found[high]:
            detail = f"{low_words} {found[low]} is greater than {high_words} {found[high]}"
            errors.append(invalid(f"{path}.{at}[{name}]", Enum(found[shown]), detail))
    ratio = found.get("maxLimitRequestRatio")
    if ratio is not None:
        here = f"{path}.maxLimitRequestRatio[{name}]"
        if ratio < _ONE:
            errors.append(invalid(here, Enum(ratio), f"ratio {ratio} is less than 1"))
        if "min" in found and "max" in found and found["min"].milli_value:
            limit = found["max"].milli_value / found["min"].milli_value
            if ratio.milli_value / 1000 > limit:
                detail = f"ratio {ratio} is greater than max/min = {limit:f}"
                errors.append(invalid(here, Enum(ratio), detail))
    default, request = found.get("default"), found.get("defaultRequest")
    if not is_overcommit_allowed(name) and default is not None and request is not None and str(default) != str(request):
        detail = f"default value {default} must equal to defaultRequest value {request} in {name}"
        errors.append(invalid(f"{path}.defaultRequest[{name}]", Enum(request), detail))


# Quotas


def default_quota(obj: Object) -> None:
    if "hard" in obj["spec"]:
        obj["spec"]["hard"] = rounded(obj["spec"]["hard"])


def validate_quota(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    _check_amounts(errors, spec.get("hard", {}), "spec.hard")
    scopes = spec.get("scopes", [])
    for scope in scopes:
        if scope not in _SCOPES:
            errors.append(invalid("spec.scopes", scopes, "unsupported scope"))
        _check_scope(errors, spec, scope, "spec.scopes", scopes)
    _check_conflicts(errors, set(scopes), "spec.scopes", scopes)
    if "scopeSelector" in spec:
        _check_selector(errors, spec, "spec.scopeSelector.matchExpressions")
    return errors


def _check_amounts(errors: Errors, amounts: Object, path: str) -> None:
    for name in sorted(amounts):
        here = f"{path}[{name}]"
        check_resource_name(errors, name, here)
        if "/" not in name and name not in _QUOTAS and not is_hugepages(name.removeprefix("requests.")):
            errors.append(invalid(here, Enum(name), "must be a standard resource for quota"))
        check_resource_quantity(errors, name, parse_quantity(amounts[name]), here)


def _check_scope(errors: Errors, spec: Object, scope: str, path: str, shown: Any) -> None:
    for name in sorted(spec.get("hard", {})):
        standard = name in _QUOTAS or is_hugepages(name.removeprefix("requests."))
        if standard and not _covers(scope, name):
            errors.append(invalid(path, shown, "unsupported scope applied to resource"))


def _covers(scope: str, resource: str) -> bool:
    """Whether a scope can tell objects of a resource apart."""
    if scope == "BestEffort":
        return resource == "pods"
    if scope == "VolumeAttributesClass":
        return resource in ("persistentvolumeclaims", "requests.storage")
    return scope not in _SCOPES or resource in _POD_COMPUTE


def _check_conflicts(errors: Errors, scopes: set[str], path: str, shown: Any) -> None:
    for pair in _CONFLICTS:
        if pair <= scopes:
            errors.append(invalid(path, shown, "conflicting scopes"))


def _check_selector(errors: Errors, spec: Object, path: str) -> None:
    expressions = spec["scopeSelector"].get("matchExpressions", ())
    for each in expressions:
        scope, operator, values = each["scopeName"], each["operator"], each.get("values", [])
        if scope not in _SCOPES:
            errors.append(invalid(f"{path}.scopeName", Enum(scope), "unsupported scope"))
        _check_scope(errors, spec, scope, path, spec["scopeSelector"])
        if scope in _ALWAYS_EXISTS and operator != "Exists":
            detail = (
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
                "ResourceQuotaScopeCrossNamespacePodAffinity"
            )
            errors.append(invalid(f"{path}.operator", Enum(operator), detail))
        if operator in ("In", "NotIn"):
            if not values:
                detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                errors.append(required(f"{path}.values", detail))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                errors.append(invalid(f"{path}.values", values, detail))
        else:
            errors.append(invalid(f"{path}.operator", Enum(operator), "not a valid selector operator"))
    _check_conflicts(errors, {each["scopeName"] for each in expressions}, path, spec.get("scopes"))


def validate_quota_update(new: Object, old: Object) -> list[FieldError]:
    scopes = new["spec"].get("scopes", [])
    if set(scopes) == set(old["spec"].get("scopes", [])):
        return []
    return [invalid("spec.scopes", scopes or None, "field is immutable")]


def validate_quota_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    for name in ("hard", "used"):
        _check_amounts(errors, new["status"].get(name, {}), f"status.{name}")
    return errors
