"""What is written about the workload: Services and a StatefulSet that are missing, and what of them must follow."""

from __future__ import annotations

from typing import NamedTuple

from mooring.api.apps.views import StatefulSet
from mooring.api.kinds import key_of
from mooring.features.workspaces import api
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.kinds import STORAGE_CLASS, WORKSPACE
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.surroundings import Surroundings
from mooring.features.workspaces.workload.services import headless_service, service
from mooring.features.workspaces.workload.serving import serving_stateful_set
from mooring.features.workspaces.workload.stateful_set import NVME_STORAGE_CLASS
from mooring.kube.objects import Object
from mooring.runtime.decision import Create, Delete, Event, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.kinds import DEPLOYMENT, SERVICE, STATEFUL_SET
from mooring.workloads.ownerrefs import adopt, controller_reference, is_controlled_by

__all__ = ["Migration", "migrate", "workload_writes"]


def workload_writes(
    view: View, workspace: Workspace, around: Surroundings, target: int, number: int, settings: Settings
) -> list[Write]:
    """`number` is the current revision. Raises where the GPUs of a pod cannot be told."""
    owner = controller_reference(WORKSPACE, workspace)
    services = (service(workspace, owner), headless_service(workspace, owner))
    writes: list[Write] = [
        Create(SERVICE, each) for each in services if each["metadata"]["name"] not in around.services
    ]
    has_nvme_class = settings.provisions and view.get(STORAGE_CLASS, "", NVME_STORAGE_CLASS) is not None
    wanted = serving_stateful_set(
        workspace, around.usable, target, around.labels, settings, owner, has_nvme_class=has_nvme_class
    )
    there = around.stateful_set
    if wanted is None:
        return writes
    if there is None:
        return [*writes, Create(STATEFUL_SET, wanted)]
    if there.metadata.controller is None:
        return [*writes, adopt(STATEFUL_SET, there, WORKSPACE, workspace)]
    # Where both are there, which the webhook refuses, the template is what runs.
    is_preset = workspace.inference is not None and workspace.inference.template is None
    if is_preset and there.metadata.annotations.get(api.REVISION) != str(number):
        writes.append(Patch(STATEFUL_SET, key_of(there), _update(there, wanted)))
    return writes


def _update(there: StatefulSet, wanted: Object) -> Object:
    """What follows the Workspace in pods that are there; what people changed by hand stays."""
    old, new = there.spec.template["spec"], wanted["spec"]["template"]["spec"]
    first, *others = old["containers"]
    container = {**first, "env": new["containers"][0]["env"], "volumeMounts": new["containers"][0]["volumeMounts"]}
    pod = {
        "containers": [container, *others],
        "initContainers": new.get("initContainers"),
        "volumes": new["volumes"],
    }
    return {"metadata": {"annotations": wanted["metadata"]["annotations"]}, "spec": {"template": {"spec": pod}}}


class Migration(NamedTuple):
    writes: tuple[Write, ...] = ()
    events: tuple[Event, ...] = ()


def migrate(view: View, workspace: Workspace, around: Surroundings) -> Migration:
    """A Deployment from before 0.8 goes once the StatefulSet in its place is there."""
    key = key_of(workspace)
    old = view.get(DEPLOYMENT, *key)
    if old is None or around.stateful_set is None or old.metadata.deleting:
        return Migration()
    if old.metadata.controller is not None and not is_controlled_by(old, workspace):
        return Migration()
    text = "Migrating inference workload from Deployment to StatefulSet, this will cause a few minutes of downtime."
    event = Event(WORKSPACE, key, "Warning", "WorkloadMigration", text, (DEPLOYMENT, key), "Delete")
    return Migration((Delete(DEPLOYMENT, key),), (event,))
