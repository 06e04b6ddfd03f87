"""ByoHost: one machine that somebody owns, what is on it, and who has claimed it."""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from mooring.api.conditions import find_condition, is_true
from mooring.api.core.types import View
from mooring.api.crds.markers import Int32, Markers, Quantity, Time
from mooring.api.meta import AnnotatedMeta
from mooring.features.hosts.api.conditions import HOST_CLEAN, HOST_HEALTHY, Conditions
from mooring.features.hosts.api.names import PAUSED, UNREGISTERING
from mooring.features.hosts.api.references import Reference

KUBEADM: Final = "kubeadm"
TLS_BOOTSTRAP: Final = "tlsBootstrap"
JOIN_MODES: Final = (KUBEADM, TLS_BOOTSTRAP)
DOWNLOAD_MODES: Final = ("offline", "online")

# What `status.phase` says of a host, in the order in which it is decided.
CLEANING: Final = "Cleaning"
CLAIMED: Final = "Claimed"
SILENT: Final = "Silent"
AVAILABLE: Final = "Available"


class HostTaint(View, frozen=True):
    """A taint of the Node that a host becomes."""

    key: Annotated[str, Markers("The key of the taint.", required=True)] = ""
    effect: Annotated[str, Markers("NoSchedule, PreferNoSchedule or NoExecute.", required=True)] = ""
    value: Annotated[str, Markers("The value of the taint.")] = ""
    time_added: Annotated[Time | None, Markers("When the taint was added.")] = None


class HostInfo(View, frozen=True):
    """What a host runs."""

    osname: Annotated[str, Markers("The operating system.")] = ""
    osimage: Annotated[str, Markers("The distribution and its release.")] = ""
    architecture: Annotated[str, Markers("The architecture of the processor.")] = ""


class NetworkStatus(View, frozen=True):
    """One network interface of a host."""

    mac_addr: Annotated[str, Markers("The hardware address.", required=True)] = ""
    connected: Annotated[bool, Markers("Whether the interface is up.")] = False
    ip_addrs: Annotated[tuple[str, ...], Markers("The addresses, each with the length of its prefix.")] = ()
    network_interface_name: Annotated[str, Markers("The name of the interface.")] = ""
    is_default: Annotated[bool, Markers("Whether the default route goes through it.")] = False


class ByoHostSpec(View, frozen=True):
    """What a host has, and what its claim wants of it."""

    bootstrap_secret: Annotated[
        Reference | None, Markers("The Secret with which the host joins a cluster. Set by a claim.")
    ] = None
    installation_secret: Annotated[
        Reference | None, Markers("The Secret with the scripts that install and uninstall Kubernetes. Set by a claim.")
    ] = None
    uninstallation_script: Annotated[str, Markers("The script that the agent runs when the host is released.")] = ""
    join_mode: Annotated[str, Markers("How the host joins. Set by a claim.", enum=JOIN_MODES)] = ""
    download_mode: Annotated[
        str,
        Markers("Where Kubernetes comes from: offline means it is on the host. Set by a claim.", enum=DOWNLOAD_MODES),
    ] = ""
    kubernetes_version: Annotated[str, Markers("The version of Kubernetes that the host runs. Set by a claim.")] = ""
    manage_kube_proxy: Annotated[bool, Markers("Whether the agent runs kube-proxy. Set by a claim.")] = False
    capacity: Annotated[dict[str, Quantity], Markers("What the host has in all: cpu, memory, nvidia.com/gpu.")] = (
        msgspec.field(default_factory=dict)
    )
    labels: Annotated[
        dict[str, str], Markers("Labels of the Node. Those that a claim brings go when the host is released.")
    ] = msgspec.field(default_factory=dict)
    taints: Annotated[
        tuple[HostTaint, ...], Markers("Taints of the Node. Those that a claim brings go when the host is released.")
    ] = ()
    priority: Annotated[Int32 | None, Markers("Of several hosts that match, the highest is claimed; 0 if absent.")] = (
        None
    )


class HostClaimStatus(View, frozen=True):
    """What is known of a host and of who has claimed it, without its heartbeat."""

    machine_ref: Annotated[
        Reference | None, Markers("The ByoMachine that has claimed the host. Whether the host is free is decided here.")
    ] = None
    last_released_time: Annotated[Time | None, Markers("When the last claim ended.")] = None
    conditions: Annotated[
        Conditions,
        Markers(
            "HostHealthy: the agent is heard of. HostClean: nothing of an earlier claim is left. "
            "K8sComponentsInstallationSucceeded and K8sNodeBootstrapSucceeded: how far the claim is."
        ),
    ] = ()
    hostinfo: Annotated[HostInfo, Markers("What the host runs.")] = HostInfo()
    network: Annotated[tuple[NetworkStatus, ...], Markers("The network interfaces of the host.")] = ()


class ByoHostStatus(HostClaimStatus, frozen=True):
    """What was seen of a host last."""

    phase: Annotated[str, Markers("Available, Claimed, Cleaning or Silent, derived from the rest.")] = ""
    last_heartbeat_time: Annotated[Time | None, Markers("When the agent was last heard of.")] = None


class ByoHost(View, frozen=True):
    """A machine that can become a node: what it has, what it runs, and the ByoMachine that has claimed it."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[ByoHostSpec, Markers("What the host has, and what its claim wants of it.")] = ByoHostSpec()
    status: Annotated[ByoHostStatus, Markers("What was seen last.")] = ByoHostStatus()


class HostClaim(View, frozen=True):
    """A host without its heartbeat, which comes every few seconds: what those read who claim hosts."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: ByoHostSpec = ByoHostSpec()
    status: HostClaimStatus = HostClaimStatus()


def is_claimable(host: HostClaim) -> bool:
    """Whether a ByoMachine may claim a host: free, clean, heard of, not paused and not going."""
    conditions = host.status.conditions
    clean = find_condition(conditions, HOST_CLEAN)
    return (
        host.status.machine_ref is None
        and host.spec.bootstrap_secret is None
        and UNREGISTERING not in host.metadata.annotations
        and PAUSED not in host.metadata.annotations
        and not host.metadata.deleting
        and is_true(conditions, HOST_HEALTHY)
        and (clean is None or clean.status != "False")
    )
