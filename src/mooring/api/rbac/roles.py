"""Roles and their bindings: what the API server adds to them, and what it says about them, in its order."""

from typing import Final

from mooring.api.core.validation.meta import check_label_selector
from mooring.kube.errors import FieldError, invalid, not_supported, required
from mooring.kube.names import is_dns1123_subdomain, path_segment_texts
from mooring.kube.objects import Object

__all__ = [
    "default_role_binding",
    "prepare_role",
    "prepare_role_update",
    "validate_cluster_role",
    "validate_role",
    "validate_role_binding",
    "validate_role_binding_update",
]

Errors = list[FieldError]

_GROUP: Final = "rbac.authorization.k8s.io"
_SUBJECTS: Final = ("ServiceAccount", "User", "Group")


def default_role_binding(obj: Object) -> None:
    role = obj["roleRef"]
    role["apiGroup"] = role.get("apiGroup") or _GROUP
    for subject in obj.get("subjects", ()):
        if not subject.get("apiGroup") and subject["kind"] in ("User", "Group"):
            subject["apiGroup"] = _GROUP


def prepare_role(obj: Object, now: str) -> None:
    """No rules are stored as nothing."""
    obj["rules"] = obj["rules"] or None


def prepare_role_update(new: Object, old: Object) -> None:
    new["rules"] = new["rules"] or None


def validate_role(obj: Object) -> list[FieldError]:
    errors: Errors = []
    for index, rule in enumerate(obj["rules"] or ()):
        _check_rule(errors, rule, True, f"rules[{index}]")
    return errors


def validate_cluster_role(obj: Object) -> list[FieldError]:
    errors: Errors = []
    for index, rule in enumerate(obj["rules"] or ()):
        _check_rule(errors, rule, False, f"rules[{index}]")
    if "aggregationRule" in obj:
        path = "aggregationRule.clusterRoleSelectors"
        selectors = obj["aggregationRule"].get("clusterRoleSelectors", ())
        if not selectors:
            detail = "at least one clusterRoleSelector required if aggregationRule is non-nil"
            errors.append(required(path, detail))
        for index, selector in enumerate(selectors):
            before = len(errors)
            check_label_selector(errors, selector, f"{path}[{index}]")
            if len(errors) > before:
                errors.append(invalid(f"{path}[{index}]", None, "invalid label selector."))
    return errors


def _check_rule(errors: Errors, rule: Object, namespaced: bool, path: str) -> None:
    if not rule["verbs"]:
        errors.append(required(f"{path}.verbs", "verbs must contain at least one value"))
    urls = rule.get("nonResourceURLs")
    if urls:
        if namespaced:
            detail = "namespaced rules cannot apply to non-resource URLs"
            errors.append(invalid(f"{path}.nonResourceURLs", urls, detail))
        if rule.get("apiGroups") or rule.get("resources") or rule.get("resourceNames"):
            detail = "rules cannot apply to both regular resources and non-resource URLs"
            errors.append(invalid(f"{path}.nonResourceURLs", urls, detail))
        return
    if not rule.get("apiGroups"):
        errors.append(required(f"{path}.apiGroups", "resource rules must supply at least one api group"))
    if not rule.get("resources"):
        errors.append(required(f"{path}.resources", "resource rules must supply at least one resource"))


def validate_role_binding(obj: Object) -> list[FieldError]:
    errors: Errors = []
    namespaced = obj["kind"] == "RoleBinding"
    role, kinds = obj["roleRef"], ("Role", "ClusterRole") if namespaced else ("ClusterRole",)
    if role["apiGroup"] != _GROUP:
        errors.append(not_supported("roleRef.apiGroup", role["apiGroup"], (_GROUP,)))
    if role["kind"] not in kinds:
        errors.append(not_supported("roleRef.kind", role["kind"], kinds))
    if role["name"]:
        errors += [invalid("roleRef.name", role["name"], text) for text in path_segment_texts(role["name"])]
    else:
        errors.append(required("roleRef.name", ""))
    for index, subject in enumerate(obj.get("subjects", ())):
        _check_subject(errors, subject, namespaced, f"subjects[{index}]")
    return errors


def _check_subject(errors: Errors, subject: Object, namespaced: bool, path: str) -> None:
    name, kind, group = subject["name"], subject["kind"], subject.get("apiGroup", "")
    if not name:
        errors.append(required(f"{path}.name", ""))
    if kind not in _SUBJECTS:
        errors.append(not_supported(f"{path}.kind", kind, _SUBJECTS))
    elif kind != "ServiceAccount":
        if group != _GROUP:
            errors.append(not_supported(f"{path}.apiGroup", group, (_GROUP,)))
    else:
        if name:
            errors += [invalid(f"{path}.name", name, text) for text in is_dns1123_subdomain(name)]
        if group:
            errors.append(not_supported(f"{path}.apiGroup", group, ("",)))
        if not namespaced and not subject.get("namespace"):
            errors.append(required(f"{path}.namespace", ""))


def validate_role_binding_update(new: Object, old: Object) -> list[FieldError]:
    if new["roleRef"] == old["roleRef"]:
        return []
    shown = {"APIGroup": new["roleRef"]["apiGroup"], "Kind": new["roleRef"]["kind"], "Name": new["roleRef"]["name"]}
    return [invalid("roleRef", shown, "cannot change roleRef")]
