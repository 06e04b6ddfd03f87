"""The versions of a CustomResourceDefinition: their schemas, sub-resources, columns and selectable fields.

What is the same in all versions the API keeps once, and then names by where it keeps it: errors of a definition with
one version are about `spec.validation`, not about `spec.versions[0].schema`.
"""

from collections.abc import Iterator
from hashlib import sha256
from typing import Final

import msgspec

from mooring.kube.errors import FieldError, duplicate, forbidden, go_quote, invalid, required, too_many, type_invalid
from mooring.kube.interning import intern
from mooring.kube.names import is_dns1035_label
from mooring.kube.objects import Object
from mooring.kube.schemas import Schema, SchemaError, prune, structural_schema, validate
from mooring.kube.schemas.model import ABSENT

__all__ = ["check_shared", "check_versions", "unchanged_schemas", "version_schema"]

Errors = list[FieldError]

_COLUMN_TYPES: Final = ("boolean", "date", "integer", "number", "string")
_COLUMN_FORMATS: Final = ("byte", "date", "date-time", "double", "float", "int32", "int64", "password")
_TYPES: Final[dict[str, type]] = {
    "boolean": bool,
    "integer": int,
    "number": float,
    "string": str,
    "array": list,
    "object": dict,
}
_MAX_SELECTABLE: Final = 8
# The parts of a version that may be kept once for all, with their names there.
_PARTS: Final = {
    "schema": "spec.validation",
    "subresources": "spec.subresources",
    "additionalPrinterColumns": "spec.additionalPrinterColumns",
    "selectableFields": "spec.selectableFields",
}


# A definition's schema is read when it is checked and again when it is served, and a large one takes a while.
_MAX_KNOWN: Final = 64
_KNOWN: Final[dict[bytes, Schema]] = {}


def version_schema(version: Object, path: str) -> Schema:
    """The schema of one version, kept under a path; SchemaError when it is not structural."""
    source = _schema(version) or {}
    key = sha256(msgspec.json.encode(source)).digest()
    found = _KNOWN.get(key)
    if found is None:
        found = structural_schema(source, f"{path}.openAPIV3Schema")
        intern(_KNOWN, key, found, _MAX_KNOWN)
    return found


def _schema(version: Object) -> Object | None:
    found: Object | None = (version.get("schema") or {}).get("openAPIV3Schema")
    return found


def _shared(versions: list[Object]) -> set[str]:
    return {part for part in _PARTS if all(each.get(part) == versions[0].get(part) for each in versions)}


def unchanged_schemas(new: list[Object], old: list[Object]) -> frozenset[str]:
    """The names of the versions whose schema is as it was."""
    before = {version["name"]: _schema(version) for version in old}
    return frozenset(
        version["name"] for version in new if version["name"] in before and before[version["name"]] == _schema(version)
    )


def check_versions(errors: Errors, given: list[Object] | None, kept: frozenset[str]) -> None:
    """Every version by itself, without what it shares with all others; `kept` are those whose schema is stored."""
    versions = given or []
    shared = _shared(versions) if versions else set()
    for index, version in enumerate(versions):
        if _schema(version) is None:
            errors.append(required(f"spec.versions[{index}].schema.openAPIV3Schema", ""))
    for index, version in enumerate(versions):
        path, name = f"spec.versions[{index}]", version["name"]
        if texts := is_dns1035_label(name):
            errors.append(invalid(f"{path}.name", name, ",".join(texts)))
        warning = version.get("deprecationWarning")
        if warning is not None and not version.get("deprecated"):
            detail = "can only be set for deprecated versions"
            errors.append(invalid(f"{path}.deprecationWarning", warning, detail))
        elif warning is not None:
            errors += [invalid(f"{path}.deprecationWarning", warning, text) for text in _bad_warning(warning)]
        paths = {part: f"{path}.{part}" for part in _PARTS if part not in shared}
        _check_parts(errors, version, paths, kept=name in kept)
    listed = [version["name"] for version in versions]
    if len(set(listed)) < len(listed):
        errors.append(invalid("spec.versions", _shown(versions), "must contain unique version names"))
    if sum(bool(version.get("storage")) for version in versions) != 1:
        detail = "must have exactly one version marked as storage version"
        errors.append(invalid("spec.versions", None if given is None else _shown(versions), detail))
    if versions and listed[0] and (texts := is_dns1035_label(listed[0])):
        errors.append(invalid("spec.version", listed[0], ",".join(texts)))


def _bad_warning(text: str) -> Iterator[str]:
    if len(text.encode()) > _LONGEST_WARNING:
        yield f"must be <= {_LONGEST_WARNING} characters long"
    if not text:
        yield "must not be an empty string"
    for index, letter in enumerate(text):
        if not letter.isprintable():
            at = len(text[:index].encode())
            yield f"must only contain printable UTF-8 characters; non-printable character found at index {at}"
            return


def _shown(versions: list[Object]) -> list[Object]:
    """What the API shows of versions: its own structs, without what all of them share."""
    shared = _shared(versions) if versions else set()
    shown = []
    for version in versions:
        own = {part: None if part in shared else version.get(part) for part in _PARTS}
        shown.append(
            {
                "Name": version["name"],
                "Served": bool(version.get("served")),
                "Storage": bool(version.get("storage")),
                "Deprecated": bool(version.get("deprecated")),
                "DeprecationWarning": version.get("deprecationWarning"),
                "Schema": own["schema"],
                "Subresources": own["subresources"],
                "AdditionalPrinterColumns": own["additionalPrinterColumns"],
                "SelectableFields": own["selectableFields"],
            }
        )
    return shown


def check_shared(errors: Errors, versions: list[Object], kept: frozenset[str]) -> None:
    """What all versions have in common."""
    if versions:
        shared = _shared(versions)
        paths = {part: path for part, path in _PARTS.items() if part in shared}
        _check_parts(errors, versions[0], paths, kept=versions[0]["name"] in kept)


def _check_parts(errors: Errors, version: Object, paths: dict[str, str], *, kept: bool) -> None:
    schema, subresources = _schema(version), version.get("subresources") or {}
    if "schema" in paths and schema is not None:
        _check_schema(errors, version, paths["schema"], kept=kept)
        if "status" in subresources and schema.get("type") not in (None, "", "object"):
            wanted = (
                'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
            )
            errors.append(invalid(f"{paths['schema']}.openAPIV3Schema.type", schema["type"], wanted))
    if "subresources" in paths and "scale" in subresources:
        _check_scale(errors, subresources["scale"], f"{paths['subresources']}.scale")
    if "additionalPrinterColumns" in paths:
        for index, column in enumerate(version.get("additionalPrinterColumns", ())):
            _check_column(errors, column, f"{paths['additionalPrinterColumns']}[{index}]")
    if "selectableFields" in paths and version.get("selectableFields"):
        # The schema counts only where it stands beside them.
        beside = schema if "schema" in paths else None
        _check_selectable(errors, version["selectableFields"], beside, paths["selectableFields"])


def _check_schema(errors: Errors, version: Object, path: str, *, kept: bool) -> None:
    source, where = _schema(version) or {}, f"{path}.openAPIV3Schema"
    if source.get("nullable"):
        errors.append(forbidden(f"{where}.nullable", "nullable cannot be true at the root"))
    try:
        compiled = version_schema(version, path)
    except SchemaError as error:
        told = [*error.errors, *_written_wrongly(source, where)]
        if error.schema is not None:
            told += _wrong_defaults(error.schema, where)
        told += _untyped_defaults(source, where)
        # What cannot be read at all is told where nothing else is.
        errors += told if len(told) == 1 else [each for each in told if each.path != where]
        return
    wrong = list(_wrong_defaults(compiled, where))
    errors += wrong
    if wrong:
        errors += _written_wrongly(source, where)
    elif compiled.ruled:
        # Few definitions have rules, and nobody else waits for what compiles them.
        from mooring.kube.cel.rules.definitions import rule_errors

        errors += rule_errors(compiled, where, kept=kept)


def _written_wrongly(source: Object, path: str) -> list[FieldError]:
    """What is wrong with rules that are not compiled, because something else is wrong."""
    from mooring.kube.cel.rules.definitions import form_errors

    return list(form_errors(source, path))


def _untyped_defaults(source: Object, path: str) -> Iterator[FieldError]:
    """Of a type that there is not, no default can be."""
    kind = source.get("type")
    if kind and kind not in _TYPES and source.get("default") is not None:
        given = source["default"]
        found = next((name for name, each in _TYPES.items() if isinstance(given, each)), "")
        text = f" in body must be of type {kind}: {go_quote(found)}"
        yield type_invalid(f"{path}.default", found, text)
    for name, child in (source.get("properties") or {}).items():
        yield from _untyped_defaults(child, f"{path}.properties[{name}]")


def _wrong_defaults(schema: Schema, path: str) -> Iterator[FieldError]:
    """What is wrong with defaults: an object that says nothing must come out valid."""
    if schema.default is not ABSENT:
        if prune(schema, schema.default) != schema.default:
            yield invalid(f"{path}.default", schema.default, "must not have unknown fields")
        for error in validate(schema, schema.default):
            inner = "" if error.path in ("", "<nil>") else f".{error.path}"
            yield error._replace(path=f"{path}.default{inner}")
    for name, child in schema.properties.items():
        yield from _wrong_defaults(child, f"{path}.properties[{name}]")
    if schema.items is not None:
        yield from _wrong_defaults(schema.items, f"{path}.items")


def _check_column(errors: Errors, column: Object, path: str) -> None:
    if not column["name"]:
        errors.append(required(f"{path}.name", ""))
    known = f"must be one of {','.join(_COLUMN_TYPES)}"
    if not column["type"]:
        errors.append(required(f"{path}.type", known))
    elif column["type"] not in _COLUMN_TYPES:
        errors.append(invalid(f"{path}.type", column["type"], known))
    form = column.get("format")
    if form and form not in _COLUMN_FORMATS:
        errors.append(invalid(f"{path}.format", form, f"must be one of {','.join(_COLUMN_FORMATS)}"))
    if not column["jsonPath"]:
        errors.append(required(f"{path}.JSONPath", ""))
    else:
        _check_json_path(errors, column["jsonPath"], f"{path}.JSONPath")


def _check_json_path(errors: Errors, value: str, path: str) -> bool:
    if value.startswith("."):
        return True
    errors.append(invalid(path, value, "must be a simple json path starting with ."))
    return False


def _check_scale(errors: Errors, scale: Object, path: str) -> None:
    for key, root in (("specReplicasPath", ".spec."), ("statusReplicasPath", ".status.")):
        value = scale[key]
        if not value:
            errors.append(required(f"{path}.{key}", ""))
        elif _check_json_path(errors, value, f"{path}.{key}") and not value.startswith(root):
            errors.append(invalid(f"{path}.{key}", value, f"should be a json path under {root[:-1]}"))
    selector: str = scale.get("labelSelectorPath", "")
    well_formed = selector and _check_json_path(errors, selector, f"{path}.labelSelectorPath")
    if well_formed and not selector.startswith((".spec.", ".status.")):
        detail = "should be a json path under either .spec or .status"
        errors.append(invalid(f"{path}.labelSelectorPath", selector, detail))


def _check_selectable(errors: Errors, fields: list[Object], schema: Object | None, path: str) -> None:
    if schema is None:
        what = "validations.schema is included" if path.startswith("spec.selectable") else _EXCLUDED
        errors.append(invalid(path, "", f"may only be set when {what}"))
        return
    seen: set[str] = set()
    for index, each in enumerate(fields):
        here, value = f"{path}[{index}].jsonPath", each["jsonPath"]
        if not value:
            errors.append(required(here, ""))
            continue
        found, problem = _field_schema(schema, value)
        if problem:
            errors.append(invalid(here, value, f"is an invalid path: {problem}"))
            continue
        if value.split(".")[1] == "metadata":
            errors.append(invalid(here, value, "must not point to fields in metadata"))
        if found.get("type") not in ("string", "boolean", "integer"):
            detail = (
                "must point to a field of type string, boolean or integer. Enum string fields and strings with "
                "formats are allowed."
            )
            errors.append(invalid(here, value, detail))
        if value in seen:
            errors.append(duplicate(here, value))
        seen.add(value)
    if len(seen) > _MAX_SELECTABLE:
        errors.append(too_many(path, len(seen), _MAX_SELECTABLE))


_LONGEST_WARNING: Final = 256
_EXCLUDED: Final = "`version.schema.openAPIV3Schema` is not included"


def _field_schema(schema: Object, path: str) -> tuple[Object, str]:
    """The schema of a field by its path, or what is wrong with the path."""
    if not path.startswith("."):
        return {}, f"expected [ or . but got: {path.split('.')[0]}"
    for name in path[1:].split("."):
        name, bracket, _ = name.partition("[")
        inner = (schema.get("properties") or {}).get(name) if schema.get("properties") else _values(schema)
        if inner is None:
            return {}, "does not refer to a valid field"
        if bracket:
            return {}, "array notation is not allowed"
        schema = inner
    return schema, ""


def _values(schema: Object) -> Object | None:
    """The schema of what a map holds, of which nothing need be known."""
    found = schema.get("additionalProperties")
    if found is True:
        return {}
    return found if isinstance(found, dict) else None
