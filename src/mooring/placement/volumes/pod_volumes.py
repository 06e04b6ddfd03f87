"""The volumes of a pod that can tie it to nodes, compiled once. A pod without such volumes has none here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from mooring.api.core.types import Volume
from mooring.placement.volumes.in_tree import source_of


class InlineDisk(NamedTuple):
    """A disk that a pod names itself. Two pods on one node must not both write to it."""

    kind: str
    name: str
    read_only: bool
    # A Ceph image is the same one only where the monitors have one in common.
    monitors: frozenset[str] = frozenset()

    def conflicts(self, other: InlineDisk) -> bool:
        if self.kind != other.kind or self.name != other.name or (self.read_only and other.read_only):
            return False
        return self.kind != "rbd" or not self.monitors.isdisjoint(other.monitors)


class InlineSource(NamedTuple):
    """A volume in the pod that a driver attaches."""

    plugin: str
    driver: str
    handle: str


class PodVolume(NamedTuple):
    name: str
    # The claim it mounts; of an ephemeral volume, the one that is made for it.
    claim: str = ""
    ephemeral: bool = False
    disk: InlineDisk | None = None
    inline: InlineSource | None = None


def pod_volumes(volumes: Sequence[Volume], pod: str) -> tuple[PodVolume, ...]:
    """What matters of a pod's volumes, in their order."""
    found = []
    for volume in volumes:
        if volume.persistent_volume_claim is not None:
            found.append(PodVolume(volume.name, str(volume.persistent_volume_claim.get("claimName") or "")))
        elif volume.ephemeral is not None:
            found.append(PodVolume(volume.name, f"{pod}-{volume.name}", ephemeral=True))
        else:
            disk, source = _disk(volume), source_of(volume)
            inline = None
            if source is not None:
                takeover, fields = source
                inline = InlineSource(takeover.plugin, takeover.driver, takeover.handle(fields))
            if disk is not None or inline is not None:
                found.append(PodVolume(volume.name, disk=disk, inline=inline))
    return tuple(found)


def _disk(volume: Volume) -> InlineDisk | None:
    if (source := volume.gce_persistent_disk) is not None:
        return InlineDisk("gce", str(source.get("pdName") or ""), bool(source.get("readOnly")))
    if (source := volume.aws_elastic_block_store) is not None:
        # Amazon's are never shared, not even to read.
        return InlineDisk("aws", str(source.get("volumeID") or ""), False)
    if (source := volume.iscsi) is not None:
        return InlineDisk("iscsi", str(source.get("iqn") or ""), bool(source.get("readOnly")))
    if (source := volume.rbd) is not None:
        image = f"{source.get('pool') or 'rbd'}/{source.get('image') or ''}"
        return InlineDisk("rbd", image, bool(source.get("readOnly")), frozenset(source.get("monitors") or ()))
    return None
