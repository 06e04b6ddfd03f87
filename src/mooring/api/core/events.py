"""Events: what the API says about them, which depends on the group through which they come.

The rules are about the shape in which events are stored, that of the core group; its errors name the fields of that
shape in both.
"""

from typing import Final

from mooring.api.core.pod_templates import check_immutable
from mooring.api.core.validation.meta import check_label_key
from mooring.kube.errors import FieldError, invalid, required
from mooring.kube.names import is_dns1123_subdomain
from mooring.kube.objects import Object

__all__ = ["validate_event", "validate_new_event", "validate_new_event_update"]

Errors = list[FieldError]

_MAX_FIELD_CHARACTERS: Final = 128
_MAX_MESSAGE_CHARACTERS: Final = 1024
# Of an event that comes through events.k8s.io, what cannot change, in the API's order.
_FIXED: Final = (
    *("involvedObject", "reason", "message", "source", "firstTimestamp", "lastTimestamp", "count", "type"),
    *("eventTime", "action", "related", "reportingComponent", "reportingInstance"),
)


def validate_event(obj: Object) -> list[FieldError]:
    errors: Errors = []
    _check(errors, obj, "reportingComponent")
    return errors


def _check(errors: Errors, obj: Object, controller: str) -> None:
    namespace, where = obj["metadata"]["namespace"], obj["involvedObject"].get("namespace", "")
    if obj["eventTime"] is None:
        if (where or "default") != namespace:
            errors.append(invalid("involvedObject.namespace", where, "does not match event.namespace"))
    else:
        if not where and namespace not in ("default", "kube-system"):
            errors.append(invalid("involvedObject.namespace", where, "does not match event.namespace"))
        _check_reported(errors, obj, controller)
    errors += [invalid("namespace", namespace, text) for text in is_dns1123_subdomain(namespace)]


def _check_reported(errors: Errors, obj: Object, controller: str) -> None:
    reporter = obj.get("reportingComponent") or ""
    if not reporter:
        errors.append(required(controller, ""))
    check_label_key(errors, reporter, controller)
    for name in ("reportingInstance", "action", "reason"):
        value = obj.get(name, "")
        if not value:
            errors.append(required(name, ""))
        if len(value) > _MAX_FIELD_CHARACTERS:
            errors.append(invalid(name, "", f"can have at most {_MAX_FIELD_CHARACTERS} characters"))
    if len(obj.get("message", "")) > _MAX_MESSAGE_CHARACTERS:
        errors.append(invalid("message", "", f"can have at most {_MAX_MESSAGE_CHARACTERS} characters"))


def validate_new_event(obj: Object) -> list[FieldError]:
    """Of an event that is created through events.k8s.io."""
    errors: Errors = []
    _check(errors, obj, "reportingController")
    _check_series(errors, obj)
    if obj["eventTime"] is None:
        errors.append(required("eventTime", ""))
    kind = obj.get("type", "")
    if kind not in ("Normal", "Warning"):
        errors.append(invalid("type", "", f"has invalid value: {kind}"))
    errors += [
        invalid(name, "", "needs to be unset")
        for name in ("firstTimestamp", "lastTimestamp", "count", "source")
        if obj.get(name)
    ]
    return errors


def _check_series(errors: Errors, obj: Object) -> None:
    series = obj.get("series")
    if series is None:
        return
    if series.get("count", 0) < 2:
        errors.append(invalid("series.count", "", "should be at least 2"))
    if series.get("lastObservedTime") is None:
        errors.append(required("series.lastObservedTime", ""))


def validate_new_event_update(new: Object, old: Object) -> list[FieldError]:
    """Of an event that is changed through events.k8s.io: only how often it happened may change."""
    errors: Errors = []
    _check(errors, new, "reportingController")
    if new.get("series") != old.get("series"):
        _check_series(errors, new)
    for name in _FIXED:
        shown = "reportingController" if name == "reportingComponent" else name
        given, was = new.get(name), old.get(name)
        check_immutable(errors, "" if given is None and isinstance(was, str) else given, was, shown)
    return errors
