"""Scores against their formulas in whole numbers, at every place where a score steps up."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.placement.requests import explain_request

MI = 2**20


def scores(nodes: list[Object], pod: Object) -> dict[str, dict[str, int]]:
    answer = explain_request({"nodes": nodes, "pod": pod})
    return {
        node["name"]: {plugin: score["weighted"] for plugin, score in node["scores"].items()}
        for node in answer["nodes"]
    }


def node(name: str, cpu: str = "4", memory: str = "8Gi", **status: Any) -> Object:
    allocatable = {"cpu": cpu, "memory": memory, "pods": "110"}
    return {"metadata": {"name": name}, "status": {"allocatable": allocatable, **status}}


def pod(*requests: Object, **spec: Any) -> Object:
    containers = [
        {"name": f"c{number}", "image": f"image:{number}", "resources": {"requests": each}}
        for number, each in enumerate(requests)
    ]
    return {"metadata": {"name": "p", "namespace": "default"}, "spec": {"containers": containers, **spec}}


@pytest.mark.parametrize("containers", [1, 2])
def test_an_image_counts_from_23_mebibytes_up_to_1000_for_each_container(containers: int) -> None:
    least, most = 23 * MI, containers * 1000 * MI
    wanted = pod(*[{}] * containers)
    for score in range(101):
        # The least size that earns the score.
        size = least + -(-score * (most - least) // 100)
        sizes = {"at": size, "below": size - 1, "above": size + 1}
        for where, bytes_there in sizes.items():
            images = [{"names": ["image:0"], "sizeBytes": bytes_there}]
            expected = score if where != "below" else max(score - 1, 0)
            found = scores([node("a", images=images)], wanted)["a"]["ImageLocality"]
            assert found == min(expected, 100), f"{bytes_there} bytes, {where} the step to {score}"


def test_an_image_that_few_nodes_have_counts_by_their_share() -> None:
    nodes = [node(name) for name in "abcd"]
    nodes[0] = node("a", images=[{"names": ["image:0", "image:0"], "sizeBytes": 1200 * MI}])
    nodes[1] = node("b", images=[{"names": ["image:0"], "sizeBytes": 1200 * MI}])
    shared = 1200 * MI * 2 // 4
    expected = 100 * (shared - 23 * MI) // (977 * MI)
    found = {name: of["ImageLocality"] for name, of in scores(nodes, pod({})).items()}
    assert found == {"a": expected, "b": expected, "c": 0, "d": 0}


@pytest.mark.parametrize("cpu", [1, 99, 100, 101, 1000, 1999, 2500, 3999, 4000])
@pytest.mark.parametrize("memory", [1, 209715200, 4 * 2**30, 8 * 2**30 - 1, 8 * 2**30])
def test_free_and_even_nodes_score_by_the_formula(cpu: int, memory: int) -> None:
    wanted = pod({"cpu": f"{cpu}m", "memory": str(memory)})
    has_cpu, has_memory = 4000, 8 * 2**30
    found = scores([node("a")], wanted)["a"]
    free = ((has_cpu - cpu) * 100 // has_cpu + (has_memory - memory) * 100 // has_memory) // 2
    assert found["NodeResourcesFit"] == free
    uneven = abs(cpu / has_cpu - memory / has_memory) / 2
    assert found["NodeResourcesBalancedAllocation"] == int((1 - uneven) * 100.0)


def test_what_a_container_does_not_ask_for_counts_for_the_score_and_not_for_the_room() -> None:
    nothing = scores([node("a")], pod({}, {}))["a"]
    asked = scores([node("a")], pod({"cpu": "200m", "memory": str(400 * MI)}))["a"]
    assert nothing["NodeResourcesFit"] == asked["NodeResourcesFit"]
    assert "NodeResourcesBalancedAllocation" not in nothing
    zero = scores([node("a")], pod({"cpu": "0", "memory": "0"}))["a"]
    assert zero["NodeResourcesFit"] == 100
