"""Schemas of custom kinds in OpenAPI v3: what their definitions say, with the parts that every object has filled in."""

from typing import Any, Final

from mooring.apiserver.openapi.components import Components, component_name, described, kind_mark, reference
from mooring.kube.objects import Object
from mooring.kube.schemas import builtin_schema
from mooring.kube.schemas.builtin import object_meta
from mooring.registry import Resource

__all__ = ["add_custom_kind"]


_NO_SCHEMA: Final[Object] = {"type": "object"}


def add_custom_kind(components: Components, resource: Resource, schema: Object | None) -> tuple[str, str]:
    """Take in a custom kind and its list; returns the names of both."""
    components.add_type(object_meta())
    components.add_type(builtin_schema("v1", "Status").properties["metadata"])
    prefix = ".".join([*reversed(resource.group.split(".")), resource.version])
    one, many = f"{prefix}.{resource.kind}", f"{prefix}.{resource.list_kind}"
    components.schemas[one] = {
        **_kind_schema(schema),
        "x-kubernetes-group-version-kind": [kind_mark(resource.api_version, resource.kind)],
    }
    components.schemas[many] = {
        "description": f"{resource.list_kind} is a list of {resource.kind}",
        "type": "object",
        "required": ["items"],
        "properties": {
            **_type_properties(),
            "metadata": {**described("*", "metadata"), "allOf": [reference(component_name("meta.v1.ListMeta"))]},
            "items": {"type": "array", "items": reference(one)},
        },
        "x-kubernetes-group-version-kind": [kind_mark(resource.api_version, resource.list_kind)],
    }
    return one, many


def _type_properties() -> Object:
    return {field: {**described("*", field), "type": "string"} for field in ("apiVersion", "kind")}


def _metadata() -> Object:
    return {**described("*", "metadata"), "allOf": [reference(component_name("meta.v1.ObjectMeta"))]}


def _kind_schema(schema: Object | None) -> Object:
    if not schema:
        # Properties without a schema would make clients refuse all others.
        return _NO_SCHEMA
    made = _expanded(schema)
    return {**made, "properties": {**made.get("properties", {}), **_type_properties(), "metadata": _metadata()}}


def _expanded(schema: Any) -> Any:
    """A copy in which objects inside of the object have the fields of one."""
    if not isinstance(schema, dict):
        return schema
    made = dict(schema)
    if "properties" in made:
        made["properties"] = {field: _expanded(child) for field, child in made["properties"].items()}
    for field in ("items", "additionalProperties"):
        if field in made:
            made[field] = _expanded(made[field])
    if made.get("x-kubernetes-embedded-resource"):
        made["properties"] = {**made.get("properties", {}), **_type_properties(), "metadata": _metadata()}
        made["required"] = list(dict.fromkeys([*made.get("required", ()), "kind", "apiVersion"]))
    return made
