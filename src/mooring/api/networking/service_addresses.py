"""ServiceCIDRs and IPAddresses: the ranges that Services get addresses from, and the addresses that are taken."""

from ipaddress import ip_network
from typing import Final

from mooring.api.core.addresses import check_cidr, is_cidr, is_ip
from mooring.api.core.validation.meta import check_texts
from mooring.kube.errors import FieldError, invalid, required
from mooring.kube.names import is_dns1123_subdomain, path_segment_texts
from mooring.kube.objects import Object

__all__ = [
    "address_name",
    "validate_address",
    "validate_address_update",
    "validate_range",
    "validate_range_update",
]

Errors = list[FieldError]

# One for each IP family.
_MAX_RANGES: Final = 2
_PATH: Final = "spec.cidrs"
_IMMUTABLE: Final = "field is immutable"


def validate_range(obj: Object) -> list[FieldError]:
    errors: Errors = []
    ranges = obj["spec"].get("cidrs", [])
    if not ranges:
        return [required(_PATH, "at least one CIDR required")]
    if len(ranges) > _MAX_RANGES:
        return [invalid(_PATH, {"CIDRs": ranges}, f"may only hold up to {_MAX_RANGES} values")]
    for index, text in enumerate(ranges):
        check_cidr(errors, text, f"{_PATH}[{index}]")
    families = [ip_network(text, strict=False).version for text in ranges if is_cidr(text)]
    if len(families) != len(set(families)):
        detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
        errors.append(invalid(_PATH, ranges, detail))
    return errors


def validate_range_update(new: Object, old: Object) -> list[FieldError]:
    """A range stays as it is; one of the other family may be added."""
    ranges, was = new["spec"].get("cidrs", []), old["spec"].get("cidrs", [])
    changed = [
        invalid(f"{_PATH}[{index}]", text, _IMMUTABLE)
        for index, (text, before) in enumerate(zip(ranges, was, strict=False))
        if text != before
    ]
    if len(ranges) == len(was):
        return changed
    if len(was) == 1 and len(ranges) == _MAX_RANGES:
        return [*changed, *validate_range(new)]
    return [invalid(_PATH, ranges, _IMMUTABLE)]


def address_name(name: str, prefix: bool) -> list[str]:
    return [] if is_ip(name) else ["must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"]


def validate_address(obj: Object) -> list[FieldError]:
    errors: Errors = []
    parent = obj["spec"].get("parentRef")
    path = "spec.parentRef"
    if parent is None:
        return [required(path, "")]
    if group := parent.get("group"):
        check_texts(errors, f"{path}.group", group, is_dns1123_subdomain(group))
    for field in ("resource", "name"):
        if value := parent.get(field):
            check_texts(errors, f"{path}.{field}", value, path_segment_texts(value))
        else:
            errors.append(required(f"{path}.{field}", ""))
    if namespace := parent.get("namespace"):
        check_texts(errors, f"{path}.namespace", namespace, path_segment_texts(namespace))
    return errors


def validate_address_update(new: Object, old: Object) -> list[FieldError]:
    parent = new["spec"].get("parentRef")
    if parent == old["spec"].get("parentRef"):
        return []
    shown = parent and {field.title(): parent.get(field, "") for field in ("group", "resource", "namespace", "name")}
    return [*validate_address(new), invalid("spec.parentRef", shown, _IMMUTABLE)]
