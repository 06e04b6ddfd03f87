"""A look at the cluster: what is remembered, brought up to date with the nodes and groups that are there now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec

from mooring.features.autoscaler.backoff import current_backoffs
from mooring.features.autoscaler.cluster_state.memory import IncorrectSize, Memory, ScaleUpRequest, with_failed_scale_up
from mooring.features.autoscaler.cluster_state.node_readiness import node_readiness
from mooring.features.autoscaler.cluster_state.observed_state import (
    NO_READINESS,
    AcceptableRange,
    ObservedState,
    Readiness,
)
from mooring.features.autoscaler.node_groups import NodeGroup, groups_by_node
from mooring.features.autoscaler.settings import AutoscalerSettings, NodeGroupOptions
from mooring.features.autoscaler.views import AutoscalerNode
from mooring.kube.times import moment

__all__ = ["observe"]

_TIMEOUT: Final = "timeout"


def observe(
    memory: Memory,
    groups: Sequence[NodeGroup],
    nodes: Sequence[AutoscalerNode],
    now: datetime,
    settings: AutoscalerSettings,
) -> ObservedState:
    registered = {node.name for node in nodes}
    unregistered = {
        name: memory.unregistered_since.get(name, now)
        for group in groups
        for name in group.nodes
        if name not in registered
    }
    memory = msgspec.structs.replace(
        memory, unregistered_since=unregistered, backoffs=current_backoffs(memory.backoffs, now, settings)
    )
    total, readiness = _readiness(groups, nodes, unregistered, now, settings)
    state = ObservedState(now, settings, memory, len(nodes), total, readiness, _ranges(groups, readiness, memory))
    memory, timed_out = _without_ended_requests(state)
    ranges = _ranges(groups, readiness, memory)
    incorrect = _incorrect_sizes(msgspec.structs.replace(state, memory=memory, ranges=ranges))
    memory = msgspec.structs.replace(memory, incorrect=incorrect)
    return msgspec.structs.replace(state, memory=memory, ranges=ranges, timed_out=timed_out)


def _readiness(
    groups: Sequence[NodeGroup],
    nodes: Iterable[AutoscalerNode],
    unregistered: Mapping[str, datetime],
    now: datetime,
    settings: AutoscalerSettings,
) -> tuple[Readiness, dict[str, Readiness]]:
    owners = groups_by_node(groups)
    names: dict[str, dict[str, list[str]]] = {}
    total: dict[str, list[str]] = {}
    for node in nodes:
        group = owners.get(node.name)
        if group is None and not settings.count_other_nodes:
            kind = "deleted"
        else:
            kind = _progress(node, settings.options if group is None else group.options, now)
        tables = [total] if group is None else [total, names.setdefault(group.name, {})]
        for table in tables:
            table.setdefault("registered", []).append(node.name)
            table.setdefault(kind, []).append(node.name)
    for name, since in unregistered.items():
        group = owners[name]
        late = since + group.options.max_node_provision_time < now
        for table in (total, names.setdefault(group.name, {})):
            table.setdefault("long_unregistered" if late else "unregistered", []).append(name)
    return _counted(total), {group: _counted(table) for group, table in names.items()}


def _counted(table: Mapping[str, list[str]]) -> Readiness:
    return NO_READINESS._replace(**{field: tuple(names) for field, names in table.items()})


def _progress(node: AutoscalerNode, options: NodeGroupOptions, now: datetime) -> str:
    if node_readiness(node).ready:
        return "ready"
    created = node.metadata.creation_timestamp
    if created is not None and moment(created) + options.max_node_startup_time > now:
        return "not_started"
    return "unready"


def _ranges(
    groups: Iterable[NodeGroup], readiness: Mapping[str, Readiness], memory: Memory
) -> dict[str, AcceptableRange]:
    found = {}
    for group in groups:
        request = memory.requests.get(group.name)
        late = len(readiness.get(group.name, NO_READINESS).long_unregistered)
        increase = 0 if request is None else request.increase
        found[group.name] = AcceptableRange(group.target - late - increase, group.target)
    return found


def _without_ended_requests(state: ObservedState) -> tuple[Memory, Mapping[str, ScaleUpRequest]]:
    """Requests that are fulfilled end; those that took too long end in a failure."""
    timed_out = {}
    memory = state.memory
    running = {}
    for group, request in state.memory.requests.items():
        if not state.awaits_nodes(group):
            continue
        if request.expected_by < state.now:
            memory = with_failed_scale_up(memory, group, _TIMEOUT, state.now, state.settings)
            timed_out[group] = request
        else:
            running[group] = request
    return msgspec.structs.replace(memory, requests=running), timed_out


def _incorrect_sizes(state: ObservedState) -> dict[str, IncorrectSize]:
    found = {}
    for group, acceptable in state.ranges.items():
        counted = state.readiness.get(group)
        if counted is None:
            # Upstream says nothing of a group of which nothing at all is there.
            if not state.settings.lower_failed_targets:
                continue
            counted = NO_READINESS
        registered, target = len(counted.registered), acceptable.target
        expected = len(counted.unregistered) + len(counted.long_unregistered)
        if target - expected <= registered <= target:
            continue
        known = state.memory.incorrect.get(group)
        same = known is not None and known[:2] == (registered, target)
        found[group] = known if same and known is not None else IncorrectSize(registered, target, state.now)
    return found
