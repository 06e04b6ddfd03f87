"""Pods, nodes and the other core kinds as controllers see them.

They hold what placement reads too, because a second view of pods would be a second cache that may lag behind the
first."""

from __future__ import annotations

from typing import Any

import msgspec

from mooring.api.conditions import find_condition, is_true
from mooring.api.core import types as core
from mooring.api.core.types import Labels, ResourceList, View
from mooring.api.meta import AnnotatedMeta, Condition, Meta
from mooring.kube.objects import Object
from mooring.kube.selectors import Selector, selector_from_labels


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


class ContainerResizePolicy(View, frozen=True):
    resource_name: str = ""
    restart_policy: str = ""


class Container(core.Container, frozen=True):
    ports: tuple[ContainerPort, ...] | None = None
    resize_policy: tuple[ContainerResizePolicy, ...] = ()


class Toleration(core.Toleration, frozen=True):
    toleration_seconds: int | None = None


class PodSpec(core.PodSpec, frozen=True):
    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    ephemeral_containers: tuple[Container, ...] = ()
    tolerations: tuple[Toleration, ...] | None = None
    host_network: bool = False
    hostname: str = ""
    subdomain: str = ""
    restart_policy: str = ""
    active_deadline_seconds: int | None = None
    termination_grace_period_seconds: int | None = None


class ContainerEnd(View, frozen=True):
    exit_code: int = 0
    finished_at: str | None = None


class ContainerWait(View, frozen=True):
    reason: str = ""


class ContainerState(View, frozen=True):
    waiting: ContainerWait | None = None
    terminated: ContainerEnd | None = None


class ContainerRun(View, frozen=True):
    started_at: str | None = None
    finished_at: str | None = None


class PreviousState(View, frozen=True):
    """How the run before the present one went, of a container that was restarted."""

    terminated: ContainerRun | None = None


class ContainerStatus(core.ContainerStatus, frozen=True):
    ready: bool = False
    restart_count: int = 0
    state: ContainerState = ContainerState()
    last_state: PreviousState = PreviousState()


class EphemeralState(View, frozen=True):
    running: ContainerRun | None = None
    terminated: ContainerRun | None = None


class EphemeralContainerStatus(View, frozen=True):
    name: str = ""
    state: EphemeralState = EphemeralState()


class PodAddress(View, frozen=True):
    ip: str = ""


class PodStatus(core.PodStatus, frozen=True):
    reason: str = ""
    pod_ip: str = msgspec.field(default="", name="podIP")
    pod_ips: tuple[PodAddress, ...] = msgspec.field(default=(), name="podIPs")
    conditions: tuple[Condition, ...] = ()
    init_container_statuses: tuple[ContainerStatus, ...] = ()
    container_statuses: tuple[ContainerStatus, ...] = ()
    ephemeral_container_statuses: tuple[EphemeralContainerStatus, ...] = ()
    observed_generation: int = 0


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
        return self.metadata.deletion_timestamp is None and self.status.phase not in ("Succeeded", "Failed")

    @property
    def terminating(self) -> bool:
        return self.metadata.deleting and not self.finished

    @property
    def readiness(self) -> Condition | None:
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
    def unschedulable(self) -> Condition | None:
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


class ReplicationControllerSpec(View, frozen=True):
    replicas: int = 1
    min_ready_seconds: int = 0
    selector: Labels | None = None
    template: Object = msgspec.field(default_factory=dict)

    @property
    def label_selector(self) -> Selector:
        return selector_from_labels(self.selector)


class ReplicationControllerStatus(View, frozen=True):
    replicas: int = 0
    fully_labeled_replicas: int = 0
    ready_replicas: int = 0
    available_replicas: int = 0
    observed_generation: int = 0
    conditions: tuple[Condition, ...] = ()


class ReplicationController(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()
    status: ReplicationControllerStatus = ReplicationControllerStatus()


class ClaimStatus(View, frozen=True):
    phase: str = ""
    access_modes: tuple[str, ...] = ()
    capacity: ResourceList = msgspec.field(default_factory=dict)


class ClaimResources(View, frozen=True):
    requests: ResourceList = msgspec.field(default_factory=dict)


class PersistentVolumeClaimSpec(View, frozen=True):
    volume_name: str = ""
    access_modes: tuple[str, ...] = ()
    resources: ClaimResources = ClaimResources()
    storage_class_name: str | None = None
    volume_mode: str | None = None
    volume_attributes_class_name: str | None = None
    selector: core.LabelSelector | None = None
    data_source: dict[str, Any] | None = None
    data_source_ref: dict[str, Any] | None = None


class ClaimNotes(View, frozen=True):
    """The annotations of a claim by which scheduler, binder and provisioners tell each other how far it is."""

    bind_completed: str | None = msgspec.field(default=None, name="pv.kubernetes.io/bind-completed")
    selected_node: str | None = msgspec.field(default=None, name="volume.kubernetes.io/selected-node")
    storage_class: str | None = msgspec.field(default=None, name="volume.beta.kubernetes.io/storage-class")
    provisioner: str = msgspec.field(default="", name="volume.kubernetes.io/storage-provisioner")


class ClaimMeta(Meta, frozen=True):
    annotations: ClaimNotes = ClaimNotes()


class PersistentVolumeClaim(View, frozen=True):
    metadata: ClaimMeta = ClaimMeta()
    spec: PersistentVolumeClaimSpec = PersistentVolumeClaimSpec()
    status: ClaimStatus = ClaimStatus()

    @property
    def class_name(self) -> str:
        """The StorageClass it asks for; an old annotation goes before the field."""
        noted = self.metadata.annotations.storage_class
        return (self.spec.storage_class_name or "") if noted is None else noted

    @property
    def has_class(self) -> bool:
        """Whether it says which class it wants, which may be none."""
        return self.metadata.annotations.storage_class is not None or self.spec.storage_class_name is not None


class NodeNotes(View, frozen=True):
    """The annotations of a node that controllers read."""

    fake: str = msgspec.field(default="", name="kwok.x-k8s.io/node")
    # Where a node that runs pods as processes keeps the files of local volumes.
    local_volumes: str = msgspec.field(default="", name="mooring.dev/local-volumes")
    # A simulated node that is lost: it says nothing any more and its pods stay as they are.
    lost: str = msgspec.field(default="", name="mooring.dev/lost")
    # A simulated node that leaves out what changes nothing for other controllers: events, and containers being created.
    quiet: str = msgspec.field(default="", name="mooring.dev/quiet")


class NodeMeta(Meta, frozen=True):
    annotations: NodeNotes = NodeNotes()


class NodeAddress(View, frozen=True):
    type: str = ""
    address: str = ""


class NodeStatus(core.NodeStatus, frozen=True):
    conditions: tuple[Condition, ...] = ()
    addresses: tuple[NodeAddress, ...] = ()
    capacity: ResourceList | None = None
    node_info: Object | None = None


class Taint(core.Taint, frozen=True):
    time_added: str | None = None


class NodeSpec(core.NodeSpec, frozen=True):
    taints: tuple[Taint, ...] | None = None
    pod_cidr: str = msgspec.field(default="", name="podCIDR")
    provider_id: str = msgspec.field(default="", name="providerID")


class Node(View, frozen=True):
    metadata: NodeMeta = NodeMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def readiness(self) -> Condition | None:
        """The condition Ready; None before the kubelet has reported it."""
        return find_condition(self.status.conditions, "Ready")

    @property
    def ready(self) -> bool:
        return is_true(self.status.conditions, "Ready")


class NamespaceSpec(View, frozen=True):
    finalizers: tuple[str, ...] = ()


class NamespaceStatus(View, frozen=True):
    phase: str = ""
    conditions: tuple[Condition, ...] = ()


class Namespace(View, frozen=True):
    metadata: Meta = Meta()
    spec: NamespaceSpec = NamespaceSpec()
    status: NamespaceStatus = NamespaceStatus()


class ConfigMap(View, frozen=True):
    metadata: AnnotatedMeta = AnnotatedMeta()
    data: dict[str, str] = msgspec.field(default_factory=dict)


class Secret(View, frozen=True):
    metadata: Meta = Meta()
    type: str = ""
    # In base64, as the API has it.
    data: dict[str, str] = msgspec.field(default_factory=dict)


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
