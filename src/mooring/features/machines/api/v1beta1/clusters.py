"""Clusters as v1beta1 has them."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mooring.api.core.types import Labels, View
from mooring.api.crds.markers import Int32, Int64, Markers
from mooring.api.meta import Meta
from mooring.features.machines.api.clusters import (
    CLUSTER_PHASES,
    ClusterReplicas,
    NetworkBlock,
    ServiceDomain,
    Topology,
)
from mooring.features.machines.api.parts import Conditions, DeprecatedConditions, FailureMessage, FailureReason
from mooring.features.machines.api.v1beta1.machine_specs import Gates, Reference


class OldNetworkBlocks(View, frozen=True):
    cidr_blocks: Annotated[tuple[NetworkBlock, ...], Markers("Blocks of addresses.", required=True, max_items=100)] = ()


class OldClusterNetwork(View, frozen=True):
    api_server_port: Annotated[Int32, Markers("The port of the API server.")] = 0
    services: Annotated[OldNetworkBlocks, Markers("Addresses of Services.")] = OldNetworkBlocks()
    pods: Annotated[OldNetworkBlocks, Markers("Addresses of pods.")] = OldNetworkBlocks()
    service_domain: ServiceDomain = ""


class OldClusterEndpoint(View, frozen=True):
    host: Annotated[str, Markers("The host of the API server.", max_length=512)] = ""
    port: Annotated[Int32, Markers("The port of the API server.")] = 0


class OldClusterSpec(View, frozen=True):
    paused: Annotated[bool, Markers("Nothing of this cluster is changed while it is true.")] = False
    cluster_network: Annotated[OldClusterNetwork, Markers("Its networks.")] = OldClusterNetwork()
    control_plane_endpoint: Annotated[OldClusterEndpoint, Markers("Where its API server is.")] = OldClusterEndpoint()
    control_plane_ref: Annotated[Reference, Markers("The provider of its control plane.")] = None
    infrastructure_ref: Annotated[Reference, Markers("The provider's object for the whole cluster.")] = None
    topology: Topology = None
    availability_gates: Gates = ()


class OldFailureDomain(View, frozen=True):
    control_plane: Annotated[bool, Markers("Whether control planes may go there.")] = False
    attributes: Annotated[Labels, Markers("What else is known of it.")] = msgspec.field(default_factory=dict)


class NewClusterStatus(View, frozen=True):
    """What v1beta2 says of Clusters."""

    conditions: Conditions = ()
    control_plane: Annotated[ClusterReplicas, Markers("Machines of its control plane.")] = ClusterReplicas()
    workers: Annotated[ClusterReplicas, Markers("Machines of its pools.")] = ClusterReplicas()


class OldClusterStatus(View, frozen=True):
    failure_domains: Annotated[
        dict[str, OldFailureDomain], Markers("Failure domains that the provider knows, by name.")
    ] = msgspec.field(default_factory=dict)
    failure_reason: FailureReason = ""
    failure_message: FailureMessage = ""
    phase: Annotated[str, Markers("How far it is, in a word.", enum=CLUSTER_PHASES)] = ""
    infrastructure_ready: Annotated[bool, Markers("Whether the infrastructure is there.")] = False
    control_plane_ready: Annotated[bool, Markers("Whether the API server can be reached.")] = False
    conditions: DeprecatedConditions = ()
    observed_generation: Annotated[Int64, Markers("The generation that this status is about.")] = 0
    v1beta2: Annotated[NewClusterStatus, Markers("What v1beta2 says.")] = NewClusterStatus()


class OldCluster(View, frozen=True):
    """A Kubernetes cluster that Machines belong to."""

    metadata: Meta = Meta()
    spec: Annotated[OldClusterSpec, Markers("What is wanted.", required=True)] = OldClusterSpec()
    status: Annotated[OldClusterStatus, Markers("What was seen last.")] = OldClusterStatus()
