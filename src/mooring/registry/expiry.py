"""Events are forgotten an hour after they last said anything, or with their namespace: nobody else deletes them."""

from datetime import datetime, timedelta
from typing import Final

from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.registry.core import Core
from mooring.registry.resources import Resource

__all__ = ["EVENT_LIFE", "expire_events", "forget_events"]


EVENT_LIFE: Final = timedelta(hours=1)


def _last_said(event: Object) -> datetime:
    series = event.get("series") or {}
    times = (
        event["metadata"]["creationTimestamp"],
        event.get("lastTimestamp"),
        event.get("eventTime"),
        series.get("lastObservedTime"),
    )
    return max(moment(text) for text in times if text)


def forget_events(core: Core, events: Resource, namespace: str) -> None:
    """Remove the events of a namespace that is gone."""
    for event in core.storage.items(events.store, namespace):
        core.remove(events, event)


def expire_events(core: Core, events: Resource, now: datetime) -> int:
    """Remove the events whose time is over; returns how many that were."""
    old = [event for event in core.storage.items(events.store) if _last_said(event) + EVENT_LIFE <= now]
    for event in old:
        core.remove(events, event)
    return len(old)
