"""What a scale-up comes to: the resizes, and for every pod why something or nothing is done for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from mooring.features.autoscaler.scale_up.balancing import Resize
from mooring.features.autoscaler.scale_up.expanders.option import ScaleUpOption
from mooring.features.autoscaler.scale_up.pending_pods import PendingPod
from mooring.features.autoscaler.scale_up.pod_groups import PodGroup

__all__ = ["ScaleUpDecision", "ScaleUpResult"]

ScaleUpResult = Literal[
    "Successful", "NoOptionsAvailable", "NotNeeded", "LimitedByMaxNodesTotal", "InCooldown", "Error", "NotTried"
]
_LIMIT_REACHED = "max total nodes in cluster reached"


class ScaleUpDecision(msgspec.Struct, frozen=True):
    result: ScaleUpResult
    # All pods that fit nowhere; those of `groups` are old enough to be helped.
    waiting: Sequence[PendingPod] = ()
    groups: Sequence[PodGroup] = ()
    options: Sequence[ScaleUpOption] = ()
    best: Sequence[ScaleUpOption] = ()
    plan: Sequence[Resize] = ()
    # Node groups that were not tried, with the reason.
    skipped: Mapping[str, str] = msgspec.field(default_factory=dict)
    error: str = ""

    @property
    def chosen(self) -> ScaleUpOption | None:
        return self.best[0] if self.best else None

    @property
    def triggered(self) -> Sequence[PendingPod]:
        """The pods that the scale-up is for."""
        return () if self.chosen is None else self.chosen.pods

    @property
    def awaiting(self) -> Sequence[PendingPod]:
        """Pods that the next loop will look at: some group takes them, but not the one that was chosen."""
        if self.chosen is None:
            return ()
        name = self.chosen.group.name
        return [each for group in self.groups if group.fits and name in group.rejected for each in group.pods]

    @property
    def unschedulable(self) -> Sequence[PodGroup]:
        """Groups of pods that no node group takes."""
        if self.result not in ("Successful", "NoOptionsAvailable", "LimitedByMaxNodesTotal"):
            return ()
        return [group for group in self.groups if not group.fits]

    def pieces(self, group: PodGroup) -> list[str]:
        """Why nothing was done for the pods of a group, as the event counts it; nothing where something was resized."""
        if self.result == "LimitedByMaxNodesTotal":
            return [_LIMIT_REACHED]
        if self.result != "NoOptionsAvailable":
            return []
        counted = Counter(reason for reasons in group.rejected.values() for reason in reasons)
        counted.update(self.skipped.values())
        return sorted(f"{count} {reason}" for reason, count in counted.items())

    def message(self, group: PodGroup) -> str:
        """The event of a pod of a group."""
        return f"pod didn't trigger scale-up: {', '.join(self.pieces(group))}"
