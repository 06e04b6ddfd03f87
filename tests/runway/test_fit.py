"""Whether a deployment fits: which nodes match, are ready and have room, where pods land, and what would help."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.kube.objects import Object
from mooring.runway.advised_size import advised_size, with_advised_size
from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.fit import Fit, PlacedPod, PodCounts, deployment_fit
from mooring.runway.models.sizing import Recommended
from mooring.runway.providers.registry import read_deployment
from mooring.runway.settings import DEFAULT_SETTINGS, runway_settings
from mooring.testing.builders import node, pod
from tests.runway.clusters import gpu_node, not_ready, snapshot


def config(**fields: Any) -> DeploymentConfig:
    return read_deployment({"name": "phi", "modelId": "phi-4", **fields}, embedded=True).config


def fit(*objects: Object, **fields: Any) -> Fit:
    return deployment_fit(config(**fields), DEFAULT_SETTINGS, snapshot(*objects))


def test_a_model_lands_where_a_gpu_is_free() -> None:
    found = fit(gpu_node("h-1"), gpu_node("h-2"), node("cpu"), pod("busy", gpu=8, node="h-1"))
    assert (found.verdict, found.message) == ("lands", "would be scheduled: phi-0 on h-2")
    assert (found.matching, found.ready, found.fits) == (2, 2, 1)
    assert found.pods == PodCounts(1, 1)
    assert found.placements == (PlacedPod("phi-0", "h-2", 1),)
    assert found.warnings == ()


def test_every_node_has_its_reason() -> None:
    found = fit(gpu_node("h-1"), gpu_node("h-2"), not_ready(gpu_node("h-3")), node("cpu"), pod("p", gpu=8, node="h-1"))
    reasons = {each.name: each.reason for each in found.nodes}
    assert reasons["h-1"] == "needs 1 nvidia.com/gpu, none of 8 free"
    assert reasons["h-2"] == ""
    assert reasons["h-3"] == "is not ready"
    assert "nvidia.com/gpu.present=true: has no such label" in reasons["cpu"]


def test_a_model_that_finds_no_room_is_told_why_and_what_would_help() -> None:
    found = fit(gpu_node("h-1"), pod("busy", gpu=8, node="h-1", owner="ReplicaSet/busy"), provider="kaito")
    assert found.verdict == "cannot"
    assert found.message.startswith("0 of 1 pod can be scheduled; phi-0: 0/1 nodes are available: 1 Insufficient")
    assert found.pods == PodCounts(1, 0)
    assert found.advice
    assert any(each.disruptive for each in found.advice)


def test_advice_about_a_node_comes_with_its_write() -> None:
    found = fit(gpu_node("h-1"), provider="kaito", labelSelector={"pool": "mine"})
    (label,) = [each for each in found.advice if each.command == "kubectl label node h-1 pool=mine"]
    (write,) = label.writes
    assert (write.verb, write.kind, write.name) == ("patch", "Node", "h-1")
    absent = {"op": "test", "path": "/metadata/labels/pool", "value": None}
    assert write.body == (absent, {"op": "add", "path": "/metadata/labels/pool", "value": "mine"})
    assert found.warnings == ("no node has the labels pool=mine that the deployment selects its nodes by",)


def _corrections(found: Fit) -> list[tuple[str, int]]:
    return [(each.text, each.brings) for each in found.advice if each.text.startswith("Correct label")]


@pytest.mark.parametrize("provider", ["mooring", "kaito"])
def test_a_misspelt_label_is_put_right(provider: str) -> None:
    nodes = [gpu_node("h-1", gpu="h100-sxm"), gpu_node("h-2", gpu="h100-sxm"), gpu_node("o-1", gpu="l4")]
    found = fit(*nodes, provider=provider, replicas=2, labelSelector={"gpu": "h100-smx"})
    assert _corrections(found) == [("Correct label gpu: h100-sxm instead of h100-smx", 2)]
    (right,) = [each for each in found.advice if each.nodes == ("h-1", "h-2")]
    assert [(each.path, each.before, each.after) for each in right.edits] == [
        ("/spec/nodeSelector/gpu", "h100-smx", "h100-sxm")
    ]


@pytest.mark.parametrize("provider", ["mooring", "kaito"])
def test_a_misspelt_label_is_put_right_where_a_taint_is_in_the_way_too(provider: str) -> None:
    tainted = gpu_node("h-1", gpu="h100-sxm")
    tainted["spec"] = {**tainted.get("spec", {}), "taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}
    found = fit(tainted, gpu_node("o-1", gpu="l4"), provider=provider, labelSelector={"gpu": "h100-smx"})
    text = "Correct label gpu: h100-sxm instead of h100-smx"
    taint = "taint team=a:NoSchedule is not tolerated"
    assert _corrections(found) == [(f"{text}. Still in the way on h-1: {taint}", 0)]


def test_a_misspelt_key_is_put_right() -> None:
    found = fit(
        gpu_node("h-1", **{"example.com/accelerator": "h100"}), labelSelector={"example.com/accelerater": "h100"}
    )
    text = "Correct label example.com/accelerater=h100: example.com/accelerator=h100"
    assert _corrections(found) == [(text, 1)]


def test_a_label_that_is_like_none_is_not_guessed_at() -> None:
    assert _corrections(fit(gpu_node("h-1", gpu="h100"), labelSelector={"gpu": "tpu-v5"})) == []


def test_what_our_own_webhook_would_refuse_is_told_in_its_words() -> None:
    found = fit(gpu_node("h-1"), labelSelector={"pool": "mine"})
    assert found.verdict == "cannot"
    assert found.message.startswith("it would be refused: resource.count: Invalid value: 0 nodes match")


def test_replicas_that_would_be_refused_are_told_once() -> None:
    found = fit(gpu_node("h-1"), gpu_node("h-2"), replicas=3, resources={"gpu": 8})
    assert (found.verdict, found.pods) == ("cannot", PodCounts(3, 0))
    assert found.message.startswith("it would be refused: resource.count: Invalid value: 2 nodes match")


def test_replicas_that_fit_in_part_are_counted() -> None:
    busy = pod("busy", gpu=4, node="h-2")
    found = fit(gpu_node("h-1"), gpu_node("h-2"), busy, provider="kaito", replicas=3, resources={"gpu": 4})
    assert (found.verdict, found.pods) == ("lands", PodCounts(3, 3))
    found = fit(gpu_node("h-1"), gpu_node("h-2"), busy, provider="kaito", replicas=4, resources={"gpu": 4})
    assert (found.verdict, found.pods) == ("cannot", PodCounts(4, 3))


def test_groups_of_pods_land_on_nodes_of_their_own() -> None:
    fields: Any = {"modelId": "deepseek-r1-0528", "nodes": 2, "resources": {"gpu": 8}}
    found = fit(gpu_node("h-1"), gpu_node("h-2"), **fields)
    assert found.verdict == "lands"
    assert sorted((each.pod, each.gpus) for each in found.placements) == [("phi-0", 8), ("phi-0-1", 8)]
    assert {each.node for each in found.placements} == {"h-1", "h-2"}
    assert fit(gpu_node("h-1"), **fields).verdict == "cannot"


def test_a_model_on_cpus_needs_no_gpu() -> None:
    found = fit(node("cpu", labels={"kubernetes.io/os": "linux"}), modelId="llama3.2:1b")
    assert found.verdict == "lands"
    assert found.placements == (PlacedPod("phi-0", "cpu", 0),)


def test_a_preset_that_no_node_can_size_says_so() -> None:
    found = fit(node("cpu"), modelSource="preset")
    assert found.verdict == "cannot"
    assert found.pods == PodCounts(1, 0)
    assert "0 nodes match, 1 or more are required" in found.message


def test_gpus_that_are_too_small_for_the_model_are_warned_about() -> None:
    found = fit(gpu_node("h-1"), gpu_node("h-2"), modelId="llama-3.3-70b-instruct", resources={"gpu": 1})
    assert found.warnings == (
        "meta-llama/Llama-3.3-70B-Instruct does not fit into 1 GPU of 80 GiB: ask for more with resources.gpu, "
        "or for several nodes",
    )


def test_with_an_old_kaito_linux_nodes_match() -> None:
    old = deployment_fit(
        config(provider="kaito"),
        runway_settings("0.6.0"),
        snapshot(node("n", gpu=1, labels={"kubernetes.io/os": "linux"})),
    )
    assert (old.verdict, old.matching) == ("lands", 1)


def test_an_empty_cluster_has_no_place() -> None:
    found = fit(provider="kaito")
    assert (found.verdict, found.matching, found.nodes) == ("cannot", 0, ())


def test_the_size_that_is_advised_is_the_smallest_on_the_nodes_there_are() -> None:
    nodes = [each for each in snapshot(gpu_node("h-1"), gpu_node("h-2")).cluster.nodes if each is not None]
    selector = {"nvidia.com/gpu.present": "true"}
    assert advised_size("llama-3.3-70b-instruct", nodes, selector) == Recommended(4)
    assert advised_size("deepseek-r1-0528", nodes, selector) == Recommended(8, 2)
    assert advised_size("org/unknown", nodes, selector) is None
    assert advised_size("phi-4", nodes, {"pool": "none"}) is None


def test_a_deployment_takes_the_advised_size_unless_it_says_its_own() -> None:
    assert with_advised_size(config(), Recommended(4, 2)).nodes == 2
    assert with_advised_size(config(), Recommended(4, 2)).gpus == 4
    told = config(resources={"gpu": 1})
    assert with_advised_size(told, Recommended(4, 2)) == told
    assert with_advised_size(config(), None) == config()
    premade = config(modelId="llama3.2:1b")
    assert with_advised_size(premade, Recommended(1)) == premade


def test_it_is_written_with_the_names_of_the_rest_api() -> None:
    written = msgspec.to_builtins(fit(gpu_node("h-1"), provider="kaito", labelSelector={"pool": "mine"}))
    assert {"matching", "ready", "fits", "nodes", "pods", "placements", "advice", "verdict", "message"} < written.keys()
    assert written["nodes"][0].keys() == {"name", "matches", "ready", "fits", "reason"}
    assert {"text", "brings", "disruptive"} <= written["advice"][0].keys()
