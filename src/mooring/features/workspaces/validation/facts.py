"""What validation and controllers ask of a cluster about a Workspace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from mooring.api.core.views import Node

__all__ = ["ClusterFacts"]


class ClusterFacts(Protocol):
    """A cluster, as far as Workspaces depend on it."""

    @property
    def nodes(self) -> tuple[Node, ...]: ...

    def config_map(self, namespace: str, name: str) -> Mapping[str, str] | None:
        """The data of a ConfigMap; None where there is none."""

    def has_csi_driver(self, name: str) -> bool: ...
