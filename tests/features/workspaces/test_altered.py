"""What is decided for Workspaces in a cluster in which something is otherwise than it came to be, as recorded."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mooring.features.workspaces.feature import SIMULATED_CLAIMS, WORKSPACES
from mooring.testing.workspaces import A100, gpu_node, workspace
from tests.features.altered import Change, decided_as_recorded
from tests.features.workspaces.town import WorkspaceTown, types

CONTROLLERS = (*WORKSPACES.controllers.load(), *SIMULATED_CLAIMS.controllers.load())
ALSO = {
    "Workspace": [
        *(Change(("resource", "count"), number) for number in (1, 2, 3, 5)),
        Change(("resource", "instanceType"), "Standard_NC40ads_H100_v5"),
        Change(("resource", "preferredNodes"), ["old0"]),
        Change(("inference", "preset"), {"name": "phi-4"}),
        Change(("inference", "preset"), {"name": "deepseek-r1-0528"}),
        Change(("inference", "preset"), {"name": "nobody-knows"}),
        Change(("inference", "config"), "settings"),
        Change(("inference", "adapters"), [{"source": {"name": "a", "image": "x/a:1"}, "strength": "0.5"}]),
        Change(("metadata", "annotations", "kaito.sh/enablelb"), "True"),
        Change(("metadata", "annotations", "kaito.sh/runtime"), "transformers"),
        Change(("metadata", "annotations", "kaito.sh/bypass-resource-checks"), "true"),
        Change(("metadata", "annotations", "kaito.sh/disable-benchmark"), "true"),
    ],
    "Node": [
        Change(("spec", "unschedulable"), True),
        Change(("metadata", "labels", "nvidia.com/gpu.memory"), "16384"),
        Change(("metadata", "labels", "apps"), "web"),
        Change(("status", "conditions"), [{"type": "Ready", "status": "False"}]),
        Change(("status", "capacity", "nvidia.com/gpu"), "4"),
    ],
    "Pod": [
        Change(("status", "phase"), "Failed"),
        *(
            Change(
                ("status", "containerStatuses"),
                [
                    {
                        "name": "llm",
                        "restartCount": 6,
                        "ready": False,
                        "state": {"waiting": {"reason": why, "message": "m"}},
                    }
                ],
            )
            for why in ("ImagePullBackOff", "CrashLoopBackOff", "ContainerCreating")
        ),
    ],
    "NodeClaim": [
        Change(("status", "conditions"), [{"type": "Launched", "status": "False", "reason": "R", "message": "no"}]),
        Change(("status", "conditions"), [{"type": "Ready", "status": "True"}]),
        Change(("status", "nodeName"), "old0"),
    ],
}


def served() -> WorkspaceTown:
    town = WorkspaceTown(gpu_node("old0"), gpu_node("old1"), workspace(preset="phi-4", count=1))
    town.run(900)
    return town


def of_a_template() -> WorkspaceTown:
    settings = {"inference_config.yaml": "vllm:\n  max-model-len: 4096\n"}
    metadata = {"name": "settings", "namespace": "default"}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": settings}
    town = WorkspaceTown(gpu_node("old0"), gpu_node("old1"), config, workspace(gpu=1, count=2))
    town.run(60)
    town.patch(
        "Workspace", "llm", {"inference": {"template": {"spec": {"containers": [{"name": "llm", "image": "x:2"}]}}}}
    )
    town.run(1)
    return town


def provisioned() -> WorkspaceTown:
    cloud = types(**{A100: "1"})
    town = WorkspaceTown(gpu_node("old0", instance_type=A100), cloud, provisions=True, run=False)
    town.create(workspace(preset="phi-4", count=3, instance_type=A100))
    town.run(30)
    return town


@pytest.mark.parametrize("story", [served, of_a_template, provisioned])
def test_workspaces_are_decided_on_as_recorded_whatever_is_otherwise(story: Callable[[], WorkspaceTown]) -> None:
    decided_as_recorded("workspaces", story, CONTROLLERS, cases=150, also=ALSO)
