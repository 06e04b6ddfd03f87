"""The definitions that a provider leaves behind when it is uninstalled, and their end."""

from __future__ import annotations

from typing import Final

from mooring.runway.operations.definitions import DEFINITION, remove_definitions
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.rest.routes.settings import provider_of
from mooring.runway.shown import Shown

__all__ = ["DEFINITION_ROUTES"]


class DefinitionsRemoved(Shown, frozen=True):
    """`kept` are definitions that Mooring's own controllers use."""

    success: bool
    message: str
    deleted: tuple[str, ...]
    kept: tuple[str, ...]


async def _remove(call: RestCall) -> DefinitionsRemoved:
    provider = provider_of(call)
    await call.caller.require("delete", *DEFINITION)
    removed = await remove_definitions(call.caller.transport, provider, embedded=call.service.facts.embedded)
    return DefinitionsRemoved(True, removed.sentence, removed.deleted, removed.kept)


_PATH: Final = "/api/installation/providers/{id}/uninstall-crds"
_DOES: Final = "Delete its definitions, if none of their objects is left."
DEFINITION_ROUTES: Final = (Route("POST", _PATH, _DOES, _remove, DefinitionsRemoved, writes=True),)
