"""K8sInstallerConfigs: each gives the scripts for one ByoMachine's host as a Secret, or says why there are none.

What cannot be installed is told once and changes nothing: the key runs again when the host, the version or the config
changes, and at no other time.
"""

from __future__ import annotations

import base64
from datetime import datetime
from typing import Final

from mooring.api.kinds import Key
from mooring.api.meta import Condition
from mooring.features.hosts.api import conditions as told
from mooring.features.hosts.api.installers import K8sInstallerConfig
from mooring.features.hosts.api.kinds import BYO_HOST, BYO_MACHINE, K8S_INSTALLER_CONFIG
from mooring.features.hosts.api.machines import ByoMachine
from mooring.features.hosts.api.names import CLUSTER_NAME, INSTALL_SCRIPT, K8S_VERSION, SECRET_TYPE, UNINSTALL_SCRIPT
from mooring.features.hosts.api.references import reference_to
from mooring.features.hosts.installer.platforms import UnsupportedPlatform, platform_of
from mooring.features.hosts.installer.scripts import InstallScripts, scripts_for
from mooring.features.hosts.statuses import holds, status_patch, waiting
from mooring.kube.objects import Object
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Apply, Decision
from mooring.runtime.view import View
from mooring.workloads.kinds import SECRET
from mooring.workloads.ownerrefs import controller_reference

BUNDLE_TYPE: Final = "k8s"


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    config = view.get(K8S_INSTALLER_CONFIG, *key)
    if config is None or config.metadata.deleting:
        return Decision()
    # 1. It is for a ByoMachine, which has a host.
    machine = _machine(view, config)
    if machine is None:
        return _stop(config, now, told.WAITING_FOR_OWNER, f"no ByoMachine owns K8sInstallerConfig {key.name}")
    ref = machine.status.host_ref
    host = None if ref is None or not ref.claimed else view.get(BYO_HOST, key.namespace, ref.name)
    if host is None or not host.status.hostinfo.osimage:
        message = f"ByoMachine {key.name} has no host yet whose system is known"
        return _stop(config, now, told.WAITING_FOR_HOST_INFO, message)
    # 2. There is an installer for the host.
    if config.spec.bundle_type != BUNDLE_TYPE:
        message = f'spec.bundleType is "{config.spec.bundle_type}"; only "{BUNDLE_TYPE}" is known'
        return _stop(config, now, told.UNSUPPORTED_BUNDLE, message, "Error")
    info, version = host.status.hostinfo, config.metadata.annotations.get(K8S_VERSION, "")
    try:
        platform = platform_of(info.osimage, info.architecture, version)
    except UnsupportedPlatform as error:
        message = f"ByoHost {host.metadata.name}: {error}"
        return _stop(config, now, told.UNSUPPORTED_PLATFORM, message, "Error")
    # 3. The Secret has its scripts. It is written and never read, so that this controller may read no Secrets.
    data = _encoded(scripts_for(platform, info.architecture, version, config.spec.bundle_repo))
    fields: Object = {"ready": True}
    known, name = config.status.installation_secret, secret_name(key.name)
    if known is None or known.name != name:
        fields["installationSecret"] = reference_to("v1", "Secret", key.namespace, name)
    ready = holds(told.READY, told.SECRET_WRITTEN)
    return Decision(
        children=(Apply(SECRET, _secret(config, data)),),
        status=status_patch(K8S_INSTALLER_CONFIG, config, config.status, (ready,), now, fields),
    )


def secret_name(config: str) -> str:
    """Not that of the config: a Machine's bootstrap data are in a Secret of that name."""
    return f"{config}-installation"


def _machine(view: View, config: K8sInstallerConfig) -> ByoMachine | None:
    owner = config.metadata.controller
    if owner is None or owner.kind != BYO_MACHINE.kind:
        return None
    machine = view.get(BYO_MACHINE, config.metadata.namespace, owner.name)
    return machine if machine is not None and machine.metadata.uid == owner.uid else None


def _encoded(scripts: InstallScripts) -> dict[str, str]:
    texts = {INSTALL_SCRIPT: scripts.install, UNINSTALL_SCRIPT: scripts.uninstall}
    return {name: base64.b64encode(text.encode()).decode() for name, text in texts.items()}


def _secret(config: K8sInstallerConfig, data: dict[str, str]) -> Object:
    metadata: Object = {
        "namespace": config.metadata.namespace,
        "name": secret_name(config.metadata.name),
        "ownerReferences": [controller_reference(K8S_INSTALLER_CONFIG, config)],
    }
    if cluster := config.metadata.labels.get(CLUSTER_NAME):
        metadata["labels"] = {CLUSTER_NAME: cluster}
    return {"metadata": metadata, "type": SECRET_TYPE, "data": data}


def _stop(config: K8sInstallerConfig, now: datetime, reason: str, message: str, severity: str = "Info") -> Decision:
    condition: Condition = waiting(told.READY, reason, message, severity)
    return Decision(
        status=status_patch(K8S_INSTALLER_CONFIG, config, config.status, (condition,), now, {"ready": False})
    )


CONTROLLER = Controller(
    "k8sinstallerconfig",
    reconcile,
    of=K8S_INSTALLER_CONFIG,
    reads=(BYO_MACHINE, BYO_HOST),
    writes={K8S_INSTALLER_CONFIG: ("status", "finalizers"), SECRET: ("create", "patch")},
)
