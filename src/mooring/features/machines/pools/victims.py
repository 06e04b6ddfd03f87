"""Which Machines of a set go first when it shrinks.

The order is that of Cluster API: what is going already, what somebody has marked, what is not healthy, and then by
`deletion.order`. Ties go by name, so that deciding again gives the same Machines.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from mooring.api.conditions import find_condition
from mooring.features.machines.api.conditions import HEALTH_CHECK_SUCCEEDED, NODE_HEALTHY
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import DELETE_MACHINE
from mooring.kube.times import moment

__all__ = ["priority", "victims"]

DELETING: Final = 100.0
MARKED: Final = 80.0
UNHEALTHY: Final = 50.0
RANDOM: Final = 20.0
# After this time a Machine has about two thirds of the priority that age can give.
_AGE_SCALE_SECONDS: Final = 10 * 24 * 3600


def victims(machines: Iterable[Machine], order: str, count: int, now: datetime) -> list[Machine]:
    """The `count` Machines that are least wanted; those that are being deleted already are among them."""
    ranked = sorted(machines, key=lambda each: (-priority(each, order, now), each.metadata.name))
    return ranked[:count]


def priority(machine: Machine, order: str, now: datetime) -> float:
    if machine.metadata.deleting:
        return DELETING
    if DELETE_MACHINE in machine.metadata.annotations:
        return MARKED
    if _is_unhealthy(machine):
        return UNHEALTHY
    if order not in ("Oldest", "Newest"):
        return RANDOM
    oldest = _by_age(machine, now)
    return oldest if order == "Oldest" else UNHEALTHY - oldest


def _is_unhealthy(machine: Machine) -> bool:
    if not machine.status.node_ref.name:
        return True
    found = (find_condition(machine.status.conditions, kind) for kind in (NODE_HEALTHY, HEALTH_CHECK_SUCCEEDED))
    return any(condition is not None and condition.status == "False" for condition in found)


def _by_age(machine: Machine, now: datetime) -> float:
    """From 0 for a Machine that was just made, towards UNHEALTHY and never there."""
    created = machine.metadata.creation_timestamp
    age = 0.0 if created is None else max(0.0, (now - moment(created)).total_seconds())
    return UNHEALTHY * (1.0 - math.exp(-age / _AGE_SCALE_SECONDS))
