"""ByoMachines: each claims one host, brings it what its Machine wants, and is ready when the host is a Node.

`ownership.py` says why a host has one machine and a machine one host. What is read is subscribed to, so a host that
becomes free or is relabelled wakes those that wait for it.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import to_builtins

from mooring.api.conditions import find_condition
from mooring.api.core.views import Node
from mooring.api.kinds import Key, key_of
from mooring.api.meta import Condition
from mooring.features.hosts.api import conditions as told
from mooring.features.hosts.api.hosts import HostClaim, is_claimable
from mooring.features.hosts.api.kinds import (
    BYO_CLUSTER,
    BYO_HOST,
    BYO_MACHINE,
    K8S_INSTALLER_CONFIG,
    K8S_INSTALLER_CONFIG_TEMPLATE,
)
from mooring.features.hosts.api.machines import ByoMachine
from mooring.features.hosts.api.matching import host_selector, suits
from mooring.features.hosts.api.names import BYOMACHINE_FINALIZER, CLUSTER_NAME, PAUSED, provider_id
from mooring.features.hosts.byomachine.choice import choose_host, shortage
from mooring.features.hosts.byomachine.host_metadata import ClaimContext, host_patch, wanted_version
from mooring.features.hosts.byomachine.installation import installation_of
from mooring.features.hosts.byomachine.ownership import (
    choose,
    claim,
    confirm,
    give_back_strays,
    is_claimed_by,
    step_back,
)
from mooring.features.hosts.byomachine.release import release_host
from mooring.features.hosts.statuses import holds, status_patch, waiting
from mooring.features.machines.api.clusters import Cluster
from mooring.features.machines.api.kinds import CLUSTER, MACHINE
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import GROUP as MACHINES_GROUP
from mooring.kube.errors import SelectorError
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.finalizers import add_finalizer, has_finalizer
from mooring.workloads.kinds import NODE


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    machine = view.get(BYO_MACHINE, *key)
    if machine is None:
        return Decision()
    owner = _owner(view, machine)
    cluster_name = machine.metadata.labels.get(CLUSTER_NAME) or ("" if owner is None else owner.spec.cluster_name)
    cluster = view.get(CLUSTER, key.namespace, cluster_name) if cluster_name else None

    # 1. Nobody has paused it; while somebody has, nothing happens to its host either.
    if PAUSED in machine.metadata.annotations or (cluster is not None and cluster.spec.paused):
        message = f"ByoMachine {key.name} or its Cluster is paused; nothing happens to its host meanwhile"
        paused = _stop(machine, now, told.PAUSED_REASON, message)
        return paused._replace(children=_pause_host(view, machine))
    # 2. It stays.
    if machine.metadata.deleting:
        return release_host(view, machine, now)
    # 3. It belongs to a Machine of a Cluster.
    if owner is None:
        return _stop(machine, now, told.WAITING_FOR_OWNER, f"no Machine owns ByoMachine {key.name} yet")
    if cluster is None:
        message = f"there is no Cluster {cluster_name or '(none is named)'} in namespace {key.namespace}; create it"
        return _stop(machine, now, told.CLUSTER_NOT_FOUND, message, severity="Warning")
    # 4. Its deletion waits for its host, from before it has one.
    if not has_finalizer(machine, BYOMACHINE_FINALIZER):
        return Decision(intent=add_finalizer(BYO_MACHINE, machine, BYOMACHINE_FINALIZER))
    # 5. Cluster and bootstrap data are there.
    if not cluster.status.initialization.infrastructure_provisioned:
        message = f"Cluster {cluster_name} is not provisioned yet: see its condition InfrastructureReady"
        return _stop(machine, now, told.WAITING_FOR_CLUSTER, message)
    if not owner.spec.bootstrap.data_secret_name:
        message = f"Machine {owner.metadata.name} has no spec.bootstrap.dataSecretName yet"
        return _stop(machine, now, told.WAITING_FOR_BOOTSTRAP_SECRET, message)
    # 6. It has a host, and both agree.
    claimed = _claimed_host(view, machine, now)
    if isinstance(claimed, Decision):
        return claimed
    # 7. What the host needs to become a Node has reached it.
    strays = give_back_strays(view, machine)
    context = ClaimContext(
        machine, owner, cluster, view.get(BYO_CLUSTER, key.namespace, _infrastructure(cluster)), None
    )
    installation = installation_of(view, machine, owner)
    if installation.message:
        stopped = _stop(
            machine, now, installation.reason, installation.message, _host_fields(claimed), installation.severity
        )
        return stopped._replace(children=(*strays, *installation.writes))
    children = (*strays, *host_patch(context._replace(installation=installation.secret), claimed))
    # 8. It has become a Node.
    return _joined(view, machine, owner, claimed, now)._replace(children=children)


def _owner(view: View, machine: ByoMachine) -> Machine | None:
    for ref in machine.metadata.owner_references:
        if ref.kind == "Machine" and ref.api_version.partition("/")[0] == MACHINES_GROUP:
            found = view.get(MACHINE, machine.metadata.namespace, ref.name)
            return found if found is not None and found.metadata.uid == ref.uid else None
    return None


def _infrastructure(cluster: Cluster) -> str:
    return cluster.spec.infrastructure_ref.name or cluster.metadata.name


def _claimed_host(view: View, machine: ByoMachine, now: datetime) -> HostClaim | Decision:
    """The host that is this machine's for good, or the next step towards one."""
    strays = give_back_strays(view, machine)
    ref = machine.status.host_ref
    if ref is None:
        return _choose(view, machine, now)._replace(children=strays)
    host = view.get(BYO_HOST, machine.metadata.namespace, ref.name)
    present = host if host is not None and host.metadata.uid == ref.uid else None
    if present is not None and is_claimed_by(present, machine):
        return present if ref.claimed else Decision(children=strays, status=(confirm(machine, present),))
    # Its labels may have changed since it was chosen; a claim that both once agreed on stands whatever they are.
    if present is not None and is_claimable(present) and (ref.claimed or suits(present, machine.spec)):
        return Decision(children=(*strays, claim(machine, present)))
    if not ref.claimed:
        return Decision(children=strays, status=(step_back(machine),))
    message = f"ByoHost {ref.name} was deleted or given to another ByoMachine; delete the Machine to replace it"
    return _stop(machine, now, told.HOST_LOST, message, {"ready": False}, "Error")._replace(children=strays)


def _choose(view: View, machine: ByoMachine, now: datetime) -> Decision:
    try:
        host = choose_host(view, machine)
        if host is not None:
            return Decision(status=choose(machine, host, now))
        message = shortage(view, machine.metadata.namespace, machine.spec).message
    except SelectorError as error:
        return _stop(machine, now, told.INVALID_SELECTOR, f"spec.selector: {error}", severity="Error")
    stopped = _stop(machine, now, told.HOSTS_UNAVAILABLE, message)
    known = find_condition(machine.status.conditions, told.BYOHOST_READY)
    if known is not None and known.reason == told.HOSTS_UNAVAILABLE:
        return stopped
    event = Event(BYO_MACHINE, key_of(machine), "Warning", "ByoHostSelectionFailed", f"No host is claimed: {message}")
    return stopped._replace(events=(event,))


def _joined(view: View, machine: ByoMachine, owner: Machine, host: HostClaim, now: datetime) -> Decision:
    fields = _host_fields(host)
    # Its labels may have changed since it was chosen: that matters to the next claim, not to this one.
    mismatch = _label_mismatch(machine, host)
    for type_ in (told.COMPONENTS_INSTALLED, told.NODE_BOOTSTRAPPED):
        found = find_condition(host.status.conditions, type_)
        if found is not None and found.status == "False" and found.severity == "Error":
            message = f"ByoHost {host.metadata.name}: {found.reason}: {found.message}"
            return _stop(machine, now, told.JOIN_FAILED, message, fields, "Error")
    name = host.metadata.name
    node = view.get(NODE, "", name)
    if node is None or node.metadata.deleting:
        return _stop(machine, now, told.WAITING_FOR_NODE, f"ByoHost {name} has not become a Node yet", fields)
    if node.spec.provider_id.partition("//")[2].partition("/")[0] != name:
        message = f"Node {name} has providerID {node.spec.provider_id or '(none)'}, not {provider_id(name)}"
        return _stop(machine, now, told.WAITING_FOR_NODE, message, fields)
    intent: tuple[Write, ...] = ()
    if machine.spec.provider_id != node.spec.provider_id:
        intent = (Patch(BYO_MACHINE, key_of(machine), {"spec": {"providerID": node.spec.provider_id}}),)
    fields |= {"ready": True, "initialization": {"provisioned": True}, "nodeRef": _node_reference(machine, name)}
    reached = (holds(told.BYOHOST_READY, told.ATTACHED), _version_condition(machine, owner, node), mismatch)
    status = status_patch(BYO_MACHINE, machine, machine.status, reached, now, fields)
    event = Event(BYO_MACHINE, key_of(machine), "Normal", "NodeProvisionedSucceeded", f"ByoHost {name} is a Node")
    return Decision(intent=intent, status=status, events=() if machine.status.ready else (event,))


def _host_fields(host: HostClaim) -> Object:
    info = host.status.hostinfo
    addresses = [
        {"type": "InternalIP", "address": address.partition("/")[0]}
        for network in sorted(host.status.network, key=lambda each: not each.is_default)
        if network.connected
        for address in network.ip_addrs
    ]
    return {
        "hostinfo": {"osname": info.osname, "osimage": info.osimage, "architecture": info.architecture},
        "addresses": [*addresses, {"type": "Hostname", "address": host.metadata.name}],
    }


def _node_reference(machine: ByoMachine, name: str) -> Object:
    known = machine.status.node_ref
    if known is not None and known.name == name:
        # As it is, so that it compares equal.
        kept: Object = to_builtins(known)
        return kept
    return {"apiVersion": "v1", "kind": "Node", "name": name}


def _version_condition(machine: ByoMachine, owner: Machine, node: Node) -> Condition:
    wanted, has = wanted_version(machine, owner), (node.status.node_info or {}).get("kubeletVersion", "")
    if not wanted or not has or has.partition("+")[0] == wanted:
        return holds(told.KUBELET_VERSION)
    message = f"the kubelet of Node {node.metadata.name} is {has}, and Machine {owner.metadata.name} asks for {wanted}"
    return waiting(told.KUBELET_VERSION, "VersionMismatch", message, "Warning")


def _label_mismatch(machine: ByoMachine, host: HostClaim) -> Condition:
    try:
        matches = host_selector(machine.spec).matches(host.metadata.labels)
    except SelectorError:
        matches = False
    if matches:
        return holds(told.SELECTOR_MATCHES)
    message = f"the labels of ByoHost {host.metadata.name} no longer match spec.selector; the claim stays as it is"
    return waiting(told.SELECTOR_MATCHES, told.LABEL_MISMATCH, message)


def _pause_host(view: View, machine: ByoMachine) -> tuple[Patch, ...]:
    """Tell the agent: the annotation names the ByoMachine, so that it is taken off again, and not one of a person."""
    ref = machine.status.host_ref
    host = None if ref is None or not ref.claimed else view.get(BYO_HOST, machine.metadata.namespace, ref.name)
    if host is None or not is_claimed_by(host, machine) or PAUSED in host.metadata.annotations:
        return ()
    return (Patch(BYO_HOST, key_of(host), {"metadata": {"annotations": {PAUSED: machine.metadata.name}}}),)


def _stop(
    machine: ByoMachine, now: datetime, reason: str, message: str, fields: Object | None = None, severity: str = "Info"
) -> Decision:
    condition = waiting(told.BYOHOST_READY, reason, message, severity)
    return Decision(status=status_patch(BYO_MACHINE, machine, machine.status, (condition,), now, fields))


CONTROLLER = Controller(
    "byomachine",
    reconcile,
    of=BYO_MACHINE,
    reads=(BYO_HOST, BYO_CLUSTER, MACHINE, CLUSTER, NODE, K8S_INSTALLER_CONFIG, K8S_INSTALLER_CONFIG_TEMPLATE),
    writes={
        BYO_MACHINE: ("patch", "status", "finalizers"),
        BYO_HOST: ("patch", "status"),
        K8S_INSTALLER_CONFIG: ("create",),
    },
)
