"""The deletion of a Machine, step by step: hooks, draining, the provider's object, bootstrap data, the Node.

The order is that of Cluster API. Every step that waits says so in the condition Deleting, and each is found again from
what is there: nothing is remembered but the moment at which draining began.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec.structs import replace

from mooring.api.kinds import key_of
from mooring.api.meta import Condition
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BYO_MACHINE
from mooring.features.machines.api import conditions as say
from mooring.features.machines.api.clusters import Cluster
from mooring.features.machines.api.kinds import MACHINE
from mooring.features.machines.api.machines import Machine, MachineDeletionStatus
from mooring.features.machines.api.names import (
    EXCLUDE_NODE_DRAINING,
    MACHINE_FINALIZER,
    PRE_DRAIN_HOOK,
    PRE_TERMINATE_HOOK,
)
from mooring.features.machines.kinds import MACHINE_NODE, MachineNode
from mooring.features.machines.machine.drain import Drain, drain_of
from mooring.features.machines.machine.node import belongs_to
from mooring.features.machines.machine.status import with_conditions, with_phase, written_status
from mooring.kube.times import moment, timestamp
from mooring.runtime.decision import Decision, Delete, Event, Evict, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.finalizers import remove_finalizer
from mooring.workloads.kinds import POD
from mooring.workloads.ownerrefs import is_controlled_by

__all__ = ["delete"]

_NODE_DELETION_TIMEOUT_SECONDS: Final = 10


class Leaving(NamedTuple):
    """A Machine on its way out."""

    view: View
    machine: Machine
    node: MachineNode | None
    now: datetime

    def told(self, reason: str, message: str, deletion: MachineDeletionStatus | None = None) -> tuple[Patch, ...]:
        wanted = Condition(say.DELETING, "True", reason, message)
        status = with_conditions(self.view, self.machine, self.machine.status, (wanted,), self.now)
        status = with_phase(self.machine, status, self.now)
        if deletion is not None:
            status = replace(status, deletion=deletion)
        return written_status(self.machine, status)


def delete(view: View, machine: Machine, cluster: Cluster | None, now: datetime) -> Decision:
    """The next step. A Cluster that goes as a whole takes pods and Nodes along, so there is nothing to drain."""
    name = machine.status.node_ref.name
    node = view.get(MACHINE_NODE, "", name) if name else None
    if node is not None and not belongs_to(node, machine):
        node = None
    leaving = Leaving(view, machine, node, now)

    # 1. Hooks of others come before draining.
    if hook := _hook(machine, PRE_DRAIN_HOOK):
        return Decision(status=leaving.told(say.WAITING_FOR_PRE_DRAIN_HOOK, f"it waits for {hook} to be removed"))

    # 2. Pods leave the Node.
    if node is not None and (cluster is None or not cluster.metadata.deleting) and _may_drain(leaving):
        drain = drain_of(view.list(POD, "node", node.metadata.name), unreachable=node.unreachable)
        if not drain.done or not node.spec.unschedulable:
            return _drained(leaving, node, drain)

    # 3. Hooks of others come before the machine itself.
    if hook := _hook(machine, PRE_TERMINATE_HOOK):
        return Decision(status=leaving.told(say.WAITING_FOR_PRE_TERMINATE_HOOK, f"it waits for {hook} to be removed"))

    # 4. The provider takes the machine back.
    namespace = machine.metadata.namespace
    infrastructure = view.get(BYO_MACHINE, namespace, machine.spec.infrastructure_ref.name)
    if infrastructure is not None and is_controlled_by(infrastructure, machine):
        text = f"it waits for ByoMachine {infrastructure.metadata.name} to go"
        going = () if infrastructure.metadata.deleting else (Delete(BYO_MACHINE, key_of(infrastructure)),)
        return Decision(children=going, status=leaving.told(say.WAITING_FOR_INFRASTRUCTURE_DELETION, text))

    # 5. Bootstrap data are of no use any more.
    if reference := machine.spec.bootstrap.config_ref:
        bootstrap = view.get(BOOTSTRAP_KUBECONFIG, namespace, reference.name)
        if bootstrap is not None and is_controlled_by(bootstrap, machine):
            text = f"it waits for BootstrapKubeconfig {reference.name} to go"
            away = () if bootstrap.metadata.deleting else (Delete(BOOTSTRAP_KUBECONFIG, key_of(bootstrap)),)
            return Decision(children=away, status=leaving.told(say.WAITING_FOR_BOOTSTRAP_DELETION, text))

    # 6. The Node goes; one that does not within its time is left behind, and that is told.
    if node is not None and not _is_late(leaving):
        removed = () if node.metadata.deleting else (Delete(MACHINE_NODE, key_of(node)),)
        return Decision(children=removed, status=leaving.told(say.DELETING_NODE, f"it waits for Node {name} to go"))
    events: tuple[Event, ...] = ()
    if node is not None:
        text = f"Node {name} did not go within the time that nodeDeletionTimeoutSeconds gives; delete it"
        events = (Event(MACHINE, key_of(machine), "Warning", "FailedDeleteNode", text),)
    return Decision(release=remove_finalizer(MACHINE, machine, MACHINE_FINALIZER), events=events)


def _hook(machine: Machine, prefix: str) -> str:
    """The first hook of a kind, by the name of its annotation."""
    hooks = sorted(each for each in machine.metadata.annotations if each.partition("/")[0] == prefix)
    return hooks[0] if hooks else ""


def _may_drain(leaving: Leaving) -> bool:
    """Whether pods are still given time to leave."""
    machine = leaving.machine
    if EXCLUDE_NODE_DRAINING in machine.metadata.annotations:
        return False
    started, timeout = machine.status.deletion.node_drain_start_time, machine.spec.deletion.node_drain_timeout_seconds
    if started is None or not timeout:
        return True
    return not leaving.view.reached(moment(started) + timedelta(seconds=timeout))


def _drained(leaving: Leaving, node: MachineNode, drain: Drain) -> Decision:
    """One round of draining. It is told first, because an eviction that a budget refuses ends the decision."""
    key, known = key_of(leaving.machine), leaving.machine.status.deletion
    deletion = known if known.node_drain_start_time else replace(known, node_drain_start_time=timestamp(leaving.now))
    text = f"Draining Node {node.metadata.name}"
    if drain.message:
        text = f"{text}: {drain.message}"
    if problem := leaving.view.problem:
        text = f"{text} ({problem})"
    cordon = Patch(MACHINE_NODE, key_of(node), {"spec": {"unschedulable": True}})
    children: tuple[Write, ...] = tuple(Evict(POD, key_of(pod), drain.grace) for pod in drain.evicted)
    if not node.spec.unschedulable:
        children = (cordon,)
    events: tuple[Event, ...] = ()
    if drain.done:
        events = (Event(MACHINE, key, "Normal", "SuccessfulDrainNode", f"Drained Node {node.metadata.name}"),)
    return Decision(intent=leaving.told(say.DRAINING_NODE, text, deletion), children=children, events=events)


def _is_late(leaving: Leaving) -> bool:
    """Whether the Node has had its time. The clock starts when the Node was asked to go."""
    seconds = leaving.machine.spec.deletion.node_deletion_timeout_seconds
    timeout = _NODE_DELETION_TIMEOUT_SECONDS if seconds is None else seconds
    asked = leaving.node.metadata.deletion_timestamp if leaving.node is not None else None
    return bool(timeout) and asked is not None and leaving.view.reached(moment(asked) + timedelta(seconds=timeout))
