"""The topics of nodes and of workloads: two lists made of the same objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from mooring.catalog import CATALOG
from mooring.client.transport import plain
from mooring.runway.fleet.records import node_record, pod_record
from mooring.runway.fleet.state import FleetState
from mooring.runway.rest.mirror.follower import FollowedKind
from mooring.runway.rest.mirror.topic import TopicSource
from mooring.runway.workloads.records import WorkloadRecord, workload_record

__all__ = ["NODES", "WORKLOADS", "fleet_topics"]

NODES: Final = "nodes"
WORKLOADS: Final = "workloads"
_NODE: Final = FollowedKind("v1", "Node", node_record)
_POD: Final = FollowedKind("v1", "Pod", pod_record)

Told = Callable[[str, Any | None, Any | None], None]


def fleet_topics(state: FleetState) -> tuple[list[TopicSource], dict[FollowedKind, Told]]:
    """Both topics, and for each kind what takes its records in."""
    workloads = tuple(
        FollowedKind(each.api_version, each.kind, _reader(each.api_version, each.kind))
        for each in CATALOG.workloads().values()
        if each.kind != "Pod"
    )

    def changed_nodes() -> Iterable[str]:
        found, state.changed_nodes = state.changed_nodes, set()
        return found

    def changed_workloads() -> Iterable[str]:
        found, state.changed_workloads = state.changed_workloads, set()
        return found

    topics = [
        TopicSource(NODES, (_NODE, _POD), changed_nodes, state.node, workloads),
        TopicSource(WORKLOADS, (_POD,), changed_workloads, state.workload, workloads),
    ]
    tellers: dict[FollowedKind, Told] = {
        _NODE: lambda key, old, new: state.node_changed(old, new),
        _POD: lambda key, old, new: state.pod_changed(old, new),
    }
    for followed in workloads:
        tellers[followed] = lambda key, old, new: state.workload_changed(old, new)
    return topics, tellers


def _reader(api_version: str, kind: str) -> Callable[[msgspec.Raw], WorkloadRecord]:
    """The items of a list do not say of which kind they are."""
    return lambda raw: workload_record({**plain(raw), "apiVersion": api_version, "kind": kind})
