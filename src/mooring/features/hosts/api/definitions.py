"""Hosts as custom resources. `config/crd/` holds the definitions that come out of it."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.api.crds.resource import AGE, CustomResource, PrinterColumn, Version
from mooring.features.hosts.api.bootstrap import BootstrapKubeconfig, BootstrapKubeconfigTemplate
from mooring.features.hosts.api.clusters import ByoCluster
from mooring.features.hosts.api.hosts import ByoHost
from mooring.features.hosts.api.installers import K8sInstallerConfig, K8sInstallerConfigTemplate
from mooring.features.hosts.api.machines import ByoMachine, ByoMachineTemplate
from mooring.features.hosts.api.names import GROUP

# By this label Cluster API finds the version of a kind that speaks its contract.
_CONTRACT: Final = {"cluster.x-k8s.io/v1beta1": "v1beta1"}


def _resource(
    kind: type[msgspec.Struct], columns: tuple[PrinterColumn, ...], short_names: tuple[str, ...] = ()
) -> CustomResource:
    return CustomResource(
        GROUP,
        kind.__name__,
        f"{kind.__name__.lower()}s",
        versions=(Version("v1beta1", kind, columns=(*columns, AGE)),),
        short_names=short_names,
        labels=_CONTRACT,
    )


BYO_HOSTS: Final = _resource(
    ByoHost,
    (
        PrinterColumn("OSName", "string", ".status.hostinfo.osname"),
        PrinterColumn("OSImage", "string", ".status.hostinfo.osimage"),
        PrinterColumn("Arch", "string", ".status.hostinfo.architecture"),
        PrinterColumn("Status", "string", ".status.phase", "Whether the host can be claimed"),
        PrinterColumn("Machine", "string", ".status.machineRef.name", "Who has claimed the host"),
    ),
    ("byoh",),
)
BYO_MACHINES: Final = _resource(
    ByoMachine,
    (
        PrinterColumn("Host", "string", ".status.hostRef.name", "The host that is claimed"),
        PrinterColumn("Ready", "boolean", ".status.ready", "Whether the host has become a Node"),
        PrinterColumn("Reason", "string", '.status.conditions[?(@.type=="BYOHostReady")].reason', "What is waited for"),
    ),
    ("byom",),
)
BYO_MACHINE_TEMPLATES: Final = _resource(
    ByoMachineTemplate,
    (
        PrinterColumn("CPU", "string", ".status.capacity.cpu", "Processors of a Node"),
        PrinterColumn("Memory", "string", ".status.capacity.memory", "Memory of a Node"),
        PrinterColumn("Hosts", "string", '.status.conditions[?(@.type=="Ready")].reason', "Whether hosts match"),
    ),
)
BYO_CLUSTERS: Final = _resource(
    ByoCluster,
    (
        PrinterColumn("Endpoint", "string", ".spec.controlPlaneEndpoint.host", "Where the API server answers"),
        PrinterColumn("Ready", "boolean", ".status.ready", "Whether machines may be made"),
    ),
    ("byoc",),
)
K8S_INSTALLER_CONFIGS: Final = _resource(
    K8sInstallerConfig, (PrinterColumn("Ready", "boolean", ".status.ready", "Whether the Secret is there"),)
)
K8S_INSTALLER_CONFIG_TEMPLATES: Final = _resource(K8sInstallerConfigTemplate, ())
BOOTSTRAP_KUBECONFIGS: Final = _resource(
    BootstrapKubeconfig,
    (
        PrinterColumn("Secret", "string", ".status.dataSecretName", "The Secret with the kubeconfig"),
        PrinterColumn("Expires", "string", ".status.expirationTime", "When the token ends"),
    ),
)
BOOTSTRAP_KUBECONFIG_TEMPLATES: Final = _resource(BootstrapKubeconfigTemplate, (), ("bkt",))

RESOURCES: Final = (
    BYO_HOSTS,
    BYO_MACHINES,
    BYO_MACHINE_TEMPLATES,
    BYO_CLUSTERS,
    K8S_INSTALLER_CONFIGS,
    K8S_INSTALLER_CONFIG_TEMPLATES,
    BOOTSTRAP_KUBECONFIGS,
    BOOTSTRAP_KUBECONFIG_TEMPLATES,
)
