"""Hosts that joined a pool, left it or were lost. What still stands in a condition needs no event."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from mooring.api.conditions import find_condition
from mooring.api.kinds import Key, key_of
from mooring.features.autoscaler.diagnosis import CLAIM, HOST, POOL
from mooring.features.autoscaler.timeline.pool_names import NODE_PROVISIONED, PoolNames, host_of
from mooring.features.hosts.api.conditions import BYOHOST_READY, HOST_HEALTHY
from mooring.features.hosts.api.hosts import HostClaim
from mooring.features.hosts.api.machines import ByoMachine
from mooring.runtime.pool_report import MomentKind, PoolEvent, PoolMoment, PoolWorld

__all__ = ["host_moments", "members"]

_RELEASED: Final = "ByoHostReleaseSucceeded"
# Events about a host itself that say what went wrong with it.
_LOST: Final = ("ByoMachineGone", "ForcedRelease")
# Events about a claim or a pool, by what they tell; their messages are sentences already.
_OF_CLAIMS: Final[Mapping[str, MomentKind]] = {"ByoHostSelectionFailed": "problem"}
_OF_POOLS: Final[Mapping[str, MomentKind]] = {
    "HostLost": "lost",
    "HostsSilent": "lost",
    "NotScaled": "problem",
    "ReplicaPoolRemoved": "removed",
}


def members(world: PoolWorld, names: PoolNames) -> dict[Key, set[str]]:
    """The hosts of each pool that are nodes now."""
    found: dict[Key, set[str]] = {}
    claims: Iterable[ByoMachine] = world[CLAIM]
    for each in claims:
        if each.status.host_ref is not None and each.status.node_ref is not None:
            found.setdefault(names.of_claim(key_of(each)), set()).add(each.status.host_ref.name)
    return found


def host_moments(world: PoolWorld, events: Iterable[PoolEvent], names: PoolNames) -> Iterator[PoolMoment]:
    yield from _standing(world, names)
    still = {(each.name, ref.name) for each, ref in _joined(world)}
    for event in events:
        key = Key(event.namespace, event.name)
        if event.kind == CLAIM and event.reason == NODE_PROVISIONED:
            if (event.name, host := host_of(event.message)) not in still:
                yield PoolMoment(event.time, *names.of_claim(key), "joined", f"{host} joined as a node", host)
        elif event.kind == CLAIM and event.reason == _RELEASED:
            host = host_of(event.message)
            yield PoolMoment(event.time, *names.of_claim(key), "left", f"{host} left, and is free again", host)
        elif event.kind == CLAIM and event.reason in _OF_CLAIMS:
            yield PoolMoment(event.time, *names.of_claim(key), _OF_CLAIMS[event.reason], event.message)
        elif event.kind == HOST and event.reason in _LOST:
            pool = names.of_host(key) or Key(key.namespace, "")
            yield PoolMoment(event.time, *pool, "lost", event.message, event.name)
        elif event.kind == POOL and event.reason in _OF_POOLS:
            yield PoolMoment(event.time, *key, _OF_POOLS[event.reason], event.message)
        elif event.kind == "Node" and event.reason == "NodeNotReady" and (of := names.of_node(event.name)) is not None:
            yield PoolMoment(event.time, *of, "lost", f"{event.name} is not ready", event.name)


def _joined(world: PoolWorld) -> Iterator[tuple[Key, Key]]:
    claims: Iterable[ByoMachine] = world[CLAIM]
    for each in claims:
        if each.status.host_ref is not None and each.status.node_ref is not None:
            yield key_of(each), Key(each.metadata.namespace, each.status.host_ref.name)


def _standing(world: PoolWorld, names: PoolNames) -> Iterator[PoolMoment]:
    """Nodes that are there, hosts that are silent, and the pools themselves: they say since when."""
    claims: dict[Key, ByoMachine] = {key_of(each): each for each in world[CLAIM]}
    for claim, host in _joined(world):
        ready = find_condition(claims[claim].status.conditions, BYOHOST_READY)
        since = ready.last_transition_time if ready is not None and ready.status == "True" else None
        since = since or claims[claim].metadata.creation_timestamp
        if since is not None:
            yield PoolMoment(since, *names.of_claim(claim), "joined", f"{host.name} joined as a node", host.name)
    hosts: Iterable[HostClaim] = world[HOST]
    for each in hosts:
        healthy = find_condition(each.status.conditions, HOST_HEALTHY)
        if healthy is not None and healthy.status != "True" and healthy.last_transition_time is not None:
            pool = names.of_host(key_of(each)) if each.status.machine_ref is not None else None
            text = f"{each.metadata.name} is silent: {healthy.message or healthy.reason}"
            where = pool or Key(each.metadata.namespace, "")
            yield PoolMoment(healthy.last_transition_time, *where, "lost", text, each.metadata.name)
