"""From the types of a custom resource to the schema of its CustomResourceDefinition.

A view is tolerant and may read less than there is; its schema is whole. Everything a schema needs stands with the type:
fields and their types, the struct's defaults, docstrings, and Markers. A field that the type does not declare is not in
the schema.
"""

from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, TypeGuard

import msgspec

from mooring.api.crds.builtin_schemas import INT_OR_STRING, builtin_openapi
from mooring.api.crds.markers import Markers
from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

__all__ = ["resource_schema"]

Struct = type[msgspec.Struct]

_NO_MARKERS: Final = Markers()
_PLAIN: Final[Mapping[Any, Object]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bytes: {"type": "string", "format": "byte"},
    datetime: {"type": "string", "format": "date-time"},
    # Whatever it is, it is kept.
    Any: {"x-kubernetes-preserve-unknown-fields": True},
    object: {"x-kubernetes-preserve-unknown-fields": True},
}
_OBJECT: Final[Object] = {
    "apiVersion": {"type": "string", "description": "The version of the API that this object is written in."},
    "kind": {"type": "string", "description": "The kind of this object."},
    "metadata": {"type": "object"},
}


def resource_schema(view: Struct) -> Object:
    """The schema of a whole object. Its metadata is that of every object, whichever fields the view reads."""
    made = _struct(view, ())
    described = _description(view)
    if not described:
        raise MooringError(f"{view.__name__} has no description; give it a docstring")
    own = {name: child for name, child in made["properties"].items() if name not in _OBJECT}
    return {
        "type": "object",
        "description": described,
        **made,
        "properties": {**_OBJECT, "metadata": _metadata(view), **own},
    }


def _metadata(view: Struct) -> Object:
    """What a definition may say of metadata is about names alone."""
    found = next((field.type for field in msgspec.structs.fields(view) if field.encode_name == "metadata"), Any)
    return {**_OBJECT["metadata"], **_unwrapped(found)[1].keywords()}


def _struct(view: Struct, inside: tuple[Struct, ...]) -> Object:
    if view in inside:
        names = " > ".join(each.__name__ for each in (*inside, view))
        raise MooringError(
            f"{view.__name__} contains itself ({names}), which no CustomResourceDefinition can say; "
            "read the inner one as dict[str, Any]"
        )
    properties: Object = {}
    required = []
    for field in msgspec.structs.fields(view):
        where = f"{view.__name__}.{field.name}"
        name = field.encode_name
        if name in _OBJECT and not inside:
            # The API says what these are; a view reads what it needs of them.
            continue
        kind, markers = _unwrapped(field.type)
        properties[name] = _field(where, field, _value(where, kind, markers, (*inside, view)), markers)
        if markers.required or (field.required and markers.required is not False):
            required.append(name)
    made: Object = {"type": "object", "properties": properties}
    if required:
        made["required"] = sorted(required)
    return made | _type_markers(view).keywords()


def _field(where: str, field: msgspec.structs.FieldInfo, value: Object, markers: Markers) -> Object:
    described = markers.description or value.get("description", "")
    if not described:
        raise MooringError(f'{where} has no description; give it one with Annotated[..., Markers("...")]')
    made: Object = {"description": described} | markers.applied(_without_description(value))
    if markers.defaulted:
        if field.required:
            raise MooringError(f"{where} is defaulted and has no default; give it one")
        made["default"] = _plain_value(_default(field))
    return made


def _without_description(value: Object) -> Object:
    return {key: part for key, part in value.items() if key != "description"}


def _default(field: msgspec.structs.FieldInfo) -> Any:
    return field.default_factory() if field.default is msgspec.NODEFAULT else field.default


def _plain_value(value: Any) -> Any:
    """A default in JSON. Of a struct it holds what differs: the rest has defaults of its own."""
    if not isinstance(value, msgspec.Struct):
        return msgspec.json.decode(msgspec.json.encode(value))
    said = {}
    for field in msgspec.structs.fields(value):
        given = getattr(value, field.name)
        if field.required or given != _default(field):
            said[field.encode_name] = _plain_value(given)
    return said


def _unwrapped(kind: Any) -> tuple[Any, Markers]:
    """A type without Annotated and None, and all the markers on it, those further out over those further in."""
    if typing.get_origin(kind) is Annotated:
        inner, *others = typing.get_args(kind)
        found, markers = _unwrapped(inner)
        for each in others:
            if isinstance(each, Markers):
                markers = markers.overridden(each)
        return found, markers
    arms = _arms(kind)
    if len(arms) == 1 and arms[0] is not kind:
        return _unwrapped(arms[0])
    return kind, _NO_MARKERS


def _arms(kind: Any) -> tuple[Any, ...]:
    if typing.get_origin(kind) not in (typing.Union, types.UnionType):
        return (kind,)
    return tuple(arm for arm in typing.get_args(kind) if arm is not type(None))


def _value(where: str, kind: Any, markers: Markers, inside: tuple[Struct, ...]) -> Object:
    of = markers.of
    if of is None:
        return _typed(where, kind, inside)
    if isinstance(of, str):
        return builtin_openapi(of)
    if isinstance(of, Mapping):
        return dict(of)
    return _described_struct(of, inside)


def _typed(where: str, kind: Any, inside: tuple[Struct, ...]) -> Object:
    if kind in _PLAIN:
        return _PLAIN[kind]
    if _is_struct(kind):
        return _described_struct(kind, inside)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if set(_arms(kind)) == {int, str}:
        return INT_OR_STRING
    if origin is Literal:
        return _enum(where, arguments)
    if inspect.isclass(kind) and issubclass(kind, enum.Enum):
        return _enum(where, tuple(each.value for each in kind))
    if origin in (list, tuple, set, frozenset) and (origin is not tuple or arguments[1:] == (...,)):
        listed: Object = {"type": "array", "items": _part(where, arguments[0], inside)}
        return listed | ({"x-kubernetes-list-type": "set"} if origin in (set, frozenset) else {})
    if inspect.isclass(origin) and issubclass(origin, Mapping) and arguments[0] is str:
        if arguments[1] is Any:
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        return {"type": "object", "additionalProperties": _part(where, arguments[1], inside)}
    raise MooringError(
        f"{where} is of type {kind}, which no CustomResourceDefinition can say; say it with Markers(of=...)"
    )


def _part(where: str, kind: Any, inside: tuple[Struct, ...]) -> Object:
    """The schema of items or of a map's values; they need no description."""
    inner, markers = _unwrapped(kind)
    made = markers.applied(_value(where, inner, markers, inside))
    return {**made, "description": markers.description} if markers.description else made


def _enum(where: str, values: tuple[Any, ...]) -> Object:
    kinds = {type(value) for value in values}
    if len(kinds) != 1 or not kinds <= {str, int, bool}:
        raise MooringError(f"{where} allows {values}, which are not all strings or all integers")
    return {**_PLAIN[kinds.pop()], "enum": list(values)}


def _is_struct(kind: Any) -> TypeGuard[Struct]:
    return inspect.isclass(kind) and issubclass(kind, msgspec.Struct)


def _described_struct(view: Struct, inside: tuple[Struct, ...]) -> Object:
    described = _description(view)
    made = _struct(view, inside)
    return {"description": described, **made} if described else made


def _description(view: Struct) -> str:
    """The markers' text, or the docstring as paragraphs without line breaks."""
    text = _type_markers(view).description or inspect.cleandoc(view.__doc__ or "")
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


def _type_markers(view: Struct) -> Markers:
    found = getattr(view, "markers", _NO_MARKERS)
    return found if isinstance(found, Markers) else _NO_MARKERS
