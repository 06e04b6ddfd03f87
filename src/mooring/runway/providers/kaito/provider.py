"""KAITO as a provider: Workspaces that upstream's operator runs on nodes that are there."""

from __future__ import annotations

from typing import Final

from mooring.features.workspaces.api import GROUP, KIND, PLURAL
from mooring.kube.objects import Object
from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.problems import Problem
from mooring.runway.providers.kaito.installation import (
    NAMESPACE,
    helm_charts,
    helm_repositories,
    installation,
    installation_steps,
)
from mooring.runway.providers.operator_pods import running, version_of
from mooring.runway.providers.provider import CrdReference, OperatorPods, Provider, ProviderFacts, ProviderStatus
from mooring.runway.providers.workspace_manifests import GPU_NODES, LINUX_NODES, vllm_service, workspace
from mooring.runway.settings import RunwaySettings

__all__ = ["KAITO"]


def _validate(config: DeploymentConfig) -> list[Problem]:
    if config.nodes > 1 and config.model_source != "preset":
        text = f"{config.nodes} pods for one replica need provider mooring; KAITO spreads only presets"
        return [Problem("nodes", text)]
    return []


def manifests(config: DeploymentConfig, settings: RunwaySettings) -> list[Object]:
    made = [workspace(config, LINUX_NODES if settings.is_old_kaito else GPU_NODES)]
    if config.model_source == "vllm":
        made.append(vllm_service(config))
    return made


def _status(facts: ProviderFacts, settings: RunwaySettings) -> ProviderStatus:
    is_running = running(facts.operator_pods)
    version = version_of(facts.operator_pods)
    phase = ((facts.installation or {}).get("status") or {}).get("phase") or ""
    if facts.served and is_running:
        wanted = settings.kaito_version
        older = f"; {wanted} is wanted: upgrade it with mooring install kaito" if version and version != wanted else ""
        text = f"KAITO is running{f' in version {version}' if version else ''}{older}"
        return ProviderStatus(True, text, True, True, version)
    if phase and phase not in ("Installed", "Failed", "Cancelled"):
        return ProviderStatus(False, f"KAITO is being installed: {phase}", facts.served, is_running, version)
    if facts.operator_pods:
        lacks = "runs, and Workspaces are not served" if is_running else "has pods, and none is ready"
        return ProviderStatus(False, f"KAITO's operator {lacks}", facts.served, is_running, version)
    if facts.served:
        text = "Workspaces are served, and KAITO's operator does not run; install it with mooring install kaito"
        return ProviderStatus(False, text, True)
    return ProviderStatus(False, "KAITO is not installed; install it with mooring install kaito")


KAITO: Final = Provider(
    id="kaito",
    name="KAITO",
    description="Kubernetes AI Toolchain Operator: Workspaces on nodes of your own, CPU or GPU.",
    default_namespace=NAMESPACE,
    crds=(CrdReference(GROUP, "v1beta1", PLURAL, KIND),),
    operators=(
        OperatorPods(NAMESPACE, "app.kubernetes.io/name=workspace"),
        OperatorPods(NAMESPACE, "app.kubernetes.io/name=kaito-workspace"),
        # The add-on of AKS.
        OperatorPods("kube-system", "app=ai-toolchain-operator"),
    ),
    validate=_validate,
    manifests=manifests,
    status=_status,
    installation_steps=installation_steps,
    helm_repositories=helm_repositories,
    helm_charts=helm_charts,
    installation=installation,
    # Those of Karpenter and of node feature discovery, which the chart has too, are other products' as well.
    definitions=("inferencesets.kaito.sh", "ragengines.kaito.sh", "workspaces.kaito.sh"),
)
