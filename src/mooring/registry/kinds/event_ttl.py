"""Events are deleted an hour after they were last observed, or with their namespace: no controller deletes them."""

from datetime import datetime, timedelta
from typing import Final

from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.registry.core import Core
from mooring.registry.resources import Resource

__all__ = ["EVENT_TTL", "delete_events", "expire_events"]


EVENT_TTL: Final = timedelta(hours=1)


def _last_observed(event: Object) -> datetime:
    series = event.get("series") or {}
    times = (
        event["metadata"]["creationTimestamp"],
        event.get("lastTimestamp"),
        event.get("eventTime"),
        series.get("lastObservedTime"),
    )
    return max(moment(text) for text in times if text)


def delete_events(core: Core, events: Resource, namespace: str) -> None:
    """Remove the events of a namespace that is gone."""
    for event in core.storage.items(events.store, namespace):
        core.remove(events, event)


def expire_events(core: Core, events: Resource, now: datetime) -> int:
    """Delete the events that were last observed longer than EVENT_TTL ago; returns how many."""
    old = [event for event in core.storage.items(events.store) if _last_observed(event) + EVENT_TTL <= now]
    for event in old:
        core.remove(events, event)
    return len(old)
