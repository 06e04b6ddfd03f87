"""What the API says about disruption budgets, priority classes and leases, and what it adds to them.

Expects defaulted objects. Rules stand in the API's order.
"""

from typing import Final

from mooring.api.apps.validation import check_percent_limit, check_positive_or_percent
from mooring.api.core.pod_templates import check_immutable
from mooring.api.core.validation.meta import check_label_selector, check_nonnegative
from mooring.api.core.validation.status import check_conditions
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_supported, required
from mooring.kube.objects import Object

__all__ = [
    "HIGHEST_USER_PRIORITY",
    "SYSTEM_PRIORITIES",
    "default_priority_class",
    "prepare_lease",
    "prepare_lease_update",
    "validate_disruption_budget",
    "validate_disruption_budget_status",
    "validate_lease",
    "validate_priority_class",
    "validate_priority_class_update",
]

Errors = list[FieldError]

_ELECTION: Final = ("strategy", "preferredHolder")

HIGHEST_USER_PRIORITY: Final = 1_000_000_000
SYSTEM_PRIORITIES: Final = {
    "system-cluster-critical": 2 * HIGHEST_USER_PRIORITY,
    "system-node-critical": 2 * HIGHEST_USER_PRIORITY + 1000,
}


def validate_disruption_budget(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj.get("spec") or {}
    if "minAvailable" in spec and "maxUnavailable" in spec:
        names = ("minAvailable", "selector", "maxUnavailable", "unhealthyPodEvictionPolicy")
        shown = {name[0].upper() + name[1:]: spec.get(name) for name in names}
        errors.append(invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set"))
    for name in ("minAvailable", "maxUnavailable"):
        if name in spec:
            check_positive_or_percent(errors, spec[name], f"spec.{name}")
            check_percent_limit(errors, spec[name], f"spec.{name}")
    check_label_selector(errors, spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    known = ("AlwaysAllow", "IfHealthyBudget")
    if policy is not None and policy not in known:
        errors.append(not_supported("spec.unhealthyPodEvictionPolicy", Enum(policy), known))
    return errors


def validate_disruption_budget_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    check_conditions(errors, new["status"].get("conditions", ()), "status.conditions")
    for name in ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"):
        check_nonnegative(errors, new["status"][name], f"status.{name}")
    return errors


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


def prepare_lease(obj: Object, now: str) -> None:
    """A feature that is off: elections among candidates."""
    for name in _ELECTION:
        (obj.get("spec") or {}).pop(name, None)


def prepare_lease_update(new: Object, old: Object) -> None:
    before = old.get("spec") or {}
    dropped = [name for name in _ELECTION if name in (new.get("spec") or {}) and name not in before]
    if dropped:
        new["spec"] = {name: value for name, value in new["spec"].items() if name not in dropped}


def validate_lease(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj.get("spec") or {}
    duration = spec.get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        errors.append(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    transitions = spec.get("leaseTransitions", 0)
    if transitions < 0:
        errors.append(invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
    if spec.get("preferredHolder") and not spec.get("strategy"):
        errors.append(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
    return errors
