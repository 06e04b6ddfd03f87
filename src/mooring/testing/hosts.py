"""Builders of hosts, of the ByoMachines that claim them, and of the Machines and Clusters that these belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mooring.features.hosts.api.names import API_VERSION, CLUSTER_NAME
from mooring.features.machines.api.names import API_VERSION as MACHINES_VERSION
from mooring.kube.objects import Object
from mooring.registry import Registry
from mooring.runtime.drivers.simulation import Simulation

CLUSTER = "my-cluster"


def byo_host(
    name: str,
    *,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    cpu: str = "8",
    memory: str = "32Gi",
    gpu: int = 0,
    **spec: Any,
) -> Object:
    """A host as an agent registers it."""
    capacity: Object = {"cpu": cpu, "memory": memory, **({"nvidia.com/gpu": str(gpu)} if gpu else {})}
    metadata: Object = {"name": name, "namespace": namespace, "labels": dict(labels or {})}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": API_VERSION, "kind": "ByoHost", "metadata": metadata, "spec": {"capacity": capacity, **spec}}


def byo_cluster(name: str = CLUSTER, *, namespace: str = "default", **spec: Any) -> Object:
    return {
        "apiVersion": API_VERSION,
        "kind": "ByoCluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"controlPlaneEndpoint": {"host": "127.0.0.1", "port": 6443}, **spec},
    }


def machine_cluster(name: str = CLUSTER, *, namespace: str = "default", **spec: Any) -> Object:
    """A Cluster of hosts."""
    infrastructure = {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": "ByoCluster", "name": name}
    return {
        "apiVersion": MACHINES_VERSION,
        "kind": "Cluster",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "controlPlaneEndpoint": {"host": "127.0.0.1", "port": 6443},
            "infrastructureRef": infrastructure,
            **spec,
        },
    }


def byo_machine_template(name: str, selector: Mapping[str, str] | None = None, **spec: Any) -> Object:
    wanted: Object = {"joinMode": "tlsBootstrap", **spec}
    if selector is not None:
        wanted["selector"] = {"matchLabels": dict(selector)}
    return {
        "apiVersion": API_VERSION,
        "kind": "ByoMachineTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": {"spec": wanted}},
    }


def installer_template(name: str = "installer", *, repo: str = "online") -> Object:
    return {
        "apiVersion": API_VERSION,
        "kind": "K8sInstallerConfigTemplate",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": {"spec": {"bundleRepo": repo, "bundleType": "k8s"}}},
    }


def bootstrap_kubeconfig(name: str, *, apiserver: str = "https://127.0.0.1:6443", **spec: Any) -> Object:
    return {
        "apiVersion": API_VERSION,
        "kind": "BootstrapKubeconfig",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"apiserver": apiserver, **spec},
    }


def put_cluster(simulation: Simulation, name: str = CLUSTER) -> None:
    """A Cluster that is provisioned, as the controllers of machines leave it, and its ByoCluster."""
    registry = simulation.registry
    create(simulation, byo_cluster(name))
    create(simulation, machine_cluster(name))
    body = {"status": {"initialization": {"infrastructureProvisioned": True, "controlPlaneInitialized": True}}}
    resource = registry.resource(MACHINES_VERSION, "Cluster")
    registry.patch(resource, "default", name, "merge", body, subresource="status", now=simulation.now)


def put_machine(
    simulation: Simulation,
    name: str,
    hosts: Mapping[str, str] | None = None,
    *,
    secret: str | None = "bootstrap",
    version: str = "v1.34.1",
    labels: Mapping[str, str] | None = None,
    taints: tuple[Mapping[str, str], ...] = (),
    **spec: Any,
) -> Object:
    """A Machine as a MachineSet makes it, with its ByoMachine, which wants hosts with these labels.

    `labels` and `taints` are the Machine's; `spec` is the ByoMachine's.
    """
    bootstrap: Object = (
        {"dataSecretName": secret} if secret is not None else {"configRef": _ref("BootstrapKubeconfig", name)}
    )
    wanted: Object = {
        "clusterName": CLUSTER,
        "version": version,
        "bootstrap": bootstrap,
        "infrastructureRef": _ref("ByoMachine", name),
    }
    if taints:
        wanted["taints"] = [{"propagation": "Always", **taint} for taint in taints]
    metadata: Object = {"name": name, "namespace": "default", "labels": {CLUSTER_NAME: CLUSTER, **(labels or {})}}
    made = create(simulation, {"apiVersion": MACHINES_VERSION, "kind": "Machine", "metadata": metadata, "spec": wanted})
    owner = {
        "apiVersion": MACHINES_VERSION,
        "kind": "Machine",
        "name": name,
        "uid": made["metadata"]["uid"],
        "controller": True,
    }
    own: Object = {"joinMode": "tlsBootstrap", **spec}
    if hosts is not None:
        own["selector"] = {"matchLabels": dict(hosts)}
    meta = {"name": name, "namespace": "default", "labels": {CLUSTER_NAME: CLUSTER}, "ownerReferences": [owner]}
    return create(simulation, {"apiVersion": API_VERSION, "kind": "ByoMachine", "metadata": meta, "spec": own})


def claimed_hosts(registry: Registry) -> dict[str, str]:
    """The ByoMachine of every host that is claimed: where the host names it, and it has chosen the host."""
    machines = {each["metadata"]["name"]: each for each in _all(registry, "ByoMachine")}
    found = {}
    for host in _all(registry, "ByoHost"):
        ref = host.get("status", {}).get("machineRef")
        chosen = machines.get(ref["name"], {}).get("status", {}).get("hostRef") if ref else None
        if ref and chosen and chosen["uid"] == host["metadata"]["uid"]:
            found[host["metadata"]["name"]] = ref["name"]
    return found


def _all(registry: Registry, kind: str) -> list[Object]:
    return list(registry.list(registry.resource(API_VERSION, kind)).items)


def _ref(kind: str, name: str) -> Object:
    return {"apiGroup": "infrastructure.cluster.x-k8s.io", "kind": kind, "name": name}


def create(simulation: Simulation, obj: Object) -> Object:
    registry: Registry = simulation.registry
    return registry.create(registry.resource(obj["apiVersion"], obj["kind"]), obj, now=simulation.now)
