"""Builders of pools: MachineDeployments, MachineSets and Machines of cluster.x-k8s.io, as people write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mooring.features.machines.api.names import API_VERSION, CLUSTER_NAME
from mooring.kube.objects import Object
from mooring.testing.hosts import CLUSTER

BOOTSTRAP = "my-cluster-workers-bootstrap-kubeconfig"
_HOSTS = "infrastructure.cluster.x-k8s.io"


def machine_template(
    template: str,
    *,
    version: str = "v1.34.1",
    bootstrap: str = BOOTSTRAP,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """What Machines are made from: `template` names a ByoMachineTemplate, what is left over goes into the spec."""
    metadata: Object = {"labels": {CLUSTER_NAME: CLUSTER, **(labels or {})}}
    if annotations:
        metadata["annotations"] = dict(annotations)
    own = {
        "clusterName": CLUSTER,
        "version": version,
        "bootstrap": {"configRef": {"apiGroup": _HOSTS, "kind": "BootstrapKubeconfig", "name": bootstrap}},
        "infrastructureRef": {"apiGroup": _HOSTS, "kind": "ByoMachineTemplate", "name": template},
        **spec,
    }
    return {"metadata": metadata, "spec": own}


def machine_deployment(
    name: str = "worker-pool",
    replicas: int | None = 2,
    *,
    template: Object | None = None,
    surge: int | str | None = None,
    unavailable: int | str | None = None,
    annotations: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """A pool, with the selector of the whole cluster. `surge` and `unavailable` are those of its rolling update."""
    body: Object = {
        "clusterName": CLUSTER,
        "selector": {"matchLabels": {CLUSTER_NAME: CLUSTER}},
        "template": template or machine_template("worker-template"),
        **spec,
    }
    if replicas is not None:
        body["replicas"] = replicas
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    if given := {name: value for name, value in rolling.items() if value is not None}:
        body["rollout"] = {"strategy": {"type": "RollingUpdate", "rollingUpdate": given}}
    metadata: Object = {"name": name, "namespace": "default"}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return {"apiVersion": API_VERSION, "kind": "MachineDeployment", "metadata": metadata, "spec": body}


def machine_set(name: str = "set", replicas: int | None = 2, *, template: Object | None = None, **spec: Any) -> Object:
    """A set of Machines that is in no pool."""
    body = machine_deployment(name, replicas, template=template, **spec)
    return {**body, "kind": "MachineSet"}


def machine(name: str, *, labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
    """A Machine that somebody makes by hand, with companions of its name."""
    own = machine_template("", labels=labels)["spec"]
    own["bootstrap"]["configRef"]["name"] = name
    own["infrastructureRef"] = {"apiGroup": _HOSTS, "kind": "ByoMachine", "name": name}
    metadata = {"name": name, "namespace": "default", "labels": {CLUSTER_NAME: CLUSTER, **(labels or {})}}
    return {"apiVersion": API_VERSION, "kind": "Machine", "metadata": metadata, "spec": {**own, **spec}}
