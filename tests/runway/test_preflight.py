"""What is missing on GPU nodes is told with the nodes and the command."""

from __future__ import annotations

import msgspec

from mooring.api.core.types import Node
from mooring.kube.objects import Object
from mooring.manifests.views import convert
from mooring.runway.preflight import preflight, selector_warnings
from mooring.testing.builders import node
from tests.runway.clusters import H100, gpu_node

DISCOVERED = {key: value for key, value in H100.items() if key != "nvidia.com/gpu.present"}


def views(*nodes: Object) -> list[Node]:
    return [convert(each, Node) for each in nodes]


def test_nothing_is_said_of_nodes_that_have_everything() -> None:
    found = preflight(views(gpu_node("h-1"), node("cpu")))
    assert (found.labelled, found.with_gpus, found.discovered, found.warnings) == (("h-1",), ("h-1",), ("h-1",), ())


def test_gpus_without_the_label_are_warned_about_with_the_command() -> None:
    found = preflight(views(node("b", gpu=8, labels=DISCOVERED), node("a", gpu=8, labels=DISCOVERED), gpu_node("c")))
    (warning,) = found.warnings
    assert warning.nodes == ("a", "b")
    assert warning.message.startswith("there are nodes a and b with GPUs without the label nvidia.com/gpu.present=true")
    assert warning.command == "kubectl label node a b nvidia.com/gpu.present=true"


def test_many_nodes_are_counted_in_the_sentence_and_all_in_the_command() -> None:
    found = preflight(views(*(node(f"gpu-node-{i:02}", gpu=8, labels=DISCOVERED) for i in range(40))))
    assert " more with GPUs" in found.warnings[0].message
    assert "gpu-node-39" in found.warnings[0].command


def test_a_label_without_gpus_says_that_the_device_plugin_is_missing() -> None:
    (warning,) = preflight(views(node("a", labels=H100))).warnings
    assert warning.message.startswith(
        "there is node a with the label nvidia.com/gpu.present=true and no nvidia.com/gpu"
    )


def test_gpus_that_nobody_has_discovered_are_told() -> None:
    (warning,) = preflight(views(node("a", gpu=8, labels={"nvidia.com/gpu.present": "true"}))).warnings
    assert "whose product and memory no label tells" in warning.message


def test_a_selector_that_finds_no_gpu_is_warned_about() -> None:
    nodes = views(gpu_node("h-1"), node("cpu", labels={"pool": "mine"}))
    assert selector_warnings(nodes, {"nvidia.com/gpu.present": "true"}) == ()
    (nothing,) = selector_warnings(nodes, {"pool": "yours"})
    assert nothing.message == "no node has the labels pool=yours that the deployment selects its nodes by"
    (no_gpu,) = selector_warnings(nodes, {"pool": "mine"})
    assert no_gpu.message == "there is node cpu selected by pool=mine, without a GPU that a pod could get"


def test_it_is_written_with_its_names() -> None:
    assert msgspec.to_builtins(preflight(views(gpu_node("h-1"))))["withGPUs"] == ("h-1",)
