"""Explain and plan, as the commands of the same names answer."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any, Final

import msgspec

from mooring.client.http import HttpTransport
from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.plan.final_state import unknowns_of
from mooring.plan.planner import PlannedWorkload, make_plan
from mooring.plan.simulated_cluster import SimulatedCluster
from mooring.runway.explain.asked_pods.given import Given, GivenList
from mooring.runway.explain.explain_data import explain_data
from mooring.runway.explain.explain_target import ExplainTarget, parse_target
from mooring.runway.explain.node.cordon import cordon_change
from mooring.runway.explain.node.data import node_data
from mooring.runway.explain.node.report import report_node
from mooring.runway.explain.plan_data import plan_data
from mooring.runway.explain.pod_answers import PodQuestion, answer_pods
from mooring.runway.proposals import proposal
from mooring.runway.rest.errors import ErrorDetail, RestError
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.sources.live_objects import live_objects
from mooring.runway.sources.live_source import PAGE

__all__ = ["QUESTION_ROUTES"]

_ADVICE_OF_A_PLAN: Final = 3
_HORIZON: Final = timedelta(hours=1)


class ExplainAsked(msgspec.Struct, frozen=True):
    """A workload or pod of the cluster by kind and name, or a manifest that is not there yet."""

    kind: str = ""
    namespace: str = ""
    name: str = ""
    manifest: dict[str, Any] | None = None


class PlanAsked(msgspec.Struct, frozen=True):
    manifests: tuple[dict[str, Any], ...]
    namespace: str = "default"


async def _explain(call: RestCall) -> Object:
    asked: ExplainAsked = call.body
    question = PodQuestion(_about(asked), call.service.facts.configuration, asked.namespace)

    def work() -> Object:
        source = call.service.source(call.caller)
        try:
            answer = answer_pods(source, question)
        finally:
            source.close()
        data = explain_data(
            answer.snapshot.cluster, answer.outcomes, answer.notes, answer.found.workloads, answer.waves
        )
        for told, outcome in zip(data.get("pods", [data]), answer.outcomes, strict=True):
            told["proposals"] = [proposal(advice) for advice in outcome.advice]
        return data

    return await call.service.compute(work)


async def _node(call: RestCall) -> Object:
    name = call.path["name"]

    def work() -> Object:
        source = call.service.source(call.caller)
        try:
            report = report_node(source, name)
        finally:
            source.close()
        return {**node_data(report), "cordon": cordon_change(name, cordoned=report.node.spec.unschedulable)}

    return await call.service.compute(work)


def _about(asked: ExplainAsked) -> ExplainTarget | Given:
    if asked.manifest is not None:
        if asked.kind or asked.name:
            raise _missing("manifest", "is given beside kind and name; give one of them")
        _check_manifest("manifest", asked.manifest)
        return GivenList("manifest", [asked.manifest])
    if not asked.kind or not asked.name:
        raise _missing("kind", "is missing: name a kind and a name, or give a manifest")
    return parse_target(f"{asked.kind.lower()}/{asked.name}")


def _missing(field: str, problem: str) -> RestError:
    return RestError(422, f"{field}: {problem}", [ErrorDetail(field, problem)])


def _check_manifest(field: str, manifest: Object) -> None:
    for name in ("apiVersion", "kind"):
        if not isinstance(manifest.get(name), str) or not manifest[name]:
            raise _missing(f"{field}.{name}", "must be a text that is not empty")
    if not isinstance(manifest.get("metadata", {}), dict):
        raise _missing(f"{field}.metadata", "must be an object")


async def _plan(call: RestCall) -> Object:
    asked: PlanAsked = call.body
    if not asked.manifests:
        raise _missing("manifests", "must hold at least one object")
    for number, manifest in enumerate(asked.manifests):
        _check_manifest(f"manifests[{number}]", manifest)
    configuration = call.service.facts.configuration

    def work() -> Object:
        cluster = SimulatedCluster(asyncio.run(_objects(call)), configuration=configuration)
        if not cluster.objects("v1", "Node"):
            raise InputError("the cluster has no nodes, so nothing can be planned on it")
        workloads = [PlannedWorkload(manifest, None) for manifest in asked.manifests]
        plan = make_plan(cluster, workloads, asked.namespace, _HORIZON)
        return plan_data(plan, _ADVICE_OF_A_PLAN, unknowns_of(plan))

    return await call.service.compute(work)


async def _objects(call: RestCall) -> list[Object]:
    transport = HttpTransport(call.caller.access, page=PAGE)
    try:
        return await live_objects(transport)
    finally:
        await transport.close()


QUESTION_ROUTES: Final = (
    Route("GET", "/api/nodes/{name}", "What fits on a node, and why pods do not go there.", _node, dict[str, Any]),
    Route(
        "POST",
        "/api/explain",
        "Where pods land, why not, and what would help.",
        _explain,
        dict[str, Any],
        body=ExplainAsked,
    ),
    Route(
        "POST",
        "/api/plan",
        "Manifests carried out in memory on the cluster as it is.",
        _plan,
        dict[str, Any],
        body=PlanAsked,
    ),
)
