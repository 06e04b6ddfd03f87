"""Leases: the fields that a server without coordinated leader election drops, and validation in the API's order."""

from typing import Final

from mooring.kube.errors import FieldError, forbidden, invalid
from mooring.kube.objects import Object

__all__ = ["prepare_lease", "prepare_lease_update", "validate_lease"]

Errors = list[FieldError]

# Fields of coordinated leader election, a feature that is off.
_ELECTION_FIELDS: Final = ("strategy", "preferredHolder")


def prepare_lease(obj: Object, now: str) -> None:
    """Drop the fields of coordinated leader election."""
    for name in _ELECTION_FIELDS:
        (obj.get("spec") or {}).pop(name, None)


def prepare_lease_update(new: Object, old: Object) -> None:
    before = old.get("spec") or {}
    dropped = [name for name in _ELECTION_FIELDS if name in (new.get("spec") or {}) and name not in before]
    if dropped:
        new["spec"] = {name: value for name, value in new["spec"].items() if name not in dropped}


def validate_lease(obj: Object) -> list[FieldError]:
    errors: Errors = []
    spec = obj.get("spec") or {}
    duration = spec.get("leaseDurationSeconds")
    if duration is not None and duration <= 0:
        errors.append(invalid("spec.leaseDurationSeconds", duration, "must be greater than 0"))
    transitions = spec.get("leaseTransitions", 0)
    if transitions < 0:
        errors.append(invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
    if spec.get("preferredHolder") and not spec.get("strategy"):
        errors.append(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
    return errors
