"""The scripts that install Kubernetes on a host: asked for from an installer, one object per ByoMachine."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import to_builtins

from mooring.api.conditions import find_condition
from mooring.features.hosts.api.conditions import INSTALLATION_SECRET_NOT_AVAILABLE, INSTALLER_NOT_FOUND, READY
from mooring.features.hosts.api.kinds import BYO_MACHINE, K8S_INSTALLER_CONFIG, K8S_INSTALLER_CONFIG_TEMPLATE
from mooring.features.hosts.api.machines import ByoMachine
from mooring.features.hosts.api.names import CLONED_FROM_GROUP_KIND, CLONED_FROM_NAME, CLUSTER_NAME, GROUP, K8S_VERSION
from mooring.features.hosts.api.references import Reference
from mooring.features.hosts.byomachine.host_metadata import wanted_version
from mooring.features.machines.api.machines import Machine
from mooring.runtime.decision import Create, Write
from mooring.runtime.view import View
from mooring.workloads.ownerrefs import controller_reference, is_controlled_by

_TEMPLATE = "K8sInstallerConfigTemplate"


class HostInstallation(NamedTuple):
    """The Secret with the scripts, None where nothing is installed; with a message there is none yet."""

    secret: Reference | None = None
    reason: str = ""
    message: str = ""
    severity: str = "Info"
    writes: tuple[Write, ...] = ()


def installation_of(view: View, machine: ByoMachine, owner: Machine) -> HostInstallation:
    ref = machine.spec.installer_ref
    if ref is None or not ref.name:
        return HostInstallation()
    if (ref.group, ref.kind) != (GROUP, _TEMPLATE):
        message = f"spec.installerRef names a {ref.kind} of {ref.group}; only a {_TEMPLATE} of {GROUP} is known"
        return HostInstallation(reason=INSTALLER_NOT_FOUND, message=message, severity="Error")
    meta = machine.metadata
    config = view.get(K8S_INSTALLER_CONFIG, meta.namespace, meta.name)
    if config is None:
        namespace = ref.namespace or meta.namespace
        template = view.get(K8S_INSTALLER_CONFIG_TEMPLATE, namespace, ref.name)
        if template is None:
            message = f"there is no {_TEMPLATE} {ref.name} in namespace {namespace}; create it or correct installerRef"
            return HostInstallation(reason=INSTALLER_NOT_FOUND, message=message, severity="Warning")
        made = {
            "metadata": {
                "namespace": meta.namespace,
                "name": meta.name,
                "labels": {CLUSTER_NAME: owner.spec.cluster_name},
                "annotations": {
                    K8S_VERSION: wanted_version(machine, owner),
                    CLONED_FROM_NAME: ref.name,
                    CLONED_FROM_GROUP_KIND: f"{_TEMPLATE}.{GROUP}",
                },
                "ownerReferences": [controller_reference(BYO_MACHINE, machine)],
            },
            "spec": to_builtins(template.spec.template.spec),
        }
        message = f"K8sInstallerConfig {meta.name} is being made"
        return HostInstallation(
            None, INSTALLATION_SECRET_NOT_AVAILABLE, message, writes=(Create(K8S_INSTALLER_CONFIG, made),)
        )
    if not is_controlled_by(config, machine):
        message = f"K8sInstallerConfig {meta.name} belongs to another; delete it, so that a new one is made"
        return HostInstallation(reason=INSTALLATION_SECRET_NOT_AVAILABLE, message=message, severity="Error")
    if not config.status.ready or config.status.installation_secret is None:
        why = find_condition(config.status.conditions, READY)
        message = f"K8sInstallerConfig {meta.name} has no Secret yet{f': {why.message}' if why and why.message else ''}"
        severity = "Warning" if why is not None and why.severity == "Error" else "Info"
        return HostInstallation(None, INSTALLATION_SECRET_NOT_AVAILABLE, message, severity)
    return HostInstallation(config.status.installation_secret)
