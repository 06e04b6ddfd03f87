"""Schemas of built-in types in the form of OpenAPI v3, under the names that every client knows them by."""

from functools import cache
from pkgutil import get_data
from typing import Final

from mooring.kube.objects import Object
from mooring.kube.schemas import ABSENT, Schema, builtin_schema

__all__ = ["Components", "component_name", "described", "kind_mark", "reference"]


_META: Final = "io.k8s.apimachinery.pkg.apis.meta"
_PREFIXES: Final = {
    "apiextensions": "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
    "apiregistration": "io.k8s.kube-aggregator.pkg.apis.apiregistration",
    "meta": _META,
    "runtime": "io.k8s.apimachinery.pkg.runtime",
}
QUANTITY: Final = "io.k8s.apimachinery.pkg.api.resource.Quantity"
INT_OR_STRING: Final = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
TIME: Final = f"{_META}.v1.Time"
PATCH: Final = f"{_META}.v1.Patch"
_SCALARS: Final[dict[str, Object]] = {
    QUANTITY: {"description": "An amount, such as 500m or 2Gi.", "oneOf": [{"type": "string"}, {"type": "number"}]},
    INT_OR_STRING: {
        "description": "A number, or a string such as 25%.",
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
    TIME: {"description": "A moment, such as 2026-01-31T12:00:00Z.", "type": "string", "format": "date-time"},
    PATCH: {"description": "The body of a patch; its content type says of which kind.", "type": "object"},
}


def component_name(name: str) -> str:
    """The full name of a built-in type: `core.v1.Pod` is `io.k8s.api.core.v1.Pod`."""
    group, _, rest = name.partition(".")
    return f"{_PREFIXES.get(group, f'io.k8s.api.{group}')}.{rest}"


def reference(name: str) -> Object:
    return {"$ref": f"#/components/schemas/{name}"}


def kind_mark(api_version: str, kind: str) -> Object:
    group, _, version = api_version.rpartition("/")
    return {"group": group, "kind": kind, "version": version}


@cache
def _descriptions() -> dict[str, str]:
    data = get_data("mooring.apiserver", "data/descriptions.txt")
    assert data is not None, "The package has lost its file descriptions.txt."
    lines = (line for line in data.decode().splitlines() if line and not line.startswith("#"))
    return dict(line.split(": ", 1) for line in lines)


def described(name: str, field: str = "", family: str = "") -> Object:
    """The description of a type or of its field; what a family of types has in common is described once for all."""
    known = _descriptions()
    found = known.get(f"{name}.{field}" if field else name) or known.get(f"{family}.{field}")
    return {"description": found} if found else {}


def _family(schema: Schema) -> str:
    if schema.name.endswith("Condition"):
        return "*Condition"
    return "*" if "metadata" in schema.properties else ""


class Components:
    """The schemas of one document: what its kinds are, and everything these refer to."""

    def __init__(self) -> None:
        self.schemas: dict[str, Object] = {}

    def add_kind(self, api_version: str, kind: str) -> str:
        """Take in a built-in kind; returns its name."""
        schema = builtin_schema(api_version, kind)
        full = self._add(schema)
        mark = kind_mark(api_version, kind)
        marks = self.schemas[full].setdefault("x-kubernetes-group-version-kind", [])
        if mark not in marks:
            marks.append(mark)
        return full

    def add_scalar(self, name: str) -> str:
        self.schemas.setdefault(name, _SCALARS[name])
        return name

    def add_type(self, schema: Schema) -> str:
        """Take in a named built-in type that is no kind; returns its name."""
        return self._add(schema)

    def _add(self, schema: Schema) -> str:
        full = component_name(schema.name)
        if full in self.schemas:
            return full
        made: Object = {"type": "object", **described(schema.name)}
        # Known before its fields are: some types contain themselves.
        self.schemas[full] = made
        if schema.properties:
            family = _family(schema)
            made["properties"] = {
                field: self._property(child, described(schema.name, field, family))
                for field, child in schema.properties.items()
            }
        if schema.required:
            made["required"] = list(schema.required)
        return full

    def _property(self, schema: Schema, more: Object) -> Object:
        made = self._shape(schema)
        more = {**more, **_marks(schema)}
        if more and "$ref" in made:
            # Beside a reference everything else is ignored by rule, so it stands around it.
            return {**more, "allOf": [made]}
        return {**more, **made}

    def _shape(self, schema: Schema) -> Object:
        if schema.format == "quantity":
            return reference(self.add_scalar(QUANTITY))
        if schema.int_or_string:
            return reference(self.add_scalar(INT_OR_STRING))
        if schema.format == "date-time":
            return reference(self.add_scalar(TIME))
        if schema.name:
            return reference(self._add(schema))
        if schema.items is not None:
            return {"type": "array", "items": self._shape(schema.items), **_list_marks(schema)}
        if schema.additional_properties is not None:
            return {"type": "object", "additionalProperties": self._shape(schema.additional_properties)}
        if not schema.type:
            # Never an empty schema: kubectl takes that for a missing one.
            return {"x-kubernetes-preserve-unknown-fields": True}
        form = schema.format or ("double" if schema.type == "number" else "")
        return {"type": schema.type, "format": form} if form else {"type": schema.type}


def _marks(schema: Schema) -> Object:
    marks: Object = {}
    if schema.default is not ABSENT:
        marks["default"] = schema.default
    if schema.patch_strategy:
        marks["x-kubernetes-patch-strategy"] = ",".join(schema.patch_strategy)
    if schema.patch_merge_key:
        marks["x-kubernetes-patch-merge-key"] = schema.patch_merge_key
    if schema.atomic and schema.type == "object" and not schema.preserve_unknown_fields:
        marks["x-kubernetes-map-type"] = "atomic"
    return marks


def _list_marks(schema: Schema) -> Object:
    marks: Object = {"x-kubernetes-list-type": schema.list_type}
    if schema.list_map_keys:
        marks["x-kubernetes-list-map-keys"] = list(schema.list_map_keys)
    return marks
