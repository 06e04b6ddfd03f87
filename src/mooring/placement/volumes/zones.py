"""VolumeZone: a volume that names its zone or region in a label is used on nodes of that zone or region only."""

from __future__ import annotations

import numpy as np

from mooring.placement.labels import Mask
from mooring.placement.plugins.node_checks import UNCHANGED, NodeChange, NodeCheck
from mooring.placement.pods import PodInfo
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.verdicts import UNRESOLVABLE, Reason, Rejection
from mooring.placement.volumes.in_tree import BETA_REGION, BETA_ZONE, REGION, ZONE, ZONE_SEPARATOR

PLUGIN = "VolumeZone"
OTHER_ZONE = Reason(PLUGIN, UNRESOLVABLE, "node(s) had no available volume zone")

_CURRENT = {BETA_ZONE: ZONE, BETA_REGION: REGION}
_KEYS = (BETA_ZONE, BETA_REGION, ZONE, REGION)


class VolumeZones(NodeCheck):
    plugin = PLUGIN
    reasons = (OTHER_ZONE,)
    steady = True

    def __init__(self, cluster: SchedulerCache, pod: PodInfo) -> None:
        self._cluster = cluster
        self._wanted: list[tuple[str, frozenset[str]]] = []
        self.rejection: Rejection | None = None
        storage = cluster.storage
        for volume in pod.volumes:
            if not volume.claim or volume.ephemeral:
                continue
            name = storage.claims[f"{pod.namespace}/{volume.claim}"].spec.volume_name
            if not name:
                # Its class delays binding, or it would have been turned away before.
                continue
            stored = storage.volumes.get(name)
            if stored is None:
                self.rejection = Rejection(PLUGIN, UNRESOLVABLE, f'persistentvolume "{name}" not found')
                return
            self._wanted.extend(
                (key, zones)
                for key in _KEYS
                if (value := stored.view.metadata.labels.get(key)) is not None and (zones := _zones(value))
            )

    @property
    def needed(self) -> bool:
        return bool(self._wanted)

    def narrow(self, mask: Mask) -> dict[int, Reason]:
        columns = self._cluster.labels
        zoned = np.logical_or.reduce([columns.present(key) for key in _KEYS])
        for key, values in self._wanted:
            wanted = tuple(values)
            old, current = columns.column(key), columns.column(_CURRENT.get(key, key))
            there = np.where(old.present, old.among(wanted), current.among(wanted))
            mask &= there | ~zoned
        return {}

    def at(self, slot: int, change: NodeChange = UNCHANGED) -> tuple[Reason, ...]:
        node = self._cluster.nodes[slot]
        labels = (node.metadata.labels if node else None) or {}
        if not any(key in labels for key in _KEYS):
            return ()
        for key, values in self._wanted:
            value = labels.get(key)
            if value is None:
                value = labels.get(_CURRENT.get(key, key))
            if value not in values:
                return (OTHER_ZONE,)
        return ()


def _zones(value: str) -> frozenset[str]:
    """The zones of a label; none where one of them is empty, because such a label is not read."""
    zones = [zone.strip() for zone in value.split(ZONE_SEPARATOR)]
    return frozenset(zones) if all(zones) else frozenset()
