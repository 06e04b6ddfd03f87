"""What the API says about the status of workloads: counts are counts, and parts are not greater than the whole."""

from typing import Final

from mooring.api.core.validation.meta import check_nonnegative
from mooring.kube.errors import FieldError, invalid
from mooring.kube.objects import Object

__all__ = [
    "validate_daemon_set_status",
    "validate_deployment_status",
    "validate_replica_set_status",
    "validate_stateful_set_status",
]

Errors = list[FieldError]

_OF_DAEMONS: Final = (
    *("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady", "observedGeneration"),
    *("updatedNumberScheduled", "numberAvailable", "numberUnavailable", "collisionCount"),
)


def _check_counts(errors: Errors, status: Object, *names: str) -> None:
    for name in names:
        check_nonnegative(errors, status.get(name, 0), f"status.{name}")


def _check_parts(errors: Errors, status: Object, *names: str, ready: str = "readyReplicas") -> None:
    total = status.get("replicas", 0)
    for name in names:
        value = status.get(name, 0)
        if value > total:
            errors.append(invalid(f"status.{name}", value, "cannot be greater than status.replicas"))
    available = status.get("availableReplicas", 0)
    if available > status.get("readyReplicas", 0):
        errors.append(invalid("status.availableReplicas", available, f"cannot be greater than {ready}"))


def validate_deployment_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    status = new["status"]
    counts = ("observedGeneration", "replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    _check_counts(errors, status, *counts, "unavailableReplicas", "terminatingReplicas", "collisionCount")
    _check_parts(errors, status, "updatedReplicas", "readyReplicas", "availableReplicas")
    _check_collisions(errors, status, old["status"])
    return errors


def _check_collisions(errors: Errors, status: Object, was: Object) -> None:
    before, count = was.get("collisionCount"), status.get("collisionCount")
    if before is not None and (count is None or count < before):
        errors.append(invalid("status.collisionCount", count or 0, "cannot be decremented"))


def validate_replica_set_status(new: Object, old: Object) -> list[FieldError]:
    """Of ReplicationControllers too."""
    errors: Errors = []
    status = new["status"]
    counts = ("replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration")
    _check_counts(errors, status, *counts, "terminatingReplicas")
    _check_parts(errors, status, "fullyLabeledReplicas", "readyReplicas", "availableReplicas")
    return errors


def validate_stateful_set_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    status = new["status"]
    counts = ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    _check_counts(errors, status, *counts, "observedGeneration", "collisionCount")
    parts = ("readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas")
    _check_parts(errors, status, *parts, ready="status.readyReplicas")
    _check_collisions(errors, status, old["status"])
    return errors


def validate_daemon_set_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    _check_counts(errors, new["status"], *_OF_DAEMONS)
    _check_collisions(errors, new["status"], old["status"])
    return errors
