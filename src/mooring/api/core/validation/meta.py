"""The rules for metadata, labels and label selectors, which every kind of object shares."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from mooring.kube.errors import Enum, FieldError, forbidden, invalid, required, too_long
from mooring.kube.names import byte_length, is_dns1123_label, is_label_value, is_qualified_name

__all__ = [
    "STANDARD_FINALIZERS",
    "check_annotations",
    "check_dns_label",
    "check_finalizer",
    "check_label_key",
    "check_label_selector",
    "check_labels",
    "check_managed_fields",
    "check_metadata",
    "check_nonnegative",
    "check_texts",
]

Object = Mapping[str, Any]
Errors = list[FieldError]

STANDARD_FINALIZERS: Final = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
_ANNOTATIONS_LIMIT: Final = 256 * 1024
_MANAGERS_LIMIT: Final = 128
_SUBRESOURCE_LIMIT: Final = 256


def check_texts(errors: Errors, path: str, value: str, texts: Sequence[str]) -> None:
    """Report what a name check said about a value."""
    for text in texts:
        errors.append(invalid(path, value, text))


def check_label_key(errors: Errors, key: str, path: str) -> None:
    if texts := is_qualified_name(key):
        check_texts(errors, path, key, texts)


def check_dns_label(errors: Errors, value: str, path: str) -> None:
    if texts := is_dns1123_label(value):
        check_texts(errors, path, value, texts)


def check_nonnegative(errors: Errors, value: int, path: str) -> None:
    if value < 0:
        errors.append(invalid(path, value, "must be greater than or equal to 0"))


def check_labels(errors: Errors, labels: Mapping[str, str] | None, path: str) -> None:
    # The API goes through maps in no order; ours is the order of keys, so that texts are the same every time.
    for key in sorted(labels or ()):
        check_label_key(errors, key, path)
        value = labels[key] if labels else ""
        check_texts(errors, path, value, is_label_value(value))


def check_annotations(errors: Errors, annotations: Mapping[str, str] | None, path: str) -> None:
    if not annotations:
        return
    for key in sorted(annotations):
        check_texts(errors, path, key, is_qualified_name(key.lower()))
    if sum(byte_length(key) + byte_length(value) for key, value in annotations.items()) > _ANNOTATIONS_LIMIT:
        errors.append(too_long(path, _ANNOTATIONS_LIMIT))


def check_label_selector(errors: Errors, selector: Object | None, path: str) -> None:
    if not selector:
        return
    check_labels(errors, selector.get("matchLabels"), f"{path}.matchLabels")
    for index, expression in enumerate(selector.get("matchExpressions", ())):
        here = f"{path}.matchExpressions[{index}]"
        operator, values = expression["operator"], expression.get("values", ())
        if operator in ("In", "NotIn"):
            if not values:
                errors.append(required(f"{here}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                errors.append(forbidden(f"{here}.values", detail))
        else:
            errors.append(invalid(f"{here}.operator", Enum(operator), "not a valid selector operator"))
        check_label_key(errors, expression["key"], f"{here}.key")
        for position, value in enumerate(values):
            check_texts(errors, f"{here}.values[{position}]", value, is_label_value(value))


def check_metadata(
    errors: Errors,
    metadata: Object,
    name_texts: Callable[[str, bool], list[str]],
    *,
    namespaced: bool,
    builtin: bool = True,
) -> None:
    """`name_texts(name, prefix)` is the kind's rule for names. Custom kinds may have finalizers without a domain."""
    path = "metadata"
    if prefix := metadata.get("generateName"):
        check_texts(errors, f"{path}.generateName", prefix, name_texts(prefix, True))
    if name := metadata.get("name"):
        check_texts(errors, f"{path}.name", name, name_texts(name, False))
    else:
        errors.append(required(f"{path}.name", "name or generateName is required"))
    namespace = metadata.get("namespace", "")
    if not namespaced:
        if namespace:
            errors.append(forbidden(f"{path}.namespace", "not allowed on this type"))
    elif not namespace:
        errors.append(required(f"{path}.namespace", ""))
    else:
        check_dns_label(errors, namespace, f"{path}.namespace")
    check_nonnegative(errors, metadata.get("generation", 0), f"{path}.generation")
    check_labels(errors, metadata.get("labels"), f"{path}.labels")
    check_annotations(errors, metadata.get("annotations"), f"{path}.annotations")
    _check_owners(errors, metadata.get("ownerReferences", ()), f"{path}.ownerReferences")
    _check_finalizers(errors, metadata.get("finalizers", ()), f"{path}.finalizers")
    check_managed_fields(errors, metadata.get("managedFields", ()), f"{path}.managedFields")
    for index, finalizer in enumerate(metadata.get("finalizers", ()) if builtin else ()):
        _check_standard(errors, finalizer, f"{path}.finalizers[{index}]")


def check_finalizer(errors: Errors, finalizer: str, path: str) -> None:
    """The rules for one finalizer of a built-in kind."""
    check_label_key(errors, finalizer, path)
    _check_standard(errors, finalizer, path)


def _check_standard(errors: Errors, finalizer: str, path: str) -> None:
    if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
        detail = "name is neither a standard finalizer name nor is it fully qualified"
        errors.append(invalid(path, finalizer, detail))


def _check_owners(errors: Errors, owners: Sequence[Object], path: str) -> None:
    controller = ""
    for owner in owners:
        group, _, version = owner["apiVersion"].rpartition("/")
        if not version or "/" in group:
            errors.append(invalid(f"{path}.apiVersion", owner["apiVersion"], "version must not be empty"))
        if not owner["kind"]:
            errors.append(invalid(f"{path}.kind", owner["kind"], "must not be empty"))
        if not owner["name"]:
            errors.append(invalid(f"{path}.name", owner["name"], "must not be empty"))
        if not owner["uid"]:
            errors.append(invalid(f"{path}.uid", Enum(owner["uid"]), "must not be empty"))
        if (group, version, owner["kind"]) == ("", "v1", "Event"):
            errors.append(invalid(path, owner, "/v1, Kind=Event is disallowed from being an owner"))
        if owner.get("controller"):
            found = f"{owner['kind']}/{owner['name']}"
            if controller:
                detail = (
                    "Only one reference can have Controller set to true. "
                    f'Found "true" in references for {controller} and {found}'
                )
                errors.append(invalid(path, list(owners), detail))
            else:
                controller = found


def _check_finalizers(errors: Errors, finalizers: Sequence[str], path: str) -> None:
    for finalizer in finalizers:
        check_label_key(errors, finalizer, path)
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        errors.append(invalid(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"))


def check_managed_fields(errors: Errors, entries: Sequence[Object], path: str) -> None:
    """The one part of metadata that every write changes."""
    for index, entry in enumerate(entries):
        here = f"{path}[{index}]"
        operation = entry.get("operation", "")
        if operation not in ("Apply", "Update"):
            errors.append(invalid(f"{here}.operation", Enum(operation), "must be `Apply` or `Update`"))
        fields_type = entry.get("fieldsType", "")
        if fields_type not in ("", "FieldsV1"):
            errors.append(invalid(f"{here}.fieldsType", fields_type, "must be `FieldsV1`"))
        manager = entry.get("manager", "")
        if byte_length(manager) > _MANAGERS_LIMIT:
            errors.append(too_long(f"{here}.manager", _MANAGERS_LIMIT))
        position = 0
        for char in "" if manager.isprintable() else manager:
            if not char.isprintable():
                detail = f"invalid character U+{ord(char):04X} (at position {position})"
                errors.append(invalid(f"{here}.manager", manager, detail))
            position += byte_length(char)
        if byte_length(entry.get("subresource", "")) > _SUBRESOURCE_LIMIT:
            errors.append(too_long(f"{here}.subresource", _SUBRESOURCE_LIMIT))
