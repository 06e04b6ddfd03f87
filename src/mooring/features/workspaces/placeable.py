"""Placeable of a Workspace: whether its pods can be scheduled; for the first that cannot, why and what would help."""

from __future__ import annotations

from mooring.api.apps.views import StatefulSet
from mooring.features.workspaces.api import Inference
from mooring.features.workspaces.workload.editable import fixed_parts
from mooring.runtime.view import View
from mooring.workloads.kinds import POD
from mooring.workloads.placeable import Placing, RememberedAdvice, pods_placeable

__all__ = ["tell_placing"]


def tell_placing(
    view: View, inference: Inference | None, there: StatefulSet | None, before: RememberedAdvice | None
) -> Placing:
    """Nothing is told before there are pods. `before` is the advice that was given last."""
    pods = () if there is None else view.owned(POD, there)
    if not pods:
        return Placing()
    is_template = inference is not None and inference.template is not None
    return pods_placeable(view, pods, before, fixed_parts(is_template=is_template))
