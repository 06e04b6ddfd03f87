"""Pools that are scaled, in the hands of busy users, as recorded: demand, hosts and settings that were drawn."""

from __future__ import annotations

from random import Random

import pytest

from mooring.kube.objects import Object
from mooring.testing.builders import pod
from mooring.testing.replica_pools import replica_pods, replica_policy, serving_host
from mooring.testing.scaled_pools import scaled_pool
from mooring.testing.workloads import budget, replica_set, template
from tests.features.autoscaler.replica_pools.world import ReplicaPoolWorld
from tests.features.autoscaler.world import gpu_host, gpu_pod
from tests.features.chance import Deed, busy_hours
from tests.features.machines.world import workers

P = "cluster-autoscaler.kubernetes.io/"
SETTINGS: tuple[dict[str, str], ...] = (
    {},
    {"scale-down-unneeded-time": "1m", "scale-down-delay-after-add": "1m", "scale-down-unready-time": "3m"},
    {"expander": "priority", "scale-down-unneeded-time": "90s", "max-nodes-total": "5"},
    {
        "balance-similar-node-groups": "true",
        "scale-down-utilization-threshold": "0.8",
        "replica-pool-unneeded-time": "30s",
    },
)
PRIORITIES: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "cluster-autoscaler-priority-expander", "namespace": "kube-system"},
    "data": {"priorities": "10: ['.*worker.*']\n20: ['.*gpu.*']\n"},
}


class Users:
    def __init__(self, world: ReplicaPoolWorld) -> None:
        self.world = world
        self.made = 0

    def some(self, kind: str, dice: Random) -> str:
        return dice.choice(sorted(self.world.all(kind)) or ["nobody"])

    def name(self) -> str:
        self.made += 1
        return f"p{self.made}"

    def train(self, dice: Random) -> None:
        self.world.put(gpu_pod(self.name()))

    def compute(self, dice: Random) -> None:
        selector = {"purpose": "worker"} if dice.random() < 0.5 else {}
        notes = {f"{P}safe-to-evict": dice.choice(("true", "false"))} if dice.random() < 0.5 else None
        made = pod(self.name(), cpu=dice.choice(("1", "5", "12")), nodeSelector=selector)
        if notes:
            made["metadata"]["annotations"] = notes
        self.world.put(made)

    def serve(self, dice: Random) -> None:
        for each in replica_pods(f"serve-{dice.randint(0, 3)}", dice.randint(1, 3)):
            self.world.put(each)

    def finish(self, dice: Random) -> None:
        for _ in range(dice.randint(1, 4)):
            self.world.delete("Pod", self.some("Pod", dice))

    def lend(self, dice: Random) -> None:
        name = f"h{self.name()}"
        self.world.put(dice.choice((gpu_host(name), *workers(name), serving_host(name))))

    def take_back(self, dice: Random) -> None:
        self.world.delete("ByoHost", self.some("ByoHost", dice))

    def lose(self, dice: Random) -> None:
        self.world.annotate("ByoHost", self.some("ByoHost", dice), {"mooring.dev/lost": dice.choice(("yes", None))})

    def keep(self, dice: Random) -> None:
        value = dice.choice(("true", None))
        self.world.annotate("Node", self.some("Node", dice), {f"{P}scale-down-disabled": value})

    def bounds(self, dice: Random) -> None:
        prefix = "cluster.x-k8s.io/cluster-api-autoscaler-node-group"
        bounds: dict[str, str | None] = {
            f"{prefix}-min-size": dice.choice("012"),
            f"{prefix}-max-size": dice.choice("234"),
        }
        self.world.annotate("MachineDeployment", self.some("MachineDeployment", dice), bounds)

    def scale(self, dice: Random) -> None:
        self.world.change(self.some("MachineDeployment", dice), replicas=dice.randint(0, 3))

    def change_policy(self, dice: Random) -> None:
        changes = replica_policy(maxPools=dice.choice("0135"), maxHosts=dice.choice("148"), version="v1.35.0")
        resource = self.world.registry.resource("v1", "ConfigMap")
        now = self.world.simulation.now
        self.world.registry.patch(
            resource, "kube-system", changes["metadata"]["name"], "merge", {"data": changes["data"]}, now=now
        )


@pytest.mark.parametrize("seed", range(4))
def test_busy_users_of_pools_get_what_was_recorded(seed: int) -> None:
    dice = Random(f"autoscaler/{seed}")
    web = replica_set("web", dice.randint(1, 3), pods=template("web", nodeSelector={"purpose": "worker"}))
    world = ReplicaPoolWorld(
        scaled_pool(least=dice.randint(0, 1)),
        scaled_pool("gpu", most=3),
        web,
        budget("web", "web", minAvailable=1),
        PRIORITIES,
        hosts=["a", "b", *workers("w1", "w2", "w3"), gpu_host("g1"), gpu_host("g2")],
        policy=replica_policy(maxPools="3", maxHosts="5"),
        settings=SETTINGS[seed % len(SETTINGS)],
        seed=seed,
    )
    world.wait(60)
    users = Users(world)
    deeds: dict[Deed, int] = {
        users.train: 3, users.compute: 4, users.serve: 3, users.finish: 4, users.lend: 2, users.take_back: 1,
        users.lose: 2, users.keep: 1, users.bounds: 2, users.scale: 1, users.change_policy: 1,
    }  # fmt: skip
    busy_hours(dice, deeds, world.wait, rounds=9)
    for name in sorted(world.all("Pod")):
        world.delete("Pod", name)
    world.wait(150)
    assert world.log
