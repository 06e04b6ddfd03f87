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


class ContainerPort(core.ContainerPort, frozen=True):
    name: str = ""


class Container(core.Container, frozen=True):
    ports: tuple[ContainerPort, ...] | None = None


class Toleration(core.Toleration, frozen=True):
    toleration_seconds: int | None = None


class PodSpec(core.PodSpec, frozen=True):
    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    tolerations: tuple[Toleration, ...] | None = None
    host_network: bool = False
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


class ContainerWait(View, frozen=True):
    reason: str = ""


class ContainerState(View, frozen=True):
    waiting: ContainerWait | None = None
    terminated: ContainerEnd | None = None


class ContainerStatus(core.ContainerStatus, frozen=True):
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()


class PodAddress(View, frozen=True):
    ip: str = ""


class PodStatus(core.PodStatus, frozen=True):
    reason: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    pod_ips: tuple[PodAddress, ...] = msgspec.field(default=(), name="podIPs")
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
    def unschedulable(self) -> PodCondition | None:
        """What a scheduler said that found no node for it."""
        if self.spec.node_name:
            return None
        for condition in self.status.conditions:
            if condition.type == "PodScheduled" and condition.reason == "Unschedulable":
                return condition if condition.status == "False" else None
        return None

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


class ReplicationControllerSpec(View, frozen=True):
    replicas: int = 1


class ReplicationController(View, frozen=True):
    """Only how many pods it wants: nothing here makes them."""

    metadata: Meta = Meta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()


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


class NodeNotes(View, frozen=True):
    """The annotations of a node that controllers read."""

    fake: str = msgspec.field(default="", name="kwok.x-k8s.io/node")
    # A simulated node that is lost: it says nothing any more and its pods stay as they are.
    lost: str = msgspec.field(default="", name="mooring.dev/lost")
    # A simulated node that leaves out what changes nothing for anybody else: events, and containers being created.
    quiet: str = msgspec.field(default="", name="mooring.dev/quiet")


class NodeMeta(Meta, frozen=True):
    annotations: NodeNotes = NodeNotes()


class NodeCondition(View, frozen=True):
    """Without its heartbeat, which changes every few seconds and says nothing."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None


class NodeAddress(View, frozen=True):
    type: str = ""
    address: str = ""


class NodeStatus(core.NodeStatus, frozen=True):
    conditions: tuple[NodeCondition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    capacity: ResourceList | None = None
    node_info: Object | None = None


class Taint(core.Taint, frozen=True):
    time_added: str | None = None


class NodeSpec(core.NodeSpec, frozen=True):
    taints: tuple[Taint, ...] | None = None
    pod_cidr: str = msgspec.field(default="", name="podCIDR")


class Node(View, frozen=True):
    metadata: NodeMeta = NodeMeta()
    spec: NodeSpec = NodeSpec()
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


class ServicePort(View, frozen=True):
    name: str = ""
    protocol: str = "TCP"
    app_protocol: str | None = None
    port: int = 0
    target_port: int | str | None = None


class ServiceSpec(core.ServiceSpec, frozen=True):
    type: str = ""
    ports: tuple[ServicePort, ...] = ()
    cluster_ip: str = msgspec.field(default="", name="clusterIP")
    ip_families: tuple[str, ...] = ()
    publish_not_ready_addresses: bool = False
    traffic_distribution: str | None = None


class Service(View, frozen=True):
    metadata: Meta = Meta()
    spec: ServiceSpec = ServiceSpec()


class Endpoints(View, frozen=True):
    """The addresses behind a Service, as plain objects: they are compared and replaced as a whole."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    subsets: tuple[Object, ...] = ()


class EndpointSlice(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    address_type: str = ""
    endpoints: tuple[Object, ...] | None = None
    ports: tuple[Object, ...] | None = None


class DisruptionBudgetSpec(View, frozen=True):
    selector: LabelSelector | None = None
    min_available: IntOrPercent | None = None
    max_unavailable: IntOrPercent | None = None


class BudgetCondition(View, frozen=True):
    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    last_transition_time: str | None = None
    observed_generation: int = 0


class DisruptionBudgetStatus(View, frozen=True):
    observed_generation: int = 0
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    expected_pods: int = 0
    disrupted_pods: dict[str, str] | None = None
    conditions: tuple[BudgetCondition, ...] = ()


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
