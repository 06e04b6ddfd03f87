"""Advice that changes the node selector and the node affinity of a pod."""

from __future__ import annotations

from mooring.placement.advise import AdviceKind
from mooring.testing import advised, cluster, node, pod
from tests.placement.advise.pod_side import REQUIRED, of, requiring, titles

# Node selector and node affinity


def test_a_misspelt_selector_value_is_corrected_first_of_all() -> None:
    scene = cluster(node("a", labels={"purpose": "training"}), node("b", labels={"purpose": "inference"}))
    first, *_ = advised(scene, pod("web", nodeSelector={"purpose": "trainign"}))
    assert first.kind is AdviceKind.CORRECT
    assert first.title == 'Correct nodeSelector purpose from "trainign" to "training"'
    assert first.nodes == ("a",)
    assert (first.edits[0].path, first.edits[0].after) == ("/spec/nodeSelector/purpose", "training")


def test_a_value_that_exists_is_not_a_misspelling() -> None:
    scene = cluster(node("a", labels={"pool": "pool-a"}, cpu="1"), node("b", labels={"pool": "pool-b"}))
    asked = pod("web", cpu="2", nodeSelector={"pool": "pool-a"})
    assert not of(AdviceKind.CORRECT, scene, asked)
    assert titles(AdviceKind.WIDEN, scene, asked) == ['Change nodeSelector pool from "pool-a" to "pool-b"']


def test_values_that_differ_in_digits_are_different_values() -> None:
    scene = cluster(node("a", labels={"model": "gen4-large"}))
    assert not of(AdviceKind.CORRECT, scene, pod("web", nodeSelector={"model": "gen5-large"}))


def test_a_misspelt_selector_key_is_corrected() -> None:
    scene = cluster(node("a", labels={"disktype": "ssd"}))
    assert titles(AdviceKind.CORRECT, scene, pod("web", nodeSelector={"disktyp": "ssd"})) == [
        'Correct nodeSelector key "disktyp" to "disktype"'
    ]


def test_a_key_without_its_prefix_is_corrected() -> None:
    scene = cluster(node("a", labels={"nvidia.com/gpu.product": "H100"}))
    (advice,) = of(AdviceKind.CORRECT, scene, pod("web", nodeSelector={"gpu.product": "H100"}))
    assert [edit.path for edit in advice.edits] == [
        "/spec/nodeSelector/gpu.product",
        "/spec/nodeSelector/nvidia.com~1gpu.product",
    ]


def test_a_selector_key_can_be_dropped() -> None:
    scene = cluster(node("a", labels={"x": "1"}))
    assert titles(AdviceKind.DROP, scene, pod("web", nodeSelector={"x": "1", "y": "2"})) == ["Drop nodeSelector y: 2"]


def test_two_wrong_selector_keys_are_not_one_edit_away() -> None:
    assert not of(AdviceKind.DROP, cluster(node("a")), pod("web", nodeSelector={"x": "1", "y": "2"}))


def test_one_condition_of_the_required_affinity_can_be_dropped() -> None:
    asked = pod(
        "web", affinity=requiring({"key": "ssd", "operator": "Exists"}, {"key": "x", "operator": "DoesNotExist"})
    )
    (advice,) = of(AdviceKind.DROP, cluster(node("a")), asked)
    assert advice.title == "Drop ssd Exists from required node affinity term 0"
    assert advice.edits[0].path == f"/spec/affinity/nodeAffinity/{REQUIRED}/nodeSelectorTerms/0/matchExpressions/0"


def test_the_only_condition_goes_with_the_whole_affinity() -> None:
    asked = pod("web", affinity=requiring({"key": "ssd", "operator": "Exists"}))
    assert titles(AdviceKind.DROP, cluster(node("a")), asked) == ["Drop the required node affinity"]


def test_a_list_of_values_can_be_widened() -> None:
    scene = cluster(node("a", zone="eu-1"))
    asked = pod(
        "web",
        affinity=requiring({"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["us-1", "us-2"]}),
    )
    (advice,) = of(AdviceKind.WIDEN, scene, asked)
    assert advice.edits[0].path.endswith("/matchExpressions/0/values/-")
    assert advice.edits[0].after == "eu-1"


def test_a_misspelt_value_among_several_is_corrected() -> None:
    scene = cluster(node("a", labels={"tier": "gold"}))
    asked = pod("web", affinity=requiring({"key": "tier", "operator": "In", "values": ["glod", "silver"]}))
    (advice,) = of(AdviceKind.CORRECT, scene, asked)
    assert advice.edits[0].path.endswith("/values/0")


def test_a_bound_is_moved_only_as_far_as_needed() -> None:
    scene = cluster(node("a", labels={"cores": "32"}), node("b", labels={"cores": "64"}))
    asked = pod("web", affinity=requiring({"key": "cores", "operator": "Gt", "values": ["100"]}))
    (advice,) = of(AdviceKind.WIDEN, scene, asked)
    assert (advice.edits[0].after, advice.nodes) == ("63", ("b",))


def test_a_value_can_be_taken_out_of_what_is_excluded() -> None:
    scene = cluster(node("a", labels={"tier": "gold"}))
    asked = pod("web", affinity=requiring({"key": "tier", "operator": "NotIn", "values": ["gold", "silver"]}))
    (advice,) = of(AdviceKind.WIDEN, scene, asked)
    assert advice.title.startswith('Take "gold" out of')


def test_a_misspelt_node_name_is_corrected() -> None:
    scene = cluster(node("worker-a"), node("machine-b"))
    fields = [{"key": "metadata.name", "operator": "In", "values": ["wroker-a"]}]
    (advice,) = of(AdviceKind.CORRECT, scene, pod("web", affinity=requiring(fields=fields)))
    assert advice.nodes == ("worker-a",)


def test_conflicting_node_names_are_resolved_by_dropping_one() -> None:
    fields = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("a", "b")]
    scene = cluster(node("a"), node("b"))
    found = of(AdviceKind.DROP, scene, pod("web", affinity=requiring(fields=fields)))
    assert {advice.nodes for advice in found} == {("a",), ("b",)}


def test_the_node_name_of_a_pod_can_be_dropped() -> None:
    asked = pod("web", nodeName="gone")
    assert titles(AdviceKind.DROP, cluster(node("a")), asked) == [
        'Drop spec.nodeName "gone" and let the scheduler choose'
    ]
