"""The spec of a Machine, and the template that MachineSets and MachineDeployments hold it in."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from mooring.api.core.types import Labels, View
from mooring.api.crds.markers import Int32, Markers
from mooring.features.machines.api.parts import DOMAIN, ClusterName, ConditionGate, ContractReference

Seconds = Annotated[Int32, Markers(minimum=0)]
TAINT_EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
LABEL_VALUE: Final = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?"


class MachineBootstrap(View, frozen=True, omit_defaults=True):
    """Where the data that turn a machine into a node come from."""

    config_ref: Annotated[
        ContractReference,
        Markers("The bootstrap object; in a template the one that is cloned for each Machine."),
    ] = ContractReference()
    data_secret_name: Annotated[
        str | None,
        Markers("The Secret with bootstrap data. It is filled in from configRef.", min_length=0, max_length=253),
    ] = None


class MachineDeletionSpec(View, frozen=True, omit_defaults=True):
    """How long the steps of a deletion may take."""

    node_drain_timeout_seconds: Annotated[
        Seconds | None, Markers("How long draining may take; without it, or with 0, as long as it takes.")
    ] = None
    node_volume_detach_timeout_seconds: Annotated[
        Seconds | None, Markers("How long detaching volumes may take. Without effect here.")
    ] = None
    node_deletion_timeout_seconds: Annotated[
        Seconds | None,
        Markers("How long deleting the Node may take, 10 by default; 0 means as long as it takes."),
    ] = None


class MachineTaint(View, frozen=True, omit_defaults=True):
    """A taint that the Node of a Machine has."""

    key: Annotated[
        str,
        Markers(
            "The key.",
            required=True,
            min_length=1,
            max_length=317,
            pattern=rf"^({DOMAIN}\/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$",
        ),
    ] = ""
    value: Annotated[str, Markers("The value.", min_length=1, max_length=63, pattern=f"^{LABEL_VALUE}$")] = ""
    effect: Annotated[str, Markers("The effect.", required=True, enum=TAINT_EFFECTS)] = ""
    propagation: Annotated[
        str,
        Markers(
            "Always keeps the taint on the Node; OnInitialization puts it there once.",
            required=True,
            enum=("Always", "OnInitialization"),
        ),
    ] = ""


ReadinessGates = Annotated[
    tuple[ConditionGate, ...],
    Markers(
        "More conditions that must hold before the Machine is ready.",
        list_type="map",
        list_map_keys=("conditionType",),
        min_items=1,
        max_items=32,
    ),
]
MachineTaints = Annotated[
    tuple[MachineTaint, ...],
    Markers("Taints of the Node.", list_type="map", list_map_keys=("key", "effect"), min_items=1, max_items=64),
]
KubernetesVersion = Annotated[str, Markers("The version of Kubernetes on the Node.", min_length=1, max_length=256)]
ProviderID = Annotated[
    str, Markers("The machine's name at its provider, which the Node has too.", min_length=1, max_length=512)
]
FailureDomain = Annotated[str, Markers("The failure domain that it goes to.", min_length=1, max_length=256)]


class MachineSpec(View, frozen=True, omit_defaults=True):
    """A machine that is wanted as a node."""

    cluster_name: ClusterName = ""
    bootstrap: Annotated[MachineBootstrap, Markers("Where bootstrap data come from.", required=True)] = (
        MachineBootstrap()
    )
    infrastructure_ref: Annotated[
        ContractReference,
        Markers("The provider's object; in a template the one that is cloned for each Machine.", required=True),
    ] = ContractReference()
    version: KubernetesVersion = ""
    provider_id: ProviderID = msgspec.field(default="", name="providerID")
    failure_domain: FailureDomain = ""
    min_ready_seconds: Annotated[
        Seconds, Markers("How long a Machine must be ready before it counts as available.")
    ] = 0
    readiness_gates: ReadinessGates = ()
    deletion: Annotated[MachineDeletionSpec, Markers("How a deletion goes.", min_properties=1)] = MachineDeletionSpec()
    taints: MachineTaints = ()


class TemplateMetadata(View, frozen=True, omit_defaults=True):
    """Labels and annotations of what is made from a template."""

    labels: Annotated[Labels, Markers("Labels of every Machine.")] = msgspec.field(default_factory=dict)
    annotations: Annotated[Labels, Markers("Annotations of every Machine.")] = msgspec.field(default_factory=dict)


class MachineTemplate(View, frozen=True, omit_defaults=True):
    """What Machines are made from."""

    metadata: Annotated[TemplateMetadata, Markers(min_properties=1)] = TemplateMetadata()
    spec: Annotated[MachineSpec, Markers(required=True)] = MachineSpec()


class MachineNaming(View, frozen=True, omit_defaults=True):
    """How Machines are named."""

    template: Annotated[
        str,
        Markers(
            "The name, with {{ .machineSet.name }}, {{ .cluster.name }} and, at its end, -{{ .random }}.",
            min_length=1,
            max_length=256,
        ),
    ] = ""


class DeletionOrder(View, frozen=True, omit_defaults=True):
    """Which Machines go first."""

    order: Annotated[str, Markers("Random, the default, Newest or Oldest.", enum=("Random", "Newest", "Oldest"))] = ""
