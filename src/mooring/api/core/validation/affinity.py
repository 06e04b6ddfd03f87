"""The rules for where a pod may go: node and pod affinity, topology spread, tolerations."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from mooring.api.core.validation.meta import check_dns_label, check_label_key, check_label_selector, check_texts
from mooring.kube.errors import Enum, FieldError, duplicate, forbidden, invalid, not_supported, required
from mooring.kube.names import is_dns1123_subdomain, is_label_value

__all__ = [
    "check_affinity",
    "check_node_selector",
    "check_spread_constraints",
    "check_taint_effect",
    "check_tolerations",
]

Object = Mapping[str, Any]
Errors = list[FieldError]

_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"
_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_UNSATISFIABLE: Final = ("DoNotSchedule", "ScheduleAnyway")
_INCLUSION: Final = ("Honor", "Ignore")


def check_affinity(errors: Errors, affinity: Object, path: str) -> None:
    if "nodeAffinity" in affinity:
        _check_node_affinity(errors, affinity["nodeAffinity"], f"{path}.nodeAffinity")
    for name in ("podAffinity", "podAntiAffinity"):
        if name in affinity:
            _check_pod_affinity(errors, affinity[name], f"{path}.{name}")


# Node affinity


def _check_node_affinity(errors: Errors, affinity: Object, path: str) -> None:
    if _REQUIRED in affinity:
        check_node_selector(errors, affinity[_REQUIRED], f"{path}.{_REQUIRED}")
    for index, preferred in enumerate(affinity.get(_PREFERRED, ())):
        here = f"{path}.{_PREFERRED}[{index}]"
        _check_weight(errors, preferred["weight"], here)
        # Values of preferred terms are not checked, although the scheduler cannot read bad ones.
        _check_node_term(errors, preferred["preference"], f"{here}.preference", check_values=False)


def check_node_selector(errors: Errors, selector: Object, path: str) -> None:
    terms, here = selector["nodeSelectorTerms"], f"{path}.nodeSelectorTerms"
    if not terms:
        errors.append(required(here, "must have at least one node selector term"))
    for index, term in enumerate(terms or ()):
        _check_node_term(errors, term, f"{here}[{index}]", check_values=True)


def _check_weight(errors: Errors, weight: int, path: str) -> None:
    if not 1 <= weight <= 100:
        errors.append(invalid(f"{path}.weight", weight, "must be in the range 1-100"))


def _check_node_term(errors: Errors, term: Object, path: str, *, check_values: bool) -> None:
    for index, expression in enumerate(term.get("matchExpressions", ())):
        _check_node_expression(errors, expression, f"{path}.matchExpressions[{index}]", check_values=check_values)
    for index, expression in enumerate(term.get("matchFields", ())):
        _check_node_field(errors, expression, f"{path}.matchFields[{index}]")


def _check_node_expression(errors: Errors, expression: Object, path: str, *, check_values: bool) -> None:
    operator, values = expression["operator"], expression.get("values", ())
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            errors.append(forbidden(f"{path}.values", detail))
    elif operator in ("Gt", "Lt"):
        if len(values) != 1:
            detail = "must be specified single value when `operator` is 'Lt' or 'Gt'"
            errors.append(required(f"{path}.values", detail))
    else:
        errors.append(invalid(f"{path}.operator", Enum(operator), "not a valid selector operator"))
    check_label_key(errors, expression["key"], f"{path}.key")
    if check_values:
        for index, value in enumerate(values):
            check_texts(errors, f"{path}.values[{index}]", value, is_label_value(value))


def _check_node_field(errors: Errors, expression: Object, path: str) -> None:
    operator, values = expression["operator"], expression.get("values", ())
    if operator not in ("In", "NotIn"):
        errors.append(invalid(f"{path}.operator", Enum(operator), "not a valid selector operator"))
    elif len(values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.append(required(f"{path}.values", detail))
    if expression["key"] != "metadata.name":
        errors.append(invalid(f"{path}.key", expression["key"], "not a valid field selector key"))
        return
    for index, value in enumerate(values):
        check_texts(errors, f"{path}.values[{index}]", value, is_dns1123_subdomain(value))


# Pod affinity and anti-affinity


def _check_pod_affinity(errors: Errors, affinity: Object, path: str) -> None:
    for index, term in enumerate(affinity.get(_REQUIRED, ())):
        _check_pod_term(errors, term, f"{path}.{_REQUIRED}[{index}]")
    for index, weighted in enumerate(affinity.get(_PREFERRED, ())):
        here = f"{path}.{_PREFERRED}[{index}]"
        _check_weight(errors, weighted["weight"], here)
        _check_pod_term(errors, weighted["podAffinityTerm"], f"{here}.podAffinityTerm")


def _check_pod_term(errors: Errors, term: Object, path: str) -> None:
    check_label_selector(errors, term.get("labelSelector"), f"{path}.labelSelector")
    check_label_selector(errors, term.get("namespaceSelector"), f"{path}.namespaceSelector")
    for namespace in term.get("namespaces", ()):
        check_dns_label(errors, namespace, f"{path}.namespace")
    _check_label_keys(errors, term, path)
    if not term["topologyKey"]:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    check_label_key(errors, term["topologyKey"], f"{path}.topologyKey")


def _check_label_keys(errors: Errors, term: Object, path: str) -> None:
    selector = term.get("labelSelector")
    matching: Sequence[str] = term.get("matchLabelKeys", ())
    mismatching: Sequence[str] = term.get("mismatchLabelKeys", ())
    if not matching and not mismatching:
        return
    for name, keys in (("matchLabelKeys", matching), ("mismatchLabelKeys", mismatching)):
        if keys and selector is None:
            errors.append(forbidden(f"{path}.{name}", "must not be specified when labelSelector is not set"))
        elif selector is not None:
            for index, key in enumerate(keys):
                check_label_key(errors, key, f"{path}.{name}[{index}]")
    if selector is not None:
        # By now the keys are conditions of the selector; one that was there before appears twice.
        positions = {key: index for index, key in enumerate(matching)}
        seen = set(selector.get("matchLabels", ()))
        for expression in selector.get("matchExpressions", ()):
            key = expression["key"]
            if key in positions and key in seen:
                detail = "exists in both matchLabelKeys and labelSelector"
                errors.append(invalid(f"{path}[{positions[key]}]", key, detail))
            seen.add(key)
    for index, key in enumerate(matching):
        if key in mismatching:
            detail = "exists in both matchLabelKeys and mismatchLabelKeys"
            errors.append(invalid(f"{path}.matchLabelKeys[{index}]", key, detail))


# Topology spread


def check_spread_constraints(errors: Errors, constraints: Sequence[Object], path: str) -> None:
    for index, constraint in enumerate(constraints):
        here = f"{path}[{index}]"
        key, action = constraint["topologyKey"], constraint["whenUnsatisfiable"]
        if constraint["maxSkew"] <= 0:
            errors.append(invalid(f"{here}.maxSkew", constraint["maxSkew"], "must be greater than zero"))
        if not key:
            errors.append(required(f"{here}.topologyKey", "can not be empty"))
        if action not in _UNSATISFIABLE:
            errors.append(not_supported(f"{here}.whenUnsatisfiable", Enum(action), _UNSATISFIABLE))
        for other in constraints[index + 1 :]:
            if (other["topologyKey"], other["whenUnsatisfiable"]) == (key, action):
                errors.append(duplicate(f"{here}.{{topologyKey, whenUnsatisfiable}}", f"{{{key}, {action}}}"))
                break
        _check_min_domains(errors, constraint.get("minDomains"), action, f"{here}.minDomains")
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            if constraint.get(name, "Honor") not in _INCLUSION:
                errors.append(not_supported(f"{here}.{name}", Enum(constraint[name]), _INCLUSION))
        _check_label_keys(errors, constraint, here)
        check_label_selector(errors, constraint.get("labelSelector"), f"{here}.labelSelector")


def _check_min_domains(errors: Errors, domains: int | None, action: str, path: str) -> None:
    if domains is None:
        return
    if domains <= 0:
        errors.append(invalid(path, domains, "must be greater than zero"))
    if action != "DoNotSchedule":
        detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
        errors.append(invalid(path, domains, detail))


# Tolerations


def check_taint_effect(errors: Errors, effect: str, path: str) -> None:
    if effect not in _EFFECTS:
        errors.append(not_supported(path, Enum(effect), _EFFECTS))


def check_tolerations(errors: Errors, tolerations: Sequence[Object], path: str) -> None:
    for index, toleration in enumerate(tolerations):
        here = f"{path}[{index}]"
        key, operator = toleration.get("key", ""), toleration.get("operator", "")
        value, effect = toleration.get("value", ""), toleration.get("effect", "")
        if key:
            check_label_key(errors, key, f"{here}.key")
        elif operator != "Exists":
            detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            errors.append(invalid(f"{here}.operator", Enum(operator), detail))
        if "tolerationSeconds" in toleration and effect != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            errors.append(invalid(f"{here}.effect", Enum(effect), detail))
        if operator in ("", "Equal"):
            if texts := is_label_value(value):
                errors.append(invalid(f"{here}.operator", value, ";".join(texts)))
        elif operator == "Exists":
            if value:
                detail = "value must be empty when `operator` is 'Exists'"
                errors.append(invalid(f"{here}.operator", value, detail))
        else:
            # Lt and Gt are known, but behind a gate that is off.
            known = ("Equal", "Exists", "Lt", "Gt") if operator in ("Lt", "Gt") else ("Equal", "Exists")
            errors.append(not_supported(f"{here}.operator", Enum(operator), known))
        if effect:
            check_taint_effect(errors, effect, f"{here}.effect")
