"""The row of an event, in either of its two shapes."""

from datetime import datetime
from typing import Final

from mooring.apiserver.tables.durations import since
from mooring.apiserver.tables.printing import Cells, part, printer
from mooring.kube.objects import Object
from mooring.registry.kinds.event_conversion import convert_event

__all__: list[str] = []

_COLUMNS: Final = "Last Seen, Type, Reason, Object, Subobject+, Source+, Message, First Seen+, Count+, Name+"


@printer("v1", "Event", _COLUMNS)
def _event(obj: Object, now: datetime) -> Cells:
    first = since(obj.get("firstTimestamp") or obj.get("eventTime"), now)
    last = since(obj["lastTimestamp"], now) if obj.get("lastTimestamp") else first
    count = obj.get("count") or 1
    series = obj.get("series")
    if series is not None:
        last, count = since(series.get("lastObservedTime"), now), series.get("count") or 0
    target = part(obj, "involvedObject")
    kind = (target.get("kind") or "").lower()
    return [
        last,
        obj.get("type") or "",
        obj.get("reason") or "",
        f"{kind}/{target['name']}" if target.get("name") else kind,
        target.get("fieldPath") or "",
        _source(obj),
        (obj.get("message") or "").strip(),
        first,
        count,
        part(obj, "metadata").get("name") or "",
    ]


def _source(obj: Object) -> str:
    source = part(obj, "source")
    component = source.get("component") or obj.get("reportingComponent") or ""
    instance = source.get("host") or obj.get("reportingInstance") or ""
    return f"{component}, {instance}" if instance else component


@printer("events.k8s.io/v1", "Event", _COLUMNS)
def _new_event(obj: Object, now: datetime) -> Cells:
    return _event(convert_event(obj, "v1"), now)
