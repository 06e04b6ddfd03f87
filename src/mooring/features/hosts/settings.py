"""How long hosts are waited for: flags that people set for a whole process, each with its default."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from mooring.runtime.settings import duration

if TYPE_CHECKING:
    from mooring.runtime.view import View

__all__ = ["SETTINGS", "HostSettings"]

_HEARTBEAT_TIMEOUT: Final = duration(
    "host-heartbeat-timeout", timedelta(seconds=120), "How long a host may be silent before it is not claimed (120s)."
)
_CLEANUP_TIMEOUT: Final = duration(
    "host-cleanup-timeout", timedelta(minutes=5), "How long an agent may take to clean its host (5m)."
)
# One watch may lag another.
_ORPHAN_TIMEOUT: Final = duration(
    "host-orphan-timeout", timedelta(seconds=60), "How long a ByoMachine must be absent before its claim ends (60s)."
)
_TOKEN_LIFETIME: Final = duration(
    "bootstrap-token-lifetime", timedelta(minutes=30), "How long a token lives by which a host joins (30m)."
)
_SIMULATED_HEARTBEAT: Final = duration(
    "simulated-host-heartbeat", timedelta(seconds=30), "How often a host is heard of that Mooring plays (30s)."
)
SETTINGS: Final = (_HEARTBEAT_TIMEOUT, _CLEANUP_TIMEOUT, _ORPHAN_TIMEOUT, _TOKEN_LIFETIME, _SIMULATED_HEARTBEAT)


class HostSettings(NamedTuple):
    """The settings as a controller of hosts was told them."""

    heartbeat_timeout: timedelta
    cleanup_timeout: timedelta
    orphan_grace: timedelta
    token_lifetime: timedelta
    simulated_heartbeat: timedelta

    @classmethod
    def of(cls, view: View) -> HostSettings:
        return cls(*(view.settings[each] for each in SETTINGS))
