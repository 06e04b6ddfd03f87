"""The nodes of an answer: those that fit with their scores, those that do not by what blocks them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mooring.cli.render.page import TextColumn, TextPage
from mooring.kube.words import and_more, counted, nodes
from mooring.placement.causes.nodes import MAX_GROUPS, Blocked, Cause
from mooring.placement.engine import Explanation
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.runway.explain.explainer import PodOutcome

# What is shown unless all nodes are asked for.
TOP_NODES = 5
NAMES = 3

SHORT = {
    "NodeResourcesFit": "ResourcesFit",
    "NodeResourcesBalancedAllocation": "Balanced",
    "PodTopologySpread": "TopologySpread",
}
FILTER_WIDTH = 17


def add_feasible(page: TextPage, cluster: SchedulerCache, explanation: Explanation, shown: int = TOP_NODES) -> None:
    feasible = explanation.feasible
    if not feasible.size:
        return
    page.title(f"{nodes(feasible.size)} fit" if feasible.size > 1 else "1 node fits")
    if not explanation.scores:
        page.line(and_more([cluster.names[slot] for slot in feasible.tolist()], shown), indent=2)
        return
    totals = explanation.totals[feasible]
    # The chosen node first, then by points; nodes of equal points stay in the scheduler's order.
    ranked = feasible[np.lexsort((feasible != explanation.chosen, -totals))]
    differing = [s for s in explanation.scores if np.ptp(s.weighted[feasible])]
    if feasible.size == 1:
        differing = [s for s in explanation.scores if s.weighted[feasible[0]]]
    columns = [TextColumn("NODE"), TextColumn("POINTS", right=True)]
    columns += [TextColumn(SHORT.get(s.plugin, s.plugin), right=True) for s in differing]
    rows = [
        (cluster.names[slot], str(explanation.totals[slot]), *(str(s.weighted[slot]) for s in differing))
        for slot in ranked[:shown].tolist()
    ]
    page.table(columns, rows, marked=[0])
    if feasible.size > shown:
        page.line(f"and {counted(feasible.size - shown, 'more node')} (--all-nodes lists them)", "dim", 2)
    same = [(s.plugin, int(s.weighted[feasible[0]])) for s in explanation.scores if s not in differing]
    same = [(plugin, points) for plugin, points in same if points]
    if same and feasible.size > 1:
        page.line("the same on each: " + ", ".join(f"{SHORT.get(p, p)} {points}" for p, points in same), "dim", 2)


def add_blocked(page: TextPage, cluster: SchedulerCache, groups: Sequence[Blocked]) -> None:
    if not groups:
        return
    total = sum(group.slots.size for group in groups)
    page.title(f"{nodes(total)} do not fit" if total > 1 else "1 node does not fit")
    shown = groups if len(groups) <= MAX_GROUPS + 1 else groups[:MAX_GROUPS]
    width = max(len(f"{group.slots.size:,}") for group in shown)
    for group in shown:
        names = and_more([cluster.names[slot] for slot in group.slots.tolist()], NAMES)
        page.spans((f"{group.slots.size:>{width},}", "bold"), (f"  {names}", "bold"), indent=2)
        add_causes(page, group.causes, width + 4)
    if len(shown) < len(groups):
        rest = groups[len(shown) :]
        count = sum(group.slots.size for group in rest)
        page.line(f"and {counted(count, 'more node')} in {len(rest)} groups (--all-nodes lists them)", "dim", 2)


def add_causes(page: TextPage, causes: Sequence[Cause], indent: int) -> None:
    rows = []
    above = ""
    for cause in causes:
        rows.append(("" if cause.plugin == above else cause.plugin, cause.text))
        above = cause.plugin
    page.table([TextColumn(least=FILTER_WIDTH, style="dim"), TextColumn()], rows, indent)


def add_each_node(page: TextPage, cluster: SchedulerCache, outcome: PodOutcome) -> None:
    """Every node by itself, in the scheduler's order."""
    explanation = outcome.explanation
    assert explanation is not None
    add_feasible(page, cluster, explanation, explanation.feasible.size)
    if not outcome.causes:
        return
    page.title(f"{nodes(len(outcome.causes))} do not fit")
    rows = []
    for slot, causes in outcome.causes.items():
        name = cluster.names[slot]
        for cause in causes:
            rows.append((name, cause.plugin, cause.text))
            name = ""
    page.table([TextColumn("NODE"), TextColumn("FILTER", style="dim"), TextColumn("WHY NOT")], rows)
