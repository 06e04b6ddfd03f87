"""Stories about changes to the cluster: more nodes, fewer pods, higher priority."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.placement.advise import Advice, AdviceKind
from mooring.testing import Scene, advised, cluster, node, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ZONE = "topology.kubernetes.io/zone"


def of(kind: AdviceKind, scene: Scene, asked: Object, **more: Any) -> list[Advice]:
    return [advice for advice in advised(scene, asked, **more) if advice.kind is kind]


def apart(key: str, app: str = "web") -> Object:
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}
    return {"podAntiAffinity": {REQUIRED: [term]}}


# One more node


def test_one_more_node_like_the_smallest_that_is_large_enough() -> None:
    scene = cluster(
        node("tiny", cpu="1"),
        node("small", cpu="8"),
        node("large", cpu="64", gpu=8),
        *(pod(f"full-{name}", cpu=cpu, node=name) for name, cpu in (("small", "8"), ("large", "64"))),
    )
    (advice,) = of(AdviceKind.ADD_NODE, scene, pod("web", cpu="4"))
    assert advice.title == "Add one more node like small"
    assert (advice.nodes, advice.command) == (("small-copy",), None)
    assert advice.edits[0].after["metadata"]["labels"]["kubernetes.io/hostname"] == "small-copy"


def test_a_new_node_is_neither_cordoned_nor_unwell() -> None:
    scene = cluster(node("a", unschedulable=True, taints=["node.kubernetes.io/disk-pressure:NoSchedule"]))
    (advice,) = of(AdviceKind.ADD_NODE, scene, pod("web"))
    assert "spec" not in advice.edits[0].after


def test_a_twin_of_a_node_that_is_too_small_does_not_help() -> None:
    assert not of(AdviceKind.ADD_NODE, cluster(node("a", cpu="1")), pod("web", cpu="2"))


def test_a_twin_in_a_crowded_zone_does_not_help() -> None:
    scene = cluster(node("a", zone="a"), pod("web-1", labels={"app": "web"}, node="a"))
    assert not of(AdviceKind.ADD_NODE, scene, pod("web", affinity=apart(ZONE)))
    assert of(AdviceKind.ADD_NODE, scene, pod("web", affinity=apart("kubernetes.io/hostname")))


# Pods in the way


def test_the_one_pod_that_makes_enough_room_is_moved() -> None:
    scene = cluster(
        node("a", cpu="8"),
        pod("big", cpu="5", node="a", owner="ReplicaSet/big"),
        pod("mid", cpu="2", node="a", owner="ReplicaSet/mid"),
        pod("small", cpu="1", node="a", owner="ReplicaSet/small"),
    )
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", cpu="2"))
    assert advice.victims == ("default/mid",)
    assert advice.title == (
        "Disruptive: evict pod default/mid (ReplicaSet mid, priority 0) from node a; it would find no other node"
    )
    assert advice.command == (
        'echo \'{"apiVersion":"policy/v1","kind":"Eviction","metadata":{"name":"mid","namespace":"default"}}\' | '
        "kubectl create --raw /api/v1/namespaces/default/pods/mid/eviction -f -"
    )


def test_an_evicted_pod_that_finds_another_node_is_told_to_go_there() -> None:
    scene = cluster(node("a", cpu="8"), node("b", cpu="4"), pod("mid", cpu="4", node="a", owner="ReplicaSet/mid"))
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", cpu="8"))
    assert advice.title.endswith("from node a; it would go to b")


def test_a_pod_that_its_disruption_budget_keeps_is_not_evicted_by_a_command() -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "mid", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "mid"}}},
        "status": {"disruptionsAllowed": 0},
    }
    scene = cluster(
        node("a", cpu="8"), pod("mid", cpu="4", node="a", labels={"app": "mid"}, owner="ReplicaSet/mid"), budget
    )
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", cpu="8"))
    assert advice.title.endswith("the disruption budget of default/mid does not allow it now")
    assert advice.command is None


def test_fewer_pods_go_before_smaller_ones() -> None:
    small = [pod(f"small-{i}", cpu="1", node="a") for i in range(3)]
    scene = cluster(node("a", cpu="8"), pod("big", cpu="5", node="a"), *small)
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", cpu="3"))
    assert advice.title == ("Disruptive: evict pod default/big (priority 0) from node a; nothing makes it again")


def test_pods_of_lower_priority_go_first() -> None:
    scene = cluster(
        node("a", cpu="2"),
        node("b", cpu="2"),
        pod("dear", cpu="2", node="a", priority=1000),
        pod("cheap", cpu="2", node="b", priority=10),
    )
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", cpu="2"))
    assert advice.victims == ("default/cheap",)


def test_several_pods_go_when_one_is_not_enough() -> None:
    scene = cluster(node("a", cpu="4"), *(pod(f"p{i}", namespace=f"team-{i % 2}", cpu="1", node="a") for i in range(4)))
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", cpu="2"))
    assert len(advice.victims) == 2
    assert advice.command is not None
    assert advice.command.count("kubectl create --raw") == 2


def test_pods_that_come_back_to_their_node_are_left_alone() -> None:
    scene = cluster(
        node("a", cpu="2"), pod("agent", namespace="kube-system", cpu="2", node="a", owner="DaemonSet/agent")
    )
    assert not of(AdviceKind.EVICT, scene, pod("web", cpu="1"))


def test_the_system_is_touched_last() -> None:
    scene = cluster(
        node("a", cpu="2"),
        pod("dns", namespace="kube-system", cpu="1", node="a"),
        pod("dear", cpu="1", node="a", priority=1000),
    )
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", cpu="1"))
    assert advice.victims == ("default/dear",)


def test_a_pod_that_is_leaving_is_waited_for() -> None:
    leaving = pod("old", cpu="2", node="a")
    leaving["metadata"]["deletionTimestamp"] = "2026-03-02T08:00:00Z"
    (advice,) = of(AdviceKind.EVICT, cluster(node("a", cpu="2"), leaving), pod("web", cpu="2"))
    assert (advice.title, advice.command) == ("Wait until terminating pod default/old left node a", None)


def test_a_pod_that_holds_the_port_is_moved() -> None:
    scene = cluster(node("a"), pod("proxy", host_port=80, node="a"), pod("other", node="a"))
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", host_port=80))
    assert advice.victims == ("default/proxy",)


def test_the_pod_that_repels_from_another_node_of_the_zone_is_found() -> None:
    scene = cluster(
        node("full", zone="a", cpu="1"),
        node("free", zone="a"),
        pod("rival", labels={"app": "web"}, cpu="1", node="full"),
    )
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", cpu="2", affinity=apart(ZONE)))
    assert (advice.victims, advice.nodes) == (("default/rival",), ("free",))


def test_the_pod_whose_own_anti_affinity_forbids_the_zone_is_found() -> None:
    guard = pod("guard", cpu="1", node="full", affinity=apart(ZONE))
    scene = cluster(node("full", zone="a", cpu="1"), node("free", zone="a"), guard)
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", cpu="2", labels={"app": "web"}))
    assert (advice.victims, advice.nodes) == (("default/guard",), ("free",))


def test_pods_that_crowd_a_zone_are_found() -> None:
    web = {"app": "web"}
    constraint = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": web},
    }
    scene = cluster(
        node("a1", zone="a", cpu="1"),
        node("a2", zone="a"),
        node("b", zone="b", cpu="1"),
        pod("web-1", labels=web, cpu="1", node="a1"),
    )
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", cpu="2", labels=web, topologySpreadConstraints=[constraint]))
    assert (advice.victims, advice.nodes) == (("default/web-1",), ("a2",))


# Priority


def rivals() -> Scene:
    return cluster(
        node("a", cpu="2"),
        node("b", cpu="2"),
        pod("dear", cpu="2", node="a", priority=1000),
        pod("cheap", cpu="2", node="b", priority=100),
    )


def test_the_smallest_priority_that_evicts_somebody() -> None:
    (advice,) = of(AdviceKind.PRIORITISE, rivals(), pod("web", cpu="2", priority=50))
    assert advice.title == ("Raise the pod's priority from 50 to 101: it would evict pod default/cheap from node b")
    assert (advice.nodes, advice.victims, advice.command) == (("b",), ("default/cheap",), None)


def test_a_priority_class_is_named_where_the_cluster_has_one() -> None:
    classes = {"low": 60, "middle": 200, "high": 2000}
    (advice,) = of(AdviceKind.PRIORITISE, rivals(), pod("web", cpu="2"), priority_classes=classes)
    assert advice.title.startswith("Give the pod priorityClassName middle (200): it would evict pod default/cheap")
    assert advice.edits[0].path == "/spec/priorityClassName"


def test_the_classes_of_the_system_are_not_for_everybody() -> None:
    classes = {"system-cluster-critical": 2_000_000_000}
    (advice,) = of(AdviceKind.PRIORITISE, rivals(), pod("web", cpu="2"), priority_classes=classes)
    assert advice.title.startswith("Raise the pod's priority from 0 to 101")


def test_a_budget_is_respected_where_a_higher_priority_allows_it() -> None:
    budget = {
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "cheap", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "cheap"}}},
        "status": {"disruptionsAllowed": 0},
    }
    scene = cluster(
        node("a", cpu="2"),
        node("b", cpu="2"),
        pod("dear", cpu="2", node="a", priority=1000),
        pod("cheap", cpu="2", node="b", labels={"app": "cheap"}, priority=100),
        budget,
    )
    (advice,) = of(AdviceKind.PRIORITISE, scene, pod("web", cpu="2"))
    assert advice.victims == ("default/dear",)


def test_a_pod_that_never_preempts_gains_nothing_from_priority() -> None:
    assert not of(AdviceKind.PRIORITISE, rivals(), pod("web", cpu="2", preemptionPolicy="Never"))


def test_a_pod_that_will_preempt_anyway_is_not_told_to() -> None:
    assert not of(AdviceKind.PRIORITISE, rivals(), pod("web", cpu="2", priority=5000))


def test_priorities_of_the_system_are_out_of_reach() -> None:
    scene = cluster(node("a", cpu="2"), pod("critical", cpu="2", node="a", priority=2_000_000_000))
    assert not of(AdviceKind.PRIORITISE, scene, pod("web", cpu="2"))
