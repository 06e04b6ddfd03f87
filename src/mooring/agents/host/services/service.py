"""A service of the node, and what every way of running one can do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

__all__ = ["NodeService", "ServiceManager"]


class NodeService(NamedTuple):
    """A program that runs until it is stopped and is started again when it ends."""

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path


class ServiceManager(Protocol):
    async def ensure(self, service: NodeService) -> None:
        """Have the service run, whether it was started by this agent or an earlier one."""

    async def is_running(self, name: str) -> bool: ...

    async def stop(self, name: str) -> None:
        """End the service for good; nothing happens where it does not run."""

    async def stop_pods(self) -> None:
        """Remove the control groups of pods, where the manager of services has made them."""

    async def close(self) -> None:
        """The agent ends and the services go on."""
