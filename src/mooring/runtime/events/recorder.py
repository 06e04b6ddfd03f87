"""Events for people: an event that is recorded again is counted, not written anew.

An event's name follows from its content, so a recorder that has lost its memory finds what it wrote before. An event
that is new to the recorder is created, which is by far the cheaper write; every repetition is applied.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final, Literal, NamedTuple

from mooring.client.transport import Request
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Event
from mooring.runtime.dispatcher.store import Store

# Beyond this many of one event, only every hundredth is written.
MAX_EVENTS_IN_FULL: Final = 25
# The series that was counted longest ago is forgotten beyond this many.
REMEMBERED_SERIES: Final = 10_000
# The API refuses longer ones.
LONGEST_MESSAGE_CHARACTERS: Final = 1024


class ObjectReference(NamedTuple):
    """The object that an event is about, and with `field_path` the part of it."""

    api_version: str
    kind: str
    namespace: str
    name: str
    uid: str = ""
    field_path: str = ""


class _Series(NamedTuple):
    times: int
    first: str


class EventRecorder:
    """The events of one component, which may run on a `host`."""

    def __init__(self, component: str, host: str = "") -> None:
        self._component = component
        self._source = {"component": component, "host": host} if host else {"component": component}
        self._series: dict[str, _Series] = {}

    def requests(self, events: Iterable[Event], stores: Mapping[Any, Store[Any]], now: datetime) -> list[Request]:
        """The writes of a decision's events; none for what has been written often enough."""
        found = []
        for event in events:
            store = stores.get(event.kind)
            seen = None if store is None else store.get(event.key)
            uid = "" if seen is None else seen.metadata.uid
            about = ObjectReference(event.kind.api_version, event.kind.kind, *event.key, uid)
            request = self.request(about, event.type, event.reason, event.message, now, event.action, event.labels)
            if request is not None:
                found.append(request)
        return found

    def request(
        self,
        about: ObjectReference,
        severity: Literal["Normal", "Warning"],
        reason: str,
        message: str,
        now: datetime,
        action: str = "",
        labels: tuple[tuple[str, str], ...] = (),
    ) -> Request | None:
        """The write of one event, or None if it has been written often enough."""
        content = "\0".join((*about, severity, reason, message))
        name = f"{about.name}.{hashlib.sha256(content.encode()).hexdigest()[:16]}"
        namespace = about.namespace or "default"
        moment = timestamp(now)
        known = self._series.pop(name, None)
        series = _Series(1, moment) if known is None else _Series(known.times + 1, known.first)
        if len(self._series) >= REMEMBERED_SERIES:
            del self._series[next(iter(self._series))]
        self._series[name] = series
        if series.times > MAX_EVENTS_IN_FULL and series.times % 100:
            return None
        body: Object = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"namespace": namespace, "name": name},
            "involvedObject": _involved(about),
            "type": severity,
            "reason": reason,
            "message": message[:LONGEST_MESSAGE_CHARACTERS],
            "source": self._source,
            "reportingComponent": self._component,
            "count": series.times,
            "firstTimestamp": series.first,
            "lastTimestamp": moment,
        }
        if action:
            body["action"] = action
        if labels:
            body["metadata"]["labels"] = dict(labels)
        verb: Literal["create", "apply"] = "create" if known is None else "apply"
        return Request(verb, "v1", "Event", namespace, name, body, manager=f"mooring-{self._component}")


def _involved(about: ObjectReference) -> dict[str, str]:
    found = {
        "apiVersion": about.api_version,
        "kind": about.kind,
        "namespace": about.namespace,
        "name": about.name,
        "uid": about.uid,
    }
    return {**found, "fieldPath": about.field_path} if about.field_path else found


def repeated(request: Request) -> Request:
    """The write for an event that exists although its recorder does not know of it."""
    return request._replace(verb="apply")
