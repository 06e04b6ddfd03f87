"""What differs from kind to kind: defaults, validation, generation, names.

A `Strategy` is the registry's table entry for that; the rules themselves live with the API groups. Everything has a
working default, so that a kind about which nothing is said behaves like a plain object with spec and status.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mooring.kube.errors import FieldError
from mooring.kube.names import is_valid_name
from mooring.kube.objects import Object

__all__ = ["Strategy", "no_errors", "spec_of"]


def _nothing(obj: Object) -> None:
    return None


def _nothing_at(obj: Object, now: str) -> None:
    return None


def _nothing_against(new: Object, old: Object) -> None:
    return None


def _nothing_against_at(new: Object, old: Object, now: str) -> None:
    return None


def _no_warnings(obj: Object) -> list[str]:
    return []


def no_errors(obj: Object) -> list[FieldError]:
    return []


def _no_update_errors(new: Object, old: Object) -> list[FieldError]:
    return []


def spec_of(obj: Object) -> Any:
    """The intent of most kinds."""
    return obj.get("spec")


def _name_texts(name: str, prefix: bool) -> list[str]:
    return is_valid_name(name, prefix=prefix)


def always(warn: Callable[[Object], list[str]]) -> Callable[[Object, Object], list[str]]:
    """The same warnings for every change, also for one of metadata alone."""
    return lambda new, old: warn(new)


@dataclass(frozen=True, slots=True)
class Strategy:
    """The rules of one kind.

    default         fill in an object of the registry's own, in place; on every write that changes its body
    default_status  fill in a status that is written by itself, in place; the rest of the object is shared
    prepare         what happens at creation only, in place; the time is given as text
    prepare_update  what a change brings with it, in place; neither for status nor for approval
    prepare_status  what a change of status brings with it, in place; the time is given as text
    validate        of the object as it would be stored
    validate_update of a new body against the old one
    update_is_whole whether `validate_update` says all there is to say, without `validate` before it
    validate_status of a new status against the old one, the objects given whole
    validate_sections of what is written through other sub-resources, by their names
    warn            the warnings for the author of such an object
    warn_status     the warnings for the author of such a status
    intent          what of an object its generation counts changes of; None where the kind has no generation
    name_texts      what is wrong with a name, or with a prefix of one
    unconditional   whether an update may leave resourceVersion out
    create_on_update whether PUT on a missing object creates it
    keeps_status    whether a status given at creation is kept although there is a sub-resource for it
    checks_metadata whether `validate` looks at metadata too
    metadata_last   whether metadata are looked at only when there is nothing else to say
    warn_update     those for the author of a change, with the old object; None where they are the same, and only if
                    the body is another one
    warn_first      those for the author of a new object that come before all rules, whatever becomes of it
    unsupported_gc  whether dependents never matter when an object of the kind is deleted
    orphans         whether dependents stay when an object of the kind is deleted by someone who does not say
    """

    default: Callable[[Object], Any] = _nothing
    default_status: Callable[[Object], Any] = _nothing
    prepare: Callable[[Object, str], Any] = _nothing_at
    prepare_update: Callable[[Object, Object], Any] = _nothing_against
    prepare_status: Callable[[Object, Object, str], Any] = _nothing_against_at
    validate: Callable[[Object], list[FieldError]] = no_errors
    validate_update: Callable[[Object, Object], list[FieldError]] = _no_update_errors
    validate_status: Callable[[Object, Object], list[FieldError]] = _no_update_errors
    validate_sections: Mapping[str, Callable[[Object, Object], list[FieldError]]] = field(default_factory=dict)
    warn: Callable[[Object], list[str]] = _no_warnings
    warn_status: Callable[[Object], list[str]] = _no_warnings
    warn_update: Callable[[Object, Object], list[str]] | None = None
    warn_first: Callable[[Object], list[str]] = _no_warnings
    intent: Callable[[Object], Any] | None = None
    name_texts: Callable[[str, bool], list[str]] = _name_texts
    unconditional: bool = True
    create_on_update: bool = False
    keeps_status: bool = False
    checks_metadata: bool = False
    metadata_last: bool = False
    orphans: bool = False
    unsupported_gc: bool = False
    update_is_whole: bool = False
