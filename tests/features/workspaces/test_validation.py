"""Workspaces that are refused at once, where upstream would accept them and wait."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from mooring.api.core.views import Node
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.validation.creation import validate_workspace, workspace_warnings
from mooring.kube.objects import Object
from tests.features.workspaces import objects
from tests.features.workspaces.objects import gpu_node


class Cluster:
    def __init__(self, nodes: Sequence[Object]) -> None:
        self.nodes = tuple(msgspec.convert(each, Node) for each in nodes)

    def config_map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        return None

    def has_csi_driver(self, name: str) -> bool:
        return False


def workspace(**fields: Any) -> Workspace:
    return msgspec.convert(objects.workspace(**fields), Workspace)


def refusals(asked: Workspace, nodes: Sequence[Object], settings: Settings | None = None) -> list[str]:
    return [str(error) for error in validate_workspace(asked, settings or Settings(), Cluster(nodes))]


def test_enough_ready_nodes_are_enough() -> None:
    assert not refusals(workspace(count=2), [gpu_node("n0"), gpu_node("n1"), gpu_node("n2")])


def test_fewer_nodes_than_the_count_are_refused_with_both_numbers() -> None:
    (refusal,) = refusals(workspace(count=3), [gpu_node("n0"), gpu_node("n1")])
    assert "2 nodes match the label selector, 3 are required (count is 3)" in refusal


def test_a_model_that_needs_more_than_the_count_is_refused_with_the_estimate() -> None:
    (refusal,) = refusals(workspace(preset="llama-3.3-70b-instruct"), [gpu_node("n0"), gpu_node("n1")])
    assert "2 nodes match the label selector, 3 are required (count is 1 and the model needs 3)" in refusal


def test_nodes_that_are_not_ready_are_named_with_the_reason() -> None:
    (refusal,) = refusals(workspace(count=2), [gpu_node("n0"), gpu_node("n1", ready=False)])
    assert "1 of 2 matching nodes are ready, 2 are required" in refusal
    assert "n1 is not ready (KubeletNotReady)" in refusal


def test_nodes_that_are_not_ready_can_be_waited_for() -> None:
    patient = Settings(not_ready_pending=True)
    assert not refusals(workspace(count=2), [gpu_node("n0"), gpu_node("n1", ready=False)], patient)


def test_a_selector_without_nodes_names_the_nearest_label() -> None:
    (refusal,) = refusals(workspace(pool="gpu-b"), [gpu_node("n0")])
    assert refusal.endswith("the nearest label is pool=gpu-a on n0; to add nodes: kubectl label node NAME pool=gpu-b")
    assert "No nodes found matching the specified label selector: 0 nodes match, 1 or more are required" in refusal


@pytest.mark.parametrize(
    ("resource", "path"),
    [
        ({"instanceType": "Standard_NC24ads_A100_v4"}, "spec.resource.instanceType"),
        ({"partition": {"mode": "accelerator", "count": 1}}, "resource.partition"),
    ],
)
def test_what_makes_no_sense_on_brought_nodes_is_refused(resource: Object, path: str) -> None:
    (refusal,) = refusals(workspace(**resource), [gpu_node("n0")])
    assert refusal.startswith(f"{path}: ")


def test_preferred_nodes_are_taken_with_a_warning_that_says_what_to_do() -> None:
    asked = workspace(preferredNodes=["n0"])
    assert not refusals(asked, [gpu_node("n0")])
    (warning,) = workspace_warnings(asked, Settings(), Cluster([gpu_node("n0")]))
    assert "give n0 its labels instead" in warning


def test_with_provisioning_nodes_of_another_type_are_named() -> None:
    asked = workspace(instanceType="Standard_NC24ads_A100_v4")
    nodes = [gpu_node("n0", instance_type="Standard_ND96isr_H100_v5")]
    provisioning = Settings("karpenter")
    assert not refusals(asked, nodes, provisioning)
    (warning,) = workspace_warnings(asked, provisioning, Cluster(nodes))
    assert "not of type Standard_NC24ads_A100_v4: n0" in warning


def test_one_node_without_labels_of_its_gpus_refuses_a_preset_and_no_template() -> None:
    bare = gpu_node("n1")
    bare["metadata"]["labels"] = {"pool": "gpu-a"}
    nodes = [gpu_node("n0"), bare]
    (refusal,) = refusals(workspace(), nodes)
    assert "n1" in refusal
    assert "nvidia.com/gpu.product, nvidia.com/gpu.count, nvidia.com/gpu.memory" in refusal
    assert not refusals(workspace(image="serve:1", count=2), nodes)


def test_nodes_whose_gpus_differ_are_named() -> None:
    odd = gpu_node("n1")
    odd["metadata"]["labels"]["nvidia.com/gpu.product"] = "NVIDIA-H100"
    (refusal,) = refusals(workspace(), [gpu_node("n0"), odd])
    assert "Non-uniform GPU product: node n1 has NVIDIA-H100 GPUs" in refusal


def expression(operator: str, *values: str) -> Object:
    return {"matchExpressions": [{"key": "pool", "operator": operator, "values": list(values)}]}


def test_an_expression_of_one_value_selects_as_a_label_does() -> None:
    nodes = [gpu_node("n0"), gpu_node("n1", pool="gpu-b")]
    assert not refusals(workspace(labelSelector=expression("In", "gpu-a")), nodes)
    (refusal,) = refusals(workspace(count=2, labelSelector=expression("In", "gpu-a")), nodes)
    assert "1 nodes match the label selector, 2 are required" in refusal


@pytest.mark.parametrize(
    ("selector", "reason"),
    [
        (expression("In", "gpu-a", "gpu-b"), "pool In cannot be used"),
        (expression("NotIn", "gpu-a"), "pool NotIn cannot be used"),
        (expression("Exists"), "pool Exists cannot be used"),
        ({"matchLabels": {"kaito.sh/workspace": "chat"}}, "at least one non-reserved label"),
    ],
)
def test_what_is_more_than_a_set_of_labels_is_refused_with_the_reason(selector: Object, reason: str) -> None:
    (refusal,) = refusals(workspace(labelSelector=selector), [gpu_node("n0")])
    assert reason in refusal
