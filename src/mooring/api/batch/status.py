"""What the API says about the status of Jobs: how they may end, and that an end is final.

A rule is asked about only when something it speaks of has changed, so that one old mistake does not block everything.
"""

from typing import Final

from mooring.api.batch.policies import count_indexes
from mooring.api.core.validation.meta import check_nonnegative
from mooring.kube.errors import Enum, FieldError, duplicate, invalid, plainly, required
from mooring.kube.objects import Object
from mooring.kube.times import moment

__all__ = ["validate_job_status"]

Errors = list[FieldError]

_CONDITIONS: Final = "status.conditions"


def _true(status: Object, kind: str) -> bool:
    return any(each["type"] == kind and each["status"] == "True" for each in status.get("conditions", ()))


class _Change:
    """A status beside the one before it."""

    def __init__(self, status: Object, was: Object) -> None:
        self.status, self.was = status, was

    def in_field(self, *names: str) -> bool:
        return any(self.status.get(name) != self.was.get(name) for name in names)

    def in_condition(self, *kinds: str) -> bool:
        return any(_true(self.status, kind) != _true(self.was, kind) for kind in kinds)

    def finished(self) -> bool:
        return _finished(self.status) != _finished(self.was)


def _finished(status: Object) -> bool:
    return _true(status, "Complete") or _true(status, "Failed")


def validate_job_status(new: Object, old: Object) -> list[FieldError]:
    errors: Errors = []
    status, was, spec = new["status"], old["status"], new["spec"]
    change = _Change(status, was)
    for name in ("active", "succeeded", "failed", "ready", "terminating"):
        check_nonnegative(errors, status.get(name, 0), f"status.{name}")
    _check_uncounted(errors, status.get("uncountedTerminatedPods", {}))
    _check_ends(errors, status, change)
    _check_finished(errors, status, spec, change)
    _check_indexes(errors, status, spec, change)
    _check_success(errors, status, spec)
    _check_finality(errors, status, was, spec)
    return errors


def _check_uncounted(errors: Errors, uncounted: Object) -> None:
    seen: set[str] = set()
    for name in ("succeeded", "failed"):
        for index, uid in enumerate(uncounted.get(name, ())):
            path = f"status.uncountedTerminatedPods.{name}[{index}]"
            if not uid:
                errors.append(invalid(path, Enum(uid), "must not be empty"))
            elif uid in seen:
                errors.append(duplicate(path, Enum(uid)))
            seen.add(uid)


def _check_ends(errors: Errors, status: Object, change: _Change) -> None:
    complete, failed, target = (_true(status, kind) for kind in ("Complete", "Failed", "FailureTarget"))
    end, start = status.get("completionTime"), status.get("startTime")
    if change.in_condition("Complete", "Failed") and complete and failed:
        errors.append(plainly(_CONDITIONS, "cannot set Complete=True and Failed=true conditions"))
    if change.in_condition("Complete", "FailureTarget") and complete and target:
        errors.append(plainly(_CONDITIONS, "cannot set Complete=True and FailureTarget=true conditions"))
    if change.in_condition("Complete") or change.in_field("completionTime"):
        if end and not complete:
            detail = "cannot set completionTime when there is no Complete=True condition"
            errors.append(invalid("status.completionTime", Enum(end), detail))
        if complete and not end:
            detail = "completionTime is required for Complete jobs"
            errors.append(required("status.completionTime", detail))
    if change.in_field("startTime", "completionTime") and start and end and moment(end) < moment(start):
        errors.append(invalid("status.completionTime", Enum(end), "must be equal to or after `startTime`"))
    if (change.in_condition("Failed") or change.in_field("failedIndexes")) and failed and not target:
        detail = "cannot set Failed=True condition without the FailureTarget=true condition"
        errors.append(plainly(_CONDITIONS, detail))
    if change.in_condition("Complete", "SuccessCriteriaMet") and complete and not _true(status, "SuccessCriteriaMet"):
        detail = "cannot set Complete=True condition without the SuccessCriteriaMet=true condition"
        errors.append(plainly(_CONDITIONS, detail))


def _check_finished(errors: Errors, status: Object, spec: Object, change: _Change) -> None:
    if not _finished(status):
        return
    if (change.finished() or change.in_field("active")) and status.get("active", 0) > 0:
        errors.append(invalid("status.active", status["active"], "active>0 is invalid for finished job"))
    empty = spec.get("suspend") and spec.get("completions") == 0
    if (change.finished() or change.in_field("startTime")) and not empty and not status.get("startTime"):
        errors.append(required("status.startTime", "startTime is required for finished job"))
    uncounted = status.get("uncountedTerminatedPods", {})
    left = uncounted.get("succeeded") or uncounted.get("failed")
    if left and (change.finished() or change.in_field("uncountedTerminatedPods")):
        detail = "must be empty for finished job"
        errors.append(invalid("status.uncountedTerminatedPods", uncounted, detail))
    if (change.finished() or change.in_field("terminating")) and status.get("terminating", 0) > 0:
        detail = "terminating>0 is invalid for finished job"
        errors.append(invalid("status.terminating", status["terminating"], detail))


def _check_indexes(errors: Errors, status: Object, spec: Object, change: _Change) -> None:
    completions = spec.get("completions")
    done, failed = status.get("completedIndexes", ""), status.get("failedIndexes")
    if change.in_field("completedIndexes"):
        problem = count_indexes(done, completions)[1] if completions is not None else ""
        if problem:
            detail = f"error parsing completedIndexes: {problem}"
            errors.append(invalid("status.completedIndexes", done, detail))
        if done and spec["completionMode"] != "Indexed":
            detail = "cannot set non-empty completedIndexes when non-indexed completion mode"
            errors.append(invalid("status.completedIndexes", done, detail))
    if change.in_field("failedIndexes") and failed is not None:
        limited = "backoffLimitPerIndex" in spec
        problem = count_indexes(failed, completions)[1] if completions is not None and limited else ""
        if problem:
            detail = f"error parsing failedIndexes: {problem}"
            errors.append(invalid("status.failedIndexes", failed, detail))
        if not limited:
            detail = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
            errors.append(invalid("status.failedIndexes", failed, detail))
    if change.in_field("completedIndexes", "failedIndexes") and done and failed:
        both = _first_common(_ranges(done), _ranges(failed))
        if both is not None:
            detail = f"failedIndexes and completedIndexes overlap at index: {both}"
            errors.append(invalid("status.failedIndexes", failed, detail))
    ready = status.get("ready")
    if change.in_field("ready", "active") and ready is not None and ready > status.get("active", 0):
        errors.append(invalid("status.ready", ready, "cannot set more ready pods than active"))


def _ranges(indexes: str) -> list[tuple[int, int]]:
    """Of indexes such as 1,3-5; none where they cannot be read."""
    found: list[tuple[int, int]] = []
    for each in indexes.split(","):
        first, _, last = each.partition("-")
        if not first.isdecimal() or not (last or first).isdecimal():
            return []
        found.append((int(first), int(last or first)))
    return found


def _first_common(some: list[tuple[int, int]], others: list[tuple[int, int]]) -> int | None:
    """Both in ascending order."""
    left, right = 0, 0
    while left < len(some) and right < len(others):
        (first, last), (start, end) = some[left], others[right]
        if max(first, start) <= min(last, end):
            return max(first, start)
        left, right = (left + 1, right) if last < end else (left, right + 1)
    return None


def _check_success(errors: Errors, status: Object, spec: Object) -> None:
    met = _true(status, "SuccessCriteriaMet")
    for kind in ("Failed", "FailureTarget"):
        if met and _true(status, kind):
            errors.append(plainly(_CONDITIONS, f"cannot set SuccessCriteriaMet=True and {kind}=true conditions"))
    if "successPolicy" in spec and not met and _true(status, "Complete"):
        detail = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        errors.append(plainly(_CONDITIONS, detail))


def _check_finality(errors: Errors, status: Object, was: Object, spec: Object) -> None:
    for kind in ("Failed", "Complete", "FailureTarget"):
        if _true(was, kind) and not _true(status, kind):
            errors.append(plainly(_CONDITIONS, f"cannot disable the terminal {kind}=True condition"))
    if status.get("failed", 0) < was.get("failed", 0):
        errors.append(invalid("status.failed", status.get("failed", 0), "cannot decrease the failed counter"))
    indexed = spec["completionMode"] == "Indexed" and spec.get("completions") == spec.get("parallelism")
    if status.get("succeeded", 0) < was.get("succeeded", 0) and not indexed:
        errors.append(invalid("status.succeeded", status.get("succeeded", 0), "cannot decrease the succeeded counter"))
    end, ended = status.get("completionTime"), was.get("completionTime")
    if end and ended and end != ended:
        errors.append(invalid("status.completionTime", Enum(end), "field is immutable"))
    resuming = _true(was, "Suspended") and any(
        each["type"] == "Suspended" and each["status"] == "False" for each in status.get("conditions", ())
    )
    moved = was.get("startTime") and status.get("startTime") != was["startTime"]
    if moved and not resuming and not spec.get("suspend"):
        errors.append(required("status.startTime", "startTime cannot be removed for unsuspended job"))
    met, had = (_true(each, "SuccessCriteriaMet") for each in (status, was))
    if had and not met:
        errors.append(plainly(_CONDITIONS, "cannot disable the SuccessCriteriaMet=True condition"))
    if _true(was, "Complete") and met and not had:
        detail = "cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"
        errors.append(plainly(_CONDITIONS, detail))
