"""The page of a plan: how many pods land, each with its node and times, and why the others are pending."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from mooring.api.core.types import Pod
from mooring.catalog import CATALOG
from mooring.cli.asked_pods.unplaced_pods import PodSource, UnplacedPod
from mooring.cli.explainer import Explainer, PodOutcome, add_pool_notes
from mooring.cli.known_cluster import known_cluster
from mooring.cli.render.explanation import explanation_page
from mooring.cli.render.page import TextColumn, TextPage
from mooring.cli.render.selection import add_selection, selection_data
from mooring.cli.render.words import and_more, counted
from mooring.kube.objects import Object
from mooring.manifests.views import convert
from mooring.placement.engine import Engine
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.workloads.known_cluster import KnownCluster, NodeSelection
from mooring.plan.final_state import final_snapshot
from mooring.plan.planner import Plan, PlannedNode, PlannedPod

# How many pods have a row each, and how many that wait are explained in full.
MAX_ROWS = 40
MAX_STORIES = 3
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"


def plan_page(plan: Plan, advice: int, unknowns: Sequence[str]) -> TextPage:
    page = TextPage()
    landed, pending = len(plan.pods) - len(plan.pending), plan.pending
    ended = "cut off" if plan.settled.moving else "settled"
    head = f"{landed} of {counted(len(plan.pods), 'pod')} scheduled" if plan.pods else "No pod moves"
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
        rows = ((node.name, spell(node.came), _type(node)) for node in plan.nodes[:MAX_ROWS])
        page.table((TextColumn("NODE"), TextColumn("AFTER"), TextColumn("TYPE")), rows)
        if len(plan.nodes) > MAX_ROWS:
            page.line(f"... and {len(plan.nodes) - MAX_ROWS:,} more", "dim", 2)
    if plan.waiting:
        page.title("Waiting")
        for said in plan.waiting:
            page.line(said, indent=2)
    for obj, selection in _selections(plan):
        add_selection(page, f"{obj['kind']} {obj['metadata']['namespace']}/{obj['metadata']['name']}", selection)
    if plan.evicted:
        page.title(
            f"{counted(len(plan.evicted), 'pod')} of the snapshot {'is' if len(plan.evicted) == 1 else 'are'} gone"
        )
        page.line(and_more(plan.evicted, 10), indent=2)
    if plan.settled.moving:
        page.title("Still moving at the horizon")
        for said in plan.unfinished or plan.settled.moving:
            page.line(said, indent=2)
        page.line("A longer --horizon lets it go on.", "dim", 2)
    for outcome, cluster, alike in _explained(plan, advice):
        others = f" and {counted(alike - 1, 'pod')} like it" if alike > 1 else ""
        page.title(
            f"{outcome.unplaced.key}{others} stay pending" if alike > 1 else f"{outcome.unplaced.key} stays pending"
        )
        page.blocks += explanation_page(cluster, [outcome], (), all_nodes=False).blocks
    for note in _notes(plan):
        page.line()
        page.line(f"Note: {note}", "dim")
    return page


def _row(pod: PlannedPod) -> tuple[str, str, str, str, str]:
    return pod.key, pod.node or "-", spell(pod.bound), spell(pod.running), pod.phase


def spell(span: timedelta | None) -> str:
    """A stretch of time as people write it: `0s`, `1m30s`, `2h`."""
    if span is None:
        return "-"
    seconds = int(span.total_seconds())
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    parts = [f"{number}{unit}" for number, unit in ((hours, "h"), (minutes, "m"), (seconds, "s")) if number]
    return "".join(parts) or "0s"


def _type(node: PlannedNode) -> str:
    return str(node.object["metadata"].get("labels", {}).get(_INSTANCE_TYPE, ""))


def _selections(plan: Plan) -> list[tuple[Object, NodeSelection]]:
    """The nodes that workloads of the plan chose, as they are at its end."""
    known: KnownCluster | None = None
    found = []
    for obj in plan.objects:
        kind = CATALOG.workloads().get(obj["kind"])
        if kind is None or not kind.chooses_nodes:
            continue
        known = known or known_cluster(final_snapshot(plan), plan.cluster.configuration, plan.cluster.objects)
        metadata = obj["metadata"]
        if (selection := kind.select(obj, metadata["namespace"], known)) is not None:
            found.append((obj, selection))
    return found


def _notes(plan: Plan) -> Iterable[str]:
    yield from plan.cluster.warnings
    kinds = (CATALOG.workloads().get(obj["kind"]) for obj in plan.objects)
    yield from dict.fromkeys(kind.plan_note for kind in kinds if kind is not None and kind.plan_note)
    if plan.cluster.inert:
        yield f"nothing here acts on {and_more(plan.cluster.inert, 5)}; kept as it is"
    if plan.cluster.assumed:
        yield f"namespace {and_more(plan.cluster.assumed, 5)} is not in the snapshot; assumed to exist"
    if plan.cluster.simulation.terminal:
        for request, why in sorted(plan.cluster.simulation.terminal.items())[:3]:
            yield f"{request} was refused for good: {why}"


def _explained(plan: Plan, advice: int) -> Iterable[tuple[PodOutcome, SchedulerCache, int]]:
    """The pods that wait, one of each workload, with how many are like it."""
    groups: dict[str, list[PlannedPod]] = {}
    for pod in plan.pending:
        groups.setdefault(plan.origin(pod)[0]["metadata"]["uid"], []).append(pod)
    for members in list(groups.values())[:MAX_STORIES]:
        snapshot = final_snapshot(plan)
        first = members[0]
        snapshot.cluster.remove_pod(first.key)
        view = convert(first.object, Pod)
        unplaced = UnplacedPod(first.object, view, _source(plan, first))
        explainer = Explainer(
            Engine(snapshot.cluster), snapshot, thorough=False, each_node=False, limit=advice, pools=lambda: plan.pools
        )
        uid = plan.origin(first)[0]["metadata"]["uid"]
        own = [pod.key for pod in plan.pods if plan.origin(pod)[0]["metadata"]["uid"] == uid]
        (outcome,) = explainer.run([unplaced], own)
        add_pool_notes([outcome], plan.pools, plan.pool_decisions)
        yield outcome, snapshot.cluster, len(members)


def _source(plan: Plan, pod: PlannedPod) -> PodSource:
    """What commands should act on: the workload in its file where there is one."""
    top, workload = plan.origin(pod)
    meta = top["metadata"]
    kind = CATALOG.workloads().get(top["kind"])
    labels = pod.object["metadata"].get("labels") or {}
    path = "spec.template" if kind is None else kind.template_path(top, labels)
    file = workload.file if workload is not None else None
    manifest = workload.object if workload is not None else None
    return PodSource(top["kind"], meta.get("namespace", ""), meta["name"], path, file, manifest, live=workload is None)


def plan_data(plan: Plan, advice: int, unknowns: Sequence[str]) -> dict[str, Any]:
    """The same as data."""
    pods = [
        {
            "pod": pod.key,
            "node": pod.node or None,
            "boundAfterSeconds": _seconds(pod.bound),
            "runningAfterSeconds": _seconds(pod.running),
            "phase": pod.phase,
        }
        for pod in plan.pods
    ]
    pending = [
        {
            "pod": outcome.unplaced.key,
            "alike": alike,
            "message": outcome.message,
            "advice": [found.to_json() for found in outcome.advice],
        }
        for outcome, _, alike in _explained(plan, advice)
    ]
    return {
        "settled": not plan.settled.moving,
        "seconds": _seconds(plan.took),
        "pods": pods,
        "pending": pending,
        "nodes": [
            {"node": node.name, "cameAfterSeconds": _seconds(node.came), "type": _type(node) or None}
            for node in plan.nodes
        ],
        "workloads": [
            {
                "kind": obj["kind"],
                "namespace": obj["metadata"]["namespace"],
                "name": obj["metadata"]["name"],
                "nodes": selection_data(selection),
            }
            for obj, selection in _selections(plan)
        ],
        "waiting": plan.waiting,
        "evicted": plan.evicted,
        "moving": list(plan.settled.moving),
        "unfinished": plan.unfinished,
        "notKnown": list(unknowns),
        "notes": list(_notes(plan)),
    }


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()
