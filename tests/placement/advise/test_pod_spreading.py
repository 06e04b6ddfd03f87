"""Advice that changes spreading constraints and pod affinity."""

from __future__ import annotations

from typing import Any

from mooring.kube.objects import Object
from mooring.placement.advise import AdviceKind
from mooring.testing import Scene, advised, cluster, node, pod
from tests.placement.advise.pod_side import PREFERRED, REQUIRED, of, titles

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
    first = of(AdviceKind.RELAX, scene, asked)[-1]
    assert first.title == "Raise maxSkew of spread constraint 0 over topology.kubernetes.io/zone from 1 to 4"


def full_zones(*full: str, **more: Any) -> tuple[Scene, Object]:
    """Zones a and b have a pod of the app each and room for more; others have none and are full, or cordoned."""
    zone, web = "topology.kubernetes.io/zone", {"app": "web"}
    nodes = [node(name, zone=name, labels={"disk": "ssd"}) for name in ("a", "b")]
    nodes += [node(name, zone=name, cpu="1", labels={"disk": "hdd"}) for name in full]
    scene = cluster(*nodes, *(pod(f"web-{name}", labels=web, node=name) for name in ("a", "b")))
    return scene, pod("web", cpu="2", labels=web, topologySpreadConstraints=[spread(zone, **more)])


def test_a_zone_where_nothing_has_a_place_is_left_out_of_the_spread() -> None:
    scene, asked = full_zones("c")
    (advice,) = of(AdviceKind.LEAVE_OUT, scene, asked)
    zone = "topology.kubernetes.io/zone"
    assert advice.title == f"Leave zone c out of spread constraint 0 over {zone} (node affinity NotIn)"
    term = {"matchExpressions": [{"key": zone, "operator": "NotIn", "values": ["c"]}]}
    assert [edit.after for edit in advice.edits] == [term]
    assert advice.nodes == ("a", "b")


def test_two_full_zones_are_left_out_together_and_every_term_shuns_them() -> None:
    scene, asked = full_zones("c", "d")
    terms = [{"matchExpressions": [{"key": "disk", "operator": "In", "values": [disk]}]} for disk in ("ssd", "hdd")]
    asked["spec"]["affinity"] = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}
    (advice,) = of(AdviceKind.LEAVE_OUT, scene, asked)
    assert advice.title.startswith("Leave zone c and d out of")
    assert [edit.path.rpartition("nodeSelectorTerms")[2] for edit in advice.edits] == [
        "/0/matchExpressions/-",
        "/1/matchExpressions/-",
    ]


def test_no_zone_is_left_out_where_the_constraint_does_not_honour_affinity() -> None:
    assert not of(AdviceKind.LEAVE_OUT, *full_zones("c", nodeAffinityPolicy="Ignore"))


def test_no_zone_is_left_out_where_one_alone_would_remain() -> None:
    assert not of(AdviceKind.LEAVE_OUT, *crowded())


def test_a_constraint_can_become_a_preference_and_loses_its_domains() -> None:
    scene, asked = crowded(minDomains=1)
    (advice,) = [a for a in of(AdviceKind.RELAX, scene, asked) if "preference" in a.title]
    assert [(edit.path.rpartition("/")[2], edit.after) for edit in advice.edits] == [
        ("whenUnsatisfiable", "ScheduleAnyway"),
        ("minDomains", None),
    ]


def test_a_constraint_that_is_a_preference_already_is_dropped() -> None:
    scene, asked = crowded()
    wish = spread("topology.kubernetes.io/zone", whenUnsatisfiable="ScheduleAnyway")
    asked["spec"]["topologySpreadConstraints"].append(wish)
    assert titles(AdviceKind.DROP, scene, asked) == ["Drop spread constraint 0 over topology.kubernetes.io/zone"]


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
    (advice,) = [a for a in of(AdviceKind.RELAX, scene, asked) if "minDomains of" in a.title]
    assert advice.title.endswith("from 5 to 2")


def test_leaving_out_tainted_nodes_may_be_all_that_a_constraint_needs() -> None:
    web = {"app": "web"}
    scene = cluster(
        node("a", zone="a"), node("b", zone="b", taints=["x=1:NoSchedule"]), pod("web-1", labels=web, node="a")
    )
    asked = pod("web", labels=web, topologySpreadConstraints=[spread("topology.kubernetes.io/zone")])
    assert "Set nodeTaintsPolicy of spread constraint 0 over topology.kubernetes.io/zone to Honor" in titles(
        AdviceKind.RELAX, scene, asked
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
    assert not of(AdviceKind.RELAX, scene, asked)


# Pod affinity


def apart(key: str, field: str = "podAntiAffinity") -> Object:
    return {field: {REQUIRED: [{"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": key}]}}


def test_required_anti_affinity_can_become_a_preference() -> None:
    web = {"app": "web"}
    scene = cluster(node("a"), pod("web-1", labels=web, node="a"))
    (advice,) = of(AdviceKind.RELAX, scene, pod("web", labels=web, affinity=apart("kubernetes.io/hostname")))
    assert advice.title == ("Prefer instead of require pod anti-affinity term 0 (app=web per kubernetes.io/hostname)")
    assert advice.edits[0].path == f"/spec/affinity/podAntiAffinity/{REQUIRED}/0"
    assert advice.edits[1].path == f"/spec/affinity/podAntiAffinity/{PREFERRED}/-"
    assert advice.edits[1].after["weight"] == 100


def test_required_affinity_to_nobody_can_become_a_preference() -> None:
    asked = pod("db", affinity=apart("kubernetes.io/hostname", "podAffinity"))
    assert len(of(AdviceKind.RELAX, cluster(node("a")), asked)) == 1


def test_anti_affinity_of_pods_that_are_there_has_no_remedy_in_the_pod() -> None:
    guard = pod("guard", node="a", affinity=apart("kubernetes.io/hostname"))
    found = advised(cluster(node("a"), guard), pod("web", labels={"app": "web"}))
    assert {advice.kind for advice in found} == {AdviceKind.ADD_NODE, AdviceKind.PRIORITISE, AdviceKind.EVICT}
