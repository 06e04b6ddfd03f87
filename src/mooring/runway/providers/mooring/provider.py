"""Plain Mooring as a provider: a Workspace for a model that one node holds, groups of pods where it takes several."""

from __future__ import annotations

from typing import Final

from mooring.features.groups import api as groups
from mooring.features.installation.api.chart import HelmChart
from mooring.features.workspaces import api as workspaces
from mooring.kube.objects import Object
from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.problems import Problem
from mooring.runway.providers.mooring.group_manifests import group_service, leader_worker_set
from mooring.runway.providers.provider import (
    CrdReference,
    HelmRepository,
    InstallationStep,
    Provider,
    ProviderFacts,
    ProviderStatus,
)
from mooring.runway.providers.workspace_manifests import GPU_NODES, vllm_service, workspace
from mooring.runway.settings import RunwaySettings

__all__ = ["MOORING"]


def _validate(config: DeploymentConfig) -> list[Problem]:
    if config.nodes > 1 and config.model_source not in ("vllm", "preset"):
        text = f"only vllm and presets spread a replica over {config.nodes} pods, not modelSource {config.model_source}"
        return [Problem("nodes", text)]
    return []


def manifests(config: DeploymentConfig, settings: RunwaySettings) -> list[Object]:
    if config.nodes > 1 and config.model_source == "vllm":
        return [leader_worker_set(config), group_service(config)]
    made = [workspace(config, GPU_NODES)]
    if config.model_source == "vllm":
        made.append(vllm_service(config))
    return made


def _status(facts: ProviderFacts, settings: RunwaySettings) -> ProviderStatus:
    if facts.served:
        return ProviderStatus(True, "Mooring's kinds are served", True, True)
    text = "Mooring's kinds are not served; apply config/crd and start mooring run, or install the chart"
    return ProviderStatus(False, text)


def _no_installation(settings: RunwaySettings) -> None:
    return None


def _no_steps(settings: RunwaySettings) -> tuple[InstallationStep, ...]:
    return ()


def _no_repositories(settings: RunwaySettings) -> tuple[HelmRepository, ...]:
    return ()


def _no_charts(settings: RunwaySettings) -> tuple[HelmChart, ...]:
    return ()


MOORING: Final = Provider(
    id="mooring",
    name="Mooring",
    description="Mooring's own controllers: Workspaces, and groups of pods for models that need several nodes.",
    default_namespace="default",
    crds=(
        CrdReference(workspaces.GROUP, "v1beta1", workspaces.PLURAL, workspaces.KIND),
        CrdReference(groups.GROUP, "v1", groups.PLURAL, groups.KIND),
    ),
    operators=(),
    validate=_validate,
    manifests=manifests,
    status=_status,
    installation_steps=_no_steps,
    helm_repositories=_no_repositories,
    helm_charts=_no_charts,
    installation=_no_installation,
)
