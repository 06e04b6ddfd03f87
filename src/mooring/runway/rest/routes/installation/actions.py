"""What is asked of an Installation: install, upgrade, roll back, cancel, uninstall.

Installing takes minutes, so a request changes the Installation and answers at once; the stream tells the rest.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated, Any, Final

import msgspec

from mooring.features.installation.api.names import API_VERSION
from mooring.kube.objects import Object
from mooring.kube.status import NotFoundError
from mooring.runway.feature_views.installations import InstallationShown, installation_shown
from mooring.runway.operations import installation as operations
from mooring.runway.providers.installable import Installable
from mooring.runway.rest.errors import RestError
from mooring.runway.rest.responses import json_response
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.shown import Shown

__all__ = ["installation_actions"]


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


_Action = Callable[[RestCall, Installable], Awaitable[Any]]


def installation_actions(
    under: str, target: Callable[[RestCall], Installable], runs: Callable[[RestCall], Awaitable[bool]]
) -> tuple[Route, ...]:
    """The routes of what is installed under a path: `target` says what that is, `runs` whether it is there anyhow."""
    answer: Final = InstallationAnswer

    def on(action: _Action) -> Callable[[RestCall], Awaitable[Any]]:
        async def handler(call: RestCall) -> Any:
            return await action(call, target(call))

        return handler

    async def install(call: RestCall, wanted: Installable) -> Any:
        return await _install(call, wanted, runs)

    return (
        Route("POST", f"{under}/install", "Install it.", on(install), answer, InstallQuery, None, 202, writes=True),
        Route("POST", f"{under}/upgrade", "Upgrade it.", on(_upgrade), answer, None, None, 202, writes=True),
        Route("POST", f"{under}/rollback", "Roll it back.", on(_rollback), answer, None, RollbackAsked, 202, True),
        Route("POST", f"{under}/cancel", "Stop what is being done.", on(_cancel), answer, None, None, 202, True),
        Route("POST", f"{under}/uninstall", "Uninstall it.", on(_uninstall), answer, None, None, 202, writes=True),
    )


async def _install(call: RestCall, target: Installable, runs: Callable[[RestCall], Awaitable[bool]]) -> Any:
    transport = call.caller.transport
    wanted = target.installation(call.service.facts.settings)
    if wanted is None:
        text = f"{target.name} needs nothing installed"
        return json_response(InstallationAnswer(True, text, False, already_installed=True))
    before = await operations.find_installation(transport, target.id)
    if before is None and not call.query.force and await runs(call):
        await _require(call)
        text = (
            f"{target.name} runs already, and not by Mooring; upgrade it, or ?force=true, to have Mooring take it over"
        )
        return json_response(InstallationAnswer(True, text, False, already_installed=True))
    if before is not None:
        await _require(call)
        shown = installation_shown(before)
        if shown.phase == "Failed" and not call.query.force:
            raise RestError(409, f"the last installation has failed: {shown.message}; ?force=true tries again")
        if shown.phase == "Installed" and _is_same(before, wanted):
            text = f"{target.name} is installed already"
            answer = InstallationAnswer(True, text, False, already_installed=True, installation_status=shown)
            return json_response(answer)
        if shown.phase not in operations.ENDED and _is_same(before, wanted):
            return _under_way(f"{target.name} is being installed", before)
    return _under_way(f"{target.name} is being installed", await operations.install(transport, wanted))


async def _require(call: RestCall) -> None:
    """Who may not change an Installation is told so, also where it says already what was asked for."""
    # A cluster without the kind has a sentence of its own.
    with suppress(NotFoundError):
        await call.caller.require("patch", API_VERSION, operations.KIND)


def _is_same(found: Object, wanted: Object) -> bool:
    return all(found["spec"].get(field) == wanted["spec"][field] for field in ("repository", "charts"))


def _under_way(text: str, obj: Object) -> InstallationAnswer:
    shown = installation_shown(obj)
    pending = ", ".join(f"{each.name} ({each.status})" for each in shown.releases if each.is_pending)
    return InstallationAnswer(True, text, True, pending_charts=pending or None, installation_status=shown)


async def _upgrade(call: RestCall, target: Installable) -> InstallationAnswer:
    wanted = target.installation(call.service.facts.settings)
    if wanted is None:
        raise RestError(422, f"{target.name} has nothing installed that could be upgraded")
    await _require(call)
    version = wanted["spec"]["charts"][0]["version"]
    made = await operations.install(call.caller.transport, wanted)
    return _under_way(f"{target.name} is being upgraded to {version}", made)


async def _rollback(call: RestCall, target: Installable) -> InstallationAnswer:
    revision = call.body.revision
    await _require(call)
    made = await operations.roll_back(call.caller.transport, target.id, revision)
    return _under_way(f"{target.name} is being rolled back to revision {revision}", made)


async def _cancel(call: RestCall, target: Installable) -> InstallationAnswer:
    await _require(call)
    made = await operations.cancel(call.caller.transport, target.id)
    shown = installation_shown(made)
    return InstallationAnswer(True, f"{target.name} is being cancelled", False, installation_status=shown)


async def _uninstall(call: RestCall, target: Installable) -> InstallationAnswer:
    await operations.uninstall(call.caller.transport, target.id)
    return InstallationAnswer(True, f"{target.name} is being uninstalled; its definitions are kept", False)
