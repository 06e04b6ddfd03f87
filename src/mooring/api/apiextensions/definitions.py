"""CustomResourceDefinitions: what the API server adds to them, and why it would refuse one.

Expects objects whose types are right. Rules stand in the API's order.
"""

from typing import Final

from mooring.api.admissionregistration.webhooks import check_client
from mooring.api.apiextensions.versions import check_shared, check_versions, unchanged_schemas
from mooring.kube.errors import FieldError, forbidden, invalid, not_supported, required
from mooring.kube.names import is_dns1035_label, is_dns1123_subdomain
from mooring.kube.objects import Object

__all__ = ["default_definition", "validate_definition", "validate_definition_update"]

Errors = list[FieldError]

_APPROVAL: Final = "api-approved.kubernetes.io"
_REVIEWS: Final = ("v1", "v1beta1")


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


def validate_definition(obj: Object) -> list[FieldError]:
    errors: Errors = []
    wanted = f"{obj['spec']['names']['plural']}.{obj['spec']['group']}"
    for field in ("generateName", "name"):
        given = obj["metadata"].get(field)
        if given and given != wanted:
            errors.append(invalid(f"metadata.{field}", given, 'must be spec.names.plural+"."+spec.group'))
    _check_definition(errors, obj, frozenset())
    return errors


def _check_definition(errors: Errors, obj: Object, kept: frozenset[str]) -> None:
    spec = obj["spec"]
    names, group = spec["names"], spec.get("group", "")
    _check_group(errors, group)
    scope = spec.get("scope", "")
    if not scope:
        errors.append(required("spec.scope", ""))
    elif scope not in ("Cluster", "Namespaced"):
        errors.append(not_supported("spec.scope", scope, ("Cluster", "Namespaced")))
    versions = spec["versions"] or []
    check_versions(errors, spec["versions"], kept)
    errors += [
        required(f"spec.names.{key}", "") for key in ("plural", "singular", "kind", "listKind") if not names.get(key)
    ]
    _check_names(errors, names, "spec.names")
    check_shared(errors, versions, kept)
    _check_conversion(errors, spec["conversion"], "spec.conversion")
    _check_stored_versions(errors, obj["status"]["storedVersions"] or [], versions)
    if (group.endswith((".k8s.io", ".kubernetes.io")) or group in ("k8s.io", "kubernetes.io")) and not obj[
        "metadata"
    ].get("annotations", {}).get(_APPROVAL):
        detail = (
            f'protected groups must have approval annotation "{_APPROVAL}", '
            "see https://github.com/kubernetes/enhancements/pull/1111"
        )
        errors.append(required(f"metadata.annotations[{_APPROVAL}]", detail))
    if spec.get("preserveUnknownFields"):
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead"
        )
        errors.append(invalid("spec.preserveUnknownFields", True, detail))


def _check_stored_versions(errors: Errors, stored: list[str], versions: list[Object]) -> None:
    if not stored:
        errors.append(invalid("status.storedVersions", None, "must have at least one stored version"))
    listed = {version["name"] for version in versions}
    for index, name in enumerate(stored):
        if name not in listed:
            detail = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and removes "
                f"{name} from status.storedVersions"
            )
            errors.append(invalid(f"status.storedVersions[{index}]", name, detail))
    storage = [version["name"] for version in versions if version.get("storage")]
    if stored and storage and storage[-1] not in stored:
        errors.append(invalid("status.storedVersions", stored, f"must have the storage version {storage[-1]}"))


def _check_group(errors: Errors, group: str) -> None:
    if not group:
        errors.append(required("spec.group", ""))
    elif texts := is_dns1123_subdomain(group):
        errors.append(invalid("spec.group", group, ",".join(texts)))
    elif "." not in group:
        errors.append(invalid("spec.group", group, "should be a domain with at least one dot"))


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
    strategy, hook = conversion["strategy"], conversion.get("webhook") or {}
    client, versions = hook.get("clientConfig"), hook.get("conversionReviewVersions") or []
    if strategy not in ("None", "Webhook"):
        error = not_supported(f"{path}.strategy", strategy, ("None", "Webhook"))
        errors.append(error if strategy else required(f"{path}.strategy", ""))
    if strategy != "Webhook":
        for name, given in (("webhookClientConfig", client), ("conversionReviewVersions", versions)):
            if given:
                detail = "should not be set when strategy is not set to Webhook"
                errors.append(forbidden(f"{path}.{name}", detail))
        return
    if client is None:
        detail = "required when strategy is set to Webhook"
        errors.append(required(f"{path}.webhookClientConfig", detail))
    else:
        check_client(errors, client, f"{path}.webhookClientConfig")
    if not versions:
        errors.append(required(f"{path}.conversionReviewVersions", ""))
    elif not set(versions) & set(_REVIEWS):
        detail = f"must include at least one of {', '.join(_REVIEWS)}"
        errors.append(invalid(f"{path}.conversionReviewVersions", versions, detail))


def validate_definition_update(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    spec, was = new["spec"], old["spec"]
    established = any(
        each.get("type") == "Established" and each.get("status") == "True"
        for each in old.get("status", {}).get("conditions") or ()
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
    _check_definition(errors, new, unchanged_schemas(spec["versions"] or [], was["versions"] or []))
    return errors
