"""An event of the cluster for people: about what, how often, and when it was seen last."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.api.core.types import View
from mooring.runway.fleet.nodes import WorkloadReference
from mooring.runway.shown import Shown
from mooring.runway.tolerant_decoder import TolerantDecoder

__all__ = ["EVENT_KIND", "EventSummary", "cluster_event"]

EVENT_KIND: Final = ("v1", "Event")


class EventSummary(Shown, frozen=True):
    """`type` is Normal or Warning."""

    id: str
    type: str
    reason: str
    message: str
    count: int
    first_seen: str
    last_seen: str
    object: WorkloadReference
    source: str


class _Meta(View, frozen=True):
    uid: str = ""
    name: str = ""
    namespace: str = ""
    creation_timestamp: str | None = None


class _Involved(View, frozen=True):
    kind: str = ""
    namespace: str = ""
    name: str = ""


class _Source(View, frozen=True):
    component: str = ""


class _Series(View, frozen=True):
    count: int = 0
    last_observed_time: str | None = None


class _Event(View, frozen=True):
    metadata: _Meta = _Meta()
    involved_object: _Involved = _Involved()
    type: str = ""
    reason: str = ""
    message: str = ""
    count: int | None = None
    first_timestamp: str | None = None
    last_timestamp: str | None = None
    event_time: str | None = None
    series: _Series | None = None
    source: _Source | None = None
    reporting_component: str = ""


_read = TolerantDecoder(_Event)


def cluster_event(raw: msgspec.Raw) -> EventSummary:
    event = _read(raw)
    created = event.metadata.creation_timestamp or ""
    first = event.first_timestamp or event.event_time or created
    last = (event.series.last_observed_time if event.series else None) or event.last_timestamp or first
    about = event.involved_object
    return EventSummary(
        id=event.metadata.uid or f"{event.metadata.namespace}/{event.metadata.name}",
        type=event.type or "Normal",
        reason=event.reason,
        message=event.message,
        count=event.series.count if event.series else event.count or 1,
        first_seen=first,
        last_seen=last,
        object=WorkloadReference(about.kind, about.namespace, about.name),
        source=event.reporting_component or (event.source.component if event.source else ""),
    )
