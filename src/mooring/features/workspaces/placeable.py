"""Placeable of a Workspace: whether its pods can be scheduled; for the first that cannot, why and what would help."""

from __future__ import annotations

from mooring.api.apps.views import StatefulSet
from mooring.runtime.view import View
from mooring.workloads.kinds import POD
from mooring.workloads.placeable import Placing, RememberedAdvice, pods_placeable

__all__ = ["tell_placing"]


def tell_placing(view: View, there: StatefulSet | None, before: RememberedAdvice | None) -> Placing:
    """Nothing is told before there are pods. `before` is the advice that was given last."""
    pods = () if there is None else view.owned(POD, there)
    if not pods:
        return Placing()
    return pods_placeable(view, pods, before)
