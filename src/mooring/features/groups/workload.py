"""LeaderWorkerSets as a kind that makes pods: how `explain`, `plan` and snapshots read and tell them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import msgspec

from mooring.api.core.types import ObjectMeta, View
from mooring.features.groups.api import (
    API_VERSION,
    EXCLUSIVE_TOPOLOGY,
    GROUP_INDEX,
    KIND,
    SUBGROUP_EXCLUSIVE_TOPOLOGY,
    WORKER_INDEX,
    SchedulingPolicy,
    SubGroupPolicy,
)
from mooring.kube.objects import Object
from mooring.placement.advise.pointers import pointer
from mooring.placement.pods import Owner
from mooring.placement.workloads.expansion import Expansion
from mooring.placement.workloads.kinds import Unit, WorkloadKind
from mooring.placement.workloads.known_cluster import KnownCluster
from mooring.placement.workloads.owners import PodTemplate


class SetAnnotations(View, frozen=True):
    """The annotations that say where groups may land."""

    exclusive: str | None = msgspec.field(default=None, name=EXCLUSIVE_TOPOLOGY)
    subgroup_exclusive: str | None = msgspec.field(default=None, name=SUBGROUP_EXCLUSIVE_TOPOLOGY)


class SetMeta(ObjectMeta, frozen=True):
    annotations: SetAnnotations | None = None


class GroupTemplate(View, frozen=True):
    leader_template: PodTemplate | None = None
    worker_template: PodTemplate = PodTemplate()
    size: int | None = None
    sub_group_policy: SubGroupPolicy | None = None
    scheduling_policy: SchedulingPolicy | None = None


class SetSpec(View, frozen=True):
    replicas: int | None = None
    leader_worker_template: GroupTemplate = GroupTemplate()


class PlacedSet(View, frozen=True):
    """A LeaderWorkerSet, as far as placement asks."""

    metadata: SetMeta = SetMeta()
    spec: SetSpec = SetSpec()


def _expand(value: Object, namespace: str, cluster: KnownCluster) -> Expansion:
    # Explaining anything else must not wait for what makes groups.
    from mooring.features.groups.expansion import expand_groups

    return expand_groups(value, namespace)


def _owns(expansion: Expansion, owner: Owner) -> bool:
    """Leaders belong to a StatefulSet of the set's name, workers to one of their leader's."""
    name, dash, index = owner.name.rpartition("-")
    of_workers = name == expansion.name and bool(dash) and index.isdecimal()
    return owner.kind == "StatefulSet" and (owner.name == expansion.name or of_workers)


def _template_path(manifest: Object, labels: Mapping[str, str]) -> str:
    """Leaders may have a template of their own."""
    parts = (manifest.get("spec") or {}).get("leaderWorkerTemplate") or {}
    own = labels.get(WORKER_INDEX) == "0" and parts.get("leaderTemplate") is not None
    return f"spec.leaderWorkerTemplate.{'leaderTemplate' if own else 'workerTemplate'}"


def _fixed(manifest: Object) -> tuple[str, ...]:
    """What webhooks write into pods: the selector of a replica's own nodes, and the terms that keep groups apart."""
    found: list[str] = []
    policy = ((manifest.get("spec") or {}).get("leaderWorkerTemplate") or {}).get("schedulingPolicy") or {}
    if key := policy.get("replicaUniqueNodeSelector"):
        found.append(pointer("spec", "nodeSelector", key))
    annotations = (manifest.get("metadata") or {}).get("annotations") or {}
    if annotations.get(EXCLUSIVE_TOPOLOGY) or annotations.get(SUBGROUP_EXCLUSIVE_TOPOLOGY):
        found += [pointer("spec", "affinity", side) for side in ("podAffinity", "podAntiAffinity")]
    return tuple(found)


def _group(labels: Mapping[str, str]) -> str:
    return labels[GROUP_INDEX]


LEADER_WORKER_SETS: Final = WorkloadKind(
    API_VERSION,
    KIND,
    "leaderworkersets",
    "lws",
    PlacedSet,
    expand=_expand,
    owns=_owns,
    template_path=_template_path,
    fixed=_fixed,
    unit=Unit("groups", _group),
    scales=True,
)
