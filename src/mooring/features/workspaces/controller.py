"""Workspaces: from the nodes that match their labels to Services and a StatefulSet, and what came of it.

Nodes are read like everything else, so that one that becomes ready, or is lost, is known at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from mooring.api.apps.views import StatefulSet
from mooring.api.conditions import condition_objects, set_conditions, without_condition
from mooring.api.core.views import Node
from mooring.api.kinds import Key, key_of
from mooring.api.meta import Condition
from mooring.features.workspaces import api
from mooring.features.workspaces.api import Workspace
from mooring.features.workspaces.flags import GATE, NODE_PROVISIONER, NOT_READY_NODES, settings_of
from mooring.features.workspaces.kinds import CONFIG_MAP, NODE_CLAIM, SERVING_POD, STORAGE_CLASS, WORKSPACE, NodeClaim
from mooring.features.workspaces.node_claims import (
    brought_nodes,
    claim_names,
    has_plugins,
    is_ready,
    node_claim,
    usable_nodes,
)
from mooring.features.workspaces.revisions import (
    controller_revision,
    current_number,
    revision_hash,
    revision_name,
    surplus_revisions,
)
from mooring.features.workspaces.selection import NodeLabelsError, is_usable, matching_nodes, selector_labels
from mooring.features.workspaces.settings import Settings
from mooring.features.workspaces.sizing.estimator import EstimateError
from mooring.features.workspaces.sizing.gpus import GpuError
from mooring.features.workspaces.status import (
    CLAIMS_READY,
    NodeFacts,
    claims_condition,
    deleting_condition,
    inference_conditions,
    nodes_condition,
    resource_condition,
    state_of,
)
from mooring.features.workspaces.validation.nodes import required_nodes
from mooring.features.workspaces.workload.services import headless_service, service
from mooring.features.workspaces.workload.serving import serving_stateful_set
from mooring.features.workspaces.workload.stateful_set import NVME_STORAGE_CLASS
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Event, Patch, Write, status
from mooring.runtime.view import View
from mooring.workloads.finalizers import has_finalizer, remove_finalizer, with_finalizer
from mooring.workloads.kinds import CONTROLLER_REVISION, DEPLOYMENT, NODE, SERVICE, STATEFUL_SET
from mooring.workloads.ownerrefs import adopt, controller_reference, is_controlled_by


class Surroundings(NamedTuple):
    """What was observed around a Workspace."""

    labels: Mapping[str, str]
    matching: tuple[Node, ...]
    usable: tuple[Node, ...]
    claims: tuple[NodeClaim, ...]
    stateful_set: StatefulSet | None


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    return decide(key, view, now, settings_of(view))


def decide(key: Key, view: View, now: datetime, settings: Settings) -> Decision:
    workspace = view.get(WORKSPACE, *key)
    if workspace is None:
        return Decision()

    # 1. One that goes away takes the nodes along that it asked for, and no others.
    claims = _claims(view, workspace, settings)
    if workspace.metadata.deleting:
        return _go(workspace, claims, now)

    # 2. Its form is on record before anything is made from it.
    intent, number = _record(view, workspace)
    try:
        around = _look(view, workspace, claims, settings)
    except NodeLabelsError as error:
        return Decision(intent, status=_status(view, workspace, None, now, settings, str(error)))
    if intent:
        return Decision(intent)

    # 3. How many nodes it needs is found once, and stays.
    target = workspace.status.target_node_count
    problem = ""
    if not target:
        try:
            target = required_nodes(workspace, settings, around.matching, _config(view, workspace))
        except (EstimateError, GpuError) as error:
            problem = str(error)
        return Decision(status=_status(view, workspace, around, now, settings, problem, target))

    # 4. Nodes that are missing are asked for; the workload waits until enough are there.
    children: list[Write] = []
    events: list[Event] = []
    if settings.provisions:
        _claim(workspace, around, target, settings, children, events)
    if not children and _has_nodes(view, workspace, around, target, settings):
        try:
            children += _workload(view, workspace, around, target, number, settings)
        except (EstimateError, GpuError) as error:
            problem = str(error)
        _migrate(view, workspace, around, children, events)

    # 5. Status says what was observed.
    status = _status(view, workspace, around, now, settings, problem, target)
    return Decision((), tuple(children), status, _surplus(view, workspace), tuple(events))


def _go(workspace: Workspace, claims: Sequence[NodeClaim], now: datetime) -> Decision:
    children = tuple(Delete(NODE_CLAIM, key_of(claim)) for claim in claims if not claim.metadata.deleting)
    told = _conditions_patch(workspace, (deleting_condition(),), (), now)
    gone = () if claims else remove_finalizer(WORKSPACE, workspace, api.FINALIZER)
    return Decision(children=children, status=told, release=gone)


def _record(view: View, workspace: Workspace) -> tuple[tuple[Write, ...], int]:
    """The finalizer, the revision and the notes about it, as far as they are missing."""
    revisions = view.owned(CONTROLLER_REVISION, workspace)
    hashed = revision_hash(workspace, revisions)
    number = current_number(workspace, revisions, hashed)
    writes: list[Write] = []
    if not any(each.metadata.name == revision_name(workspace, hashed) for each in revisions):
        owner = controller_reference(WORKSPACE, workspace)
        writes.append(Create(CONTROLLER_REVISION, controller_revision(workspace, hashed, number, owner)))
    changes: Object = {}
    notes = {api.REVISION: str(number), api.REVISION_HASH: hashed}
    if any(workspace.metadata.annotations.get(name) != note for name, note in notes.items()):
        changes["annotations"] = notes
    if not has_finalizer(workspace, api.FINALIZER):
        changes["finalizers"] = with_finalizer(workspace.metadata.finalizers, api.FINALIZER)
    if changes:
        writes.append(Patch(WORKSPACE, key_of(workspace), {"metadata": changes}))
    return tuple(writes), number


def _surplus(view: View, workspace: Workspace) -> tuple[Write, ...]:
    revisions = view.owned(CONTROLLER_REVISION, workspace)
    return tuple(Delete(CONTROLLER_REVISION, key_of(each)) for each in surplus_revisions(revisions))


def _claims(view: View, workspace: Workspace, settings: Settings) -> tuple[NodeClaim, ...]:
    if not settings.provisions:
        return ()
    metadata = workspace.metadata
    return view.list(NODE_CLAIM, "workspace", f"{metadata.namespace}/{metadata.name}")


def _look(view: View, workspace: Workspace, claims: tuple[NodeClaim, ...], settings: Settings) -> Surroundings:
    labels = selector_labels(workspace.resource.label_selector)
    matching = matching_nodes(labels, view.list(NODE))
    usable = usable_nodes(workspace, matching) if settings.provisions else tuple(filter(is_usable, matching))
    found = view.get(STATEFUL_SET, workspace.metadata.namespace, workspace.metadata.name)
    own = found is not None and (found.metadata.controller is None or is_controlled_by(found, workspace))
    return Surroundings(labels, matching, usable, claims, found if own else None)


def _config(view: View, workspace: Workspace) -> str | None:
    name = "" if workspace.inference is None else workspace.inference.config
    found = view.get(CONFIG_MAP, workspace.metadata.namespace, name) if name else None
    return None if found is None else found.data.get(api.INFERENCE_CONFIG)


def _missing(around: Surroundings, target: int) -> int:
    """How many nodes must come from claims."""
    return max(target - brought_nodes(around.usable), 0)


def _claim(
    workspace: Workspace,
    around: Surroundings,
    target: int,
    settings: Settings,
    children: list[Write],
    events: list[Event],
) -> None:
    wanted = _missing(around, target) - len(around.claims)
    for name in claim_names(workspace, around.claims, max(wanted, 0)):
        children.append(Create(NODE_CLAIM, node_claim(workspace, name, settings)))
        text = f"Created NodeClaim {name} of type {workspace.resource.instance_type}"
        made = (NODE_CLAIM, Key("", name))
        events.append(Event(WORKSPACE, key_of(workspace), "Normal", "NodeClaimCreated", text, made, "Create"))


def _has_nodes(view: View, workspace: Workspace, around: Surroundings, target: int, settings: Settings) -> bool:
    if len(around.usable) < target:
        return False
    if not settings.provisions:
        return True
    ready = sum(map(is_ready, around.claims))
    return ready >= _missing(around, target) and _has_plugins(view, workspace, around, settings)


def _has_plugins(view: View, workspace: Workspace, around: Surroundings, settings: Settings) -> bool:
    nodes = {node.metadata.name: node for node in view.list(NODE)}
    return has_plugins(workspace, settings, around.claims, nodes)


def _workload(
    view: View, workspace: Workspace, around: Surroundings, target: int, number: int, settings: Settings
) -> list[Write]:
    owner = controller_reference(WORKSPACE, workspace)
    namespace = workspace.metadata.namespace
    services = (service(workspace, owner), headless_service(workspace, owner))
    writes: list[Write] = [
        Create(SERVICE, each) for each in services if view.get(SERVICE, namespace, each["metadata"]["name"]) is None
    ]
    has_nvme_class = settings.provisions and view.get(STORAGE_CLASS, "", NVME_STORAGE_CLASS) is not None
    wanted = serving_stateful_set(
        workspace, around.usable, target, around.labels, settings, owner, has_nvme_class=has_nvme_class
    )
    there = around.stateful_set
    if wanted is None:
        return writes
    if there is None:
        return [*writes, Create(STATEFUL_SET, wanted)]
    if there.metadata.controller is None:
        writes.append(adopt(STATEFUL_SET, there, WORKSPACE, workspace))
        return writes
    is_preset = workspace.inference is not None and workspace.inference.preset is not None
    if is_preset and there.metadata.annotations.get(api.REVISION) != str(number):
        writes.append(Patch(STATEFUL_SET, key_of(there), _update(there, wanted)))
    return writes


def _update(there: StatefulSet, wanted: Object) -> Object:
    """What follows the Workspace in pods that are there; what people changed by hand stays."""
    old, new = there.spec.template["spec"], wanted["spec"]["template"]["spec"]
    first, *others = old["containers"]
    container = {**first, "env": new["containers"][0]["env"], "volumeMounts": new["containers"][0]["volumeMounts"]}
    pod = {
        "containers": [container, *others],
        "initContainers": new.get("initContainers"),
        "volumes": new["volumes"],
    }
    return {"metadata": {"annotations": wanted["metadata"]["annotations"]}, "spec": {"template": {"spec": pod}}}


def _migrate(
    view: View, workspace: Workspace, around: Surroundings, children: list[Write], events: list[Event]
) -> None:
    """A Deployment from before 0.8 goes once the StatefulSet in its place is there."""
    key = key_of(workspace)
    old = view.get(DEPLOYMENT, *key)
    if old is None or around.stateful_set is None or old.metadata.deleting:
        return
    children.append(Delete(DEPLOYMENT, key))
    text = "Migrating inference workload from Deployment to StatefulSet, this will cause a few minutes of downtime."
    events.append(Event(WORKSPACE, key, "Warning", "WorkloadMigration", text, (DEPLOYMENT, key), "Delete"))


def _status(
    view: View,
    workspace: Workspace,
    around: Surroundings | None,
    now: datetime,
    settings: Settings,
    problem: str,
    target: int = 0,
) -> tuple[Write, ...]:
    target = workspace.status.target_node_count or target
    facts = NodeFacts((), (), 0) if around is None else NodeFacts(around.matching, around.usable, target)
    known = workspace.status.target_node_count
    plugins = around is None or not settings.provisions or _has_plugins(view, workspace, around, settings)
    nodes = nodes_condition(facts._replace(target=known), plugins=plugins, problem=problem)
    claims = None
    if settings.provisions and around is not None:
        claims = claims_condition(around.claims, _missing(around, known), known)
    resources = resource_condition(nodes, claims)
    pods = view.list(SERVING_POD, "workspace", f"{workspace.metadata.namespace}/{workspace.metadata.name}")
    there = None if around is None else around.stateful_set
    inference = inference_conditions(there, pods, resources_ready=resources.status == "True")
    conditions = [nodes, *(() if claims is None else (claims,)), resources, *inference]
    if problem:
        conditions = [_with_problem(each, problem) for each in conditions]
    body: Object = {
        "workerNodes": [node.metadata.name for node in facts.matching],
        "state": state_of(workspace, serves=inference[0].status == "True"),
    }
    if target:
        body["targetNodeCount"] = target
    return _conditions_patch(workspace, conditions, () if settings.provisions else (CLAIMS_READY,), now, body)


def _with_problem(condition: Condition, problem: str) -> Condition:
    if problem in condition.message:
        return condition
    return Condition(condition.type, condition.status, condition.reason, f"{condition.message} ({problem})")


def _conditions_patch(
    workspace: Workspace,
    wanted: Sequence[Condition],
    unwanted: Sequence[str],
    now: datetime,
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


CONTROLLER: Final = Controller(
    "workspaces",
    reconcile,
    of=WORKSPACE,
    reads=(
        NODE,
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
        STATEFUL_SET: ("create", "patch"),
        DEPLOYMENT: ("delete",),
    },
    gates={GATE: True},
    settings=(NODE_PROVISIONER, NOT_READY_NODES),
)
