"""What a claim brings to its host: labels, annotations, and a spec that the host's agent acts on.

All of it follows from the claim and is one write, so that an agent never sees half of it. Which labels and taints of
the spec came with the claim is noted on the host: those go when the host is released, and those of people stay.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import to_builtins

from mooring.api.kinds import key_of
from mooring.features.hosts.api.clusters import ByoCluster
from mooring.features.hosts.api.hosts import HostClaim, HostTaint
from mooring.features.hosts.api.kinds import BYO_HOST
from mooring.features.hosts.api.machines import ByoMachine
from mooring.features.hosts.api.names import (
    BUNDLE_REGISTRY,
    BYOMACHINE_NAME,
    CLUSTER_NAME,
    ENDPOINT,
    K8S_VERSION,
    MANAGED_LABELS,
    MANAGED_TAINTS,
    PAUSED,
)
from mooring.features.hosts.api.own_metadata import managed_labels, own_taints
from mooring.features.hosts.api.references import Reference, reference_to
from mooring.features.hosts.byohost.release import taint_object
from mooring.features.machines.api.clusters import Cluster
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.propagation import node_labels
from mooring.kube.objects import Object
from mooring.runtime.decision import Patch

__all__ = ["ClaimContext", "host_patch", "wanted_version"]


class ClaimContext(NamedTuple):
    """What a claim is made for. `installation` is None where the host installs nothing."""

    machine: ByoMachine
    owner: Machine
    cluster: Cluster
    infrastructure: ByoCluster | None
    installation: Reference | None


def wanted_version(machine: ByoMachine, owner: Machine) -> str:
    """The version of Kubernetes, without what a vendor puts behind a plus sign."""
    return (machine.spec.kubernetes_version or owner.spec.version).partition("+")[0]


def host_patch(context: ClaimContext, host: HostClaim) -> tuple[Patch, ...]:
    """The write that brings the claim to its host; none where it has arrived."""
    machine, owner = context.machine, context.owner
    namespace = machine.metadata.namespace
    labels = node_labels(owner.metadata.labels)
    managed = managed_labels(host)
    taints = tuple(HostTaint(each.key, each.effect, each.value) for each in owner.spec.taints)
    own = own_taints(host)
    own_keys = {(each.key, each.effect) for each in own}
    added = [each for each in taints if (each.key, each.effect) not in own_keys]
    # What a person wrote on the host wins over the pool, and is not noted as the claim's.
    brought = {k: v for k, v in labels.items() if k not in host.spec.labels or k in managed}
    spec: Object = {
        "bootstrapSecret": reference_to("v1", "Secret", namespace, owner.spec.bootstrap.data_secret_name or ""),
        "joinMode": machine.spec.join_mode or None,
        "downloadMode": machine.spec.download_mode or None,
        "kubernetesVersion": wanted_version(machine, owner) or None,
        "manageKubeProxy": machine.spec.manage_kube_proxy or None,
        "labels": {**dict.fromkeys(managed - brought.keys()), **brought},
        "taints": [taint_object(each) for each in (*own, *added)],
    }
    if context.installation is not None:
        wanted = context.installation
        spec["installationSecret"] = reference_to("v1", "Secret", wanted.namespace or namespace, wanted.name)
    metadata: Object = {
        "labels": {
            CLUSTER_NAME: context.cluster.metadata.name,
            BYOMACHINE_NAME: f"{namespace}.{machine.metadata.name}",
        },
        "annotations": {
            ENDPOINT: _endpoint(context),
            K8S_VERSION: wanted_version(machine, owner),
            BUNDLE_REGISTRY: ""
            if context.infrastructure is None
            else context.infrastructure.spec.bundle_lookup_base_registry,
            MANAGED_LABELS: json.dumps(sorted(brought)),
            MANAGED_TAINTS: json.dumps(sorted((each.key, each.effect) for each in added)),
        },
    }
    if host.metadata.annotations.get(PAUSED) == machine.metadata.name:
        metadata["annotations"][PAUSED] = None
    return _changed(host, {"metadata": metadata, "spec": spec})


def _endpoint(context: ClaimContext) -> str:
    endpoint = context.cluster.spec.control_plane_endpoint
    return f"{endpoint.host}:{endpoint.port}" if endpoint.host else ""


def _changed(host: HostClaim, wanted: Object) -> tuple[Patch, ...]:
    """The parts of a merge patch that would change something."""
    have = to_builtins(host)
    body = _difference(wanted, have)
    return (Patch(BYO_HOST, key_of(host), body),) if body else ()


def _difference(wanted: Mapping[str, Any], have: Mapping[str, Any]) -> Object:
    made: Object = {}
    for name, value in wanted.items():
        known = have.get(name)
        if isinstance(value, dict) and name not in ("bootstrapSecret", "installationSecret"):
            if inner := _difference(value, known or {}):
                made[name] = inner
        elif isinstance(value, dict):
            if {k: v for k, v in (known or {}).items() if v} != value:
                made[name] = value
        elif isinstance(value, list):
            if [{k: v for k, v in each.items() if v} for each in known or ()] != value:
                made[name] = value
        elif (value or None) != (known or None):
            made[name] = value
    return made
