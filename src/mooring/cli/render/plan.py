"""The page of a plan: how many pods land, each with its node and times, and why the others are pending."""

from __future__ import annotations

from collections.abc import Sequence

from mooring.cli.given_manifests import GivenManifests
from mooring.cli.render.application import add_application
from mooring.cli.render.explanation import explanation_page
from mooring.cli.render.page import TextColumn, TextPage
from mooring.cli.render.selection import add_selection
from mooring.kube.words import and_more, counted, spell
from mooring.plan.planner import Plan, PlannedPod
from mooring.runway.explain.plan_data import beginning, explained_pods, instance_type, notes, selections

# How many pods have a row each.
MAX_ROWS = 40


def plan_page(plan: Plan, advice: int, unknowns: Sequence[str], given: GivenManifests) -> TextPage:
    page = TextPage()
    landed, pending = len(plan.pods) - len(plan.pending), plan.pending
    ended = "cut off" if plan.settled.moving else "settled"
    head = f"{landed:,} of {counted(len(plan.pods), 'pod')} scheduled" if plan.pods else "No pod moves"
    is_bad = pending or plan.waiting or plan.settled.moving
    if unknowns and plan.pods:
        head += ", as far as is known"
    page.line(f"{head}; {ended} after {spell(plan.took)}", "bad" if is_bad else "warn" if unknowns else "good")
    for unknown in unknowns:
        page.line(f"Not known: {unknown}.", indent=2)
    if plan.pods:
        page.line()
        columns = (
            TextColumn("POD"),
            TextColumn("NODE"),
            TextColumn("BOUND"),
            TextColumn("RUNNING"),
            TextColumn("PHASE"),
        )
        shown = plan.pods[:MAX_ROWS]
        page.table(columns, map(_row, shown), marked=[i for i, pod in enumerate(shown) if not pod.lands])
        if len(plan.pods) > MAX_ROWS:
            page.line(f"... and {len(plan.pods) - MAX_ROWS:,} more", "dim", 2)
    if plan.nodes:
        page.title(f"{counted(len(plan.nodes), 'node')} {'comes' if len(plan.nodes) == 1 else 'come'}")
        rows = ((node.name, spell(node.came), instance_type(node)) for node in plan.nodes[:MAX_ROWS])
        page.table((TextColumn("NODE"), TextColumn("AFTER"), TextColumn("TYPE")), rows)
        if len(plan.nodes) > MAX_ROWS:
            page.line(f"... and {len(plan.nodes) - MAX_ROWS:,} more", "dim", 2)
    if plan.waiting:
        page.title("Waiting")
        for said in plan.waiting:
            page.line(said, indent=2)
    for obj, selection in selections(plan):
        add_selection(page, f"{obj['kind']} {obj['metadata']['namespace']}/{obj['metadata']['name']}", selection)
    if plan.evicted:
        are = "is" if len(plan.evicted) == 1 else "are"
        page.title(f"{counted(len(plan.evicted), 'pod')} of the {beginning(plan)} {are} gone")
        page.line(and_more(plan.evicted, 10), indent=2)
    if plan.settled.moving:
        page.title("Still moving at the horizon")
        for said in plan.unfinished or plan.settled.moving:
            page.line(said, indent=2)
        page.line("A longer --horizon lets it go on.", "dim", 2)
    explained = list(explained_pods(plan, advice))
    for outcome, cluster, alike in explained:
        stays = f" and {counted(alike - 1, 'pod')} like it stay pending" if alike > 1 else " stays pending"
        page.title(f"{outcome.unplaced.key}{stays}")
        page.blocks += explanation_page(cluster, [outcome], (), all_nodes=False).blocks
    for note in notes(plan):
        page.line()
        page.line(f"Note: {note}", "dim")
    add_application(page, [outcome for outcome, _, _ in explained], given)
    return page


def _row(pod: PlannedPod) -> tuple[str, str, str, str, str]:
    return pod.key, pod.node or "-", spell(pod.bound), spell(pod.running), pod.phase
