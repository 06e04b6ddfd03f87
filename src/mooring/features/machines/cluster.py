"""Cluster: whether its infrastructure is there and its API server known; when it goes, its Machines go first."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec.structs import replace

from mooring.api.conditions import is_true, set_conditions
from mooring.api.kinds import Key, Kind, key_of
from mooring.api.meta import Condition
from mooring.features.hosts.api.clusters import ByoCluster
from mooring.features.hosts.api.kinds import BYO_CLUSTER
from mooring.features.hosts.api.names import GROUP as HOSTS_GROUP
from mooring.features.machines.api import conditions as say
from mooring.features.machines.api.clusters import Cluster, ClusterInitialization, ClusterReplicas
from mooring.features.machines.api.kinds import CLUSTER, MACHINE, MACHINE_DEPLOYMENT, MACHINE_SET, cluster_index
from mooring.features.machines.api.machine_deployments import MachineDeployment
from mooring.features.machines.api.machine_sets import MachineSet
from mooring.features.machines.api.names import CLUSTER_FINALIZER, CLUSTER_NAME
from mooring.features.machines.blocks import pause_of, paused_condition
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Delete, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.finalizers import add_finalizer, remove_finalizer
from mooring.workloads.ownerrefs import adopted_references
from mooring.workloads.podcontrol import status_change


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    cluster = view.get(CLUSTER, *key)
    if cluster is None:
        return Decision()

    # 1. A Cluster that goes takes its pools along, and waits for them.
    if cluster.metadata.deleting:
        return _deleted(view, cluster, now)
    if added := add_finalizer(CLUSTER, cluster, CLUSTER_FINALIZER):
        return Decision(intent=added)

    # 2. Nobody has paused it.
    if pause := pause_of(cluster, cluster.metadata.annotations):
        return Decision(status=_status(view, cluster, (paused_condition(pause),), now))

    # 3. The provider's object knows whose it is, and where the API server is.
    infrastructure, provided = _infrastructure(view, cluster)
    intent: tuple[Write, ...] = ()
    if provided is not None and provided.metadata.controller is None and not provided.metadata.deleting:
        intent = (_taken(cluster, provided),)
    if endpoint := _endpoint(cluster, provided):
        intent = (*intent, Patch(CLUSTER, key, {"spec": {"controlPlaneEndpoint": endpoint}}))
    if intent:
        return Decision(intent=intent)

    # 4. Status says what was seen.
    conditions = (
        infrastructure,
        _control_plane(cluster, infrastructure),
        Condition(say.DELETING, "False", say.NOT_DELETING),
        paused_condition(""),
    )
    return Decision(status=_status(view, cluster, conditions, now))


def _infrastructure(view: View, cluster: Cluster) -> tuple[Condition, ByoCluster | None]:
    reference = cluster.spec.infrastructure_ref
    if not reference:
        # What exists already needs no provider.
        return Condition(say.INFRASTRUCTURE_READY, "True", say.PROVISIONED), None
    if reference.group_kind != (HOSTS_GROUP, "ByoCluster"):
        kind = ".".join(filter(None, reversed(reference.group_kind)))
        text = f"spec.infrastructureRef names a {kind}, which is not supported; name a ByoCluster"
        return Condition(say.INFRASTRUCTURE_READY, "False", say.UNKNOWN_REFERENCE, text), None
    provided = view.get(BYO_CLUSTER, cluster.metadata.namespace, reference.name)
    if provided is None:
        text = (
            f"there is no ByoCluster {reference.name} in namespace {cluster.metadata.namespace}; "
            "create it or correct spec.infrastructureRef"
        )
        return Condition(say.INFRASTRUCTURE_READY, "False", say.INFRASTRUCTURE_NOT_FOUND, text), None
    if not provided.status.ready:
        text = f"ByoCluster {reference.name} is not ready"
        return Condition(say.INFRASTRUCTURE_READY, "False", say.NOT_PROVISIONED, text), provided
    return Condition(say.INFRASTRUCTURE_READY, "True", say.PROVISIONED), provided


def _taken(cluster: Cluster, provided: ByoCluster) -> Patch:
    """The provider waits until it sees whose object it is."""
    metadata = {
        "labels": {CLUSTER_NAME: cluster.metadata.name},
        "ownerReferences": adopted_references(provided, CLUSTER, cluster),
    }
    return Patch(BYO_CLUSTER, key_of(provided), {"metadata": metadata})


def _endpoint(cluster: Cluster, provided: ByoCluster | None) -> Object:
    """Where the API server is, if only the provider knows."""
    told = provided.spec.control_plane_endpoint if provided is not None else None
    if cluster.spec.control_plane_endpoint.host or told is None or not told.host or not told.port:
        return {}
    return {"host": told.host, "port": told.port}


def _control_plane(cluster: Cluster, infrastructure: Condition) -> Condition:
    """An API server that somebody else runs counts as started once it is known where it is."""
    if not cluster.spec.control_plane_endpoint.host:
        text = "spec.controlPlaneEndpoint is not set, here or on the provider's object; set it to the API server"
        return Condition(say.CONTROL_PLANE_INITIALIZED, "False", say.NOT_INITIALIZED, text)
    if infrastructure.status != "True":
        return Condition(say.CONTROL_PLANE_INITIALIZED, "False", say.NOT_INITIALIZED, infrastructure.message)
    return Condition(say.CONTROL_PLANE_INITIALIZED, "True", say.INITIALIZED)


def _workers(view: View, cluster: Cluster) -> ClusterReplicas:
    """Machines of its pools, and of sets that are in no pool."""
    index = cluster_index(cluster.metadata.namespace, cluster.metadata.name)
    sets = [each for each in view.list(MACHINE_SET, "cluster", index) if each.metadata.controller is None]
    pools: list[MachineDeployment | MachineSet] = [*view.list(MACHINE_DEPLOYMENT, "cluster", index), *sets]
    return ClusterReplicas(
        desired_replicas=sum(each.wanted for each in pools),
        replicas=sum(each.status.replicas for each in pools),
        up_to_date_replicas=sum(each.status.up_to_date_replicas for each in pools),
        ready_replicas=sum(each.status.ready_replicas for each in pools),
        available_replicas=sum(each.status.available_replicas for each in pools),
    )


def _status(view: View, cluster: Cluster, wanted: tuple[Condition, ...], now: datetime) -> tuple[Patch, ...]:
    old, generation = cluster.status, cluster.metadata.generation
    conditions = set_conditions(old.conditions, wanted, now)
    conditions = set_conditions(conditions, (_available(cluster, conditions),), now)
    done = ClusterInitialization(
        old.initialization.infrastructure_provisioned or is_true(conditions, say.INFRASTRUCTURE_READY),
        old.initialization.control_plane_initialized or is_true(conditions, say.CONTROL_PLANE_INITIALIZED),
    )
    new = replace(
        old,
        conditions=conditions,
        initialization=done,
        workers=_workers(view, cluster),
        observed_generation=generation,
        phase=_phase(cluster, done),
    )
    return status_change(CLUSTER, cluster, old, new)


def _available(cluster: Cluster, conditions: tuple[Condition, ...]) -> Condition:
    needed = (say.INFRASTRUCTURE_READY, say.CONTROL_PLANE_INITIALIZED)
    wrong = [each for each in conditions if each.type in needed and each.status != "True"]
    if cluster.metadata.deleting:
        return Condition(say.AVAILABLE, "False", say.NOT_AVAILABLE, "it is being deleted")
    if wrong:
        text = "; ".join(f"{each.type}: {each.message}" for each in wrong)
        return Condition(say.AVAILABLE, "False", say.NOT_AVAILABLE, text)
    if not all(is_true(conditions, each) for each in needed):
        return Condition(say.AVAILABLE, "False", say.NOT_AVAILABLE, "it is not known yet")
    return Condition(say.AVAILABLE, "True", say.IS_AVAILABLE)


def _phase(cluster: Cluster, done: ClusterInitialization) -> str:
    if cluster.metadata.deleting:
        return "Deleting"
    if done.infrastructure_provisioned and cluster.spec.control_plane_endpoint.host:
        return "Provisioned"
    return "Provisioning" if cluster.spec.infrastructure_ref else "Pending"


def _deleted(view: View, cluster: Cluster, now: datetime) -> Decision:
    """Pools first, then sets and Machines that are in none, then the provider's object."""
    index = cluster_index(cluster.metadata.namespace, cluster.metadata.name)
    left: list[str] = []
    going: list[Write] = []
    kinds: tuple[Kind[Any], ...] = (MACHINE_DEPLOYMENT, MACHINE_SET, MACHINE)
    for kind in kinds:
        for each in view.list(kind, "cluster", index):
            left.append(f"{kind.kind} {each.metadata.name}")
            if each.metadata.controller is None and not each.metadata.deleting:
                going.append(Delete(kind, key_of(each)))
    if left:
        text = f"{len(left)} objects of the Cluster have to go first: {', '.join(sorted(left)[:5])}"
        told = Condition(say.DELETING, "True", say.WAITING_FOR_WORKERS_DELETION, text)
        return Decision(children=tuple(going), status=_status(view, cluster, (told,), now))
    reference = cluster.spec.infrastructure_ref
    provided = (
        view.get(BYO_CLUSTER, cluster.metadata.namespace, reference.name)
        if reference.group_kind == (HOSTS_GROUP, "ByoCluster")
        else None
    )
    if provided is not None:
        text = f"it waits for ByoCluster {reference.name} to go"
        told = Condition(say.DELETING, "True", say.WAITING_FOR_INFRASTRUCTURE_DELETION, text)
        gone = () if provided.metadata.deleting else (Delete(BYO_CLUSTER, key_of(provided)),)
        return Decision(children=gone, status=_status(view, cluster, (told,), now))
    return Decision(release=remove_finalizer(CLUSTER, cluster, CLUSTER_FINALIZER))


CONTROLLER = Controller(
    name="cluster",
    reporter="cluster-controller",
    reconcile=reconcile,
    of=CLUSTER,
    reads=(MACHINE_DEPLOYMENT, MACHINE_SET, MACHINE, BYO_CLUSTER),
    writes={
        CLUSTER: ("patch", "status", "finalizers"),
        MACHINE_DEPLOYMENT: ("delete",),
        MACHINE_SET: ("delete",),
        MACHINE: ("delete",),
        BYO_CLUSTER: ("patch", "delete"),
    },
)
