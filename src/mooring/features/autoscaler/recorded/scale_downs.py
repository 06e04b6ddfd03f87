"""Recorded requests for unneeded nodes, step by step over virtual time; nothing is deleted between steps."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta

import msgspec

from mooring.features.autoscaler.cluster_state.memory import Memory
from mooring.features.autoscaler.node_groups import groups_by_node
from mooring.features.autoscaler.observation import ClusterObjects, Look, look
from mooring.features.autoscaler.recorded.requests import read_objects, read_pods, read_settings
from mooring.features.autoscaler.scale_down.candidates import scale_down_candidates
from mooring.features.autoscaler.scale_down.deletion import Deletion, nodes_to_delete
from mooring.features.autoscaler.scale_down.deletion_budgets import within_budgets
from mooring.features.autoscaler.scale_down.memory import ScaleDownMemory
from mooring.features.autoscaler.scale_down.planner import find_unneeded
from mooring.features.autoscaler.scale_down.unremovable import UnremovableNode
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.kube.objects import Object
from mooring.kube.times import moment

__all__ = ["answer_scale_down"]

_HARDLY = timedelta(milliseconds=1)


def answer_scale_down(request: Object) -> Object:
    settings = read_settings(request.get("settings") or {})
    objects = read_objects(request, settings)
    start = moment(request["now"])
    memory = ScaleDownMemory()
    steps = []
    for step in request["steps"]:
        if "pods" in step:
            objects = msgspec.structs.replace(objects, pods=read_pods(step["pods"]))
        now = start + timedelta(seconds=step["at"])
        told, memory = _step(objects, memory, now, start, settings)
        steps.append({"at": step["at"], **told})
    return {"steps": steps}


def _step(
    objects: ClusterObjects,
    memory: ScaleDownMemory,
    now: datetime,
    start: datetime,
    settings: AutoscalerSettings,
) -> tuple[Object, ScaleDownMemory]:
    seen = look(objects, Memory(), now, settings)
    # Upstream asks the clock when it looks for empty nodes, and that was hardly further than at the start.
    candidates = scale_down_candidates(seen, memory.unneeded_since, start + _HARDLY)
    unneeded = find_unneeded(seen, candidates, memory)
    deletion = nodes_to_delete(seen, unneeded)
    started = within_budgets(seen, deletion)
    told = {
        "candidates": candidates,
        "utilization": {name: used._asdict() for name, used in unneeded.utilization.items()},
        "unneeded": [each.node for each in unneeded.removable],
        "unremovable": [_told(each) for each in unneeded.unremovable],
        "held": [_told(each) for each in deletion.held],
        "empty": deletion.empty,
        "drain": deletion.drain,
        "deleteCounts": _counts(seen, deletion),
        "startCounts": _nonzero({"empty": len(started.empty), "drain": len(started.drain)}),
    }
    return told, unneeded.memory


def _told(each: UnremovableNode) -> Object:
    told: Object = {"node": each.node, "reason": each.reason}
    if each.blocking is not None:
        told |= {"pod": each.blocking.pod.key, "blocking": each.blocking.reason}
    return told


def _counts(seen: Look, deletion: Deletion) -> Object:
    owners = groups_by_node(seen.objects.groups)
    empty = Counter(owners[node].name for node in deletion.empty)
    drain = Counter(owners[node].name for node in deletion.drain)
    return {name: _nonzero({"empty": empty[name], "drain": drain[name]}) for name in sorted({*empty, *drain})}


def _nonzero(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}
