"""Ranges of pod addresses: every node gets one of its own, and keeps it."""

from __future__ import annotations

from datetime import datetime
from ipaddress import IPv4Address
from typing import Any, Final

from mooring.api.kinds import Key, Kind
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch
from mooring.runtime.dispatcher.store import Changed
from mooring.runtime.folds import Fold
from mooring.runtime.view import View
from mooring.workloads.kinds import NODE

# Ranges are 10.244.0.0/24 and up, as most clusters have them; when those run out, the ones from 10.128.0.0 on.
_FIRST: Final = int(IPv4Address("10.244.0.0"))
_LOWEST: Final = int(IPv4Address("10.128.0.0"))
_END: Final = int(IPv4Address("11.0.0.0"))
_RANGES: Final = (*range(_FIRST, _END, 256), *range(_LOWEST, _FIRST, 256))
MAX_WRITES_PER_PASS: Final = 500


class Ranges:
    """Which ranges are taken, and the nodes that have none."""

    def __init__(self) -> None:
        self.taken: dict[str, int] = {}
        self.without: dict[str, None] = {}

    def change(self, kind: Kind[Any], change: Changed) -> bool:
        before = None if change.old is None else change.old.spec.pod_cidr
        after = None if change.new is None else change.new.spec.pod_cidr
        if before == after:
            return False
        if before:
            self.taken[before] -= 1
            if not self.taken[before]:
                del self.taken[before]
        if after:
            self.taken[after] = self.taken.get(after, 0) + 1
        if after == "":
            self.without[change.key.name] = None
        else:
            self.without.pop(change.key.name, None)
        return bool(self.without)


RANGES: Final = Fold("ranges", (NODE,), Ranges, Ranges.change)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    """Give ranges to the nodes that have none. One key does it for all: two would give the same one twice."""
    ranges = view.fold(RANGES)
    free = (text for number in _RANGES if (text := f"{IPv4Address(number)}/24") not in ranges.taken)
    waiting = sorted(ranges.without)[:MAX_WRITES_PER_PASS]
    return Decision(
        intent=tuple(
            Patch(NODE, Key("", name), {"spec": {"podCIDR": cidr, "podCIDRs": [cidr]}})
            for name, cidr in zip(waiting, free, strict=False)
        )
    )


CONTROLLER: Final = Controller("node-ipam", reconcile, reads=(NODE,), writes={NODE: ("patch",)}, folds=(RANGES,))
