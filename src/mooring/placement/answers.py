"""Answers in the shape of the recorded ones: JSON objects with `nodes`, `feasible`, `best`, `message` and so on."""

from __future__ import annotations

from typing import Any

import msgspec

from mooring.api.apps.owners import ReplicaSet, StatefulSet
from mooring.api.core.types import Namespace, Node, Pod, ReplicationController, Service
from mooring.api.policy.budgets import PodDisruptionBudget
from mooring.placement.engine import ALL_NODES, Engine, Explanation
from mooring.placement.filters import OUTSIDE, code_of
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.scores import WEIGHTS

Json = dict[str, Any]

# What this engine does not evaluate; the real scheduler skips these for pods without volumes and claims.
NOT_EVALUATED = ("DynamicResources", "NodeVolumeLimits", "VolumeBinding", "VolumeRestrictions", "VolumeZone")


def add_object(cluster: SchedulerCache, kind: str, value: Any) -> bool:
    """Take an object of any kind that matters to placement into the cluster; False for other kinds."""
    match kind:
        case "Node":
            cluster.set_node(msgspec.convert(value, Node))
        case "Pod":
            cluster.set_pod(msgspec.convert(value, Pod))
        case "Namespace":
            cluster.set_namespace(msgspec.convert(value, Namespace))
        case "Service":
            cluster.default_selectors.set_service(msgspec.convert(value, Service))
        case "ReplicaSet":
            cluster.default_selectors.set_owner(kind, msgspec.convert(value, ReplicaSet))
        case "StatefulSet":
            cluster.default_selectors.set_owner(kind, msgspec.convert(value, StatefulSet))
        case "ReplicationController":
            cluster.default_selectors.set_owner(kind, msgspec.convert(value, ReplicationController))
        case "PodDisruptionBudget":
            cluster.set_budget(msgspec.convert(value, PodDisruptionBudget))
        case _:
            return False
    return True


def build(request: Json) -> SchedulerCache:
    nodes = request.get("nodes") or []
    cluster = SchedulerCache(len(nodes))
    for value in request.get("objects") or []:
        add_object(cluster, value["kind"], value)
    for value in nodes:
        add_object(cluster, "Node", value)
    for value in request.get("pods") or []:
        add_object(cluster, "Pod", value)
    return cluster


def explain_answer(cluster: SchedulerCache, explanation: Explanation) -> Json:
    answer: Json = {}
    filters, verdicts = explanation.filters, explanation.verdicts
    if explanation.rejected is not None:
        plugin, code, text = explanation.rejected
        status = {"plugin": plugin, "code": code, "reasons": [text]}
        answer["preFilter"] = status
        answer["nodes"] = [{"name": cluster.names[slot], **status} for slot in explanation.order.tolist()]
    elif filters is not None:
        answer["preFilter"] = {"plugin": "", "code": "Success"}
    if filters is not None and verdicts is not None:
        if filters.narrowed is not None:
            answer["preFilterNodeNames"] = sorted(filters.narrowed)
        answer["skippedFilters"] = _skipped_filters(explanation)
        answer["nodes"] = _nodes(cluster, explanation)
    if explanation.feasible.size:
        names = cluster.names
        answer["feasible"] = [names[slot] for slot in explanation.feasible.tolist()]
        if explanation.scores:
            scored = {score.plugin for score in explanation.scores}
            answer["skippedScores"] = sorted({*WEIGHTS, "VolumeBinding"} - scored)
            answer["best"] = [names[slot] for slot in explanation.best.tolist()]
        if explanation.chosen >= 0:
            answer["suggestedHost"] = names[explanation.chosen]
    if explanation.message:
        answer["message"] = explanation.message
    if explanation.error:
        answer["reason"] = "SchedulerError"
    preemption = explanation.preemption
    if preemption is not None and preemption.slot >= 0:
        nominated = cluster.names[preemption.slot]
        answer["nominated"] = nominated
        # Pods that are leaving already are not deleted again.
        victims = sorted(f"{nominated}: {p.key}" for p in preemption.victims if not p.terminating)
        if victims:
            answer["victims"] = victims
    return answer


def _skipped_filters(explanation: Explanation) -> list[str]:
    filters = explanation.filters
    assert filters is not None
    template = explanation.pod.template
    skipped = set(NOT_EVALUATED)
    if template.node_terms is None:
        skipped.add("NodeAffinity")
    if not template.ports:
        skipped.add("NodePorts")
    if filters.spread is None:
        skipped.add("PodTopologySpread")
    if filters.interpod is None:
        skipped.add("InterPodAffinity")
    return sorted(skipped)


def _nodes(cluster: SchedulerCache, explanation: Explanation) -> list[Json]:
    verdicts = explanation.verdicts
    assert verdicts is not None
    order = explanation.order.tolist()
    bits = verdicts.bits.tolist()
    feasible = set(explanation.feasible.tolist())
    scores = [(s.plugin, s.raw.tolist(), s.weighted.tolist()) for s in explanation.scores]
    totals = explanation.totals.tolist()
    rejections: dict[int, Json] = {}
    nodes: list[Json] = []
    for slot in order:
        node: Json = {"name": cluster.names[slot], "code": "Success"}
        value = bits[slot]
        if value:
            if value not in rejections:
                first = verdicts.first(value)
                found: Json = {"code": code_of(first), "reasons": [r.text for r in first]}
                if first[0] != OUTSIDE:
                    found["plugin"] = first[0].plugin
                    found["all"] = [
                        {"plugin": group[0].plugin, "code": code_of(group), "reasons": [r.text for r in group]}
                        for group in verdicts.by_plugin(value)
                    ]
                rejections[value] = found
            node |= rejections[value]
        elif slot in feasible and scores:
            node["scores"] = {p: {"raw": raw[slot], "weighted": weighted[slot]} for p, raw, weighted in scores}
            node["total"] = totals[slot]
        nodes.append(node)
    return nodes


def explain_request(request: Json) -> Json:
    """Answer a request about one pod."""
    cluster = build(request)
    engine = Engine(cluster, _percentage(request))
    pod = cluster.compiler.compile(msgspec.convert(request["pod"], Pod))
    return {"id": request.get("id"), **explain_answer(cluster, engine.explain(pod))}


def schedule_request(request: Json) -> Json:
    """Answer a request about pods that come one after another, each placed before the next."""
    cluster = build(request)
    engine = Engine(cluster, _percentage(request))
    scheduled: list[Json] = []
    for value in request.get("pending") or []:
        pod = cluster.compiler.compile(msgspec.convert(value, Pod))
        placement = engine.schedule(pod)
        entry: Json = {"pod": pod.key}
        if placement.slot >= 0:
            entry["node"] = cluster.names[placement.slot]
            entry["evaluated"] = placement.evaluated
            entry["feasible"] = placement.feasible
            cluster.bind(pod, placement.slot)
        else:
            entry["message"] = placement.message
        scheduled.append(entry)
    return {"id": request.get("id"), "scheduled": scheduled}


def _percentage(request: Json) -> int:
    """All nodes are scored unless the request asks for a sample; 0 lets the size of the cluster decide."""
    found = request.get("percentageOfNodesToScore")
    return ALL_NODES if found is None else int(found)
