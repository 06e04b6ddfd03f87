"""A cluster in memory in which pools are made for replicas, in virtual time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mooring.features.autoscaler.replica_pools.controller import CONTROLLER as REPLICA_POOLS
from mooring.kube.objects import Object
from mooring.testing.hosts import claimed_hosts
from mooring.testing.replica_pools import KEY, replica_policy, serving_host
from tests.features.autoscaler.world import EVERYBODY, ScaledWorld

REPLICA_CONTROLLERS = (*EVERYBODY, REPLICA_POOLS)


class ReplicaPoolWorld(ScaledWorld):
    """`hosts` are names of hosts with a GPU each; `policy` None leaves the policy out."""

    def __init__(
        self,
        *objects: Object,
        hosts: Iterable[Object | str] = (),
        policy: Object | None = None,
        allowed: bool = True,
        **parts: Any,
    ) -> None:
        made = [serving_host(each) if isinstance(each, str) else each for each in hosts]
        stated = [policy or replica_policy()] if allowed else []
        super().__init__(*stated, *objects, hosts=made, **{"controllers": REPLICA_CONTROLLERS, **parts})

    @property
    def free(self) -> list[str]:
        return sorted(self.all("ByoHost").keys() - claimed_hosts(self.registry).keys())

    def nodes_with(self, value: str) -> list[str]:
        nodes = self.all("Node").items()
        return sorted(name for name, node in nodes if node["metadata"]["labels"].get(KEY) == value)

    def settle(self) -> None:
        self.wait(120)

    def drop(self, *names: str) -> None:
        for name in names:
            self.delete("Pod", name)
