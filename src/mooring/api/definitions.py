"""CustomResourceDefinitions: what the API server adds to them, and why it would refuse one.

Expects objects whose types are right. Rules stand in the API's order.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mooring.kube.errors import Enum, FieldError, invalid, not_supported, required
from mooring.kube.names import is_dns1035_label, is_dns1123_subdomain
from mooring.kube.schemas import Schema, SchemaError, structural_schema

__all__ = ["default_definition", "rule_paths", "validate_definition", "validate_definition_update", "version_schema"]

Object = dict[str, Any]
Errors = list[FieldError]

_APPROVAL: Final = "api-approved.kubernetes.io"
_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")


def default_definition(obj: Object) -> None:
    spec = obj.setdefault("spec", {})
    names = spec.setdefault("names", {})
    names["singular"] = names.get("singular") or names.get("kind", "").lower()
    if names.get("kind"):
        names["listKind"] = names.get("listKind") or f"{names['kind']}List"
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    service = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service")
    if service:
        service.setdefault("port", 443)


def version_schema(version: Object, path: str) -> Schema:
    """The schema of one version; SchemaError when it is not structural."""
    schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
    return structural_schema(schema, f"{path}.schema.openAPIV3Schema")


def validate_definition(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj["spec"]
    names, group = spec["names"], spec.get("group", "")
    if obj["metadata"]["name"] != f"{names.get('plural', '')}.{group}":
        detail = 'must be spec.names.plural+"."+spec.group'
        errors.append(invalid("metadata.name", obj["metadata"]["name"], detail))
    _check_group(errors, group)
    scope = spec.get("scope", "")
    if not scope:
        errors.append(required("spec.scope", ""))
    elif scope not in ("Cluster", "Namespaced"):
        errors.append(not_supported("spec.scope", scope, ("Cluster", "Namespaced")))
    versions = spec.get("versions") or []
    for index, version in enumerate(versions):
        if not (version.get("schema") or {}).get("openAPIV3Schema"):
            errors.append(required(f"spec.versions[{index}].schema.openAPIV3Schema", ""))
    for index, version in enumerate(versions):
        _check_version(errors, version, f"spec.versions[{index}]")
    listed = [version.get("name") for version in versions]
    if len(set(listed)) < len(listed):
        errors.append(invalid("spec.versions", versions, "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        detail = "must have exactly one version marked as storage version"
        errors.append(invalid("spec.versions", versions, detail))
    errors += [
        required(f"spec.names.{key}", "") for key in ("plural", "singular", "kind", "listKind") if not names.get(key)
    ]
    _check_names(errors, names, "spec.names")
    _check_conversion(errors, spec["conversion"], "spec.conversion")
    if (group.endswith((".k8s.io", ".kubernetes.io")) or group in ("k8s.io", "kubernetes.io")) and not obj[
        "metadata"
    ].get("annotations", {}).get(_APPROVAL):
        detail = (
            f'protected groups must have approval annotation "{_APPROVAL}", '
            "see https://github.com/kubernetes/enhancements/pull/1111"
        )
        errors.append(required(f"metadata.annotations[{_APPROVAL}]", detail))
    if spec.get("preserveUnknownFields"):
        detail = "must be false or omitted: use x-kubernetes-preserve-unknown-fields in the schema instead"
        errors.append(invalid("spec.preserveUnknownFields", True, detail))
    return errors


def _check_group(errors: Errors, group: str) -> None:
    if not group:
        errors.append(required("spec.group", ""))
    elif texts := is_dns1123_subdomain(group):
        errors.append(invalid("spec.group", group, ",".join(texts)))
    elif "." not in group:
        errors.append(invalid("spec.group", group, "should be a domain with at least one dot"))


def _check_version(errors: Errors, version: Object, path: str) -> None:
    name = version.get("name", "")
    if texts := is_dns1035_label(name):
        errors.append(invalid(f"{path}.name", name, ",".join(texts)))
    if (version.get("schema") or {}).get("openAPIV3Schema"):
        try:
            version_schema(version, path)
        except SchemaError as error:
            errors += error.errors
    scale = (version.get("subresources") or {}).get("scale")
    if scale is not None:
        _check_scale(errors, scale, f"{path}.subresources.scale")
    for index, column in enumerate(version.get("additionalPrinterColumns") or ()):
        here = f"{path}.additionalPrinterColumns[{index}]"
        for key in ("name", "type", "jsonPath"):
            if not column.get(key):
                errors.append(required(f"{here}.{key}", ""))
        if column.get("type") and column["type"] not in _COLUMN_TYPES:
            detail = f"must be one of {','.join(_COLUMN_TYPES)}"
            errors.append(invalid(f"{here}.type", column["type"], detail))


def _check_scale(errors: Errors, scale: Object, path: str) -> None:
    for key, root in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        value = scale.get(key, "")
        if not value:
            errors.append(required(f"{path}.{key}", ""))
        elif not value.startswith(root):
            errors.append(invalid(f"{path}.{key}", value, f"should be a json path under {root[:-1]}"))
    selector = scale.get("labelSelectorPath")
    if selector and not selector.startswith((".spec.", ".status.")):
        detail = "should be a json path under either .spec or .status"
        errors.append(invalid(f"{path}.labelSelectorPath", selector, detail))


def _check_names(errors: Errors, names: Object, path: str) -> None:
    for key in ("plural", "singular"):
        if (value := names.get(key)) and (texts := is_dns1035_label(value)):
            errors.append(invalid(f"{path}.{key}", value, ",".join(texts)))
    for key in ("kind", "listKind"):
        if (value := names.get(key)) and (texts := is_dns1035_label(value.lower())):
            detail = f"may have mixed case, but should otherwise match: {','.join(texts)}"
            errors.append(invalid(f"{path}.{key}", value, detail))
    for key in ("shortNames", "categories"):
        for index, value in enumerate(names.get(key) or ()):
            if texts := is_dns1035_label(value):
                errors.append(invalid(f"{path}.{key}[{index}]", value, ",".join(texts)))
    if names.get("kind") and names["kind"] == names.get("listKind"):
        detail = "kind and listKind may not be the same"
        errors.append(invalid(f"{path}.listKind", names["listKind"], detail))


def _check_conversion(errors: Errors, conversion: Object, path: str) -> None:
    strategy = conversion.get("strategy", "")
    if strategy not in ("None", "Webhook"):
        error = not_supported(f"{path}.strategy", Enum(strategy), ("None", "Webhook"))
        errors.append(error if strategy else required(f"{path}.strategy", ""))
    hook = conversion.get("webhook")
    if strategy == "Webhook" and not (hook or {}).get("clientConfig"):
        errors.append(required(f"{path}.webhookClientConfig", "required when strategy is set to Webhook"))
    if strategy == "None" and hook:
        detail = "should not be set when strategy is not set to Webhook"
        errors.append(FieldError("Forbidden", f"{path}.webhookClientConfig", "", detail))


def validate_definition_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    spec, was = new["spec"], old["spec"]
    established = any(
        each.get("type") == "Established" and each.get("status") == "True"
        for each in old.get("status", {}).get("conditions", ())
    )
    pairs = [
        ("group", spec.get("group"), was.get("group")),
        ("names.plural", spec["names"].get("plural"), was["names"].get("plural")),
    ]
    if established:
        pairs += [
            ("scope", spec.get("scope"), was.get("scope")),
            ("names.kind", spec["names"].get("kind"), was["names"].get("kind")),
        ]
    for name, value, before in pairs:
        if value != before:
            errors.append(invalid(f"spec.{name}", value, "field is immutable"))
    listed = {version["name"] for version in spec.get("versions") or ()}
    for index, name in enumerate(old.get("status", {}).get("storedVersions", ())):
        if name not in listed:
            detail = "missing from spec.versions; was previously a storage version, and must remain in spec.versions"
            detail += " until a storage migration ensures no data remains persisted in "
            detail += f"{name} and removes {name} from status.storedVersions"
            errors.append(invalid(f"status.storedVersions[{index}]", name, detail))
    return errors


def rule_paths(schema: Any, path: str) -> Iterator[str]:
    """Where a schema has rules in CEL."""
    if isinstance(schema, Mapping):
        if schema.get("x-kubernetes-validations"):
            yield path
        for key, value in schema.items():
            if key != "x-kubernetes-validations":
                yield from rule_paths(value, f"{path}.{key}")
    elif isinstance(schema, list):
        for index, item in enumerate(schema):
            yield from rule_paths(item, f"{path}[{index}]")
