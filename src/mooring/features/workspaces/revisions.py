"""Revisions of a Workspace: one ControllerRevision for every form that its resource and inference have had.

The hash is upstream's, over the text in which Go would write the two: objects that upstream's operator made are found
again, and their pods stay as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from mooring.api.apps.views import ControllerRevision
from mooring.features.workspaces import api
from mooring.features.workspaces.api import Workspace
from mooring.kube.errors import go_json
from mooring.kube.objects import Object

__all__ = ["controller_revision", "current_number", "revision_hash", "revision_name", "surplus_revisions"]

NAME_LABEL: Final = "workspace.kaito.io/name"
_SUFFIX_CHARS: Final = 5
_MOST_REVISIONS: Final = 10


def revision_hash(workspace: Workspace, revisions: Sequence[ControllerRevision] = ()) -> str:
    """The hash that is on record stays while the revision of it says the same.

    Upstream hashes a pod template or an adapter as Go writes it, which is not known here; a new hash for an old form
    would be a new revision, and pods would be replaced for nothing.
    """
    parts = _parts(workspace)
    known = workspace.metadata.annotations.get(api.REVISION_HASH, "")
    name, form = revision_name(workspace, known), _without_empty(_data(parts))
    if known and any(each.metadata.name == name and _without_empty(each.data) == form for each in revisions):
        return known
    text = "".join(f"{go_json(part)}\n" for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()


def revision_name(workspace: Workspace, hashed: str) -> str:
    return f"{workspace.metadata.name}-{hashed[:_SUFFIX_CHARS]}"


def current_number(workspace: Workspace, revisions: Sequence[ControllerRevision], hashed: str) -> int:
    """The number of the revision with this hash; the next one where there is none yet."""
    name = revision_name(workspace, hashed)
    known = next((each.revision for each in revisions if each.metadata.name == name), 0)
    return known or max((each.revision for each in revisions), default=0) + 1


def controller_revision(workspace: Workspace, hashed: str, number: int, owner: Object) -> Object:
    return {
        "metadata": {
            "name": revision_name(workspace, hashed),
            "namespace": workspace.metadata.namespace,
            "labels": {NAME_LABEL: workspace.metadata.name},
            "annotations": {api.REVISION_HASH: hashed},
            "ownerReferences": [owner],
        },
        "revision": number,
        "data": _data(_parts(workspace)),
    }


def surplus_revisions(revisions: Sequence[ControllerRevision]) -> list[ControllerRevision]:
    """The oldest ones beyond those that are kept."""
    ordered = sorted(revisions, key=lambda each: each.revision)
    return ordered[: max(len(ordered) - _MOST_REVISIONS, 0)]


def _parts(workspace: Workspace) -> tuple[Object, Object | None, Object | None]:
    return _resource(workspace), _inference(workspace), _plain(workspace.tuning)


def _data(parts: tuple[Object, Object | None, Object | None]) -> Object:
    resource, inference, tuning = parts
    return {"resource": resource, "inference": inference, "tuning": tuning}


def _without_empty(part: Any) -> Any:
    """Absent and empty are one thing: Go writes fields that were never set."""
    if isinstance(part, dict):
        found = {key: _without_empty(value) for key, value in part.items()}
        return {key: value for key, value in found.items() if value not in (None, "", 0, {}, [], ())}
    if isinstance(part, list | tuple):
        return [_without_empty(each) for each in part]
    return part


def _resource(workspace: Workspace) -> Object:
    """In the order in which upstream's type has the fields."""
    resource = workspace.resource
    selector: Object = {}
    if resource.label_selector.match_labels:
        selector["matchLabels"] = dict(sorted(resource.label_selector.match_labels.items()))
    if resource.label_selector.match_expressions:
        selector["matchExpressions"] = [_plain(each) for each in resource.label_selector.match_expressions]
    made: Object = {"count": resource.count}
    if resource.instance_type:
        made["instanceType"] = resource.instance_type
    made["labelSelector"] = selector
    if resource.preferred_nodes:
        made["preferredNodes"] = list(resource.preferred_nodes)
    if resource.partition is not None:
        made["partition"] = _plain(resource.partition)
    return made


def _inference(workspace: Workspace) -> Object | None:
    inference = workspace.inference
    if inference is None:
        return None
    made: Object = {}
    if inference.preset is not None:
        preset = inference.preset
        made["preset"] = {
            "name": preset.name,
            "accessMode": preset.access_mode,
            "presetOptions": _plain(preset.preset_options),
        }
    if inference.template is not None:
        made["template"] = inference.template
    if inference.config:
        made["config"] = inference.config
    if inference.adapters:
        made["adapters"] = [_plain(each) for each in inference.adapters]
    return made


def _plain(part: Any) -> Any:
    """A part as JSON, without what it does not say."""
    if part is None:
        return None
    found: Any = msgspec.to_builtins(part)
    return {key: value for key, value in found.items() if value not in ("", 0, [], (), None)}
