"""The files behind a claim: which folder or file of this machine a pod's PersistentVolumeClaim leads to.

A local volume that was made for this node is a folder of the data folder, found by the name of the volume: its path is
not asked for, so that no PersistentVolume can lead to anything else in there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from mooring.kube.objects import Object
from mooring.nodes.process.containers.sandbox.machine_view import MachineView
from mooring.nodes.process.volumes.contents import VolumeError
from mooring.nodes.process.volumes.disk import Disk, host_path, make_empty
from mooring.nodes.storage.names import LOCAL_VOLUME, PROVISIONED_BY, SIMULATED

__all__ = ["claim_name", "claimed_path", "is_claimed", "volume_of_claim"]

CLAIMED: Final = ("persistentVolumeClaim", "ephemeral")
_BOUND: Final = "pv.kubernetes.io/bind-completed"


def is_claimed(volume: Object) -> bool:
    return any(volume.get(kind) is not None for kind in CLAIMED)


def claim_name(pod: Object, volume: Object) -> str:
    """The claim of a volume; that of an ephemeral one is called after pod and volume."""
    found = volume.get("persistentVolumeClaim")
    return f"{pod['metadata']['name']}-{volume['name']}" if found is None else str(found["claimName"])


def volume_of_claim(pod: Object, volume: Object, claim: Object | None) -> str:
    """The name of the PersistentVolume that a claim has. Raises VolumeError."""
    name = claim_name(pod, volume)
    if claim is None:
        raise VolumeError(f'persistentvolumeclaim "{name}" not found')
    if claim["metadata"].get("deletionTimestamp"):
        raise VolumeError(f"can't start pod because PVC {name} is being deleted")
    if not claim["spec"].get("volumeName") or _BOUND not in (claim["metadata"].get("annotations") or {}):
        raise VolumeError(f"PVC {name} is not bound")
    if claim["spec"].get("volumeMode") == "Block":
        raise VolumeError(f"PVC {name} is a block device, and a process node mounts folders and files only")
    return str(claim["spec"]["volumeName"])


def claimed_path(disk: Disk, found: Object, view: MachineView, group: int | None) -> Path:
    """The folder or file of a PersistentVolume, made where that is this node's part. Raises VolumeError."""
    name, spec = found["metadata"]["name"], found["spec"]
    if LOCAL_VOLUME in (found["metadata"].get("finalizers") or ()):
        folder = disk.local_volume(name)
        make_empty(folder, group)
        return folder
    if (found["metadata"].get("annotations") or {}).get(PROVISIONED_BY) == SIMULATED:
        raise VolumeError(f"PersistentVolume {name} is simulated and has no files; claim one of the class standard")
    if (source := spec.get("local")) is not None:
        return host_path({"path": source["path"], "type": "Directory"}, view.data, view.procs)
    if (source := spec.get("hostPath")) is not None:
        return host_path(source, view.data, view.procs)
    raise VolumeError(f"PersistentVolume {name} is none of this node; a process node mounts local and hostPath ones")
