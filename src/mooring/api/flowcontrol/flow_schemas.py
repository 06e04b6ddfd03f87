"""FlowSchemas: their defaults, and their validation in the API's order."""

from collections.abc import Sequence
from typing import Final

from mooring.api.core.validation.meta import check_texts
from mooring.kube.errors import Enum, FieldError, duplicate, forbidden, invalid, not_supported, required
from mooring.kube.names import is_dns1123_label, is_dns1123_subdomain
from mooring.kube.objects import Object

__all__ = ["check_conditions", "default_flow_schema", "validate_flow_schema", "validate_flow_schema_status"]

Errors = list[FieldError]

_DEFAULT_PRECEDENCE: Final = 1000
_MAX_PRECEDENCE: Final = 10_000
_METHODS: Final = ("ByNamespace", "ByUser")
_VERBS: Final = ("create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch")
# Each kind of subject, with the field that holds it.
_SUBJECTS: Final = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}


def default_flow_schema(obj: Object) -> None:
    spec = obj["spec"]
    spec["matchingPrecedence"] = spec.get("matchingPrecedence") or _DEFAULT_PRECEDENCE


def validate_flow_schema(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    _check_precedence(errors, spec["matchingPrecedence"], obj["metadata"].get("name", ""))
    method = spec.get("distinguisherMethod")
    if method is not None and method["type"] not in _METHODS:
        errors.append(not_supported("spec.distinguisherMethod.type", {"Type": method["type"]}, _METHODS))
    if level := spec["priorityLevelConfiguration"]["name"]:
        check_texts(errors, "spec.priorityLevelConfiguration.name", level, is_dns1123_subdomain(level))
    else:
        errors.append(required("spec.priorityLevelConfiguration.name", "must reference a priority level"))
    for index, rule in enumerate(spec.get("rules", ())):
        _check_rule(errors, rule, f"spec.rules[{index}]")
    check_conditions(errors, obj)
    return errors


def validate_flow_schema_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    check_conditions(errors, new)
    return errors


def check_conditions(errors: Errors, obj: Object) -> None:
    seen: set[str] = set()
    for index, condition in enumerate(obj.get("status", {}).get("conditions", ())):
        path, name = f"status.conditions[{index}].type", condition.get("type", "")
        if name in seen:
            errors.append(duplicate(path, name))
        seen.add(name)
        if not name:
            errors.append(required(path, ""))


def _check_precedence(errors: Errors, value: int, name: str) -> None:
    path = "spec.matchingPrecedence"
    if value <= 0:
        errors.append(invalid(path, value, "must be a positive value"))
    if value > _MAX_PRECEDENCE:
        errors.append(invalid(path, value, f"must not be greater than {_MAX_PRECEDENCE}"))
    if value == 1 and name != "exempt":
        errors.append(invalid(path, value, "only the schema named 'exempt' may have matchingPrecedence 1"))


def _check_rule(errors: Errors, rule: Object, path: str) -> None:
    subjects = rule.get("subjects") or []
    if not subjects:
        errors.append(required(f"{path}.subjects", "subjects must contain at least one value"))
    for index, subject in enumerate(subjects):
        _check_subject(errors, subject, f"{path}.subjects[{index}]")
    resources, others = rule.get("resourceRules", []), rule.get("nonResourceRules", [])
    if not resources and not others:
        errors.append(required(path, "at least one of resourceRules and nonResourceRules has to be non-empty"))
    for index, each in enumerate(resources):
        _check_resource_rule(errors, each, f"{path}.resourceRules[{index}]")
    for index, each in enumerate(others):
        _check_other_rule(errors, each, f"{path}.nonResourceRules[{index}]")


def _check_subject(errors: Errors, subject: Object, path: str) -> None:
    kind = subject["kind"]
    own = _SUBJECTS.get(kind)
    if own is None:
        errors.append(not_supported(f"{path}.kind", Enum(kind), sorted(_SUBJECTS)))
        return
    _check_named(errors, subject.get(own), own, kind, f"{path}.{own}")
    for other in ("serviceAccount", "user", "group"):
        if other != own and other in subject:
            word = f"{other[:1].upper()}{other[1:]}"
            errors.append(forbidden(f"{path}.{other}", f"{other} is forbidden when subject kind is not '{word}'"))


def _check_named(errors: Errors, found: Object | None, field: str, kind: str, path: str) -> None:
    if found is None:
        errors.append(required(path, f"{field} is required when subject kind is '{kind}'"))
        return
    name = found["name"]
    if not name:
        errors.append(required(f"{path}.name", ""))
    elif field == "serviceAccount" and name != "*":
        check_texts(errors, f"{path}.name", name, is_dns1123_subdomain(name))
    if field != "serviceAccount":
        return
    if namespace := found["namespace"]:
        check_texts(errors, f"{path}.namespace", namespace, is_dns1123_label(namespace))
    else:
        errors.append(required(f"{path}.namespace", "must specify namespace for service account"))


def _check_verbs(errors: Errors, verbs: Sequence[str], path: str) -> None:
    if not verbs:
        errors.append(required(f"{path}.verbs", "verbs must contain at least one value"))
    elif "*" in verbs:
        _check_alone(errors, verbs, f"{path}.verbs", "verbs")
    elif not set(verbs) <= set(_VERBS):
        errors.append(not_supported(f"{path}.verbs", verbs, _VERBS))


def _check_alone(errors: Errors, values: Sequence[str], path: str, what: str) -> None:
    if len(values) > 1 and "*" in values:
        errors.append(invalid(path, values, f"if '*' is present, must not specify other {what}"))


def _check_other_rule(errors: Errors, rule: Object, path: str) -> None:
    _check_verbs(errors, rule.get("verbs") or [], path)
    urls = rule.get("nonResourceURLs") or []
    field = f"{path}.nonResourceURLs"
    if not urls:
        errors.append(required(field, "nonResourceURLs must contain at least one value"))
    elif "*" in urls:
        _check_alone(errors, urls, field, "non-resource URLs")
    else:
        for index, url in enumerate(urls):
            if detail := _url_text(url):
                errors.append(invalid(f"{field}[{index}]", url, detail))


def _url_text(url: str) -> str:
    if not url:
        return "must not be empty"
    if url == "/":
        return ""
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    if "*" in url and (url.count("*") > 1 or not url.endswith("/*")):
        return "wildcard can only do suffix matching"
    return ""


def _check_resource_rule(errors: Errors, rule: Object, path: str) -> None:
    _check_verbs(errors, rule.get("verbs") or [], path)
    for field, one, many in (("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")):
        values = rule.get(field) or []
        if not values:
            errors.append(required(f"{path}.{field}", f"resource rules must supply at least one {one}"))
        _check_alone(errors, values, f"{path}.{field}", many)
    _check_namespaces(errors, rule, f"{path}.namespaces")


def _check_namespaces(errors: Errors, rule: Object, path: str) -> None:
    namespaces = rule.get("namespaces") or []
    if not namespaces and not rule.get("clusterScope"):
        detail = "resource rules that are not cluster scoped must supply at least one namespace"
        errors.append(required(path, detail))
    elif "*" in namespaces:
        _check_alone(errors, namespaces, path, "namespaces")
    else:
        for index, name in enumerate(namespaces):
            for text in is_dns1123_label(name):
                detail = f"each member of this list must be '*' or a DNS-1123 label; {text}"
                errors.append(invalid(f"{path}[{index}]", name, detail))
