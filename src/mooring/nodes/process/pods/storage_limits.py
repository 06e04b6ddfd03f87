"""Whether a pod has written more to this machine's disk than it may, in the words of the kubelet's eviction manager."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import NamedTuple

from mooring.kube.objects import Object
from mooring.kube.quantities import parse_quantity, value
from mooring.nodes.process.pods.specs import all_containers, main_containers

__all__ = ["StorageUsage", "exceeded_limit", "limits_storage"]

_RESOURCE = "ephemeral-storage"


class StorageUsage(NamedTuple):
    """Bytes on disk: of each emptyDir, and of each container's layer and logs."""

    volumes: Mapping[str, int]
    containers: Mapping[str, int]


def limits_storage(pod: Object) -> bool:
    """Whether there is a limit to look after."""
    return any(_size_limit(volume) for volume in _volumes(pod)) or any(map(_limit, all_containers(pod)))


def exceeded_limit(pod: Object, usage: StorageUsage) -> str:
    """The message of the eviction; empty as long as the pod keeps to its limits."""
    for volume in _volumes(pod):
        limit, name = _size_limit(volume), volume["name"]
        if limit and usage.volumes.get(name, 0) > value(limit):
            return f'Usage of EmptyDir volume "{name}" exceeds the limit "{limit}". '
    limits = {each["name"]: limit for each in main_containers(pod) if (limit := _limit(each))}
    on_disk = {volume["name"] for volume in _volumes(pod) if (volume["emptyDir"] or {}).get("medium") != "Memory"}
    volumes = sum(size for name, size in usage.volumes.items() if name in on_disk)
    total = reduce(add, map(parse_quantity, limits.values()), parse_quantity("0"))
    if limits and sum(usage.containers.values()) + volumes > total.value:
        return f"Pod ephemeral local storage usage exceeds the total limit of containers {total}. "
    for name, limit in limits.items():
        if usage.containers.get(name, 0) > value(limit):
            return f'Container {name} exceeded its local ephemeral storage limit "{limit}". '
    return ""


def _volumes(pod: Object) -> list[Object]:
    return [volume for volume in pod["spec"].get("volumes") or () if volume.get("emptyDir") is not None]


def _size_limit(volume: Object) -> str:
    limit = str((volume["emptyDir"] or {}).get("sizeLimit") or "")
    return limit if limit and value(limit) > 0 else ""


def _limit(container: Object) -> str:
    limit = str(((container.get("resources") or {}).get("limits") or {}).get(_RESOURCE) or "")
    return limit if limit and value(limit) > 0 else ""
