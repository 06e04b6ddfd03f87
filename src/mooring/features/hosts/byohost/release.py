"""The end of a claim on its host: the agent is asked to clean it, and what the claim brought is taken away.

`kind` is the view of hosts that the decision was made on: a write is based on what that view has seen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Patch

__all__ = ["noted", "release_patch", "taint_object", "unregister"]


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
    managed = set(noted(host, MANAGED_LABELS))
    brought = set(map(tuple, noted(host, MANAGED_TAINTS)))
    kept = [taint_object(each) for each in host.spec.taints if (each.key, each.effect) not in brought]
    gone = (ENDPOINT, K8S_VERSION, BUNDLE_REGISTRY, MANAGED_LABELS, MANAGED_TAINTS, UNREGISTERING, CLEANUP_STARTED_AT)
    annotations = dict.fromkeys(name for name in gone if name in host.metadata.annotations)
    labels = dict.fromkeys(name for name in (CLUSTER_NAME, BYOMACHINE_NAME) if name in host.metadata.labels)
    fields = ("bootstrapSecret", "installationSecret", "uninstallationScript", "joinMode", "downloadMode")
    spec: Object = dict.fromkeys((*fields, "kubernetesVersion", "manageKubeProxy"))
    spec["labels"] = dict.fromkeys(managed) if set(host.spec.labels) - managed else None
    spec["taints"] = kept or None
    return Patch(kind, key_of(host), {"metadata": {"labels": labels, "annotations": annotations}, "spec": spec})


def noted(host: HostClaim | ByoHost, annotation: str) -> Sequence[Any]:
    try:
        found = json.loads(host.metadata.annotations.get(annotation, "[]"))
    except json.JSONDecodeError:
        return ()
    return found if isinstance(found, list) else ()


def taint_object(taint: HostTaint) -> Object:
    return {name: value for name, value in to_builtins(taint).items() if value}
