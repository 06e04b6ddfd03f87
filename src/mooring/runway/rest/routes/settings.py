"""Settings and providers: what can deploy models, and how it is installed."""

from __future__ import annotations

from typing import Final

import msgspec

from mooring.client.transport import Request
from mooring.features.installation.api.chart import HelmChart
from mooring.kube.names import is_dns1123_label
from mooring.kube.status import ForbiddenError, NotFoundError
from mooring.runway.problems import DeploymentError
from mooring.runway.providers.provider import CrdReference, HelmRepository, InstallationStep, Provider
from mooring.runway.providers.registry import PROVIDERS, find_provider
from mooring.runway.rest.errors import ErrorDetail, RestError
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.shown import Shown

__all__ = ["SETTINGS_ROUTES", "provider_of"]

# What people set for everybody; who may change ConfigMaps there may change it.
_CONFIG_MAP: Final = ("kube-system", "mooring-ui")
_NAMESPACE_KEY: Final = "defaultNamespace"


class ProviderInfo(Shown, frozen=True):
    id: str
    name: str
    description: str
    default_namespace: str


class ProviderDetail(ProviderInfo, frozen=True):
    crd_config: CrdReference
    installation_steps: tuple[InstallationStep, ...]
    helm_repos: tuple[HelmRepository, ...]
    helm_charts: tuple[HelmChart, ...]


class ProvidersShown(Shown, frozen=True):
    providers: tuple[ProviderInfo, ...]


class SettingsConfig(Shown, frozen=True):
    active_provider_id: str
    default_namespace: str | None = None


class AuthShown(Shown, frozen=True):
    enabled: bool


class SettingsShown(Shown, frozen=True):
    config: SettingsConfig
    providers: tuple[ProviderInfo, ...]
    auth: AuthShown


class SettingsAsked(msgspec.Struct, frozen=True, rename="camel"):
    """An empty namespace goes back to that of the provider."""

    default_namespace: str = ""


class SettingsChanged(Shown, frozen=True):
    message: str
    config: SettingsConfig


def provider_of(call: RestCall) -> Provider:
    """The provider of the path."""
    try:
        return find_provider(call.path["id"])
    except DeploymentError as error:
        raise RestError(404, error.problems[0].message) from None


def _info(provider: Provider) -> ProviderInfo:
    return ProviderInfo(provider.id, provider.name, provider.description, provider.default_namespace)


def _all() -> tuple[ProviderInfo, ...]:
    return tuple(map(_info, PROVIDERS.values()))


async def _settings(call: RestCall) -> SettingsShown:
    return SettingsShown(await _config(call), _all(), AuthShown(True))


async def _config(call: RestCall) -> SettingsConfig:
    try:
        found = await call.caller.transport.get("v1", "ConfigMap", *_CONFIG_MAP)
    except (NotFoundError, ForbiddenError):
        # Who may not read it gets what holds without it.
        found = {}
    namespace = (found.get("data") or {}).get(_NAMESPACE_KEY)
    return SettingsConfig(call.service.facts.provider, namespace or None)


async def _put_settings(call: RestCall) -> SettingsChanged:
    asked: SettingsAsked = call.body
    if asked.default_namespace and (problems := is_dns1123_label(asked.default_namespace)):
        raise RestError(422, f"defaultNamespace: {problems[0]}", [ErrorDetail("defaultNamespace", problems[0])])
    namespace, name = _CONFIG_MAP
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"namespace": namespace, "name": name},
        "data": {_NAMESPACE_KEY: asked.default_namespace},
    }
    await call.caller.transport.write(Request("apply", "v1", "ConfigMap", namespace, name, body, manager="mooring-ui"))
    return SettingsChanged(
        "Settings saved", SettingsConfig(call.service.facts.provider, asked.default_namespace or None)
    )


async def _providers(call: RestCall) -> ProvidersShown:
    return ProvidersShown(_all())


async def _provider(call: RestCall) -> ProviderDetail:
    provider, settings = provider_of(call), call.service.facts.settings
    return ProviderDetail(
        provider.id,
        provider.name,
        provider.description,
        provider.default_namespace,
        provider.crd,
        provider.installation_steps(settings),
        provider.helm_repositories(settings),
        provider.helm_charts(settings),
    )


SETTINGS_ROUTES: Final = (
    Route("GET", "/api/settings", "What is set for everybody, and the providers there are.", _settings, SettingsShown),
    Route("PUT", "/api/settings", "Set it.", _put_settings, SettingsChanged, body=SettingsAsked, writes=True),
    Route("GET", "/api/settings/providers", "The providers there are.", _providers, ProvidersShown),
    Route("GET", "/api/settings/providers/{id}", "One provider, and how it is installed.", _provider, ProviderDetail),
)
