"""Turns what a client sends into an object of the registry's own: typed, pruned, nothing shared with the client.

Built-in kinds are decoded as the API does, so that a wrong type is a 400 and an unknown field is dropped; custom kinds
follow their schema, which validates later. What `fieldValidation` asks for happens here.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from mooring.api.core.decoding import decode, mismatches
from mooring.kube.errors import FieldError, InvalidObjectError, QuantityError, SelectorError, aggregate, type_invalid
from mooring.kube.schemas import Schema, prune, unknown_fields, validate
from mooring.kube.status import BadRequestError
from mooring.registry.objects import copy_json
from mooring.registry.requests import Options
from mooring.registry.resources import Resource

__all__ = ["check_fields", "check_type", "decoded", "in_words", "own_metadata", "own_object", "own_status"]

Object = dict[str, Any]
Rest = ParamSpec("Rest")
Self = TypeVar("Self")


def _refusal(resource: Resource, why: str) -> BadRequestError:
    head = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
    return BadRequestError(f"{head}: {why}")


def _wrong_types(resource: Resource, errors: Sequence[FieldError]) -> BadRequestError:
    return _refusal(resource, aggregate(errors))


def in_words(
    method: Callable[Concatenate[Self, Resource, Rest], Object],
) -> Callable[Concatenate[Self, Resource, Rest], Object]:
    """Turn what defaults and rules find unreadable (quantities, selectors, parts of the wrong type) into a 400."""

    @wraps(method)
    def wrapped(self: Self, resource: Resource, /, *args: Rest.args, **kwargs: Rest.kwargs) -> Object:
        try:
            return method(self, resource, *args, **kwargs)
        except (InvalidObjectError, QuantityError, SelectorError) as error:
            raise _refusal(resource, str(error)) from None

    return wrapped


def own_metadata(resource: Resource, obj: Object) -> Object:
    """The metadata of an object, typed, in a dict of its own."""
    given = obj.get("metadata")
    decoded = decode("ObjectMeta", given)
    if decoded is None:
        raise _wrong_types(resource, mismatches("ObjectMeta", given, "metadata"))
    return decoded


def check_type(resource: Resource, obj: Any) -> None:
    """The object must be what the request says it is; leaving its type out is fine."""
    if not isinstance(obj, dict):
        raise _refusal(resource, "the body of the request must be a JSON object")
    api_version, kind = obj.get("apiVersion"), obj.get("kind")
    if kind and kind != resource.kind:
        raise BadRequestError(
            f"the object provided is unrecognized (must be of type {resource.kind}): "
            f"it says apiVersion {api_version!s} and kind {kind!s}"
        )
    if api_version and api_version != resource.api_version:
        raise BadRequestError(
            f"the API version in the data ({api_version}) does not match the expected API version "
            f"({resource.api_version})"
        )


def check_fields(resource: Resource, schema: Schema, obj: Object, options: Options) -> None:
    """Say or refuse, as the client asked, that fields are unknown."""
    if options.field_validation == "Ignore":
        return
    found = unknown_fields(schema, obj)
    if not found:
        return
    if options.field_validation == "Strict":
        raise _refusal(resource, f"strict decoding error: {', '.join(found)}")
    options.warnings += found


def own_object(resource: Resource, schema: Schema, obj: Object) -> Object:
    """The object without unknown fields and without anything shared; metadata is left to `own_metadata`."""
    rest = {key: value for key, value in obj.items() if key != "metadata"}
    if resource.custom:
        return {"metadata": obj.get("metadata"), **copy_json(prune(schema, rest))}
    return {"metadata": obj.get("metadata"), **_typed(resource, schema, rest, "")}


def own_status(resource: Resource, schema: Schema, status: Any) -> Any:
    """The same for a status alone."""
    inner = schema.properties.get("status")
    if inner is None:
        return copy_json(status)
    return copy_json(prune(inner, status)) if resource.custom else _typed(resource, inner, status, "status")


def _typed(resource: Resource, schema: Schema, value: Any, path: str) -> Any:
    """A value of a built-in kind, pruned; wrong types are refused, and so are nulls that are not a field."""
    errors = validate(schema, value, path)
    pruned = prune(schema, value)
    if not errors:
        errors = [type_invalid(at, None, "must not be null") for at in _nulls(schema, pruned, path)]
    if errors:
        raise _wrong_types(resource, errors)
    return copy_json(pruned)


def _nulls(schema: Schema, value: Any, path: str) -> Iterator[str]:
    """Where items of lists and values of maps are null. A field that is null is gone by now: it counts as not set."""
    pairs: Iterable[tuple[str, Schema | None, Any]]
    if value.__class__ is dict:
        properties, others = schema.properties, schema.additional_properties
        dot = f"{path}." if path else ""
        pairs = ((f"{dot}{key}", properties.get(key, others), item) for key, item in value.items())
    elif value.__class__ is list:
        pairs = ((f"{path}[{index}]", schema.items, item) for index, item in enumerate(value))
    else:
        return
    for at, inner, item in pairs:
        if inner is None or inner.preserve_unknown_fields:
            continue
        if item is None:
            yield at
        elif item.__class__ is dict or item.__class__ is list:
            yield from _nulls(inner, item, at)


def decoded(resource: Resource, shape: str, obj: Object) -> Object:
    """An object of a kind whose every field is described; a copy."""
    found = decode(shape, obj)
    if found is None:
        raise _wrong_types(resource, mismatches(shape, obj))
    return found
