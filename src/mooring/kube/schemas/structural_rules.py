"""What makes a schema structural, and what the API says about one that is not.

Two parts: every field outside of "all of", "any of", "one of" and "not" has a type and well-formed marks; whatever
stands inside of those only adds conditions on fields that are already declared outside.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from mooring.kube.errors import FieldError, forbidden, invalid, not_supported, required
from mooring.kube.schemas.patterns import compile_pattern

__all__ = ["structural_errors"]

Source = Mapping[str, Any]

_JUNCTORS: Final = ("allOf", "anyOf", "oneOf")
_INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]
_UNSUPPORTED: Final = (
    "$ref",
    "additionalItems",
    "definitions",
    "dependencies",
    "id",
    "patternProperties",
)

# What may not stand inside of a junctor, and how the API asks for its absence.
_ONLY_OUTSIDE: Final = {
    "type": "must be empty to be structural",
    "additionalProperties": "must be undefined to be structural",
    "default": "must be undefined to be structural",
    "title": "must be empty to be structural",
    "description": "must be empty to be structural",
    "nullable": "must be false to be structural",
    "x-kubernetes-preserve-unknown-fields": "must be false to be structural",
    "x-kubernetes-embedded-resource": "must be false to be structural",
    "x-kubernetes-int-or-string": "must be false to be structural",
    "x-kubernetes-list-map-keys": "must be empty to be structural",
    "x-kubernetes-list-type": "must be undefined to be structural",
    "x-kubernetes-map-type": "must be undefined to be structural",
    "x-kubernetes-validations": "must be empty to be structural",
}
_TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
_EMPTY_TYPE: Final = {
    "root": "must not be empty at the root",
    "item": "must not be empty for specified array items",
    "field": "must not be empty for specified object fields",
}


def structural_errors(source: Source, path: str) -> tuple[list[FieldError], bool]:
    """Everything that the API refuses, sorted by its text, and whether the schema is structural all the same."""
    errors = [*_outside(source, "root", path)]
    unread, structural = next(_unread(source), None), False
    if unread is None:
        before = len(errors)
        errors += [*_structure(source, "root", path), *_completeness(source, source, path, path)]
        structural = len(errors) == before
    elif not errors:
        # Such a schema is not even tried as a structural one.
        errors = [invalid(path, "", f"OpenAPIV3Schema '{unread}' is not supported")]
    by_text = {str(error): error for error in errors}
    return [by_text[text] for text in sorted(by_text)], structural


def _unread(source: Source) -> Iterator[str]:
    """The parts of a schema that nothing is known of."""
    for name in (*_UNSUPPORTED, "$schema"):
        if source.get(name) or (name == "additionalItems" and source.get(name) is not None):
            yield "schema" if name == "$schema" else name
    if source.get("x-kubernetes-preserve-unknown-fields") is False:
        yield "x-kubernetes-preserve-unknown-fields"
    below = [source.get("items"), source.get("additionalProperties"), source.get("not")]
    below += (source.get("properties") or {}).values()
    for junctor in _JUNCTORS:
        below += source.get(junctor) or ()
    if source.get("items") and isinstance(source["items"], list):
        yield "items"
    for child in below:
        if isinstance(child, Mapping):
            yield from _unread(child)


def _structure(source: Source, level: str, path: str) -> Iterator[FieldError]:
    """What is wrong with the structure of a schema that could be read."""
    if source.get("type") == "array" and source.get("items") in (None, []):
        yield required(f"{path}.items", "must be specified")
    if level == "root" and source.get("additionalProperties") is not None:
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if source.get("x-kubernetes-embedded-resource") and source.get("additionalProperties") is not None:
        detail = "must not be used if x-kubernetes-embedded-resource is set"
        yield forbidden(f"{path}.additionalProperties", detail)
    yield from _type_errors(source, level, path)
    yield from _rule_errors(source, path)
    yield from _junctor_errors(source, path)
    if isinstance(source.get("items"), Mapping):
        yield from _structure(source["items"], "item", f"{path}.items")
    for name, child in (source.get("properties") or {}).items():
        yield from _structure(child, "field", f"{path}.properties[{name}]")
    if isinstance(source.get("additionalProperties"), Mapping):
        yield from _structure(source["additionalProperties"], "field", f"{path}.additionalProperties")


def _outside(source: Source, level: str, path: str) -> Iterator[FieldError]:
    kind = source.get("type") or ""
    properties: Source = source.get("properties") or {}
    others = source.get("additionalProperties")
    items = source.get("items")
    for name in _UNSUPPORTED:
        if source.get(name):
            yield forbidden(f"{path}.{name}", f"{name} is not supported")
    if kind and kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, _TYPES)
    if kind == "null":
        yield forbidden(f"{path}.type", "type cannot be set to null, use nullable as an alternative")
    if source.get("x-kubernetes-preserve-unknown-fields") is False:
        yield invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")
    if isinstance(items, Mapping):
        yield from _outside(items, "item", f"{path}.items")
    elif items:
        yield forbidden(f"{path}.items", "items must be a schema object and not an array")
    for name, child in properties.items():
        yield from _outside(child, "field", f"{path}.properties[{name}]")
    if others is not None:
        if properties and others is not True:
            yield forbidden(f"{path}.additionalProperties", "additionalProperties and properties are mutual exclusive")
        if isinstance(others, Mapping):
            yield from _outside(others, "field", f"{path}.additionalProperties")
    yield from _list_errors(source, path)


def _type_errors(source: Source, level: str, path: str) -> Iterator[FieldError]:
    kind = source.get("type") or ""
    embedded = source.get("x-kubernetes-embedded-resource")
    flexible = source.get("x-kubernetes-int-or-string")
    preserve = source.get("x-kubernetes-preserve-unknown-fields")
    if flexible and preserve:
        detail = "must be false if x-kubernetes-int-or-string is true"
        yield invalid(f"{path}.x-kubernetes-preserve-unknown-fields", True, detail)
    if embedded and kind != "object":
        detail = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid(f"{path}.type", kind, detail) if kind else required(f"{path}.type", detail)
    elif not kind and not flexible and not preserve:
        yield required(f"{path}.type", _EMPTY_TYPE[level])
    if embedded and not preserve and not source.get("properties"):
        detail = (
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields"
        )
        yield required(f"{path}.properties", detail)
    if level == "root" and kind not in ("", "object"):
        yield invalid(f"{path}.type", kind, "must be object at the root")
    if level == "root" or embedded:
        yield from _meta_errors(source.get("properties") or {}, level, f"{path}.properties")


def _meta_errors(properties: Source, level: str, path: str) -> Iterator[FieldError]:
    for name in ("kind", "apiVersion"):
        if name in properties and properties[name].get("type") != "string":
            yield invalid(f"{path}[{name}].type", properties[name].get("type") or "", "must be string")
    metadata = properties.get("metadata")
    if metadata is None:
        return
    if metadata.get("type") != "object":
        yield invalid(f"{path}[metadata].type", metadata.get("type") or "", "must be object")
    said = {key for key, value in metadata.items() if value and key not in ("type", "description", "title")}
    if level == "root" and (said - {"properties"} or set(metadata.get("properties") or ()) - {"name", "generateName"}):
        detail = "must not specify anything other than name and generateName, but metadata is implicitly specified"
        yield forbidden(f"{path}[metadata]", detail)


def _list_errors(source: Source, path: str) -> Iterator[FieldError]:
    kind = source.get("type") or ""
    list_type = source.get("x-kubernetes-list-type")
    keys = list(source.get("x-kubernetes-list-map-keys") or ())
    map_type = source.get("x-kubernetes-map-type")
    if source.get("uniqueItems"):
        detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic"
        yield forbidden(f"{path}.uniqueItems", detail)
    for mark, wanted in (("map", "object"), ("list", "array")):
        if source.get(f"x-kubernetes-{mark}-type") is not None and kind != wanted:
            detail = f"must be {wanted} if x-kubernetes-{mark}-type is specified"
            yield invalid(f"{path}.type", kind, detail) if kind else required(f"{path}.type", detail)
    if map_type not in (None, "atomic", "granular"):
        yield not_supported(f"{path}.x-kubernetes-map-type", map_type, ("atomic", "granular"))
    if list_type not in (None, "atomic", "set", "map"):
        yield not_supported(f"{path}.x-kubernetes-list-type", list_type, ("atomic", "set", "map"))
    if keys and list_type != "map":
        detail = "must be map if x-kubernetes-list-map-keys is non-empty"
        where = f"{path}.x-kubernetes-list-type"
        yield required(where, detail) if list_type is None else invalid(where, list_type, detail)
    if list_type == "map":
        yield from _key_errors(source, keys, path)


def _key_errors(source: Source, keys: list[str], path: str) -> Iterator[FieldError]:
    where = f"{path}.x-kubernetes-list-map-keys"
    items = source.get("items")
    if not keys:
        yield required(where, "must not be empty if x-kubernetes-list-type is map")
    if not isinstance(items, Mapping):
        yield required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map")
        return
    if items.get("type") != "object":
        detail = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(f"{path}.items.type", items.get("type") or "", detail)
        return
    fields: Source = items.get("properties") or {}
    for index, key in enumerate(keys):
        if key not in fields:
            yield invalid(where, keys, "entries must all be names of item properties")
        elif fields[key].get("type") in ("array", "object"):
            detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
            yield invalid(f"{path}.items.properties[{key}].type", "object", detail)
        elif key not in (items.get("required") or ()) and fields[key].get("default") is None:
            detail = (
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property"
            )
            yield required(f"{path}.items.properties[{key}].default", detail)
        if key in keys[:index]:
            yield invalid(where, keys, "must not contain duplicate entries")


def _rule_errors(source: Source, path: str) -> Iterator[FieldError]:
    pattern = source.get("pattern")
    if pattern:
        try:
            compile_pattern(pattern)
        except ValueError as error:
            detail = f"must be a valid regular expression, but isn't: {error}"
            yield invalid(f"{path}.pattern", pattern, detail)


def _junctor_errors(source: Source, path: str) -> Iterator[FieldError]:
    """What is inside of junctors. Only the two ways to say "integer or string" may name types there."""
    for junctor in _JUNCTORS:
        alternatives = source.get(junctor) or ()
        if junctor == "anyOf" and list(alternatives) == _INT_OR_STRING:
            continue
        for index, child in enumerate(alternatives):
            plain = dict(child)
            if junctor == "allOf" and index == 0 and plain.get("anyOf") == _INT_OR_STRING:
                del plain["anyOf"]
            yield from _inside(plain, f"{path}.{junctor}[{index}]")
    if source.get("not") is not None:
        yield from _inside(source["not"], f"{path}.not")


def _inside(source: Source, path: str) -> Iterator[FieldError]:
    for name, detail in _ONLY_OUTSIDE.items():
        if source.get(name) not in (None, "", False, [], {}):
            yield forbidden(f"{path}.{name}", detail)
    yield from _rule_errors(source, path)
    yield from _junctor_errors(source, path)
    if isinstance(source.get("items"), Mapping):
        yield from _inside(source["items"], f"{path}.items")
    for name, child in (source.get("properties") or {}).items():
        if name == "metadata":
            yield forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")
        yield from _inside(child, f"{path}.properties[{name}]")


def _completeness(source: Source, declared: Source | None, path: str, declared_path: str) -> Iterator[FieldError]:
    """Whatever junctors say must be about something that is declared outside of them."""
    for junctor in _JUNCTORS:
        for index, child in enumerate(source.get(junctor) or ()):
            yield from _declared(child, declared, f"{path}.{junctor}[{index}]", declared_path)
    if source.get("not") is not None:
        yield from _declared(source["not"], declared, f"{path}.not", declared_path)


def _declared(source: Source, declared: Source | None, path: str, declared_path: str) -> Iterator[FieldError]:
    if declared is None:
        yield required(declared_path, f"because it is defined in {path}")
        return
    yield from _completeness(source, declared, path, declared_path)
    if isinstance(source.get("items"), Mapping):
        items = declared.get("items")
        # A list of schemas is refused elsewhere, and declares nothing.
        yield from _declared(
            source["items"], items if isinstance(items, Mapping) else None, f"{path}.items", f"{declared_path}.items"
        )
    fields: Source = declared.get("properties") or {}
    for name, child in (source.get("properties") or {}).items():
        yield from _declared(
            child, fields.get(name), f"{path}.properties[{name}]", f"{declared_path}.properties[{name}]"
        )
