"""How long hosts are waited for: timeouts that people set for a whole process, each with its default."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final, NamedTuple

__all__ = ["TIMEOUTS", "HostSettings"]


class HostSettings(NamedTuple):
    # A host that is silent for longer than this is not claimed.
    heartbeat_timeout: timedelta = timedelta(seconds=120)
    # How long an agent has to clean its host before the claim is ended without it.
    cleanup_timeout: timedelta = timedelta(minutes=5)
    # How long a ByoMachine must be absent before a host that it claimed is taken from it: one watch may lag another.
    orphan_grace: timedelta = timedelta(seconds=60)
    # How long a bootstrap token lives.
    token_lifetime: timedelta = timedelta(minutes=30)
    # How often a simulated agent is heard of.
    simulated_heartbeat: timedelta = timedelta(seconds=30)

    @classmethod
    def of(cls, timeouts: Mapping[str, timedelta]) -> HostSettings:
        return cls(**{_FIELDS[name]: length for name, length in timeouts.items()})


# By the words that `--timeouts` takes.
_FIELDS: Final = {
    "host-heartbeat": "heartbeat_timeout",
    "host-cleanup": "cleanup_timeout",
    "host-orphan": "orphan_grace",
    "bootstrap-token": "token_lifetime",
    "simulated-host-heartbeat": "simulated_heartbeat",
}
TIMEOUTS: Final[Mapping[str, timedelta]] = {
    name: getattr(HostSettings(), field_name) for name, field_name in _FIELDS.items()
}
