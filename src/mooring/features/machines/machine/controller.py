"""Machine: waits for bootstrap data and for the provider's machine, finds the Node, and keeps it in step."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from msgspec.structs import replace

from mooring.api.conditions import find_condition
from mooring.api.kinds import Key, key_of
from mooring.api.meta import Condition
from mooring.features.hosts.api.conditions import BYOHOST_READY
from mooring.features.hosts.api.kinds import BOOTSTRAP_KUBECONFIG, BYO_MACHINE
from mooring.features.hosts.api.machines import ByoMachine
from mooring.features.hosts.api.names import GROUP as HOSTS_GROUP
from mooring.features.machines.api import conditions as say
from mooring.features.machines.api.kinds import CLUSTER, MACHINE, MACHINE_DEPLOYMENT, MACHINE_SET
from mooring.features.machines.api.machines import (
    Machine,
    MachineAddress,
    MachineInitialization,
    MachineNodeReference,
    MachineStatus,
)
from mooring.features.machines.api.names import MACHINE_FINALIZER
from mooring.features.machines.blocks import missing_cluster, pause_of, paused_condition
from mooring.features.machines.blueprints import BOOTSTRAP_KIND, INFRASTRUCTURE_KIND
from mooring.features.machines.kinds import MACHINE_NODE, MachineNode
from mooring.features.machines.machine.deletion import delete
from mooring.features.machines.machine.node import synced_node
from mooring.features.machines.machine.status import node_conditions, with_conditions, with_phase, written_status
from mooring.features.machines.pools.templates import is_current
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event, Patch
from mooring.runtime.view import View
from mooring.workloads.finalizers import add_finalizer
from mooring.workloads.kinds import POD
from mooring.workloads.ownerrefs import adopt


class Found(NamedTuple):
    """One thing that a Machine waits for: what is said of it, and whether it is there."""

    condition: Condition
    ready: bool = False


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    machine = view.get(MACHINE, *key)
    if machine is None:
        return Decision()
    cluster = view.get(CLUSTER, key.namespace, machine.spec.cluster_name)

    # 1. Nobody has paused it.
    pause = pause_of(cluster, machine.metadata.annotations)
    if pause:
        status = with_conditions(view, machine, machine.status, (paused_condition(pause),), now)
        return Decision(status=written_status(machine, status))

    # 2. What goes, goes step by step.
    if machine.metadata.deleting:
        return delete(view, machine, cluster, now)
    if added := add_finalizer(MACHINE, machine, MACHINE_FINALIZER):
        return Decision(intent=added)

    # 3. Its Cluster is there.
    if cluster is None:
        block = missing_cluster(key.namespace, machine.spec.cluster_name)
        lost = Condition(say.INFRASTRUCTURE_READY, "False", block.reason, block.message)
        return Decision(status=_told(view, machine, machine.status, (lost,), now))

    # 4. Bootstrap data and the provider's machine; what they tell goes into the spec.
    bootstrap, secret = _bootstrap(view, machine)
    infrastructure, provided = _infrastructure(view, machine)
    facts = (*_facts(machine, secret, provided), *_adopted(view, machine, provided))

    # 5. The Node that has the provider's id.
    node = _node(view, machine)
    status = replace(
        machine.status,
        initialization=MachineInitialization(
            infrastructure.ready or machine.status.initialization.infrastructure_provisioned,
            bootstrap.ready or machine.status.initialization.bootstrap_data_secret_created,
        ),
        addresses=_addresses(provided) or machine.status.addresses,
    )
    events: tuple[Event, ...] = ()
    if node is not None:
        reference = MachineNodeReference(node.metadata.name)
        if machine.status.node_ref != reference:
            events = (Event(MACHINE, key, "Normal", "SuccessfulSetNodeRef", f"Node is {node.metadata.name}"),)
        status = replace(status, node_ref=reference, node_info=node.status.node_info)

    # 6. Status says what was seen.
    wanted = (
        bootstrap.condition,
        infrastructure.condition,
        *node_conditions(machine, node),
        *_up_to_date(view, machine),
        Condition(say.DELETING, "False", say.NOT_DELETING),
        paused_condition(""),
    )
    synced = synced_node(machine, node) if node is not None else ()
    return Decision(
        intent=facts,
        children=synced,
        status=_told(view, machine, status, wanted, now) if not facts else (),
        events=events,
    )


def _told(
    view: View, machine: Machine, status: MachineStatus, wanted: tuple[Condition, ...], now: datetime
) -> tuple[Patch, ...]:
    status = with_conditions(view, machine, status, wanted, now)
    return written_status(machine, with_phase(machine, status, now))


def _bootstrap(view: View, machine: Machine) -> tuple[Found, str]:
    """Whether there are bootstrap data, and the Secret that the bootstrap object names."""
    reference, secret = machine.spec.bootstrap.config_ref, machine.spec.bootstrap.data_secret_name
    if secret is not None and not reference:
        return Found(Condition(say.BOOTSTRAP_CONFIG_READY, "True", say.DATA_SECRET_PROVIDED), ready=True), ""
    if reference.group_kind != (HOSTS_GROUP, BOOTSTRAP_KIND):
        kind = ".".join(filter(None, reversed(reference.group_kind)))
        text = f"spec.bootstrap.configRef names a {kind}, which is not supported; name a {BOOTSTRAP_KIND}"
        return Found(Condition(say.BOOTSTRAP_CONFIG_READY, "False", say.UNKNOWN_REFERENCE, text)), ""
    config = view.get(BOOTSTRAP_KUBECONFIG, machine.metadata.namespace, reference.name)
    if secret is not None:
        return Found(Condition(say.BOOTSTRAP_CONFIG_READY, "True", say.IS_READY), ready=True), ""
    if config is None:
        text = f"there is no {BOOTSTRAP_KIND} {reference.name} in namespace {machine.metadata.namespace}"
        return Found(Condition(say.BOOTSTRAP_CONFIG_READY, "False", say.BOOTSTRAP_CONFIG_NOT_FOUND, text)), ""
    if config.status.initialization.data_secret_created and config.status.data_secret_name:
        ready = Condition(say.BOOTSTRAP_CONFIG_READY, "True", say.IS_READY)
        return Found(ready, ready=True), config.status.data_secret_name
    ready_of = find_condition(config.status.conditions, say.READY)
    text = f"{BOOTSTRAP_KIND} {reference.name} has no data yet"
    if ready_of is not None and ready_of.message:
        text = f"{text}: {ready_of.message}"
    return Found(Condition(say.BOOTSTRAP_CONFIG_READY, "False", say.WAITING_FOR_DATA_SECRET, text)), ""


def _infrastructure(view: View, machine: Machine) -> tuple[Found, ByoMachine | None]:
    """Whether the provider has delivered the machine; while it has not, in the provider's own words."""
    reference = machine.spec.infrastructure_ref
    if reference.group_kind != (HOSTS_GROUP, INFRASTRUCTURE_KIND):
        kind = ".".join(filter(None, reversed(reference.group_kind)))
        text = f"spec.infrastructureRef names a {kind}, which is not supported; name a {INFRASTRUCTURE_KIND}"
        return Found(Condition(say.INFRASTRUCTURE_READY, "False", say.UNKNOWN_REFERENCE, text)), None
    provided = view.get(BYO_MACHINE, machine.metadata.namespace, reference.name)
    if provided is None:
        text = f"there is no {INFRASTRUCTURE_KIND} {reference.name} in namespace {machine.metadata.namespace}"
        if machine.status.initialization.infrastructure_provisioned:
            text = f"{text} any more; delete the Machine, and another takes its place"
        return Found(Condition(say.INFRASTRUCTURE_READY, "False", say.INFRASTRUCTURE_NOT_FOUND, text)), None
    if (provided.status.ready or provided.status.initialization.provisioned) and provided.spec.provider_id:
        return Found(Condition(say.INFRASTRUCTURE_READY, "True", say.IS_READY), ready=True), provided
    said = find_condition(provided.status.conditions, BYOHOST_READY)
    reason = said.reason if said is not None and said.reason else say.WAITING_FOR_INFRASTRUCTURE
    text = said.message if said is not None and said.message else f"{INFRASTRUCTURE_KIND} {reference.name} is not ready"
    return Found(Condition(say.INFRASTRUCTURE_READY, "False", reason, text)), provided


def _facts(machine: Machine, secret: str, provided: ByoMachine | None) -> tuple[Patch, ...]:
    """What is filled into the spec, once: bootstrap data first, since no provider delivers without them."""
    if secret:
        return (Patch(MACHINE, key_of(machine), {"spec": {"bootstrap": {"dataSecretName": secret}}}),)
    if provided is not None and provided.spec.provider_id and not machine.spec.provider_id:
        return (Patch(MACHINE, key_of(machine), {"spec": {"providerID": provided.spec.provider_id}}),)
    return ()


def _adopted(view: View, machine: Machine, provided: ByoMachine | None) -> tuple[Patch, ...]:
    """Companions that somebody made by hand belong to their Machine, and go with it."""
    reference, namespace = machine.spec.bootstrap.config_ref, machine.metadata.namespace
    config = view.get(BOOTSTRAP_KUBECONFIG, namespace, reference.name) if reference.kind == BOOTSTRAP_KIND else None
    made: list[Patch] = []
    if provided is not None and provided.metadata.controller is None and not provided.metadata.deleting:
        made.append(adopt(BYO_MACHINE, provided, MACHINE, machine))
    if config is not None and config.metadata.controller is None and not config.metadata.deleting:
        made.append(adopt(BOOTSTRAP_KUBECONFIG, config, MACHINE, machine))
    return tuple(made)


def _node(view: View, machine: Machine) -> MachineNode | None:
    if not machine.spec.provider_id:
        return None
    nodes = view.list(MACHINE_NODE, "provider", machine.spec.provider_id)
    return min(nodes, key=lambda each: each.metadata.name) if nodes else None


def _addresses(provided: ByoMachine | None) -> tuple[MachineAddress, ...]:
    if provided is None:
        return ()
    return tuple(MachineAddress(each.type, each.address) for each in provided.status.addresses)


def _up_to_date(view: View, machine: Machine) -> tuple[Condition, ...]:
    """Whether it is of the newest template of its pool; a set that is in no pool has but one."""
    owner = machine.metadata.controller
    if owner is None or owner.kind != MACHINE_SET.kind:
        return ()
    machine_set = view.get(MACHINE_SET, machine.metadata.namespace, owner.name)
    above = machine_set.metadata.controller if machine_set is not None else None
    if machine_set is not None and above is not None and above.kind == MACHINE_DEPLOYMENT.kind:
        deployment = view.get(MACHINE_DEPLOYMENT, machine.metadata.namespace, above.name)
        if deployment is not None and not is_current(view, deployment, machine_set):
            text = f"MachineDeployment {above.name} has another template by now"
            return (Condition(say.UP_TO_DATE, "False", say.NOT_UP_TO_DATE, text),)
    return (Condition(say.UP_TO_DATE, "True", say.IS_UP_TO_DATE),)


CONTROLLER = Controller(
    name="machine",
    reporter="machine-controller",
    reconcile=reconcile,
    of=MACHINE,
    reads=(CLUSTER, MACHINE_SET, MACHINE_DEPLOYMENT, BYO_MACHINE, BOOTSTRAP_KUBECONFIG, MACHINE_NODE, POD),
    writes={
        MACHINE: ("patch", "status", "finalizers"),
        BYO_MACHINE: ("patch", "delete"),
        BOOTSTRAP_KUBECONFIG: ("patch", "delete"),
        MACHINE_NODE: ("patch", "delete"),
        POD: ("eviction",),
    },
)
