"""The page of a large plan: as many rows as can be read, and how many more there are."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mooring.cli.given_manifests import GivenManifests
from mooring.cli.render.page import Table, TextLine
from mooring.cli.render.plan import plan_page
from mooring.plan.planner import Plan, PlannedNode, PlannedPod
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.runtime.drivers.simulation import START, Settled
from mooring.testing import node, pod

SOON = timedelta(seconds=1)
POD = pod("p")
POD["metadata"]["uid"] = "u"


@pytest.mark.parametrize(("count", "rows", "more"), [(40, 40, []), (41, 40, ["... and 1 more"] * 2)])
def test_forty_pods_and_nodes_have_a_row_each_and_the_others_are_counted(
    count: int, rows: int, more: list[str]
) -> None:
    plan = Plan(
        SimulatedCluster([]),
        Settled(START, 1),
        [PlannedPod(f"default/p{each}", POD, "n", SOON, SOON) for each in range(count)],
        [PlannedNode(f"n{each}", node(f"n{each}"), SOON) for each in range(count)],
    )
    page = plan_page(plan, 0, (), GivenManifests())
    assert [len(each.rows) for each in page.blocks if isinstance(each, Table)] == [rows, rows]
    lines = ["".join(span.text for span in each.spans) for each in page.blocks if isinstance(each, TextLine)]
    assert [line for line in lines if line.startswith("...")] == more
    assert f"{count} nodes come" in lines


@pytest.mark.parametrize(
    ("pods", "unknowns", "head"),
    [
        (1, (), "1 of 1 pod scheduled; settled after 0s"),
        (1, ("who pays",), "1 of 1 pod scheduled, as far as is known; settled after 0s"),
        (0, ("who pays",), "No pod moves; settled after 0s"),
    ],
)
def test_a_plan_that_rests_on_what_is_not_known_says_so(pods: int, unknowns: tuple[str, ...], head: str) -> None:
    planned = [PlannedPod("default/p", POD, "n", SOON, SOON)] * pods
    page = plan_page(Plan(SimulatedCluster([]), Settled(START, 1), planned), 0, unknowns, GivenManifests())
    lines = ["".join(span.text for span in each.spans) for each in page.blocks if isinstance(each, TextLine)]
    assert lines[0] == head
    assert [line for line in lines if line.startswith("Not known")] == [f"Not known: {each}." for each in unknowns]
