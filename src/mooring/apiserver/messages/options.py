"""The options of a request: from the query, or for deletions from the body, checked as the API checks them."""

from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from mooring.apiserver.messages.request import HttpRequest
from mooring.kube.errors import FieldError, forbidden, go_json, invalid, not_supported, required, too_long
from mooring.kube.json_errors import json_type
from mooring.kube.objects import Object
from mooring.kube.status import BadRequestError, InvalidError
from mooring.registry.deletion import Propagation
from mooring.registry.write_options import FieldValidation

__all__ = ["DeleteOptions", "WriteOptions", "delete_options", "delete_options_of", "write_options"]


_MAX_MANAGER_CHARACTERS: Final = 128
_VALIDATIONS: Final = ("", "Ignore", "Strict", "Warn")
_GO_TYPES: Final = {
    "gracePeriodSeconds": "int64",
    "orphanDependents": "bool",
    "propagationPolicy": "v1.DeletionPropagation",
    "uid": "types.UID",
    "resourceVersion": "string",
}
_PROPAGATIONS: Final = ("Foreground", "Background", "Orphan")


class WriteOptions(NamedTuple):
    """The options of a write. `force` is None when it was not sent."""

    manager: str
    dry_run: bool
    field_validation: FieldValidation
    force: bool | None


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """The options of a deletion. `cascades` says that orphanDependents was sent as false, which old clients do."""

    dry_run: bool = False
    grace: int | None = None
    propagation: Propagation | None = None
    uid: str | None = None
    resource_version: str | None = None
    cascades: bool = False


def write_options(request: HttpRequest, kind: str, *, applies: bool = False) -> WriteOptions:
    """The options of a create, an update or a patch; `kind` is CreateOptions, UpdateOptions or PatchOptions."""
    if not request.query and not applies:
        return WriteOptions(_agent(request), False, "Warn", None)
    manager, validation, force = request.text("fieldManager"), request.text("fieldValidation"), request.flag("force")
    dry_run = request.query.get("dryRun", [])
    errors: list[FieldError] = []
    if force is not None and kind == "PatchOptions" and not applies:
        errors.append(forbidden("force", "may not be specified for non-apply patch"))
    if applies and not manager:
        errors.append(required("fieldManager", "is required for apply patch"))
    _check_manager(errors, manager)
    _check_dry_run(errors, dry_run)
    if validation not in _VALIDATIONS:
        errors.append(not_supported("fieldValidation", validation, _VALIDATIONS))
    if errors:
        raise InvalidError(kind, "meta.k8s.io", "", errors)
    if not manager and not applies:
        manager = _agent(request)
    return WriteOptions(manager, bool(dry_run), cast(FieldValidation, validation or "Warn"), force)


def _agent(request: HttpRequest) -> str:
    """The default field manager: the program in the User-Agent."""
    head = request.header(b"user-agent").partition("/")[0]
    return "".join(char for char in head if char.isprintable())[:_MAX_MANAGER_CHARACTERS]


def _check_manager(errors: list[FieldError], manager: str) -> None:
    if manager.isprintable() and manager.isascii() and len(manager) <= _MAX_MANAGER_CHARACTERS:
        return
    if len(manager.encode()) > _MAX_MANAGER_CHARACTERS:
        errors.append(too_long("fieldManager", _MAX_MANAGER_CHARACTERS))
    for at, char in enumerate(manager):
        if not char.isprintable():
            errors.append(invalid("fieldManager", manager, f"invalid character U+{ord(char):04X} (at position {at})"))


def _check_dry_run(errors: list[FieldError], values: list[str]) -> None:
    if any(value != "All" for value in values):
        errors.append(not_supported("dryRun", values, ("All",)))


def delete_options(request: HttpRequest, body: Any) -> DeleteOptions:
    """The options of a deletion: the body's when there is one, otherwise the query's."""
    return delete_options_of(_from_query(request) if body is None else body)


def delete_options_of(given: Any) -> DeleteOptions:
    """The options that a DeleteOptions object states."""
    if not isinstance(given, dict):
        raise BadRequestError("decoded object cannot be converted to DeleteOptions")
    if given.get("kind") not in (None, "", "DeleteOptions"):
        named = f"{go_json(given['kind'])} is registered for version {go_json(given.get('apiVersion', ''))}"
        raise BadRequestError(f'no kind {named} in scheme "pkg/runtime/scheme.go:111"')
    grace = _typed(given, "gracePeriodSeconds", int)
    orphans = _typed(given, "orphanDependents", bool)
    propagation = _typed(given, "propagationPolicy", str)
    dry_run = _typed(given, "dryRun", list) or []
    preconditions = _typed(given, "preconditions", dict) or {}
    errors: list[FieldError] = []
    if orphans is not None and propagation is not None:
        text = "orphanDependents and deletionPropagation cannot be both set"
        errors.append(invalid("propagationPolicy", propagation, text))
    if propagation is not None and propagation not in _PROPAGATIONS:
        errors.append(not_supported("propagationPolicy", propagation, (*_PROPAGATIONS, "nil")))
    _check_dry_run(errors, dry_run)
    if errors:
        raise InvalidError("DeleteOptions", "meta.k8s.io", "", errors)
    if orphans is not None:
        propagation = "Orphan" if orphans else "Background"
    return DeleteOptions(
        dry_run=bool(dry_run),
        grace=grace,
        propagation=cast("Propagation | None", propagation),
        uid=_typed(preconditions, "uid", str, "Preconditions.preconditions"),
        resource_version=_typed(preconditions, "resourceVersion", str, "Preconditions.preconditions"),
        cascades=orphans is False,
    )


def _from_query(request: HttpRequest) -> Object:
    found: Object = {}
    if not request.query:
        return found
    if (grace := request.number("gracePeriodSeconds")) is not None:
        found["gracePeriodSeconds"] = grace
    if (orphans := request.flag("orphanDependents")) is not None:
        found["orphanDependents"] = orphans
    if policy := request.text("propagationPolicy"):
        found["propagationPolicy"] = policy
    if dry_run := request.query.get("dryRun"):
        found["dryRun"] = dry_run
    conditions = {name: value for name in ("uid", "resourceVersion") if (value := request.text(name))}
    if conditions:
        found["preconditions"] = conditions
    return found


def _typed(given: Object, name: str, wanted: type, owner: str = "DeleteOptions") -> Any:
    value = given.get(name)
    if value is None or (isinstance(value, wanted) and not (wanted is int and isinstance(value, bool))):
        return value
    go_type = "v1.Preconditions" if wanted is dict else "[]string" if wanted is list else _GO_TYPES[name]
    raise BadRequestError(
        f"json: cannot unmarshal {json_type(value)} into Go struct field {owner}.{name} of type {go_type}"
    )
