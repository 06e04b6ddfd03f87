"""RuntimeClasses: their defaults, and their validation in the API's order."""

from typing import Final

from mooring.api.core.defaults.spec import rounded
from mooring.api.core.pod_templates import check_immutable
from mooring.api.core.validation.affinity import check_tolerations
from mooring.api.core.validation.meta import check_labels
from mooring.api.core.validation.resources import check_overhead
from mooring.kube.errors import FieldError, duplicate, invalid
from mooring.kube.names import is_dns1123_label
from mooring.kube.objects import Object

__all__ = ["default_runtime_class", "validate_runtime_class", "validate_runtime_class_update"]

Errors = list[FieldError]

_TOLERATION_KEYS: Final = ("key", "operator", "value", "effect")


def default_runtime_class(obj: Object) -> None:
    overhead = obj.get("overhead", {})
    if "podFixed" in overhead:
        overhead["podFixed"] = rounded(overhead["podFixed"])


def validate_runtime_class(obj: Object) -> list[FieldError]:
    handler = obj["handler"]
    errors = [invalid("handler", handler, text) for text in is_dns1123_label(handler)]
    check_overhead(errors, obj.get("overhead", {}).get("podFixed", {}), "overhead")
    scheduling = obj.get("scheduling", {})
    check_labels(errors, scheduling.get("nodeSelector"), "scheduling.nodeSelector")
    tolerations = scheduling.get("tolerations", [])
    check_tolerations(errors, tolerations, "scheduling.tolerations")
    keys = [tuple(each.get(name) for name in _TOLERATION_KEYS) for each in tolerations]
    for index, key in enumerate(keys):
        if key in keys[:index]:
            errors.append(duplicate(f"scheduling.tolerations[{index}]", tolerations[index]))
    return errors


def validate_runtime_class_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    check_immutable(errors, new["handler"], old["handler"], "handler")
    return errors
