"""All providers by their ids, and what they make of a deployment."""

from __future__ import annotations

from typing import Any, Final

from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.deployments.reading import ConfigReading, read_config
from mooring.runway.problems import DeploymentError, Problem, nearest
from mooring.runway.providers.gpu_operator import GPU_OPERATOR
from mooring.runway.providers.installable import Installable
from mooring.runway.providers.kaito.provider import KAITO
from mooring.runway.providers.mooring.provider import MOORING
from mooring.runway.providers.provider import Provider
from mooring.runway.settings import RunwaySettings

__all__ = [
    "PROVIDERS",
    "default_provider",
    "deployment_manifests",
    "find_installable",
    "find_provider",
    "read_deployment",
]

PROVIDERS: Final = {provider.id: provider for provider in (MOORING, KAITO)}
_INSTALLABLES: Final[dict[str, Installable]] = {**PROVIDERS, GPU_OPERATOR.id: GPU_OPERATOR}


def default_provider(*, embedded: bool) -> Provider:
    """On the embedded cluster our own controllers run, and there is nothing to install."""
    return MOORING if embedded else KAITO


def find_provider(name: str) -> Provider:
    """Raises DeploymentError with the names there are."""
    found = PROVIDERS.get(name)
    if found is None:
        text = f'there is no provider "{name}"; choose {" or ".join(PROVIDERS)}{nearest(name, PROVIDERS)}'
        raise DeploymentError([Problem("provider", text)])
    return found


def find_installable(name: str) -> Installable:
    """A provider, or the GPU Operator. Raises InputError with the names there are."""
    found = _INSTALLABLES.get(name)
    if found is None:
        known = f"{', '.join(PROVIDERS)} or {GPU_OPERATOR.id}"
        raise InputError(f'nothing called "{name}" can be installed; choose {known}{nearest(name, _INSTALLABLES)}')
    return found


def read_deployment(value: Any, *, embedded: bool, namespace: str = "") -> ConfigReading:
    """A deployment that its provider takes; by default in the provider's own namespace. Raises DeploymentError."""
    named = value.get("provider") if isinstance(value, dict) else None
    provider = find_provider(named) if isinstance(named, str) and named else default_provider(embedded=embedded)
    reading = read_config(value, provider=provider.id, namespace=namespace or provider.default_namespace)
    if problems := provider.validate(reading.config):
        raise DeploymentError(problems)
    return reading


def deployment_manifests(config: DeploymentConfig, settings: RunwaySettings) -> list[Object]:
    """All objects of a deployment, the main one first."""
    return PROVIDERS[config.provider].manifests(config, settings)
