"""Fills NodeClaims with simulated nodes of their instance type, after a delay; what goes wrong is in their conditions.

For the embedded cluster, which has no cloud. A node comes and goes with its claim; nodes that come from elsewhere are
never touched.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from mooring.api.conditions import condition_objects, is_true, set_conditions
from mooring.api.core.views import Node
from mooring.api.kinds import Indexers, Key, key_of
from mooring.api.meta import Condition
from mooring.features.workspaces.flags import NODE_CLAIM_DELAY
from mooring.features.workspaces.kinds import CONFIG_MAP, NODE_CLAIM
from mooring.features.workspaces.provisioning.api import (
    AWAITING,
    FINALIZER,
    INITIALIZED,
    LAUNCHED,
    READY,
    REGISTERED,
    STAGES,
    NodeClaim,
)
from mooring.features.workspaces.provisioning.outcomes import CONFIG_NAME, CONFIG_NAMESPACE, LaunchOutcome, outcome_of
from mooring.features.workspaces.provisioning.simulated_node import claimed_type, provider_id, simulated_node
from mooring.features.workspaces.selection import INSTANCE_TYPE_LABEL
from mooring.features.workspaces.sizing.instance_types import InstanceType, find_instance_type
from mooring.kube.objects import Object
from mooring.kube.times import moment
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Create, Decision, Delete, Event, Patch, Write, status
from mooring.runtime.view import View
from mooring.workloads.finalizers import has_finalizer, remove_finalizer, with_finalizer
from mooring.workloads.kinds import NODE
from mooring.workloads.ownerrefs import is_controlled_by

__all__ = ["CONTROLLER"]

# As long as karpenter waits for a node that was launched.
REGISTRATION_TIMEOUT: Final = timedelta(minutes=15)
_CLOUDS: Final = ("azure", "aws", "arc")


class _Stage(NamedTuple):
    """How far one stage of a claim's life is."""

    status: str
    reason: str
    message: str = ""


_WAITING: Final = _Stage("Unknown", AWAITING, "object is awaiting reconciliation")
_DONE: Final = {each: _Stage("True", each) for each in STAGES}


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    claim = view.get(NODE_CLAIM, *key)
    if claim is None:
        return Decision()
    found = view.get(NODE, "", key.name)
    node = found if found is not None and is_controlled_by(found, claim) else None

    # 1. A claim that goes takes its node along.
    if claim.metadata.deleting:
        if node is None:
            return Decision(release=remove_finalizer(NODE_CLAIM, claim, FINALIZER))
        return Decision(children=() if node.metadata.deleting else (Delete(NODE, key_of(node)),))
    intent = _marked(claim)

    # 2. A node that is there is followed; one that went is not made again: whoever asked for it asks again.
    if node is not None:
        return Decision(intent, status=_followed(claim, node, now))
    if is_true(claim.status.conditions, REGISTERED):
        return _lost(claim)

    # 3. There is such a node to be had.
    wanted = claimed_type(claim)
    known = next(filter(None, (find_instance_type(cloud, wanted) for cloud in _CLOUDS)), None)
    outcome = outcome_of(claim, wanted, _configured(view))
    problem = _problem(view, claim, found, wanted, known, outcome)
    if known is None or problem is not None:
        return Decision(intent, status=_told(claim, now, {LAUNCHED: problem or _WAITING}))

    # 4. It takes its time.
    launched = moment(claim.metadata.creation_timestamp or "") + view.settings[NODE_CLAIM_DELAY]
    if not view.reached(launched):
        return Decision(intent, status=_told(claim, now, {}))
    if not outcome.registers:
        registered = _unregistered(claim) if view.reached(launched + REGISTRATION_TIMEOUT) else _WAITING
        return Decision(intent, status=_told(claim, now, {LAUNCHED: _DONE[LAUNCHED], REGISTERED: registered}))
    return Decision(intent, children=(Create(NODE, simulated_node(claim, known)),))


def _marked(claim: NodeClaim) -> tuple[Write, ...]:
    """The finalizer, and the instance type as a label, which `kubectl get` shows."""
    changes: Object = {}
    if not has_finalizer(claim, FINALIZER):
        changes["finalizers"] = with_finalizer(claim.metadata.finalizers, FINALIZER)
    wanted = claimed_type(claim)
    if wanted and claim.metadata.labels.get(INSTANCE_TYPE_LABEL) != wanted:
        changes["labels"] = {INSTANCE_TYPE_LABEL: wanted}
    return (Patch(NODE_CLAIM, key_of(claim), {"metadata": changes}),) if changes else ()


def _configured(view: View) -> Mapping[str, str]:
    found = view.get(CONFIG_MAP, CONFIG_NAMESPACE, CONFIG_NAME)
    return {} if found is None else found.data


def _problem(
    view: View,
    claim: NodeClaim,
    namesake: Node | None,
    wanted: str,
    known: InstanceType | None,
    outcome: LaunchOutcome,
) -> _Stage | None:
    """Why there is no node to be had."""
    if known is None:
        text = (
            f"instance type {wanted!r} is not known, so that no node of it can be simulated; "
            "use one whose GPUs are known, or create a node with the labels yourself"
        )
        return _Stage("False", "UnknownInstanceType", text)
    if outcome.failure:
        return _Stage("False", "LaunchFailed", outcome.failure)
    if namesake is not None:
        text = f"there is a node {namesake.metadata.name} already that does not belong to this claim; delete either"
        return _Stage("False", "NodeNameTaken", text)
    if outcome.available is not None and _place(view, claim, wanted) >= outcome.available:
        text = f"no more than {outcome.available} nodes of instance type {wanted} are to be had"
        return _Stage("False", "InsufficientCapacity", text)
    return None


def _place(view: View, claim: NodeClaim, wanted: str) -> int:
    """How many claims of the same type come first: those with a node, then the older ones."""

    def order(each: NodeClaim) -> tuple[bool, str, str]:
        return not each.status.node_name, each.metadata.creation_timestamp or "", each.metadata.name

    rivals = view.list(NODE_CLAIM, "instance-type", wanted)
    return sum(order(each) < order(claim) for each in rivals)


def _followed(claim: NodeClaim, node: Node, now: datetime) -> tuple[Write, ...]:
    """A claim that was initialized once stays so: that its node is not ready later is the node's to tell."""
    stages = {LAUNCHED: _DONE[LAUNCHED], REGISTERED: _DONE[REGISTERED]}
    if node.ready or is_true(claim.status.conditions, INITIALIZED):
        stages[INITIALIZED] = _DONE[INITIALIZED]
    body: Object = {
        "nodeName": node.metadata.name,
        "providerID": provider_id(claim),
        "capacity": dict(node.status.capacity or {}),
        "allocatable": dict(node.status.allocatable or {}),
    }
    return _told(claim, now, stages, body)


def _lost(claim: NodeClaim) -> Decision:
    key = key_of(claim)
    text = f"Node {claim.status.node_name} is gone, and its NodeClaim goes too"
    event = Event(NODE_CLAIM, key, "Warning", "NodeLost", text, (NODE_CLAIM, key), "Delete")
    return Decision(children=(Delete(NODE_CLAIM, key),), events=(event,))


def _unregistered(claim: NodeClaim) -> _Stage:
    minutes = int(REGISTRATION_TIMEOUT.total_seconds()) // 60
    text = f"the node did not join within {minutes} minutes; delete NodeClaim {claim.metadata.name} to try again"
    return _Stage("False", "RegistrationTimeout", text)


def _told(
    claim: NodeClaim, now: datetime, stages: Mapping[str, _Stage], body: Object | None = None
) -> tuple[Write, ...]:
    """The conditions of these stages, with all others waiting, and what else is new."""
    wanted = [Condition(each, *stages.get(each, _WAITING)) for each in STAGES]
    conditions = set_conditions(claim.status.conditions, (*wanted, _ready(wanted)), now)
    before = {
        "nodeName": claim.status.node_name,
        "providerID": claim.status.provider_id,
        "capacity": claim.status.capacity,
        "allocatable": claim.status.allocatable,
    }
    changed = {name: part for name, part in (body or {}).items() if before[name] != part}
    if conditions != claim.status.conditions:
        changed["conditions"] = condition_objects(conditions, complete=True)
    return (status(NODE_CLAIM, claim, changed),) if changed else ()


def _ready(stages: Sequence[Condition]) -> Condition:
    """In karpenter's words: what of the stages is not there."""
    missing = [each for each in stages if each.status != "True"]
    if not missing:
        return Condition(READY, "True", READY)
    text = ", ".join(f"{each.type}={each.status}" for each in missing)
    if any(each.status == "False" for each in missing):
        return Condition(READY, "False", "UnhealthyDependents", text)
    return Condition(READY, "Unknown", "ReconcilingDependents", text)


CONTROLLER: Final = Controller(
    "simulated-node-claims",
    reconcile,
    of=NODE_CLAIM,
    reads=(NODE, CONFIG_MAP),
    writes={NODE_CLAIM: ("patch", "status", "delete", "finalizers"), NODE: ("create", "delete")},
    settings=(NODE_CLAIM_DELAY,),
    indexers=(Indexers(NODE_CLAIM, indexes={"instance-type": lambda claim: (claimed_type(claim),)}),),
)
