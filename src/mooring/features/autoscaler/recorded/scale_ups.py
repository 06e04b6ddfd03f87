"""Recorded requests for one loop of the autoscaler with scale-down off."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta

from mooring.features.autoscaler.cluster_state.memory import Memory, with_failed_scale_up
from mooring.features.autoscaler.observation import look
from mooring.features.autoscaler.recorded.requests import read_objects, read_pods, read_settings
from mooring.features.autoscaler.scale_up.decision import ScaleUpDecision
from mooring.features.autoscaler.scale_up.orchestrator import scale_up
from mooring.features.autoscaler.scale_up.pending_pods import PendingPod
from mooring.features.autoscaler.scale_up.pod_groups import pod_groups
from mooring.kube.objects import Object
from mooring.kube.times import moment

__all__ = ["answer_scale_up"]

_JUST_NOW = timedelta(seconds=1)


def answer_scale_up(request: Object) -> Object:
    given = request.get("settings") or {}
    settings = read_settings(given)
    now = moment(request["now"])
    memory = Memory()
    for group in given.get("backoff") or ():
        memory = with_failed_scale_up(memory, group, "recorded", now - _JUST_NOW, settings)
    decision = scale_up(look(read_objects(request, settings), memory, now, settings), read_pods(request["pending"]))
    told = _told(decision)
    return {name: value for name, value in told.items() if value}


def _told(decision: ScaleUpDecision) -> Object:
    # Where no scale-up was tried, upstream tells of the pods that are too young, too.
    tried = decision.result in ("Successful", "NoOptionsAvailable", "Error")
    groups = decision.groups if tried else pod_groups(decision.waiting)
    return {
        "result": decision.result,
        "error": decision.error,
        "considered": _keys(each for group in groups for each in group.pods),
        "podGroups": [_keys(group.pods) for group in groups],
        "options": [
            {
                "group": option.group.name,
                "nodes": option.nodes,
                "pods": _keys(option.pods),
                "similar": [other.name for other in option.similar],
            }
            for option in decision.options
        ],
        "best": [option.group.name for option in decision.best],
        "plan": [
            {"group": each.group, "from": each.size, "to": each.new_size, "max": each.max} for each in decision.plan
        ],
        "triggered": _keys(decision.triggered),
        "awaiting": _keys(decision.awaiting),
        "unschedulable": [
            {"pod": each.key, "rejected": group.rejected, "message": decision.pieces(group)}
            for group in decision.unschedulable
            for each in group.pods
        ],
        # Upstream tells it with the pods that were left.
        "skipped": {group: [reason] for group, reason in decision.skipped.items() if decision.unschedulable},
    }


def _keys(pods: Iterable[PendingPod]) -> list[str]:
    return sorted(each.key for each in pods)
