"""Which pool a claim or a host belongs to, also when the claim is gone and only events tell of it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

from mooring.api.kinds import Key, key_of
from mooring.features.autoscaler.diagnosis import CLAIM, HOST
from mooring.features.hosts.api.machines import ByoMachine
from mooring.features.machines.api.names import DEPLOYMENT_NAME
from mooring.runtime.pool_report import PoolEvent, PoolWorld

__all__ = ["NODE_PROVISIONED", "PoolNames", "host_of"]

NODE_PROVISIONED: Final = "NodeProvisionedSucceeded"


class PoolNames:
    """Pools by claim, by label or by name, and by host: the pool that the host has joined last."""

    def __init__(self, world: PoolWorld, events: Iterable[PoolEvent]) -> None:
        self._by_claim: dict[Key, Key] = {}
        self._by_host: dict[Key, Key] = {}
        for event in sorted(events, key=lambda each: each.time):
            if event.kind == CLAIM and event.reason == NODE_PROVISIONED:
                claim = Key(event.namespace, event.name)
                self._by_host[Key(event.namespace, host_of(event.message))] = self.of_claim(claim)
        claims: Iterable[ByoMachine] = world[CLAIM]
        for each in claims:
            key = key_of(each)
            if (name := each.metadata.labels.get(DEPLOYMENT_NAME)) is not None:
                self._by_claim[key] = Key(key.namespace, name)
            if each.status.host_ref is not None:
                self._by_host[Key(key.namespace, each.status.host_ref.name)] = self.of_claim(key)

    def of_claim(self, claim: Key) -> Key:
        """A claim that is gone is named POOL-HASH-SUFFIX, as the Machine that it was of."""
        found = self._by_claim.get(claim)
        return found if found is not None else Key(claim.namespace, claim.name.rsplit("-", 2)[0])

    def of_host(self, host: Key) -> Key | None:
        return self._by_host.get(host)

    def of_node(self, name: str) -> Key | None:
        """A node has the name of its host, and no namespace."""
        return next((pool for host, pool in self._by_host.items() if host.name == name), None)


def host_of(message: str) -> str:
    """The host that a message of a claim names: `ByoHost h100-1 is a Node`, `Released ByoHost h100-1`."""
    return next((after for word, after in pairwise(message.split()) if word == HOST), "")
