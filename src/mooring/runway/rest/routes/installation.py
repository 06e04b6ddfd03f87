"""Installations: whether a provider is there, what would be done to install it, and how far it is.

Installing takes minutes, so a request changes the provider's Installation and answers at once; the stream tells the
rest.
"""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec

from mooring.features.installation.api.names import API_VERSION
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.runway.feature_views.installations import INSTALLATION_TOPIC, InstallationShown, installation_shown
from mooring.runway.operations import installation as operations
from mooring.runway.operations.provider_facts import provider_facts
from mooring.runway.providers.provider import InstallationStep, Provider
from mooring.runway.rest.errors import RestError
from mooring.runway.rest.responses import json_response
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.routes.settings import provider_of
from mooring.runway.shown import Shown

__all__ = ["INSTALLATION_ROUTES"]


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


class InstallQuery(msgspec.Struct, frozen=True):
    """`force` tries again what has failed."""

    force: bool = False


class RollbackAsked(msgspec.Struct, frozen=True):
    """A revision of Helm's, as `releases` names them."""

    revision: Annotated[int, msgspec.Meta(ge=1)]


class InstallationAnswer(Shown, frozen=True):
    """`installation_status` is where it stands; it goes on after the answer while `installing` is true."""

    success: bool
    message: str
    installing: bool
    already_installed: bool | None = None
    pending_charts: str | None = None
    installation_status: InstallationShown | None = None


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
                status.installed or status.crd_found,
                status.installed and status.operator_running,
                status.version or None,
                status.message or None,
            )
        )
    return RuntimesShown(tuple(found))


async def _install(call: RestCall) -> Any:
    provider, transport = provider_of(call), call.caller.transport
    wanted = provider.installation(call.service.facts.settings)
    if wanted is None:
        text = f"{provider.name} needs nothing installed"
        return json_response(InstallationAnswer(True, text, False, already_installed=True))
    before = await operations.find_installation(transport, provider.id)
    if before is not None:
        await _require(call)
        shown = installation_shown(before)
        if shown.phase == "Failed" and not call.query.force:
            raise RestError(409, f"the last installation has failed: {shown.message}; ?force=true tries again")
        if shown.phase == "Installed" and _is_same(before, wanted):
            text = f"{provider.name} is installed already"
            answer = InstallationAnswer(True, text, False, already_installed=True, installation_status=shown)
            return json_response(answer)
        if shown.phase not in operations.ENDED and _is_same(before, wanted):
            return _under_way(f"{provider.name} is being installed", before)
    return _under_way(f"{provider.name} is being installed", await operations.install(transport, wanted))


async def _require(call: RestCall) -> None:
    """Who may not change an Installation is told so, also where it says already what was asked for."""
    try:
        await call.caller.require("patch", API_VERSION, operations.KIND)
    except NotFoundError:
        # A cluster without the kind has a sentence of its own.
        return


def _is_same(found: Object, wanted: Object) -> bool:
    return all(found["spec"].get(field) == wanted["spec"][field] for field in ("repository", "charts"))


def _under_way(text: str, obj: Object) -> InstallationAnswer:
    shown = installation_shown(obj)
    pending = ", ".join(f"{each.name} ({each.status})" for each in shown.releases if each.is_pending)
    return InstallationAnswer(True, text, True, pending_charts=pending or None, installation_status=shown)


async def _upgrade(call: RestCall) -> InstallationAnswer:
    provider = provider_of(call)
    wanted = provider.installation(call.service.facts.settings)
    if wanted is None:
        raise RestError(422, f"{provider.name} has nothing installed that could be upgraded")
    await _require(call)
    version = wanted["spec"]["charts"][0]["version"]
    made = await operations.install(call.caller.transport, wanted)
    return _under_way(f"{provider.name} is being upgraded to {version}", made)


async def _rollback(call: RestCall) -> InstallationAnswer:
    provider, revision = provider_of(call), call.body.revision
    await _require(call)
    made = await operations.roll_back(call.caller.transport, provider.id, revision)
    return _under_way(f"{provider.name} is being rolled back to revision {revision}", made)


async def _cancel(call: RestCall) -> InstallationAnswer:
    provider = provider_of(call)
    await _require(call)
    made = await operations.cancel(call.caller.transport, provider.id)
    shown = installation_shown(made)
    return InstallationAnswer(True, f"{provider.name} is being cancelled", False, installation_status=shown)


async def _uninstall(call: RestCall) -> InstallationAnswer:
    provider = provider_of(call)
    await operations.uninstall(call.caller.transport, provider.id)
    return InstallationAnswer(True, f"{provider.name} is being uninstalled; its definitions are kept", False)


_ONE: Final = "/api/installation/providers/{id}"
_ASKS: Final = InstallationAnswer
INSTALLATION_ROUTES: Final = (
    Route("GET", "/api/installation", "All installations, and how far they are.", _all, InstallationsShown),
    Route("GET", "/api/installation/helm/status", "Whether charts can be installed here.", _helm, HelmStatusShown),
    Route("GET", "/api/runtimes/status", "All providers, and whether they can be used.", _runtimes, RuntimesShown),
    Route("GET", f"{_ONE}/status", "Whether a provider is installed.", _status, ProviderStatusShown),
    Route("GET", f"{_ONE}/commands", "How to install it by hand.", _commands_shown, ProviderCommandsShown),
    Route("POST", f"{_ONE}/install", "Install it.", _install, _ASKS, InstallQuery, None, 202, writes=True),
    Route("POST", f"{_ONE}/upgrade", "Upgrade it.", _upgrade, _ASKS, None, None, 202, writes=True),
    Route("POST", f"{_ONE}/rollback", "Roll it back.", _rollback, _ASKS, None, RollbackAsked, 202, writes=True),
    Route("POST", f"{_ONE}/cancel", "Stop what is being done.", _cancel, _ASKS, None, None, 202, writes=True),
    Route("POST", f"{_ONE}/uninstall", "Uninstall it.", _uninstall, _ASKS, None, None, 202, writes=True),
)
