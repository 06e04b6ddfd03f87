"""The two shapes of an Event: that of the core group, in which events are stored, and that of events.k8s.io."""

from typing import Final

from mooring.api.core.decoding.decoder import decode
from mooring.kube.objects import Object

__all__ = ["convert_event"]


# The names of the core group, and those of events.k8s.io.
_NAMES: Final = (
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
)
_TO_CORE: Final = {new: core for core, new in _NAMES}
_FROM_CORE: Final = dict(_NAMES)


def convert_event(obj: Object, wanted: str) -> Object:
    """The event in the shape of an apiVersion."""
    if obj["apiVersion"] == wanted:
        return obj
    names, shape = (_TO_CORE, "Event") if wanted == "v1" else (_FROM_CORE, "events.Event")
    renamed = {names.get(key, key): value for key, value in obj.items()}
    made = decode(shape, {**renamed, "metadata": None})
    # What one shape always says and the other leaves out is settled by decoding; metadata is the same in both.
    assert made is not None, "A stored event has come to hold a value of the wrong type."
    return {**made, "apiVersion": wanted, "kind": "Event", "metadata": obj["metadata"]}
