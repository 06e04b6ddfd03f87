"""The status that the autoscaler keeps in a ConfigMap: health, growth and idle nodes, of all and of each pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mooring.features.autoscaler.cluster_state.observed_state import NO_READINESS, Readiness
from mooring.features.autoscaler.loop import LoopDecision
from mooring.features.autoscaler.node_groups import NodeGroup, groups_by_node
from mooring.kube.objects import Object
from mooring.kube.times import timestamp

__all__ = ["loop_status"]


def loop_status(decision: LoopDecision, groups: Sequence[NodeGroup], before: Mapping[str, Any]) -> Object:
    """`before` is the status of the last loop: what has not changed keeps the time at which it became so."""
    state = decision.state
    now = timestamp(state.now)
    owners = groups_by_node(groups)
    removable = [] if decision.unneeded is None else decision.unneeded.removable
    candidates = Counter(owners[each.node].name for each in removable if each.node in owners)
    known = {each.get("name"): each for each in before.get("nodeGroups") or ()}
    pools = [_pool(decision, group, candidates[group.name], known.get(group.name, {}), now) for group in groups]
    growing = any(each["scaleUp"]["status"] == "InProgress" for each in pools)
    health = {"status": _health(state.healthy), "nodeCounts": _counts(state.total)}
    parts: dict[str, Object] = {
        "health": health,
        "scaleUp": {"status": "InProgress" if growing else "NoActivity"},
        "scaleDown": _idle(candidates.total()),
    }
    cluster_wide = {name: _timed(part, before.get("clusterWide") or {}, name, now) for name, part in parts.items()}
    return {"time": now, "autoscalerStatus": "Running", "clusterWide": cluster_wide, "nodeGroups": pools}


def _pool(decision: LoopDecision, group: NodeGroup, idle: int, before: Mapping[str, Any], now: str) -> Object:
    state = decision.state
    scale_up: Object = {"status": state.status(group.name)}
    backoff = state.backoff(group.name)
    if scale_up["status"] == "Backoff" and backoff is not None:
        scale_up["backoffInfo"] = {"errorCode": backoff.code}
    parts = {
        "health": {
            "status": _health(state.group_healthy(group.name)),
            "nodeCounts": _counts(state.readiness.get(group.name, NO_READINESS)),
            "cloudProviderTarget": group.target,
            "minSize": group.min,
            "maxSize": group.max,
        },
        "scaleUp": scale_up,
        "scaleDown": _idle(idle),
    }
    return {"name": group.name, **{name: _timed(part, before, name, now) for name, part in parts.items()}}


def _health(healthy: bool) -> str:
    return "Healthy" if healthy else "Unhealthy"


def _idle(candidates: int) -> Object:
    return {"status": "CandidatesPresent", "candidates": candidates} if candidates else {"status": "NoCandidates"}


def _timed(part: Object, before: Mapping[str, Any], name: str, now: str) -> Object:
    last = before.get(name) or {}
    same = last.get("status") == part["status"] and "lastTransitionTime" in last
    return {**part, "lastProbeTime": now, "lastTransitionTime": last["lastTransitionTime"] if same else now}


def _counts(readiness: Readiness) -> Object:
    return {
        "registered": {
            "total": len(readiness.registered),
            "ready": len(readiness.ready),
            "notStarted": len(readiness.not_started),
            "beingDeleted": len(readiness.deleted),
            "unready": {"total": len(readiness.unready)},
        },
        "longUnregistered": len(readiness.long_unregistered),
        "unregistered": len(readiness.unregistered),
    }
