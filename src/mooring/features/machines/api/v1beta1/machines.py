"""Machines, MachineSets and MachineDeployments as v1beta1 has them."""

from __future__ import annotations

from typing import Annotated, Any

from mooring.api.core.types import LabelSelector, View
from mooring.api.crds.markers import Int32, Int64, Markers, Time
from mooring.api.meta import Meta
from mooring.features.machines.api.machine_deployments import POOL_PHASES
from mooring.features.machines.api.machines import PHASES, MachineAddress, MachineDeletionStatus
from mooring.features.machines.api.parts import (
    AvailableReplicas,
    ClusterName,
    DeprecatedConditions,
    FailureMessage,
    FailureReason,
    ReadyReplicas,
    Replicas,
    SelectorText,
    UpToDateReplicas,
    Versions,
)
from mooring.features.machines.api.v1beta1.machine_specs import (
    MinReadySeconds,
    NewMachineStatus,
    NewPoolStatus,
    OldMachineNaming,
    OldMachineSpec,
    OldMachineTemplate,
)
from mooring.kube.intorpercent import IntOrPercent
from mooring.kube.objects import Object

OldSelector = Annotated[
    LabelSelector, Markers("The labels of its Machines.", of="meta.v1.LabelSelector", required=True)
]
WantedReplicas = Annotated[Int32 | None, Markers("How many Machines are wanted.")]
DeletePolicy = Annotated[str, Markers("Which Machines go first.", enum=("Random", "Newest", "Oldest"))]
Observed = Annotated[Int64, Markers("The generation that this status is about.")]


class OldMachineStatus(View, frozen=True):
    node_ref: Annotated[dict[str, Any] | None, Markers("The Node that it became.", of="core.v1.ObjectReference")] = None
    node_info: Annotated[Object | None, Markers("What the Node says about itself.", of="core.v1.NodeSystemInfo")] = None
    last_updated: Annotated[Time | None, Markers("When the phase changed last.")] = None
    failure_reason: FailureReason = ""
    failure_message: FailureMessage = ""
    addresses: Annotated[tuple[MachineAddress, ...], Markers("Addresses, as the provider tells them.")] = ()
    phase: Annotated[
        str, Markers("How far it is, in a word.", enum=tuple(each for each in PHASES if each != "Updating"))
    ] = ""
    certificates_expiry_date: Annotated[Time | None, Markers("When certificates of a control plane expire.")] = None
    bootstrap_ready: Annotated[bool, Markers("Whether there are bootstrap data.")] = False
    infrastructure_ready: Annotated[bool, Markers("Whether the provider has delivered the machine.")] = False
    observed_generation: Observed = 0
    conditions: DeprecatedConditions = ()
    deletion: Annotated[MachineDeletionStatus, Markers("How far a deletion is.")] = MachineDeletionStatus()
    v1beta2: Annotated[NewMachineStatus, Markers("What v1beta2 says.")] = NewMachineStatus()


class OldMachine(View, frozen=True):
    """A machine that is to be a node of a cluster."""

    metadata: Meta = Meta()
    spec: Annotated[OldMachineSpec, Markers("What is wanted.", required=True)] = OldMachineSpec()
    status: Annotated[OldMachineStatus, Markers("What was seen last.")] = OldMachineStatus()


class OldMachineSetSpec(View, frozen=True):
    cluster_name: ClusterName = ""
    replicas: WantedReplicas = None
    min_ready_seconds: MinReadySeconds = 0
    delete_policy: DeletePolicy = ""
    selector: OldSelector = LabelSelector()
    template: Annotated[OldMachineTemplate, Markers("What Machines are made from.", required=True)] = (
        OldMachineTemplate()
    )
    machine_naming_strategy: Annotated[OldMachineNaming, Markers("How Machines are named.")] = OldMachineNaming()


class OldMachineSetStatus(View, frozen=True):
    selector: SelectorText = ""
    replicas: Replicas = 0
    fully_labeled_replicas: Annotated[Int32, Markers("How many Machines have all labels of the template.")] = 0
    ready_replicas: ReadyReplicas = 0
    available_replicas: AvailableReplicas = 0
    versions: Versions = ()
    observed_generation: Observed = 0
    failure_reason: FailureReason = ""
    failure_message: FailureMessage = ""
    conditions: DeprecatedConditions = ()
    v1beta2: Annotated[NewPoolStatus, Markers("What v1beta2 says.")] = NewPoolStatus()


class OldMachineSet(View, frozen=True):
    """Equal Machines, as many as are wanted."""

    metadata: Meta = Meta()
    spec: Annotated[OldMachineSetSpec, Markers("What is wanted.", required=True)] = OldMachineSetSpec()
    status: Annotated[OldMachineSetStatus, Markers("What was seen last.")] = OldMachineSetStatus()


class OldMachineRollingUpdate(View, frozen=True):
    max_unavailable: Annotated[IntOrPercent | None, Markers("How many Machines may be away.")] = None
    max_surge: Annotated[IntOrPercent | None, Markers("How many Machines there may be beyond replicas.")] = None
    delete_policy: DeletePolicy = ""


class OldMachineRemediation(View, frozen=True):
    max_in_flight: Annotated[IntOrPercent | None, Markers("How many unhealthy Machines go at once.")] = None


class OldMachineStrategy(View, frozen=True):
    type: Annotated[str, Markers("How Machines are replaced.", enum=("RollingUpdate", "OnDelete"))] = ""
    rolling_update: Annotated[OldMachineRollingUpdate, Markers("How fast it goes.")] = OldMachineRollingUpdate()
    remediation: Annotated[OldMachineRemediation, Markers("How unhealthy Machines go.")] = OldMachineRemediation()


class OldMachineDeploymentSpec(View, frozen=True):
    cluster_name: ClusterName = ""
    replicas: WantedReplicas = None
    rollout_after: Annotated[Time | None, Markers("Machines made before this moment are replaced.")] = None
    selector: OldSelector = LabelSelector()
    template: Annotated[OldMachineTemplate, Markers("What Machines are made from.", required=True)] = (
        OldMachineTemplate()
    )
    strategy: Annotated[OldMachineStrategy, Markers("How a new template reaches Machines.")] = OldMachineStrategy()
    machine_naming_strategy: Annotated[OldMachineNaming, Markers("How Machines are named.")] = OldMachineNaming()
    min_ready_seconds: MinReadySeconds = 0
    revision_history_limit: Annotated[Int32 | None, Markers("Without effect.")] = None
    paused: Annotated[bool, Markers("Nothing is changed while it is true.")] = False
    progress_deadline_seconds: Annotated[Int32 | None, Markers("Without effect.")] = None


class OldMachineDeploymentStatus(View, frozen=True):
    observed_generation: Observed = 0
    selector: SelectorText = ""
    replicas: Replicas = 0
    updated_replicas: UpToDateReplicas = 0
    ready_replicas: ReadyReplicas = 0
    available_replicas: AvailableReplicas = 0
    unavailable_replicas: Annotated[Int32, Markers("How many Machines are missing or not available.")] = 0
    versions: Versions = ()
    phase: Annotated[str, Markers("Whether it grows, shrinks or stays.", enum=POOL_PHASES)] = ""
    conditions: DeprecatedConditions = ()
    v1beta2: Annotated[NewPoolStatus, Markers("What v1beta2 says.")] = NewPoolStatus()


class OldMachineDeployment(View, frozen=True):
    """A pool of Machines that is scaled and updated as one."""

    metadata: Meta = Meta()
    spec: Annotated[OldMachineDeploymentSpec, Markers("What is wanted.", required=True)] = OldMachineDeploymentSpec()
    status: Annotated[OldMachineDeploymentStatus, Markers("What was seen last.")] = OldMachineDeploymentStatus()
