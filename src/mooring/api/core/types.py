"""Typed views of the core kinds that placement reads.

A view declares the fields the product uses and nothing else: decoding skips the rest of the object, which is what keeps
fifty thousand pods in memory small. Views are frozen and are never written back to an API server as a whole.
"""

from __future__ import annotations

from typing import Any

import msgspec

ResourceList = dict[str, str | int | float]
Labels = dict[str, str]


class View(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """Base of all views: frozen, camelCase on the wire."""


class OwnerReference(View, frozen=True):
    kind: str = ""
    name: str = ""
    api_version: str = ""
    controller: bool | None = None


class ObjectMeta(View, frozen=True):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: Labels | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: tuple[OwnerReference, ...] | None = None


class Requirement(View, frozen=True):
    """One expression of a label selector or node selector."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class LabelSelector(View, frozen=True):
    match_labels: Labels | None = None
    match_expressions: tuple[Requirement, ...] | None = None


class NodeSelectorTerm(View, frozen=True):
    match_expressions: tuple[Requirement, ...] | None = None
    match_fields: tuple[Requirement, ...] | None = None


class NodeSelector(View, frozen=True):
    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None


class PreferredSchedulingTerm(View, frozen=True):
    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(View, frozen=True):
    required: NodeSelector | None = msgspec.field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: tuple[PreferredSchedulingTerm, ...] | None = msgspec.field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class PodAffinityTerm(View, frozen=True):
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] | None = None
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    mismatch_label_keys: tuple[str, ...] | None = None


class WeightedPodAffinityTerm(View, frozen=True):
    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(View, frozen=True):
    """Pod affinity and pod anti-affinity have the same shape."""

    required: tuple[PodAffinityTerm, ...] | None = msgspec.field(
        default=None, name="requiredDuringSchedulingIgnoredDuringExecution"
    )
    preferred: tuple[WeightedPodAffinityTerm, ...] | None = msgspec.field(
        default=None, name="preferredDuringSchedulingIgnoredDuringExecution"
    )


class Affinity(View, frozen=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAffinity | None = None


class Toleration(View, frozen=True):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""


class Taint(View, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""


class TopologySpreadConstraint(View, frozen=True):
    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


class ResourceRequirements(View, frozen=True):
    requests: ResourceList | None = None
    limits: ResourceList | None = None


class ContainerPort(View, frozen=True):
    container_port: int = 0
    host_port: int = 0
    protocol: str = ""
    host_ip: str = msgspec.field(default="", name="hostIP")


class Container(View, frozen=True):
    name: str = ""
    image: str = ""
    resources: ResourceRequirements = ResourceRequirements()
    ports: tuple[ContainerPort, ...] | None = None
    restart_policy: str | None = None


class SchedulingGate(View, frozen=True):
    name: str = ""


class Volume(View, frozen=True):
    """Only the sources that can tie a pod to nodes, or that count against what a node can attach."""

    name: str = ""
    persistent_volume_claim: dict[str, Any] | None = None
    ephemeral: dict[str, Any] | None = None
    aws_elastic_block_store: dict[str, Any] | None = None
    gce_persistent_disk: dict[str, Any] | None = None
    iscsi: dict[str, Any] | None = None
    rbd: dict[str, Any] | None = None
    azure_disk: dict[str, Any] | None = None
    cinder: dict[str, Any] | None = None
    portworx_volume: dict[str, Any] | None = None


class PodResourceClaim(View, frozen=True):
    """A reference to a claim, or to the template that one is made from."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSpec(View, frozen=True):
    containers: tuple[Container, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    node_name: str = ""
    node_selector: Labels | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None
    topology_spread_constraints: tuple[TopologySpreadConstraint, ...] | None = None
    overhead: ResourceList | None = None
    resources: ResourceRequirements | None = None
    priority: int | None = None
    preemption_policy: str | None = None
    scheduling_gates: tuple[SchedulingGate, ...] | None = None
    scheduler_name: str = ""
    volumes: tuple[Volume, ...] | None = None
    resource_claims: tuple[PodResourceClaim, ...] | None = None


class ContainerStatus(View, frozen=True):
    name: str = ""
    resources: ResourceRequirements | None = None
    allocated_resources: ResourceList | None = None


class ConditionSummary(View, frozen=True):
    """What placement reads of a condition; `mooring.api.meta.Condition` is the whole of it."""

    type: str = ""
    status: str = ""
    reason: str = ""


class PodResourceClaimStatus(View, frozen=True):
    """The claim that was made for a reference of a pod; none on purpose where it has no name."""

    name: str = ""
    resource_claim_name: str | None = None


class PodStatus(View, frozen=True):
    phase: str = ""
    start_time: str | None = None
    nominated_node_name: str = ""
    conditions: tuple[ConditionSummary, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None
    resource_claim_statuses: tuple[PodResourceClaimStatus, ...] | None = None


class Pod(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()


class NodeSpec(View, frozen=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = None


class ContainerImage(View, frozen=True):
    names: tuple[str, ...] | None = None
    size_bytes: int = 0


class NodeStatus(View, frozen=True):
    allocatable: ResourceList | None = None
    images: tuple[ContainerImage, ...] | None = None
    # No filter asks: a node that is not ready has a taint. Workloads that count their nodes do.
    conditions: tuple[ConditionSummary, ...] | None = None


class Node(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()


class Namespace(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


class ServiceSpec(View, frozen=True):
    selector: Labels | None = None


class Service(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ServiceSpec = ServiceSpec()


class ReplicationControllerSpec(View, frozen=True):
    selector: Labels | None = None


class ReplicationController(View, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ReplicationControllerSpec = ReplicationControllerSpec()
