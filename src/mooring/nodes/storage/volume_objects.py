"""The PersistentVolumes that are made for claims: simulated ones, and local ones on the node of the claim's pod.

A simulated volume is nothing but its object, and reached from everywhere. A local one is a folder of its node: of the
process node, which removes it before the object goes (`LOCAL_VOLUME`); of a simulated one in name only; or of a node
that a kubelet runs, where nobody could remove the folder, so that such a volume is retained.
"""

from __future__ import annotations

from typing import Final

from mooring.api.core.views import Node, PersistentVolumeClaim
from mooring.api.storage.views import StorageClass
from mooring.kube.objects import Object
from mooring.nodes.storage.names import LOCAL_VOLUME, PROVISIONED_BY
from mooring.workloads.claimed_volumes import claim_reference

_HOSTNAME: Final = "kubernetes.io/hostname"
_FOLDER: Final = "/var/lib/mooring/volumes"


def volume_name(claim: PersistentVolumeClaim) -> str:
    return f"pvc-{claim.metadata.uid}"


def simulated_volume(claim: PersistentVolumeClaim, found: StorageClass) -> Object:
    volume = _volume(claim, found)
    volume["spec"]["hostPath"] = {"path": f"{_FOLDER}/{volume_name(claim)}", "type": ""}
    if found.allowed_topologies:
        terms = [
            {"matchExpressions": [{"key": e.key, "operator": "In", "values": list(e.values)} for e in expressions]}
            for term in found.allowed_topologies
            if (expressions := term.match_label_expressions)
        ]
        volume["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
    return volume


def local_volume(claim: PersistentVolumeClaim, found: StorageClass, node: Node) -> Object:
    volume, notes = _volume(claim, found), node.metadata.annotations
    spec, name = volume["spec"], volume_name(claim)
    if notes.local_volumes:
        spec["local"] = {"path": f"{notes.local_volumes}/{name}"}
        volume["metadata"]["finalizers"] = [LOCAL_VOLUME]
    elif notes.fake == "fake":
        spec["local"] = {"path": f"{_FOLDER}/{name}"}
    else:
        spec["hostPath"] = {"path": f"{_FOLDER}/{name}", "type": "DirectoryOrCreate"}
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    hostname = (node.metadata.labels or {}).get(_HOSTNAME, node.metadata.name)
    expression = {"key": _HOSTNAME, "operator": "In", "values": [hostname]}
    spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}
    return volume


def _volume(claim: PersistentVolumeClaim, found: StorageClass) -> Object:
    """A volume with all that a claim asks for, but for its source."""
    spec: Object = {
        "capacity": {"storage": claim.spec.resources.requests.get("storage", "0")},
        "accessModes": list(claim.spec.access_modes),
        "persistentVolumeReclaimPolicy": found.reclaim_policy,
        "claimRef": claim_reference(claim),
        "storageClassName": claim.class_name,
        "volumeMode": claim.spec.volume_mode or "Filesystem",
    }
    if found.mount_options:
        spec["mountOptions"] = list(found.mount_options)
    if claim.spec.volume_attributes_class_name:
        spec["volumeAttributesClassName"] = claim.spec.volume_attributes_class_name
    annotations = {PROVISIONED_BY: found.provisioner}
    return {"metadata": {"name": volume_name(claim), "annotations": annotations}, "spec": spec}
