"""The end of a claim on its host: the agent is asked to clean it, and what the claim brought is taken away.

`kind` is the view of hosts that the decision was made on: a write is based on what that view has seen.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from msgspec import to_builtins

from mooring.api.kinds import Kind, key_of
from mooring.features.hosts.api.hosts import ByoHost, HostClaim, HostTaint
from mooring.features.hosts.api.names import (
    BUNDLE_REGISTRY,
    BYOMACHINE_NAME,
    CLEANUP_STARTED_AT,
    CLUSTER_NAME,
    ENDPOINT,
    K8S_VERSION,
    MANAGED_LABELS,
    MANAGED_TAINTS,
    PAUSED,
    UNREGISTERING,
)
from mooring.features.hosts.api.own_metadata import managed_labels, own_labels, own_taints
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Patch

__all__ = ["release_patch", "taint_object", "unregister"]


def unregister(kind: Kind[Any], host: HostClaim | ByoHost, now: datetime) -> tuple[Patch, ...]:
    """Ask the agent of a host to clean it. A pause that the claim brought is over."""
    wanted = {UNREGISTERING: "", CLEANUP_STARTED_AT: timestamp(now)}
    missing: Object = {name: value for name, value in wanted.items() if name not in host.metadata.annotations}
    ref = host.status.machine_ref
    if ref is not None and host.metadata.annotations.get(PAUSED) == ref.name:
        missing[PAUSED] = None
    return (Patch(kind, key_of(host), {"metadata": {"annotations": missing}}),) if missing else ()


def release_patch(kind: Kind[Any], host: HostClaim | ByoHost) -> Patch:
    """The write that takes away everything that a claim brought; a host that has it can be claimed again."""
    kept = [taint_object(each) for each in own_taints(host)]
    gone = (ENDPOINT, K8S_VERSION, BUNDLE_REGISTRY, MANAGED_LABELS, MANAGED_TAINTS, UNREGISTERING, CLEANUP_STARTED_AT)
    annotations = dict.fromkeys(name for name in gone if name in host.metadata.annotations)
    labels = dict.fromkeys(name for name in (CLUSTER_NAME, BYOMACHINE_NAME) if name in host.metadata.labels)
    fields = ("bootstrapSecret", "installationSecret", "uninstallationScript", "joinMode", "downloadMode")
    spec: Object = dict.fromkeys((*fields, "kubernetesVersion", "manageKubeProxy"))
    spec["labels"] = dict.fromkeys(managed_labels(host)) if own_labels(host) else None
    spec["taints"] = kept or None
    return Patch(kind, key_of(host), {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec})


def taint_object(taint: HostTaint) -> Object:
    return {name: value for name, value in to_builtins(taint).items() if value}
