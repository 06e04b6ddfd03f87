"""Claims of a plan: whoever the provisioner of a class is, a volume is made when a claim is handed over to it.

Where no StorageClass was read, the cluster is taken to have a default one: claims without a class are served too.
"""

from __future__ import annotations

from datetime import datetime

from mooring.api.core.views import PersistentVolumeClaim
from mooring.api.kinds import Key
from mooring.api.storage.views import StorageClass
from mooring.kube.objects import Object
from mooring.nodes.storage.names import PROVISIONED_BY, SIMULATED
from mooring.nodes.storage.volume_objects import simulated_volume, volume_name
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision
from mooring.runtime.view import View
from mooring.workloads.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS


def provisioner(*, classes_read: bool) -> Controller:
    def reconcile(key: Key, view: View, now: datetime) -> Decision:
        claim = view.get(PERSISTENT_VOLUME_CLAIM, *key)
        if claim is None or claim.metadata.deleting or claim.spec.volume_name:
            return Decision()
        name = claim.metadata.annotations.provisioner
        if not name and (classes_read or claim.class_name):
            return Decision()
        if view.get(PERSISTENT_VOLUME, "", volume_name(claim)) is not None:
            return Decision()
        found = view.get(STORAGE_CLASS, "", claim.class_name) if claim.class_name else None
        return Decision(children=(Create(PERSISTENT_VOLUME, _volume(claim, found or StorageClass(), name)),))

    return Controller(
        "volume-provisioner",
        reconcile,
        of=PERSISTENT_VOLUME_CLAIM,
        reads=(PERSISTENT_VOLUME, STORAGE_CLASS),
        writes={PERSISTENT_VOLUME: ("create",)},
    )


def _volume(claim: PersistentVolumeClaim, found: StorageClass, name: str) -> Object:
    """A volume of a driver where the provisioner has the name of one: nodes attach only so many of those."""
    volume = simulated_volume(claim, found)
    volume["metadata"]["annotations"][PROVISIONED_BY] = name or SIMULATED
    if name and "/" not in name:
        del volume["spec"]["hostPath"]
        volume["spec"]["csi"] = {"driver": name, "volumeHandle": volume_name(claim)}
    return volume
