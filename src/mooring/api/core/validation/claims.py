"""The rules for volume claims and for the claim templates of generic ephemeral volumes."""

from collections.abc import Mapping
from typing import Any, Final

from mooring.api.core.validation.meta import (
    check_annotations,
    check_dns_label,
    check_label_selector,
    check_labels,
    check_texts,
)
from mooring.kube.errors import Enum, FieldError, forbidden, invalid, not_supported, required
from mooring.kube.names import is_dns1123_subdomain
from mooring.kube.quantities import parse_quantity

__all__ = ["check_claim_spec", "check_claim_template"]

Object = Mapping[str, Any]
Errors = list[FieldError]

_ACCESS_MODES: Final = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
_VOLUME_MODES: Final = ("Block", "Filesystem")
# In the order of the API's type, which is the order of the errors, under the names it gives them there.
_FORBIDDEN_METADATA: Final = {
    "name": "name",
    "generateName": "generateName",
    "namespace": "namespace",
    "selfLink": "selfLink",
    "uid": "uID",
    "resourceVersion": "resourceVersion",
    "generation": "generation",
    "creationTimestamp": "creationTimestamp",
    "deletionTimestamp": "deletionTimestamp",
    "deletionGracePeriodSeconds": "deletionGracePeriodSeconds",
    "ownerReferences": "ownerReferences",
    "finalizers": "finalizers",
    "managedFields": "managedFields",
}


def check_claim_template(errors: Errors, template: Object, path: str) -> None:
    metadata = template["metadata"]
    check_annotations(errors, metadata.get("annotations"), f"{path}.metadata.annotations")
    check_labels(errors, metadata.get("labels"), f"{path}.metadata.labels")
    for name, shown in _FORBIDDEN_METADATA.items():
        if name in metadata:
            errors.append(forbidden(f"{path}.metadata.{shown}", "cannot be set"))
    check_claim_spec(errors, template["spec"], f"{path}.spec")


def check_claim_spec(errors: Errors, spec: Object, path: str) -> None:
    modes = spec.get("accessModes", ())
    if not modes:
        errors.append(required(f"{path}.accessModes", "at least 1 access mode is required"))
    check_label_selector(errors, spec.get("selector"), f"{path}.selector")
    for mode in modes:
        if mode not in _ACCESS_MODES:
            errors.append(not_supported(f"{path}.accessModes", Enum(mode), _ACCESS_MODES))
    if "ReadWriteOncePod" in modes and any(mode in _ACCESS_MODES and mode != "ReadWriteOncePod" for mode in modes):
        errors.append(forbidden(f"{path}.accessModes", "may not use ReadWriteOncePod with other access modes"))
    _check_storage(errors, spec["resources"].get("requests", {}), f"{path}.resources[storage]")
    _check_class(errors, spec, "storageClassName", path)
    if "volumeMode" in spec and spec["volumeMode"] not in _VOLUME_MODES:
        errors.append(not_supported(f"{path}.volumeMode", Enum(spec["volumeMode"]), _VOLUME_MODES))
    _check_sources(errors, spec, path)
    _check_class(errors, spec, "volumeAttributesClassName", path)


def _check_storage(errors: Errors, requests: Mapping[str, str], path: str) -> None:
    if "storage" not in requests:
        errors.append(required(path, ""))
        return
    quantity = parse_quantity(requests["storage"])
    if quantity.mantissa <= 0:
        errors.append(invalid(path, str(quantity), "must be greater than zero"))


def _check_class(errors: Errors, spec: Object, name: str, path: str) -> None:
    if value := spec.get(name):
        check_texts(errors, f"{path}.{name}", value, is_dns1123_subdomain(value))


def _check_sources(errors: Errors, spec: Object, path: str) -> None:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    if source is not None:
        _check_data_source(errors, source, f"{path}.dataSource")
    if reference is not None:
        _check_data_source(errors, reference, f"{path}.dataSourceRef")
        if reference.get("namespace"):
            check_dns_label(errors, reference["namespace"], f"{path}.dataSourceRef.namespace")
    if source is None or reference is None:
        return
    # The value of these complaints is a path, which the API prints as an empty object.
    if reference.get("namespace"):
        errors.append(invalid(path, {}, "may not be specified when dataSourceRef.namespace is specified"))
    elif any(source[name] != reference[name] for name in ("apiGroup", "kind", "name")):
        errors.append(invalid(path, {}, "must match dataSourceRef"))


def _check_data_source(errors: Errors, source: Object, path: str) -> None:
    for name in ("name", "kind"):
        if not source[name]:
            errors.append(required(f"{path}.{name}", ""))
    group = source["apiGroup"]
    if group:
        check_texts(errors, f"{path}.apiGroup", group, is_dns1123_subdomain(group))
    elif source["kind"] != "PersistentVolumeClaim":
        detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.append(invalid(path, source["kind"], detail))
