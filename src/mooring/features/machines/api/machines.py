"""Machine: one machine that is to be a node, with its bootstrap object and its object at the provider."""

from __future__ import annotations

from typing import Annotated, Final

from mooring.api.core.types import View
from mooring.api.crds.markers import Int64, Markers, Time
from mooring.api.meta import AnnotatedMeta
from mooring.features.machines.api.machine_specs import MachineSpec
from mooring.features.machines.api.parts import DOMAIN, Conditions, DeprecatedConditions, FailureMessage, FailureReason
from mooring.kube.objects import Object

PHASES: Final = (
    "Pending",
    "Provisioning",
    "Provisioned",
    "Running",
    "Updating",
    "Deleting",
    "Deleted",
    "Failed",
    "Unknown",
)
ADDRESS_TYPES: Final = ("Hostname", "ExternalIP", "InternalIP", "ExternalDNS", "InternalDNS")


class MachineAddress(View, frozen=True):
    type: Annotated[str, Markers("What kind of address it is.", required=True, enum=ADDRESS_TYPES)] = ""
    address: Annotated[str, Markers("The address.", required=True, min_length=1, max_length=256)] = ""


class MachineNodeReference(View, frozen=True):
    name: Annotated[
        str, Markers("The name of the Node.", required=True, min_length=1, max_length=253, pattern=f"^{DOMAIN}$")
    ] = ""


class MachineInitialization(View, frozen=True):
    infrastructure_provisioned: Annotated[bool, Markers("Whether the provider has delivered the machine.")] = False
    bootstrap_data_secret_created: Annotated[bool, Markers("Whether there are bootstrap data.")] = False


class MachineDeletionStatus(View, frozen=True):
    node_drain_start_time: Annotated[Time | None, Markers("When draining began.")] = None
    wait_for_node_volume_detach_start_time: Annotated[Time | None, Markers("When detaching volumes began.")] = None
    wait_for_pre_drain_hook_start_time: Annotated[Time | None, Markers("When it began to wait for a hook.")] = None
    wait_for_pre_terminate_hook_start_time: Annotated[Time | None, Markers("The same, after draining.")] = None


class DeprecatedMachineStatus(View, frozen=True):
    conditions: DeprecatedConditions = ()
    failure_reason: FailureReason = ""
    failure_message: FailureMessage = ""


class DeprecatedMachine(View, frozen=True):
    v1beta1: Annotated[DeprecatedMachineStatus, Markers("What v1beta1 said.")] = DeprecatedMachineStatus()


class MachineStatus(View, frozen=True):
    conditions: Conditions = ()
    initialization: Annotated[MachineInitialization, Markers("What was done once.", min_properties=1)] = (
        MachineInitialization()
    )
    node_ref: Annotated[MachineNodeReference, Markers("The Node that it became.")] = MachineNodeReference()
    node_info: Annotated[Object | None, Markers("What the Node says about itself.", of="core.v1.NodeSystemInfo")] = None
    last_updated: Annotated[Time | None, Markers("When the phase changed last.")] = None
    failure_domain: Annotated[str, Markers("The failure domain that it is in.", min_length=1, max_length=256)] = ""
    addresses: Annotated[
        tuple[MachineAddress, ...],
        Markers("Addresses, as the provider tells them.", list_type="atomic", max_items=256),
    ] = ()
    phase: Annotated[str, Markers("How far it is, in a word.", enum=PHASES)] = ""
    certificates_expiry_date: Annotated[Time | None, Markers("When certificates of a control plane expire.")] = None
    observed_generation: Annotated[Int64, Markers("The generation that this status is about.", minimum=1)] = 0
    deletion: Annotated[MachineDeletionStatus, Markers("How far a deletion is.")] = MachineDeletionStatus()
    deprecated: Annotated[DeprecatedMachine, Markers("What only v1beta1 says.")] = DeprecatedMachine()


class Machine(View, frozen=True):
    """A machine that is to be a node of a cluster."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[MachineSpec, Markers("What is wanted.", required=True)] = MachineSpec()
    status: Annotated[MachineStatus, Markers("What was seen last.", min_properties=1)] = MachineStatus()
