"""Workspaces: from the nodes that match their labels to Services and a StatefulSet, and what came of it.

Nodes are read like everything else, so that one that becomes ready, or is lost, is known at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from mooring.api.kinds import Key, key_of
from mooring.features.workspaces import api
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.benchmark import READ_BENCHMARK
from mooring.features.workspaces.flags import GATE, NODE_PROVISIONER, NOT_READY_NODES, settings_of
from mooring.features.workspaces.kinds import CONFIG_MAP, NODE_CLAIM, SERVING_POD, STORAGE_CLASS, WORKSPACE, NodeClaim
from mooring.features.workspaces.node_claims import claim_names, is_ready, node_claim
from mooring.features.workspaces.revision_writes import drop_surplus, record_revision
from mooring.features.workspaces.selection import NodeLabelsError
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.sizing.estimator import EstimateError
from mooring.features.workspaces.sizing.gpus import GpuError
from mooring.features.workspaces.status import deleting_condition, unclaimable_conditions
from mooring.features.workspaces.status_writes import WorkspaceMemory, report, status_patch
from mooring.features.workspaces.surroundings import NODE_LABELS, Surroundings, claims_of, inference_config, observe
from mooring.features.workspaces.validation.nodes import required_nodes
from mooring.features.workspaces.workload.writes import migrate, workload_writes
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Event, Write
from mooring.runtime.view import Unavailable, View
from mooring.workloads.cluster_state import CLUSTER
from mooring.workloads.finalizers import remove_finalizer
from mooring.workloads.kinds import CONTROLLER_REVISION, DEPLOYMENT, NODE, POD, SERVICE, STATEFUL_SET

__all__ = ["CONTROLLER", "decide"]


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    return decide(key, view, now, settings_of(view))


def decide(key: Key, view: View, now: datetime, settings: Settings) -> Decision:
    workspace = view.get(WORKSPACE, *key)
    if workspace is None:
        return Decision()

    # 1. One that goes away takes the nodes along that it asked for, and no others.
    try:
        claims = claims_of(view, workspace, settings)
    except Unavailable as error:
        if workspace.metadata.deleting or not error.lasts:
            raise
        return Decision(status=status_patch(workspace, unclaimable_conditions(str(error)), now))
    if workspace.metadata.deleting:
        return _go(workspace, claims, now)

    # 2. Its form is on record before anything is made from it.
    revision = record_revision(view, workspace)
    try:
        around = observe(view, workspace, claims, settings)
    except NodeLabelsError as error:
        told = report(view, workspace, Surroundings({}), now, settings, str(error))
        return Decision(revision.writes, status=told.writes)
    if revision.writes:
        return Decision(revision.writes)

    # 3. How many nodes it needs is found once, and stays.
    target = workspace.status.target_node_count
    problem = ""
    if not target:
        try:
            target = required_nodes(workspace, settings, around.matching, inference_config(view, workspace))
        except (EstimateError, GpuError) as error:
            problem = str(error)
        told = report(view, workspace, around, now, settings, problem, target)
        memory = WorkspaceMemory(told.advice)
        return Decision(status=told.writes, events=told.events, effects=told.effects, memory=memory)

    # 4. Nodes that are missing are asked for; the workload waits until enough are there, and its names are free.
    children: list[Write] = []
    events: list[Event] = []
    if settings.provisions:
        _claim(workspace, around, target, settings, children, events)
    if not children and not around.foreign and _has_nodes(around, target, settings):
        try:
            children += workload_writes(view, workspace, around, target, revision.number, settings)
        except (EstimateError, GpuError) as error:
            problem = str(error)
        migration = migrate(view, workspace, around)
        children += migration.writes
        events += migration.events

    # 5. Status says what was observed, and first of all what an API server refused.
    refused = view.problem
    told = report(view, workspace, around, now, settings, problem or refused)
    if refused:
        events = [*_refusal(view, workspace, children, refused)]
    return Decision(
        intent=told.writes if refused else (),
        children=tuple(children),
        status=() if refused else told.writes,
        release=drop_surplus(view, workspace),
        events=(*events, *told.events),
        effects=told.effects,
        memory=WorkspaceMemory(told.advice, refused),
    )


def _go(workspace: Workspace, claims: Sequence[NodeClaim], now: datetime) -> Decision:
    children = tuple(Delete(NODE_CLAIM, key_of(claim)) for claim in claims if not claim.metadata.deleting)
    told = status_patch(workspace, (deleting_condition(),), now)
    gone = () if claims else remove_finalizer(WORKSPACE, workspace, api.FINALIZER)
    return Decision(children=children, status=told, release=gone)


def _claim(
    workspace: Workspace,
    around: Surroundings,
    target: int,
    settings: Settings,
    children: list[Write],
    events: list[Event],
) -> None:
    wanted = around.missing(target) - len(around.claims)
    for name in claim_names(workspace, around.claims, max(wanted, 0)):
        children.append(Create(NODE_CLAIM, node_claim(workspace, name, settings)))
        text = f"Created NodeClaim {name} of type {workspace.resource.instance_type}"
        made = (NODE_CLAIM, Key("", name))
        events.append(Event(WORKSPACE, key_of(workspace), "Normal", "NodeClaimCreated", text, made, "Create"))


def _refusal(view: View, workspace: Workspace, children: Sequence[Write], refused: str) -> Iterator[Event]:
    """A refused write is tried again with backoff; it is told once."""
    memory = view.memory(WorkspaceMemory)
    if memory is not None and memory.refused == refused:
        return
    claims = any(each.kind is NODE_CLAIM for each in children)
    reason = "NodeClaimCreationFailed" if claims else "FailedCreate"
    yield Event(WORKSPACE, key_of(workspace), "Warning", reason, refused, action="Create")


def _has_nodes(around: Surroundings, target: int, settings: Settings) -> bool:
    if len(around.usable) < target:
        return False
    return not settings.provisions or (sum(map(is_ready, around.claims)) >= around.missing(target) and around.plugins)


CONTROLLER: Final = Controller(
    "workspaces",
    reconcile,
    of=WORKSPACE,
    reads=(
        NODE,
        POD,
        STATEFUL_SET,
        SERVICE,
        DEPLOYMENT,
        CONTROLLER_REVISION,
        NODE_CLAIM,
        SERVING_POD,
        CONFIG_MAP,
        STORAGE_CLASS,
    ),
    writes={
        WORKSPACE: ("patch", "status", "finalizers"),
        CONTROLLER_REVISION: ("create", "delete"),
        NODE_CLAIM: ("create", "delete"),
        SERVICE: ("create",),
        # Adopting one is a change of its owners.
        STATEFUL_SET: ("create", "patch", "delete"),
        DEPLOYMENT: ("delete",),
        POD: ("log",),
    },
    folds=(CLUSTER,),
    effects=(READ_BENCHMARK,),
    memory=WorkspaceMemory,
    gates={GATE: True},
    settings=(NODE_PROVISIONER, NOT_READY_NODES),
    indexers=(NODE_LABELS,),
)
