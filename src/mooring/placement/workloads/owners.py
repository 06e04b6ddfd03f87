"""Workloads as typed views: what their pods are made from, as far as placement asks.

A snapshot of a cluster holds them so that `deployment/NAME` can be explained from it, and so that advice about a pod
names the object that people edit. Only what is declared here is ever read from a workload, and nothing else of it gets
into a file.
"""

from __future__ import annotations

from mooring.api.core.types import Labels, LabelSelector, ObjectMeta, OwnerReference, PodSpec, View
from mooring.api.core.views import PersistentVolumeClaimSpec


class TemplateSpec(PodSpec, frozen=True):
    """A pod's spec before it was admitted: the priority is a name, and what follows from these is not filled in."""

    priority_class_name: str = ""
    host_network: bool | None = None
    restart_policy: str = ""
    runtime_class_name: str | None = None


class PodTemplate(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: TemplateSpec = TemplateSpec()


class Ordinals(View, frozen=True):
    start: int = 0


class ClaimTemplate(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()


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
    """A Deployment, ReplicaSet, StatefulSet, DaemonSet or Job."""

    metadata: ObjectMeta = ObjectMeta()
    spec: WorkloadSpec = WorkloadSpec()


class JobTemplate(View, frozen=True):
    spec: WorkloadSpec = WorkloadSpec()


class PlacedCronJobSpec(View, frozen=True):
    job_template: JobTemplate = JobTemplate()
    suspend: bool | None = None


class PlacedCronJob(View, frozen=True):
    """A CronJob, as far as placement asks."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PlacedCronJobSpec = PlacedCronJobSpec()


class PlacedReplicationControllerSpec(View, frozen=True):
    replicas: int | None = None
    selector: Labels | None = None
    template: PodTemplate | None = None


class PlacedReplicationController(View, frozen=True):
    """A ReplicationController, as far as placement asks."""

    metadata: ObjectMeta = ObjectMeta()
    spec: PlacedReplicationControllerSpec = PlacedReplicationControllerSpec()


def controller_of(metadata: ObjectMeta) -> OwnerReference | None:
    """The controller of an object, if it has one."""
    return next((owner for owner in metadata.owner_references or () if owner.controller), None)
