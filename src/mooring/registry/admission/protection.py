"""Storage object in use protection: deleted volumes, claims and classes of attributes stay until nothing uses them.

A real cluster has controllers that remove the protection finalizers. Here the registry removes them itself when the
last user is gone, so that deleting a claim works without controllers.
"""

from typing import Final

from mooring.api.core.pod_references import claim_names
from mooring.kube.objects import Object
from mooring.registry.admission.classes import PROTECTION
from mooring.registry.core import Core
from mooring.registry.resources import Resource

__all__ = ["Protection"]


_CLAIMS: Final = "persistentvolumeclaims"
_ATTRIBUTES: Final = "volumeattributesclasses.storage.k8s.io"


class Protection:
    """Removes the protection finalizers of unused volumes and claims that are being deleted."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._leaving: set[tuple[str, str]] = set()
        core.after[_CLAIMS] = self._claim_changed
        core.after["persistentvolumes"] = self._volume_changed
        core.after["pods"] = self._pod_changed
        core.after[_ATTRIBUTES] = self._attributes_changed
        for claim in core.storage.items(_CLAIMS):
            self._claim_changed(claim)

    def _resource(self, kind: str) -> Resource:
        return self._core.resources.of_kind("v1", kind)

    def _claim_changed(self, claim: Object | None) -> None:
        if claim is None:
            self._attributes_released()
            return
        metadata = claim["metadata"]
        key = metadata["namespace"], metadata["name"]
        self._leaving.discard(key)
        if "deletionTimestamp" not in metadata or PROTECTION[_CLAIMS] not in metadata.get("finalizers", ()):
            return
        if self._is_used(*key):
            self._leaving.add(key)
        else:
            self._release(self._resource("PersistentVolumeClaim"), claim)

    def _is_used(self, namespace: str, name: str) -> bool:
        pods = (pod for pod in self._core.storage.items("pods", namespace) if pod["spec"].get("nodeName"))
        return any(name in claim_names(pod) and not _has_left(pod, name) for pod in pods)

    def _volume_changed(self, volume: Object | None) -> None:
        if volume is None:
            self._attributes_released()
            return
        if "deletionTimestamp" not in volume["metadata"]:
            return
        held = PROTECTION["persistentvolumes"] in volume["metadata"].get("finalizers", ())
        if held and volume["status"].get("phase") != "Bound":
            self._release(self._resource("PersistentVolume"), volume)

    def _attributes_changed(self, found: Object | None) -> None:
        if found is None or "deletionTimestamp" not in found["metadata"]:
            return
        held = PROTECTION[_ATTRIBUTES] in found["metadata"].get("finalizers", ())
        if held and not self._names_attributes(found["metadata"]["name"]):
            self._release(self._core.resources.of_kind("storage.k8s.io/v1", "VolumeAttributesClass"), found)

    def _names_attributes(self, name: str) -> bool:
        stores = (_CLAIMS, "persistentvolumes")
        return any(
            obj["spec"].get("volumeAttributesClassName") == name
            for store in stores
            for obj in self._core.storage.items(store)
        )

    def _attributes_released(self) -> None:
        """A claim or a volume that named a class may have been the last."""
        for found in list(self._core.storage.items(_ATTRIBUTES)):
            self._attributes_changed(found)

    def _pod_changed(self, pod: Object | None) -> None:
        for namespace, name in list(self._leaving):
            self._claim_changed(self._core.storage.get(_CLAIMS, namespace, name))

    def _release(self, resource: Resource, obj: Object) -> None:
        metadata = obj["metadata"]
        kept = [each for each in metadata["finalizers"] if each != PROTECTION[resource.store]]
        if not kept:
            self._core.remove(resource, obj)
            return
        self._core.commit(resource, {**obj, "metadata": {**metadata, "finalizers": kept}}, obj)


def _has_left(pod: Object, name: str) -> bool:
    """Whether a claim is that of an ephemeral volume whose pod has stopped and only waits to be removed.

    Any other claim is used as long as the pod is there, even if it has ended.
    """
    metadata = pod["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("deletionGracePeriodSeconds") != 0:
        return False
    named = (volume.get("persistentVolumeClaim", {}).get("claimName") for volume in pod["spec"].get("volumes", ()))
    return name not in named
