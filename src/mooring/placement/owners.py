"""Workloads as typed views: what their pods are made from, as far as placement asks.

A snapshot of a cluster holds them so that `deployment/NAME` can be explained from it, and so that advice about a pod
names the object that people edit. Only what is declared here is ever read from a workload, and nothing else of it gets
into a file.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mooring.api.core.types import LabelSelector, ObjectMeta, OwnerReference, PodSpec, View
from mooring.features.groups.api import (
    API_VERSION,
    EXCLUSIVE_TOPOLOGY,
    KIND,
    SUBGROUP_EXCLUSIVE_TOPOLOGY,
    SchedulingPolicy,
    SubGroupPolicy,
)
from mooring.kube.objects import Object


class TemplateSpec(PodSpec, frozen=True):
    """A pod's spec before it was admitted: the priority is a name, and what follows from these is not filled in."""

    priority_class_name: str = ""
    host_network: bool | None = None
    restart_policy: str = ""


class PodTemplate(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: TemplateSpec = TemplateSpec()


class Ordinals(View, frozen=True):
    start: int = 0


class ClaimTemplate(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


class WorkloadSpec(View, frozen=True):
    replicas: int | None = None
    selector: LabelSelector | None = None
    template: PodTemplate | None = None
    service_name: str = ""
    pod_management_policy: str = ""
    ordinals: Ordinals | None = None
    volume_claim_templates: tuple[ClaimTemplate, ...] | None = None
    parallelism: int | None = None
    completions: int | None = None
    completion_mode: str = ""
    suspend: bool | None = None


class Workload(View, frozen=True):
    """A Deployment, ReplicaSet, StatefulSet or Job."""

    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()


class GroupNotes(View, frozen=True):
    """The annotations of a LeaderWorkerSet that say where its groups may land."""

    exclusive: str | None = msgspec.field(default=None, name=EXCLUSIVE_TOPOLOGY)
    subgroup_exclusive: str | None = msgspec.field(default=None, name=SUBGROUP_EXCLUSIVE_TOPOLOGY)


class GroupMeta(ObjectMeta, frozen=True):
    annotations: GroupNotes | None = None


class GroupTemplate(View, frozen=True):
    leader_template: PodTemplate | None = None
    worker_template: PodTemplate = PodTemplate()
    size: int | None = None
    sub_group_policy: SubGroupPolicy | None = None
    scheduling_policy: SchedulingPolicy | None = None


class GroupsSpec(View, frozen=True):
    replicas: int | None = None
    leader_worker_template: GroupTemplate = GroupTemplate()


class Groups(View, frozen=True):
    """A LeaderWorkerSet."""

    metadata: GroupMeta = GroupMeta()
    spec: GroupsSpec = GroupsSpec()


WORKLOADS: Final[dict[tuple[str, str], type[msgspec.Struct]]] = {
    ("apps/v1", "Deployment"): Workload,
    ("apps/v1", "ReplicaSet"): Workload,
    ("apps/v1", "StatefulSet"): Workload,
    ("batch/v1", "Job"): Workload,
}
"""How the workloads that make pods are read, by apiVersion and kind."""

API_VERSIONS: Final = {kind: api_version for api_version, kind in WORKLOADS} | {KIND: API_VERSION}


def view_of(kind: str) -> type[Any]:
    """How a workload that was asked for by name is read."""
    return Groups if kind == KIND else Workload


def template_path(kind: str, manifest: Object, *, leads: bool = False) -> str:
    """Where in a workload the template of its pods stands; in a LeaderWorkerSet leaders may have one of their own."""
    if kind != KIND:
        return "spec.template"
    own = leads and (manifest.get("spec") or {}).get("leaderWorkerTemplate", {}).get("leaderTemplate") is not None
    return f"spec.leaderWorkerTemplate.{'leaderTemplate' if own else 'workerTemplate'}"


def controller_of(metadata: ObjectMeta) -> OwnerReference | None:
    """Who sees to an object, if anybody does."""
    return next((owner for owner in metadata.owner_references or () if owner.controller), None)
