"""What is observed around a Workspace: its nodes, its claims and its workload."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from mooring.api.apps.views import StatefulSet
from mooring.api.core.views import Node, Service
from mooring.api.kinds import Indexers
from mooring.features.workspaces import api
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.kinds import CONFIG_MAP, NODE_CLAIM, NodeClaim
from mooring.features.workspaces.node_claims import brought_nodes, has_plugins, usable_nodes
from mooring.features.workspaces.selection import is_usable, matching_nodes, selector_labels
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.workload.services import service_names
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE, SERVICE, STATEFUL_SET
from mooring.workloads.ownerrefs import is_controlled_by

__all__ = ["NODE_LABELS", "Surroundings", "claims_of", "inference_config", "observe"]


def _labels(node: Node) -> Iterable[str]:
    return (f"{key}={value}" for key, value in node.metadata.labels.items())


# So that a node is looked at by those alone who select its labels.
NODE_LABELS: Final = Indexers(NODE, indexes={"label": _labels}, placed_by=())


class Surroundings(NamedTuple):
    """`usable` are the matching nodes that count. `plugins`: the GPUs of all claimed nodes have been found.

    `foreign` names an object of somebody else that has the name of one that the Workspace would make.
    """

    labels: Mapping[str, str]
    matching: tuple[Node, ...] = ()
    usable: tuple[Node, ...] = ()
    claims: tuple[NodeClaim, ...] = ()
    plugins: bool = True
    stateful_set: StatefulSet | None = None
    services: tuple[str, ...] = ()
    foreign: str = ""

    def missing(self, target: int) -> int:
        """How many nodes must come from claims."""
        return max(target - brought_nodes(self.usable), 0)


def claims_of(view: View, workspace: Workspace, settings: Settings) -> tuple[NodeClaim, ...]:
    """A Workspace that goes has those too that were made before provisioning was switched off."""
    metadata = workspace.metadata
    if not settings.provisions and not (metadata.deleting and view.readable(NODE_CLAIM)):
        return ()
    return view.list(NODE_CLAIM, "workspace", f"{metadata.namespace}/{metadata.name}")


def observe(view: View, workspace: Workspace, claims: tuple[NodeClaim, ...], settings: Settings) -> Surroundings:
    """Raises NodeLabelsError for a selector that is more than a set of labels."""
    namespace, name = workspace.metadata.namespace, workspace.metadata.name
    labels = selector_labels(workspace.resource.label_selector)
    matching = matching_nodes(labels, _candidates(view, labels))
    usable = usable_nodes(workspace, matching) if settings.provisions else tuple(filter(is_usable, matching))
    claimed = {each.status.node_name: view.get(NODE, "", each.status.node_name) for each in claims}
    nodes = {name: node for name, node in claimed.items() if node is not None}
    there = view.get(STATEFUL_SET, namespace, name)
    services = tuple(filter(None, (view.get(SERVICE, namespace, each) for each in service_names(workspace))))
    own = there if there is not None and _is_own(there, workspace) else None
    foreign = [] if there is own else [f"StatefulSet {name}"]
    foreign += [f"Service {each.metadata.name}" for each in services if not _is_own(each, workspace)]
    return Surroundings(
        labels,
        matching,
        usable,
        claims,
        has_plugins(workspace, settings, claims, nodes),
        own,
        tuple(each.metadata.name for each in services),
        " and ".join(foreign),
    )


def inference_config(view: View, workspace: Workspace) -> str | None:
    name = "" if workspace.inference is None else workspace.inference.config
    found = view.get(CONFIG_MAP, workspace.metadata.namespace, name) if name else None
    return None if found is None else found.data.get(api.INFERENCE_CONFIG)


def _candidates(view: View, labels: Mapping[str, str]) -> tuple[Node, ...]:
    """Nodes with one of the labels: one that people give, if there is, because most nodes have those of the cloud."""
    if not labels:
        return view.list(NODE)
    key = min(labels, key=lambda each: ("kubernetes.io/" in each, each))
    return view.list(NODE, "label", f"{key}={labels[key]}")


def _is_own(there: StatefulSet | Service, workspace: Workspace) -> bool:
    """Also one without an owner, if it selects the pods of this Workspace: upstream's operator may have made it."""
    if there.metadata.controller is not None:
        return is_controlled_by(there, workspace)
    selector: Mapping[str, Any] = there.spec.selector or {}
    labels = selector if isinstance(there, Service) else selector.get("matchLabels") or {}
    return bool(labels.get(api.NAME_LABEL) == workspace.metadata.name)
