"""Cluster: what Machines belong to; where its API server is, and whether its infrastructure is there."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from mooring.api.core.types import Labels, View
from mooring.api.crds.markers import Int32, Int64, Markers
from mooring.api.meta import AnnotatedMeta
from mooring.features.machines.api.parts import (
    AvailableReplicas,
    ConditionGate,
    Conditions,
    ContractReference,
    DeprecatedConditions,
    FailureMessage,
    FailureReason,
    ReadyReplicas,
    Replicas,
    UpToDateReplicas,
    VersionCount,
)

CLUSTER_PHASES: Final = ("Pending", "Provisioning", "Provisioned", "Deleting", "Failed", "Unknown")
NetworkBlock = Annotated[str, Markers(min_length=1, max_length=43)]
Port = Annotated[Int32, Markers(minimum=1, maximum=65535)]
ServiceDomain = Annotated[str, Markers("The domain of Services.", min_length=1, max_length=253)]
Topology = Annotated[
    Any,
    Markers(
        "Clusters made from a ClusterClass. Not supported: it is refused.",
        of={"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    ),
]


class NetworkBlocks(View, frozen=True):
    cidr_blocks: Annotated[
        tuple[NetworkBlock, ...],
        Markers("Blocks of addresses.", required=True, list_type="atomic", min_items=1, max_items=100),
    ] = ()


class ClusterNetworkSpec(View, frozen=True):
    api_server_port: Annotated[Port, Markers("The port of the API server.")] = 0
    services: Annotated[NetworkBlocks, Markers("Addresses of Services.")] = NetworkBlocks()
    pods: Annotated[NetworkBlocks, Markers("Addresses of pods.")] = NetworkBlocks()
    service_domain: ServiceDomain = ""


class ClusterEndpoint(View, frozen=True):
    host: Annotated[str, Markers("The host of the API server.", min_length=1, max_length=512)] = ""
    port: Annotated[Port, Markers("The port of the API server.")] = 0


class ClusterSpec(View, frozen=True):
    paused: Annotated[bool, Markers("Nothing of this cluster is changed while it is true.")] = False
    cluster_network: Annotated[ClusterNetworkSpec, Markers("Its networks.", min_properties=1)] = ClusterNetworkSpec()
    control_plane_endpoint: Annotated[ClusterEndpoint, Markers("Where its API server is.", min_properties=1)] = (
        ClusterEndpoint()
    )
    control_plane_ref: Annotated[ContractReference, Markers("The provider of its control plane.")] = ContractReference()
    infrastructure_ref: Annotated[ContractReference, Markers("The provider's object for the whole cluster.")] = (
        ContractReference()
    )
    topology: Topology = None
    availability_gates: Annotated[
        tuple[ConditionGate, ...],
        Markers(
            "More conditions that must hold before the cluster is available.",
            list_type="map",
            list_map_keys=("conditionType",),
            min_items=1,
            max_items=32,
        ),
    ] = ()


class VersionStep(View, frozen=True):
    version: Annotated[str, Markers("The version.", required=True, min_length=1, max_length=256)] = ""


class ClusterReplicas(View, frozen=True):
    """Machines of one part of a cluster."""

    desired_replicas: Annotated[Int32, Markers("How many Machines are wanted.")] = 0
    replicas: Replicas = 0
    up_to_date_replicas: UpToDateReplicas = 0
    ready_replicas: ReadyReplicas = 0
    available_replicas: AvailableReplicas = 0
    versions: Annotated[
        tuple[VersionCount, ...],
        Markers("How many have which version.", list_type="atomic", min_items=1, max_items=32),
    ] = ()
    upgrade_plan: Annotated[
        tuple[VersionStep, ...],
        Markers("Versions on the way to the wanted one.", list_type="atomic", min_items=1, max_items=32),
    ] = ()


class ClusterInitialization(View, frozen=True):
    infrastructure_provisioned: Annotated[bool, Markers("Whether the infrastructure is there.")] = False
    control_plane_initialized: Annotated[bool, Markers("Whether the API server can be reached.")] = False


class ClusterFailureDomain(View, frozen=True):
    name: Annotated[str, Markers("Its name.", required=True, min_length=1, max_length=256)] = ""
    control_plane: Annotated[bool, Markers("Whether control planes may go there.")] = False
    attributes: Annotated[Labels, Markers("What else is known of it.")] = msgspec.field(default_factory=dict)


class DeprecatedClusterStatus(View, frozen=True):
    conditions: DeprecatedConditions = ()
    failure_reason: FailureReason = ""
    failure_message: FailureMessage = ""


class DeprecatedCluster(View, frozen=True):
    v1beta1: Annotated[DeprecatedClusterStatus, Markers("What v1beta1 said.")] = DeprecatedClusterStatus()


class ClusterStatus(View, frozen=True):
    conditions: Conditions = ()
    initialization: Annotated[ClusterInitialization, Markers("What was done once.", min_properties=1)] = (
        ClusterInitialization()
    )
    control_plane: Annotated[ClusterReplicas, Markers("Machines of its control plane.")] = ClusterReplicas()
    workers: Annotated[ClusterReplicas, Markers("Machines of its pools.")] = ClusterReplicas()
    failure_domains: Annotated[
        tuple[ClusterFailureDomain, ...],
        Markers(
            "Failure domains that the provider knows.",
            list_type="map",
            list_map_keys=("name",),
            min_items=1,
            max_items=100,
        ),
    ] = ()
    phase: Annotated[str, Markers("How far it is, in a word.", enum=CLUSTER_PHASES)] = ""
    observed_generation: Annotated[Int64, Markers("The generation that this status is about.", minimum=1)] = 0
    deprecated: Annotated[DeprecatedCluster, Markers("What only v1beta1 says.")] = DeprecatedCluster()


class Cluster(View, frozen=True):
    """A Kubernetes cluster that Machines belong to."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[ClusterSpec, Markers("What is wanted.", required=True)] = ClusterSpec()
    status: Annotated[ClusterStatus, Markers("What was seen last.", min_properties=1)] = ClusterStatus()

    @property
    def provisioned(self) -> bool:
        return self.status.initialization.infrastructure_provisioned
