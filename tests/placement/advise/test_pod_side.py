"""Advice that changes the pod: tolerations, requests, ports, gates, preferences."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from mooring.placement.advise import AdviceKind
from mooring.testing import advised, cluster, node, pod
from tests.placement.advise.pod_side import PREFERRED, of, requiring, titles

GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"


def test_a_pod_that_has_a_place_needs_no_advice() -> None:
    assert advised(cluster(node("a")), pod("web")) == []


def test_a_cluster_without_nodes_leaves_nothing_to_advise() -> None:
    assert advised(cluster(), pod("web")) == []


# Tolerations


def test_the_one_taint_that_is_left_can_be_tolerated() -> None:
    scene = cluster(node("gpu-1", gpu=8, taints=[GPU_TAINT]), node("gpu-2", gpu=8, taints=[GPU_TAINT]), node("cpu-1"))
    (advice,) = of(AdviceKind.TOLERATE, scene, pod("trainer", gpu=1))
    assert advice.title == f"Tolerate taint {GPU_TAINT}"
    assert advice.nodes == ("gpu-1", "gpu-2")
    assert advice.edits[0].after == {
        "key": "nvidia.com/gpu",
        "operator": "Equal",
        "value": "present",
        "effect": "NoSchedule",
    }


def test_a_taint_without_a_value_is_tolerated_by_existing() -> None:
    (advice,) = of(AdviceKind.TOLERATE, cluster(node("a", taints=["dedicated:NoExecute"])), pod("web"))
    assert advice.edits[0].after == {"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}


def test_two_taints_of_one_key_need_one_toleration() -> None:
    scene = cluster(node("a", taints=["dedicated=ml:NoSchedule", "dedicated=ml:NoExecute"]))
    (advice,) = of(AdviceKind.TOLERATE, scene, pod("web"))
    assert advice.edits[0].after == {"key": "dedicated", "operator": "Equal", "value": "ml"}


def test_two_taints_of_two_keys_are_not_one_edit_away() -> None:
    assert not of(AdviceKind.TOLERATE, cluster(node("a", taints=["x=1:NoSchedule", "y=2:NoSchedule"])), pod("web"))


def test_a_taint_on_a_full_node_is_not_all_that_is_left() -> None:
    scene = cluster(node("a", cpu="1", taints=["x=1:NoSchedule"]), node("b", cpu="1"))
    assert not of(AdviceKind.TOLERATE, scene, pod("web", cpu="2"))


def test_a_node_that_is_not_ready_is_not_tolerated_while_anything_else_helps() -> None:
    unwell = node("a", taints=["node.kubernetes.io/not-ready:NoSchedule"])
    found = advised(cluster(unwell), pod("web"))
    assert [advice.kind for advice in found] == [AdviceKind.BRING_BACK, AdviceKind.ADD_NODE]
    assert found[0].title == "Bring node a back: it is not ready"
    assert found[0].command is None


def test_a_node_that_is_not_ready_is_to_come_back_rather_than_tolerated() -> None:
    unwell = node("a", taints=["node.kubernetes.io/not-ready:NoSchedule"])
    bound = pod("web", affinity=requiring(fields=[{"key": "metadata.name", "operator": "In", "values": ["a"]}]))
    found = advised(cluster(unwell), bound)
    assert {advice.kind for advice in found} == {AdviceKind.BRING_BACK}


def test_a_toleration_with_a_misspelt_value_is_corrected() -> None:
    asked = pod("trainer", gpu=1)
    asked["spec"]["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Equal", "value": "presnt"}]
    scene = cluster(node("gpu-1", gpu=8, taints=[GPU_TAINT]))
    assert titles(AdviceKind.CORRECT, scene, asked) == ['Correct the value of toleration 0 from "presnt" to "present"']


# Requests


def test_a_request_is_lowered_to_what_the_best_node_has_free() -> None:
    scene = cluster(node("a", cpu="4"), node("b", cpu="8"), pod("other", cpu="1500m", node="b"))
    (advice,) = of(AdviceKind.LOWER, scene, pod("web", cpu="10"))
    assert advice.title == "Lower cpu of container main from 10 to 6500m"
    assert advice.nodes == ("b",)


def test_memory_is_rounded_down_to_what_people_write() -> None:
    (advice,) = of(AdviceKind.LOWER, cluster(node("a", memory="33000123Ki")), pod("web", memory="64Gi"))
    assert advice.edits[0].after == "32226Mi"


def test_the_limit_of_an_extended_resource_is_lowered_with_its_request() -> None:
    scene = cluster(node("a", gpu=8), pod("other", gpu=5, node="a"))
    (advice,) = of(AdviceKind.LOWER, scene, pod("trainer", gpu=4))
    assert [(edit.path, edit.after) for edit in advice.edits] == [
        ("/spec/containers/0/resources/requests/nvidia.com~1gpu", "2"),
        ("/spec/containers/0/resources/limits/nvidia.com~1gpu", "2"),
    ]


def test_a_part_of_a_gpu_that_no_node_has_is_asked_for_as_the_next_larger_one() -> None:
    asked = pod("trainer")
    amounts = {"nvidia.com/mig-1g.5gb": "1"}
    asked["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": dict(amounts)}
    made = node("a")
    made["status"]["allocatable"] |= {"nvidia.com/mig-3g.40gb": "2", "nvidia.com/mig-1g.10gb": "7"}
    assert titles(AdviceKind.WIDEN, cluster(made), asked) == [
        "Ask for nvidia.com/mig-1g.10gb, which nodes have, instead of nvidia.com/mig-1g.5gb"
    ]


def test_gpus_are_halved_until_they_fit() -> None:
    scene = cluster(node("a", gpu=7))
    assert titles(AdviceKind.LOWER, scene, pod("trainer", gpu=8)) == [
        "Lower nvidia.com/gpu of container main from 8 to 4"
    ]


def test_of_several_containers_the_one_with_the_largest_request_is_lowered() -> None:
    asked = pod("web", cpu="2")
    asked["spec"]["containers"].append({"name": "big", "resources": {"requests": {"cpu": "7"}}})
    assert titles(AdviceKind.LOWER, cluster(node("a", cpu="8")), asked) == ["Lower cpu of container big from 7 to 6"]


def test_two_requests_that_are_too_large_are_not_one_edit_away() -> None:
    assert not of(AdviceKind.LOWER, cluster(node("a", cpu="1", memory="1Gi")), pod("web", cpu="2", memory="2Gi"))


def test_a_device_that_nobody_has_is_corrected_and_dropped_only_where_it_cannot_be() -> None:
    asked = pod("trainer")
    amounts = {"nvidia.com/gpus": "1"}
    asked["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": dict(amounts)}
    scene = cluster(node("a", gpu=8))
    assert titles(AdviceKind.CORRECT, scene, asked) == ['Correct resource "nvidia.com/gpus" to "nvidia.com/gpu"']
    assert titles(AdviceKind.DROP, scene, asked) == []
    assert titles(AdviceKind.DROP, cluster(node("a")), asked) == [
        "Drop the request for nvidia.com/gpus of container main, which then runs without"
    ]


def test_a_resource_that_others_use_up_is_not_given_up() -> None:
    scene = cluster(node("a", gpu=8), node("b"), pod("other", gpu=8, node="a"))
    assert not of(AdviceKind.DROP, scene, pod("trainer", gpu=1))


def test_a_request_of_the_pod_as_a_whole_is_lowered_but_not_below_its_containers() -> None:
    asked = pod("web", cpu="3", resources={"requests": {"cpu": "10"}})
    (advice,) = of(AdviceKind.LOWER, cluster(node("a", cpu="8")), asked)
    assert advice.title == "Lower cpu of the pod from 10 to 8"
    assert not of(AdviceKind.LOWER, cluster(node("a", cpu="2")), asked)


def test_a_full_number_of_pods_has_no_remedy_in_the_pod() -> None:
    scene = cluster(node("a", pods=1), pod("other", node="a"))
    assert {advice.kind for advice in advised(scene, pod("web"))} == {
        AdviceKind.ADD_NODE,
        AdviceKind.PRIORITISE,
        AdviceKind.EVICT,
    }


# Ports


def test_a_taken_host_port_is_changed_to_the_next_free_one() -> None:
    scene = cluster(node("a"), pod("x", host_port=8080, node="a"), pod("y", host_port=8081, node="a"))
    asked = pod("web", host_port=8080)
    assert titles(AdviceKind.PORT, scene, asked) == ["Change hostPort of container main from 8080 to 8082"]
    assert titles(AdviceKind.DROP, scene, asked) == ["Drop hostPort 8080 of container main"]


def test_on_the_host_network_the_container_port_changes_with_the_host_port() -> None:
    scene = cluster(node("a"), pod("x", host_port=8080, node="a"))
    asked = pod("web", host_port=8080, hostNetwork=True)
    (advice,) = of(AdviceKind.PORT, scene, asked)
    assert [edit.path for edit in advice.edits] == [
        "/spec/containers/0/ports/0/hostPort",
        "/spec/containers/0/ports/0/containerPort",
    ]
    assert not of(AdviceKind.DROP, scene, asked)


# Before and after the filters


def test_a_gate_is_all_that_holds_back_a_pod_that_would_land() -> None:
    asked = pod("web", schedulingGates=[{"name": "example.com/wait"}])
    (advice,) = advised(cluster(node("a")), asked)
    assert advice.kind is AdviceKind.UNGATE
    assert advice.title.startswith(
        "Remove scheduling gate example.com/wait, where the controller that added it does not"
    )
    assert advice.edits[0].path == "/spec/schedulingGates"


def test_a_gated_pod_that_would_not_land_is_told_what_would_let_it() -> None:
    asked = pod("web", schedulingGates=[{"name": "example.com/wait"}])
    found = advised(cluster(node("a", taints=["x=1:NoSchedule"])), asked)
    assert [advice.kind for advice in found] == [AdviceKind.TOLERATE, AdviceKind.UNTAINT]


def preferring(bound: str) -> Object:
    expression = {"key": "cores", "operator": "Gt", "values": [bound]}
    return {"nodeAffinity": {PREFERRED: [{"weight": 1, "preference": {"matchExpressions": [expression]}}]}}


def test_a_preference_that_is_not_a_number_is_corrected_or_dropped() -> None:
    found = advised(cluster(node("a"), node("b")), pod("web", affinity=preferring("16 cores")))
    assert [advice.title for advice in found] == [
        'Correct preferred node affinity term 0, cores Gt "16 cores" to a whole number: "16"',
        "Drop preferred node affinity term 0, which cannot be read",
    ]


def test_a_preference_that_is_not_a_number_does_not_matter_on_the_only_node() -> None:
    assert advised(cluster(node("a")), pod("web", affinity=preferring("many"))) == []


@pytest.mark.parametrize(
    "key",
    [
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/pid-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.kubernetes.io/out-of-service",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
    ],
)
def test_a_condition_of_a_node_is_neither_tolerated_nor_had_by_a_new_one(key: str) -> None:
    """It tells that the node cannot take pods, so one more node without it is the way out."""
    found = advised(cluster(node("a", taints=[f"{key}:NoSchedule"])), pod("web"))
    kinds = {advice.kind for advice in found}
    assert AdviceKind.TOLERATE not in kinds
    assert AdviceKind.ADD_NODE in kinds


def test_containers_that_ask_for_far_too_many_devices_together_are_not_lowered_for_ever() -> None:
    asking = pod("trainer", gpu=8)
    second = {"requests": {"nvidia.com/gpu": "8"}, "limits": {"nvidia.com/gpu": "8"}}
    asking["spec"]["containers"].append({"name": "second", "image": "registry.example.com/app:1", "resources": second})
    found = advised(cluster(node("gpu-1", gpu=4)), asking)
    assert not [advice.title for advice in found if advice.title.startswith("Lower")]
