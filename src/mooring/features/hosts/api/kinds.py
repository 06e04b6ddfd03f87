"""The kinds of hosts as controllers read them, with the questions that are asked of them.

A heartbeat comes from every host every few seconds. `BYO_HOST` is without it, so that it wakes nobody who asks which
hosts are free; `BYO_HOST_HEARTBEAT` is the whole host, for those who watch over it.
"""

from __future__ import annotations

from mooring.api.kinds import Kind
from mooring.features.hosts.api.bootstrap import BootstrapKubeconfig, BootstrapKubeconfigTemplate
from mooring.features.hosts.api.clusters import ByoCluster
from mooring.features.hosts.api.hosts import ByoHost, HostClaim
from mooring.features.hosts.api.installers import K8sInstallerConfig, K8sInstallerConfigTemplate
from mooring.features.hosts.api.machines import ByoMachine, ByoMachineTemplate
from mooring.features.hosts.api.names import API_VERSION

BYO_HOST = Kind(API_VERSION, "ByoHost", HostClaim, optional=True)
BYO_HOST_HEARTBEAT = Kind(API_VERSION, "ByoHost", ByoHost, optional=True)
BYO_MACHINE = Kind(API_VERSION, "ByoMachine", ByoMachine, optional=True)
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
