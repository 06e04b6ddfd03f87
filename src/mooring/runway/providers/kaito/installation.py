"""How KAITO is installed: by hand, and as an Installation that Mooring carries out with Helm.

Both come of the same chart, so that what is shown is what is done. Before 0.8 there was no gate against node
auto-provisioning, and a rollback to it leaves the gate out.
"""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.features.installation.api.chart import HelmChart
from mooring.features.installation.api.installation import ChartRepository
from mooring.features.installation.helm.commands import add_commands, reference, shown_command, upgrade_command
from mooring.kube.objects import Object
from mooring.runway.providers.provider import HelmRepository, InstallationStep
from mooring.runway.settings import RunwaySettings

__all__ = ["NAMESPACE", "helm_charts", "helm_repositories", "installation", "installation_steps"]

NAMESPACE: Final = "kaito-workspace"
_REPOSITORY: Final = "kaito"
_TIMEOUT_SECONDS: Final = 600
# The word of --controllers for our own controllers of the same kind: both at once would fight over every object.
_OWN_CONTROLLERS: Final = ("workspaces",)


def helm_repositories(settings: RunwaySettings) -> tuple[HelmRepository, ...]:
    return (HelmRepository(_REPOSITORY, settings.kaito_repository),)


def helm_charts(settings: RunwaySettings) -> tuple[HelmChart, ...]:
    values = None if settings.is_old_kaito else {"featureGates": {"disableNodeAutoProvisioning": True}}
    return (
        HelmChart(
            name="kaito-workspace",
            chart=f"{_REPOSITORY}/workspace",
            version=settings.kaito_version,
            namespace=NAMESPACE,
            create_namespace=True,
            values=values,
        ),
    )


def installation_steps(settings: RunwaySettings) -> tuple[InstallationStep, ...]:
    (chart,) = helm_charts(settings)
    repository = ChartRepository(_REPOSITORY, settings.kaito_repository)
    how = "" if settings.is_old_kaito else " with Node Auto-Provisioning disabled (BYO nodes mode)"
    install = InstallationStep(
        "Install KAITO Workspace Operator",
        shown_command(upgrade_command(chart, *reference(chart, repository))),
        f"Install the KAITO workspace operator v{settings.kaito_version}{how}.",
    )
    if repository.is_registry:
        return (install,)
    add, update = map(shown_command, add_commands(repository))
    return (
        InstallationStep("Add KAITO Helm Repository", add, "Add the KAITO Helm repository."),
        InstallationStep("Update Helm Repositories", update, "Update local Helm repository cache."),
        install,
    )


def installation(settings: RunwaySettings) -> Object:
    charts = [msgspec.to_builtins(chart) for chart in helm_charts(settings)]
    return {
        "apiVersion": "runway.mooring.dev/v1alpha1",
        "kind": "Installation",
        "metadata": {"name": "kaito"},
        "spec": {
            "repository": msgspec.to_builtins(helm_repositories(settings)[0]),
            "charts": [{key: value for key, value in chart.items() if value is not None} for chart in charts],
            "crds": "Missing",
            "conflictsWith": list(_OWN_CONTROLLERS),
            "timeoutSeconds": _TIMEOUT_SECONDS,
        },
    }
