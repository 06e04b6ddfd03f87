"""Answers in the shape of the recorded ones: JSON objects with `nodes`, `feasible`, `best`, `message` and so on."""

from __future__ import annotations

from typing import Any

from mooring.placement.devices.dra_manager import ClaimWrite
from mooring.placement.engine import Explanation
from mooring.placement.filters import OUTSIDE
from mooring.placement.plugins.node_checks import DYNAMIC_RESOURCES
from mooring.placement.reservations import Reservation
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.scores import WEIGHTS
from mooring.placement.snapshot import to_object
from mooring.placement.verdicts import ERROR, Verdicts, code_of

Json = dict[str, Any]

# Asked only about pods that have volumes or claims for them.
VOLUME_FILTERS = ("NodeVolumeLimits", "VolumeBinding", "VolumeRestrictions", "VolumeZone")


def explain_answer(cluster: SchedulerCache, explanation: Explanation) -> Json:
    answer: Json = {}
    filters, verdicts = explanation.filters, explanation.verdicts
    if explanation.pod.claims:
        from mooring.placement.devices.dynamic_resources import pre_enqueue

        if (waits := pre_enqueue(cluster, explanation.pod)) is not None:
            answer["preEnqueue"] = [{"plugin": waits.plugin, "code": waits.code, "reasons": [waits.text]}]
    if explanation.rejected is not None:
        plugin, code, text = explanation.rejected
        status = {"plugin": plugin, "code": code, "reasons": [text]}
        answer["preFilter"] = status
        if plugin not in (*VOLUME_FILTERS, DYNAMIC_RESOURCES):
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
        # The first recordings tell of an error before filters in another way than the later ones of one in a filter.
        answer |= {"reason": "SchedulerError"} if "preFilter" in answer else {"schedulerError": True}
    if explanation.deallocated:
        answer["deallocated"] = [explanation.deallocated]
    preemption = explanation.preemption
    if preemption is not None and preemption.slot >= 0:
        nominated = cluster.names[preemption.slot]
        answer["nominated"] = nominated
        # Pods that are leaving already are not deleted again.
        victims = sorted(f"{nominated}: {p.key}" for p in preemption.victims if not p.terminating)
        if victims:
            answer["victims"] = victims
    return answer


def reserve_answer(reserved: Reservation) -> Json:
    """What is written for the chosen host, where anything is."""
    volumes = [
        {"claim": w.claim, **({"volume": w.volume} if w.volume else {"selectedNode": w.node})}
        for w in sorted(reserved.volumes)
    ]
    if reserved.error:
        return {"reserve": {"error": reserved.error}}
    written = {"volumes": volumes, "claims": [_claim_answer(write) for write in sorted(reserved.claims)]}
    found = {name: writes for name, writes in written.items() if writes}
    return {"reserve": found} if found else {}


def _claim_answer(write: ClaimWrite) -> Json:
    answer: Json = {"claim": write.claim, "devices": to_object(write.allocation.devices.results or ())}
    if write.allocation.node_selector is not None:
        answer["nodeSelector"] = to_object(write.allocation.node_selector)
    return {**answer, "reservedFor": [user.name for user in write.reserved_for]}


def _skipped_filters(explanation: Explanation) -> list[str]:
    filters = explanation.filters
    assert filters is not None
    template = explanation.pod.template
    skipped = {DYNAMIC_RESOURCES, *VOLUME_FILTERS} - {check.plugin for check in filters.checks.all}
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
            if verdicts.errors:
                node["all"] = [_with_text(verdicts, slot, part) for part in node.get("all", ())]
        elif slot in feasible and scores:
            node["scores"] = {p: {"raw": raw[slot], "weighted": weighted[slot]} for p, raw, weighted in scores}
            node["total"] = totals[slot]
        nodes.append(node)
    return nodes


def _with_text(verdicts: Verdicts, slot: int, part: Json) -> Json:
    """An error has another text on each node."""
    return {**part, "reasons": [verdicts.errors[part["plugin"], slot].text]} if part["code"] == ERROR else part
