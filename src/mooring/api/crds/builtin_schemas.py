"""Schemas of built-in types in the form that a CustomResourceDefinition takes.

Our own kinds contain pod templates and volume claims. What the API knows about those is in the table of built-in
types; a definition must spell all of it out, because it may not refer to anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object
from mooring.kube.schemas import ABSENT, Schema, builtin_type

__all__ = ["INT_OR_STRING", "QUANTITY", "builtin_openapi"]


INT_OR_STRING: Final[Object] = {
    "anyOf": [{"type": "integer"}, {"type": "string"}],
    "x-kubernetes-int-or-string": True,
}
QUANTITY: Final[Object] = {
    **INT_OR_STRING,
    "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$",
}
_STRINGS: Final[Object] = {"type": "object", "additionalProperties": {"type": "string"}}
# The metadata of a pod template; the rest is set by the controller that makes pods from it.
_TEMPLATE_META: Final[Object] = {
    "type": "object",
    "properties": {
        "annotations": _STRINGS,
        "finalizers": {"type": "array", "items": {"type": "string"}},
        "labels": _STRINGS,
        "name": {"type": "string"},
        "namespace": {"type": "string"},
    },
}
# Fields that count as empty when they are left out.
_EMPTY: Final = {
    "core.v1.ConfigMapEnvSource": "name",
    "core.v1.ConfigMapKeySelector": "name",
    "core.v1.ConfigMapProjection": "name",
    "core.v1.ConfigMapVolumeSource": "name",
    "core.v1.GRPCAction": "service",
    "core.v1.LocalObjectReference": "name",
    "core.v1.SecretEnvSource": "name",
    "core.v1.SecretKeySelector": "name",
    "core.v1.SecretProjection": "name",
}
# Structs that have a reference's fields among their own are replaced as a whole, because the reference is.
_ATOMIC: Final = frozenset(
    {
        "core.v1.ConfigMapEnvSource",
        "core.v1.ConfigMapProjection",
        "core.v1.ConfigMapVolumeSource",
        "core.v1.SecretEnvSource",
        "core.v1.SecretProjection",
    }
)
# Maps that are granular and say so, though that is the default.
_GRANULAR: Final = {"core.v1.PersistentVolumeClaimStatus": ("allocatedResourceStatuses",)}
# Rules that the API's own types carry for definitions that contain them.
_RULES: Final[Mapping[str, Mapping[str, Object]]] = {
    "meta.v1.Condition": {
        "type": {
            "maxLength": 316,
            "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
            r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        },
        "status": {"enum": ["True", "False", "Unknown"]},
        "reason": {"minLength": 1, "maxLength": 1024, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"},
        "message": {"maxLength": 32768},
        "observedGeneration": {"minimum": 0},
    }
}
# Fields whose defaults are filled in later, by the API itself.
_UNFILLED: Final = {"core.v1.AzureDiskVolumeSource": ("cachingMode", "kind")}


@cache
def builtin_openapi(name: str) -> Object:
    """The schema of a built-in type such as core.v1.PodTemplateSpec. It is shared."""
    try:
        return _openapi(builtin_type(name))
    except KeyError:
        raise MooringError(f'there is no built-in type "{name}"; they are named like core.v1.PodTemplateSpec') from None


def _openapi(schema: Schema) -> Object:
    if schema.name == "meta.v1.ObjectMeta":
        return _TEMPLATE_META
    if schema.format == "quantity":
        return QUANTITY
    if schema.int_or_string:
        return _with_default(schema, INT_OR_STRING)
    if not schema.type:
        return {"x-kubernetes-preserve-unknown-fields": True}
    made: Object = {"type": schema.type}
    if schema.format:
        made["format"] = schema.format
    if schema.properties:
        made["properties"] = {name: _openapi(child) for name, child in schema.properties.items()}
        if schema.name in _EMPTY:
            made["properties"][_EMPTY[schema.name]] = {"type": "string", "default": ""}
        for name in _UNFILLED.get(schema.name, ()):
            made["properties"][name] = {"type": "string"}
        for name in _GRANULAR.get(schema.name, ()):
            made["properties"][name] = {**made["properties"][name], "x-kubernetes-map-type": "granular"}
        for name, rules in _RULES.get(schema.name, {}).items():
            made["properties"][name] = {**made["properties"][name], **rules}
    if schema.required:
        made["required"] = sorted(schema.required)
    if schema.additional_properties is not None:
        made["additionalProperties"] = _openapi(schema.additional_properties)
    if schema.items is not None:
        made["items"] = _openapi(schema.items)
        made["x-kubernetes-list-type"] = schema.list_type
        if schema.list_map_keys:
            made["x-kubernetes-list-map-keys"] = list(schema.list_map_keys)
    if schema.atomic or schema.name in _ATOMIC:
        made["x-kubernetes-map-type"] = "atomic"
    return _with_default(schema, made)


def _with_default(schema: Schema, made: Object) -> Object:
    return made if schema.default is ABSENT else {**made, "default": schema.default}
