"""The object of an update: what the client may set is taken from its object, the rest from the stored one.

Every unchanged section is the very dict that is stored, so that validation and tracking can tell by identity what has
changed.
"""

from collections.abc import Callable
from typing import Any, Final

from mooring.kube.errors import Enum, invalid
from mooring.kube.objects import Object
from mooring.kube.patches.equality import same as equal
from mooring.kube.schemas import apply_defaults
from mooring.kube.status import BadRequestError, ConflictError, InvalidError
from mooring.registry.core import Core
from mooring.registry.objects import body
from mooring.registry.pod_sections import kept_metadata, resized, with_spec
from mooring.registry.request_body import blank, check_fields, decoded, own_metadata, own_object, own_status
from mooring.registry.resources import Resource
from mooring.registry.write_options import Options

__all__ = ["SYSTEM", "is_finished", "managed", "merge", "same", "same_managers", "shares_body", "wrong_uid"]


# What only the server may say about an object.
SYSTEM: Final = (
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
)
_MISSING: Final = object()
# Sub-resources through which a part of the body is written that the main resource keeps closed.
_SECTIONS: Final[dict[str, Callable[[Object, Object], Object]]] = {
    "ephemeralcontainers": lambda given, current: with_spec(given, current, "ephemeralContainers"),
    "finalize": lambda given, current: with_spec(given, current, "finalizers"),
    "resize": resized,
}


def merge(
    core: Core, resource: Resource, current: Object, given: Object, name: str, options: Options, subresource: str
) -> Object:
    """The new object: what the client may set from the given one, the rest from the current one."""
    strategy = core.strategy(resource)
    was: Object = current["metadata"]
    if _is_untouched(given.get("metadata"), was):
        # A patch that names the version it was decided on, and changes nothing else here.
        metadata = was.copy()
    else:
        metadata = _take_over(core, resource, own_metadata(resource, given), was, name, replaces=options.replaces)
    # To send one manager that is nothing is to ask that all be forgotten; so is to send none, but for custom kinds.
    sent = (given.get("metadata") or {}).get("managedFields")
    forgotten = sent == [{}] or (sent == [] and not resource.custom)
    if forgotten:
        metadata["managedFields"] = []
    schema = core.schema(resource)
    if subresource in _SECTIONS:
        given = _SECTIONS[subresource](given, current)
        if resource.kind == "Pod":
            metadata = kept_metadata(metadata, was)
    if subresource in ("status", "approval"):
        if resource.custom:
            # A custom status write is about nothing but status.
            managers = metadata.get("managedFields")
            metadata = {**was, "managedFields": managers} if managers else dict(was)
        new = {**current, "metadata": metadata}
        if given.get("status") is not current.get("status"):
            check_fields(resource, schema, {"status": given.get("status")}, options)
        _set_status(core, resource, new, current, given.get("status", _MISSING))
        return new
    same = not options.duplicate_fields and body(given) == body(current)
    if same and not resource.has_status:
        # Where no sub-resource is for it, a status is a field like any other, or one that the kind does not have.
        same = given.get("status", _MISSING) == current.get("status", _MISSING)
    if same and resource.custom:
        # To Python 1 and true are the same, and a change from one to the other would be lost. Typed kinds tell later.
        same = equal(body(given), body(current))
    if same and was.get("labels") and not metadata.get("labels"):
        # Some kinds take theirs from the template of their pods again.
        same = False
    if same:
        new = {**current, "metadata": metadata}
    else:
        if resource.custom:
            new = own_object(resource, schema, given)
        else:
            new = decoded(resource, {**given, "metadata": metadata})
            metadata = new["metadata"]
            if forgotten:
                metadata["managedFields"] = []
        check_fields(resource, schema, given, options)
        new = {**new, "apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata}
        if resource.custom:
            new = apply_defaults(schema, new)
    if not same:
        # Before the status is taken over: defaults are filled in place, and the old status is shared.
        strategy.default(new)
    if resource.has_status:
        if same and not resource.custom and given.get("status") != current.get("status"):
            # It is not taken over, but must be readable.
            decoded(resource, given)
        if "status" in current:
            new["status"] = current["status"]
        else:
            new.pop("status", None)
    if not same:
        share(new, current)
    return new


def _set_status(core: Core, resource: Resource, new: Object, current: Object, status: Any) -> None:
    if status in (_MISSING, None):
        new.pop("status", None)
        if resource.custom or not resource.has_status:
            return
        new["status"] = blank(resource)["status"]
    elif status == current.get("status", _MISSING):
        return
    else:
        schema = core.schema(resource)
        new["status"] = own_status(resource, schema, status)
        if resource.custom and "status" in schema.properties:
            new["status"] = apply_defaults(schema.properties["status"], new["status"])
    core.strategy(resource).default_status(new)


def _is_untouched(metadata: Any, was: Object) -> bool:
    """Whether every field is the stored one itself, or the same text."""
    if metadata is was:
        return True
    if metadata.__class__ is not dict or len(metadata) != len(was):
        return False
    for key, value in metadata.items():
        stored = was.get(key)
        if value is not stored and not (value.__class__ is str and value == stored):
            return False
    return True


def _take_over(core: Core, resource: Resource, metadata: Object, was: Object, name: str, *, replaces: bool) -> Object:
    given_name = metadata.get("name")
    if not given_name:
        raise BadRequestError(f"the name of the object ({name} based on URL) was undeterminable: name must be provided")
    if given_name != name:
        raise BadRequestError(f"the name of the object ({given_name}) does not match the name on the URL ({name})")
    if "namespace" in was and metadata.get("namespace", was["namespace"]) != was["namespace"]:
        raise BadRequestError("the namespace of the provided object does not match the namespace sent on the request")
    version = metadata.get("resourceVersion", "")
    if version not in ("", "0"):
        if version != was["resourceVersion"]:
            raise ConflictError.stale(resource.plural, resource.group, name)
    elif not core.strategy(resource).unconditional:
        why = invalid("metadata.resourceVersion", 0, "must be specified for an update")
        raise InvalidError(resource.plural, resource.group, name, [why])
    if metadata.get("uid", was["uid"]) != was["uid"]:
        if replaces:
            raise wrong_uid(resource, was, metadata["uid"])
        # The API checks this twice for a patch, and says it as often.
        error = invalid("metadata.uid", metadata["uid"], "field is immutable")
        raise InvalidError(resource.kind, resource.group, name, [error, error])
    errors = []
    for field in ("deletionTimestamp", "deletionGracePeriodSeconds"):
        leaving = metadata.get(field, was.get(field))
        if leaving != was.get(field):
            shown = Enum(leaving) if isinstance(leaving, str) else leaving
            errors.append(invalid(f"metadata.{field}", shown, "field is immutable"))
    if errors:
        # The API checks this twice, and says it as often.
        raise InvalidError(resource.kind, resource.group, name, [*errors, *errors])
    kept = {key: value for key, value in metadata.items() if key not in (*SYSTEM, "namespace", "selfLink")}
    return kept | {key: was[key] for key in ("name", "namespace", *SYSTEM) if key in was}


def is_finished(obj: Object) -> bool:
    """Whether a deletion that has begun has nothing left to wait for."""
    metadata = obj["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    if metadata.get("deletionGracePeriodSeconds"):
        return False
    return not (obj["kind"] == "Namespace" and obj["apiVersion"] == "v1" and obj.get("spec", {}).get("finalizers"))


def wrong_uid(resource: Resource, was: Object, uid: str) -> ConflictError:
    key = "/".join(filter(None, ("/registry", resource.plural, was.get("namespace", ""), was["name"])))
    why = (
        f"StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: "
        f"Precondition failed: UID in precondition: {uid}, UID in object meta: {was['uid']}"
    )
    return ConflictError.of(resource.plural, resource.group, was["name"], why)


def share(new: Object, current: Object) -> None:
    """Take over every section that came out as it was."""
    for key, value in current.items():
        if key != "metadata" and new.get(key, _MISSING) == value and equal(new[key], value):
            new[key] = value


def shares_body(new: Object, current: Object) -> bool:
    """Whether the body is the very same one: what was taken over needs no second look."""
    inner, was = body(new), body(current)
    return inner.keys() == was.keys() and all(inner[key] is value for key, value in was.items())


def same(new: Object, current: Object) -> bool:
    """Whether nothing but managedFields was changed."""
    if new.keys() != current.keys():
        return False
    for key, value in new.items():
        if key != "metadata" and not (value == current[key] and equal(value, current[key])):
            return False
    metadata, was = new["metadata"], current["metadata"]
    if metadata == was:
        return True
    return {k: v for k, v in metadata.items() if k != "managedFields"} == {
        k: v for k, v in was.items() if k != "managedFields"
    }


def managed(obj: Object) -> list[Object] | None:
    """The managedFields of an object; None when it has none."""
    entries: list[Object] | None = obj["metadata"].get("managedFields")
    return entries


def same_managers(new: Object, current: Object) -> bool:
    """Whether managers manage what they did; when they last wrote does not count."""
    entries, were = (each["metadata"].get("managedFields", []) for each in (new, current))
    return _timeless(entries) == _timeless(were)


def _timeless(entries: list[Object]) -> list[Object]:
    return [{key: value for key, value in entry.items() if key != "time"} for entry in entries]
