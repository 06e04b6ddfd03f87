"""A town that binds claims, and words for what became of them."""

from __future__ import annotations

from mooring.builtin.nodelifecycle.controller import CONTROLLER as NODE_LIFECYCLE
from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.builtin.volumes.ephemeral import CONTROLLER as EPHEMERAL
from mooring.kube.objects import Object
from mooring.testing.controllers import STORAGE
from tests.builtin.town import NODES, Town, condition

SELECTED = "volume.kubernetes.io/selected-node"


def storage_town(*objects: Object) -> Town:
    return Town(*objects, controllers=(SCHEDULER, *STORAGE, EPHEMERAL, NODES, NODE_LIFECYCLE), settled=True)


def found(place: Town, kind: str, name: str) -> Object:
    obj = place.get(kind, name)
    assert obj is not None
    return obj


def claim_of(place: Town, name: str = "data") -> Object:
    return found(place, "PersistentVolumeClaim", name)


def volume_of(place: Town, name: str = "data") -> Object:
    """The volume that a claim is bound to."""
    return found(place, "PersistentVolume", claim_of(place, name)["spec"]["volumeName"])


def phases(place: Town) -> dict[str, str]:
    """By name, of volumes and claims."""
    objects = [*place.all("PersistentVolume"), *place.all("PersistentVolumeClaim")]
    return {obj["metadata"]["name"]: obj["status"]["phase"] for obj in objects}


def why(place: Town, name: str) -> str:
    return str(condition(place.get("Pod", name), "PodScheduled")["message"])
