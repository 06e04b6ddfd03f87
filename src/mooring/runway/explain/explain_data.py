"""Answers for programs: the scheduler's own answer with the pod, what blocks its nodes, and the advice added."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mooring.kube.errors import unique_texts
from mooring.placement.answers import VOLUME_FILTERS
from mooring.placement.causes.volumes import awaited_claims
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.runway.explain.asked_pods.found_pods import FoundWorkload
from mooring.runway.explain.explainer import PodOutcome
from mooring.runway.explain.selection_data import workload_data

__all__ = ["explain_data"]

Json = dict[str, Any]


def explain_data(
    cluster: SchedulerCache, outcomes: Sequence[PodOutcome], notes: Sequence[str], workloads: Sequence[FoundWorkload]
) -> Json:
    """One pod is told as such, several as a list, and so are the pods of workloads that chose their nodes."""
    told = [_one(cluster, outcome, notes) for outcome in outcomes]
    if workloads:
        return {"workloads": [workload_data(each) for each in workloads], "pods": told}
    return told[0] if len(told) == 1 else {"pods": told}


def _one(cluster: SchedulerCache, outcome: PodOutcome, notes: Sequence[str]) -> Json:
    data: Json = {"pod": outcome.unplaced.key, "lands": outcome.lands and not outcome.unknowns}
    if outcome.may_land:
        data["mayLand"] = True
    if outcome.lands:
        data["node"] = outcome.node
    if outcome.unplaced.errors:
        data["invalid"] = unique_texts(outcome.unplaced.errors)
    if outcome.gates:
        data["schedulingGates"] = list(outcome.gates)
    data |= outcome.answer
    if outcome.causes:
        data["nodes"] = [
            node | {"causes": [cause._asdict() for cause in outcome.causes[cluster.slots[node["name"]]]]}
            if cluster.slots[node["name"]] in outcome.causes
            else node
            for node in outcome.answer.get("nodes", [])
        ]
    if outcome.blocked:
        data["blocked"] = [
            {
                "nodes": [cluster.names[slot] for slot in group.slots.tolist()],
                "causes": [cause._asdict() for cause in group.causes],
            }
            for group in outcome.blocked
        ]
    if (rejected := outcome.explanation and outcome.explanation.rejected) and rejected.plugin in VOLUME_FILTERS:
        assert outcome.info is not None
        data["waitsFor"] = awaited_claims(cluster, outcome.info)
    data["advice"] = [advice.to_json() for advice in outcome.advice]
    remarks = [*notes, *outcome.unplaced.notes]
    if outcome.unknowns:
        data["notKnown"] = list(outcome.unknowns)
    if remarks:
        data["notes"] = remarks
    return data
