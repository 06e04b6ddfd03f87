"""What all controllers of pods share: pods from a template, which of them are available, and changes of a status."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import msgspec

from mooring.api.conditions import condition_objects
from mooring.api.core.types import View as Struct
from mooring.api.core.views import Pod
from mooring.api.kinds import HasMeta, Kind, key_of
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.runtime.decision import Patch, status
from mooring.runtime.view import View
from mooring.workloads.ownerrefs import controller_reference

# Writes of one kind in one decision; more follow when these have been seen.
MAX_WRITES_PER_PASS = 500
# No vowels and no digits that look like letters, so that a name never spells a word.
ALPHABET = "bcdfghjklmnpqrstvwxz2456789"


# What is written as it is.
_PLAIN = frozenset({bool, int, str, type(None)})
# What is left out of a part of a status.
_EMPTY: Final[tuple[Any, ...]] = (None, [], {})


def pod_from_template(kind: Kind[Any], owner: HasMeta, template: Object, name: str) -> Object:
    """A pod as its owner's template says. The spec is shared with the template and must not be changed in place."""
    stamped = template.get("metadata", {})
    # People and tools take the prefix for a sign of whose pod it is.
    metadata: Object = {
        "name": name,
        "generateName": f"{owner.metadata.name}-",
        "namespace": owner.metadata.namespace,
    }
    for field in ("labels", "annotations"):
        if stamped.get(field):
            metadata[field] = dict(stamped[field])
    if stamped.get("finalizers"):
        metadata["finalizers"] = list(stamped["finalizers"])
    metadata["ownerReferences"] = [controller_reference(kind, owner)]
    return {"metadata": metadata, "spec": template.get("spec", {})}


def child_suffix(uid: str, slot: int) -> str:
    """Five characters that follow from an owner and a slot, so that deciding again gives the same name."""
    number = int.from_bytes(hashlib.blake2b(f"{uid}/{slot}".encode(), digest_size=8).digest())
    letters = []
    for _ in range(5):
        number, letter = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[letter])
    return "".join(letters)


def is_available(view: View, pod: Pod, min_ready_seconds: int) -> bool:
    """Ready for long enough; if it is not yet, the key runs again when it will be."""
    readiness = pod.readiness
    if readiness is None or readiness.status != "True":
        return False
    if min_ready_seconds <= 0:
        return True
    if readiness.last_transition_time is None:
        return False
    return view.reached(moment(readiness.last_transition_time) + timedelta(seconds=min_ready_seconds))


def status_change(
    kind: Kind[Any], obj: HasMeta, old: Struct, new: Struct, always: Sequence[str] = ()
) -> tuple[Patch, ...]:
    """A patch of what differs in a status, or nothing. Zeros are left out as the API leaves them out, save `always`."""
    if old == new:
        return ()
    body: Object = {}
    for field, name in zip(new.__struct_fields__, new.__struct_encode_fields__, strict=True):
        value, differs = getattr(new, field), getattr(new, field) != getattr(old, field)
        if not differs and name not in always:
            continue
        if name == "conditions":
            value = condition_objects(value, complete=True)
        elif value.__class__ not in _PLAIN:
            value = _changed_part(_json(value), _json(getattr(old, field)))
        body[name] = value if name in always else value or None
    return (status(kind, obj, body),)


def _json(value: Any) -> Any:
    """A part of a view as the API has it: with lists, where views have tuples."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _changed_part(new: Any, old: Any) -> Any:
    """What a merge patch says of a part of a status: what is empty is left out, and what became so is removed."""
    if not isinstance(new, dict):
        return new
    before = old if isinstance(old, dict) else {}
    made: Object = {}
    for name in dict.fromkeys((*new, *before)):
        value = _changed_part(new.get(name), before.get(name))
        if value in _EMPTY:
            if before.get(name) not in _EMPTY:
                made[name] = None
        else:
            made[name] = value
    return made


def annotated(
    kind: Kind[Any], obj: HasMeta, writes: tuple[Patch, ...], annotations: Mapping[str, str]
) -> tuple[Patch, ...]:
    """A status with annotations in one write: a second write of the same object would stand on a basis that is gone.

    For built-in kinds only: the status of a custom kind takes no annotations, and loses them in silence.
    """
    if not annotations:
        return writes
    body: Object = {"metadata": {"annotations": dict(annotations)}}
    if writes:
        return (writes[0]._replace(body={**body, **writes[0].body}),)
    return (Patch(kind, key_of(obj), body),)
