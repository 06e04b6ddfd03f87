"""Rejections in words: every cause names what is in the way, and groups say it once."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from mooring.api.core.types import Pod
from mooring.kube.objects import Object
from mooring.placement.causes.amounts import amount
from mooring.placement.causes.nodes import all_node_causes, blocked_groups
from mooring.placement.engine import Engine, Explanation
from mooring.placement.requests import add_object
from mooring.placement.scheduler_cache import SchedulerCache


def node(name: str, labels: Object | None = None, **spec: Any) -> Object:
    amounts = spec.pop("allocatable", {"cpu": "8", "memory": "32Gi", "pods": "10"})
    known = {"kubernetes.io/hostname": name, **(labels or {})}
    return {"metadata": {"name": name, "labels": known}, "spec": spec, "status": {"allocatable": amounts}}


def pod(name: str, on: str = "", labels: Object | None = None, requests: Object | None = None, **spec: Any) -> Object:
    container = {"name": "c", "resources": {"requests": requests or {}}, "ports": spec.pop("ports", [])}
    metadata = {"name": name, "namespace": "default", "labels": labels or {}}
    return {"metadata": metadata, "spec": {"containers": [container], "nodeName": on, **spec}}


def explained(nodes: list[Object], pods: list[Object], incoming: Object) -> Explanation:
    cluster = SchedulerCache(len(nodes))
    for kind, objects in (("Node", nodes), ("Pod", pods)):
        for value in objects:
            add_object(cluster, kind, value)
    return Engine(cluster).explain(cluster.compiler.compile(msgspec.convert(incoming, Pod)))


def told(nodes: list[Object], pods: list[Object], incoming: Object, most: int = 8) -> list[tuple[list[str], list[str]]]:
    """The groups as names and texts."""
    explanation = explained(nodes, pods, incoming)
    assert explanation.filters is not None
    names = explanation.filters.cluster.names
    return [
        ([names[slot] for slot in group.slots.tolist()], [cause.text for cause in group.causes])
        for group in blocked_groups(explanation, most)
    ]


def term(key: str, operator: str, *values: str) -> Object:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def required(*terms: Object) -> Object:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def pod_term(app: str, key: str = "kubernetes.io/hostname") -> list[Object]:
    return [{"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}]


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TAINT = {"key": "team", "value": "ml", "effect": "NoSchedule"}

ALONE: list[tuple[str, list[Object], list[Object], Object, list[str]]] = [
    ("a cordon", [node("a", unschedulable=True)], [], pod("p"), ["cordoned (spec.unschedulable)"]),
    ("a taint with a value", [node("a", taints=[TAINT])], [], pod("p"), ["taint team=ml:NoSchedule is not tolerated"]),
    (
        "a taint without a value",
        [node("a", taints=[{"key": "spot", "effect": "NoExecute"}])],
        [],
        pod("p"),
        ["taint spot:NoExecute is not tolerated"],
    ),
    (
        "the taint of a cordon is not told twice",
        [node("a", unschedulable=True, taints=[{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}])],
        [],
        pod("p"),
        ["cordoned (spec.unschedulable)"],
    ),
    ("another name", [node("a")], [], pod("p", "b"), ["spec.nodeName asks for b"]),
    (
        "a selector with another value",
        [node("a", {"gpu": "t4"})],
        [],
        pod("p", nodeSelector={"gpu": "h100"}),
        ["nodeSelector gpu=h100: has t4"],
    ),
    (
        "a selector without the label",
        [node("a")],
        [],
        pod("p", nodeSelector={"gpu": "h100"}),
        ["nodeSelector gpu=h100: has no such label"],
    ),
    (
        "an affinity of one term",
        [node("a", {"gen": "3"})],
        [],
        pod("p", affinity=required(term("gen", "Gt", "4"))),
        ["node affinity gen>4: has 3"],
    ),
    (
        "an affinity of two terms",
        [node("a", {"gen": "3"})],
        [],
        pod("p", affinity=required(term("gen", "Gt", "4"), term("rack", "Exists"))),
        ["node affinity term 1 of 2: gen>4: has 3", "node affinity term 2 of 2: rack: has no such label"],
    ),
    (
        "an empty affinity term",
        [node("a")],
        [],
        pod("p", affinity=required({})),
        ["node affinity is empty, so it matches no node"],
    ),
    (
        "too little of a resource",
        [node("a")],
        [pod("q", "a", requests={"cpu": "6500m"})],
        pod("p", requests={"cpu": "2"}),
        ["needs 2 cpu, 1.5 of 8 free"],
    ),
    (
        "more than there is",
        [node("a")],
        [],
        pod("p", requests={"memory": "33Gi"}),
        ["needs 33Gi memory, has only 32Gi"],
    ),
    (
        "a resource that the node lacks",
        [node("a")],
        [],
        pod("p", requests={"nvidia.com/gpu": "1"}),
        ["needs 1 nvidia.com/gpu, has none"],
    ),
    (
        "too many pods",
        [node("a", allocatable={"cpu": "8", "memory": "8Gi", "pods": "1"})],
        [pod("q", "a")],
        pod("p"),
        ["full: 1 pod at most"],
    ),
    (
        "a port that another pod holds",
        [node("a")],
        [pod("q", "a", ports=[{"containerPort": 80, "hostPort": 80}])],
        pod("p", ports=[{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}]),
        ["host port 80/TCP is held by default/q"],
    ),
    (
        "affinity to pods that are nowhere",
        [node("a")],
        [],
        pod("p", affinity={"podAffinity": {REQUIRED: pod_term("db")}}),
        ["pod affinity: no pod on any node matches app=db"],
    ),
    (
        "affinity without the topology label",
        [node("a")],
        [],
        pod("p", affinity={"podAffinity": {REQUIRED: pod_term("db", "rack")}}),
        ["pod affinity to app=db: has no label rack"],
    ),
    (
        "anti-affinity to a pod that is there",
        [node("a")],
        [pod("q", "a", {"app": "db"})],
        pod("p", affinity={"podAntiAffinity": {REQUIRED: pod_term("db")}}),
        ["pod anti-affinity to app=db: default/q in kubernetes.io/hostname a"],
    ),
    (
        "the anti-affinity of a pod that is there",
        [node("a")],
        [pod("q", "a", affinity={"podAntiAffinity": {REQUIRED: pod_term("web")}})],
        pod("p", labels={"app": "web"}),
        ["anti-affinity of default/q refuses app=web in kubernetes.io/hostname a"],
    ),
]


@pytest.mark.parametrize(("nodes", "pods", "incoming", "texts"), [c[1:] for c in ALONE], ids=[c[0] for c in ALONE])
def test_what_blocks_a_single_node(nodes: list[Object], pods: list[Object], incoming: Object, texts: list[str]) -> None:
    assert told(nodes, pods, incoming) == [(["a"], texts)]


def test_affinity_to_pods_of_another_domain() -> None:
    incoming = pod("p", affinity={"podAffinity": {REQUIRED: pod_term("db")}})
    pods = [pod("q", "a", {"app": "db"}, requests={"cpu": "8"})]
    groups = told([node("a"), node("b")], pods, incoming)
    assert groups == [(["b"], ["pod affinity: no pod that matches app=db in kubernetes.io/hostname b"])]


def test_a_crowded_domain_says_how_many_and_where_there_are_fewest() -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    nodes = [node("a", {"zone": "x"}), node("b", {"zone": "y"}), node("c")]
    pods = [pod("q", "a", {"app": "web"}), pod("r", "a", {"app": "web"})]
    incoming = pod("p", labels={"app": "web"}, topologySpreadConstraints=[spread])
    assert told(nodes, pods, incoming) == [
        (["c"], ["spread over zone: has no such label"]),
        (["a"], ["spread over zone: 2 pods in x, the fewest are 0 in y, maxSkew 1"]),
    ]


def test_room_that_is_held_for_a_nominated_pod() -> None:
    nominated = pod("first", requests={"cpu": "8"}, priority=10)
    nominated["status"] = {"nominatedNodeName": "a"}
    groups = told([node("a"), node("b")], [nominated], pod("p", requests={"cpu": "1"}))
    assert groups[0][0] == ["a"]
    assert "room is held for default/first, nominated to this node" in groups[0][1]


def test_where_groups_are_many_a_pool_is_one_whatever_runs_short_there() -> None:
    nodes = [node(name, {"pool": "cpu"}) for name in "abc"]
    pods = [pod("q", "a", requests={"cpu": "7"}), pod("r", "b", requests={"memory": "31Gi"})]
    incoming = pod("p", requests={"cpu": "2", "memory": "4Gi"}, nodeSelector={"pool": "gpu"})
    assert [group[0] for group in told(nodes, pods, incoming)] == [["c"], ["a"], ["b"]]
    assert told(nodes, pods, incoming, most=2) == [
        (
            ["a", "b", "c"],
            [
                "nodeSelector pool=gpu: has cpu",
                "needs 2 cpu, 1 of 8 free (on 1 of them)",
                "needs 4Gi memory, 1Gi of 32Gi free (on 1 of them)",
            ],
        )
    ]


def test_nodes_that_only_run_short_are_told_apart_by_what_is_short() -> None:
    pods = [pod("q", "a", requests={"cpu": "7"}), pod("r", "b", requests={"memory": "31Gi"})]
    incoming = pod("p", requests={"cpu": "2", "memory": "4Gi"})
    assert [group[0] for group in told([node("a"), node("b")], pods, incoming)] == [["a"], ["b"]]


def test_values_of_a_group_are_counted() -> None:
    nodes = [node(f"n{i}", {"gpu": "t4" if i < 3 else "l4"}) for i in range(4)]
    assert told(nodes, [], pod("p", nodeSelector={"gpu": "h100"}))[0][1] == [
        "nodeSelector gpu=h100: has t4 (3), l4 (1)"
    ]


def test_nodes_nearest_to_fitting_come_first() -> None:
    nodes = [node("far", unschedulable=True, taints=[TAINT]), node("near", taints=[TAINT])]
    assert [group[0] for group in told(nodes, [], pod("p"))] == [["near"], ["far"]]


def test_every_node_has_causes_of_its_own() -> None:
    explanation = explained([node("a", taints=[TAINT]), node("b")], [], pod("p"))
    assert [[c.plugin for c in causes] for causes in all_node_causes(explanation).values()] == [["TaintToleration"]]


@pytest.mark.parametrize(
    ("resource", "number", "up", "text"),
    [
        ("cpu", 1500, False, "1.5"),
        ("cpu", 2000, False, "2"),
        ("cpu", 1, False, "0.001"),
        ("memory", 64 * 2**30, False, "64Gi"),
        ("memory", 64 * 2**30 - 1, False, "63.9Gi"),
        ("memory", 64 * 2**30 - 1, True, "64Gi"),
        ("memory", 512, False, "512"),
        ("nvidia.com/gpu", 8, False, "8"),
    ],
)
def test_amounts_never_claim_more_than_there_is(resource: str, number: int, up: bool, text: str) -> None:
    assert amount(resource, number, up=up) == text
