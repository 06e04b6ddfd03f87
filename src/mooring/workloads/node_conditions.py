"""Conditions of nodes, which both a node and those who watch over it write, and always as a whole list."""

from __future__ import annotations

from collections.abc import Iterable

from mooring.api.core.views import Node, NodeCondition
from mooring.kube.objects import Object


def node_condition(node: Node, kind: str) -> NodeCondition | None:
    for condition in node.status.conditions:
        if condition.type == kind:
            return condition
    return None


def readiness(node: Node) -> str:
    """`True`, `False` or `Unknown`; empty when nobody has said anything yet."""
    ready = node_condition(node, "Ready")
    return "" if ready is None else ready.status


def is_ready(node: Node) -> bool:
    return readiness(node) == "True"


def with_node_conditions(node: Node, wanted: Iterable[NodeCondition], heard: str) -> list[Object]:
    """All conditions of a node with some set. `heard` is when the node was last heard of."""
    new = {condition.type: condition for condition in wanted}
    kept = [new.pop(condition.type, condition) for condition in node.status.conditions]
    return [_object(condition, heard) for condition in (*kept, *new.values())]


def _object(condition: NodeCondition, heard: str) -> Object:
    fields = {
        "type": condition.type,
        "status": condition.status,
        "reason": condition.reason,
        "message": condition.message,
        "lastTransitionTime": condition.last_transition_time,
        "lastHeartbeatTime": heard,
    }
    return {name: value for name, value in fields.items() if value}
