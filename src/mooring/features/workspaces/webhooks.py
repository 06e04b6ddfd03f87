"""The webhook of Workspaces: what cannot run is refused at once, with the numbers and nodes that it is refused for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from mooring.api.core.views import Node
from mooring.features.workspaces.api import API_VERSION, OLD_API_VERSION, PLURAL
from mooring.features.workspaces.flags import GATE, NODE_PROVISIONER, NOT_READY_NODES, settings_of
from mooring.features.workspaces.kinds import CONFIG_MAP, WORKSPACE
from mooring.features.workspaces.selection import selector_labels
from mooring.features.workspaces.validation.creation import validate_workspace, workspace_warnings
from mooring.features.workspaces.validation.nodes import estimate_warnings, readiness_warnings
from mooring.features.workspaces.validation.update import update_warnings, validate_workspace_update
from mooring.runtime.view import View
from mooring.runtime.webhooks.model import Admitted, Denied, Rule, Webhook, WebhookRequest, absent
from mooring.workloads.kinds import NODE

__all__ = ["VALIDATION", "WEBHOOKS"]

_OPERATIONS: Final = ("CREATE", "UPDATE")


class ViewFacts:
    """A cluster as a view shows it."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.looked_at_nodes = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        self.looked_at_nodes = True
        return self._view.list(NODE)

    def config_map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        found = self._view.get(CONFIG_MAP, namespace, name)
        return None if found is None else found.data

    def has_csi_driver(self, name: str) -> bool:
        """Only model streaming asks, and its gate cannot be opened."""
        return False


def check(request: WebhookRequest, view: View) -> Admitted | Denied:
    workspace, old = request.typed(WORKSPACE), request.old_typed(WORKSPACE)
    if workspace is None or workspace.metadata.deleting:
        # What goes away must be able to go, whatever is wrong with it.
        return Admitted()
    settings, facts = settings_of(view), ViewFacts(view)
    if old is not None:
        errors = validate_workspace_update(workspace, old, settings, facts)
        return Denied(errors=tuple(errors)) if errors else Admitted(warnings=update_warnings(workspace, old))
    errors = validate_workspace(workspace, settings, facts)
    if errors:
        # Nodes that were labelled, or became ready, a moment ago may be missing in the view, or be seen as they were.
        return Denied(errors=tuple(errors), absent=(absent(NODE),) if facts.looked_at_nodes else ())
    labels = selector_labels(workspace.resource.label_selector)
    warnings = (
        *workspace_warnings(workspace, settings, facts),
        *readiness_warnings(workspace, labels, settings, facts),
        *estimate_warnings(workspace, labels, settings, facts),
    )
    return Admitted(warnings=warnings)


# Both versions are asked for: converted to the newer one, an object would not show that it has its type from a default.
VALIDATION: Final = Webhook(
    "validation.workspace.mooring.dev",
    "validating",
    check,
    (Rule(API_VERSION, PLURAL, _OPERATIONS), Rule(OLD_API_VERSION, PLURAL, _OPERATIONS)),
    reads=(NODE, CONFIG_MAP),
    gates={GATE: True},
    settings=(NODE_PROVISIONER, NOT_READY_NODES),
    switch="workspaces-webhook",
)
WEBHOOKS: Final = (VALIDATION,)
