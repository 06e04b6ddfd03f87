"""Conditions in tests: whether an object says of itself what a story expects.

assert has_condition(town.get("Job", "train"), "Failed", reason="DeadlineExceeded")
"""

from __future__ import annotations

from mooring.kube.conditions import conditions_of, find_condition
from mooring.kube.objects import Object

__all__ = ["has_condition"]


def has_condition(obj: Object | None, kind: str, status: str = "True", *, reason: str = "") -> bool:
    """Whether an object that exists has a condition with this status, and this reason where one is given."""
    found = None if obj is None else find_condition(conditions_of(obj), kind)
    return found is not None and found.get("status") == status and reason in ("", found.get("reason"))
