"""The objects of a new pool: a template for its hosts, and the MachineDeployment that claims them."""

from __future__ import annotations

from msgspec import to_builtins

from mooring.features.autoscaler.replica_pools.decision import NewPool
from mooring.features.autoscaler.replica_pools.names import MADE_FOR, REASON, REPLICA_POOL, SELECTOR_KEY
from mooring.features.autoscaler.replica_pools.policy import PolicyReference, ReplicaPoolPolicy
from mooring.features.hosts.api.hosts import TLS_BOOTSTRAP
from mooring.features.hosts.api.names import API_VERSION as HOSTS_VERSION
from mooring.features.hosts.api.names import GROUP as HOSTS_GROUP
from mooring.features.machines.api.names import CLUSTER_NAME, DEPLOYMENT_NAME
from mooring.kube.objects import Object

__all__ = ["host_template", "machine_deployment"]


def host_template(new: NewPool, policy: ReplicaPoolPolicy) -> Object:
    selector = {name: part for name, part in to_builtins(policy.host_selector).items() if part}
    spec: Object = {
        "selector": selector,
        "capacityRequirements": dict(new.sizing.requirements),
        "bootstrapConfigRef": _host_reference(policy.bootstrap),
        "joinMode": TLS_BOOTSTRAP,
    }
    if policy.installer is not None:
        spec["installerRef"] = _host_reference(policy.installer)
    return {"metadata": _metadata(new, policy), "spec": {"template": {"spec": spec}}}


def machine_deployment(new: NewPool, policy: ReplicaPoolPolicy) -> Object:
    """Its Machines are its own by their deployment's name, so that no other pool of the Cluster has the same selector.

    All of its hosts are in use, so that an update could not put a new Machine beside an old one.
    """
    label = new.replica.label
    machine: Object = {
        "clusterName": policy.cluster,
        "bootstrap": {"configRef": _reference(policy.bootstrap)},
        "infrastructureRef": _reference(PolicyReference("ByoMachineTemplate", new.name)),
    }
    if policy.version:
        machine["version"] = policy.version
    if new.taints:
        machine["taints"] = [
            {"key": each.key, "value": each.value, "effect": each.effect, "propagation": "Always"}
            for each in new.taints
        ]
    metadata = _metadata(new, policy)
    metadata["annotations"] = {SELECTOR_KEY: label.key, MADE_FOR: new.replica.name, REASON: _reason(new)}
    own = {CLUSTER_NAME: policy.cluster, DEPLOYMENT_NAME: new.name}
    return {
        "metadata": metadata,
        "spec": {
            "clusterName": policy.cluster,
            "replicas": new.sizing.hosts,
            "selector": {"matchLabels": own},
            "rollout": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}},
            "template": {"metadata": {"labels": {**own, label.key: label.value}}, "spec": machine},
        },
    }


def _metadata(new: NewPool, policy: ReplicaPoolPolicy) -> Object:
    labels = {REPLICA_POOL: new.replica.label.value}
    return {"name": new.name, "namespace": policy.namespace, "labels": labels}


def _reason(new: NewPool) -> str:
    pods = max(len(new.replica.pods), new.replica.size)
    return f"{pods} pods of {new.replica.name} ask for nodes with {new.replica.label}, and no node had room for them"


def _reference(to: PolicyReference) -> Object:
    return {"apiGroup": HOSTS_GROUP, "kind": to.kind, "name": to.name}


def _host_reference(to: PolicyReference) -> Object:
    return {"apiVersion": HOSTS_VERSION, "kind": to.kind, "name": to.name}
