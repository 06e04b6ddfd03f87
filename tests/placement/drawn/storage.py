"""Drawn storage: classes of every kind, volumes of zones and of nodes, claims bound and unbound, limits of drivers."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from tests.placement.drawn.dice import Dice
from tests.placement.drawn.nodes import HOSTNAME, ZONE, ZONES
from tests.placement.drawn.pods import Nodes

DRIVER = "disk.example.com"
TIGHT = "shared.example.com"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
LATE = "WaitForFirstConsumer"
CLASSES = ("fast", "here", "local", "zonal", "tight")


class Storage:
    """The objects of a world's storage, and claims that its pods may use, by namespace."""

    def __init__(self, dice: Dice, nodes: Nodes) -> None:
        self.dice = dice
        self.nodes = nodes
        self.objects: list[Object] = []
        self.claims: dict[str, list[str]] = {}
        self.made = 0
        self._classes()
        self._drivers()
        for namespace in ("default", "shop", "lab"):
            for _ in range(dice.randint(2, 4)):
                self._claim(namespace)

    def _add(self, api_version: str, kind: str, name: str, namespace: str = "", **fields: object) -> Object:
        metadata: Object = {"name": name, **({"namespace": namespace} if namespace else {})}
        found: Object = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
        self.objects.append(found)
        return found

    def _classes(self) -> None:
        def add(name: str, provisioner: str, mode: str, **more: Any) -> None:
            kind = ("storage.k8s.io/v1", "StorageClass", name)
            self._add(*kind, provisioner=provisioner, volumeBindingMode=mode, reclaimPolicy="Delete", **more)

        add("fast", DRIVER, "Immediate")
        add("here", DRIVER, LATE)
        add("local", "kubernetes.io/no-provisioner", LATE)
        zones = self.dice.some(ZONES, 1, 2)
        add("zonal", DRIVER, LATE, allowedTopologies=[{"matchLabelExpressions": [{"key": ZONE, "values": zones}]}])
        add("tight", TIGHT, LATE)

    def _drivers(self) -> None:
        self._add("storage.k8s.io/v1", "CSIDriver", DRIVER, spec={"attachRequired": True})
        self._add("storage.k8s.io/v1", "CSIDriver", TIGHT, spec={"attachRequired": False, "storageCapacity": True})
        for node in self.nodes:
            name, dice = node["metadata"]["name"], self.dice
            if dice.chance(0.7):
                driver: Object = {"name": DRIVER, "nodeID": name, "topologyKeys": [ZONE]}
                if dice.chance(0.7):
                    driver["allocatable"] = {"count": dice.pick((1, 2, 3))}
                self._add("storage.k8s.io/v1", "CSINode", name, spec={"drivers": [driver]})
        for zone in self.dice.some(ZONES, 1, 3):
            size = self.dice.pick(("5Gi", "20Gi", "100Gi"))
            capacity: Object = {"storageClassName": "tight", "capacity": size}
            if self.dice.chance(0.3):
                capacity["maximumVolumeSize"] = "8Gi"
            topology = {"matchLabels": {ZONE: zone}}
            name = f"space-{zone}"
            self._add("storage.k8s.io/v1", "CSIStorageCapacity", name, "default", **capacity, nodeTopology=topology)

    def _claim(self, namespace: str) -> None:
        dice = self.dice
        self.made += 1
        name, storage_class = f"claim-{self.made}", dice.pick(CLASSES)
        size = dice.pick(("1Gi", "6Gi", "10Gi", "50Gi"))
        modes = [dice.pick(("ReadWriteOnce", "ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"))]
        spec: Object = {"accessModes": modes, "storageClassName": storage_class}
        spec["resources"] = {"requests": {"storage": size}}
        claim = self._add("v1", "PersistentVolumeClaim", name, namespace, spec=spec)
        self.claims.setdefault(namespace, []).append(name)
        if storage_class == "fast" or dice.chance(0.5):
            if dice.chance(0.9):
                self._bind(claim)
        elif storage_class == "local":
            for _ in range(dice.randint(0, 2)):
                self._volume(storage_class, dice.pick((size, "100Gi")), modes)

    def _bind(self, claim: Object) -> None:
        metadata, spec = claim["metadata"], claim["spec"]
        volume = self._volume(
            spec["storageClassName"], spec["resources"]["requests"]["storage"], list(spec["accessModes"])
        )
        volume["spec"]["claimRef"] = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": metadata["namespace"],
            "name": metadata["name"],
        }
        volume["status"] = {"phase": "Bound"}
        metadata["annotations"] = BOUND
        spec["volumeName"] = volume["metadata"]["name"]
        claim["status"] = {"phase": "Bound", "accessModes": spec["accessModes"], "capacity": volume["spec"]["capacity"]}

    def _volume(self, storage_class: str, size: str, modes: list[str]) -> Object:
        dice = self.dice
        self.made += 1
        name = f"volume-{self.made}"
        spec: Object = {"capacity": {"storage": size}, "accessModes": modes, "storageClassName": storage_class}
        spec["persistentVolumeReclaimPolicy"] = "Retain"
        labels: Object = {}
        if storage_class == "local":
            spec["local"] = {"path": f"/mnt/{name}"}
            spec["nodeAffinity"] = _only(HOSTNAME, [dice.pick(self.nodes)["metadata"]["name"]])
        else:
            spec["csi"] = {"driver": TIGHT if storage_class == "tight" else DRIVER, "volumeHandle": name}
            if dice.chance(0.5):
                spec["nodeAffinity"] = _only(ZONE, dice.some(ZONES, 1, 2))
            elif dice.chance(0.4):
                labels[ZONE] = "__".join(dice.some(ZONES, 1, 2))
        volume = self._add("v1", "PersistentVolume", name, spec=spec, status={"phase": "Available"})
        if labels:
            volume["metadata"]["labels"] = labels
        return volume

    def attached(self) -> None:
        """Volumes that are attached already count against the limits of their node."""
        bound = [each for each in self.objects if each["kind"] == "PersistentVolume" and "csi" in each["spec"]]
        for volume in self.dice.some(bound, 0, 2):
            name = volume["metadata"]["name"]
            spec = {
                "attacher": volume["spec"]["csi"]["driver"],
                "nodeName": self.dice.pick(self.nodes)["metadata"]["name"],
            }
            self._add(
                "storage.k8s.io/v1",
                "VolumeAttachment",
                f"attached-{name}",
                spec={**spec, "source": {"persistentVolumeName": name}},
                status={"attached": True},
            )

    def use(self, pod: Object, *, bound: bool = False) -> None:
        """Let a pod mount claims of its namespace, or disks that are no claims."""
        dice, namespace = self.dice, pod["metadata"]["namespace"]
        usable = [name for name in self.claims[namespace] if not bound or self._is_bound(namespace, name)]
        volumes: list[Object] = [
            {"name": f"data-{number}", "persistentVolumeClaim": {"claimName": name}}
            for number, name in enumerate(dice.some(usable, 1, 2))
        ]
        if dice.chance(0.2):
            disk = {"pdName": dice.pick(("disk-1", "disk-2")), "readOnly": dice.chance(0.3)}
            volumes.append({"name": "disk", "gcePersistentDisk": disk})
        if not bound and dice.chance(0.1):
            volumes.append({"name": "gone", "persistentVolumeClaim": {"claimName": "claim-0"}})
        pod["spec"]["volumes"] = volumes

    def _is_bound(self, namespace: str, name: str) -> bool:
        return any(
            each["kind"] == "PersistentVolumeClaim"
            and each["metadata"]["name"] == name
            and each["metadata"]["namespace"] == namespace
            and "volumeName" in each["spec"]
            for each in self.objects
        )


def _only(key: str, values: list[str]) -> Object:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": values}]}
    return {"required": {"nodeSelectorTerms": [term]}}
