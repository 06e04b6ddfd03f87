"""Stories about changes to the pod itself."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.placement.advise import Advice, Kind
from mooring.testing import Scene, advised, cluster, node, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
GPU_TAINT = "nvidia.com/gpu=present:NoSchedule"


def of(kind: Kind, scene: Scene, asked: Object) -> list[Advice]:
    return [advice for advice in advised(scene, asked) if advice.kind is kind]


def titles(kind: Kind, scene: Scene, asked: Object) -> list[str]:
    return [advice.title for advice in of(kind, scene, asked)]


def requiring(*expressions: Object, fields: list[Object] | None = None) -> Object:
    """Required node affinity of one term."""
    term: Object = {"matchExpressions": list(expressions)}
    if fields:
        term["matchFields"] = fields
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}


def test_a_pod_that_has_a_place_needs_no_advice() -> None:
    assert advised(cluster(node("a")), pod("web")) == []


def test_a_cluster_without_nodes_leaves_nothing_to_advise() -> None:
    assert advised(cluster(), pod("web")) == []


# Tolerations


def test_the_one_taint_that_is_left_can_be_tolerated() -> None:
    scene = cluster(node("gpu-1", gpu=8, taints=[GPU_TAINT]), node("gpu-2", gpu=8, taints=[GPU_TAINT]), node("cpu-1"))
    (advice,) = of(Kind.TOLERATE, scene, pod("trainer", gpu=1))
    assert advice.title == f"Tolerate taint {GPU_TAINT}"
    assert advice.nodes == ("gpu-1", "gpu-2")
    assert advice.edits[0].after == {
        "key": "nvidia.com/gpu",
        "operator": "Equal",
        "value": "present",
        "effect": "NoSchedule",
    }


def test_a_taint_without_a_value_is_tolerated_by_existing() -> None:
    (advice,) = of(Kind.TOLERATE, cluster(node("a", taints=["dedicated:NoExecute"])), pod("web"))
    assert advice.edits[0].after == {"key": "dedicated", "operator": "Exists", "effect": "NoExecute"}


def test_two_taints_of_one_key_need_one_toleration() -> None:
    scene = cluster(node("a", taints=["dedicated=ml:NoSchedule", "dedicated=ml:NoExecute"]))
    (advice,) = of(Kind.TOLERATE, scene, pod("web"))
    assert advice.edits[0].after == {"key": "dedicated", "operator": "Equal", "value": "ml"}


def test_two_taints_of_two_keys_are_not_one_edit_away() -> None:
    assert not of(Kind.TOLERATE, cluster(node("a", taints=["x=1:NoSchedule", "y=2:NoSchedule"])), pod("web"))


def test_a_taint_on_a_full_node_is_not_all_that_is_left() -> None:
    scene = cluster(node("a", cpu="1", taints=["x=1:NoSchedule"]), node("b", cpu="1"))
    assert not of(Kind.TOLERATE, scene, pod("web", cpu="2"))


def test_a_node_that_is_not_ready_is_not_tolerated_while_anything_else_helps() -> None:
    unwell = node("a", taints=["node.kubernetes.io/not-ready:NoSchedule"])
    found = advised(cluster(unwell), pod("web"))
    assert [advice.kind for advice in found] == [Kind.ADD_NODE]


def test_a_node_that_is_not_ready_is_the_last_resort() -> None:
    unwell = node("a", taints=["node.kubernetes.io/not-ready:NoSchedule"])
    bound = pod("web", affinity=requiring(fields=[{"key": "metadata.name", "operator": "In", "values": ["a"]}]))
    found = advised(cluster(unwell), bound)
    assert {advice.kind for advice in found} == {Kind.TOLERATE, Kind.UNTAINT}


# Node selector and node affinity


def test_a_misspelt_selector_value_is_corrected_first_of_all() -> None:
    scene = cluster(node("a", labels={"purpose": "training"}), node("b", labels={"purpose": "inference"}))
    first, *_ = advised(scene, pod("web", nodeSelector={"purpose": "trainign"}))
    assert first.kind is Kind.CORRECT
    assert first.title == 'Correct nodeSelector purpose from "trainign" to "training"'
    assert first.nodes == ("a",)
    assert (first.edits[0].path, first.edits[0].after) == ("/spec/nodeSelector/purpose", "training")


def test_a_value_that_exists_is_not_a_misspelling() -> None:
    scene = cluster(node("a", labels={"pool": "pool-a"}, cpu="1"), node("b", labels={"pool": "pool-b"}))
    asked = pod("web", cpu="2", nodeSelector={"pool": "pool-a"})
    assert not of(Kind.CORRECT, scene, asked)
    assert titles(Kind.WIDEN, scene, asked) == ['Change nodeSelector pool from "pool-a" to "pool-b"']


def test_values_that_differ_in_digits_are_different_values() -> None:
    scene = cluster(node("a", labels={"model": "gen4-large"}))
    assert not of(Kind.CORRECT, scene, pod("web", nodeSelector={"model": "gen5-large"}))


def test_a_misspelt_selector_key_is_corrected() -> None:
    scene = cluster(node("a", labels={"disktype": "ssd"}))
    assert titles(Kind.CORRECT, scene, pod("web", nodeSelector={"disktyp": "ssd"})) == [
        'Correct nodeSelector key "disktyp" to "disktype"'
    ]


def test_a_key_without_its_prefix_is_corrected() -> None:
    scene = cluster(node("a", labels={"nvidia.com/gpu.product": "H100"}))
    (advice,) = of(Kind.CORRECT, scene, pod("web", nodeSelector={"gpu.product": "H100"}))
    assert [edit.path for edit in advice.edits] == [
        "/spec/nodeSelector/gpu.product",
        "/spec/nodeSelector/nvidia.com~1gpu.product",
    ]


def test_a_selector_key_can_be_dropped() -> None:
    scene = cluster(node("a", labels={"x": "1"}))
    assert titles(Kind.DROP, scene, pod("web", nodeSelector={"x": "1", "y": "2"})) == ["Drop nodeSelector y: 2"]


def test_two_wrong_selector_keys_are_not_one_edit_away() -> None:
    assert not of(Kind.DROP, cluster(node("a")), pod("web", nodeSelector={"x": "1", "y": "2"}))


def test_one_condition_of_the_required_affinity_can_be_dropped() -> None:
    asked = pod(
        "web", affinity=requiring({"key": "ssd", "operator": "Exists"}, {"key": "x", "operator": "DoesNotExist"})
    )
    (advice,) = of(Kind.DROP, cluster(node("a")), asked)
    assert advice.title == "Drop ssd Exists from required node affinity term 0"
    assert advice.edits[0].path == f"/spec/affinity/nodeAffinity/{REQUIRED}/nodeSelectorTerms/0/matchExpressions/0"


def test_the_only_condition_goes_with_the_whole_affinity() -> None:
    asked = pod("web", affinity=requiring({"key": "ssd", "operator": "Exists"}))
    assert titles(Kind.DROP, cluster(node("a")), asked) == ["Drop the required node affinity"]


def test_a_list_of_values_can_be_widened() -> None:
    scene = cluster(node("a", zone="eu-1"))
    asked = pod(
        "web",
        affinity=requiring({"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-1", "us-2"]}),
    )
    (advice,) = of(Kind.WIDEN, scene, asked)
    assert advice.edits[0].path.endswith("/matchExpressions/0/values/-")
    assert advice.edits[0].after == "eu-1"


def test_a_misspelt_value_among_several_is_corrected() -> None:
    scene = cluster(node("a", labels={"tier": "gold"}))
    asked = pod("web", affinity=requiring({"key": "tier", "operator": "In", "values": ["glod", "silver"]}))
    (advice,) = of(Kind.CORRECT, scene, asked)
    assert advice.edits[0].path.endswith("/values/0")


def test_a_bound_is_moved_only_as_far_as_needed() -> None:
    scene = cluster(node("a", labels={"cores": "32"}), node("b", labels={"cores": "64"}))
    asked = pod("web", affinity=requiring({"key": "cores", "operator": "Gt", "values": ["100"]}))
    (advice,) = of(Kind.WIDEN, scene, asked)
    assert (advice.edits[0].after, advice.nodes) == ("63", ("b",))


def test_a_value_can_be_taken_out_of_what_is_excluded() -> None:
    scene = cluster(node("a", labels={"tier": "gold"}))
    asked = pod("web", affinity=requiring({"key": "tier", "operator": "NotIn", "values": ["gold", "silver"]}))
    (advice,) = of(Kind.WIDEN, scene, asked)
    assert advice.title.startswith('Take "gold" out of')


def test_a_misspelt_node_name_is_corrected() -> None:
    scene = cluster(node("worker-a"), node("machine-b"))
    fields = [{"key": "metadata.name", "operator": "In", "values": ["wroker-a"]}]
    (advice,) = of(Kind.CORRECT, scene, pod("web", affinity=requiring(fields=fields)))
    assert advice.nodes == ("worker-a",)


def test_conflicting_node_names_are_resolved_by_dropping_one() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("a", "b")]
    scene = cluster(node("a"), node("b"))
    found = of(Kind.DROP, scene, pod("web", affinity=requiring(fields=fields)))
    assert {advice.nodes for advice in found} == {("a",), ("b",)}


def test_the_node_name_of_a_pod_can_be_dropped() -> None:
    asked = pod("web", nodeName="gone")
    assert titles(Kind.DROP, cluster(node("a")), asked) == ['Drop spec.nodeName "gone" and let the scheduler choose']


# Requests


def test_a_request_is_lowered_to_what_the_best_node_has_free() -> None:
    scene = cluster(node("a", cpu="4"), node("b", cpu="8"), pod("other", cpu="1500m", node="b"))
    (advice,) = of(Kind.LOWER, scene, pod("web", cpu="10"))
    assert advice.title == "Lower cpu of container main from 10 to 6500m"
    assert advice.nodes == ("b",)


def test_memory_is_rounded_down_to_what_people_write() -> None:
    (advice,) = of(Kind.LOWER, cluster(node("a", memory="33000123Ki")), pod("web", memory="64Gi"))
    assert advice.edits[0].after == "32226Mi"


def test_the_limit_of_an_extended_resource_is_lowered_with_its_request() -> None:
    scene = cluster(node("a", gpu=8), pod("other", gpu=5, node="a"))
    (advice,) = of(Kind.LOWER, scene, pod("trainer", gpu=4))
    assert [(edit.path, edit.after) for edit in advice.edits] == [
        ("/spec/containers/0/resources/requests/nvidia.com~1gpu", "3"),
        ("/spec/containers/0/resources/limits/nvidia.com~1gpu", "3"),
    ]


def test_of_several_containers_the_one_with_the_largest_request_is_lowered() -> None:
    asked = pod("web", cpu="2")
    asked["spec"]["containers"].append({"name": "big", "resources": {"requests": {"cpu": "7"}}})
    assert titles(Kind.LOWER, cluster(node("a", cpu="8")), asked) == ["Lower cpu of container big from 7 to 6"]


def test_two_requests_that_are_too_large_are_not_one_edit_away() -> None:
    assert not of(Kind.LOWER, cluster(node("a", cpu="1", memory="1Gi")), pod("web", cpu="2", memory="2Gi"))


def test_a_resource_that_nobody_has_is_dropped_or_corrected() -> None:
    asked = pod("trainer")
    amounts = {"nvidia.com/gpus": "1"}
    asked["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": dict(amounts)}
    scene = cluster(node("a", gpu=8))
    assert titles(Kind.CORRECT, scene, asked) == ['Correct resource "nvidia.com/gpus" to "nvidia.com/gpu"']
    assert titles(Kind.DROP, scene, asked) == ["Drop the request for nvidia.com/gpus of container main"]


def test_a_resource_that_others_use_up_is_not_given_up() -> None:
    scene = cluster(node("a", gpu=8), node("b"), pod("other", gpu=8, node="a"))
    assert not of(Kind.DROP, scene, pod("trainer", gpu=1))


def test_a_request_of_the_pod_as_a_whole_is_lowered_but_not_below_its_containers() -> None:
    asked = pod("web", cpu="3", resources={"requests": {"cpu": "10"}})
    (advice,) = of(Kind.LOWER, cluster(node("a", cpu="8")), asked)
    assert advice.title == "Lower cpu of the pod from 10 to 8"
    assert not of(Kind.LOWER, cluster(node("a", cpu="2")), asked)


def test_a_full_number_of_pods_has_no_remedy_in_the_pod() -> None:
    scene = cluster(node("a", pods=1), pod("other", node="a"))
    assert {advice.kind for advice in advised(scene, pod("web"))} == {Kind.ADD_NODE, Kind.PRIORITISE, Kind.DELETE_PODS}


# Ports


def test_a_taken_host_port_is_changed_to_the_next_free_one() -> None:
    scene = cluster(node("a"), pod("x", host_port=8080, node="a"), pod("y", host_port=8081, node="a"))
    asked = pod("web", host_port=8080)
    assert titles(Kind.PORT, scene, asked) == ["Change hostPort of container main from 8080 to 8082"]
    assert titles(Kind.DROP, scene, asked) == ["Drop hostPort 8080 of container main"]


def test_on_the_host_network_the_container_port_changes_with_the_host_port() -> None:
    scene = cluster(node("a"), pod("x", host_port=8080, node="a"))
    asked = pod("web", host_port=8080, hostNetwork=True)
    (advice,) = of(Kind.PORT, scene, asked)
    assert [edit.path for edit in advice.edits] == [
        "/spec/containers/0/ports/0/hostPort",
        "/spec/containers/0/ports/0/containerPort",
    ]
    assert not of(Kind.DROP, scene, asked)


# Spreading


def spread(key: str, **more: Any) -> Object:
    selector = {"matchLabels": {"app": "web"}}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector} | more


def crowded(**more: Any) -> tuple[Scene, Object]:
    """Zone a has three pods of the app, zone b has none and is full."""
    zone = "topology.kubernetes.io/zone"
    web = {"app": "web"}
    placed = [pod(f"web-{i}", labels=web, node="a") for i in range(3)]
    scene = cluster(node("a", zone="a"), node("b", zone="b", cpu="1"), *placed)
    return scene, pod("web", cpu="2", labels=web, topologySpreadConstraints=[spread(zone, **more)])


def test_the_skew_is_raised_by_as_little_as_is_enough() -> None:
    scene, asked = crowded()
    first = of(Kind.RELAX, scene, asked)[-1]
    assert first.title == "Raise maxSkew of spread constraint 0 over topology.kubernetes.io/zone from 1 to 4"


def test_a_constraint_can_become_a_preference_and_loses_its_domains() -> None:
    scene, asked = crowded(minDomains=1)
    (advice,) = [a for a in of(Kind.RELAX, scene, asked) if "preference" in a.title]
    assert [(edit.path.rpartition("/")[2], edit.after) for edit in advice.edits] == [
        ("whenUnsatisfiable", "ScheduleAnyway"),
        ("minDomains", None),
    ]


def test_a_constraint_that_is_a_preference_already_is_dropped() -> None:
    scene, asked = crowded()
    wish = spread("topology.kubernetes.io/zone", whenUnsatisfiable="ScheduleAnyway")
    asked["spec"]["topologySpreadConstraints"].append(wish)
    assert titles(Kind.DROP, scene, asked) == ["Drop spread constraint 0 over topology.kubernetes.io/zone"]


def test_the_number_of_domains_is_lowered_by_as_little_as_is_enough() -> None:
    web = {"app": "web"}
    scene = cluster(
        node("a", zone="a"),
        node("b", zone="b"),
        pod("web-1", labels=web, node="a"),
        pod("web-2", labels=web, node="b"),
    )
    constraint = spread("topology.kubernetes.io/zone", minDomains=5)
    asked = pod("web", labels=web, topologySpreadConstraints=[constraint])
    (advice,) = [a for a in of(Kind.RELAX, scene, asked) if "minDomains of" in a.title]
    assert advice.title.endswith("from 5 to 2")


def test_leaving_out_tainted_nodes_may_be_all_that_a_constraint_needs() -> None:
    web = {"app": "web"}
    scene = cluster(
        node("a", zone="a"), node("b", zone="b", taints=["x=1:NoSchedule"]), pod("web-1", labels=web, node="a")
    )
    asked = pod("web", labels=web, topologySpreadConstraints=[spread("topology.kubernetes.io/zone")])
    assert "Set nodeTaintsPolicy of spread constraint 0 over topology.kubernetes.io/zone to Honor" in titles(
        Kind.RELAX, scene, asked
    )


def test_a_misspelt_topology_key_is_corrected() -> None:
    scene = cluster(node("a", zone="a"))
    asked = pod("web", labels={"app": "web"}, topologySpreadConstraints=[spread("topology.kubernetes.io/zoen")])
    first, *_ = advised(scene, asked)
    assert first.title == (
        'Correct topologyKey of spread constraint 0 from "topology.kubernetes.io/zoen" to "topology.kubernetes.io/zone"'
    )


def test_spreading_that_is_met_is_not_relaxed() -> None:
    scene, asked = crowded()
    del asked["spec"]["topologySpreadConstraints"]
    asked["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "100"
    assert not of(Kind.RELAX, scene, asked)


# Pod affinity


def apart(key: str, field: str = "podAntiAffinity") -> Object:
    return {field: {REQUIRED: [{"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": key}]}}


def test_required_anti_affinity_can_become_a_preference() -> None:
    web = {"app": "web"}
    scene = cluster(node("a"), pod("web-1", labels=web, node="a"))
    (advice,) = of(Kind.RELAX, scene, pod("web", labels=web, affinity=apart("kubernetes.io/hostname")))
    assert advice.title == ("Prefer instead of require pod anti-affinity term 0 (app=web per kubernetes.io/hostname)")
    assert advice.edits[0].path == f"/spec/affinity/podAntiAffinity/{REQUIRED}/0"
    assert advice.edits[1].path == f"/spec/affinity/podAntiAffinity/{PREFERRED}/-"
    assert advice.edits[1].after["weight"] == 100


def test_required_affinity_to_nobody_can_become_a_preference() -> None:
    asked = pod("db", affinity=apart("kubernetes.io/hostname", "podAffinity"))
    assert len(of(Kind.RELAX, cluster(node("a")), asked)) == 1


def test_anti_affinity_of_pods_that_are_there_has_no_remedy_in_the_pod() -> None:
    guard = pod("guard", node="a", affinity=apart("kubernetes.io/hostname"))
    found = advised(cluster(node("a"), guard), pod("web", labels={"app": "web"}))
    assert {advice.kind for advice in found} == {Kind.ADD_NODE, Kind.PRIORITISE, Kind.DELETE_PODS}


# Before and after the filters


def test_a_gate_is_all_that_holds_back_a_pod_that_would_land() -> None:
    asked = pod("web", schedulingGates=[{"name": "example.com/wait"}])
    (advice,) = advised(cluster(node("a")), asked)
    assert (advice.kind, advice.title) == (Kind.UNGATE, "Remove scheduling gate example.com/wait")
    assert advice.edits[0].path == "/spec/schedulingGates"


def test_a_gated_pod_that_would_not_land_is_told_what_would_let_it() -> None:
    asked = pod("web", schedulingGates=[{"name": "example.com/wait"}])
    found = advised(cluster(node("a", taints=["x=1:NoSchedule"])), asked)
    assert [advice.kind for advice in found] == [Kind.TOLERATE, Kind.UNTAINT]


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
