"""What is written about revisions: the form of a Workspace is on record before anything is made from it."""

from __future__ import annotations

from typing import NamedTuple

from mooring.api.kinds import key_of
from mooring.features.workspaces import api
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.kinds import WORKSPACE
from mooring.features.workspaces.revisions import (
    controller_revision,
    current_number,
    revision_hash,
    revision_name,
    surplus_revisions,
)
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Delete, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.finalizers import has_finalizer, with_finalizer
from mooring.workloads.kinds import CONTROLLER_REVISION
from mooring.workloads.ownerrefs import controller_reference

__all__ = ["RecordedRevision", "drop_surplus", "record_revision"]


class RecordedRevision(NamedTuple):
    """The number of the current revision, and what is missing of its record."""

    number: int
    writes: tuple[Write, ...]


def record_revision(view: View, workspace: Workspace) -> RecordedRevision:
    """The finalizer, the revision and the notes about it."""
    revisions = view.owned(CONTROLLER_REVISION, workspace)
    hashed = revision_hash(workspace, revisions)
    number = current_number(workspace, revisions, hashed)
    writes: list[Write] = []
    if not any(each.metadata.name == revision_name(workspace, hashed) for each in revisions):
        owner = controller_reference(WORKSPACE, workspace)
        writes.append(Create(CONTROLLER_REVISION, controller_revision(workspace, hashed, number, owner)))
    changes: Object = {}
    notes = {api.REVISION: str(number), api.REVISION_HASH: hashed}
    if any(workspace.metadata.annotations.get(name) != note for name, note in notes.items()):
        changes["annotations"] = notes
    if not has_finalizer(workspace, api.FINALIZER):
        changes["finalizers"] = with_finalizer(workspace.metadata.finalizers, api.FINALIZER)
    if changes:
        writes.append(Patch(WORKSPACE, key_of(workspace), {"metadata": changes}))
    return RecordedRevision(number, tuple(writes))


def drop_surplus(view: View, workspace: Workspace) -> tuple[Write, ...]:
    revisions = view.owned(CONTROLLER_REVISION, workspace)
    return tuple(Delete(CONTROLLER_REVISION, key_of(each)) for each in surplus_revisions(revisions))
