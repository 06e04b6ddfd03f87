"""Stories about changes to nodes."""

from __future__ import annotations

import pytest

from mooring.kube.objects import Object
from mooring.placement.advise import Advice, AdviceKind
from mooring.testing import Scene, advised, cluster, node, pod

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
ZONE = "topology.kubernetes.io/zone"


def of(kind: AdviceKind, scene: Scene, asked: Object) -> list[Advice]:
    return [advice for advice in advised(scene, asked) if advice.kind is kind and not advice.parts]


def requiring(*expressions: Object) -> Object:
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}}}


def test_a_cordoned_node_can_be_uncordoned() -> None:
    (advice,) = of(AdviceKind.UNCORDON, cluster(node("a", unschedulable=True)), pod("web"))
    assert (advice.title, advice.command) == ("Uncordon node a", "kubectl uncordon a")
    assert [(edit.path, edit.after) for edit in advice.edits] == [
        ("/spec/unschedulable", False),
        ("/spec/taints/0", None),
    ]


def test_many_cordoned_nodes_make_one_entry() -> None:
    scene = cluster(*(node(name, unschedulable=True) for name in "abcd"))
    (advice,) = of(AdviceKind.UNCORDON, scene, pod("web"))
    assert advice.title == "Uncordon node a (or one of 3 other nodes)"
    assert (advice.nodes, advice.alternatives, advice.alternative_count) == (("a",), ("b", "c", "d"), 3)


def test_a_cordoned_node_with_a_taint_of_its_own_is_not_one_edit_away() -> None:
    assert not of(AdviceKind.UNCORDON, cluster(node("a", unschedulable=True, taints=["x=1:NoSchedule"])), pod("web"))


def test_a_taint_can_be_removed() -> None:
    scene = cluster(node("a", taints=["soft=1:PreferNoSchedule", "dedicated=ml:NoSchedule"]), node("b", cpu="1"))
    (advice,) = of(AdviceKind.UNTAINT, scene, pod("web", cpu="2"))
    assert advice.title == "Remove taint dedicated=ml:NoSchedule from node a"
    assert advice.command == "kubectl taint nodes a dedicated=ml:NoSchedule-"
    assert advice.edits[0].path == "/spec/taints/1"


def test_two_taints_are_not_removed_in_one_edit() -> None:
    assert not of(AdviceKind.UNTAINT, cluster(node("a", taints=["x=1:NoSchedule", "y=1:NoSchedule"])), pod("web"))


def test_a_node_under_pressure_is_not_untainted() -> None:
    scene = cluster(node("a", taints=["node.kubernetes.io/memory-pressure:NoSchedule"]))
    assert not of(AdviceKind.UNTAINT, scene, pod("web"))


def test_a_node_can_be_labelled_to_be_selected() -> None:
    (advice,) = of(AdviceKind.LABEL, cluster(node("a")), pod("web", nodeSelector={"tier": "gold"}))
    assert (advice.title, advice.command) == ("Label node a with tier=gold", "kubectl label node a tier=gold")
    assert (advice.edits[0].path, advice.edits[0].before) == ("/metadata/labels/tier", None)


def test_a_label_with_another_value_is_overwritten() -> None:
    scene = cluster(node("a", labels={"tier": "lead"}))
    (advice,) = of(AdviceKind.RELABEL, scene, pod("web", nodeSelector={"tier": "gold"}))
    assert advice.command == "kubectl label node a tier=gold --overwrite"


def test_a_node_without_the_label_is_preferred_to_one_with_another_value() -> None:
    scene = cluster(node("a", labels={"tier": "lead"}), node("b"))
    assert not of(AdviceKind.RELABEL, scene, pod("web", nodeSelector={"tier": "gold"}))
    (advice,) = of(AdviceKind.LABEL, scene, pod("web", nodeSelector={"tier": "gold"}))
    assert advice.title == "Label node b with tier=gold"


@pytest.mark.parametrize("where", [None, "a"])
def test_no_node_is_taken_from_pods_that_select_it_by_the_label(where: str | None) -> None:
    other = pod("serve-0", node=where, nodeSelector={"group": "serve-0"})
    scene = cluster(node("a", labels={"group": "serve-0"}), node("b", labels={"group": "serve-0"}), other)
    assert not of(AdviceKind.RELABEL, scene, pod("serve-2", nodeSelector={"group": "serve-2"}))
    shunning = pod("web", affinity=requiring({"key": "group", "operator": "DoesNotExist"}))
    assert not of(AdviceKind.UNLABEL, scene, shunning)


def test_no_node_is_added_for_a_value_that_is_misspelt() -> None:
    taken = pod("serve-0", cpu="8", node="a", nodeSelector={"tier": "premium"})
    scene = cluster(node("a", cpu="8", labels={"tier": "premium"}), taken)
    assert not of(AdviceKind.ADD_NODE, scene, pod("web", cpu="8", nodeSelector={"tier": "premuim"}))
    (advice,) = of(AdviceKind.ADD_NODE, scene, pod("web", cpu="8", nodeSelector={"tier": "spare"}))
    assert advice.title == "Add one more node like a, with the label tier=spare"


def test_a_replica_whose_own_nodes_are_missing_is_told_to_add_one_like_those_of_others() -> None:
    taken = pod("serve-0", cpu="8", node="a", nodeSelector={"group": "serve-0"})
    scene = cluster(node("a", cpu="8", labels={"group": "serve-0"}, taints=["group=serve-0:NoSchedule"]), taken)
    waiting = pod("serve-2", cpu="8", nodeSelector={"group": "serve-2"}, tolerations=["group=serve-2:NoSchedule"])
    (advice,) = of(AdviceKind.ADD_NODE, scene, waiting)
    assert advice.title == "Add one more node like a, with the label group=serve-2"
    (edit,) = advice.edits
    assert edit.after["metadata"]["labels"]["group"] == edit.after["spec"]["taints"][0]["value"] == "serve-2"


def test_another_value_of_a_label_is_the_last_change_that_costs_no_pod() -> None:
    scene = cluster(node("a", labels={"group": "gold"}), node("b", cpu="1", labels={"group": "silver"}))
    found = [advice.kind for advice in advised(scene, pod("web", cpu="2", nodeSelector={"group": "silver"}))]
    assert found[-1] is AdviceKind.RELABEL


def test_labels_that_identify_a_node_are_never_changed() -> None:
    scene = cluster(node("a", zone="eu-1", labels={"kubernetes.io/os": "linux"}))
    for key, value in ((ZONE, "eu-2"), ("kubernetes.io/hostname", "b"), ("kubernetes.io/os", "windows")):
        assert not of(AdviceKind.LABEL, scene, pod("web", nodeSelector={key: value}))


def test_a_missing_zone_may_be_added() -> None:
    (advice,) = of(AdviceKind.LABEL, cluster(node("a")), pod("web", nodeSelector={ZONE: "eu-1"}))
    assert advice.command == f"kubectl label node a {ZONE}=eu-1"


def test_a_label_that_must_exist_takes_a_value_that_others_have() -> None:
    asked = pod("web", cpu="4", affinity=requiring({"key": "ssd", "operator": "Exists"}))
    scene = cluster(node("a"), node("b", cpu="1", labels={"ssd": "nvme"}))
    (advice,) = of(AdviceKind.LABEL, scene, asked)
    assert advice.title == "Label node a with ssd=nvme"


def test_a_label_can_lift_a_number_over_its_bound() -> None:
    asked = pod("web", affinity=requiring({"key": "generation", "operator": "Gt", "values": ["4"]}))
    (advice,) = of(AdviceKind.RELABEL, cluster(node("a", labels={"generation": "3"})), asked)
    assert advice.command == "kubectl label node a generation=5 --overwrite"


def test_no_node_is_labelled_with_a_misspelling() -> None:
    scene = cluster(node("a", labels={"tier": "gold"}), node("b"))
    found = {advice.kind for advice in advised(scene, pod("web", nodeSelector={"tier": "glod"}))}
    assert found == {AdviceKind.CORRECT, AdviceKind.DROP}


def test_two_missing_labels_are_not_one_edit_away() -> None:
    assert not of(AdviceKind.LABEL, cluster(node("a")), pod("web", nodeSelector={"x": "1", "y": "2"}))


def test_a_label_that_the_pod_shuns_can_be_removed() -> None:
    asked = pod("web", affinity=requiring({"key": "legacy", "operator": "DoesNotExist"}))
    (advice,) = of(AdviceKind.UNLABEL, cluster(node("a", labels={"legacy": "yes"})), asked)
    assert (advice.title, advice.command) == ("Remove label legacy from node a", "kubectl label node a legacy-")


def test_a_zone_is_not_removed_because_a_pod_shuns_it() -> None:
    asked = pod("web", affinity=requiring({"key": ZONE, "operator": "NotIn", "values": ["eu-1"]}))
    assert not of(AdviceKind.UNLABEL, cluster(node("a", zone="eu-1")), asked)


def test_a_missing_topology_label_takes_the_value_of_the_emptiest_domain() -> None:
    web = {"app": "web"}
    constraint = {
        "maxSkew": 1,
        "topologyKey": "rack",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": web},
    }
    scene = cluster(
        node("a", cpu="1", labels={"rack": "r1"}),
        node("b", cpu="1", labels={"rack": "r2"}),
        node("c"),
        pod("web-1", labels=web, node="a"),
    )
    (advice,) = of(AdviceKind.LABEL, scene, pod("web", cpu="2", labels=web, topologySpreadConstraints=[constraint]))
    assert advice.title == "Label node c with rack=r2"


def test_a_missing_topology_label_takes_the_value_of_the_company_that_is_wanted() -> None:
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "rack"}
    scene = cluster(
        node("a", cpu="1", labels={"rack": "r1"}),
        node("b", cpu="1", labels={"rack": "r2"}),
        node("c"),
        pod("db-1", labels={"app": "db"}, node="b"),
    )
    (advice,) = of(AdviceKind.LABEL, scene, pod("web", cpu="2", affinity={"podAffinity": {REQUIRED: [term]}}))
    assert advice.title == "Label node c with rack=r2"
