"""PriorityClasses: those of the system, defaults, and validation in the API's order. Validation expects defaults."""

from typing import Final

from mooring.api.core.pod_templates import check_immutable
from mooring.kube.errors import Enum, FieldError, forbidden, not_supported, required
from mooring.kube.objects import Object

__all__ = [
    "HIGHEST_USER_PRIORITY",
    "SYSTEM_PRIORITIES",
    "default_priority_class",
    "validate_priority_class",
    "validate_priority_class_update",
]

Errors = list[FieldError]

HIGHEST_USER_PRIORITY: Final = 1_000_000_000
SYSTEM_PRIORITIES: Final = {
    "system-cluster-critical": 2 * HIGHEST_USER_PRIORITY,
    "system-node-critical": 2 * HIGHEST_USER_PRIORITY + 1000,
}


def default_priority_class(obj: Object) -> None:
    obj.setdefault("value", 0)
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def validate_priority_class(obj: Object) -> list[FieldError]:
    errors: Errors = []
    name, value = obj["metadata"]["name"], obj["value"]
    if name.startswith("system-"):
        if problem := _system_problem(name, value, obj.get("globalDefault", False)):
            detail = f"priority class names with 'system-' prefix are reserved for system use only. error: {problem}"
            errors.append(forbidden("metadata.name", detail))
    elif value > HIGHEST_USER_PRIORITY:
        detail = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        errors.append(forbidden("value", detail))
    policy = obj["preemptionPolicy"]
    if not policy:
        errors.append(required("preemptionPolicy", ""))
    elif policy not in ("PreemptLowerPriority", "Never"):
        known = ("PreemptLowerPriority", "Never")
        errors.append(not_supported("preemptionPolicy", Enum(policy), known))
    return errors


def _system_problem(name: str, value: int, default: bool) -> str:
    known = SYSTEM_PRIORITIES.get(name)
    if known is None:
        return f"{name} is not a known system priority class"
    if value != known:
        return f"value of {name} PriorityClass must be {known}"
    return f"globalDefault of {name} PriorityClass must be false" if default else ""


def validate_priority_class_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    if new["value"] != old["value"]:
        errors.append(forbidden("value", "may not be changed in an update."))
    check_immutable(errors, Enum(new["preemptionPolicy"]), old["preemptionPolicy"], "preemptionPolicy")
    return errors
