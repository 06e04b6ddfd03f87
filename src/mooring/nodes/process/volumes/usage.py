"""How much of this machine's disk a pod has taken."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from mooring.kube.objects import Object
from mooring.nodes.process.pods.specs import all_containers
from mooring.nodes.process.pods.storage_limits import StorageUsage
from mooring.nodes.process.volumes.disk import Disk

__all__ = ["storage_usage"]

_BLOCK_BYTES: Final = 512


def storage_usage(disk: Disk, pod: Object) -> StorageUsage:
    uid = pod["metadata"]["uid"]
    volumes = [each["name"] for each in pod["spec"].get("volumes") or () if each.get("emptyDir") is not None]
    return StorageUsage(
        volumes={name: _size(disk.volume(uid, name)) for name in volumes},
        containers={
            each["name"]: _size(disk.layer(uid, each["name"])) + _size(disk.log(uid, each["name"], 0).parent)
            for each in all_containers(pod)
        },
    )


def _size(folder: Path) -> int:
    """What the files of a folder take on disk: a sparse file counts for what it holds, a linked one once."""
    return _BLOCK_BYTES * sum({(found.st_dev, found.st_ino): found.st_blocks for found in _files(folder)}.values())


def _files(folder: Path) -> Iterator[os.stat_result]:
    waiting = [str(folder)]
    while waiting:
        try:
            entries = list(os.scandir(waiting.pop()))
        except OSError:
            continue
        for entry in entries:
            try:
                found = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
            except OSError:
                # It went away at this very moment.
                continue
            # Folders are the volume's own, and an empty one takes nothing of what the pod may use.
            if not entry.is_dir(follow_symlinks=False):
                yield found
