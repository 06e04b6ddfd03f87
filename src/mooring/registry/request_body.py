"""The body of a write as an object of the registry: decoded, pruned, and sharing nothing with the client's.

Built-in kinds are decoded as the API does, so that a wrong type is a 400 and an unknown field is dropped; custom kinds
follow their schema, which validates later. `fieldValidation` is done here.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from mooring.api.core.decoding.decoder import decode
from mooring.api.core.decoding.errors import decoding_error
from mooring.api.core.shapes import shape_name, status_shape
from mooring.kube.errors import InvalidObjectError, QuantityError, SelectorError, go_json, go_quote, invalid
from mooring.kube.json_errors import TYPE_META
from mooring.kube.objects import Object
from mooring.kube.schemas import Schema, builtin_kinds, prune
from mooring.kube.schemas.duplicates import field_errors, yaml_duplicates, yaml_error
from mooring.kube.status import BadRequestError, InvalidError
from mooring.registry.objects import copy_json
from mooring.registry.resources import Resource
from mooring.registry.write_options import Options

__all__ = [
    "UnknownFieldsError",
    "UnreadableError",
    "WrongTypeError",
    "as_bad_request",
    "blank",
    "check_applied",
    "check_fields",
    "check_type",
    "decoded",
    "own_metadata",
    "own_object",
    "own_status",
]


_SCHEME: Final = '"pkg/runtime/scheme.go:111"'
_SHOWN_CHARACTERS: Final = 30
Rest = ParamSpec("Rest")
Self = TypeVar("Self")


class WrongTypeError(BadRequestError):
    """An object whose apiVersion or kind is not that of the request."""

    def __init__(self, message: str, why: str, value: Any) -> None:
        super().__init__(message)
        self.why, self.value = why, value


class UnreadableError(BadRequestError):
    """An object of a built-in kind that is not of its type."""

    def __init__(self, resource: Resource, shape: str, value: Any, whole: Any = None) -> None:
        self.why = decoding_error(shape, value)
        self.shape, self.value, self.whole = shape, value, value if whole is None else whole
        super().__init__(str(_refusal(resource, self.why)))


class UnknownFieldsError(BadRequestError):
    """An object with unknown fields, under strict field validation."""

    def __init__(self, resource: Resource, found: list[str], value: Any) -> None:
        self.why, self.value = f"strict decoding error: {', '.join(found)}", value
        super().__init__(str(_refusal(resource, self.why)))


def _refusal(resource: Resource, why: str) -> BadRequestError:
    head = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
    return BadRequestError(f"{head}: {why}")


def as_bad_request(
    method: Callable[Concatenate[Self, Resource, Rest], Object],
) -> Callable[Concatenate[Self, Resource, Rest], Object]:
    """Answer 400 when defaulting or validation finds a quantity, selector or field that cannot be parsed."""

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
        if resource.custom:
            raise UnreadableError(resource, "ObjectMeta", given, obj)
        raise UnreadableError(
            resource, shape_name(resource.group, resource.version, resource.kind), {"metadata": given}
        )
    return decoded


def check_type(resource: Resource, obj: Any) -> None:
    """Refuse an object whose apiVersion or kind is not that of the request; both may be left out."""
    if not isinstance(obj, dict):
        raise BadRequestError(_unrecognized(resource, obj, f"Go value of type {TYPE_META}", obj))
    for name in ("apiVersion", "kind"):
        if not isinstance(obj.get(name), str | None):
            raise BadRequestError(_unrecognized(resource, obj, f"Go struct field .{name} of type string", obj[name]))
    api_version, kind = (obj.get(name) or "" for name in ("apiVersion", "kind"))
    if (not api_version or api_version == resource.api_version) and (not kind or kind == resource.kind):
        return
    if resource.custom and api_version != resource.api_version:
        raise BadRequestError(
            f"the API version in the data ({api_version}) does not match the expected API version "
            f"({resource.api_version})"
        )
    if resource.custom:
        metadata = obj.get("metadata")
        name = str(metadata.get("name") or "") if isinstance(metadata, dict) else ""
        raise InvalidError(kind, resource.group, name, [invalid("kind", kind, f"must be {resource.kind}")])
    api_version, kind = api_version or resource.api_version, kind or resource.kind
    head = f'{kind} in version "{api_version.rpartition("/")[2]}" cannot be handled as a {resource.kind}'
    package = resource.group.partition(".")[0] or "core"
    why = f"converting (v1.{kind}) to ({package}.{resource.kind}): unknown conversion"
    if (api_version, kind) not in builtin_kinds():
        why = f"no kind {go_quote(kind)} is registered for version {go_quote(api_version)} in scheme {_SCHEME}"
    raise WrongTypeError(f"{head}: {why}", why, obj)


def _unrecognized(resource: Resource, obj: Any, target: str, value: Any) -> str:
    """What the API says about a body that has no type, with the beginning of the body."""
    text = go_json(obj)
    shown = text[:_SHOWN_CHARACTERS] if text.startswith("{") else text.encode()[:_SHOWN_CHARACTERS].hex()
    more = " ..." if len(text.encode()) > _SHOWN_CHARACTERS else ""
    found = {dict: "object", list: "array", str: "string", bool: "bool"}.get(value.__class__, "number")
    why = f"couldn't get version/kind; json parse error: json: cannot unmarshal {found} into {target}"
    if obj is None:
        why = "Object 'Kind' is missing in 'null'"
    return f"the object provided is unrecognized (must be of type {resource.kind}): {why} ({shown}{more})"


def check_applied(resource: Resource, body: Object) -> None:
    """An apply must say its type."""
    api_version, kind = body.get("apiVersion") or "", body.get("kind") or ""
    if (api_version, kind) != (resource.api_version, resource.kind):
        shown = api_version if "/" in str(api_version) else f"/{api_version}"
        raise BadRequestError(f"invalid object type: {shown}, Kind={kind}")


def check_fields(resource: Resource, schema: Schema, obj: Object, options: Options) -> None:
    """Say or refuse, as the client asked, that fields are unknown or came twice."""
    if options.field_validation == "Ignore":
        return
    in_yaml = yaml_duplicates(options.duplicate_fields)
    found = field_errors(schema, obj, options.duplicate_fields)
    if not (found or in_yaml):
        return
    if options.field_validation == "Strict":
        raise UnknownFieldsError(resource, [yaml_error(in_yaml), *found] if in_yaml else found, obj)
    options.warnings += [each for each in (*in_yaml, *found) if each not in options.warnings]


def own_object(resource: Resource, schema: Schema, obj: Object) -> Object:
    """An object of a custom kind without unknown fields and without anything shared; metadata is not looked at."""
    rest = {key: value for key, value in obj.items() if key != "metadata"}
    return {"metadata": obj.get("metadata"), **copy_json(prune(schema, rest))}


def own_status(resource: Resource, schema: Schema, status: Any) -> Any:
    """The same for a status alone, of any kind."""
    if not resource.custom:
        found = decode(status_shape(shape_name(resource.group, resource.version, resource.kind)), status)
        # What has the wrong type is said with the path it has in the whole object.
        return decoded(resource, {"status": status}).get("status") if found is None else found
    inner = schema.properties.get("status")
    return copy_json(status if inner is None else prune(inner, status))


def decoded(resource: Resource, obj: Object) -> Object:
    """An object of a built-in kind in typed form; a copy."""
    shape = shape_name(resource.group, resource.version, resource.kind)
    found = decode(shape, obj)
    if found is None:
        raise UnreadableError(resource, shape, obj)
    return found


def blank(resource: Resource) -> Object:
    """What a built-in kind holds before anything is set."""
    return decode(shape_name(resource.group, resource.version, resource.kind), {}) or {}
