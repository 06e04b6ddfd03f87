"""Two pools of one cluster of hosts, as YAML would have them."""

from __future__ import annotations

import base64
from urllib.parse import urlsplit

from mooring.kube.objects import Object
from mooring.testing.homes import Home

__all__ = ["CLUSTER", "cluster_objects", "pool_objects"]

CLUSTER = "my-cluster"
_BOOTSTRAP = f"{CLUSTER}-workers-bootstrap-kubeconfig"
_HOSTS = "infrastructure.cluster.x-k8s.io"
_MACHINES = "cluster.x-k8s.io/v1beta2"


def cluster_objects(home: Home) -> list[Object]:
    """The Cluster, and how its hosts find the API server."""
    endpoint = urlsplit(home.url)
    where = {"host": endpoint.hostname, "port": endpoint.port}
    authority = base64.b64encode(home.ca.read_bytes()).decode()
    return [
        {
            "apiVersion": _MACHINES,
            "kind": "Cluster",
            "metadata": {"name": CLUSTER},
            "spec": {"controlPlaneEndpoint": where, "infrastructureRef": _reference("ByoCluster", CLUSTER)},
        },
        {
            "apiVersion": f"{_HOSTS}/v1beta1",
            "kind": "ByoCluster",
            "metadata": {"name": CLUSTER},
            "spec": {"controlPlaneEndpoint": where},
        },
        {
            "apiVersion": f"{_HOSTS}/v1beta1",
            "kind": "BootstrapKubeconfig",
            "metadata": {"name": _BOOTSTRAP},
            "spec": {"apiserver": home.url, "certificate-authority-data": authority},
        },
    ]


def pool_objects(name: str, replicas: int, purpose: str, *, taint: str = "", version: str = "v1.35.8") -> list[Object]:
    """A pool that takes hosts labelled with `purpose`, and gives their nodes the label `pool`."""
    machine: Object = {
        "clusterName": CLUSTER,
        "version": version,
        "bootstrap": {"configRef": _reference("BootstrapKubeconfig", _BOOTSTRAP)},
        "infrastructureRef": _reference("ByoMachineTemplate", name),
    }
    if taint:
        machine["taints"] = [{"key": taint, "value": "yes", "effect": "NoSchedule", "propagation": "Always"}]
    labels = {"cluster.x-k8s.io/cluster-name": CLUSTER, "node.cluster.x-k8s.io/pool": name}
    wanted = {"selector": {"matchLabels": {"purpose": purpose}}, "joinMode": "tlsBootstrap"}
    return [
        {
            "apiVersion": f"{_HOSTS}/v1beta1",
            "kind": "ByoMachineTemplate",
            "metadata": {"name": name},
            "spec": {"template": {"spec": wanted}},
        },
        {
            "apiVersion": _MACHINES,
            "kind": "MachineDeployment",
            "metadata": {"name": name},
            "spec": {
                "clusterName": CLUSTER,
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": machine},
            },
        },
    ]


def _reference(kind: str, name: str) -> Object:
    return {"apiGroup": _HOSTS, "kind": kind, "name": name}
