"""Pools in the hands of busy users, as recorded: every rollout, drain, failure and change of mind that was drawn."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from mooring.builtin.scheduler.controller import CONTROLLER as SCHEDULER
from mooring.kube.objects import Object
from mooring.runtime.settings import Configuration
from mooring.testing.builders import pod
from mooring.testing.hosts import byo_host
from mooring.testing.machines import machine_deployment, machine_template
from mooring.testing.workloads import budget
from tests.features.chance import Deed, busy_hours
from tests.features.machines.world import CONTROLLERS, PoolWorld, workers

CALM = Configuration(settings={"host-heartbeat-timeout": "2m", "simulated-host-heartbeat": "30s"})
STRATEGIES: tuple[Object, ...] = (
    {"type": "OnDelete"},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%", "maxUnavailable": "50%"}},
    {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 2, "maxUnavailable": 2}},
)


class Users:
    def __init__(self, world: PoolWorld) -> None:
        self.world = world
        self.made = 0

    def some(self, kind: str, dice: Random) -> str:
        names = sorted(self.world.all(kind))
        return dice.choice(names) if names else "nobody"

    def scale(self, dice: Random) -> None:
        self.world.change(replicas=dice.randint(0, 5))

    def upgrade(self, dice: Random) -> None:
        self.world.upgrade(dice.choice(("v1.34.1", "v1.35.0", "v1.36.0")))

    def change_strategy(self, dice: Random) -> None:
        rollout: dict[str, Any] = {"strategy": None}
        self.world.change(rollout=rollout)
        self.world.change(rollout={"strategy": dice.choice(STRATEGIES)})

    def relabel(self, dice: Random) -> None:
        labels = {"tier": dice.choice(("a", "b", None))}
        template: Object = {"metadata": {"labels": labels}}
        template["spec"] = {"minReadySeconds": dice.choice((0, 20)), "deletion": {"nodeDrainTimeoutSeconds": 30}}
        self.world.change(template=template, deletion={"order": dice.choice(("Newest", "Oldest", "Random"))})

    def pause(self, dice: Random) -> None:
        self.world.change(paused=dice.random() < 0.4)

    def taint(self, dice: Random) -> None:
        taint = {"key": "gpu", "value": dice.choice("ab"), "effect": "NoSchedule", "propagation": "Always"}
        self.world.change(template={"spec": {"taints": dice.choice(([taint], []))}})

    def delete_machine(self, dice: Random) -> None:
        self.world.delete("Machine", self.some("Machine", dice))

    def mark(self, dice: Random) -> None:
        self.world.annotate("Machine", self.some("Machine", dice), {"cluster.x-k8s.io/delete-machine": "now"})

    def lose_host(self, dice: Random) -> None:
        self.world.annotate("ByoHost", self.some("ByoHost", dice), {"mooring.dev/lost": dice.choice(("yes", None))})

    def add_host(self, dice: Random) -> None:
        self.made += 1
        self.world.put(byo_host(f"new{self.made}", labels={"purpose": dice.choice(("worker", "gpu"))}))

    def remove_host(self, dice: Random) -> None:
        self.world.delete("ByoHost", self.some("ByoHost", dice))

    def delete_node(self, dice: Random) -> None:
        self.world.delete("Node", self.some("Node", dice))

    def run_pods(self, dice: Random) -> None:
        self.made += 1
        self.world.put(pod(f"p{self.made}", labels={"app": "web"}, node=self.some("Node", dice)))

    def delete_set(self, dice: Random) -> None:
        self.world.delete("MachineSet", self.some("MachineSet", dice))


@pytest.mark.parametrize("seed", range(4))
def test_busy_users_of_a_pool_get_what_was_recorded(seed: int) -> None:
    dice = Random(f"machines/{seed}")
    template = machine_template("worker-template", labels={"purpose": "worker"})
    pool = machine_deployment(replicas=dice.randint(1, 4), template=template, surge=1, unavailable=0)
    world = PoolWorld(
        pool,
        *([budget("web", "web", minAvailable=1)] if dice.random() < 0.5 else []),
        hosts=workers("a", "b", "c", "d", "e"),
        controllers=(*CONTROLLERS, SCHEDULER),
        configuration=CALM,
        seed=seed,
    )
    world.wait(20)
    users = Users(world)
    deeds: dict[Deed, int] = {
        users.scale: 4, users.upgrade: 4, users.change_strategy: 3, users.relabel: 2, users.pause: 1, users.taint: 1,
        users.delete_machine: 2, users.mark: 1, users.lose_host: 2, users.add_host: 1, users.remove_host: 1,
        users.delete_node: 1, users.run_pods: 2, users.delete_set: 1,
    }  # fmt: skip
    busy_hours(dice, deeds, world.wait)
    world.wait(300)
    assert (
        world.status()["observedGeneration"] == world.get("MachineDeployment", "worker-pool")["metadata"]["generation"]
    )
