"""Lost answers, repeated events and crashes: at no moment is there a pool too many, or one without its hosts."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from mooring.features.autoscaler.replica_pools.decision import decide_replica_pools
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.testing.hosts import claimed_hosts
from mooring.testing.replica_pools import replica_pods, replica_policy
from tests.features.autoscaler.replica_pools.world import ReplicaPoolWorld
from tests.simulations.extent import FULL, Extent

MAX_POOLS, MAX_HOSTS = 3, 5
ROUNDS = 10


def check_invariants(world: ReplicaPoolWorld) -> None:
    pools = [each for each in world.all("MachineDeployment").values() if "serve" in each["metadata"]["name"]]
    labels = Counter(each["metadata"]["labels"]["mooring.dev/replica-pool"] for each in pools)
    assert all(count == 1 for count in labels.values()), labels
    assert len(pools) <= MAX_POOLS
    assert sum(_hosts_of(world, each) for each in pools) <= MAX_HOSTS
    claims = claimed_hosts(world.registry)
    assert len(set(claims.values())) == len(claims)


def _hosts_of(world: ReplicaPoolWorld, pool: Object) -> int:
    """Those that it asks for; of a pool that goes those that it still has."""
    if "deletionTimestamp" not in pool["metadata"]:
        return int(pool["spec"]["replicas"])
    label = {"cluster.x-k8s.io/deployment-name": pool["metadata"]["name"]}
    return sum(label.items() <= each["metadata"]["labels"].items() for each in world.all("Machine").values())


def check_decisions(monkeypatch: pytest.MonkeyPatch, begun: list[str]) -> None:
    """Every pool that is begun has hosts for its whole group at that moment, beside those of all others."""

    def checked(world, *rest):  # type: ignore[no-untyped-def]
        decision = decide_replica_pools(world, *rest)
        needed = sum(new.sizing.hosts for new in decision.made)
        needed += sum(grown.target - grown.pool.target for grown in decision.grown)
        assert needed <= len(world.free)
        for new in decision.made:
            assert new.sizing.hosts >= new.replica.size
            begun.append(new.name)
        return decision

    monkeypatch.setattr("mooring.features.autoscaler.replica_pools.controller.decide_replica_pools", checked)


def disturbed_replica_pools(seed: int, extent: Extent) -> None:
    begun: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        check_decisions(patch, begun)
        _disturbed_replica_pools(seed, extent, begun)


def _disturbed_replica_pools(seed: int, extent: Extent, begun: list[str]) -> None:
    random = Random(seed)
    hosts = list("abcdef")[: extent.of(6, random, least=3)]
    world = ReplicaPoolWorld(
        hosts=hosts,
        policy=replica_policy(maxPools=str(MAX_POOLS), maxHosts=str(MAX_HOSTS)),
        seed=seed,
        faults=extent.faults(0.05, seed),
        settings={"replica-pool-unneeded-time": "20s"},
    )
    there: dict[str, int] = {}
    for _ in range(extent.of(ROUNDS, random)):
        name = f"serve-{random.randrange(5)}"
        if name in there:
            for index in range(there.pop(name)):
                delete(world, f"{name}-{index}" if index else name)
        else:
            there[name] = random.randint(1, 3)
            for each in replica_pods(name, there[name]):
                world.put(each)
        for _ in range(extent.of(6, random)):
            world.wait(random.choice((2, 5, 15)))
            check_invariants(world)
    for name in list(there):
        for index in range(there.pop(name)):
            delete(world, f"{name}-{index}" if index else name)
    world.simulation.quiet()
    if extent.small:
        world.wait_until(lambda: world.targets == {} and world.free == hosts, most=900, then=60)
    else:
        world.wait(900)
    # In a short one a replica may be gone before its pool is begun.
    assert begun or extent.small
    assert world.targets == {}
    assert world.free == hosts
    assert not [name for name in world.all("ByoMachineTemplate") if name.startswith("serve")]


@pytest.mark.parametrize("seed", range(3))
def test_pools_follow_replicas_through_faults(seed: int) -> None:
    disturbed_replica_pools(seed, FULL)


def delete(world: ReplicaPoolWorld, name: str) -> None:
    """A pod that was deleted in the round before may have gone by itself."""
    try:
        world.delete("Pod", name)
    except NotFoundError:
        return
