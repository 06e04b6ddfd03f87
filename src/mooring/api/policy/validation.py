"""PodDisruptionBudgets: their validation in the API's order. Expects defaulted objects."""

from mooring.api.apps.validation import check_percent_limit, check_positive_or_percent
from mooring.api.core.validation.meta import check_label_selector, check_nonnegative
from mooring.api.core.validation.status import check_conditions
from mooring.kube.errors import Enum, FieldError, invalid, not_supported
from mooring.kube.objects import Object

__all__ = ["validate_disruption_budget", "validate_disruption_budget_status"]

Errors = list[FieldError]


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
