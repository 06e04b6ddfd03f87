"""MachineSet: a number of equal Machines."""

from __future__ import annotations

from typing import Annotated

from mooring.api.core.types import LabelSelector, View
from mooring.api.crds.markers import Int32, Int64, Markers
from mooring.api.meta import AnnotatedMeta
from mooring.features.machines.api.machine_specs import DeletionOrder, MachineNaming, MachineTemplate
from mooring.features.machines.api.parts import (
    AvailableReplicas,
    ClusterName,
    Conditions,
    DeprecatedConditions,
    FailureMessage,
    FailureReason,
    ReadyReplicas,
    Replicas,
    SelectorText,
    UpToDateReplicas,
    Versions,
)


class MachineSetSpec(View, frozen=True):
    cluster_name: ClusterName = ""
    replicas: Annotated[Int32 | None, Markers("How many Machines are wanted; 1 by default.")] = None
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
    deletion: Annotated[DeletionOrder, Markers("Which Machines go first.", min_properties=1)] = DeletionOrder()


class DeprecatedMachineSetStatus(View, frozen=True):
    conditions: DeprecatedConditions = ()
    failure_reason: FailureReason = ""
    failure_message: FailureMessage = ""
    fully_labeled_replicas: Annotated[Int32, Markers("How many Machines have all labels of the template.")] = 0
    ready_replicas: ReadyReplicas = 0
    available_replicas: AvailableReplicas = 0


class DeprecatedMachineSet(View, frozen=True):
    v1beta1: Annotated[DeprecatedMachineSetStatus, Markers("What v1beta1 said.")] = DeprecatedMachineSetStatus()


class MachineSetStatus(View, frozen=True):
    conditions: Conditions = ()
    selector: SelectorText = ""
    replicas: Replicas = 0
    ready_replicas: ReadyReplicas = 0
    available_replicas: AvailableReplicas = 0
    up_to_date_replicas: UpToDateReplicas = 0
    versions: Versions = ()
    observed_generation: Annotated[Int64, Markers("The generation that this status is about.", minimum=1)] = 0
    deprecated: Annotated[DeprecatedMachineSet, Markers("What only v1beta1 says.")] = DeprecatedMachineSet()


class MachineSet(View, frozen=True):
    """Equal Machines, as many as are wanted."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[MachineSetSpec, Markers("What is wanted.", required=True)] = MachineSetSpec()
    status: Annotated[MachineSetStatus, Markers("What was seen last.", min_properties=1)] = MachineSetStatus()

    @property
    def wanted(self) -> int:
        return 1 if self.spec.replicas is None else self.spec.replicas
