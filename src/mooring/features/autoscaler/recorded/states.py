"""Recorded requests about the state of node groups over time: what each event leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec

from mooring.api.meta import Condition
from mooring.features.autoscaler.backoff import Backoffs, backed_off, current_backoffs, with_failure
from mooring.features.autoscaler.cluster_state.memory import Memory, with_failed_scale_up, with_scale_up
from mooring.features.autoscaler.cluster_state.observation import observe
from mooring.features.autoscaler.cluster_state.observed_state import NO_READINESS, ObservedState
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.settings import UPSTREAM
from mooring.features.autoscaler.views import AutoscalerMeta, AutoscalerNode, AutoscalerNodeStatus
from mooring.kube.durations import parse_duration
from mooring.kube.objects import Object
from mooring.kube.times import timestamp

__all__ = ["answer_backoff", "answer_state"]

_START: Final = datetime(2026, 6, 1, tzinfo=UTC)
_GROUP: Final = "group"
_BACKOFF_FLAGS: Final = {"initial": "initial_backoff", "max": "max_backoff", "reset": "backoff_reset_timeout"}


def answer_backoff(request: Object) -> Object:
    flags: dict[str, Any] = {
        name: parse_duration(request[flag]) for flag, name in _BACKOFF_FLAGS.items() if flag in request
    }
    settings = UPSTREAM._replace(**flags)
    backoffs: Backoffs = {}
    answered = []
    for event in request["events"]:
        now = _START + timedelta(seconds=event["at"])
        match event["do"]:
            case "fail":
                backoffs = with_failure(backoffs, _GROUP, event["code"], now, settings)
            case "success":
                backoffs = {}
            case "expire":
                backoffs = current_backoffs(backoffs, now, settings)
        found = backed_off(backoffs, _GROUP, now)
        told: Object = {"at": event["at"], "do": event["do"], "backedOff": found is not None}
        if found is not None:
            told["code"] = found.code
            if event["do"] == "fail":
                told["until"] = int((found.until - _START).total_seconds())
        answered.append(told)
    return {"backoff": answered}


def answer_state(request: Object) -> Object:
    played = _PlayedState(request["nodeGroups"])
    return {"state": [played.play(event) for event in request["events"]]}


class _PlayedState:
    def __init__(self, groups: list[Object]) -> None:
        self._settings = UPSTREAM
        self._groups = {
            each["name"]: NodeGroup(
                each["name"], each["min"], each["max"], each["target"], tuple(each.get("nodes") or ())
            )
            for each in groups
        }
        self._nodes: dict[str, AutoscalerNode] = {}
        self._memory = Memory()

    def play(self, event: Object) -> Object:
        now = _START + timedelta(seconds=event["at"])
        self._happen(event, now)
        state = observe(self._memory, [*self._groups.values()], [*self._nodes.values()], now, self._settings)
        self._memory = state.memory
        groups = {name: _told(state, name) for name in self._groups}
        return {"at": event["at"], "clusterHealthy": state.healthy, "groups": groups}

    def _happen(self, event: Object, now: datetime) -> None:
        group, names = event.get("group", ""), tuple(event.get("names") or ())
        match event["do"]:
            case "scaleUp":
                known = self._groups[group]
                self._change(group, target=known.target + event["delta"])
                provision_time = known.options.max_node_provision_time
                self._memory = with_scale_up(self._memory, group, event["delta"], now, provision_time)
            case "lowerTarget":
                known = self._groups[group]
                self._change(group, target=known.target - event["delta"])
                provision_time = known.options.max_node_provision_time
                self._memory = with_scale_up(self._memory, group, -event["delta"], now, provision_time)
            case "fail":
                self._memory = with_failed_scale_up(self._memory, group, event["code"], now, self._settings)
            case "instance":
                self._change(group, nodes=self._groups[group].nodes + names)
            case "register":
                for name in names:
                    self._nodes[name] = _node(name, event.get("ready", False), now)
            case "ready" | "unready" as state:
                for name in names:
                    created = self._nodes[name].metadata
                    self._nodes[name] = msgspec.structs.replace(_node(name, state == "ready", now), metadata=created)
            case "vanish" | "instanceGone" as end:
                for name, known in self._groups.items():
                    self._change(name, nodes=tuple(each for each in known.nodes if each not in names))
                for name in names if end == "vanish" else ():
                    self._nodes.pop(name, None)

    def _change(self, group: str, **fields: Any) -> None:
        self._groups[group] = msgspec.structs.replace(self._groups[group], **fields)


def _node(name: str, ready: bool, now: datetime) -> AutoscalerNode:
    condition = Condition(type="Ready", status="True" if ready else "False", last_transition_time=timestamp(now))
    return AutoscalerNode(
        metadata=AutoscalerMeta(name=name, creation_timestamp=timestamp(now)),
        status=AutoscalerNodeStatus(conditions=(condition,)),
    )


def _told(state: ObservedState, group: str) -> Mapping[str, Any]:
    readiness = state.readiness.get(group, NO_READINESS)
    backoff = state.backoff(group)
    incorrect = state.memory.incorrect.get(group)
    told: Object = {
        "target": state.ranges[group].target,
        "healthy": state.group_healthy(group),
        "safeToScale": state.safe_to_scale(group),
        "backedOff": backoff is not None,
        "scalingUp": state.is_scaling_up(group),
        "upcoming": state.upcoming(group),
        "ready": len(readiness.ready),
        "unready": len(readiness.unready),
        "notStarted": len(readiness.not_started),
        "beingDeleted": len(readiness.deleted),
        "unregistered": len(readiness.unregistered),
        "longUnregistered": len(readiness.long_unregistered),
        "status": state.status(group),
    }
    if backoff is not None:
        told["code"] = backoff.code
    if incorrect is not None:
        told["incorrect"] = [*incorrect[:2], int((incorrect.first_seen - _START).total_seconds())]
    return told
