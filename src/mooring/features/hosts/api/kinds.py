"""The kinds of hosts as controllers read them, with the questions that are asked of them.

A heartbeat comes from every host every few seconds. `BYO_HOST` is without it, so that it wakes nobody who asks which
hosts are free; `BYO_HOST_HEARTBEAT` is the whole host, for those who watch over it.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from mooring.api.kinds import Kind
from mooring.features.hosts.api.bootstrap import BootstrapKubeconfig, BootstrapKubeconfigTemplate
from mooring.features.hosts.api.clusters import ByoCluster
from mooring.features.hosts.api.hosts import ByoHost, HostClaim, is_claimable
from mooring.features.hosts.api.installers import K8sInstallerConfig, K8sInstallerConfigTemplate
from mooring.features.hosts.api.machines import ByoMachine, ByoMachineTemplate
from mooring.features.hosts.api.names import API_VERSION, CLUSTER_NAME


def _by_claimer(host: HostClaim) -> Iterator[str]:
    if host.status.machine_ref is not None:
        yield host.status.machine_ref.uid


def _by_label(host: HostClaim) -> Iterator[str]:
    """By namespace, and by namespace and each label: a selector with a label asks for few hosts, and hears of few."""
    namespace = host.metadata.namespace
    yield namespace
    for key, value in host.metadata.labels.items():
        yield f"{namespace}/{key}={value}"


def _free_by_label(host: HostClaim) -> Iterator[str]:
    if is_claimable(host):
        yield from _by_label(host)


def pool_of(machine: ByoMachine) -> str:
    """What the ByoMachines have in common that compete for the same hosts."""
    wanted = (machine.spec.selector, sorted(machine.spec.capacity_requirements.items()))
    return f"{machine.metadata.namespace}/{msgspec.json.encode(wanted).decode()}"


def _waiting(machine: ByoMachine) -> Iterator[str]:
    if machine.status.host_ref is None and not machine.metadata.deleting:
        yield pool_of(machine)


def _by_host(machine: ByoMachine) -> Iterator[str]:
    if machine.status.host_ref is not None:
        yield f"{machine.metadata.namespace}/{machine.status.host_ref.name}"


def _by_cluster(machine: ByoMachine) -> Iterator[str]:
    if cluster := machine.metadata.labels.get(CLUSTER_NAME):
        yield f"{machine.metadata.namespace}/{cluster}"


BYO_HOST = Kind(
    API_VERSION,
    "ByoHost",
    HostClaim,
    indexes={"claimer": _by_claimer, "label": _by_label, "free": _free_by_label},
    optional=True,
)
BYO_HOST_HEARTBEAT = Kind(API_VERSION, "ByoHost", ByoHost, optional=True)
BYO_MACHINE = Kind(
    API_VERSION,
    "ByoMachine",
    ByoMachine,
    indexes={"waiting": _waiting, "host": _by_host, "cluster": _by_cluster},
    optional=True,
)
BYO_MACHINE_TEMPLATE = Kind(API_VERSION, "ByoMachineTemplate", ByoMachineTemplate, optional=True)
BYO_CLUSTER = Kind(API_VERSION, "ByoCluster", ByoCluster, optional=True)
K8S_INSTALLER_CONFIG = Kind(API_VERSION, "K8sInstallerConfig", K8sInstallerConfig, optional=True)
K8S_INSTALLER_CONFIG_TEMPLATE = Kind(
    API_VERSION, "K8sInstallerConfigTemplate", K8sInstallerConfigTemplate, optional=True
)
BOOTSTRAP_KUBECONFIG = Kind(API_VERSION, "BootstrapKubeconfig", BootstrapKubeconfig, optional=True)
BOOTSTRAP_KUBECONFIG_TEMPLATE = Kind(
    API_VERSION, "BootstrapKubeconfigTemplate", BootstrapKubeconfigTemplate, optional=True
)
