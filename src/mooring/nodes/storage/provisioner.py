"""The provisioner of our own classes: makes a volume for each claim that the binder hands over to it.

It works beside any control plane, as provisioners of others do: what it waits for are annotations of the claim.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.kinds import Key
from mooring.api.storage.views import StorageClass
from mooring.kube.objects import Object
from mooring.nodes.storage.names import LOCAL, PROVISIONERS
from mooring.nodes.storage.volume_objects import local_volume, simulated_volume, volume_name
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Event, Patch
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE, PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS

_SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    claim = view.get(PERSISTENT_VOLUME_CLAIM, *key)
    if claim is None or claim.metadata.deleting or claim.spec.volume_name:
        return Decision()
    notes = claim.metadata.annotations
    if notes.provisioner not in PROVISIONERS:
        return Decision()
    found = view.get(STORAGE_CLASS, "", claim.class_name)
    if found is None or found.provisioner != notes.provisioner or (found.delays and not notes.selected_node):
        return Decision()
    if view.get(PERSISTENT_VOLUME, "", volume_name(claim)) is not None:
        return Decision()
    if why := _refusal(claim, found):
        text = f'failed to provision volume with StorageClass "{claim.class_name}": {why}'
        return Decision(events=(Event(PERSISTENT_VOLUME_CLAIM, key, "Warning", "ProvisioningFailed", text),))
    if found.provisioner != LOCAL:
        return _made(key, simulated_volume(claim, found))
    node = view.get(NODE, "", notes.selected_node or "")
    if node is None:
        # The scheduler chooses again.
        again = {"metadata": {"annotations": {_SELECTED_NODE: None}}}
        return Decision(intent=(Patch(PERSISTENT_VOLUME_CLAIM, key, again),))
    return _made(key, local_volume(claim, found, node))


def _refusal(claim: PersistentVolumeClaim, found: StorageClass) -> str:
    """Why no volume can be made for a claim; empty where one can."""
    if claim.spec.data_source or claim.spec.data_source_ref:
        return f"{found.provisioner} makes empty volumes; leave spec.dataSource and spec.dataSourceRef out"
    if found.provisioner != LOCAL:
        return ""
    if claim.spec.volume_mode == "Block":
        return f"{LOCAL} makes folders and no disks; leave spec.volumeMode Block out"
    if not found.delays:
        return f"{LOCAL} needs to know the node; use a class with volumeBindingMode WaitForFirstConsumer"
    return ""


def _made(key: Key, volume: Object) -> Decision:
    name = volume["metadata"]["name"]
    started = f'External provisioner is provisioning volume for claim "{key}"'
    done = f"Successfully provisioned volume {name}"
    after = (PERSISTENT_VOLUME, Key("", name))
    return Decision(
        children=(Create(PERSISTENT_VOLUME, volume),),
        events=(
            Event(PERSISTENT_VOLUME_CLAIM, key, "Normal", "Provisioning", started, after=after),
            Event(PERSISTENT_VOLUME_CLAIM, key, "Normal", "ProvisioningSucceeded", done, after=after),
        ),
    )


CONTROLLER: Final = Controller(
    "volume-provisioner",
    reconcile,
    of=PERSISTENT_VOLUME_CLAIM,
    reads=(PERSISTENT_VOLUME, STORAGE_CLASS, NODE),
    writes={PERSISTENT_VOLUME: ("create",), PERSISTENT_VOLUME_CLAIM: ("patch",)},
    reporter="mooring.dev/provisioner",
)
