"""ResourceClaims, templates of them and DeviceClasses: defaults, and validation in the API's order."""

from collections.abc import Sequence
from typing import Any, Final

from mooring.api.core.validation.affinity import check_node_selector
from mooring.api.core.validation.disks import check_driver
from mooring.api.core.validation.meta import check_annotations, check_dns_label, check_labels, check_texts
from mooring.api.core.validation.status import check_conditions
from mooring.api.resource.requests import (
    MAX_ITEMS,
    check_configuration,
    check_each,
    check_request_reference,
    check_selectors,
    check_spec,
    default_spec,
    request_names,
)
from mooring.api.resource.shown import shown
from mooring.api.resource.views import MAX_RESERVED_FOR, MAX_RESULTS
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_supported, required, too_long
from mooring.kube.names import byte_length, is_dns1123_subdomain
from mooring.kube.objects import Object

__all__ = [
    "check_pool_name",
    "default_claim",
    "default_claim_template",
    "default_device_class",
    "prepare_claim_status",
    "validate_claim",
    "validate_claim_status",
    "validate_claim_template",
    "validate_claim_template_update",
    "validate_claim_update",
    "validate_device_class",
]

Errors = list[FieldError]

_MAX_POOL_NAME_BYTES: Final = 253
_SOURCES: Final = ("FromClaim", "FromClass")
# Fields of a result whose gates are off.
_DROPPED: Final = ("bindingConditions", "bindingFailureConditions", "consumedCapacity", "shareID", "tolerations")


def default_claim(obj: Object) -> None:
    default_spec(obj["spec"])


def default_claim_template(obj: Object) -> None:
    default_spec(obj["spec"]["spec"])


def default_device_class(obj: Object) -> None:
    obj["spec"].pop("extendedResourceName", None)


def prepare_claim_status(new: Object, old: Object, now: str) -> None:
    """Devices that the claim has no more lose what drivers told of them."""
    status = new.get("status", {})
    for result in _results(new):
        for name in _DROPPED:
            result.pop(name, None)
    gone = {_device(each) for each in _results(old)} - {_device(each) for each in _results(new)}
    kept = [each for each in status.get("devices") or () if _device(each) not in gone]
    if kept:
        status["devices"] = kept
    else:
        status.pop("devices", None)


def _results(claim: Object) -> Sequence[Object]:
    found: Sequence[Object] = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results") or ()
    return found


def _device(entry: Object) -> tuple[Any, ...]:
    return entry["driver"], entry["pool"], entry["device"]


def validate_claim(obj: Object) -> list[FieldError]:
    errors: Errors = []
    check_spec(errors, obj["spec"], "spec")
    return errors


def validate_claim_update(new: Object, old: Object) -> list[FieldError]:
    """The spec never changes, so nothing else is said about it."""
    return _unchanged("resource.ResourceClaimSpec", new["spec"], old["spec"], "spec")


def validate_claim_template_update(new: Object, old: Object) -> list[FieldError]:
    return _unchanged("resource.ResourceClaimTemplateSpec", new["spec"], old["spec"], "spec")


def _unchanged(shape: str, new: Object, old: Object, path: str) -> list[FieldError]:
    return [] if new == old else [invalid(path, shown(shape, new), "field is immutable")]


def validate_claim_template(obj: Object) -> list[FieldError]:
    errors: Errors = []
    metadata = obj["spec"].get("metadata", {})
    check_labels(errors, metadata.get("labels"), "spec.metadata.labels")
    check_annotations(errors, metadata.get("annotations"), "spec.metadata.annotations")
    check_spec(errors, obj["spec"]["spec"], "spec.spec")
    return errors


def validate_device_class(obj: Object) -> list[FieldError]:
    errors: Errors = []
    check_selectors(errors, obj["spec"].get("selectors") or (), "spec.selectors")
    check_each(errors, obj["spec"].get("config") or (), "spec.config", MAX_ITEMS, check_configuration)
    return errors


def validate_claim_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    status, before = new.get("status", {}), old.get("status", {})
    users, known = status.get("reservedFor") or [], before.get("reservedFor") or []
    allocation = status.get("allocation")
    check_each(errors, users, "status.reservedFor", MAX_RESERVED_FOR, _check_user, lambda user: user["uid"])
    allocated = {_device(each) for each in _results(new)}
    for index, device in enumerate(status.get("devices") or ()):
        if _device(device) not in allocated:
            text = "must be an allocated device in the claim"
            names = zip(("Driver", "Pool", "Device", "ShareID"), (*_device(device), ""), strict=True)
            errors.append(invalid(f"status.devices[{index}]", dict(names), text))
        check_conditions(errors, device.get("conditions") or (), f"status.devices[{index}].conditions")
    if users and allocation is None:
        errors.append(forbidden("status.reservedFor", "may not be specified when `allocated` is not set"))
    elif "deletionTimestamp" in new["metadata"] and any(user not in known for user in users):
        when = "while `deallocationRequested` or `deletionTimestamp` are set"
        errors.append(forbidden("status.reservedFor", f"new entries may not be added {when}"))
    if allocation is not None and before.get("allocation") is not None:
        errors.extend(_unchanged("resource.AllocationResult", allocation, before["allocation"], "status.allocation"))
    elif allocation is not None:
        _check_allocation(errors, allocation, "status.allocation", request_names(new["spec"]))
    return errors


def _check_user(errors: Errors, user: Object, path: str) -> None:
    errors.extend(required(f"{path}.{name}", "") for name in ("resource", "name", "uid") if not user[name])


def _check_allocation(errors: Errors, allocation: Object, path: str, names: set[str]) -> None:
    devices, here = allocation.get("devices", {}), f"{path}.devices"
    check_each(
        errors,
        devices.get("results") or (),
        f"{here}.results",
        MAX_RESULTS,
        lambda errors, result, at: _check_result(errors, result, at, names),
    )
    check_each(
        errors,
        devices.get("config") or (),
        f"{here}.config",
        2 * MAX_ITEMS,
        lambda errors, config, at: _check_allocated_configuration(errors, config, at, names),
    )
    if "nodeSelector" in allocation:
        check_node_selector(errors, allocation["nodeSelector"], f"{path}.nodeSelector")


def _check_result(errors: Errors, result: Object, path: str, names: set[str]) -> None:
    check_request_reference(errors, result["request"], f"{path}.request", names)
    check_driver(errors, result["driver"], f"{path}.driver")
    check_pool_name(errors, result["pool"], f"{path}.pool")
    check_dns_label(errors, result["device"], f"{path}.device")


def check_pool_name(errors: Errors, name: str, path: str) -> None:
    if not name:
        errors.append(required(path, ""))
        return
    if byte_length(name) > _MAX_POOL_NAME_BYTES:
        errors.append(too_long(path, _MAX_POOL_NAME_BYTES))
    for part in name.split("/"):
        check_texts(errors, path, part, is_dns1123_subdomain(part))


def _check_allocated_configuration(errors: Errors, config: Object, path: str, names: set[str]) -> None:
    source = config["source"]
    if not source:
        errors.append(required(f"{path}.source", ""))
    elif source not in _SOURCES:
        errors.append(not_supported(f"{path}.source", Enum(source), _SOURCES))
    check_each(
        errors,
        config.get("requests") or (),
        f"{path}.requests",
        MAX_ITEMS,
        lambda errors, name, at: check_request_reference(errors, name, at, names),
        str,
    )
    check_configuration(errors, config, path)
