"""Claims follow the volumes that they are given, and wait for one in a way that says why.

A volume that names a claim, as `matching.py`, the scheduler and provisioners make one do, is the claim's. A claim that
no volume suits gets the default class if it names none, waits for its pod where its class says so, and is then handed
to the provisioner of its class by an annotation.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, Literal

from mooring.api.core.views import PersistentVolumeClaim, Pod
from mooring.api.kinds import Indexers, Key, key_of
from mooring.api.storage.views import PersistentVolume, StorageClass
from mooring.builtin.volumes.matching import FREE, best_volume, waits_for_pod
from mooring.builtin.volumes.mismatch import mismatch
from mooring.kube.quantities import parse_quantity
from mooring.placement.volumes.binding import is_meant_for
from mooring.placement.volumes.in_tree import BY_PLUGIN
from mooring.placement.volumes.storage_cache import size_of
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event, Patch, Write, status
from mooring.runtime.view import View
from mooring.workloads.claimed_volumes import BOUND_BY_CONTROLLER, claimed
from mooring.workloads.kinds import PERSISTENT_VOLUME, PERSISTENT_VOLUME_CLAIM, POD, STORAGE_CLASS

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
STORAGE_PROVISIONER: Final = "volume.kubernetes.io/storage-provisioner"
_BETA_STORAGE_PROVISIONER: Final = "volume.beta.kubernetes.io/storage-provisioner"
# Provisioners of this domain were part of Kubernetes; those that no driver has taken over are no more.
_IN_TREE: Final = "kubernetes.io/"

_GROWING: Final = "waiting for an external controller to expand this PVC"
_NO_CLASS: Final = "no persistent volumes available for this claim and no storage class is set"
_NO_CONSUMER: Final = "waiting for first consumer to be created before binding"
_NO_REFERENCE: Final = "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!"
_NO_VOLUME: Final = "Bound claim has lost its PersistentVolume. Data on the volume is lost!"
_MISBOUND: Final = "Two claims are bound to the same volume, this one is bound incorrectly"


def _by_claim(pod: Pod) -> Iterable[str]:
    """The claims of pods that wait for a node."""
    if pod.spec.node_name:
        return ()
    meta, found = pod.metadata, set()
    for volume in pod.spec.volumes or ():
        if volume.persistent_volume_claim is not None:
            found.add(f"{meta.namespace}/{volume.persistent_volume_claim.get('claimName')}")
        elif volume.ephemeral is not None:
            found.add(f"{meta.namespace}/{meta.name}-{volume.name}")
    return found


WAITING_PODS: Final = Indexers(POD, indexes={"waiting-for-claim": _by_claim}, placed_by=("spec",))


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    claim = view.get(PERSISTENT_VOLUME_CLAIM, *key)
    if claim is None or claim.metadata.deleting:
        return Decision()
    if claim.metadata.annotations.bind_completed is not None:
        return _keep(view, claim)
    if claim.spec.volume_name:
        return _bind_to_named(view, claim)
    return _bind_to_any(view, claim)


def _bind_to_any(view: View, claim: PersistentVolumeClaim) -> Decision:
    # 1. A volume that is there.
    volume = best_volume(view, claim)
    if volume is not None:
        # One that is free is given by `matching`, to one claim of all that it suits.
        return bind(claim, volume) if claimed(volume, claim) is None else Decision()
    # 2. A claim that says nothing of its class has the default one, as soon as there is one.
    if not claim.has_class and (default := _default_class(view)) is not None:
        return Decision(intent=(_patch(claim, {"spec": {"storageClassName": default.metadata.name}}),))
    # 3. Its class may wait for a pod, and the pod for a node.
    if waits_for_pod(view, claim) and claim.metadata.annotations.selected_node is None:
        return _pending(claim, _waiting_for_pod(view, claim))
    # 4. The provisioner of its class makes a volume.
    if claim.class_name:
        return _hand_over(claim, view.get(STORAGE_CLASS, "", claim.class_name))
    # 5. Somebody makes a volume.
    return _pending(claim, _event(claim, "Normal", "FailedBinding", _NO_CLASS))


def _bind_to_named(view: View, claim: PersistentVolumeClaim) -> Decision:
    volume = view.get(PERSISTENT_VOLUME, "", claim.spec.volume_name)
    if volume is None:
        return _pending(claim)
    name = volume.metadata.name
    if volume.spec.claim_ref is None and (why := mismatch(volume, claim)):
        text = f'Cannot bind to requested volume "{name}": {why}'
        return _pending(claim, _event(claim, "Warning", "VolumeMismatch", text))
    if volume.spec.claim_ref is not None and not is_meant_for(volume, claim):
        text = f'volume "{name}" already bound to a different claim.'
        return _pending(claim, _event(claim, "Warning", "FailedBinding", text))
    return bind(claim, volume)


def _keep(view: View, claim: PersistentVolumeClaim) -> Decision:
    """A claim that was bound stays so, or is lost for ever."""
    if not claim.spec.volume_name:
        return _lost(claim, "ClaimLost", _NO_REFERENCE)
    volume = view.get(PERSISTENT_VOLUME, "", claim.spec.volume_name)
    if volume is None:
        return _lost(claim, "ClaimLost", _NO_VOLUME)
    if volume.spec.claim_ref is not None and volume.spec.claim_ref.uid != claim.metadata.uid:
        return _lost(claim, "ClaimMisbound", _MISBOUND)
    return bind(claim, volume)


def bind(claim: PersistentVolumeClaim, volume: PersistentVolume) -> Decision:
    """The next step of binding a claim to a volume."""
    # 1. The volume names the claim before the claim names the volume.
    if (write := claimed(volume, claim)) is not None:
        return Decision(intent=(write,))
    # 2. The claim names the volume before either is said to be bound.
    body: dict[str, Any] = {}
    notes: dict[str, str] = {}
    if claim.spec.volume_name != volume.metadata.name:
        body["spec"] = {"volumeName": volume.metadata.name}
        notes[BOUND_BY_CONTROLLER] = "yes"
    if claim.metadata.annotations.bind_completed is None:
        notes[BIND_COMPLETED] = "yes"
    if notes:
        return Decision(intent=(_patch(claim, {**body, "metadata": {"annotations": notes}}),))
    # 3. Both are bound.
    told: list[Write] = []
    if volume.status.phase != "Bound":
        told.append(status(PERSISTENT_VOLUME, volume, {"phase": "Bound"}))
    if bound := _bound_status(claim, volume):
        told.append(status(PERSISTENT_VOLUME_CLAIM, claim, bound))
    grows = not bound and size_of(claim) > parse_quantity(claim.status.capacity.get("storage", "0"))
    events = (_event(claim, "Normal", "ExternalExpanding", _GROWING),) if grows else ()
    return Decision(status=tuple(told), events=events)


def _bound_status(claim: PersistentVolumeClaim, volume: PersistentVolume) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if claim.status.access_modes != volume.spec.access_modes:
        changes["accessModes"] = list(volume.spec.access_modes)
    if claim.status.phase != "Bound":
        # Later on the sizes may differ: a volume grows before what is on it does.
        changes |= {"phase": "Bound", "capacity": dict(volume.spec.capacity)}
        if volume.spec.volume_attributes_class_name:
            changes["currentVolumeAttributesClassName"] = volume.spec.volume_attributes_class_name
    return changes


def _default_class(view: View) -> StorageClass | None:
    """Of several the newest, and of those of one moment the first by name."""
    marked = [each for each in view.list(STORAGE_CLASS) if each.is_default]
    newest = max((each.metadata.creation_timestamp or "" for each in marked), default="")
    latest = [each for each in marked if (each.metadata.creation_timestamp or "") == newest]
    return min(latest, key=lambda each: each.metadata.name, default=None)


def _waiting_for_pod(view: View, claim: PersistentVolumeClaim) -> Event:
    waiting = view.list(POD, "waiting-for-claim", str(key_of(claim)))
    pods = sorted(pod.metadata.name for pod in waiting if not pod.finished)
    if not pods:
        return _event(claim, "Normal", "WaitForFirstConsumer", _NO_CONSUMER)
    word = "pod" if len(pods) == 1 else "pods"
    text = f"waiting for {word} {','.join(pods)} to be scheduled"
    return _event(claim, "Normal", "WaitForPodScheduled", text)


def _hand_over(claim: PersistentVolumeClaim, found: StorageClass | None) -> Decision:
    if found is None:
        text = f'storageclass.storage.k8s.io "{claim.class_name}" not found'
        return Decision(events=(_event(claim, "Warning", "ProvisioningFailed", text),))
    takeover = BY_PLUGIN.get(found.provisioner)
    name = found.provisioner if takeover is None else takeover.driver
    if name.startswith(_IN_TREE):
        text = f"no volume plugin matched name: {name}"
        return Decision(events=(_event(claim, "Warning", "ProvisioningFailed", text),))
    noted: tuple[Write, ...] = ()
    if claim.metadata.annotations.provisioner != name:
        annotations = {STORAGE_PROVISIONER: name, _BETA_STORAGE_PROVISIONER: name}
        noted = (_patch(claim, {"metadata": {"annotations": annotations}}),)
    text = (
        f"Waiting for a volume to be created either by the external provisioner '{name}' or manually by the system "
        "administrator. If volume creation is delayed, please verify that the provisioner is running and correctly "
        "registered."
    )
    return Decision(intent=noted, events=(_event(claim, "Normal", "ExternalProvisioning", text),))


def _pending(claim: PersistentVolumeClaim, *events: Event) -> Decision:
    found = claim.status
    if found.phase == "Pending" and not found.access_modes and not found.capacity:
        return Decision(events=events)
    body = {"phase": "Pending", "accessModes": None, "capacity": None}
    return Decision(status=(status(PERSISTENT_VOLUME_CLAIM, claim, body),), events=events)


def _lost(claim: PersistentVolumeClaim, reason: str, text: str) -> Decision:
    if claim.status.phase == "Lost":
        return Decision()
    body = {"phase": "Lost", "accessModes": None, "capacity": None}
    lost = status(PERSISTENT_VOLUME_CLAIM, claim, body)
    return Decision(status=(lost,), events=(_event(claim, "Warning", reason, text),))


def _event(claim: PersistentVolumeClaim, type_: Literal["Normal", "Warning"], reason: str, text: str) -> Event:
    return Event(PERSISTENT_VOLUME_CLAIM, key_of(claim), type_, reason, text)


def _patch(claim: PersistentVolumeClaim, body: dict[str, Any]) -> Patch:
    return Patch(PERSISTENT_VOLUME_CLAIM, key_of(claim), body)


CONTROLLER: Final = Controller(
    "claims",
    reconcile,
    of=PERSISTENT_VOLUME_CLAIM,
    reads=(PERSISTENT_VOLUME, STORAGE_CLASS, POD),
    writes={PERSISTENT_VOLUME_CLAIM: ("patch", "status"), PERSISTENT_VOLUME: ("patch", "status")},
    indexers=(FREE, WAITING_PODS),
    reporter="persistentvolume-controller",
)
