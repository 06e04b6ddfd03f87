"""What the controllers of pools decide in a cluster in which something is otherwise than it came to be, as recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mooring.kube.objects import Object
from mooring.testing.builders import pod
from mooring.testing.machines import machine_deployment, machine_set, machine_template
from mooring.testing.workloads import budget
from tests.features.altered import Change, decided_as_recorded
from tests.features.machines.world import OWN, PoolWorld, workers

C = "cluster.x-k8s.io"
PAUSED = [Change(("metadata", "annotations", f"{C}/paused"), ""), Change(("spec", "paused"), True)]
DUE = "2026-01-01T00:01:00Z"
ROLLOUTS: list[Object] = [
    {"strategy": {"type": "OnDelete"}},
    {"after": DUE, "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}},
    {"strategy": {"rollingUpdate": {"maxSurge": "50%", "maxUnavailable": "50%"}}},
]
ALSO = {
    "Cluster": PAUSED,
    "MachineDeployment": [
        *PAUSED,
        *(Change(("spec", "rollout"), each) for each in ROLLOUTS),
        *(Change(("spec", "deletion"), {"order": order}) for order in ("Newest", "Oldest", "Random")),
        Change(("spec", "machineNaming"), {"template": "{{ .machineSet.name }}-x-{{ .random }}"}),
        Change(("spec", "template", "spec", "taints"), [{"key": "k", "effect": "NoExecute", "propagation": "Always"}]),
    ],
    "MachineSet": [
        *PAUSED,
        *(Change(("spec", "deletion"), {"order": order}) for order in ("Newest", "Oldest", "Random")),
        *(Change(("spec", "replicas"), number) for number in (0, 1, 4)),
        Change(("metadata", "annotations", f"{C}/disable-machine-create"), "true"),
        Change(("spec", "machineNaming"), {"template": "{{ .cluster.name }}-x-{{ .random }}"}),
    ],
    "Machine": [
        *PAUSED,
        Change(("metadata", "annotations", f"{C}/delete-machine"), ""),
        Change(("metadata", "annotations", f"machine.{C}/exclude-node-draining"), ""),
        Change(("metadata", "annotations", f"pre-drain.delete.hook.machine.{C}/x"), "me"),
        Change(("metadata", "annotations", f"pre-terminate.delete.hook.machine.{C}/x"), "me"),
        Change(("spec", "deletion"), {"nodeDrainTimeoutSeconds": 1, "nodeDeletionTimeoutSeconds": 1}),
        Change(
            ("spec", "readinessGates"), [{"conditionType": "Good"}, {"conditionType": "Bad", "polarity": "Negative"}]
        ),
        Change(("spec", "taints"), [{"key": "k", "effect": "NoSchedule", "propagation": "OnInitialization"}]),
    ],
    "Node": [
        Change(("spec", "taints"), [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]),
        Change(("spec", "unschedulable"), True),
    ],
    "Pod": [
        Change(("metadata", "labels", f"{C}/drain"), "skip"),
        Change(("metadata", "labels", f"{C}/drain"), "wait-completed"),
        Change(("status", "phase"), "Succeeded"),
        *(
            Change(("metadata", "ownerReferences"), [{"kind": kind, "name": "o", "uid": "o", "controller": True}])
            for kind in ("DaemonSet", "ReplicaSet", "Node")
        ),
    ],
}


def at_rest() -> PoolWorld:
    world = PoolWorld(machine_deployment(replicas=2), machine_set("alone", 1), hosts=workers("a", "b"))
    world.wait(100)
    return world


def rolling_out() -> PoolWorld:
    template = machine_template("worker-template", labels={"tier": "x"}, minReadySeconds=20)
    template["metadata"]["annotations"] = {"note": "x"}
    pool = machine_deployment(replicas=3, template=template, surge=1, unavailable=1)
    world = PoolWorld(pool, hosts=workers("a", "b", "c", "d"))
    world.wait(100)
    world.upgrade()
    world.wait(12)
    return world


def leaving() -> PoolWorld:
    """Machines that go, and pods that are in their way."""
    world = PoolWorld(machine_deployment(replicas=2), budget("web", "web", minAvailable=4), hosts=workers("a", "b"))
    world.wait(100)
    first, second = world.nodes_of()
    for name, node in (("p", first), ("q", first), ("r", first), ("s", first), ("t", second)):
        world.put(pod(name, labels={"app": "web"}, node=node))
    world.wait(10)
    world.change(replicas=0)
    world.wait(30)
    return world


@pytest.mark.parametrize("story", [at_rest, rolling_out, leaving])
def test_pools_are_decided_on_as_recorded_whatever_is_otherwise(story: Callable[[], PoolWorld]) -> None:
    decided_as_recorded("machines", story, OWN, cases=180, also=ALSO)
