"""What a scheduler did with a pod, read from the pod itself: it was bound, or a condition says why it was not.

The condition PodScheduled holds the text of the FailedScheduling event, uncut, and comes with the pod's other changes
in one order. Events come apart from them, are cut at 1,024 bytes and merged when they repeat.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import msgspec

from mooring.api.core.types import Pod, PodStatus
from mooring.api.meta import Condition
from mooring.placement.snapshot import VIEWS

SCHEDULERS: Final = ("", "default-scheduler")
REASONS: Final = ("Unschedulable", "SchedulerError")


class WatchedStatus(PodStatus, frozen=True):
    conditions: tuple[Condition, ...] | None = None


class WatchedPod(Pod, frozen=True):
    """A pod with what its scheduler says about it."""

    status: WatchedStatus = WatchedStatus()


WATCHED: Final[dict[tuple[str, str], type[msgspec.Struct]]] = {
    **{kind: view for kind, view in VIEWS.items() if kind[1] != "RuntimeClass"},
    ("v1", "Pod"): WatchedPod,
}
"""How the kinds are read that a shadow follows. Pods have what their RuntimeClass adds when they are seen."""


class Bound(NamedTuple):
    """`is_expected` where the scheduler has decided and is about to bind the pod, after what it writes before."""

    node: str
    is_expected: bool = False

    def __str__(self) -> str:
        return f"bound to {self.node}"


class Failed(NamedTuple):
    """`nominated` is the node that preemption makes room on, if any."""

    message: str
    nominated: str = ""

    def __str__(self) -> str:
        nominated = f", nominated to {self.nominated}" if self.nominated else ""
        return f"left pending{nominated}: {self.message}"


Outcome = Bound | Failed


def waits(pod: Any) -> bool:
    """Whether the default scheduler has this pod to place."""
    return (
        not pod.spec.node_name
        and pod.status.phase in ("", "Pending")
        and pod.metadata.deletion_timestamp is None
        and not pod.spec.scheduling_gates
        and pod.spec.scheduler_name in SCHEDULERS
    )


def outcome_of(old: WatchedPod, new: WatchedPod) -> Outcome | None:
    """What the scheduler did between two sightings of a pod that waited, if it did anything."""
    if not waits(old):
        return None
    if new.spec.node_name:
        return Bound(new.spec.node_name)
    said, nominated = _said(new), new.status.nominated_node_name
    if _is_expected(old, new):
        return Bound(nominated, is_expected=True)
    if not said or (said == _said(old) and nominated in ("", old.status.nominated_node_name)):
        return None
    return Failed(said, nominated)


def _is_expected(old: WatchedPod, new: WatchedPod) -> bool:
    """Whether a nomination tells where the pod is about to be bound, and not where preemption makes room for it.

    A scheduler that preempts says at the same time why the pod waits, and not in the words from before: those told that
    preemption does not help.
    """
    nominated = new.status.nominated_node_name
    if not nominated or nominated == old.status.nominated_node_name or _said(new) != _said(old):
        return False
    return not old.status.nominated_node_name or not _said(new)


def assumed(pod: WatchedPod, node: str) -> WatchedPod:
    """A pod as the scheduler holds it that has decided on a node."""
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node))


def _said(pod: WatchedPod) -> str:
    for condition in pod.status.conditions or ():
        if condition.type == "PodScheduled" and condition.status == "False" and condition.reason in REASONS:
            return condition.message
    return ""
