"""Random valid objects for property tests, drawn by hypothesis from a schema.

    @given(custom_objects(GADGETS, "v1"))
    def test_any_gadget_can_be_read(obj): ...

Types, formats, ranges, patterns, enums and list types are followed, and so are "all of" and its like, by trying. Rules
in CEL are not evaluated; a test that depends on one says so with `assume`.
"""

from __future__ import annotations

import json
import math
import string
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from hypothesis import strategies as st

from mooring.api.crds.resource import CustomResource, definition
from mooring.kube.objects import Object
from mooring.kube.schemas import Schema, structural_schema, validate

__all__ = ["custom_objects", "halves_of", "objects_of", "version_schema"]

Values = st.SearchStrategy[Any]

# A pod is as wide as it is deep. So that an example stays small enough to be read, few optional fields are drawn of
# objects far down and of built-in types, and none further down.
_FEW_FIELDS: Final = 2
_DEEP: Final = 3
_DEEPEST: Final = 8
# As many items more than a list must have.
_MORE: Final = 3
_RANGES: Final = {"int32": (-(2**31), 2**31 - 1)}
_LARGEST: Final = 2**63 - 1
_KEYS: Final = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=8)
_TEXT: Final = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20)
_QUANTITIES: Final = st.from_regex(r"\A(0|[1-9][0-9]{0,4})(m|k|M|G|Ki|Mi|Gi)?\Z")
_ANYTHING: Final = st.recursive(
    st.booleans() | st.integers(-1000, 1000) | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=5,
)
_FORMATS: Final[dict[str, Values]] = {
    "byte": st.sampled_from(("Zm9v", "YmFy", "YQ==")),
    "cidr": st.integers(0, 255).map("10.0.{}.0/24".format),
    "date": st.dates().map(str),
    "datetime": st.datetimes().map(lambda moment: moment.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")),
    "duration": st.integers(0, 9999).map("{}s".format),
    "email": _KEYS.map("{}@example.com".format),
    "hostname": _KEYS.map("h{}.example.com".format),
    "ipv4": st.ip_addresses(v=4).map(str),
    "ipv6": st.ip_addresses(v=6).map(str),
    "mac": st.integers(0, 255).map("00:00:5e:00:53:{:02x}".format),
    "quantity": _QUANTITIES,
    "uri": _KEYS.map("https://example.com/{}".format),
    "uuid": st.uuids().map(str),
}


def version_schema(resource: CustomResource, version: str = "") -> Schema:
    """The schema of one version; without a name, of the hub."""
    return _version_schema(resource, version or resource.hub.name)


@cache
def _version_schema(resource: CustomResource, name: str) -> Schema:
    versions = definition(resource)["spec"]["versions"]
    return structural_schema(next(each for each in versions if each["name"] == name)["schema"]["openAPIV3Schema"])


def custom_objects(resource: CustomResource, version: str = "") -> st.SearchStrategy[Object]:
    """Whole objects of a custom resource; without a version, of its hub."""
    name = version or resource.hub.name
    schema = version_schema(resource, name)
    own = {key: child for key, child in schema.properties.items() if key not in ("apiVersion", "kind", "metadata")}
    metadata: Object = {"name": _KEYS, "labels": st.dictionaries(_KEYS, _KEYS, max_size=2)}
    if resource.scope == "Namespaced":
        metadata["namespace"] = _KEYS
    named = st.fixed_dictionaries(
        {
            "apiVersion": st.just(f"{resource.group}/{name}"),
            "kind": st.just(resource.kind),
            "metadata": st.fixed_dictionaries(metadata),
        }
    )
    return st.builds(lambda one, other: {**one, **other}, named, objects_of(schema.with_attributes(properties=own)))


@st.composite
def halves_of(draw: st.DrawFn, objects: st.SearchStrategy[Object]) -> Object:
    """Objects of which fields are missing at any depth, required ones too, as server-side apply makes them."""
    return {
        name: value if name in ("apiVersion", "kind", "metadata") else _thinned(draw, value)
        for name, value in draw(objects).items()
        if name in ("apiVersion", "kind", "metadata") or _stays(draw)
    }


def _thinned(draw: st.DrawFn, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _thinned(draw, each) for name, each in value.items() if _stays(draw)}


def _stays(draw: st.DrawFn) -> bool:
    return draw(st.integers(0, 3)) < 3


def objects_of(schema: Schema) -> Values:
    """Values that are valid by a schema."""
    return _values(schema, 0)


@cache
def _values(schema: Schema, depth: int) -> Values:
    """Made once: strategies for patterns take longer to make than to draw from."""
    found = _plain_values(schema, depth)
    if schema.all_of or schema.any_of or schema.one_of or schema.negated is not None or schema.pattern:
        found = found.filter(lambda value: not validate(schema, value))
    # Built-in fields take null for "not set", which is no value.
    return st.none() | found if schema.nullable and not schema.builtin else found


def _plain_values(schema: Schema, depth: int) -> Values:
    if schema.enum:
        return st.sampled_from(schema.enum)
    if schema.int_or_string:
        return _integers(schema) | _texts(schema)
    if schema.format == "quantity":
        return _QUANTITIES
    if schema.type == "object":
        return _resources(schema, depth) if schema.embedded_resource else _objects(schema, depth)
    return _BY_TYPE[schema.type](schema, depth)


def _texts(schema: Schema) -> Values:
    shortest, longest = schema.min_length or 0, schema.max_length
    if schema.pattern:
        found = st.from_regex(schema.pattern, alphabet=st.characters(exclude_categories=("Cs", "Cc")))
        return found.filter(lambda text: shortest <= len(text) and (longest is None or len(text) <= longest))
    formatted = _FORMATS.get(schema.format.replace("-", ""))
    if formatted is not None:
        return formatted
    most = shortest + 20 if longest is None else min(longest, shortest + 20)
    return st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=shortest, max_size=most)


def _integers(schema: Schema) -> Values:
    smallest, largest = _RANGES.get(schema.format, (-_LARGEST, _LARGEST))
    if schema.minimum is not None:
        smallest = max(smallest, math.ceil(schema.minimum) + (schema.exclusive_minimum and schema.minimum % 1 == 0))
    if schema.maximum is not None:
        largest = min(largest, math.floor(schema.maximum) - (schema.exclusive_maximum and schema.maximum % 1 == 0))
    if schema.multiple_of is None:
        return st.integers(smallest, largest)
    step = int(schema.multiple_of)
    return st.integers(-(-smallest // step), largest // step).map(lambda number: number * step)


def _numbers(schema: Schema) -> Values:
    return st.floats(
        schema.minimum,
        schema.maximum,
        exclude_min=schema.minimum is not None and schema.exclusive_minimum,
        exclude_max=schema.maximum is not None and schema.exclusive_maximum,
        allow_nan=False,
        allow_infinity=False,
    )


def _lists(schema: Schema, depth: int) -> Values:
    if schema.items is None or depth > _DEEPEST:
        return st.just([])
    least = schema.min_items or 0
    most = least + _MORE if schema.max_items is None else min(schema.max_items, least + _MORE)
    unique: Callable[[Any], Any] | None = None
    if schema.list_type == "set":
        unique = _identity
    elif schema.list_type == "map":
        keys = dict(zip(schema.list_map_keys, schema.key_defaults, strict=True))
        unique = lambda item: _identity([item.get(key, repr(default)) for key, default in keys.items()])  # noqa: E731
    return st.lists(_values(schema.items, depth + 1), min_size=least, max_size=most, unique_by=unique)


def _identity(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _objects(schema: Schema, depth: int) -> Values:
    if schema.properties:
        return _fields(schema, depth)
    least = schema.min_properties or 0
    most = least + _MORE if schema.max_properties is None else min(schema.max_properties, least + _MORE)
    if schema.additional_properties is not None:
        return st.dictionaries(_KEYS, _values(schema.additional_properties, depth + 1), min_size=least, max_size=most)
    if schema.preserve_unknown_fields:
        return st.dictionaries(_KEYS, _ANYTHING, min_size=least, max_size=most)
    return st.just({})


@st.composite
def _fields(draw: st.DrawFn, schema: Schema, depth: int) -> Object:
    needed = [name for name in schema.required if name in schema.properties]
    optional = sorted(set(schema.properties) - set(needed))
    least = max(0, (schema.min_properties or 0) - len(needed))
    most = len(optional) if schema.max_properties is None else schema.max_properties - len(needed)
    if schema.builtin or depth > _DEEP:
        most = max(least, min(most, _FEW_FIELDS))
    if depth > _DEEPEST:
        most = least
    chosen = draw(st.lists(st.sampled_from(optional), min_size=least, max_size=most, unique=True)) if optional else []
    return {name: draw(_values(schema.properties[name], depth + 1)) for name in (*needed, *chosen)}


@st.composite
def _resources(draw: st.DrawFn, schema: Schema, depth: int) -> Object:
    """Whole objects inside of an object: they are named."""
    own = {key: child for key, child in schema.properties.items() if key not in ("apiVersion", "kind", "metadata")}
    inner = draw(
        _objects(schema.with_attributes(properties=own, required=tuple(set(schema.required) & set(own))), depth)
    )
    return {**inner, "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": draw(_KEYS)}}


_BY_TYPE: Final[dict[str, Callable[[Schema, int], Values]]] = {
    "": lambda schema, depth: _ANYTHING,
    "array": _lists,
    "boolean": lambda schema, depth: st.booleans(),
    "integer": lambda schema, depth: _integers(schema),
    "number": lambda schema, depth: _numbers(schema),
    "string": lambda schema, depth: _texts(schema),
}
