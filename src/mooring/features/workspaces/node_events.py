"""Events about the nodes of a Workspace: told when its status comes to say something new of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from mooring.api.conditions import find_condition
from mooring.api.core.views import Node
from mooring.api.kinds import key_of
from mooring.api.meta import Condition
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.kinds import WORKSPACE
from mooring.features.workspaces.surroundings import Surroundings
from mooring.runtime.decision import Event
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE

__all__ = ["node_events"]


def node_events(view: View, workspace: Workspace, around: Surroundings, told: Condition) -> Iterator[Event]:
    """`told` is the condition NodesReady as it will be written; nothing is told before the first nodes were."""
    before = find_condition(workspace.status.conditions, told.type)
    known = {node.metadata.name for node in around.matching}
    for name in workspace.status.worker_nodes:
        if name not in known:
            yield _gone(workspace, around, name, view.get(NODE, "", name))
    if before is None or not workspace.status.target_node_count or before.message == told.message:
        return
    if told.status == "False":
        yield _event(workspace, "Warning", told.reason, told.message)
    elif before.status == "False":
        yield _event(workspace, "Normal", told.reason, told.message)
    elif len(around.usable) < len(around.matching):
        yield _event(workspace, "Warning", "NodesNotCounted", told.message)


def _gone(workspace: Workspace, around: Surroundings, name: str, node: Node | None) -> Event:
    if node is None:
        return _event(workspace, "Warning", "NodeDeleted", f"Node {name} is gone")
    labels = node.metadata.labels
    wrong = [
        f"{key} is {labels.get(key, 'missing')}" for key, value in around.labels.items() if labels.get(key) != value
    ]
    return _event(
        workspace, "Warning", "NodeRelabeled", f"Node {name} does not match labelSelector any more: {', '.join(wrong)}"
    )


def _event(workspace: Workspace, kind: Literal["Normal", "Warning"], reason: str, text: str) -> Event:
    return Event(WORKSPACE, key_of(workspace), kind, reason, text, (WORKSPACE, key_of(workspace)))
