"""The cluster at one moment: who is ready, what is on its way, and which groups may grow."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple

import msgspec

from mooring.features.autoscaler.backoff import GroupBackoff, backed_off
from mooring.features.autoscaler.cluster_state.memory import Memory, ScaleUpRequest
from mooring.features.autoscaler.settings import AutoscalerSettings

__all__ = ["NO_READINESS", "AcceptableRange", "GroupStatus", "ObservedState", "Readiness"]

GroupStatus = Literal["InProgress", "Unhealthy", "Backoff", "NoActivity"]


class Readiness(NamedTuple):
    """The nodes of a group, or of the cluster, by how far they have come. The lists hold names."""

    registered: tuple[str, ...] = ()
    ready: tuple[str, ...] = ()
    unready: tuple[str, ...] = ()
    not_started: tuple[str, ...] = ()
    # Nodes whose instance is gone.
    deleted: tuple[str, ...] = ()
    unregistered: tuple[str, ...] = ()
    long_unregistered: tuple[str, ...] = ()


NO_READINESS = Readiness()


class AcceptableRange(NamedTuple):
    """How many nodes a group may be expected to have while requests run."""

    min_nodes: int
    target: int


class ObservedState(msgspec.Struct, frozen=True):
    now: datetime
    settings: AutoscalerSettings
    memory: Memory
    node_count: int
    total: Readiness
    # Only of groups that have nodes or instances.
    readiness: Mapping[str, Readiness]
    ranges: Mapping[str, AcceptableRange]
    # Scale-ups that have timed out just now.
    timed_out: Mapping[str, ScaleUpRequest] = msgspec.field(default_factory=dict)

    @property
    def healthy(self) -> bool:
        """Whether so few nodes are unready that the cluster as a whole may be scaled."""
        return not self._too_many(len(self.total.unready), self.node_count)

    def group_healthy(self, group: str) -> bool:
        acceptable = self.ranges.get(group)
        if acceptable is None:
            return False
        readiness = self.readiness.get(group)
        if readiness is None:
            return acceptable.target == 0 or (acceptable.min_nodes == 0 and acceptable.target > 0)
        missing = max(0, acceptable.min_nodes - len(readiness.ready))
        return not self._too_many(missing, len(readiness.ready) + len(readiness.unready) + len(readiness.not_started))

    def _too_many(self, unready: int, nodes: int) -> bool:
        settings = self.settings
        return (
            unready > settings.ok_total_unready_count and unready > settings.max_total_unready_percentage / 100 * nodes
        )

    def backoff(self, group: str) -> GroupBackoff | None:
        return backed_off(self.memory.backoffs, group, self.now)

    def safe_to_scale(self, group: str) -> bool:
        return self.group_healthy(group) and self.backoff(group) is None

    def is_scaling_up(self, group: str) -> bool:
        return group in self.memory.requests and self.awaits_nodes(group)

    def awaits_nodes(self, group: str) -> bool:
        """Whether a group was asked for more nodes than have started."""
        acceptable = self.ranges.get(group)
        if acceptable is None:
            return False
        readiness = self.readiness.get(group, NO_READINESS)
        return acceptable.target > len(readiness.registered) - len(readiness.not_started)

    def upcoming(self, group: str) -> int:
        """How many nodes are still to come, or to start; never below zero."""
        readiness = self.readiness.get(group, NO_READINESS)
        here = len(readiness.ready) + len(readiness.unready) + len(readiness.long_unregistered)
        return max(0, self.ranges[group].target - here)

    def status(self, group: str) -> GroupStatus:
        if self.is_scaling_up(group):
            return "InProgress"
        if not self.group_healthy(group):
            return "Unhealthy"
        return "Backoff" if self.backoff(group) is not None else "NoActivity"
