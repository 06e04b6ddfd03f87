"""A provider: the operator that runs a model, how it is installed, and the manifests that it takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from mooring.features.installation.api.chart import HelmChart
from mooring.kube.objects import Object
from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.problems import Problem
from mooring.runway.providers.installable import Installable
from mooring.runway.settings import RunwaySettings

__all__ = [
    "CrdReference",
    "HelmRepository",
    "InstallationStep",
    "OperatorPods",
    "Provider",
    "ProviderFacts",
    "ProviderStatus",
]


class CrdReference(msgspec.Struct, frozen=True, rename="camel"):
    """The kind that a provider takes, with the field names of upstream's answers."""

    api_group: str
    api_version: str
    plural: str
    kind: str

    @property
    def group_version(self) -> str:
        return f"{self.api_group}/{self.api_version}"


class InstallationStep(msgspec.Struct, frozen=True):
    """What a person would do by hand."""

    title: str
    command: str
    description: str


class HelmRepository(msgspec.Struct, frozen=True):
    name: str
    url: str


class OperatorPods(msgspec.Struct, frozen=True):
    """The namespace and the labels of an operator's pods."""

    namespace: str
    selector: str


class ProviderFacts(msgspec.Struct, frozen=True):
    """What was found in a cluster: whether the kinds are served, the pods of the operator, and the Installation."""

    served: bool
    operator_pods: Sequence[Object] = ()
    installation: Object | None = None


class ProviderStatus(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """Whether a provider can be used. `version` is that of what runs, as far as it is known."""

    installed: bool
    message: str
    crd_found: bool = msgspec.field(name="crdFound", default=False)
    operator_running: bool = msgspec.field(name="operatorRunning", default=False)
    version: str = ""


@dataclass(frozen=True, kw_only=True)
class Provider(Installable):
    """`operators` are where the pods of its operator are, by the ways to install it; `crds` what it takes."""

    description: str
    default_namespace: str
    crds: tuple[CrdReference, ...]
    operators: tuple[OperatorPods, ...]
    validate: Callable[[DeploymentConfig], list[Problem]]
    # All objects of a deployment, in the order in which they are created.
    manifests: Callable[[DeploymentConfig, RunwaySettings], list[Object]]
    status: Callable[[ProviderFacts, RunwaySettings], ProviderStatus]
    installation_steps: Callable[[RunwaySettings], tuple[InstallationStep, ...]]
    helm_repositories: Callable[[RunwaySettings], tuple[HelmRepository, ...]]
    helm_charts: Callable[[RunwaySettings], tuple[HelmChart, ...]]
    # The definitions that its charts bring and nobody else uses, by name.
    definitions: tuple[str, ...] = ()

    @property
    def crd(self) -> CrdReference:
        return self.crds[0]
