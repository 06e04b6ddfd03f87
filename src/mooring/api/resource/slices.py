"""ResourceSlices: the fields that are dropped, and validation in the API's order."""

import re
from typing import Final

from mooring.api.core.pod_templates import check_immutable
from mooring.api.core.validation.affinity import check_node_selector
from mooring.api.core.validation.disks import check_driver
from mooring.api.core.validation.meta import check_dns_label, check_texts
from mooring.api.resource.claims import check_pool_name
from mooring.api.resource.requests import check_each, check_qualified_name
from mooring.api.resource.shown import shown
from mooring.kube.errors import FieldError, invalid, required, too_long
from mooring.kube.names import byte_length, is_dns1123_subdomain
from mooring.kube.objects import Object

__all__ = ["default_slice", "validate_slice", "validate_slice_update"]

Errors = list[FieldError]

_MAX_DEVICES: Final = 128
_MAX_ATTRIBUTES: Final = 32
_MAX_VALUE_BYTES: Final = 64
_VALUES: Final = ("int", "bool", "string", "version")
_ONE_SCOPE: Final = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
# Fields of a device whose gates are off.
_DROPPED: Final = (
    "allNodes",
    "allowMultipleAllocations",
    "bindingConditions",
    "bindingFailureConditions",
    "bindsToNode",
    "consumesCounters",
    "nodeName",
    "nodeSelector",
    "taints",
)
_VERSION: Final = re.compile(
    r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
    r"(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?"
    r"(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?"
)


def default_slice(obj: Object) -> None:
    spec = obj["spec"]
    for name in ("perDeviceNodeSelection", "sharedCounters"):
        spec.pop(name, None)
    for device in spec.get("devices") or ():
        for name in _DROPPED:
            device.pop(name, None)
        for capacity in device.get("capacity", {}).values():
            capacity.pop("requestPolicy", None)


def validate_slice(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    check_driver(errors, spec["driver"], "spec.driver")
    pool = spec["pool"]
    check_pool_name(errors, pool["name"], "spec.pool.name")
    if pool["resourceSliceCount"] <= 0:
        errors.append(invalid("spec.pool.resourceSliceCount", pool["resourceSliceCount"], "must be greater than zero"))
    if pool["generation"] < 0:
        text = "must be greater than or equal to zero"
        errors.append(invalid("spec.pool.generation", pool["generation"], text))
    _check_scope(errors, spec)
    check_each(errors, spec.get("devices") or (), "spec.devices", _MAX_DEVICES, _check_device, lambda d: d["name"])
    return errors


def validate_slice_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    spec, before = new["spec"], old["spec"]
    check_immutable(errors, spec["pool"]["name"], before["pool"]["name"], "spec.pool.name")
    check_immutable(errors, spec["driver"], before["driver"], "spec.driver")
    check_immutable(errors, spec.get("nodeName"), before.get("nodeName"), "spec.nodeName")
    return errors


def _check_scope(errors: Errors, spec: Object) -> None:
    """From which nodes the devices can be used."""
    scopes = []
    name, selector = spec.get("nodeName"), spec.get("nodeSelector")
    if name:
        scopes.append("`nodeName`")
        check_texts(errors, "spec.nodeName", name, is_dns1123_subdomain(name))
    elif name is not None:
        errors.append(invalid("spec.nodeName", name, "must be either unset or set to a non-empty string"))
    if selector is not None:
        scopes.append("`nodeSelector`")
        check_node_selector(errors, selector, "spec.nodeSelector")
        terms = selector["nodeSelectorTerms"] or []
        if len(terms) != 1:
            text = "must have exactly one node selector term"
            errors.append(invalid("spec.nodeSelector.nodeSelectorTerms", shown("[NodeSelectorTerm]", terms), text))
    if spec.get("allNodes"):
        scopes.append("`allNodes`")
    elif "allNodes" in spec:
        errors.append(invalid("spec.allNodes", spec["allNodes"], "must be either unset or set to true"))
    if not scopes:
        errors.append(required("spec", _ONE_SCOPE))
    elif len(scopes) > 1:
        errors.append(invalid("spec", f"{{{', '.join(scopes)}}}", f"{_ONE_SCOPE}, but multiple fields are set"))


def _check_device(errors: Errors, device: Object, path: str) -> None:
    check_dns_label(errors, device["name"], f"{path}.name")
    attributes, capacity = device.get("attributes", {}), device.get("capacity", {})
    if len(attributes) + len(capacity) > _MAX_ATTRIBUTES:
        text = f"the total number of attributes and capacities must not exceed {_MAX_ATTRIBUTES}"
        errors.append(invalid(path, len(attributes) + len(capacity), text))
    for name, attribute in attributes.items():
        here = f"{path}.attributes[{name}]"
        check_qualified_name(errors, name, here)
        _check_attribute(errors, attribute, here)
    for name in capacity:
        check_qualified_name(errors, name, f"{path}.capacity[{name}]")


def _check_attribute(errors: Errors, attribute: Object, path: str) -> None:
    text, version = attribute.get("string"), attribute.get("version")
    if text is not None and byte_length(text) > _MAX_VALUE_BYTES:
        errors.append(too_long(f"{path}.string", _MAX_VALUE_BYTES))
    if version is not None:
        if not _VERSION.fullmatch(version):
            problem = "must be a string compatible with semver.org spec 2.0.0"
            errors.append(invalid(f"{path}.version", version, problem))
        if byte_length(version) > _MAX_VALUE_BYTES:
            errors.append(too_long(f"{path}.version", _MAX_VALUE_BYTES))
    given = [name for name in _VALUES if name in attribute]
    if len(given) != 1:
        value = shown("resource.DeviceAttribute", attribute) if given else ""
        errors.append(invalid(path, value, "exactly one value must be specified"))
