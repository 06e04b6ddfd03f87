"""Outages: off which nodes pods are driven, how fast, and when not at all."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from mooring.builtin.nodelifecycle.outages import ZONES, reconcile
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Decision
from mooring.runtime.dispatcher.task import ALL
from mooring.testing import node
from mooring.testing.views import NOON, view_of
from tests.builtin.town import LIFECYCLE, NODES, Town

UNREACHABLE = "node.kubernetes.io/unreachable"
NOT_READY = "node.kubernetes.io/not-ready"


def standing(name: str, ready: str = "True", taint: str = "", ago: float = 100, **options: Any) -> Object:
    found = node(name, **{"zone": "z", **options})
    found["status"]["conditions"] = [{"type": "Ready", "status": ready, "lastTransitionTime": timestamp(NOON)}]
    if taint:
        added = timestamp(NOON - timedelta(seconds=ago))
        found["spec"]["taints"] = [{"key": taint, "effect": "NoExecute", "timeAdded": added}]
    return found


def decide(*nodes: Object, now: datetime = NOON) -> Decision:
    return reconcile(ALL, view_of(nodes, now, folds=(ZONES,)), now)


def written(decision: Decision) -> dict[str, list[str]]:
    """The outage taints that each node is given."""
    return {w.key.name: [t["key"] for t in w.body["spec"]["taints"] or ()] for w in decision.intent}  # type: ignore[union-attr]


def several(count: int, ready: str, prefix: str, zone: str = "z") -> list[Object]:
    return [standing(f"{prefix}{n:02}", ready, zone=zone) for n in range(count)]


@pytest.mark.parametrize(
    ("why", "nodes", "expected"),
    [
        ("all is well", several(3, "True", "n"), {}),
        ("one is silent", [*several(3, "True", "n"), standing("a", "Unknown")], {"a": [UNREACHABLE]}),
        ("one says that it is not ready", [*several(3, "True", "n"), standing("a", "False")], {"a": [NOT_READY]}),
        ("one has said nothing yet", [*several(3, "True", "n"), node("a")], {}),
        (
            "it is known",
            [*several(3, "True", "n"), standing("a", "Unknown", taint=UNREACHABLE)],
            {},
        ),
        (
            "it fares otherwise now, and that is said at once",
            [*several(3, "True", "n"), standing("a", "Unknown", taint=NOT_READY, ago=1)],
            {"a": [UNREACHABLE]},
        ),
        (
            "one of each zone, one after the other",
            [
                *several(4, "True", "n", "z"), *several(4, "True", "m", "y"),
                *several(2, "Unknown", "a", "z"), *several(2, "Unknown", "b", "y"),
            ],
            {"a00": [UNREACHABLE], "b00": [UNREACHABLE]},
        ),
        (
            "another one went a moment ago",
            [*several(4, "True", "n"), standing("a", "Unknown", taint=UNREACHABLE, ago=9), standing("b", "Unknown")],
            {},
        ),
        (
            "another one went ten seconds ago",
            [*several(4, "True", "n"), standing("a", "Unknown", taint=UNREACHABLE, ago=10), standing("b", "Unknown")],
            {"b": [UNREACHABLE]},
        ),
        ("most of a small zone is gone", [*several(2, "True", "n"), *several(3, "Unknown", "a")], {}),
        ("two of three are no crowd", [*several(1, "True", "n"), *several(2, "Unknown", "a")], {"a00": [UNREACHABLE]}),
        (
            "a whole zone is gone, but not all of them",
            [*several(1, "True", "n", "y"), *several(3, "Unknown", "a")],
            {"a00": [UNREACHABLE]},
        ),
        ("every node is gone", several(3, "Unknown", "a"), {}),
        (
            "every node is gone, so those that were driven from are let be",
            [standing("a", "Unknown", taint=UNREACHABLE)],
            {"a": []},
        ),
        (
            "the only one left does not count",
            [*several(1, "Unknown", "a"), standing("n", labels={"node.kubernetes.io/exclude-disruption": ""})],
            {},
        ),
    ],
)  # fmt: skip
def test_who_is_driven_from(why: str, nodes: list[Object], expected: dict[str, list[str]]) -> None:
    assert written(decide(*nodes)) == expected, why


def test_in_a_large_zone_of_which_most_is_gone_it_goes_slowly() -> None:
    crowd = [*several(20, "True", "n"), *several(35, "Unknown", "b")]
    first = standing("a", "Unknown", taint=UNREACHABLE, ago=99)
    assert written(decide(*crowd, first)) == {}
    assert written(decide(*crowd, first, now=NOON + timedelta(seconds=1))) == {"b00": [UNREACHABLE]}


def test_nodes_lost_together_are_driven_from_one_every_ten_seconds() -> None:
    nodes = [node(f"n{n}") for n in range(7)]
    town = Town(*nodes, controllers=(NODES, *LIFECYCLE), settled=True)
    for name in ("n0", "n1", "n2"):
        town.patch("Node", name, {"metadata": {"annotations": {"mooring.dev/lost": "yes"}}})
    town.run()
    added = sorted(
        taint["timeAdded"]
        for found in town.all("Node")
        for taint in found["spec"].get("taints", ())
        if taint["effect"] == "NoExecute"
    )
    assert added == ["2026-01-01T00:00:50Z", "2026-01-01T00:01:00Z", "2026-01-01T00:01:10Z"]
