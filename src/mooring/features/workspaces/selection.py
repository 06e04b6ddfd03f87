"""The nodes that a Workspace selects by their labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from mooring.api.core.types import LabelSelector
from mooring.api.core.views import Node
from mooring.features.workspaces.api import RESERVED_LABELS
from mooring.kube.errors import MooringError

__all__ = [
    "INSTANCE_TYPE_LABEL",
    "NodeLabelsError",
    "is_usable",
    "matching_nodes",
    "not_ready_reason",
    "selector_labels",
]

INSTANCE_TYPE_LABEL: Final = "node.kubernetes.io/instance-type"


class NodeLabelsError(MooringError):
    """A selector that is more than a set of labels."""


def selector_labels(selector: LabelSelector) -> dict[str, str]:
    """The labels that a node must have. Labels by which Workspaces mark their own nodes do not count."""
    labels = dict(selector.match_labels or {})
    for each in selector.match_expressions or ():
        if each.operator != "In" or len(each.values or ()) != 1:
            raise NodeLabelsError(
                f"{each.key} {each.operator} cannot be used: write matchLabels, or matchExpressions with the operator "
                "In and one value"
            )
        labels[each.key] = (each.values or ())[0]
    return {key: value for key, value in labels.items() if key not in RESERVED_LABELS}


def matching_nodes(labels: Mapping[str, str], nodes: Iterable[Node]) -> tuple[Node, ...]:
    """The nodes with these labels, by name."""
    wanted = labels.items()
    return tuple(
        sorted((node for node in nodes if wanted <= node.metadata.labels.items()), key=lambda node: node.metadata.name)
    )


def is_usable(node: Node) -> bool:
    """Whether a node counts: it is ready, and not on its way out."""
    return node.ready and not node.metadata.deleting


def not_ready_reason(node: Node) -> str:
    """Why a node does not count, in a few words."""
    if node.metadata.deleting:
        return "is being deleted"
    readiness = node.readiness
    if readiness is None:
        return "has not reported yet"
    return f"is not ready ({readiness.reason})" if readiness.reason else "is not ready"
