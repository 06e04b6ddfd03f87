"""MachineSet: as many Machines of one template as the spec says, each with its two companions.

Which Machines are its own is a matter of owner references, never of labels alone: pools of one cluster may have equal
selectors. An orphan is taken only if it carries the name of the set.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from msgspec.structs import replace

from mooring.api.conditions import set_conditions
from mooring.api.kinds import Key, key_of
from mooring.features.hosts.api.kinds import (
    BOOTSTRAP_KUBECONFIG,
    BOOTSTRAP_KUBECONFIG_TEMPLATE,
    BYO_MACHINE,
    BYO_MACHINE_TEMPLATE,
)
from mooring.features.machines.api import conditions as say
from mooring.features.machines.api.kinds import CLUSTER, MACHINE, MACHINE_SET
from mooring.features.machines.api.machine_sets import MachineSet
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import DISABLE_MACHINE_CREATE, MACHINE_SET_FINALIZER, SET_NAME
from mooring.features.machines.blocks import Block, missing_cluster, pause_of, paused_condition
from mooring.features.machines.blueprints import find_blueprint
from mooring.features.machines.clones import machine_of, missing_clones
from mooring.features.machines.pools.naming import base_name
from mooring.features.machines.pools.status import conditions_of, count, versions_of
from mooring.features.machines.pools.templates import selector_of
from mooring.features.machines.pools.victims import victims
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Event, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.finalizers import add_finalizer, remove_finalizer
from mooring.workloads.incarnations import Incarnations, Issued
from mooring.workloads.ownerrefs import adopt
from mooring.workloads.podcontrol import MAX_WRITES_PER_PASS, status_change


class Seen(NamedTuple):
    """One look at a set."""

    machine_set: MachineSet
    machines: tuple[Machine, ...]
    now: datetime

    def status(self, block: Block | None = None, pause: str = "") -> tuple[Patch, ...]:
        """Its status, if it says something new."""
        old, going = self.machine_set.status, self.machine_set.metadata.deleting
        generation = self.machine_set.metadata.generation
        wanted = conditions_of(self.machines, self.machine_set.wanted, block, paused_condition(pause), going=going)
        new = replace(
            old,
            conditions=set_conditions(old.conditions, wanted, self.now),
            selector=str(selector_of(self.machine_set.spec.selector)),
            replicas=len(self.machines),
            ready_replicas=count(self.machines, say.READY),
            available_replicas=count(self.machines, say.AVAILABLE),
            up_to_date_replicas=count(self.machines, say.UP_TO_DATE),
            versions=versions_of(self.machines),
            observed_generation=generation,
        )
        always = ("replicas", "readyReplicas", "availableReplicas", "upToDateReplicas")
        return status_change(MACHINE_SET, self.machine_set, old, new, always)


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    machine_set = view.get(MACHINE_SET, *key)
    if machine_set is None:
        return Decision()
    known = view.memory(Issued)
    seen = Seen(machine_set, view.owned(MACHINE, machine_set), now)

    # 1. A set that goes takes its Machines along, and waits for them.
    if machine_set.metadata.deleting:
        return _deleted(seen)
    if added := add_finalizer(MACHINE_SET, machine_set, MACHINE_SET_FINALIZER):
        return Decision(intent=added)

    # 2. Its Cluster is there, and nobody has paused it.
    cluster = view.get(CLUSTER, key.namespace, machine_set.spec.cluster_name)
    if cluster is None:
        return Decision(status=seen.status(missing_cluster(key.namespace, machine_set.spec.cluster_name)))
    if pause := pause_of(cluster, machine_set.metadata.annotations):
        return Decision(status=seen.status(pause=pause), memory=known)

    # 3. Machines that were its own before.
    if adopted := _adopted(view, machine_set):
        return Decision(intent=adopted, memory=known)

    # 4. Names of Machines that leave are on record before others are given. The status of a custom kind takes no
    # annotations, so this is a write of its own.
    names = _incarnations(seen, known)
    if record := names.annotations:
        return Decision(intent=(Patch(MACHINE_SET, key, {"metadata": {"annotations": record}}),), memory=names.issued)

    # 5. What Machines are made from is there, or the Machines that are there are all that is looked after.
    blueprint = find_blueprint(view, key.namespace, machine_set.spec.template.spec)
    block = blueprint if isinstance(blueprint, Block) else None
    staying = [each for each in seen.machines if not each.metadata.deleting]
    children: list[Write] = []
    if not isinstance(blueprint, Block):
        children += [clone for each in staying for clone in missing_clones(view, each, blueprint)]

    # 6. What is missing or too many. A Machine that is being deleted has its host yet, and is not replaced before.
    surplus = len(seen.machines) - machine_set.wanted
    going = victims(seen.machines, machine_set.spec.deletion.order, max(0, surplus), now)
    leaving = [each for each in going if not each.metadata.deleting][:MAX_WRITES_PER_PASS]
    grown: list[str] = []
    if surplus < 0 and block is None and DISABLE_MACHINE_CREATE not in machine_set.metadata.annotations:
        grown = list(
            islice(names.names(view, base_name(machine_set), kind=MACHINE), min(-surplus, MAX_WRITES_PER_PASS))
        )
    children += [machine_of(machine_set, name) for name in grown]
    children += [Delete(MACHINE, key_of(each)) for each in leaving]
    children += [machine_of(machine_set, each.metadata.name, each) for each in staying if each not in leaving]

    # 7. Status says what was seen.
    return Decision(
        children=tuple(children),
        status=seen.status(block),
        events=(
            *_events(machine_set, "SuccessfulCreate", "Created Machine", grown),
            *_events(machine_set, "SuccessfulDelete", "Deleted Machine", [each.metadata.name for each in leaving]),
        ),
        memory=names.issued,
    )


def _deleted(seen: Seen) -> Decision:
    machine_set = seen.machine_set
    if not seen.machines:
        return Decision(release=remove_finalizer(MACHINE_SET, machine_set, MACHINE_SET_FINALIZER))
    going = tuple(Delete(MACHINE, key_of(each)) for each in seen.machines if not each.metadata.deleting)
    return Decision(children=going, status=seen.status())


def _adopted(view: View, machine_set: MachineSet) -> tuple[Patch, ...]:
    name, selector = machine_set.metadata.name, selector_of(machine_set.spec.selector)
    orphans = view.list(MACHINE, "orphan", machine_set.metadata.namespace)
    return tuple(
        adopt(MACHINE, each, MACHINE_SET, machine_set)
        for each in orphans
        if each.metadata.labels.get(SET_NAME) == name and selector.matches(each.metadata.labels)
    )


def _incarnations(seen: Seen, known: Issued | None) -> Incarnations:
    counted = seen.machine_set.status.replicas
    most = max(seen.machine_set.wanted, counted)
    return Incarnations(seen.machine_set, seen.machines, most, known, counted - len(seen.machines), _stays)


def _stays(machine: Machine) -> bool:
    return not machine.metadata.deleting


def _events(machine_set: MachineSet, reason: str, verb: str, names: Sequence[str]) -> tuple[Event, ...]:
    key = key_of(machine_set)
    return tuple(
        Event(MACHINE_SET, key, "Normal", reason, f"{verb} {name}", (MACHINE, Key(key.namespace, name)))
        for name in names
    )


CONTROLLER = Controller(
    name="machineset",
    reporter="machineset-controller",
    reconcile=reconcile,
    of=MACHINE_SET,
    reads=(CLUSTER, MACHINE, BYO_MACHINE, BYO_MACHINE_TEMPLATE, BOOTSTRAP_KUBECONFIG, BOOTSTRAP_KUBECONFIG_TEMPLATE),
    writes={
        MACHINE_SET: ("patch", "status", "finalizers"),
        MACHINE: ("create", "patch", "delete", "finalizers"),
        BYO_MACHINE: ("create",),
        BOOTSTRAP_KUBECONFIG: ("create",),
    },
    memory=Issued,
)
