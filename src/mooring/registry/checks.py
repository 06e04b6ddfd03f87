"""The validation of an object that is about to be stored, and its warnings."""

from collections.abc import Callable
from functools import partial
from typing import Final

from mooring.api.core.validation.meta import STANDARD_FINALIZERS, check_managed_fields, check_metadata
from mooring.kube.errors import FieldError, forbidden, go_quote, invalid
from mooring.kube.names import path_segment_texts
from mooring.kube.objects import Object
from mooring.kube.schemas import validate
from mooring.registry.changes import shares_body
from mooring.registry.core import Core
from mooring.registry.kinds.scale import check_scaled
from mooring.registry.resources import Resource
from mooring.registry.strategies import Strategy
from mooring.registry.write_options import Options

__all__ = ["add_warnings", "check_change", "check_new"]


# Groups whose kinds may have finalizers without a domain.
_PLAIN_FINALIZERS: Final = frozenset(
    {
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "coordination.k8s.io",
        "node.k8s.io",
        "policy",
    }
)


# Errors after which rules are not evaluated, since they may not even have values to look at.
_BLOCKING: Final = frozenset(
    {
        "FieldValueNotSupported",
        "FieldValueRequired",
        "FieldValueTooLong",
        "FieldValueTooMany",
        "FieldValueTypeInvalid",
    }
)
_UNCHECKED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


def check_new(core: Core, resource: Resource, strategy: Strategy, obj: Object, warnings: list[str]) -> list[FieldError]:
    """The errors of a new object in what all kinds share; the rules of its kind are separate."""
    errors: list[FieldError] = []
    if not strategy.checks_metadata:
        _check_metadata(errors, resource, obj["metadata"], strategy.name_texts)
    if resource.custom:
        errors += validate(core.schema(resource), {**obj, "metadata": {}})
        errors += _check_scaled(core, resource, obj, ("spec", "status"))
        errors += _broken_rules(core, resource, obj, None, errors, warnings)
    return errors


def _check_scaled(core: Core, resource: Resource, obj: Object, roots: tuple[str, ...]) -> list[FieldError]:
    paths = core.custom[resource.api_version, resource.kind].scale
    return check_scaled(obj, paths, roots) if paths else []


def _check_metadata(
    errors: list[FieldError],
    resource: Resource,
    metadata: Object,
    name_texts: Callable[[str, bool], list[str]],
) -> None:
    plain = resource.group in _PLAIN_FINALIZERS or (resource.group, resource.store) == ("", "events")
    builtin = not resource.custom and not plain
    check_metadata(errors, metadata, name_texts, namespaced=resource.namespaced, builtin=builtin)


def _broken_rules(
    core: Core, resource: Resource, new: Object, old: Object | None, errors: list[FieldError], warnings: list[str]
) -> list[FieldError]:
    """What the rules in CEL of a custom kind say, unless the object is so wrong that they would make no sense."""
    schema = core.schema(resource)
    if not schema.ruled:
        return []
    if any(error.cause in _BLOCKING for error in errors):
        return [invalid("<nil>", None, _UNCHECKED)]
    found = core.check_rules(schema, new, old)
    warnings += found.warnings
    return found.errors


def check_change(
    core: Core,
    resource: Resource,
    strategy: Strategy,
    new: Object,
    current: Object,
    subresource: str,
    warnings: list[str],
) -> list[FieldError]:
    """The errors of an update, in what all kinds share and by the rules of the kind."""
    errors: list[FieldError] = []
    metadata, was = new["metadata"], current["metadata"]
    if metadata != was and {**metadata, "managedFields": None} == {**was, "managedFields": None}:
        # The rest was looked at when it was stored.
        check_managed_fields(errors, metadata.get("managedFields") or (), "metadata.managedFields")
    elif metadata != was:
        _check_metadata(errors, resource, metadata, partial(_changed_name, strategy))
        if "deletionTimestamp" in was:
            added = [each for each in metadata.get("finalizers", ()) if each not in was.get("finalizers", ())]
            if added:
                shown = ", ".join(map(go_quote, sorted(added)))
                detail = (
                    "no new finalizers can be added if the object is being deleted, "
                    f"found new finalizers []string{{{shown}}}"
                )
                # The API checks this twice, and says it as often.
                errors += [forbidden("metadata.finalizers", detail)] * 2
    untouched = shares_body(new, current)
    # Rules of several kinds are about annotations too.
    again = not subresource and metadata.get("annotations") != was.get("annotations")
    if resource.custom and not (untouched and new.get("status") is current.get("status")):
        errors += validate(core.schema(resource), {**new, "metadata": {}})
        errors += _check_scaled(core, resource, new, ("status",) if subresource == "status" else ("spec", "status"))
    if resource.custom:
        errors += _broken_rules(core, resource, new, current, errors, warnings)
    if subresource in strategy.validate_sections:
        errors += strategy.validate_sections[subresource](new, current)
    elif not untouched or again:
        if subresource or not strategy.update_is_whole:
            errors += strategy.validate(new)
        if not subresource:
            errors += strategy.validate_update(new, current)
    if new.get("status") is not current.get("status"):
        errors += strategy.validate_status(new, current)
    return errors


def add_warnings(
    strategy: Strategy, resource: Resource, obj: Object, options: Options, old: Object | None = None
) -> None:
    """Add the warnings about fields that are accepted but deprecated or ineffective."""
    if old is not None and strategy.warn_update is not None:
        options.warnings += strategy.warn_update(obj, old)
    elif old is None or not shares_body(obj, old):
        options.warnings += strategy.warn(obj)
    if not resource.custom:
        return
    known = () if old is None else old["metadata"].get("finalizers", ())
    for finalizer in obj["metadata"].get("finalizers", ()):
        if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS and finalizer not in known:
            head = f"metadata.finalizers: {go_quote(finalizer)}: prefer a domain-qualified finalizer name"
            path = " including a path (/)" if "." in finalizer else ""
            options.warnings.append(f"{head}{path} to avoid accidental conflicts with other finalizer writers")


def _changed_name(strategy: Strategy, name: str, prefix: bool) -> list[str]:
    """A name stays as it is; the prefix that it was made from may change, though nothing comes of it."""
    if not prefix:
        return []
    texts = strategy.name_texts(name, True)
    return [*texts, *(each for each in path_segment_texts(name, prefix=True) if each not in texts)]
