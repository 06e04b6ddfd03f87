"""What the API says about objects of the smaller groups: the fields they cannot be without, and those that stay.

Expects defaulted objects. Rules stand in the API's order.
"""

from typing import Any, Final

from mooring.api.templates import check_immutable
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_supported, required
from mooring.kube.names import is_dns1123_label

__all__ = [
    "validate_autoscaler",
    "validate_endpoint_slice",
    "validate_role_binding",
    "validate_role_binding_update",
    "validate_runtime_class",
    "validate_runtime_class_update",
    "validate_storage_class",
    "validate_storage_class_update",
]

Object = dict[str, Any]
Errors = list[FieldError]

_RBAC: Final = "rbac.authorization.k8s.io"
_ADDRESS_TYPES: Final = ("FQDN", "IPv4", "IPv6")
_RECLAIM_POLICIES: Final = ("Delete", "Retain")
_BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")


def validate_autoscaler(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    least, most, target = spec["minReplicas"], spec.get("maxReplicas", 0), spec.get("scaleTargetRef") or {}
    if least < 1:
        errors.append(invalid("spec.minReplicas", least, "must be greater than or equal to 1"))
    if most < 1:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than 0"))
    if most < least:
        errors.append(invalid("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`"))
    errors += [required(f"spec.scaleTargetRef.{name}", "") for name in ("kind", "name") if not target.get(name)]
    return errors


def validate_role_binding(obj: Object) -> list[FieldError]:
    errors: Errors = []
    role, kinds = obj["roleRef"], ("ClusterRole",) if obj["kind"] == "ClusterRoleBinding" else ("Role", "ClusterRole")
    if role["apiGroup"] != _RBAC:
        errors.append(not_supported("roleRef.apiGroup", role["apiGroup"], (_RBAC,)))
    if role.get("kind", "") not in kinds:
        errors.append(not_supported("roleRef.kind", role.get("kind", ""), kinds))
    if not role.get("name"):
        errors.append(required("roleRef.name", ""))
    for index, subject in enumerate(obj.get("subjects", ())):
        if not subject.get("name"):
            errors.append(required(f"subjects[{index}].name", ""))
        kind = subject.get("kind", "")
        if kind not in ("ServiceAccount", "User", "Group"):
            errors.append(not_supported(f"subjects[{index}].kind", kind, ("ServiceAccount", "User", "Group")))
        elif kind == "ServiceAccount" and not subject.get("namespace") and obj["kind"] == "ClusterRoleBinding":
            errors.append(required(f"subjects[{index}].namespace", ""))
    return errors


def validate_role_binding_update(new: Object, old: Object) -> list[FieldError]:
    return [] if new["roleRef"] == old["roleRef"] else [invalid("roleRef", new["roleRef"], "cannot change roleRef")]


def validate_storage_class(obj: Object) -> list[FieldError]:
    errors: Errors = []
    if not obj.get("provisioner"):
        errors.append(required("provisioner", ""))
    if obj["reclaimPolicy"] not in _RECLAIM_POLICIES:
        errors.append(not_supported("reclaimPolicy", Enum(obj["reclaimPolicy"]), _RECLAIM_POLICIES))
    if obj["volumeBindingMode"] not in _BINDING_MODES:
        errors.append(not_supported("volumeBindingMode", Enum(obj["volumeBindingMode"]), _BINDING_MODES))
    return errors


def validate_storage_class_update(new: Object, old: Object) -> list[FieldError]:
    errors = [
        forbidden(name, f"updates to {name} are forbidden.")
        for name in ("parameters", "provisioner", "reclaimPolicy")
        if new.get(name) != old.get(name)
    ]
    check_immutable(errors, new["volumeBindingMode"], old["volumeBindingMode"], "volumeBindingMode")
    return errors


def validate_runtime_class(obj: Object) -> list[FieldError]:
    handler = obj.get("handler", "")
    return [invalid("handler", handler, text) for text in is_dns1123_label(handler)]


def validate_runtime_class_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    check_immutable(errors, new.get("handler"), old.get("handler"), "handler")
    return errors


def validate_endpoint_slice(obj: Object) -> list[FieldError]:
    kind = obj.get("addressType", "")
    if not kind:
        return [required("addressType", "")]
    return [] if kind in _ADDRESS_TYPES else [not_supported("addressType", Enum(kind), _ADDRESS_TYPES)]
