"""The pods that a Workspace stands for, and the nodes that it chooses, before there is a cluster that runs it."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.core.types import Node
from mooring.catalog import CATALOG
from mooring.features.workspaces.api import REVISION
from mooring.features.workspaces.expansion import expand_workspace, select_nodes
from mooring.kube.objects import Object
from mooring.placement.workloads.expansion import Expansion, WorkloadError
from mooring.placement.workloads.known_cluster import KnownCluster, NodeSelection
from mooring.testing.workspaces import A100, gpu_node, workspace

PROVISIONS = {"node-provisioner": "karpenter"}
NOT_READY = {"conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]}


def lost(node: Object) -> Object:
    return {**node, "status": {**node["status"], **NOT_READY}}


def known(*nodes: Object, others: list[Object] | None = None, **settings: str) -> KnownCluster:
    return KnownCluster(
        nodes=lambda: [msgspec.convert(each, Node) for each in nodes],
        objects=lambda api_version, kind: [each for each in others or () if each["kind"] == kind],
        settings={name.replace("_", "-"): value for name, value in settings.items()},
    )


def expanded(obj: Object, *nodes: Object, **parts: Any) -> Expansion:
    return expand_workspace(obj, "default", known(*nodes, **parts))


def selected(obj: Object, *nodes: Object, **parts: Any) -> NodeSelection:
    return select_nodes(obj, "default", known(*nodes, **parts))


def refusals(expansion: Expansion) -> list[str]:
    return [str(error) for error in expansion.errors]


def test_a_preset_comes_to_as_many_pods_as_it_needs_nodes_and_each_asks_for_all_gpus() -> None:
    made = expanded(workspace(preset="llama-3.3-70b-instruct"), *(gpu_node(f"n{i}", gpu=2) for i in range(3)))
    assert [pod["metadata"]["name"] for pod in made.pods] == ["llm-0", "llm-1"]
    (container,) = made.pods[0]["spec"]["containers"]
    assert container["resources"]["limits"] == {"nvidia.com/gpu": "2"}
    assert (made.kind, made.errors) == ("Workspace", ())


def test_the_nodes_that_match_and_the_ones_that_count_are_told_apart() -> None:
    found = selected(workspace(count=2), gpu_node("a"), lost(gpu_node("b")), gpu_node("c", labels={"apps": "other"}))
    assert (found.required, found.reason, found.labels) == (2, "count is 2", "apps=llm")
    assert (found.matching, found.counted) == (("a", "b"), ("a",))
    assert found.uncounted == (("b", "is not ready (KubeletNotReady)"),)
    assert (found.claims, found.claimed_type) == (0, "")


def test_without_a_node_that_matches_the_sentence_is_that_of_admission_and_there_are_no_pods() -> None:
    made = expanded(workspace(preset="phi-4"), gpu_node("a", labels={"apps": "llms"}))
    assert made.pods == []
    (told,) = refusals(made)
    assert "No nodes found matching the specified label selector" in told
    assert "the nearest label is apps=llms on a" in told


def test_the_pods_of_a_workspace_whose_nodes_are_not_ready_are_told_although_it_is_refused() -> None:
    made = expanded(workspace(preset="phi-4"), lost(gpu_node("a")))
    assert len(made.pods) == 1
    (told,) = refusals(made)
    assert "0 of 1 matching nodes are ready, 1 are required (count is 1): a is not ready (KubeletNotReady)" in told
    pending = expanded(workspace(preset="phi-4"), lost(gpu_node("a")), not_ready_nodes="pending")
    assert (pending.errors, pending.waits) == ((), "0 of 1 required nodes are ready")


def test_a_node_of_which_nothing_is_told_counts_unless_it_has_the_taint_of_a_lost_one() -> None:
    silent, tainted = gpu_node("a"), gpu_node("b", taints=["node.kubernetes.io/unreachable:NoSchedule"])
    assert selected(workspace(), silent, tainted).counted == ("a",)


def test_with_auto_provisioning_the_shortfall_comes_as_new_nodes_of_the_type() -> None:
    brought = gpu_node("a", instance_type=A100)
    obj = workspace(preset="llama-3.3-70b-instruct", instance_type=A100)
    made = expanded(obj, brought, gpu_node("b", instance_type="Standard_NV36ads_A10_v5"), **PROVISIONS)
    assert [node["metadata"]["name"] for node in made.new_nodes] == ["llm-new-1", "llm-new-2"]
    assert {node["metadata"]["labels"]["apps"] for node in made.new_nodes} == {"llm"}
    found = selected(obj, brought, gpu_node("b", instance_type="Standard_NV36ads_A10_v5"), **PROVISIONS)
    assert (found.required, found.counted, found.claims, found.claimed_type) == (3, ("a",), 2, A100)
    assert found.uncounted == (("b", f"is of instance type Standard_NV36ads_A10_v5 and not {A100}"),)


def test_nodes_of_another_workspace_do_not_count() -> None:
    theirs = {"apps": "llm", "kaito.sh/workspace": "other", "kaito.sh/workspacenamespace": "default"}
    found = selected(workspace(instance_type=A100), gpu_node("a", instance_type=A100, labels=theirs), **PROVISIONS)
    assert found.uncounted == (("a", "belongs to Workspace default/other"),)


def test_a_type_that_nobody_knows_brings_no_node_and_leaves_a_preset_without_pods() -> None:
    made = expanded(workspace(preset="phi-4", instance_type="Standard_X1"), **PROVISIONS)
    assert (made.pods, made.new_nodes) == ([], ())
    assert (made.errors, "Standard_X1" in made.waits) == ((), True)


def test_a_configuration_beside_the_workspace_counts_and_a_missing_one_is_told() -> None:
    text = "vllm:\n  max-model-len: 131072\n"
    there = {"kind": "ConfigMap", "metadata": {"name": "long", "namespace": "default"}}
    there["data"] = {"inference_config.yaml": text}
    obj = workspace(preset="llama-3.3-70b-instruct", inference={"config": "long"})
    nodes = [gpu_node(f"n{i}") for i in range(9)]
    assert len(expanded(obj, *nodes, others=[there]).pods) > len(expanded(obj, *nodes).pods)
    (note,) = expanded(obj, *nodes).notes
    assert note.startswith("ConfigMap long is not known here")


def test_how_many_nodes_a_workspace_needs_was_found_when_it_was_created() -> None:
    obj = {**workspace(preset="phi-4"), "status": {"targetNodeCount": 2}}
    assert len(expanded(obj, gpu_node("a")).pods) == 2


@pytest.mark.parametrize(
    ("obj", "path", "fixed"),
    [(workspace(), "inference.template", ("/spec/affinity",)), (workspace(preset="phi-4"), "", ("/",))],
)
def test_what_the_author_of_a_workspace_can_edit_of_its_pods(obj: Object, path: str, fixed: tuple[str, ...]) -> None:
    kind = CATALOG.workloads()["Workspace"]
    assert (kind.template_path(obj, {}), kind.fixed(obj)) == (path, fixed)
    assert expanded(obj, gpu_node("a")).template_path == path


def test_a_selector_that_is_more_than_labels_is_refused_and_selects_nothing() -> None:
    obj = workspace()
    obj["resource"]["labelSelector"] = {"matchExpressions": [{"key": "apps", "operator": "Exists"}]}
    made = expanded(obj, gpu_node("a"))
    assert "apps Exists cannot be used" in refusals(made)[0]
    assert selected(obj, gpu_node("a")).matching == ()


def test_a_workspace_needs_a_name_and_not_too_many_pods() -> None:
    obj = workspace()
    with pytest.raises(WorkloadError, match="needs a name"):
        expanded({**obj, "metadata": {}})
    made = expanded(workspace(count=200_000), gpu_node("a"))
    assert "200000 are required" in refusals(made)[0]
    assert made.pods == []


def test_a_stateful_set_of_a_snapshot_is_taken_as_up_to_date() -> None:
    restored = CATALOG.workloads()["Workspace"].restored
    found = restored({"kind": "StatefulSet", "metadata": {"name": "llm"}})
    assert found["metadata"]["annotations"] == {REVISION: "1"}
    assert restored(found) is found
    service = {"kind": "Service", "metadata": {"name": "llm"}}
    assert restored(service) is service
