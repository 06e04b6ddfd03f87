"""Providers as what is installed: whether each is there, how it is installed, and all installations as they stand."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from mooring.features.installation.api.names import API_VERSION
from mooring.kube.status import NotFoundError
from mooring.runway.feature_views.installations import INSTALLATION_TOPIC, InstallationShown, installation_shown
from mooring.runway.operations import installation as operations
from mooring.runway.operations.provider_facts import provider_facts
from mooring.runway.providers.provider import InstallationStep, Provider
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.routes.installation.actions import installation_actions
from mooring.runway.rest.routes.settings import provider_of
from mooring.runway.shown import Shown

__all__ = ["PROVIDER_ROUTES"]


class HelmStatusShown(Shown, frozen=True):
    """Whether charts can be installed by a request. `error` says why not."""

    available: bool
    version: str | None = None
    error: str | None = None


class ProviderStatusShown(Shown, frozen=True):
    provider_id: str
    provider_name: str
    installed: bool
    crd_found: bool
    operator_running: bool
    installation_steps: tuple[InstallationStep, ...]
    helm_commands: tuple[str, ...]
    version: str | None = None
    message: str | None = None
    installation: InstallationShown | None = None


class ProviderCommandsShown(Shown, frozen=True):
    provider_id: str
    provider_name: str
    commands: tuple[str, ...]
    steps: tuple[InstallationStep, ...]


class RuntimeShown(Shown, frozen=True):
    id: str
    name: str
    installed: bool
    healthy: bool
    version: str | None = None
    message: str | None = None


class RuntimesShown(Shown, frozen=True):
    runtimes: tuple[RuntimeShown, ...]


class InstallationsShown(Shown, frozen=True):
    installation: tuple[InstallationShown, ...]


def _commands(provider: Provider, call: RestCall) -> tuple[str, ...]:
    return tuple(step.command for step in provider.installation_steps(call.service.facts.settings))


async def _all(call: RestCall) -> Any:
    return {INSTALLATION_TOPIC: msgspec.Raw((await call.caller.topic(INSTALLATION_TOPIC)).list())}


async def _helm(call: RestCall) -> HelmStatusShown:
    """Helm is run by the controllers of a cluster, so they are what must be there."""
    try:
        await call.caller.transport.mapping(API_VERSION, operations.KIND)
    except NotFoundError:
        return HelmStatusShown(False, error="no Mooring runs in this cluster that could install charts; do it by hand")
    for each in await operations.installations(call.caller.transport):
        shown = installation_shown(each)
        if any(condition.reason == "HelmMissing" for condition in shown.conditions):
            return HelmStatusShown(False, error=shown.message)
    return HelmStatusShown(True)


async def _status(call: RestCall) -> ProviderStatusShown:
    provider, settings = provider_of(call), call.service.facts.settings
    facts = await provider_facts(call.caller.transport, provider)
    status = provider.status(facts, settings)
    return ProviderStatusShown(
        provider.id,
        provider.name,
        status.installed,
        status.crd_found,
        status.operator_running,
        provider.installation_steps(settings),
        _commands(provider, call),
        status.version or None,
        status.message or None,
        None if facts.installation is None else installation_shown(facts.installation),
    )


async def _runs(call: RestCall) -> bool:
    provider = provider_of(call)
    facts = await provider_facts(call.caller.transport, provider)
    return provider.status(facts, call.service.facts.settings).installed


async def _commands_shown(call: RestCall) -> ProviderCommandsShown:
    provider = provider_of(call)
    steps = provider.installation_steps(call.service.facts.settings)
    return ProviderCommandsShown(provider.id, provider.name, _commands(provider, call), steps)


async def _runtimes(call: RestCall) -> RuntimesShown:
    from mooring.runway.providers.registry import PROVIDERS

    found = []
    for provider in PROVIDERS.values():
        facts = await provider_facts(call.caller.transport, provider)
        status = provider.status(facts, call.service.facts.settings)
        found.append(
            RuntimeShown(
                provider.id,
                provider.name,
                status.crd_found,
                status.installed,
                status.version or None,
                status.message or None,
            )
        )
    return RuntimesShown(tuple(found))


_ONE: Final = "/api/installation/providers/{id}"
PROVIDER_ROUTES: Final = (
    Route("GET", "/api/installation", "All installations, and how far they are.", _all, InstallationsShown),
    Route("GET", "/api/installation/helm/status", "Whether charts can be installed here.", _helm, HelmStatusShown),
    Route("GET", "/api/runtimes/status", "All providers, and whether they can be used.", _runtimes, RuntimesShown),
    Route("GET", f"{_ONE}/status", "Whether a provider is installed.", _status, ProviderStatusShown),
    Route("GET", f"{_ONE}/commands", "How to install it by hand.", _commands_shown, ProviderCommandsShown),
    *installation_actions(_ONE, provider_of, _runs),
)
