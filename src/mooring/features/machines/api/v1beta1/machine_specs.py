"""The spec of a Machine as v1beta1 has it, and what kinds of that version share."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mooring.api.core.types import Labels, View
from mooring.api.crds.markers import Int32, Markers
from mooring.features.machines.api.machine_specs import FailureDomain, KubernetesVersion, MachineTaints, ProviderID
from mooring.features.machines.api.parts import (
    DOMAIN,
    KIND_PATTERN,
    VERSIONED_GROUP,
    AvailableReplicas,
    ClusterName,
    ConditionGate,
    Conditions,
    ReadyReplicas,
    UpToDateReplicas,
)

Timeout = Annotated[str, Markers("As Go writes durations.")]
MinReadySeconds = Annotated[Int32, Markers("How long a Machine must be ready before it counts as available.")]
Gates = Annotated[
    tuple[ConditionGate, ...],
    Markers("More conditions that count.", list_type="map", list_map_keys=("conditionType",), max_items=32),
]


class OldReference(View, frozen=True):
    """An object by apiVersion, kind and name. Kind and name are required, as v1beta2 requires them."""

    markers = Markers(map_type="atomic")

    kind: Annotated[
        str, Markers("The kind of the object.", required=True, min_length=1, max_length=63, pattern=KIND_PATTERN)
    ] = ""
    name: Annotated[
        str, Markers("The name of the object.", required=True, min_length=1, max_length=253, pattern=f"^{DOMAIN}$")
    ] = ""
    api_version: Annotated[
        str,
        Markers("Group and version of the object.", min_length=1, max_length=253, pattern=VERSIONED_GROUP),
    ] = ""
    namespace: Annotated[str, Markers("The namespace; always that of the object that refers.")] = ""
    uid: Annotated[str, Markers("Without effect.")] = ""
    resource_version: Annotated[str, Markers("Without effect.")] = ""
    field_path: Annotated[str, Markers("Without effect.")] = ""


Reference = OldReference | None


class OldMachineBootstrap(View, frozen=True):
    config_ref: Annotated[Reference, Markers("The bootstrap object.")] = None
    data_secret_name: Annotated[
        str | None, Markers("The Secret with bootstrap data.", min_length=0, max_length=253)
    ] = None


class OldMachineSpec(View, frozen=True):
    """A machine that is wanted as a node."""

    cluster_name: ClusterName = ""
    bootstrap: Annotated[OldMachineBootstrap, Markers("Where bootstrap data come from.", required=True)] = (
        OldMachineBootstrap()
    )
    infrastructure_ref: Annotated[Reference, Markers("The provider's object.", required=True)] = None
    version: KubernetesVersion = ""
    provider_id: ProviderID = msgspec.field(default="", name="providerID")
    failure_domain: FailureDomain = ""
    readiness_gates: Gates = ()
    node_drain_timeout: Annotated[Timeout, Markers("How long draining may take.")] = ""
    node_volume_detach_timeout: Annotated[Timeout, Markers("How long detaching volumes may take.")] = ""
    node_deletion_timeout: Annotated[Timeout, Markers("How long deleting the Node may take.")] = ""
    taints: MachineTaints = ()


class OldTemplateMetadata(View, frozen=True):
    labels: Annotated[Labels, Markers("Labels of every Machine.")] = msgspec.field(default_factory=dict)
    annotations: Annotated[Labels, Markers("Annotations of every Machine.")] = msgspec.field(default_factory=dict)


class OldMachineTemplate(View, frozen=True):
    """What Machines are made from."""

    metadata: Annotated[OldTemplateMetadata, Markers("Labels and annotations of Machines.")] = OldTemplateMetadata()
    spec: Annotated[OldMachineSpec, Markers(required=True)] = OldMachineSpec()


class OldMachineNaming(View, frozen=True):
    template: Annotated[str, Markers("The name, with {{ .random }} in it.", min_length=1, max_length=256)] = ""


class NewPoolStatus(View, frozen=True):
    """What v1beta2 says of MachineSets and MachineDeployments."""

    conditions: Conditions = ()
    ready_replicas: ReadyReplicas = 0
    available_replicas: AvailableReplicas = 0
    up_to_date_replicas: UpToDateReplicas = 0


class NewMachineStatus(View, frozen=True):
    """What v1beta2 says of Machines."""

    conditions: Conditions = ()
