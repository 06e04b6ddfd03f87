"""ByoClusters: ready as soon as a Cluster has them, and gone only after the last ByoMachine of that Cluster.

One that does not say where its API server is means the cluster that it is in, which says so in `cluster-info`.
"""

from __future__ import annotations

from datetime import datetime
from urllib.parse import urlsplit

from mooring.api.kinds import Key, key_of
from mooring.features.hosts.api.clusters import APIEndpoint, ByoCluster
from mooring.features.hosts.api.conditions import CLUSTER_NOT_FOUND, READY, WAITING_FOR_MACHINES
from mooring.features.hosts.api.kinds import BYO_CLUSTER, BYO_MACHINE
from mooring.features.hosts.api.names import BYOCLUSTER_FINALIZER, CLUSTER_NAME
from mooring.features.hosts.bootstrap.kubeconfig import CLUSTER_INFO, CONFIG_MAP_BY_NAME, address_in
from mooring.features.hosts.statuses import holds, status_patch, waiting
from mooring.features.machines.api.clusters import Cluster
from mooring.features.machines.api.kinds import CLUSTER
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Patch, Write
from mooring.runtime.view import View
from mooring.workloads.finalizers import add_finalizer, remove_finalizer

DEFAULT_PORT = 6443


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    own = view.get(BYO_CLUSTER, *key)
    if own is None:
        return Decision()
    cluster = _cluster(view, own)
    name = cluster.metadata.name if cluster is not None else own.metadata.labels.get(CLUSTER_NAME, key.name)
    # 1. It stays, or its ByoMachines are gone.
    if own.metadata.deleting:
        left = view.list(BYO_MACHINE, "cluster", f"{key.namespace}/{name}")
        if not left:
            return Decision(release=remove_finalizer(BYO_CLUSTER, own, BYOCLUSTER_FINALIZER))
        message = f"{len(left)} ByoMachines of Cluster {name} are still there; delete its Machines"
        return Decision(status=_told(own, READY, WAITING_FOR_MACHINES, message, now))
    # 2. A Cluster has it.
    if cluster is None:
        message = f"no Cluster has ByoCluster {key.name} as spec.infrastructureRef; create Cluster {name}"
        return Decision(status=_told(own, READY, CLUSTER_NOT_FOUND, message, now))
    # 3. Machines may be made.
    intent: tuple[Write, ...] = add_finalizer(BYO_CLUSTER, own, BYOCLUSTER_FINALIZER)
    wanted = _endpoint(view, own)
    if not intent and wanted is not None and wanted != own.spec.control_plane_endpoint:
        body = {"spec": {"controlPlaneEndpoint": {"host": wanted.host, "port": wanted.port}}}
        intent = (Patch(BYO_CLUSTER, key_of(own), body),)
    ready = status_patch(BYO_CLUSTER, own, own.status, (holds(READY),), now, {"ready": True})
    return Decision(intent=intent, status=ready)


def _endpoint(view: View, own: ByoCluster) -> APIEndpoint | None:
    said = own.spec.control_plane_endpoint
    if said is not None:
        return APIEndpoint(said.host, said.port or DEFAULT_PORT)
    info = view.get(CONFIG_MAP_BY_NAME, *CLUSTER_INFO)
    found = None if info is None else address_in(info.data.get("kubeconfig", ""))
    parts = None if found is None else urlsplit(found.server)
    if parts is None or not parts.hostname:
        return None
    return APIEndpoint(parts.hostname, parts.port or DEFAULT_PORT)


def _cluster(view: View, own: ByoCluster) -> Cluster | None:
    """The Cluster that owns it, or the one of its name, before that has come to own it."""
    owners = [ref.name for ref in own.metadata.owner_references if ref.kind == CLUSTER.kind]
    name = owners[0] if owners else own.metadata.labels.get(CLUSTER_NAME, own.metadata.name)
    found = view.get(CLUSTER, own.metadata.namespace, name)
    if found is None or (not owners and found.spec.infrastructure_ref.name != own.metadata.name):
        return None
    return found


def _told(own: ByoCluster, type_: str, reason: str, message: str, now: datetime) -> tuple[Patch, ...]:
    return status_patch(BYO_CLUSTER, own, own.status, (waiting(type_, reason, message),), now)


CONTROLLER = Controller(
    "byocluster",
    reconcile,
    of=BYO_CLUSTER,
    reads=(BYO_MACHINE, CLUSTER, CONFIG_MAP_BY_NAME),
    writes={BYO_CLUSTER: ("patch", "status")},
)
