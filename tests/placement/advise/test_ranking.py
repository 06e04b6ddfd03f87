"""Which advice comes first, what is left out, and how it looks to programs."""

from __future__ import annotations

import json

from mooring.placement.advise import Advice, AdviceKind, Asked, Edit, advise
from mooring.placement.advise.ranking import ranked
from mooring.testing import advised, cluster, node, pod


def advice(kind: AdviceKind, title: str, nodes: int = 1, *, last_resort: bool = False) -> Advice:
    edit = Edit("pod", "drop", f"/{title}", None, None)
    return Advice(kind, title, (edit,), node_count=nodes, last_resort=last_resort)


def test_what_disturbs_least_comes_first() -> None:
    found = [advice(kind, kind.name) for kind in reversed(AdviceKind)]
    assert [one.kind for one in ranked(found, 100)] == list(AdviceKind)


def test_within_a_kind_the_change_that_opens_most_nodes_comes_first() -> None:
    found = [
        advice(AdviceKind.TOLERATE, "b", 2),
        advice(AdviceKind.TOLERATE, "c", 5),
        advice(AdviceKind.TOLERATE, "a", 2),
    ]
    assert [one.title for one in ranked(found, 100)] == ["c", "a", "b"]


def test_every_kind_keeps_its_best_before_any_shows_a_second() -> None:
    found = [advice(AdviceKind.TOLERATE, f"t{i}", 9 - i) for i in range(5)] + [advice(AdviceKind.UNCORDON, "u")]
    assert [one.title for one in ranked(found, 3)] == ["t0", "t1", "u"]


def test_the_same_edit_is_shown_once() -> None:
    assert len(ranked([advice(AdviceKind.DROP, "x"), advice(AdviceKind.DROP, "x")], 10)) == 1


def test_a_last_resort_is_shown_only_on_its_own() -> None:
    poor, good = advice(AdviceKind.TOLERATE, "poor", last_resort=True), advice(AdviceKind.EVICT, "good")
    assert ranked([poor, good], 10) == [good]
    assert ranked([poor], 10) == [poor]


def test_programs_get_edits_command_and_nodes() -> None:
    found = advised(cluster(node("a", taints=["x=1:NoSchedule"])), pod("web"))
    assert json.loads(json.dumps(found[0].to_json())) == {
        "title": "Tolerate taint x=1:NoSchedule",
        "edits": [
            {
                "target": "pod",
                "op": "tolerate",
                "path": "/spec/tolerations/-",
                "before": None,
                "after": {"key": "x", "operator": "Equal", "value": "1", "effect": "NoSchedule"},
            }
        ],
        "command": None,
        "nodes": ["a"],
        "nodeCount": 1,
    }


def test_a_limit_is_kept() -> None:
    scene = cluster(*(node(f"n{i}", taints=[f"team-{i}=x:NoSchedule"]) for i in range(9)))
    assert len(advised(scene, pod("web"), limit=3)) == 3


def test_ten_pieces_of_advice_are_enough_unless_more_are_asked_for() -> None:
    ssd = {"disk": "ssd"}
    tainted = (node(f"t{i}", labels=ssd, taints=[f"team-{i}=x:NoSchedule"]) for i in range(4))
    others = (node("cordoned", labels=ssd, unschedulable=True), node("plain"), node("small", labels=ssd, cpu="1"))
    scene, web = cluster(*tainted, *others), pod("web", cpu="2", nodeSelector=ssd)
    asked = Asked(scene.explain(web), web)
    assert len(advise(scene.engine, asked).advice) == 10
    assert len(advise(scene.engine, asked, limit=11).advice) == 11
