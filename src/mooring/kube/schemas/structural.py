"""Reads the schema of a CustomResourceDefinition.

The API takes only structural schemas: the type of every field is said once, outside of any "one of these", so that
pruning and defaulting need no guessing. `structural_rules` finds what breaks that; this module builds what passes.

Every custom object has the metadata of built-in ones, whatever its schema says about them.
"""

from collections.abc import Mapping
from typing import Any, Final

from mooring.kube.errors import FieldError, MooringError, aggregate
from mooring.kube.schemas.builtin import object_meta
from mooring.kube.schemas.formats import known_format
from mooring.kube.schemas.model import ABSENT, Schema
from mooring.kube.schemas.patterns import compile_pattern
from mooring.kube.schemas.structural_rules import structural_errors

__all__ = ["SchemaError", "structural_schema"]

_STRING: Final = Schema(type="string")

# Attributes that are named alike on both sides, up to spelling.
_SAME: Final = {
    "exclusiveMaximum": "exclusive_maximum",
    "exclusiveMinimum": "exclusive_minimum",
    "maxItems": "max_items",
    "maxLength": "max_length",
    "maxProperties": "max_properties",
    "maximum": "maximum",
    "minItems": "min_items",
    "minLength": "min_length",
    "minProperties": "min_properties",
    "minimum": "minimum",
    "multipleOf": "multiple_of",
    "nullable": "nullable",
    "type": "type",
    "uniqueItems": "unique_items",
    "x-kubernetes-embedded-resource": "embedded_resource",
    "x-kubernetes-int-or-string": "int_or_string",
    "x-kubernetes-list-type": "list_type",
    "x-kubernetes-preserve-unknown-fields": "preserve_unknown_fields",
}


class SchemaError(MooringError):
    """A schema that the API refuses; `errors` holds every reason. `schema` is what it says, if it is structural."""

    def __init__(self, errors: list[FieldError], schema: Schema | None = None) -> None:
        super().__init__(aggregate(errors))
        self.errors = tuple(errors)
        self.schema = schema


def structural_schema(openapi_v3: Mapping[str, Any], path: str = "openAPIV3Schema") -> Schema:
    """The schema of a custom kind. SchemaError, with paths below `path`, when it is not structural."""
    errors, structural = structural_errors(openapi_v3, path)
    if errors:
        raise SchemaError(errors, _build(openapi_v3, resource=True) if structural else None)
    return _build(openapi_v3, resource=True)


def _build(source: Mapping[str, Any], *, resource: bool = False) -> Schema:
    attributes: dict[str, Any] = {ours: source[theirs] for theirs, ours in _SAME.items() if theirs in source}
    properties = {name: _build(child) for name, child in (source.get("properties") or {}).items()}
    if resource or source.get("x-kubernetes-embedded-resource"):
        properties |= _resource_properties(properties)
    items = source.get("items")
    if items:
        attributes["items"] = _build(items)
    others = source.get("additionalProperties")
    if others is not None and others is not False:
        attributes["additional_properties"] = Schema() if others is True else _build(others)
    if source.get("default") is not None:
        attributes["default"] = source["default"]
    if source.get("pattern"):
        attributes["pattern"] = source["pattern"]
        attributes["matches"] = compile_pattern(source["pattern"])
    if known_format(source.get("format") or ""):
        attributes["format"] = source["format"]
    attributes["enum"] = tuple(source.get("enum") or ())
    attributes["required"] = tuple(source.get("required") or ())
    attributes["atomic"] = source.get("x-kubernetes-map-type") == "atomic"
    _add_keys(attributes, source)
    _add_junctors(attributes, source)
    # Nulls that a field does not allow have to be found everywhere, so every custom schema is walked.
    defaulted = tuple(name for name, child in properties.items() if child.default is not ABSENT)
    attributes["validations"] = tuple(source.get("x-kubernetes-validations") or ())
    below = (*properties.values(), attributes.get("items"), attributes.get("additional_properties"))
    attributes["ruled"] = bool(attributes["validations"]) or any(each is not None and each.ruled for each in below)
    return Schema(properties=properties, fills=True, defaulted=defaulted, **attributes)


def _resource_properties(declared: Mapping[str, Schema]) -> dict[str, Schema]:
    """The fields that the API adds to every object. A definition may say more about names alone."""
    metadata = object_meta()
    named = {name: child for name, child in _metadata_rules(declared).items() if name in ("name", "generateName")}
    if named:
        metadata = metadata.with_attributes(properties={**metadata.properties, **named})
    return {
        "apiVersion": declared.get("apiVersion", _STRING),
        "kind": declared.get("kind", _STRING),
        "metadata": metadata,
    }


def _metadata_rules(declared: Mapping[str, Schema]) -> Mapping[str, Schema]:
    metadata = declared.get("metadata")
    return metadata.properties if metadata is not None else {}


def _add_keys(attributes: dict[str, Any], source: Mapping[str, Any]) -> None:
    keys = tuple(source.get("x-kubernetes-list-map-keys") or ())
    if keys:
        items = attributes.get("items")
        fields: Mapping[str, Schema] = {} if items is None else items.properties
        attributes["list_map_keys"] = keys
        attributes["key_defaults"] = tuple(fields[key].default if key in fields else ABSENT for key in keys)


def _add_junctors(attributes: dict[str, Any], source: Mapping[str, Any]) -> None:
    for theirs, ours in (("allOf", "all_of"), ("anyOf", "any_of"), ("oneOf", "one_of")):
        attributes[ours] = tuple(map(_build, source.get(theirs) or ()))
    if source.get("not") is not None:
        attributes["negated"] = _build(source["not"])
