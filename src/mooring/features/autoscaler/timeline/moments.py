"""The timeline of all pools: what is known from events, conditions and the log, in one order, each thing once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from mooring.api.kinds import Key, key_of
from mooring.features.autoscaler.diagnosis import POOL
from mooring.features.autoscaler.replica_pools.names import MADE_FOR
from mooring.features.autoscaler.timeline.host_moments import host_moments, members
from mooring.features.autoscaler.timeline.pool_names import PoolNames
from mooring.features.autoscaler.timeline.scaling import logged_lines, scaling_moments
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.runtime.pool_report import PoolEvent, PoolMoment, PoolWorld

__all__ = ["pool_timeline"]

# At one instant a pool is made before it grows, and a host leaves after it was lost.
_ORDER = ("made", "grown", "shrunk", "joined", "lost", "problem", "left", "removed")


def pool_timeline(world: PoolWorld, decisions: Mapping[str, str], events: Iterable[PoolEvent]) -> Sequence[PoolMoment]:
    """Oldest first."""
    told = list(events)
    names = PoolNames(world, told)
    found = {
        *_made(world),
        *scaling_moments(told, logged_lines(decisions), names),
        *host_moments(world, told, names),
    }
    ordered = sorted(found, key=lambda each: (each.time, _ORDER.index(each.kind), each))
    return _counted(ordered, members(world, names))


def _made(world: PoolWorld) -> Iterator[PoolMoment]:
    pools: Iterable[MachineDeployment] = world[POOL]
    for each in pools:
        replica = each.metadata.annotations.get(MADE_FOR, "")
        text = f"The pool was made for {replica}" if replica else "The pool was made"
        if each.metadata.creation_timestamp is not None:
            yield PoolMoment(each.metadata.creation_timestamp, *key_of(each), "made", text)


def _counted(ordered: Sequence[PoolMoment], now: dict[Key, set[str]]) -> list[PoolMoment]:
    """With how many nodes each pool had, counted back from those that it has now."""
    found = []
    for each in reversed(ordered):
        hosts = now.setdefault(Key(each.namespace, each.pool), set())
        found.append(each._replace(nodes=len(hosts)))
        if each.kind == "joined":
            hosts.discard(each.host)
        elif each.kind == "left":
            hosts.add(each.host)
    return found[::-1]
