"""Lost answers, repeated events and crashes: pools follow demand all the same, and no further."""

from __future__ import annotations

from random import Random

import pytest

from mooring.testing.hosts import claimed_hosts
from mooring.testing.scaled_pools import scaled_pool
from tests.features.autoscaler.world import ScaledWorld, gpu_host, gpu_pod
from tests.features.machines.world import workers
from tests.simulations.extent import FULL, Extent

QUICK = {"scale-down-unneeded-time": "30s", "scale-down-delay-after-add": "10s"}


def disturbed_pools(seed: int, extent: Extent) -> None:
    draw = Random(seed)
    idle, pods = extent.of(2, draw), ["train", "second"][: extent.of(2, draw)]
    hosts = extent.of(3, draw, least=len(pods))
    world = ScaledWorld(
        scaled_pool(replicas=idle),
        scaled_pool("gpu", most=3),
        *map(gpu_pod, pods),
        hosts=[*workers("w1", "w2")[:idle], *(gpu_host(f"g{number}") for number in range(1, hosts + 1))],
        settings=QUICK,
        seed=seed,
        faults=extent.faults(0.05, seed),
    )
    world.wait(extent.of(180, draw, least=20))
    wanted = {"worker-pool": 0, "gpu-pool": len(pods)}
    world.simulation.quiet()
    if extent.small:
        world.wait_until(lambda: world.targets == wanted and all(map(world.node_of, pods)), most=180, then=40)
    else:
        world.wait(180)
    assert world.targets == wanted
    assert sorted(map(world.node_of, pods)) == sorted(world.nodes_of("gpu-pool"))
    claims = claimed_hosts(world.registry)
    assert len(claims) == len(set(claims.values())) == len(pods)


@pytest.mark.parametrize("seed", range(4))
def test_pools_follow_demand_through_faults(seed: int) -> None:
    disturbed_pools(seed, FULL)
