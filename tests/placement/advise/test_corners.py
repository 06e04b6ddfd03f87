"""Stories at the edges of what is advised: the first node, the last number, a sidecar's port, a pod that leaves."""

from __future__ import annotations

from typing import Any

import pytest

from mooring.kube.objects import Object
from mooring.placement.advise import AdviceKind, Asked, advise
from mooring.placement.advise.nearest import meant
from mooring.testing import Scene, advised, cluster, node, pod
from tests.placement.advise.pod_side import PREFERRED, REQUIRED, of, requiring, titles

ZONE = "topology.kubernetes.io/zone"
WEB = {"app": "web"}
UNREADABLE: Object = {"matchExpressions": [{"key": "app", "operator": "In", "values": []}]}


def spread(key: str = ZONE, **more: Any) -> Object:
    selector = {"matchLabels": WEB}
    return {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector} | more


# How far a search goes


def completeness(scene: Scene, asked: Object, **more: Any) -> tuple[int, bool]:
    found = advise(scene.engine, Asked(scene.explain(asked), asked), **more)
    return len(found.advice), found.is_complete


def test_a_search_is_complete_that_found_nothing_and_left_nothing_out() -> None:
    assert completeness(cluster(), pod("web")) == (0, True)
    four = {f"key-{number}": "x" for number in range(4)}
    hopeless = pod("web", nodeSelector=four)
    assert completeness(cluster(node("a")), hopeless) == (0, True)
    for most in (1, 2):
        assert completeness(cluster(node("a")), hopeless, most_changes=most) == (0, False)
    found, is_complete = completeness(cluster(node("a", taints=["x=1:NoSchedule"])), pod("web"))
    assert (found > 0, is_complete) == (True, False)


@pytest.mark.parametrize(
    ("word", "others", "found"),
    [
        ("ab", "abc", None),
        ("abc", "abcd", "abcd"),
        ("abc", "abcde", None),
        ("abcdef", "abcdefgh", "abcdefgh"),
        ("abcdef", "abcdefghi", None),
        ("abcdefghi", "abcdefghijkl", "abcdefghijkl"),
        ("abcdefghijklmno", "abcdefghijklmnopqrs", None),
    ],
)
def test_one_letter_in_three_may_be_wrong_and_three_at_most(word: str, others: str, found: str | None) -> None:
    assert meant(word, [others]) == found


# What a pod asks for


def with_ports(name: str, port: int, **container: Any) -> Object:
    made = pod(name)
    body = {"name": "side", "ports": [{"containerPort": port, "hostPort": port}], **container}
    made["spec"]["initContainers"] = [body]
    return made


def test_the_port_of_a_sidecar_is_changed_where_it_stands() -> None:
    scene = cluster(node("a"), pod("x", host_port=8080, node="a"))
    (advice,) = of(AdviceKind.PORT, scene, with_ports("web", 8080, restartPolicy="Always"))
    assert advice.title == "Change hostPort of container side from 8080 to 8081"
    assert [(edit.target, edit.op, edit.path) for edit in advice.edits] == [
        ("pod", "replace", "/spec/initContainers/0/ports/0/hostPort")
    ]


def test_a_container_that_ends_before_the_others_holds_no_port() -> None:
    made = with_ports("web", 8080)
    made["spec"]["containers"][0]["ports"] = [{"containerPort": 8080, "hostPort": 8080}]
    scene = cluster(node("a"), pod("x", host_port=8080, node="a"))
    assert titles(AdviceKind.PORT, scene, made) == ["Change hostPort of container main from 8080 to 8081"]


def test_a_port_is_never_changed_to_another_of_the_pod_nor_beyond_the_last() -> None:
    asked = pod("web", host_port=65534)
    asked["spec"]["containers"][0]["ports"].append({"containerPort": 65535, "hostPort": 65535})
    scene = cluster(node("a"), pod("x", host_port=65534, node="a"))
    assert titles(AdviceKind.PORT, scene, asked) == []
    (last,) = titles(AdviceKind.PORT, scene, pod("web", host_port=65534))
    assert last == "Change hostPort of container main from 65534 to 65535"


def asking(name: str, **requests: str) -> Object:
    made = pod(name)
    amounts = {key.replace("_", "-"): text for key, text in requests.items()}
    made["spec"]["containers"][0]["resources"] = {"requests": amounts, "limits": dict(amounts)}
    return made


def test_huge_pages_are_lowered_by_whole_pages() -> None:
    made = node("a")
    made["status"]["allocatable"]["hugepages-2Mi"] = "7Mi"
    (advice,) = of(AdviceKind.LOWER, cluster(made), asking("web", hugepages_2Mi="10Mi"))
    assert [(edit.path.rpartition("/")[2], edit.before, edit.after) for edit in advice.edits] == [
        ("hugepages-2Mi", "10Mi", "6Mi"),
        ("hugepages-2Mi", "10Mi", "6Mi"),
    ]


def test_what_is_kept_for_a_pod_of_no_less_importance_is_not_free() -> None:
    for priority, left in ((5, "5"), (4, "8")):
        rival = pod("rival", cpu="3", priority=priority)
        rival["status"] = {"phase": "Pending", "nominatedNodeName": "a"}
        asked = pod("web", cpu="10", priority=5)
        (title,) = titles(AdviceKind.LOWER, cluster(node("a", cpu="8"), rival), asked)
        assert title == f"Lower cpu of container main from 10 to {left}"


def test_scratch_space_of_others_is_room_to_be_made() -> None:
    there = asking("there", ephemeral_storage="60Gi")
    there["spec"]["nodeName"] = "a"
    small = asking("small", ephemeral_storage="1Gi")
    small["spec"]["nodeName"] = "a"
    scene = cluster(node("a"), small, there)
    (advice,) = of(AdviceKind.EVICT, scene, asking("web", ephemeral_storage="80Gi"))
    assert advice.victims == ("default/there",)


def test_the_one_spread_constraint_that_cannot_be_read_is_dropped() -> None:
    scene, read = cluster(node("a", zone="a")), spread()
    for constraints, told in (
        ([spread(labelSelector=UNREADABLE), read], ("Drop spread constraint 0, which cannot be read", "/0")),
        ([read, spread(labelSelector=UNREADABLE)], ("Drop spread constraint 1, which cannot be read", "/1")),
        ([spread(labelSelector=UNREADABLE)] * 2, ("Drop every spread constraint", "")),
    ):
        found = of(AdviceKind.DROP, scene, pod("web", topologySpreadConstraints=constraints))
        paths = [edit.path.removeprefix("/spec/topologySpreadConstraints") for each in found for edit in each.edits]
        assert ([each.title for each in found], paths) == ([told[0]], [told[1]])


@pytest.mark.parametrize(
    ("field", "strength", "words"),
    [
        ("podAffinity", REQUIRED, "required pod affinity term"),
        ("podAntiAffinity", REQUIRED, "required pod anti-affinity term"),
        ("podAffinity", PREFERRED, "preferred pod affinity term"),
        ("podAntiAffinity", PREFERRED, "preferred pod anti-affinity term"),
    ],
)
def test_a_term_that_cannot_be_read_is_dropped(field: str, strength: str, words: str) -> None:
    term: Object = {"topologyKey": ZONE, "labelSelector": UNREADABLE}
    listed = term if strength == REQUIRED else {"weight": 1, "podAffinityTerm": term}
    scene = cluster(node("a", zone="a"), node("b", zone="b"))
    found = of(AdviceKind.DROP, scene, pod("web", affinity={field: {strength: [listed]}}))
    assert [advice.title for advice in found] == [f"Drop {words} 0, which cannot be read"]


# Which nodes are counted


def test_a_zone_that_nobody_selects_is_counted_no_more() -> None:
    scene = cluster(
        node("a", zone="a", labels={"disk": "ssd"}),
        node("b", zone="b", labels={"disk": "hdd"}),
        pod("web-1", labels=WEB, node="a"),
    )
    constraint = spread(nodeAffinityPolicy="Ignore")
    asked = pod("web", labels=WEB, topologySpreadConstraints=[constraint], nodeSelector={"disk": "ssd"})
    (advice,) = [each for each in of(AdviceKind.RELAX, scene, asked) if "Policy" in each.title]
    assert advice.title == f"Set nodeAffinityPolicy of spread constraint 0 over {ZONE} to Honor"
    assert [(e.target, e.op, e.path.rpartition("/")[2], e.before, e.after) for e in advice.edits] == [
        ("pod", "relax", "nodeAffinityPolicy", "Ignore", "Honor")
    ]


def test_domains_are_waited_for_no_longer_than_it_takes() -> None:
    scene = cluster(node("a", zone="a"), node("b", zone="b"), *(pod(f"web-{n}", labels=WEB, node=n) for n in "ab"))
    asked = pod("web", labels=WEB, topologySpreadConstraints=[spread(minDomains=5)])
    (advice,) = [each for each in of(AdviceKind.RELAX, scene, asked) if "minDomains" in each.title]
    assert advice.title == f"Lower minDomains of spread constraint 0 over {ZONE} from 5 to 2"
    assert [(e.target, e.op, e.before, e.after) for e in advice.edits] == [("pod", "relax", 5, 2)]


def test_a_node_name_that_is_misspelt_in_a_field_is_corrected_there() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": ["wroker-a"]}]
    (advice,) = of(AdviceKind.CORRECT, cluster(node("worker-a")), pod("web", affinity=requiring(fields=fields)))
    (edit,) = advice.edits
    assert (edit.target, edit.op, edit.before, edit.after) == ("pod", "replace", "wroker-a", "worker-a")
    assert edit.path.endswith("/nodeSelectorTerms/0/matchFields/0/values/0")


def test_a_label_that_only_a_node_had_which_is_gone_may_be_a_misspelling() -> None:
    scene = cluster(node("a", labels={"disktype": "ssd"}), node("gone", labels={"disktyp": "ssd"}))
    scene.cluster.remove_node("gone")
    asked = pod("web", nodeSelector={"disktyp": "ssd"})
    assert titles(AdviceKind.CORRECT, scene, asked) == ['Correct nodeSelector key "disktyp" to "disktype"']


# Who has to go


def test_pods_that_do_not_count_do_not_have_to_go() -> None:
    """Of another namespace, leaving already, or of another app: none of them crowds the zone."""
    leaving = pod("leaving", labels=WEB, cpu="1", node="a1")
    leaving["metadata"]["deletionTimestamp"] = "2026-03-02T08:00:00Z"
    scene = cluster(
        node("a1", zone="a", cpu="5"),
        node("a2", zone="a"),
        node("b", zone="b", cpu="1"),
        pod("other", labels={"app": "db"}, cpu="1", node="a1"),
        pod("elsewhere", namespace="shop", labels=WEB, cpu="1", node="a1"),
        leaving,
        pod("web-1", labels=WEB, cpu="1", node="a1", priority=9),
    )
    asked = pod("web", cpu="6", labels=WEB, topologySpreadConstraints=[spread()])
    (advice,) = of(AdviceKind.EVICT, scene, asked)
    assert (advice.victims, advice.nodes) == (("default/web-1",), ("a2",))


def test_only_pods_of_a_domain_where_one_repels_have_to_go() -> None:
    term = {"labelSelector": {"matchLabels": WEB}, "topologyKey": ZONE}
    per_node = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    scene = cluster(
        node("full", zone="a", cpu="1"),
        node("free", zone="a"),
        pod("rival", labels=WEB, cpu="1", node="full"),
        pod("db", labels={"app": "db"}, cpu="100m", node="free", namespace="shop"),
    )
    asked = pod("web", cpu="2", affinity={"podAntiAffinity": {REQUIRED: [term, per_node]}})
    (advice,) = of(AdviceKind.EVICT, scene, asked)
    assert (advice.victims, advice.nodes) == (("default/rival",), ("free",))


def test_an_evicted_pod_goes_to_the_first_node_too() -> None:
    scene = cluster(node("a", cpu="4"), node("b", cpu="8"), pod("mid", cpu="4", node="b", owner="ReplicaSet/mid"))
    (advice,) = of(AdviceKind.EVICT, scene, pod("web", cpu="8"))
    assert advice.title.endswith("from node b; it would go to a")


def test_a_pod_that_preempts_on_the_first_node_needs_no_priority() -> None:
    scene = cluster(node("a", cpu="2"), pod("cheap", cpu="2", node="a", priority=1))
    asked = pod("web", cpu="2", priority=2)
    found = scene.explain(asked)
    assert found.preemption is not None
    assert found.preemption.slot == 0
    assert of(AdviceKind.PRIORITISE, scene, asked) == []


@pytest.mark.parametrize(("value", "named"), [(101, "Give the pod priorityClassName same (101)"), (100, "Raise")])
def test_a_class_of_the_same_value_as_a_pod_does_not_evict_it(value: int, named: str) -> None:
    scene = cluster(node("a", cpu="2"), pod("there", cpu="2", node="a", priority=100))
    (advice,) = of_classes(scene, pod("web", cpu="2"), {"same": value})
    assert advice.startswith(named)


def of_classes(scene: Scene, asked: Object, classes: dict[str, int]) -> list[str]:
    found = advised(scene, asked, priority_classes=classes)
    return [each.title for each in found if each.kind is AdviceKind.PRIORITISE]


@pytest.mark.parametrize("wanted", range(1, 8))
def test_of_many_priorities_the_lowest_that_makes_room_is_found(wanted: int) -> None:
    """Pods of one processor each, each of a higher priority than the one before: so many of them must go."""
    there = [pod(f"p{number}", cpu="1", node="a", priority=number * 10) for number in range(1, 8)]
    scene = cluster(node("a", cpu="7"), *there)
    (advice,) = of(AdviceKind.PRIORITISE, scene, pod("web", cpu=str(wanted)))
    assert advice.title.startswith(f"Raise the pod's priority from 0 to {wanted * 10 + 1}: ")
    assert len(advice.victims) == wanted


# One more node


def test_a_twin_is_no_node_that_the_pod_shuns_by_name() -> None:
    shunned: Object = {"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["a"]}
    (advice,) = of(AdviceKind.ADD_NODE, cluster(node("a")), pod("web", affinity=requiring(shunned)))
    assert (advice.title, advice.nodes) == ("Add one more node like a", ("a-copy",))
    assert not of(AdviceKind.ADD_NODE, cluster(node("a")), pod("web", nodeSelector={"x": "1"}))


def test_the_zone_of_a_new_node_matters_where_the_pod_spreads_over_zones() -> None:
    """Both nodes are alike and full; only one more in the emptier zone keeps the pods apart."""
    scene = cluster(
        *(node(name, zone=name, cpu="1") for name in "ab"),
        *(pod(f"web-{number}", labels=WEB, cpu="500m", node="a") for number in range(2)),
        pod("other", cpu="1", node="b"),
    )
    asked = pod("web", cpu="1", labels=WEB, topologySpreadConstraints=[spread()])
    (advice,) = of(AdviceKind.ADD_NODE, scene, asked)
    assert (advice.title, advice.nodes) == ("Add one more node like b", ("b-copy",))


def test_a_new_node_gets_a_name_that_nothing_has() -> None:
    scene = cluster(
        node("a", cpu="2"), node("a-copy", cpu="1"), pod("x", cpu="2", node="a"), pod("y", node="a-copy-copy")
    )
    (advice,) = of(AdviceKind.ADD_NODE, scene, pod("web", cpu="2"))
    assert advice.nodes == ("a-copy-copy-copy",)


def test_a_node_that_is_not_ready_may_be_what_a_spread_waits_for() -> None:
    """It is not counted while it is tainted, so the constraint lacks a second zone."""
    away = node("b", zone="b", taints=["node.kubernetes.io/unreachable:NoSchedule"], cpu="1")
    scene = cluster(node("a", zone="a"), away, pod("web-1", labels=WEB, node="a"), pod("web-2", labels=WEB, node="b"))
    asked = pod("web", cpu="2", labels=WEB, topologySpreadConstraints=[spread(nodeTaintsPolicy="Honor", minDomains=2)])
    (advice,) = of(AdviceKind.BRING_BACK, scene, asked)
    assert (advice.title, advice.nodes) == ("Bring node b back: it is unreachable", ("a",))
    assert [(edit.target, edit.op, edit.path) for edit in advice.edits] == [("node/b", "bringBack", "/spec/taints/0")]


# Other pods


def test_the_topology_key_of_pod_affinity_is_corrected_and_its_selector_told_in_words() -> None:
    words = [
        {"key": "app", "operator": "In", "values": ["web", "db"]},
        {"key": "tier", "operator": "Exists"},
    ]
    term = {"labelSelector": {"matchLabels": {"x": "1"}, "matchExpressions": words}, "topologyKey": "rak-of-nodes"}
    labels = {"app": "web", "tier": "a", "x": "1"}
    scene = cluster(node("a", labels={"rack-of-nodes": "1"}), pod("there", labels=labels, node="a"))
    found = advised(scene, pod("web", affinity={"podAffinity": {REQUIRED: [term]}}))
    told = [advice.title for advice in found if "term 0" in advice.title]
    assert told == [
        'Correct topologyKey of required pod affinity term 0 from "rak-of-nodes" to "rack-of-nodes"',
        "Prefer instead of require pod affinity term 0 (x=1, app In [web, db], tier Exists per rak-of-nodes)",
    ]


@pytest.mark.parametrize(
    ("owner", "namespace", "evicts"),
    [("ReplicaSet/web", "default", False), ("ReplicaSet/web", "ml", True), ("ReplicaSet/other", "default", True)],
)
def test_a_pod_is_not_told_to_evict_others_of_its_workload(owner: str, namespace: str, evicts: bool) -> None:
    there = pod("there", cpu="2", node="a", owner=owner, namespace=namespace)
    found = of(AdviceKind.PRIORITISE, cluster(node("a", cpu="2"), there), pod("web", cpu="2", owner="ReplicaSet/web"))
    assert bool(found) is evicts


def test_playing_out_where_pods_go_leaves_the_cluster_as_it_was() -> None:
    there = [pod(f"mid-{number}", cpu="2", node="b", owner="ReplicaSet/mid") for number in range(2)]
    scene = cluster(node("a", cpu="5"), node("b", cpu="8"), *there)
    asked = pod("web", cpu="8")
    before = scene.answer(asked), sorted(scene.cluster.pods), int(scene.cluster.used_cpu.sum())
    (advice,) = of(AdviceKind.EVICT, scene, asked)
    assert advice.title.endswith("others would go to a")
    assert (scene.answer(asked), sorted(scene.cluster.pods), int(scene.cluster.used_cpu.sum())) == before
