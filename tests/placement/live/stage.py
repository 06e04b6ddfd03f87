"""Puts the objects of a drawn world into a real cluster, and takes them away again."""

from __future__ import annotations

import time
from typing import Any, Final

from mooring.kube.objects import Object
from mooring.testing.http import Answer, Api

PLURALS: Final = {
    "Namespace": "namespaces",
    "Node": "nodes",
    "Pod": "pods",
    "PriorityClass": "priorityclasses",
    "RuntimeClass": "runtimeclasses",
    "Service": "services",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "ReplicaSet": "replicasets",
    "StorageClass": "storageclasses",
    "CSIDriver": "csidrivers",
    "CSINode": "csinodes",
    "CSIStorageCapacity": "csistoragecapacities",
    "PersistentVolume": "persistentvolumes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "VolumeAttachment": "volumeattachments",
    "DeviceClass": "deviceclasses",
    "ResourceSlice": "resourceslices",
    "ResourceClaim": "resourceclaims",
    "ResourceClaimTemplate": "resourceclaimtemplates",
}
# The same in every world, so they stay.
_LASTING: Final = ("Namespace", "PriorityClass", "RuntimeClass")
_NAMESPACES: Final = ("default", "shop", "lab")
# What the API server makes of a world before the scheduler has seen all of it.
SETTLING_SECONDS: Final = 0.4


def path_of(value: Object, name: str = "") -> str:
    group = value["apiVersion"]
    path = f"/apis/{group}" if "/" in group else f"/api/{group}"
    namespace = value["metadata"].get("namespace", "")
    path += f"/namespaces/{namespace}" if namespace else ""
    return f"{path}/{PLURALS[value['kind']]}" + (f"/{name}" if name else "")


class Stage:
    """One world at a time."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self._collections: set[str] = set()

    def add(self, value: Object) -> str:
        """Empty, or why the API refuses it."""
        body = dict(value)
        status = body.pop("status", None)
        if value["kind"] not in _LASTING:
            self._collections.add(path_of(value))
        answer = self.api.post(path_of(value), body)
        if answer.code == 409 and value["kind"] in _LASTING:
            return ""
        if answer.code != 201:
            return str(answer.body["message"])
        if value["kind"] == "Node":
            # Admission taints every new node, until something says that it is ready.
            spec = {"taints": value["spec"].get("taints", [])}
            _accepted(self.api.patch(path_of(value, value["metadata"]["name"]), "merge", {"spec": spec}))
        if status is not None and value["kind"] != "VolumeAttachment":
            path = f"{path_of(value, value['metadata']['name'])}/status"
            _accepted(self.api.patch(path, "merge", {"status": status}))
        return ""

    def pods(self) -> list[Object]:
        # A list does not say of each object what it is.
        return [{**each, "apiVersion": "v1", "kind": "Pod"} for each in self.api.get("/api/v1/pods").body["items"]]

    def remove(self, pod: Object) -> None:
        self.api.delete(path_of(pod, pod["metadata"]["name"]), gracePeriodSeconds=0)

    def clear(self) -> None:
        for namespace in _NAMESPACES:
            self.api.delete(f"/api/v1/namespaces/{namespace}/pods", gracePeriodSeconds=0)
        for path in sorted(self._collections):
            if path.endswith("/services"):
                for one in self.api.get(path).body["items"]:
                    if one["metadata"]["name"] != "kubernetes":
                        self.api.delete(f"{path}/{one['metadata']['name']}")
                continue
            self._release(path)
            _accepted(self.api.delete(path))
        self._collections.clear()

    def _release(self, path: str) -> None:
        """The scheduler protects claims with devices by a finalizer that a controller takes away."""
        if path.endswith("/resourceclaims"):
            for one in self.api.get(path).body["items"]:
                if one["metadata"].get("finalizers"):
                    where = f"{path}/{one['metadata']['name']}"
                    self.api.patch(where, "merge", {"metadata": {"finalizers": None}})

    def settle(self) -> None:
        time.sleep(SETTLING_SECONDS)


def _accepted(answer: Answer) -> Any:
    if answer.code not in (200, 201):
        raise AssertionError(f"{answer.code}: {answer.body}")
    return answer.body
