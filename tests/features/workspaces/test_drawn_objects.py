"""Workspaces that are drawn, and what the API says of each, with and without nodes being provisioned."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from mooring.testing.workspaces import A100, gpu_node, workspace
from tests.features.drawn import World
from tests.features.workspaces.town import PROVISIONING
from tests.support.golden import same_as_recorded

CONFIG = {"inference_config.yaml": "vllm:\n  max-model-len: 8192\n  gpu-memory-utilization: 0.9\n"}
BIG = {"apps": "big"}


def objects() -> list[Object]:
    metadata = {"name": "settings", "namespace": "default"}
    nodes = [
        gpu_node("n1", instance_type=A100),
        gpu_node("n2"),
        gpu_node("n3", unschedulable=True),
        gpu_node("n4", gpu=4, product="NVIDIA-H200", memory_mib=143771, labels=BIG),
    ]
    for number, each in enumerate(nodes):
        each["status"]["conditions"] = [{"type": "Ready", "status": "False" if number == 2 else "True"}]
    return [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": CONFIG}, *nodes]


def whole_objects(instance_type: str) -> dict[str, Object]:
    options = {"preset": {"name": "llama-3.3-70b-instruct", "presetOptions": {"modelAccessSecret": "hub"}}}
    served = {"config": "settings"}
    return {
        "template": workspace("template", gpu=1, count=2, instance_type=instance_type),
        "preset": workspace("preset", preset="phi-4", inference=served, instance_type=instance_type),
        "large": workspace("large", preset="phi-4", labels=BIG, inference=options, instance_type=instance_type),
        "preferred": workspace("preferred", gpu=1, preferredNodes=["n2"], instance_type=instance_type),
    }


@pytest.mark.parametrize("provisions", [False, True], ids=["with nodes", "with a provisioner"])
def test_every_drawn_workspace_is_answered_as_recorded(provisions: bool) -> None:
    world = World(*objects(), configuration=PROVISIONING if provisions else None)
    found = world.every_answer(whole_objects(A100 if provisions else ""))
    same_as_recorded(f"workspaces{'-provisioned' if provisions else ''}", found)
