"""APIServices: their defaults, and their validation in the API's order."""

from typing import Final

from mooring.api.core.validation.meta import check_texts
from mooring.kube.errors import Enum, FieldError, go_quote, invalid, not_supported, required
from mooring.kube.names import is_dns1035_label, is_dns1123_subdomain, is_port_number, path_segment_texts
from mooring.kube.objects import Object

__all__ = [
    "default_api_service",
    "prepare_api_service",
    "validate_api_service",
    "validate_api_service_status",
    "validate_api_service_update",
]

Errors = list[FieldError]

_PORT: Final = 443
_MAX_GROUP_PRIORITY: Final = 20_000
_MAX_VERSION_PRIORITY: Final = 1000
_STATUSES: Final = ("True", "False", "Unknown")


def default_api_service(obj: Object) -> None:
    if (service := obj["spec"].get("service")) is not None:
        service.setdefault("port", _PORT)


def prepare_api_service(obj: Object, now: str) -> None:
    """What this server answers for itself is there as soon as it is said."""
    obj["status"] = {}
    if "service" not in obj["spec"]:
        local = {
            "type": "Available",
            "status": "True",
            "lastTransitionTime": now,
            "reason": "Local",
            "message": "Local APIServices are always available",
        }
        obj["status"] = {"conditions": [local]}


def validate_api_service(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    group, version = spec.get("group", ""), spec.get("version", "")
    _check_name(errors, obj["metadata"].get("name", ""), f"{version}.{group}")
    if group:
        check_texts(errors, "spec.group", group, is_dns1123_subdomain(group))
    elif version != "v1":
        errors.append(required("spec.group", "only v1 may have an empty group and it better be legacy kube"))
    check_texts(errors, "spec.version", version, is_dns1035_label(version))
    for field, limit in (("groupPriorityMinimum", _MAX_GROUP_PRIORITY), ("versionPriority", _MAX_VERSION_PRIORITY)):
        if not 0 < spec[field] <= limit:
            errors.append(invalid(f"spec.{field}", spec[field], f"must be positive and less than {limit}"))
    bundle, insecure = spec.get("caBundle", ""), spec.get("insecureSkipTLSVerify", False)
    if "service" not in spec:
        if bundle:
            size = f"{len(bundle) * 3 // 4 - bundle.count('=')} bytes"
            errors.append(invalid("spec.caBundle", size, "local APIServices may not have a caBundle"))
        if insecure:
            detail = "local APIServices may not have insecureSkipTLSVerify"
            errors.append(invalid("spec.insecureSkipTLSVerify", insecure, detail))
        return errors
    _check_service(errors, spec["service"])
    if insecure and bundle:
        errors.append(invalid("spec.insecureSkipTLSVerify", insecure, "may not be true if caBundle is present"))
    return errors


def _check_name(errors: Errors, name: str, wanted: str) -> None:
    texts = path_segment_texts(name)
    if not texts and name != wanted:
        texts = [f'must be `spec.version+"."+spec.group`: {go_quote(wanted)}']
    check_texts(errors, "metadata.name", name, texts)


def _check_service(errors: Errors, service: Object) -> None:
    for field in ("namespace", "name"):
        if not service.get(field):
            errors.append(required(f"spec.service.{field}", ""))
    if texts := is_port_number(service["port"]):
        errors.append(invalid("spec.service.port", service["port"], f"port is not valid: {', '.join(texts)}"))


def validate_api_service_update(new: Object, old: Object) -> list[FieldError]:
    return validate_api_service(new)


def validate_api_service_status(new: Object, old: Object) -> list[FieldError]:
    return [
        not_supported(f"status.conditions[{index}].status", Enum(condition["status"]), _STATUSES)
        for index, condition in enumerate(new.get("status", {}).get("conditions", ()))
        if condition["status"] not in _STATUSES
    ]
