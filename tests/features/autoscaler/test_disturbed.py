"""Lost answers, repeated events and crashes: pools follow demand all the same, and no further."""

from __future__ import annotations

import pytest

from mooring.runtime.drivers.faults import Faults
from mooring.testing.hosts import claimed_hosts
from mooring.testing.scaled_pools import scaled_pool
from tests.features.autoscaler.world import ScaledWorld, gpu_host, gpu_pod
from tests.features.machines.world import workers

QUICK = {"scale-down-unneeded-time": "30s", "scale-down-delay-after-add": "10s"}


@pytest.mark.parametrize("seed", range(4))
def test_pools_follow_demand_through_faults(seed: int) -> None:
    world = ScaledWorld(
        scaled_pool(replicas=2),
        scaled_pool("gpu", most=3),
        gpu_pod(),
        gpu_pod("second"),
        hosts=[*workers("w1", "w2"), *map(gpu_host, ("g1", "g2", "g3"))],
        settings=QUICK,
        seed=seed,
        faults=Faults.everything(0.05),
    )
    world.wait(180)
    world.simulation.quiet()
    world.wait(180)
    assert world.targets == {"worker-pool": 0, "gpu-pool": 2}
    assert sorted(map(world.node_of, ("train", "second"))) == sorted(world.nodes_of("gpu-pool"))
    claims = claimed_hosts(world.registry)
    assert len(claims) == len(set(claims.values())) == 2
