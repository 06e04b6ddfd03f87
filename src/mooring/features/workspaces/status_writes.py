"""What is written into the status of a Workspace, and told and read along with it, from what was observed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from mooring.api.conditions import condition_objects, set_conditions, without_condition
from mooring.api.meta import Condition
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.benchmark import COMPLETED, benchmark_result, is_measured, read
from mooring.features.workspaces.kinds import SERVING_POD, WORKSPACE
from mooring.features.workspaces.node_claims import uncounted_nodes
from mooring.features.workspaces.node_events import node_events
from mooring.features.workspaces.placeable import tell_placing
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.status import (
    CLAIMS_READY,
    NodeFacts,
    claims_condition,
    inference_conditions,
    is_workload_ready,
    nodes_condition,
    resource_condition,
    state_of,
    taken_conditions,
)
from mooring.features.workspaces.surroundings import Surroundings
from mooring.kube.objects import Object
from mooring.runtime.decision import Event, Write, status
from mooring.runtime.effects import Run
from mooring.runtime.view import View
from mooring.workloads.placeable import PLACEABLE, RememberedAdvice

__all__ = ["Reported", "WorkspaceMemory", "report", "status_patch"]


class WorkspaceMemory(NamedTuple):
    """The advice that was given last, and the refusal that was told last."""

    advice: RememberedAdvice | None = None
    refused: str = ""


class Reported(NamedTuple):
    """The status, if it says something new; events about it; the log to be read; and advice to be remembered."""

    writes: tuple[Write, ...]
    events: tuple[Event, ...]
    effects: tuple[Run, ...]
    advice: RememberedAdvice | None


def report(
    view: View,
    workspace: Workspace,
    around: Surroundings,
    now: datetime,
    settings: Settings,
    problem: str = "",
    target: int = 0,
) -> Reported:
    """`target` is how many nodes are needed, where that was found just now; `problem` what went wrong in finding it."""
    known = workspace.status.target_node_count
    uncounted = uncounted_nodes(workspace, around.matching) if settings.provisions else None
    facts = NodeFacts(around.matching, around.usable, known, uncounted)
    nodes = nodes_condition(facts, plugins=around.plugins, problem=problem)
    claims = None
    if settings.provisions:
        claims = claims_condition(around.claims, around.missing(known), known)
    resources = resource_condition(nodes, claims)
    memory = view.memory(WorkspaceMemory)
    placing = tell_placing(view, workspace.inference, around.stateful_set, None if memory is None else memory.advice)
    measured = is_measured(view, workspace, around.stateful_set)
    benchmark = benchmark_result(workspace)
    if not measured and benchmark is not None and benchmark.status != "True":
        # The annotation or the node has changed since: nobody waits for a result any more.
        benchmark = None
    if around.foreign:
        inference = taken_conditions(workspace, around.foreign)
    else:
        pods = view.list(SERVING_POD, "workspace", f"{workspace.metadata.namespace}/{workspace.metadata.name}")
        inference = inference_conditions(
            around.stateful_set,
            pods,
            resources_ready=resources.status == "True",
            benchmark=benchmark,
            measured=measured,
        )
    conditions = [nodes, *(() if claims is None else (claims,)), resources, *inference]
    if problem:
        conditions = [_with_problem(each, problem) for each in conditions]
    conditions += (*placing.conditions, *(() if benchmark is None else (benchmark,)))
    body: Object = {
        "workerNodes": [node.metadata.name for node in around.matching],
        "state": state_of(workspace, inference),
    }
    if known or target:
        body["targetNodeCount"] = known or target
    unwanted = [
        *(() if settings.provisions else (CLAIMS_READY,)),
        *(() if placing.conditions else (PLACEABLE,)),
        *(() if benchmark is not None else (COMPLETED,)),
    ]
    writes = status_patch(workspace, conditions, now, unwanted=unwanted, body=body)
    events = tuple(node_events(view, workspace, around, nodes)) if writes else ()
    # What runs while the number of nodes is not known runs since before that was a question: it was measured then.
    is_settled = resources.status == "True" or not known
    can_read = measured and is_settled and is_workload_ready(around.stateful_set)
    return Reported(writes, events, read(view, workspace, now) if can_read else (), placing.advice)


def _with_problem(condition: Condition, problem: str) -> Condition:
    if problem in condition.message:
        return condition
    return Condition(condition.type, condition.status, condition.reason, f"{condition.message} ({problem})")


def status_patch(
    workspace: Workspace,
    wanted: Sequence[Condition],
    now: datetime,
    *,
    unwanted: Sequence[str] = (),
    body: Object | None = None,
) -> tuple[Write, ...]:
    generation = workspace.metadata.generation
    known = workspace.status.conditions
    for kind in unwanted:
        known = without_condition(known, kind)
    current = [
        Condition(each.type, each.status, each.reason, each.message, observed_generation=generation) for each in wanted
    ]
    conditions = set_conditions(known, current, now)
    changed: Object = {}
    if conditions != workspace.status.conditions:
        changed["conditions"] = condition_objects(conditions, complete=True)
    before = {
        "workerNodes": list(workspace.status.worker_nodes),
        "state": workspace.status.state,
        "targetNodeCount": workspace.status.target_node_count,
    }
    changed |= {name: part for name, part in (body or {}).items() if before.get(name) != part}
    return (status(WORKSPACE, workspace, changed),) if changed else ()
