"""Whether this server is there, which version it is, and whom it takes the caller for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final, Literal

from mooring.kube.times import timestamp
from mooring.runway.rest.route import RestCall, Route
from mooring.runway.shown import Shown

__all__ = ["HEALTH_ROUTES"]


class HealthShown(Shown, frozen=True):
    status: Literal["healthy"]
    timestamp: str


class VersionShown(Shown, frozen=True):
    version: str
    build_time: str
    git_commit: str


class SessionShown(Shown, frozen=True):
    """`server` is the API server, `version` that of it; `provider` is the one that deploys where none is named."""

    username: str
    groups: tuple[str, ...]
    server: str
    version: str
    provider: str
    embedded: bool


async def _health(call: RestCall) -> HealthShown:
    return HealthShown("healthy", timestamp(datetime.now(UTC)))


async def _version(call: RestCall) -> VersionShown:
    return VersionShown(call.service.facts.version, "", "")


async def _session(call: RestCall) -> SessionShown:
    user, facts = await call.caller.user(), call.service.facts
    version = await call.caller.transport.version()
    return SessionShown(user.username, user.groups, facts.server, version, facts.provider, facts.embedded)


HEALTH_ROUTES: Final = (
    Route("GET", "/api/health", "Whether the server answers.", _health, HealthShown, public=True),
    Route("GET", "/api/health/version", "The version of Mooring.", _version, VersionShown, public=True),
    Route("GET", "/api/session", "Who the caller is, and which cluster this is.", _session, SessionShown),
)
