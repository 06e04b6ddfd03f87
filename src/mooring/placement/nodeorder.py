"""The order in which the scheduler looks at nodes: one of each zone in turn, zones and nodes as they came."""

from __future__ import annotations

from itertools import zip_longest

import numpy as np
from numpy.typing import NDArray

from mooring.api.core.types import Node


class NodeOrder:
    def __init__(self) -> None:
        self._zones: dict[str, dict[int, None]] = {}
        # Worked out when it is asked for, and again after a change.
        self._slots: NDArray[np.int64] | None = None

    @property
    def slots(self) -> NDArray[np.int64]:
        if self._slots is None:
            rounds = zip_longest(*self._zones.values())
            self._slots = np.array([s for r in rounds for s in r if s is not None], dtype=np.int64)
        return self._slots

    def set(self, slot: int, old: Node | None, node: Node) -> None:
        """A node has come, or is another one now: if it is in another zone it is the last of that."""
        if old is not None and _zone(old) == _zone(node):
            return
        if old is not None:
            self.remove(slot, old)
        self._zones.setdefault(_zone(node), {})[slot] = None
        self._slots = None

    def remove(self, slot: int, node: Node) -> None:
        zone = _zone(node)
        del self._zones[zone][slot]
        if not self._zones[zone]:
            del self._zones[zone]
        self._slots = None

    def copy(self) -> NodeOrder:
        twin = NodeOrder()
        twin._zones = {zone: dict(slots) for zone, slots in self._zones.items()}
        return twin


def _zone(node: Node) -> str:
    """The key by which the scheduler deals nodes out; the names of before 1.17 come first."""
    labels = node.metadata.labels or {}
    zone = labels.get("failure-domain.beta.kubernetes.io/zone", labels.get("topology.kubernetes.io/zone", ""))
    region = labels.get("failure-domain.beta.kubernetes.io/region", labels.get("topology.kubernetes.io/region", ""))
    return f"{region}:\0:{zone}" if region or zone else ""
