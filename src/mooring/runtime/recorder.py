"""Events for people: the same thing said again is counted, not written anew.

An event's name follows from what it says, so a recorder that has lost its memory finds what it said. What is new to it
is created, which is the cheaper write by far; if it exists after all, it is applied as everything that is said again.
"""

from __future__ import annotations

import hashlib
from datetime import datetime
from typing import Any, Literal, NamedTuple

from mooring.client.transport import Request
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Event
from mooring.runtime.store import Store

# Beyond this many of one kind about one object, only every hundredth is written.
BURST = 25
# What was told longest ago is forgotten beyond this many.
REMEMBERED = 10_000


class _Series(NamedTuple):
    times: int
    first: str


class Recorder:
    def __init__(self, component: str) -> None:
        self._component = component
        self._series: dict[str, _Series] = {}

    def requests(self, events: tuple[Event, ...], stores: dict[Any, Store[Any]], now: datetime) -> list[Request]:
        """The writes that tell these events; none for what has been told often enough."""
        found = []
        for event in events:
            request = self._request(event, stores, now)
            if request is not None:
                found.append(request)
        return found

    def _request(self, event: Event, stores: dict[Any, Store[Any]], now: datetime) -> Request | None:
        namespace = event.key.namespace or "default"
        store = stores.get(event.kind)
        seen = None if store is None else store.get(event.key)
        about = {
            "apiVersion": event.kind.api_version,
            "kind": event.kind.kind,
            "namespace": event.key.namespace,
            "name": event.key.name,
            "uid": "" if seen is None else seen.metadata.uid,
        }
        said = "\0".join((str(event.kind), *event.key, about["uid"], event.type, event.reason, event.message))
        name = f"{event.key.name}.{hashlib.sha256(said.encode()).hexdigest()[:16]}"
        moment = timestamp(now)
        known = self._series.pop(name, None)
        series = _Series(1, moment) if known is None else _Series(known.times + 1, known.first)
        if len(self._series) >= REMEMBERED:
            del self._series[next(iter(self._series))]
        self._series[name] = series
        if series.times > BURST and series.times % 100:
            return None
        body: Object = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"namespace": namespace, "name": name},
            "involvedObject": about,
            "type": event.type,
            "reason": event.reason,
            "message": event.message,
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "count": series.times,
            "firstTimestamp": series.first,
            "lastTimestamp": moment,
        }
        if event.action:
            body["action"] = event.action
        verb: Literal["create", "apply"] = "create" if known is None else "apply"
        return Request(verb, "v1", "Event", namespace, name, body, manager=f"mooring-{self._component}")


def again(request: Request) -> Request:
    """The write for an event that exists although its recorder does not know of it."""
    return request._replace(verb="apply")
