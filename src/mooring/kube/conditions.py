"""Conditions as plain objects: what a server and a kubelet do to the list in an object's status.

The type is the key of the list. `lastTransitionTime` moves when the status of a condition moves and not with its reason
or message, because clients wait and count by it. Controllers, which hold typed conditions, do the same with
`mooring.api.conditions`.
"""

from __future__ import annotations

from collections.abc import Iterable

from mooring.kube.objects import Object

__all__ = ["conditions_of", "find_condition", "is_true", "set_conditions", "transition_time"]


def conditions_of(obj: Object) -> list[Object]:
    """The conditions in the status of an object; none where it has no status."""
    found: list[Object] = (obj.get("status") or {}).get("conditions") or []
    return found


def find_condition(conditions: Iterable[Object], kind: str) -> Object | None:
    return next((condition for condition in conditions if condition.get("type") == kind), None)


def is_true(conditions: Iterable[Object], kind: str) -> bool:
    found = find_condition(conditions, kind)
    return found is not None and found.get("status") == "True"


def transition_time(known: Object | None, status: str, stamp: str) -> str:
    """Since when a condition has this status, if it gets it now."""
    kept: str | None = known.get("lastTransitionTime") if known is not None and known.get("status") == status else None
    return kept or stamp


def set_conditions(conditions: Iterable[Object], wanted: Iterable[Object], stamp: str) -> list[Object] | None:
    """The list with these conditions in it, each in its place or at the end; None when nothing changes.

    A wanted condition replaces the known one as a whole. Its `lastTransitionTime` is filled in.
    """
    found = {condition["type"]: condition for condition in conditions}
    changed = False
    for condition in wanted:
        known = found.get(condition["type"])
        since = transition_time(known, condition["status"], stamp)
        dated = {**condition, "lastTransitionTime": since}
        if dated != known:
            found[condition["type"]] = dated
            changed = True
    return list(found.values()) if changed else None
