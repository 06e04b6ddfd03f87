"""A plan as data, and what its page shows beside the pods: why pods stay pending, the nodes that were chosen, notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from mooring.api.core.types import Pod
from mooring.catalog import CATALOG
from mooring.kube.objects import Object
from mooring.kube.words import and_more
from mooring.manifests.views import convert
from mooring.placement.engine import Engine
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.workloads.known_cluster import KnownCluster, NodeSelection
from mooring.plan.final_state import final_snapshot
from mooring.plan.planner import Plan, PlannedNode, PlannedPod
from mooring.runway.explain.asked_pods.unplaced_pods import PodSource, UnplacedPod
from mooring.runway.explain.explainer import Explainer, PodOutcome, add_pool_notes
from mooring.runway.explain.known_cluster import known_cluster
from mooring.runway.explain.selection_data import selection_data

__all__ = ["explained_pods", "instance_type", "notes", "plan_data", "selections"]

# How many pods that wait are explained in full.
MAX_STORIES = 3
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"


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
        for outcome, _, alike in explained_pods(plan, advice)
    ]
    return {
        "settled": not plan.settled.moving,
        "seconds": _seconds(plan.took),
        "pods": pods,
        "pending": pending,
        "nodes": [
            {"node": node.name, "cameAfterSeconds": _seconds(node.came), "type": instance_type(node) or None}
            for node in plan.nodes
        ],
        "workloads": [
            {
                "kind": obj["kind"],
                "namespace": obj["metadata"]["namespace"],
                "name": obj["metadata"]["name"],
                "nodes": selection_data(selection),
            }
            for obj, selection in selections(plan)
        ],
        "waiting": plan.waiting,
        "evicted": plan.evicted,
        "moving": list(plan.settled.moving),
        "unfinished": plan.unfinished,
        "notKnown": list(unknowns),
        "notes": list(notes(plan)),
    }


def _seconds(span: timedelta | None) -> float | None:
    return None if span is None else span.total_seconds()


def selections(plan: Plan) -> list[tuple[Object, NodeSelection]]:
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


def notes(plan: Plan) -> Iterable[str]:
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


def explained_pods(plan: Plan, advice: int) -> Iterable[tuple[PodOutcome, SchedulerCache, int]]:
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


def instance_type(node: PlannedNode) -> str:
    return str(node.object["metadata"].get("labels", {}).get(_INSTANCE_TYPE, ""))
