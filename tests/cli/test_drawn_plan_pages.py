"""The page of drawn plans, line by line, beside a simple account of what stands on it."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from mooring.cli.given_manifests import GivenManifests
from mooring.cli.render.page import TextPage
from mooring.cli.render.plain import to_text
from mooring.cli.render.plan import plan_page
from mooring.plan.planner import PlannedNode, PlannedPod
from mooring.testing import node, pod
from tests.support.recordings import Draw

_SPANS = {None: "-", timedelta(): "0s", timedelta(seconds=90): "1m30s", timedelta(hours=2): "2h"}


def _plan(draw: Draw) -> Any:
    def moment() -> timedelta | None:
        return draw.one(tuple(_SPANS))

    names = [f"shop/p{number}" for number in range(draw.one((0, 1, 2, 40, 41, 1042)))]
    pods = [PlannedPod(name, pod(name), draw.one(("", "n1")), moment(), moment()) for name in names]
    for each in pods:
        each.object["status"] = draw.one(({}, {"phase": "Running"}))
    nodes = [node(f"n{number}") for number in range(draw.one((0, 1, 2, 41)))]
    for brought in nodes:
        brought["metadata"]["labels"] = draw.one(({}, {"node.kubernetes.io/instance-type": "big"}))
    moving = draw.one(((), ("Node n1", "Pod p1")))
    return SimpleNamespace(
        pods=pods,
        pending=[each for each in pods if not each.lands],
        nodes=[PlannedNode(each["metadata"]["name"], each, moment()) for each in nodes],
        waiting=draw.one(([], ["Group a waits for 2 nodes"])),
        evicted=[f"shop/e{number}" for number in range(draw.one((0, 1, 2, 12)))],
        settled=SimpleNamespace(moving=moving),
        unfinished=draw.one(([], ["Job b has 1 of 2"])) if moving else [],
        took=timedelta(seconds=draw.one((0, 90))),
        cluster=SimpleNamespace(is_live=draw.chance(0.5), warnings=["a warning"] * draw.below(2), inert=[], assumed=[],
                                simulation=SimpleNamespace(terminal={})),
        notes=["from a note"] * draw.below(2),
        objects=[],
    )  # fmt: skip


def _expected(plan: Any, unknowns: list[str], alike: list[int]) -> list[str]:
    """The lines without the spaces between columns."""
    count, left = len(plan.pods), len(plan.pending)
    head = f"{count - left:,} of {count:,} {'pod' if count == 1 else 'pods'} scheduled" if count else "No pod moves"
    head += ", as far as is known" if unknowns and count else ""
    how = "cut off" if plan.settled.moving else "settled"
    lines = [f"{head}; {how} after {_SPANS[plan.took]}", *(f"Not known: {each}." for each in unknowns)]
    if count:
        lines += ["", "POD NODE BOUND RUNNING PHASE"]
        for each in plan.pods[:40]:
            phase = each.object["status"].get("phase", "Pending")
            lines.append(f"{each.key} {each.node or '-'} {_SPANS[each.bound]} {_SPANS[each.running]} {phase}")
        lines += [f"... and {count - 40:,} more"] if count > 40 else []
    if more := len(plan.nodes):
        lines += ["", "1 node comes" if more == 1 else f"{more} nodes come", "NODE AFTER TYPE"]
        for each in plan.nodes[:40]:
            kind = " big" if each.object["metadata"]["labels"] else ""
            lines.append(f"{each.name} {_SPANS[each.came]}{kind}")
        lines += [f"... and {more - 40} more"] if more > 40 else []
    lines += ["", "Waiting", *plan.waiting] if plan.waiting else []
    if gone := len(plan.evicted):
        start = "cluster" if plan.cluster.is_live else "snapshot"
        lines += ["", f"1 pod of the {start} is gone" if gone == 1 else f"{gone} pods of the {start} are gone"]
        few = " and ".join(plan.evicted)
        lines.append(few if gone < 3 else f"{', '.join(plan.evicted[:10])} and {gone - 10} more")
    if plan.settled.moving:
        said = plan.unfinished or plan.settled.moving
        lines += ["", "Still moving at the horizon", *said, "A longer --horizon lets it go on."]
    for number in alike:
        others = {1: " stays pending", 2: " and 1 pod like it stay pending"}
        lines += ["", "shop/w" + others.get(number, f" and {number - 1} pods like it stay pending"), "why: False"]
    for note in (*plan.notes, *plan.cluster.warnings):
        lines += ["", f"Note: {note}"]
    return lines


def _why(cluster: Any, outcomes: list[Any], pools: tuple[()], *, all_nodes: bool) -> TextPage:
    page = TextPage()
    page.line(f"why: {all_nodes}")
    return page


def test_a_page_has_every_part_of_a_plan_and_its_head_the_colour_of_what_is_wrong() -> None:
    where = "mooring.cli.render.plan"
    for number in range(120):
        draw = Draw(f"plan {number}")
        plan, unknowns = _plan(draw), draw.some(("who pays", "what it costs"), 0.3)
        alike = [1 + draw.below(4) for _ in range(draw.below(3))] if plan.pending else []
        outcome = SimpleNamespace(unplaced=SimpleNamespace(key="shop/w"), like=None, advice=[])
        explained = [(outcome, None, each) for each in alike]
        with (
            patch(f"{where}.explained_pods", lambda plan, advice, explained=explained: explained),
            patch(f"{where}.explanation_page", _why),
        ):
            page = plan_page(plan, 0, unknowns, GivenManifests())
        found = [" ".join(line.split()) for line in to_text(page).splitlines()]
        assert found == _expected(plan, unknowns, alike), f"plan {number}"
        wrong = plan.pending or plan.waiting or plan.settled.moving
        head: Any = page.blocks[0]
        assert head.spans[0].style == ("bad" if wrong else "warn" if unknowns else "good"), f"plan {number}"
        shown = [each.lands for each in plan.pods[:40]]
        marked = [each.marked for each in page.blocks if hasattr(each, "marked")][:1] if plan.pods else []
        assert marked == ([{place for place, lands in enumerate(shown) if not lands}] if shown else []), (
            f"plan {number}"
        )
