"""MachineDeployment: a pool of Machines, and how a change of its template reaches them."""

from __future__ import annotations

from typing import Annotated, Final

from mooring.api.core.types import LabelSelector, View
from mooring.api.crds.markers import Int32, Int64, Markers, Time
from mooring.api.meta import AnnotatedMeta
from mooring.features.machines.api.machine_specs import DeletionOrder, MachineNaming, MachineTemplate
from mooring.features.machines.api.parts import (
    AvailableReplicas,
    ClusterName,
    Conditions,
    DeprecatedConditions,
    ReadyReplicas,
    Replicas,
    SelectorText,
    UpToDateReplicas,
    Versions,
)
from mooring.kube.intorpercent import IntOrPercent

POOL_PHASES: Final = ("ScalingUp", "ScalingDown", "Running", "Failed", "Unknown")


class MachineRollingUpdate(View, frozen=True):
    max_unavailable: Annotated[
        IntOrPercent | None,
        Markers("How many Machines may be away, as a number or a percentage, rounded down; 0 by default."),
    ] = None
    max_surge: Annotated[
        IntOrPercent | None,
        Markers("How many Machines there may be beyond replicas, rounded up; 1 by default."),
    ] = None


class MachineRolloutStrategy(View, frozen=True):
    type: Annotated[
        str,
        Markers(
            "RollingUpdate replaces Machines; OnDelete leaves that to whoever deletes them.",
            required=True,
            enum=("RollingUpdate", "OnDelete"),
        ),
    ] = ""
    rolling_update: Annotated[MachineRollingUpdate, Markers("How fast it goes.", min_properties=1)] = (
        MachineRollingUpdate()
    )


class MachineRollout(View, frozen=True):
    after: Annotated[Time | None, Markers("Machines made before this moment are replaced once it has come.")] = None
    strategy: Annotated[MachineRolloutStrategy, Markers("How Machines are replaced.", min_properties=1)] = (
        MachineRolloutStrategy()
    )


class MachineRemediation(View, frozen=True):
    max_in_flight: Annotated[
        IntOrPercent | None, Markers("How many unhealthy Machines are replaced at once. Without effect here.")
    ] = None


class MachineDeploymentSpec(View, frozen=True):
    cluster_name: ClusterName = ""
    replicas: Annotated[Int32 | None, Markers("How many Machines are wanted; 1 by default.")] = None
    rollout: Annotated[MachineRollout, Markers("How a new template reaches Machines.", min_properties=1)] = (
        MachineRollout()
    )
    selector: Annotated[
        LabelSelector,
        Markers(
            "The labels that its Machines have. Ownership decides, not labels.",
            of="meta.v1.LabelSelector",
            required=True,
        ),
    ] = LabelSelector()
    template: Annotated[MachineTemplate, Markers("What Machines are made from.", required=True)] = MachineTemplate()
    machine_naming: Annotated[MachineNaming, Markers("How Machines are named.", min_properties=1)] = MachineNaming()
    remediation: Annotated[MachineRemediation, Markers("How unhealthy Machines go.", min_properties=1)] = (
        MachineRemediation()
    )
    deletion: Annotated[DeletionOrder, Markers("Which Machines go first.", min_properties=1)] = DeletionOrder()
    paused: Annotated[bool, Markers("Nothing is changed while it is true.")] = False


class DeprecatedPoolStatus(View, frozen=True):
    conditions: DeprecatedConditions = ()
    updated_replicas: UpToDateReplicas = 0
    ready_replicas: ReadyReplicas = 0
    available_replicas: AvailableReplicas = 0
    unavailable_replicas: Annotated[Int32, Markers("How many Machines are missing or not available.")] = 0


class DeprecatedPool(View, frozen=True):
    v1beta1: Annotated[DeprecatedPoolStatus, Markers("What v1beta1 said.")] = DeprecatedPoolStatus()


class MachineDeploymentStatus(View, frozen=True):
    conditions: Conditions = ()
    observed_generation: Annotated[Int64, Markers("The generation that this status is about.", minimum=1)] = 0
    selector: SelectorText = ""
    replicas: Replicas = 0
    ready_replicas: ReadyReplicas = 0
    available_replicas: AvailableReplicas = 0
    up_to_date_replicas: UpToDateReplicas = 0
    versions: Versions = ()
    phase: Annotated[str, Markers("Whether it grows, shrinks or stays.", enum=POOL_PHASES)] = ""
    deprecated: Annotated[DeprecatedPool, Markers("What only v1beta1 says.")] = DeprecatedPool()


class MachineDeployment(View, frozen=True):
    """A pool of Machines that is scaled and updated as one."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[MachineDeploymentSpec, Markers("What is wanted.", required=True)] = MachineDeploymentSpec()
    status: Annotated[MachineDeploymentStatus, Markers("What was seen last.", min_properties=1)] = (
        MachineDeploymentStatus()
    )

    @property
    def wanted(self) -> int:
        return 1 if self.spec.replicas is None else self.spec.replicas
