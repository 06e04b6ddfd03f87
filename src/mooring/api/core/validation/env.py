"""The rules for environment variables and for references to fields and resources of the pod itself."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from mooring.api.core.validation.meta import check_dns_label, check_label_key, check_texts
from mooring.api.core.validation.security import check_no_backsteps
from mooring.kube.errors import FieldError, invalid, not_supported, required
from mooring.kube.names import is_config_map_key, is_dns1123_subdomain, is_env_var_name, is_valid_name
from mooring.kube.quantities import parse_quantity

__all__ = ["VOLUME_FIELDS", "check_env", "check_env_from", "check_field_reference", "check_resource_reference"]

Object = Mapping[str, Any]
Errors = list[FieldError]

VOLUME_FIELDS: Final = frozenset(
    {"metadata.name", "metadata.namespace", "metadata.labels", "metadata.annotations", "metadata.uid"}
)
_ENV_FIELDS: Final = frozenset(
    {
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.nodeName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.podIP",
        "status.podIPs",
    }
)
_KNOWN_FIELDS: Final = VOLUME_FIELDS | _ENV_FIELDS | {"spec.restartPolicy", "spec.schedulerName", "status.phase"}
_RESOURCES: Final = ("cpu", "memory", "ephemeral-storage")
_RESOURCE_FIELDS: Final = tuple(sorted(f"{kind}.{name}" for kind in ("limits", "requests") for name in _RESOURCES))
_HUGEPAGES_PREFIXES: Final = ("limits.hugepages-", "requests.hugepages-")
_BYTE_DIVISORS: Final = frozenset({"1", *(f"1{suffix}" for suffix in "kMGTPE"), *(f"1{s}i" for s in "KMGTPE")})


def check_env(errors: Errors, variables: Sequence[Object], path: str) -> None:
    for index, variable in enumerate(variables):
        name = variable["name"]
        if not name:
            errors.append(required(f"{path}[{index}].name", ""))
        elif texts := is_env_var_name(name):
            check_texts(errors, f"{path}[{index}].name", name, texts)
        if "valueFrom" in variable:
            _check_value_from(errors, variable, f"{path}[{index}].valueFrom")


def _check_value_from(errors: Errors, variable: Object, path: str) -> None:
    source = variable["valueFrom"]
    if "fieldRef" in source:
        check_field_reference(errors, source["fieldRef"], _ENV_FIELDS, f"{path}.fieldRef")
    if "resourceFieldRef" in source:
        check_resource_reference(errors, source["resourceFieldRef"], f"{path}.resourceFieldRef", in_volume=False)
    for name in ("configMapKeyRef", "secretKeyRef"):
        if name in source:
            _check_key_reference(errors, source[name], f"{path}.{name}")
    if "fileKeyRef" in source:
        _check_file_key(errors, source["fileKeyRef"], f"{path}.fileKeyRef")
    if not source:
        known = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        errors.append(invalid(path, "", f"must specify one of: {known}"))
    elif variable.get("value"):
        errors.append(invalid(path, "", "may not be specified when `value` is not empty"))
    elif len(source) > 1:
        errors.append(invalid(path, "", "may not have more than one field specified at a time"))


def _check_key_reference(errors: Errors, reference: Object, path: str) -> None:
    name = reference.get("name", "")
    check_texts(errors, f"{path}.name", name, is_dns1123_subdomain(name))
    if not reference["key"]:
        errors.append(required(f"{path}.key", ""))
    else:
        check_texts(errors, f"{path}.key", reference["key"], is_config_map_key(reference["key"]))


def _check_file_key(errors: Errors, reference: Object, path: str) -> None:
    if not reference["key"]:
        errors.append(required(f"{path}.key", ""))
    else:
        check_texts(errors, f"{path}.key", reference["key"], is_env_var_name(reference["key"]))
    if not reference["volumeName"]:
        errors.append(required(f"{path}.volumeName", ""))
    else:
        check_dns_label(errors, reference["volumeName"], f"{path}.volumeName")
    if not reference["path"]:
        errors.append(required(f"{path}.path", ""))
    else:
        check_no_backsteps(errors, reference["path"], f"{path}.path")


def check_env_from(errors: Errors, sources: Sequence[Object], path: str) -> None:
    for index, source in enumerate(sources):
        here = f"{path}[{index}]"
        if prefix := source.get("prefix"):
            check_texts(errors, f"{here}.prefix", prefix, is_env_var_name(prefix))
        given = [name for name in ("configMapRef", "secretRef") if name in source]
        for kind in given:
            name = source[kind].get("name", "")
            if not name:
                errors.append(required(f"{here}.{kind}.name", ""))
            else:
                check_texts(errors, f"{here}.{kind}.name", name, is_valid_name(name, prefix=True))
        if not given:
            errors.append(invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
        elif len(given) > 1:
            errors.append(invalid(path, "", "may not have more than one field specified at a time"))


def check_field_reference(errors: Errors, reference: Object, fields: Collection[str], path: str) -> None:
    version, field = reference.get("apiVersion", ""), reference["fieldPath"]
    if not version:
        errors.append(required(f"{path}.apiVersion", ""))
        return
    if not field:
        errors.append(required(f"{path}.fieldPath", ""))
        return
    known, problem = _known_field(version, field)
    if problem:
        detail = f"error converting fieldPath: {problem}"
        errors.append(invalid(f"{path}.fieldPath", field, detail))
        return
    name, subscript = _split_subscript(known)
    if subscript is None:
        if name not in fields:
            errors.append(not_supported(f"{path}.fieldPath", name, sorted(fields)))
    elif name == "metadata.annotations":
        check_label_key(errors, subscript.lower(), path)
    else:
        check_label_key(errors, subscript, path)


def _known_field(version: str, field: str) -> tuple[str, str]:
    """The field as the API names it, or why it cannot be named."""
    if version != "v1":
        return "", f"unsupported pod version: {version}"
    name, subscript = _split_subscript(field)
    if subscript is not None:
        if name in ("metadata.annotations", "metadata.labels"):
            return field, ""
        return "", f"field label does not support subscript: {field}"
    if field == "spec.host":
        return "spec.nodeName", ""
    return (field, "") if field in _KNOWN_FIELDS else ("", f"field label not supported: {field}")


def _split_subscript(field: str) -> tuple[str, str | None]:
    name, bracket, subscript = field.removesuffix("']").partition("['")
    if not field.endswith("']") or not bracket or not name:
        return field, None
    return name, subscript


def check_resource_reference(errors: Errors, reference: Object, path: str, *, in_volume: bool) -> None:
    resource = reference["resource"]
    if in_volume and not reference.get("containerName"):
        errors.append(required(f"{path}.containerName", ""))
    elif not resource:
        errors.append(required(f"{path}.resource", ""))
    elif resource not in _RESOURCE_FIELDS and not resource.startswith(_HUGEPAGES_PREFIXES):
        errors.append(not_supported(f"{path}.resource", resource, _RESOURCE_FIELDS))
    _check_divisor(errors, resource, reference["divisor"], path)


def _check_divisor(errors: Errors, resource: str, divisor: str, path: str) -> None:
    if not parse_quantity(divisor):
        return
    name = resource.partition(".")[2]
    if resource in ("limits.cpu", "requests.cpu"):
        if divisor not in ("1m", "1"):
            detail = "only divisor's values 1m and 1 are supported with the cpu resource"
            errors.append(invalid(f"{path}.divisor", resource, detail))
        return
    if resource not in _RESOURCE_FIELDS and not resource.startswith(_HUGEPAGES_PREFIXES):
        return
    if divisor not in _BYTE_DIVISORS:
        kind = {"memory": "memory", "ephemeral-storage": "local ephemeral storage"}.get(name, "hugepages")
        known = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
        detail = f"only divisor's values {known} are supported with the {kind} resource"
        errors.append(invalid(f"{path}.divisor", resource, detail))
