"""ByoMachine: the claim of a Machine to one host, and the template that such claims are made from."""

from __future__ import annotations

from typing import Annotated

import msgspec

from mooring.api.core.types import LabelSelector, View
from mooring.api.crds.markers import Markers, Quantity, Time
from mooring.api.meta import AnnotatedMeta
from mooring.features.hosts.api.conditions import Conditions
from mooring.features.hosts.api.hosts import DOWNLOAD_MODES, JOIN_MODES, HostInfo
from mooring.features.hosts.api.references import Reference


class ByoMachineSpec(View, frozen=True):
    """Which host is wanted, and how it joins."""

    selector: Annotated[
        LabelSelector | None,
        Markers("Labels of the hosts that may be claimed; any host if absent.", of="meta.v1.LabelSelector"),
    ] = None
    capacity_requirements: Annotated[dict[str, Quantity], Markers("What the host must have at least.")] = msgspec.field(
        default_factory=dict
    )
    provider_id: Annotated[str, Markers("The claimed host, as the Node has it: byoh://HOST.")] = msgspec.field(
        default="", name="providerID"
    )
    installer_ref: Annotated[
        Reference | None, Markers("The template of the object that provides the installation scripts.")
    ] = None
    bootstrap_config_ref: Annotated[
        Reference | None, Markers("The object that says how the host finds the API server; over that of the Machine.")
    ] = None
    join_mode: Annotated[str, Markers("How the host joins.", enum=JOIN_MODES)] = ""
    download_mode: Annotated[
        str, Markers("Where Kubernetes comes from: offline means it is on the host.", enum=DOWNLOAD_MODES)
    ] = ""
    kubernetes_version: Annotated[str, Markers("The version of Kubernetes; that of the Machine, if absent.")] = ""
    manage_kube_proxy: Annotated[bool, Markers("Whether the agent runs kube-proxy.")] = False


class HostReference(View, frozen=True):
    """The host that a ByoMachine has chosen."""

    name: Annotated[str, Markers("The name of the ByoHost.")] = ""
    uid: Annotated[str, Markers("The uid of the ByoHost.")] = ""
    claimed: Annotated[
        bool, Markers("Whether machineRef of the host agreed. From then on the choice is final: it is never another.")
    ] = False


class HostAddress(View, frozen=True):
    """An address of the host."""

    type: Annotated[str, Markers("InternalIP or Hostname.", required=True)] = ""
    address: Annotated[str, Markers("The address, without the length of a prefix.", required=True)] = ""


class InfrastructureInitialization(View, frozen=True):
    """What a Machine waits for."""

    provisioned: Annotated[bool, Markers("Whether the host has become a Node.")] = False


class ByoMachineStatus(View, frozen=True):
    host_ref: Annotated[
        HostReference | None, Markers("The host that was chosen, on record before the host is claimed.")
    ] = None
    ready: Annotated[bool, Markers("Whether the host has become a Node.")] = False
    initialization: Annotated[InfrastructureInitialization, Markers("What a Machine waits for.")] = (
        InfrastructureInitialization()
    )
    hostinfo: Annotated[HostInfo, Markers("What the host runs.")] = HostInfo()
    node_ref: Annotated[Reference | None, Markers("The Node that the host has become.")] = None
    addresses: Annotated[tuple[HostAddress, ...], Markers("The addresses of the host.")] = ()
    cleanup_started: Annotated[bool, Markers("Whether the host is being cleaned.")] = False
    cleanup_completed: Annotated[bool, Markers("Whether the host is clean.")] = False
    node_startup_timeout: Annotated[bool, Markers("Never set; upstream has it.")] = False
    last_bootstrap_timestamp: Annotated[Time | None, Markers("Never set; upstream has it.")] = None
    conditions: Annotated[
        Conditions,
        Markers(
            "BYOHostReady: a host is claimed and has become a Node, or what that waits for. KubeletVersionMatches: its "
            "kubelet has the version that was asked for. SelectorMatchesHost: its labels still match the selector."
        ),
    ] = ()


class ByoMachine(View, frozen=True):
    """The claim of one Machine to one host."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[ByoMachineSpec, Markers("Which host is wanted.")] = ByoMachineSpec()
    status: Annotated[ByoMachineStatus, Markers("What was seen last.")] = ByoMachineStatus()


class ByoMachineTemplateResource(View, frozen=True):
    """A ByoMachine to be made."""

    spec: Annotated[ByoMachineSpec, Markers("Which host is wanted.", required=True)] = ByoMachineSpec()


class TemplateCapacity(View, frozen=True):
    """What a Node of the pool will have, for an autoscaler that must know before there is one."""

    cpu: Annotated[str, Markers("Processors, as a quantity.")] = ""
    memory: Annotated[str, Markers("Memory, as a quantity.")] = ""
    ephemeral_disk: Annotated[str, Markers("Ephemeral storage, as a quantity.")] = ""
    max_pods: Annotated[str, Markers("How many pods run on it.")] = ""
    gpu_type: Annotated[str, Markers("The resource that GPUs are asked for as; nvidia.com/gpu if absent.")] = ""
    gpu_count: Annotated[str, Markers("How many GPUs it has.")] = ""
    labels: Annotated[str, Markers("Labels: key=value, separated by commas.")] = ""
    taints: Annotated[str, Markers("Taints: key=value:effect, separated by commas.")] = ""
    csi_drivers: Annotated[str, Markers("How many volumes each driver attaches: driver=number, with commas.")] = ""


class ByoMachineTemplateSpec(View, frozen=True):
    template: Annotated[ByoMachineTemplateResource, Markers("What ByoMachines are made from.", required=True)] = (
        ByoMachineTemplateResource()
    )
    capacity: Annotated[
        TemplateCapacity | None, Markers("What a Node has; that of the smallest host that matches, if absent.")
    ] = None


class TemplateNodeInfo(View, frozen=True):
    """What a Node of the pool will run."""

    markers = Markers(min_properties=1)

    architecture: Annotated[str, Markers("The architecture of the processor.")] = ""
    operating_system: Annotated[str, Markers("The operating system.")] = ""


class ByoMachineTemplateStatus(View, frozen=True):
    capacity: Annotated[dict[str, Quantity], Markers("What a Node of the pool will have.")] = msgspec.field(
        default_factory=dict
    )
    node_info: Annotated[TemplateNodeInfo, Markers("What a Node of the pool will run.")] = TemplateNodeInfo()
    conditions: Annotated[
        Conditions, Markers("Ready: hosts match the selector, free ones or not; if none does, which labels are near.")
    ] = ()


class ByoMachineTemplate(View, frozen=True):
    """What the ByoMachines of a pool are made from."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[ByoMachineTemplateSpec, Markers("What is made.")] = ByoMachineTemplateSpec()
    status: Annotated[ByoMachineTemplateStatus, Markers("What was seen last.")] = ByoMachineTemplateStatus()
