"""Those whose rights Helm gets: kinds that access rules name and of which there are no objects to read here."""

from __future__ import annotations

from mooring.api.kinds import Kind
from mooring.api.meta import Bare

USER = Kind("v1", "User", Bare)
GROUP = Kind("v1", "Group", Bare)
SERVICE_ACCOUNT = Kind("v1", "ServiceAccount", Bare)
