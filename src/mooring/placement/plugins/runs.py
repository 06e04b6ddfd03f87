"""Default spreading over a run of pods, at the price of the nodes that changed.

Almost every pod that belongs to a ReplicaSet or a Service is spread over hosts and zones by the default constraints.
The score of a node then depends on two small numbers only, how many matching pods it holds and which zone it is in,
so it is computed once per pair of them and looked up for each node.
"""

from __future__ import annotations

import math
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from mooring.placement.plugins.node_matching import NodeMatching
from mooring.placement.plugins.spread import ZONE, included, matching_pods, round_half_up
from mooring.placement.podindex import CountVector
from mooring.placement.pods import HOSTNAME, Constraint, PodInfo
from mooring.placement.scores import WEIGHTS
from mooring.placement.shapes import MAX_SHARE_REPLAYED, MAX_SLOTS_ONE_BY_ONE, TIE_BITS, Shape

# Zones beyond this many are spread by the general path.
MAX_ZONES = 128
MAX_RUNS = 256
# Pairs of count and zone up to which scores are calculated one by one.
SMALL_TABLE = 32


class SpreadRun:
    """One shape with the default constraints of one selector."""

    def __init__(self, matching: NodeMatching, shape: Shape, pod: PodInfo, constraints: tuple[Constraint, ...]) -> None:
        self._matching = matching
        self._cluster = matching.cluster
        self._shape = shape
        self._pod = pod
        self._host, self._zone = constraints
        self._nodes_version = -1
        self._position = 0

    def best(self, start: int) -> int:
        """The slot that wins a search that begins at a place in the order; the shape must be fresh."""
        if not self._shape.count:
            return -1
        self._shape.turn(start)
        self._refresh()
        scores = self._table() * (WEIGHTS["PodTopologySpread"] << TIE_BITS)
        scores.take(self._codes, out=self._looked_up, mode="wrap")
        np.add(self._looked_up, self._shape.keys, out=self._looked_up)
        return int(self._looked_up.argmax())

    def _refresh(self) -> None:
        cluster = self._cluster
        vector = self._vector()
        behind = self._position - cluster.journal_start
        changed = cluster.journal[behind:] if behind >= 0 else None
        stale = self._nodes_version != cluster.nodes_version
        if stale or changed is None or len(changed) > MAX_SHARE_REPLAYED * cluster.size:
            self._rebuild(vector)
        elif len(changed) > MAX_SLOTS_ONE_BY_ONE:
            self._patch_all(np.array(list(set(changed))), vector)
        else:
            for slot in set(changed):
                self._patch(slot, vector.counts.item(slot))
        self._position = cluster.journal_start + len(cluster.journal)

    def _vector(self) -> CountVector:
        vector = matching_pods(self._cluster, self._pod, self._host)
        assert vector is not None
        return vector

    def _rebuild(self, vector: CountVector) -> None:
        cluster = self._cluster
        self._nodes_version = cluster.nodes_version
        column = cluster.labels.column(ZONE)
        self._width = len(column.values) + 1
        # Zone 0 stands for nodes without the label, which are scored by host alone.
        self._zones = column.codes.astype(np.int64) + 1
        self._counted = included(self._matching, self._pod, self._zone, cluster.valid)
        self._counts = vector.counts.copy()
        self._in_zone = np.bincount(
            self._zones[self._counted], weights=self._counts[self._counted], minlength=self._width
        )
        self._codes = np.where(self._shape.feasible, self._counts * self._width + self._zones, -1)
        self._height = int(self._counts.max(initial=0)) + 2
        self._occupied = np.bincount(self._codes[self._shape.feasible], minlength=self._height * self._width)
        self._looked_up = np.zeros(cluster.size, dtype=np.int64)

    def _patch(self, slot: int, count: int) -> None:
        zone: int = self._zones.item(slot)
        if self._counted.item(slot):
            self._in_zone[zone] += count - self._counts.item(slot)
        self._counts[slot] = count
        old: int = self._codes.item(slot)
        self._make_room(count)
        new = count * self._width + zone if self._shape.feasible.item(slot) else -1
        if old >= 0:
            self._occupied[old] -= 1
        if new >= 0:
            self._occupied[new] += 1
        self._codes[slot] = new

    def _patch_all(self, slots: NDArray[np.int64], vector: CountVector) -> None:
        """The same for many slots at once, none of them twice."""
        zones, counted, counts = self._zones[slots], self._counted[slots], vector.counts[slots]
        more = counts - self._counts[slots]
        self._in_zone += np.bincount(zones[counted], weights=more[counted], minlength=self._width)
        self._counts[slots] = counts
        self._make_room(int(counts.max()))
        old = self._codes[slots]
        new = np.where(self._shape.feasible[slots], counts * self._width + zones, -1)
        size = self._occupied.size
        self._occupied += np.bincount(new[new >= 0], minlength=size) - np.bincount(old[old >= 0], minlength=size)
        self._codes[slots] = new

    def _make_room(self, count: int) -> None:
        """Let the table have a row for a count."""
        if count >= self._height:
            grown = np.zeros((2 * count + 2) * self._width, dtype=self._occupied.dtype)
            grown[: self._occupied.size] = self._occupied
            self._occupied, self._height = grown, 2 * count + 2

    def _table(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The normalised score of every pair of count and zone, with a last entry for infeasible nodes."""
        if self._occupied.size <= SMALL_TABLE:
            return np.array(self._small_table())
        occupied = self._occupied.reshape(self._height, self._width)
        zones = int(np.count_nonzero(occupied.any(axis=0)))
        by_host = np.arange(self._height) * math.log(self._shape.count + 2) + (self._host.max_skew - 1)
        by_zone = self._in_zone * math.log(zones + 2) + (self._zone.max_skew - 1)
        by_zone[0] = 0.0
        raw = round_half_up((by_host[:, None] + by_zone[None, :]).ravel())
        seen = raw[self._occupied > 0]
        most, least = int(seen.max()), int(seen.min())
        table = np.zeros(raw.size + 1, dtype=np.int64)
        table[:-1] = 100 if most <= 0 else 100 * (most + least - raw) // most
        return table

    def _small_table(self) -> list[int]:
        """The same for a few pairs, where calling NumPy costs more than what it calculates."""
        occupied: list[int] = self._occupied.tolist()
        zones = sum(any(occupied[zone :: self._width]) for zone in range(self._width))
        host_weight, host_skew = math.log(self._shape.count + 2), self._host.max_skew - 1
        zone_weight, zone_skew = math.log(zones + 2), self._zone.max_skew - 1
        by_zone = [0.0, *[count * zone_weight + zone_skew for count in self._in_zone.tolist()[1:]]]
        by_host = [count * host_weight + host_skew for count in range(self._height)]
        raw = [int(value) + (value % 1 >= 0.5) for value in [host + zone for host in by_host for zone in by_zone]]
        seen = [score for score, nodes in zip(raw, occupied, strict=True) if nodes]
        most, least = max(seen), min(seen)
        return [*[100 if most <= 0 else 100 * (most + least - score) // most for score in raw], 0]


class SpreadRuns:
    """The runs in use, least recently used dropped first."""

    def __init__(self, matching: NodeMatching) -> None:
        self._matching = matching
        self._runs: OrderedDict[tuple[Shape, Constraint, str], SpreadRun] = OrderedDict()

    def best(self, shape: Shape, pod: PodInfo, constraints: tuple[Constraint, ...], start: int) -> int | None:
        """The winner under default spreading; None where labels are too odd for the table, as hosts without a name."""
        zones = self._matching.cluster.labels.column(ZONE)
        if len(zones.values) > MAX_ZONES or "" in zones.index or not self._matching.everywhere(HOSTNAME):
            return None
        key = (shape, constraints[0], pod.namespace)
        run = self._runs.get(key)
        if run is None:
            run = self._runs[key] = SpreadRun(self._matching, shape, pod, constraints)
            if len(self._runs) > MAX_RUNS:
                self._runs.popitem(last=False)
        else:
            self._runs.move_to_end(key)
        return run.best(start)
