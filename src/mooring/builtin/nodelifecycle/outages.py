"""Outages: pods are evicted from nodes that are not ready, one node after the other and never from all of them.

When most nodes of a zone are not ready the network is likelier to blame than the nodes, and when no node at all is
ready, the observer is. So the eviction rate depends on the zone, and with no node ready nothing is evicted.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from mooring.api.core.views import Node
from mooring.api.kinds import Key, Kind
from mooring.kube.times import moment
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Write
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.folds import Fold
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE
from mooring.workloads.taints import NOT_READY, OUTAGES, UNREACHABLE, swap_taints

EVICTION_INTERVAL: Final = timedelta(seconds=10)
# The pace in a large zone of which most is gone; in a small one there is none.
SECONDARY_EVICTION_INTERVAL: Final = timedelta(seconds=100)
LARGE_ZONE_NODES: Final = 50
UNHEALTHY_ZONE_THRESHOLD: Final = 0.55
EXCLUDED: Final = "node.kubernetes.io/exclude-disruption"

_WANTED: Final = {"False": NOT_READY, "Unknown": UNREACHABLE}


class Standing(NamedTuple):
    """What counts of a node here."""

    zone: tuple[str, str]
    ready: str
    since: str
    # The outage taints that it carries, and when the latest was put on.
    tainted: tuple[str, ...]
    added: str
    counted: bool


class Zones:
    """The nodes that are not ready or carry an outage taint, and how many are well in each zone."""

    def __init__(self) -> None:
        self.troubled: dict[str, Standing] = {}
        self._ready: dict[tuple[str, str], int] = {}
        self._not_ready: dict[tuple[str, str], int] = {}

    def change(self, kind: Kind[Any], change: Changed) -> bool:
        """Take a change in; whether there is, or was, anything to do about nodes in trouble."""
        before = None if change.old is None else _standing(change.old)
        after = None if change.new is None else _standing(change.new)
        if before == after:
            return False
        if before is not None:
            self._count(before, -1)
        if after is not None:
            self._count(after, 1)
        if after is None or (after.ready == "True" and not after.tainted):
            self.troubled.pop(change.key.name, None)
        else:
            self.troubled[change.key.name] = after
        return bool(self.troubled)

    def _count(self, node: Standing, by: int) -> None:
        if not node.counted:
            return
        counts = self._ready if node.ready == "True" else self._not_ready
        counts[node.zone] = counts.get(node.zone, 0) + by
        if not counts[node.zone]:
            del counts[node.zone]

    @property
    def all_lost(self) -> bool:
        return not self._ready

    def pace(self, zone: tuple[str, str]) -> timedelta | None:
        """How long to wait between two nodes of a zone; None to leave it alone."""
        ready, not_ready = self._ready.get(zone, 0), self._not_ready.get(zone, 0)
        if not ready or not_ready <= 2 or not_ready / (ready + not_ready) < UNHEALTHY_ZONE_THRESHOLD:
            return EVICTION_INTERVAL
        return SECONDARY_EVICTION_INTERVAL if ready + not_ready > LARGE_ZONE_NODES else None


def _standing(node: Node) -> Standing:
    labels = node.metadata.labels
    zone = (labels.get("topology.kubernetes.io/region", ""), labels.get("topology.kubernetes.io/zone", ""))
    ready = node.readiness
    taints = [taint for taint in node.spec.taints or () if taint.key in OUTAGES and taint.effect == "NoExecute"]
    return Standing(
        zone,
        "" if ready is None else ready.status,
        "" if ready is None else ready.last_transition_time or "",
        tuple(taint.key for taint in taints),
        max((taint.time_added or "" for taint in taints), default=""),
        EXCLUDED not in labels,
    )


ZONES: Final = Fold("zones", (NODE,), Zones, Zones.change)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    zones = view.fold(ZONES)
    latest: dict[tuple[str, str], datetime] = {}
    for node in zones.troubled.values():
        if node.added:
            added = moment(node.added)
            latest[node.zone] = max(latest.get(node.zone, added), added)
    writes = []
    # Those that have been waiting longest come first.
    for name, standing in sorted(zones.troubled.items(), key=lambda item: (item[1].since, item[0])):
        wanted = _WANTED.get(standing.ready)
        if zones.all_lost:
            writes.append(_set(view, name, None, now))
        elif wanted is None or wanted in standing.tainted:
            continue
        elif standing.tainted or _is_due(zones, standing.zone, latest, view):
            latest[standing.zone] = now
            writes.append(_set(view, name, wanted, now))
    return Decision(intent=tuple(write for write in writes if write is not None))


def _is_due(zones: Zones, zone: tuple[str, str], latest: dict[tuple[str, str], datetime], view: View) -> bool:
    pace = zones.pace(zone)
    if pace is None:
        return False
    return zone not in latest or view.reached(latest[zone] + pace)


def _set(view: View, name: str, wanted: str | None, now: datetime) -> Write | None:
    node = view.get(NODE, "", name)
    if node is None:
        return None
    unwanted = {(key, "NoExecute") for key in OUTAGES if key != wanted}
    return swap_taints(node, unwanted, () if wanted is None else ((wanted, "NoExecute"),), now)


CONTROLLER: Final = Controller("node-outages", reconcile, reads=(NODE,), writes={NODE: ("patch",)}, folds=(ZONES,))
