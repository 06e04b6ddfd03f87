"""Typed views of workloads and what they are made of, as controllers see them.

They hold what placement reads too, because a second view of pods would be a second cache that may lag behind the
first. A template stays the plain object that is stamped out. What changes without meaning anything to a controller
(heartbeats, most annotations) is left out, so that it wakes nobody.
"""

from __future__ import annotations

from typing import Any

import msgspec

from mooring.api.core import types as core
from mooring.api.core.types import Labels, LabelSelector, ResourceList, View
from mooring.api.meta import Meta

Object = dict[str, Any]
IntOrPercent = int | str


class AnnotatedMeta(Meta, frozen=True):
    """Metadata of a kind whose annotations a controller copies or keeps its own notes in."""

    annotations: Labels = msgspec.field(default_factory=dict)


class Condition(View, frozen=True):
    """A condition with every field that workload controllers write."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_update_time: str | None = None
    last_transition_time: str | None = None


class PodNotes(View, frozen=True):
    """The annotations of a pod that controllers read."""

    deletion_cost: str = msgspec.field(default="", name="controller.kubernetes.io/pod-deletion-cost")
    completion_index: str = msgspec.field(default="", name="batch.kubernetes.io/job-completion-index")
    index_failures: str = msgspec.field(default="", name="batch.kubernetes.io/job-index-failure-count")
    index_ignored_failures: str = msgspec.field(default="", name="batch.kubernetes.io/job-index-ignored-failure-count")
    # What a simulated node does with the pod.
    duration: str = msgspec.field(default="", name="mooring.dev/duration")
    exit_code: str = msgspec.field(default="", name="mooring.dev/exit-code")


class PodMeta(Meta, frozen=True):
    annotations: PodNotes = PodNotes()


class PodSpec(core.PodSpec, frozen=True):
    hostname: str = ""
    subdomain: str = ""
    restart_policy: str = ""
    active_deadline_seconds: int | None = None
    termination_grace_period_seconds: int | None = None


class PodCondition(core.PodCondition, frozen=True):
    """Complete, because whoever changes one condition writes the list of all."""

    message: str = ""
    last_transition_time: str | None = None
    last_probe_time: str | None = None
    observed_generation: int | None = None


class ContainerEnd(View, frozen=True):
    exit_code: int = 0
    finished_at: str | None = None


class ContainerState(View, frozen=True):
    terminated: ContainerEnd | None = None


class ContainerStatus(core.ContainerStatus, frozen=True):
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()


class PodStatus(core.PodStatus, frozen=True):
    reason: str = ""
    conditions: tuple[PodCondition, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()


class Pod(View, frozen=True):
    metadata: PodMeta = PodMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def finished(self) -> bool:
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def active(self) -> bool:
        """Neither finished nor on its way out: it counts towards the replicas of its owner."""
        return not self.finished and not self.metadata.deleting

    @property
    def terminating(self) -> bool:
        return self.metadata.deleting and not self.finished

    @property
    def readiness(self) -> PodCondition | None:
        # A plain loop: this is asked for every pod at every change.
        for condition in self.status.conditions:
            if condition.type == "Ready":
                return condition
        return None

    @property
    def ready(self) -> bool:
        readiness = self.readiness
        return readiness is not None and readiness.status == "True"

    @property
    def healthy(self) -> bool:
        """Running, ready and staying."""
        return self.status.phase == "Running" and not self.metadata.deleting and self.ready


class ReplicaSetSpec(View, frozen=True):
    replicas: int = 1
    min_ready_seconds: int = 0
    selector: Object | None = None
    template: Object = msgspec.field(default_factory=dict)


class ReplicaSetStatus(View, frozen=True):
    replicas: int = 0
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    terminating_replicas: int | None = None
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class ReplicaSet(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: ReplicaSetSpec = ReplicaSetSpec()
    status: ReplicaSetStatus = ReplicaSetStatus()


class RollingUpdateDeployment(View, frozen=True):
    max_unavailable: IntOrPercent = "25%"
    max_surge: IntOrPercent = "25%"


class DeploymentStrategy(View, frozen=True):
    type: str = "RollingUpdate"
    rolling_update: RollingUpdateDeployment | None = None


class DeploymentSpec(View, frozen=True):
    replicas: int = 1
    selector: Object | None = None
    template: Object = msgspec.field(default_factory=dict)
    strategy: DeploymentStrategy = DeploymentStrategy()
    min_ready_seconds: int = 0
    revision_history_limit: int | None = None
    paused: bool = False
    progress_deadline_seconds: int | None = None


class DeploymentStatus(View, frozen=True):
    observed_generation: int = 0
    replicas: int = 0
    updated_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    unavailable_replicas: int = 0
    terminating_replicas: int | None = None
    collision_count: int | None = None
    conditions: tuple[Condition, ...] = ()


class Deployment(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: DeploymentSpec = DeploymentSpec()
    status: DeploymentStatus = DeploymentStatus()


class RollingUpdateStatefulSet(View, frozen=True):
    partition: int = 0
    max_unavailable: IntOrPercent | None = None


class StatefulSetUpdateStrategy(View, frozen=True):
    type: str = "RollingUpdate"
    rolling_update: RollingUpdateStatefulSet | None = None


class ClaimRetention(View, frozen=True):
    when_deleted: str = "Retain"
    when_scaled: str = "Retain"


class Ordinals(View, frozen=True):
    start: int = 0


class StatefulSetSpec(View, frozen=True):
    replicas: int = 1
    selector: Object | None = None
    template: Object = msgspec.field(default_factory=dict)
    volume_claim_templates: tuple[Object, ...] = ()
    service_name: str = ""
    pod_management_policy: str = "OrderedReady"
    update_strategy: StatefulSetUpdateStrategy = StatefulSetUpdateStrategy()
    revision_history_limit: int | None = None
    min_ready_seconds: int = 0
    persistent_volume_claim_retention_policy: ClaimRetention = ClaimRetention()
    ordinals: Ordinals = Ordinals()


class StatefulSetStatus(View, frozen=True):
    observed_generation: int = 0
    replicas: int = 0
    ready_replicas: int = 0
    current_replicas: int = 0
    updated_replicas: int = 0
    available_replicas: int = 0
    current_revision: str = ""
    update_revision: str = ""
    collision_count: int | None = None


class StatefulSet(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: StatefulSetSpec = StatefulSetSpec()
    status: StatefulSetStatus = StatefulSetStatus()


class ControllerRevision(View, frozen=True):
    metadata: Meta = Meta()
    data: Object = msgspec.field(default_factory=dict)
    revision: int = 0


class ClaimStatus(View, frozen=True):
    phase: str = ""


class ClaimResources(View, frozen=True):
    requests: ResourceList = msgspec.field(default_factory=dict)


class PersistentVolumeClaimSpec(View, frozen=True):
    volume_name: str = ""
    access_modes: tuple[str, ...] = ()
    resources: ClaimResources = ClaimResources()


class PersistentVolumeClaim(View, frozen=True):
    metadata: Meta = Meta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: ClaimStatus = ClaimStatus()


class OnExitCodes(View, frozen=True):
    container_name: str | None = None
    operator: str = ""
    values: tuple[int, ...] = ()


class OnPodCondition(View, frozen=True):
    type: str = ""
    status: str = "True"


class PodFailureRule(View, frozen=True):
    action: str = ""
    on_exit_codes: OnExitCodes | None = None
    on_pod_conditions: tuple[OnPodCondition, ...] | None = None


class PodFailurePolicy(View, frozen=True):
    rules: tuple[PodFailureRule, ...] = ()


class SuccessRule(View, frozen=True):
    succeeded_indexes: str | None = None
    succeeded_count: int | None = None


class SuccessPolicy(View, frozen=True):
    rules: tuple[SuccessRule, ...] = ()


class JobSpec(View, frozen=True):
    parallelism: int = 1
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    active_deadline_seconds: int | None = None
    backoff_limit: int = 6
    ttl_seconds_after_finished: int | None = None
    suspend: bool = False
    pod_replacement_policy: str = "TerminatingOrFailed"
    backoff_limit_per_index: int | None = None
    max_failed_indexes: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    success_policy: SuccessPolicy | None = None
    managed_by: str | None = None
    selector: Object | None = None
    template: Object = msgspec.field(default_factory=dict)


class UncountedPods(View, frozen=True):
    """Uids of pods that have ended and whose finalizer may still be there."""

    succeeded: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class JobCondition(View, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_probe_time: str | None = None
    last_transition_time: str | None = None


class JobStatus(View, frozen=True):
    active: int = 0
    ready: int | None = None
    succeeded: int = 0
    failed: int = 0
    terminating: int | None = None
    completed_indexes: str = ""
    failed_indexes: str | None = None
    uncounted_terminated_pods: UncountedPods = UncountedPods()
    start_time: str | None = None
    completion_time: str | None = None
    conditions: tuple[JobCondition, ...] = ()


class Job(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: JobSpec = JobSpec()
    status: JobStatus = JobStatus()


class NodeNotes(View, frozen=True):
    """The annotations of a node that controllers read."""

    fake: str = msgspec.field(default="", name="kwok.x-k8s.io/node")
    # A simulated node that is lost: it says nothing any more and its pods stay as they are.
    lost: str = msgspec.field(default="", name="mooring.dev/lost")


class NodeMeta(Meta, frozen=True):
    annotations: NodeNotes = NodeNotes()


class NodeCondition(View, frozen=True):
    """Without its heartbeat, which changes every few seconds and says nothing."""

    type: str = ""
    status: str = ""
    reason: str = ""


class NodeStatus(core.NodeStatus, frozen=True):
    conditions: tuple[NodeCondition, ...] = ()


class Node(View, frozen=True):
    metadata: NodeMeta = NodeMeta()
    spec: core.NodeSpec = core.NodeSpec()
    status: NodeStatus = NodeStatus()


class NamespaceSpec(View, frozen=True):
    finalizers: tuple[str, ...] = ()


class NamespaceStatus(View, frozen=True):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class Namespace(View, frozen=True):
    metadata: Meta = Meta()
    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()


class Service(View, frozen=True):
    metadata: Meta = Meta()
    spec: core.ServiceSpec = core.ServiceSpec()


class DisruptionBudgetSpec(View, frozen=True):
    selector: LabelSelector | None = None


class DisruptionBudgetStatus(View, frozen=True):
    disruptions_allowed: int = 0
    disrupted_pods: Object | None = None


class PodDisruptionBudget(View, frozen=True):
    metadata: Meta = Meta()
    spec: DisruptionBudgetSpec = DisruptionBudgetSpec()
    status: DisruptionBudgetStatus = DisruptionBudgetStatus()


class LeaseSpec(View, frozen=True):
    holder_identity: str | None = None
    renew_time: str | None = None


class Lease(View, frozen=True):
    metadata: Meta = Meta()
    spec: LeaseSpec = LeaseSpec()
