"""Clusters, pools and Machines that are drawn, and what the API says of each."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.testing.hosts import machine_cluster
from mooring.testing.machines import machine, machine_deployment, machine_set, machine_template
from mooring.testing.scaled_pools import scaled_pool
from tests.features.drawn import World
from tests.support.golden import same_as_recorded

TAINT = {"key": "gpu", "value": "h200", "effect": "NoSchedule", "propagation": "Always"}


def whole_objects() -> dict[str, Object]:
    deletion: dict[str, Any] = {"nodeDrainTimeoutSeconds": 60, "nodeDeletionTimeoutSeconds": 10}
    template = machine_template("worker-template", taints=[TAINT], deletion=deletion, minReadySeconds=5)
    naming = {"template": "m-{{ .random }}"}
    return {
        "cluster": machine_cluster("c"),
        "pool": machine_deployment("pool", None),
        "rolling": machine_deployment(
            "rolling", 3, template=template, surge="30%", unavailable=1, machineNaming=naming, paused=True
        ),
        "scaled": scaled_pool("scaled", least=1, most=4),
        "set": machine_set("set", 2, template=template, machineNaming=naming),
        "machine": machine("machine", taints=[TAINT], deletion=deletion, minReadySeconds=5),
    }


def test_every_drawn_object_is_answered_as_recorded() -> None:
    same_as_recorded("machines", World().every_answer(whole_objects()))
