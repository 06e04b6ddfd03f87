"""Changes that help only together: as small as any that brute force finds, and never promised in vain."""

from __future__ import annotations

import random
from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.placement.advise import Advice
from mooring.placement.advise.sets import MOST_CHANGES
from mooring.testing import advised, cluster, node, pod
from tests.placement.advise.brute_force import REQUIRED, BruteForce
from tests.placement.advise.test_promises import Case, applied

GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"
HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"


def first(scene: Any, asked: Object) -> Advice:
    return advised(scene, asked)[0]


# Stories


def test_a_misspelt_selector_and_an_untolerated_taint_are_one_answer() -> None:
    scene = cluster(node("gpu-1", gpu=8, labels={"pool": "gpu"}, taints=[GPU_TAINT]), node("cpu-1"))
    advice = first(scene, pod("trainer", gpu=1, nodeSelector={"pool": "gpuu"}))
    assert advice.title == f'Correct nodeSelector pool from "gpuu" to "gpu", and tolerate taint {GPU_TAINT}'
    assert advice.changes == 2
    assert advice.nodes == ("gpu-1",)


def test_two_taints_of_one_node_are_tolerated_together() -> None:
    scene = cluster(node("a", taints=["team=ml:NoSchedule", "spot:NoSchedule"]))
    advice = first(scene, pod("web"))
    assert advice.title == "Tolerate taint spot:NoSchedule, and tolerate taint team=ml:NoSchedule"


def test_three_things_in_the_way_are_named_together() -> None:
    scene = cluster(node("a", cpu="4", labels={"tier": "gold"}, taints=[GPU_TAINT]))
    advice = first(scene, pod("web", cpu="8", nodeSelector={"tier": "glod"}))
    assert [part.title for part in advice.parts] == [
        'Correct nodeSelector tier from "glod" to "gold"',
        f"Tolerate taint {GPU_TAINT}",
        "Lower cpu of container main from 8 to 4",
    ]


def test_a_set_is_not_looked_for_where_one_change_is_enough() -> None:
    scene = cluster(
        node("a", taints=["team=ml:NoSchedule"]), node("b", taints=["team=ml:NoSchedule", "spot:NoSchedule"])
    )
    assert {advice.changes for advice in advised(scene, pod("web"))} == {1}


def test_changes_of_the_workload_come_before_changes_of_nodes() -> None:
    scene = cluster(node("a", labels={"pool": "gpu"}, taints=["team=ml:NoSchedule"]))
    found = advised(scene, pod("web", nodeSelector={"pool": "gpuu"}))
    kinds = [advice.kind for advice in found]
    assert kinds == sorted(kinds)
    assert all(edit.target == "pod" for edit in found[0].edits)


def test_one_patch_holds_every_change_of_the_workload() -> None:
    scene = cluster(node("gpu-1", labels={"pool": "gpu"}, taints=[GPU_TAINT]))
    advice = first(scene, pod("trainer", nodeSelector={"pool": "gpuu"}))
    assert [edit.path for edit in advice.edits] == ["/spec/nodeSelector/pool", "/spec/tolerations/-"]


def test_a_pod_that_four_things_keep_out_gets_no_set() -> None:
    taints = [f"t{i}:NoSchedule" for i in range(MOST_CHANGES + 1)]
    assert advised(cluster(node("a", taints=taints)), pod("web")) == []


# Against brute force


def any_request(seed: int) -> Object:
    """A few nodes and one pod that many things keep out."""
    rng = random.Random(seed)

    def some(words: list[Any], odds: float) -> list[Any]:
        return [word for word in words if rng.random() < odds]

    nodes = [
        node(
            f"n{i}",
            cpu=rng.choice(["2", "4"]),
            gpu=rng.choice([0, 4, 8]),
            pods=rng.choice([1, 110, 110]),
            zone=rng.choice(["east", "west", None]),
            labels=dict(some([("tier", rng.choice(["gold", "silver"])), ("disk", "ssd")], 0.5)),
            taints=some(["team=ml:NoSchedule", "old:NoSchedule", GPU_TAINT], 0.4),
            unschedulable=rng.random() < 0.25,
        )
        for i in range(rng.choice([1, 1, 2, 2, 3]))
    ]
    pods = [
        pod(
            f"p{i}",
            cpu=rng.choice(["500m", "1", "2"]),
            node=rng.choice(nodes)["metadata"]["name"],
            labels={"app": rng.choice(["web", "db"])},
            host_port=rng.choice([None, None, 80]),
            owner=rng.choice([None, "ReplicaSet/x", "DaemonSet/y"]),
        )
        for i in range(rng.randint(0, 3))
    ]
    more: Object = {}
    if rng.random() < 0.6:
        wanted = [("tier", rng.choice(["gold", "glod"])), ("disk", "ssd"), ("dsik", "ssd"), ("pool", "x")]
        more["nodeSelector"] = dict(some(wanted, 0.4))
    if rng.random() < 0.25:
        more["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": rng.choice([ZONE, HOSTNAME]),
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "web"}},
                "nodeTaintsPolicy": rng.choice(["Honor", "Ignore"]),
            }
        ]
    if affinity := _affinity(rng):
        more["affinity"] = affinity
    incoming = pod(
        "incoming",
        cpu=rng.choice(["500m", "2", "8"]),
        gpu=rng.choice([0, 0, 4, 16]),
        labels={"app": "web"},
        host_port=rng.choice([None, None, 80]),
        **more,
    )
    return {"id": seed, "nodes": nodes, "pods": pods, "pod": incoming}


def _affinity(rng: random.Random) -> Object:
    found: Object = {}
    if rng.random() < 0.25:
        term = {
            "labelSelector": {"matchLabels": {"app": rng.choice(["web", "db"])}},
            "topologyKey": rng.choice([ZONE, HOSTNAME]),
        }
        found[rng.choice(["podAffinity", "podAntiAffinity"])] = {REQUIRED: [term]}
    if rng.random() < 0.3:
        tier = {"key": "tier", "operator": "In", "values": ["gold"]}
        disk = {"key": "disk", "operator": "In", "values": ["hdd"]}
        expressions = rng.choice([[tier], [disk], [tier, disk], [{"key": "tier", "operator": "Exists"}]])
        found["nodeAffinity"] = {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}
    return found


def check(seed: int) -> None:
    request = any_request(seed)
    smallest = BruteForce(request).smallest_set()
    if smallest == ():
        return
    found = [advice for advice in Case(request).advise() if not advice.last_resort]
    for advice in found:
        assert advice.kind.name == "PRIORITISE" or Case(applied(request, advice)).lands, f"{seed}: {advice.title}"
    if smallest is not None:
        words = ", ".join(change.words for change in smallest)
        assert found, f"{seed}: nothing is advised, and this would do: {words}"
        assert found[0].changes <= len(smallest), f"{seed}: {found[0].title} is more than {words}"


@pytest.mark.slow
@pytest.mark.parametrize("part", range(8))
def test_no_smaller_set_is_there_than_the_one_advised_on_2000_clusters(part: int) -> None:
    for seed in range(250 * part, 250 * (part + 1)):
        check(seed)
