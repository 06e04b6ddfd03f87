"""StorageClasses and VolumeAttributesClasses: their defaults, and their validation in the API's order."""

from typing import Final

from mooring.api.core.pod_templates import check_immutable
from mooring.api.core.validation.meta import check_label_key
from mooring.kube.errors import Enum, FieldError, duplicate, forbidden, invalid, not_supported, required, too_long
from mooring.kube.names import byte_length
from mooring.kube.objects import Object

__all__ = [
    "default_storage_class",
    "validate_attributes_class",
    "validate_attributes_class_update",
    "validate_storage_class",
    "validate_storage_class_update",
]

Errors = list[FieldError]

_RECLAIM_POLICIES: Final = ("Delete", "Retain")
_BINDING_MODES: Final = ("Immediate", "WaitForFirstConsumer")
_MAX_PARAMETERS: Final = 512
_MAX_PARAMETERS_BYTES: Final = 256 * 1024


def default_storage_class(obj: Object) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def validate_storage_class(obj: Object) -> list[FieldError]:
    errors: Errors = []
    _check_provisioner(errors, obj, "provisioner")
    _check_parameters(errors, obj)
    policy = obj["reclaimPolicy"]
    if policy and policy not in _RECLAIM_POLICIES:
        errors.append(not_supported("reclaimPolicy", Enum(policy), _RECLAIM_POLICIES))
    if obj["volumeBindingMode"] not in _BINDING_MODES:
        errors.append(not_supported("volumeBindingMode", Enum(obj["volumeBindingMode"]), _BINDING_MODES))
    terms: list[dict[str, set[str]]] = []
    for index, term in enumerate(obj.get("allowedTopologies", ())):
        path = f"allowedTopologies[{index}].matchLabelExpressions"
        seen = _check_term(errors, term, path)
        # The API begins its comparison with as many empty terms as there are terms.
        if not seen or seen in terms:
            errors.append(duplicate(path, ""))
        terms.append(seen)
    return errors


def _check_provisioner(errors: Errors, obj: Object, field: str) -> None:
    if obj[field]:
        check_label_key(errors, obj[field].lower(), field)
    else:
        errors.append(required(field, ""))


def _check_parameters(errors: Errors, obj: Object, *, needed: bool = False) -> None:
    parameters = obj.get("parameters", {})
    if len(parameters) > _MAX_PARAMETERS:
        errors.append(too_long("parameters", _MAX_PARAMETERS))
        return
    if "" in parameters:
        errors.append(invalid("parameters", "", "field can not be empty."))
    if sum(byte_length(key) + byte_length(value) for key, value in parameters.items()) > _MAX_PARAMETERS_BYTES:
        errors.append(too_long("parameters", _MAX_PARAMETERS_BYTES))
    if needed and not parameters:
        errors.append(required("parameters", "must contain at least one key/value pair"))


def validate_attributes_class(obj: Object) -> list[FieldError]:
    errors: Errors = []
    _check_provisioner(errors, obj, "driverName")
    _check_parameters(errors, obj, needed=True)
    return errors


def validate_attributes_class_update(new: Object, old: Object) -> list[FieldError]:
    errors = [
        forbidden(name, f"updates to {name} are forbidden.")
        for name in ("driverName", "parameters")
        if new.get(name) != old.get(name)
    ]
    return errors + validate_attributes_class(new)


def _check_term(errors: Errors, term: Object, path: str) -> dict[str, set[str]]:
    seen: dict[str, set[str]] = {}
    for index, each in enumerate(term.get("matchLabelExpressions", ())):
        here, values = f"{path}[{index}]", each["values"] or []
        if not values:
            errors.append(required(f"{here}.values", ""))
        for position, value in enumerate(values):
            if value in values[:position]:
                errors.append(duplicate(f"{here}.values[{position}]", value))
        check_label_key(errors, each["key"], f"{here}.key")
        if each["key"] in seen:
            errors.append(duplicate(f"{here}.key", each["key"]))
        seen[each["key"]] = set(values)
    return seen


def validate_storage_class_update(new: Object, old: Object) -> list[FieldError]:
    errors = [
        forbidden(name, f"updates to {name} are forbidden.")
        for name in ("parameters", "provisioner", "reclaimPolicy")
        if new.get(name) != old.get(name)
    ]
    check_immutable(errors, Enum(new["volumeBindingMode"]), old["volumeBindingMode"], "volumeBindingMode")
    return errors
