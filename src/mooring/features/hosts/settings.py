"""How long hosts are waited for; set once for a whole process."""

from __future__ import annotations

from datetime import timedelta
from typing import Final, NamedTuple

# A host that is silent for longer than this is not claimed.
HEARTBEAT_TIMEOUT: Final = timedelta(seconds=120)
# How long an agent has to clean its host before the host is released without it, and what may be set.
CLEANUP_TIMEOUT: Final = timedelta(minutes=5)
# How long a ByoMachine must be absent before a host that it claimed is taken from it: one watch may lag another.
ORPHAN_GRACE: Final = timedelta(seconds=60)
# How long a bootstrap token lives.
TOKEN_LIFETIME: Final = timedelta(minutes=30)
# How often a simulated agent is heard of.
SIMULATED_HEARTBEAT: Final = timedelta(seconds=30)


class HostSettings(NamedTuple):
    heartbeat_timeout: timedelta = HEARTBEAT_TIMEOUT
    cleanup_timeout: timedelta = CLEANUP_TIMEOUT
    orphan_grace: timedelta = ORPHAN_GRACE
    token_lifetime: timedelta = TOKEN_LIFETIME
    simulated_heartbeat: timedelta = SIMULATED_HEARTBEAT
