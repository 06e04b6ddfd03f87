"""K8sInstallerConfig: where a host's Kubernetes is installed from, and the Secret with the scripts that do it."""

from __future__ import annotations

from typing import Annotated

from mooring.api.core.types import View
from mooring.api.crds.markers import Markers
from mooring.api.meta import AnnotatedMeta
from mooring.features.hosts.api.conditions import Conditions
from mooring.features.hosts.api.references import Reference


class K8sInstallerConfigSpec(View, frozen=True):
    """Where Kubernetes comes from."""

    bundle_repo: Annotated[
        str, Markers("The registry of the bundle; online installs packages of the operating system.", required=True)
    ] = ""
    bundle_type: Annotated[str, Markers("What the bundle holds: k8s.", required=True)] = ""


class K8sInstallerConfigStatus(View, frozen=True):
    ready: Annotated[bool, Markers("Whether the Secret is there.")] = False
    installation_secret: Annotated[Reference | None, Markers("The Secret with the scripts install and uninstall.")] = (
        None
    )
    conditions: Annotated[Conditions, Markers("Ready: the Secret is there, or why it cannot be made.")] = ()


class K8sInstallerConfig(View, frozen=True):
    """Where the Kubernetes of one host comes from."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[K8sInstallerConfigSpec, Markers("Where Kubernetes comes from.")] = K8sInstallerConfigSpec()
    status: Annotated[K8sInstallerConfigStatus, Markers("What was seen last.")] = K8sInstallerConfigStatus()


class K8sInstallerConfigTemplateResource(View, frozen=True):
    """A K8sInstallerConfig to be made."""

    spec: Annotated[K8sInstallerConfigSpec, Markers("Where Kubernetes comes from.", required=True)] = (
        K8sInstallerConfigSpec()
    )


class K8sInstallerConfigTemplateSpec(View, frozen=True):
    template: Annotated[
        K8sInstallerConfigTemplateResource, Markers("What K8sInstallerConfigs are made from.", required=True)
    ] = K8sInstallerConfigTemplateResource()


class K8sInstallerConfigTemplateStatus(View, frozen=True):
    """Nothing yet."""


class K8sInstallerConfigTemplate(View, frozen=True):
    """What the K8sInstallerConfigs of a pool are made from."""

    metadata: AnnotatedMeta = AnnotatedMeta()
    spec: Annotated[K8sInstallerConfigTemplateSpec, Markers("What is made.")] = K8sInstallerConfigTemplateSpec()
    status: Annotated[K8sInstallerConfigTemplateStatus, Markers("Nothing yet.")] = K8sInstallerConfigTemplateStatus()
