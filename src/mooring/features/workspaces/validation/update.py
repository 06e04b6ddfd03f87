"""What may not change in a Workspace once it is there."""

from __future__ import annotations

from mooring.features.workspaces.api import API_VERSION, NODE_CLASS, Workspace
from mooring.features.workspaces.old_api import DEFAULT_INSTANCE_TYPE
from mooring.features.workspaces.selection import NodeLabelsError, selector_labels
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.validation.creation import (
    check_name,
    check_node_class,
    check_unsupported,
    preferred_nodes_warnings,
)
from mooring.features.workspaces.validation.facts import ClusterFacts
from mooring.features.workspaces.validation.streaming import check_streaming
from mooring.kube.errors import FieldError, invalid, plainly, required

__all__ = ["update_warnings", "validate_workspace_update"]

_IMMUTABLE = "field is immutable"


def validate_workspace_update(
    workspace: Workspace, old: Workspace, settings: Settings, facts: ClusterFacts
) -> list[FieldError]:
    """Nodes are not looked at again: an object whose nodes are gone must be able to change and to go."""
    errors: list[FieldError] = []
    check_name(errors, workspace)
    for name, toggled in (
        ("inference", (workspace.inference is None) is not (old.inference is None)),
        ("tuning", (workspace.tuning is None) is not (old.tuning is None)),
    ):
        if toggled:
            errors.append(plainly(f"spec.{name}", f"{name.capitalize()} field cannot be toggled once set"))
    if workspace.tuning != old.tuning or workspace.inference != old.inference:
        # What pods have that we do not know of would be lost with their next revision.
        check_unsupported(errors, workspace)
    now, then = (each.metadata.annotations.get(NODE_CLASS, "") for each in (workspace, old))
    if now != then:
        check_node_class(errors, now, settings)
    check_streaming(errors, workspace, old, settings, facts)
    _check_resource(errors, workspace, old, settings)
    _check_inference(errors, workspace, old)
    return errors


def update_warnings(workspace: Workspace, old: Workspace) -> tuple[str, ...]:
    """Whoever writes what has no effect is told so; whoever changes something else is not."""
    unchanged = workspace.resource.preferred_nodes == old.resource.preferred_nodes
    return () if unchanged else preferred_nodes_warnings(workspace)


def _check_resource(errors: list[FieldError], workspace: Workspace, old: Workspace, settings: Settings) -> None:
    now, then = workspace.resource, old.resource
    if now.count != then.count:
        errors.append(invalid("resource.count", now.count, _IMMUTABLE))
    if now.partition != then.partition:
        errors.append(plainly("resource.partition", _IMMUTABLE))
    try:
        if selector_labels(now.label_selector) != selector_labels(then.label_selector):
            errors.append(plainly("resource.labelSelector", _IMMUTABLE))
    except NodeLabelsError as error:
        errors.append(plainly("resource.labelSelector", str(error)))
    if workspace.is_old and not then.instance_type and now.instance_type == DEFAULT_INSTANCE_TYPE:
        text = f"v1alpha1 gives every Workspace this type, and this one has none; change it as {API_VERSION}"
        errors.append(invalid("resource.instanceType", now.instance_type, text))
        return
    _check_instance_type(errors, now.instance_type, then.instance_type, settings)


def _check_instance_type(errors: list[FieldError], now: str, then: str, settings: Settings) -> None:
    """A type that was set before auto-provisioning was switched off may stay or go."""
    path = "resource.instanceType"
    if settings.provisions:
        if not now:
            text = "resource.instanceType is required when node auto-provisioning is enabled"
            errors.append(required(f"{path}, {text}", "new nodes need a type"))
        elif then and now != then:
            errors.append(invalid(path, now, "instanceType cannot be changed once set"))
        return
    if now and not then:
        text = "instanceType must be empty when node auto-provisioning is disabled (BYO scenario)"
        errors.append(invalid(path, now, text))
    elif now and now != then:
        errors.append(invalid(path, now, "instanceType cannot be changed once set"))


def _check_inference(errors: list[FieldError], workspace: Workspace, old: Workspace) -> None:
    now, then = workspace.inference, old.inference
    if now is None or then is None:
        return
    if now.preset != then.preset:
        errors.append(plainly("inference.preset", _IMMUTABLE))
    if (now.template is None) is not (then.template is None):
        errors.append(plainly("inference.template", "field cannot be unset/set if it was set/unset"))
