"""Plugins that look at one node at a time, for one incoming pod: how they take part beside the vectorised ones.

Such a plugin is made anew for a pod and holds what it found out before any node was looked at. It may turn the pod away
there and then (`Rejection`), have nothing to say about this pod (it is left out), or be asked about nodes. A reason
whose code is ERROR ends the whole attempt when it is the first thing that is wrong with a node that is looked at.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from mooring.placement.labels import Mask
from mooring.placement.pods import PodInfo
from mooring.placement.verdicts import ERROR, Reason, Rejection

if TYPE_CHECKING:
    from mooring.placement.devices.dynamic_resources import DynamicResources


DYNAMIC_RESOURCES = "DynamicResources"


class NodeChange(NamedTuple):
    """Pods that are thought to be on a node, or gone from it, beside those that are there."""

    added: tuple[PodInfo, ...] = ()
    removed: tuple[PodInfo, ...] = ()

    def pods(self, present: dict[str, PodInfo]) -> Iterator[PodInfo]:
        """The pods on the node after the change."""
        gone = {pod.key for pod in self.removed}
        yield from (pod for key, pod in present.items() if key not in gone)
        yield from self.added


UNCHANGED = NodeChange()


class NodeCheck(ABC):
    """One plugin and one incoming pod."""

    plugin: ClassVar[str]
    # Every reason that it can give, errors aside, in the order in which they are told.
    reasons: ClassVar[tuple[Reason, ...]]
    # Whether other pods on the node have no say.
    steady: ClassVar[bool] = False

    @abstractmethod
    def at(self, slot: int, change: NodeChange = UNCHANGED) -> tuple[Reason, ...]:
        """Why a node does not take the pod; nothing where it does."""

    def narrow(self, mask: Mask) -> dict[int, Reason]:
        """Leave out the nodes of a mask that are rejected, as asking about each of them would; the errors, by slot."""
        errors = {}
        for slot in np.flatnonzero(mask).tolist():
            if found := self.at(slot):
                mask[slot] = False
                if found[0].code == ERROR:
                    errors[slot] = found[0]
        return errors

    def error(self, text: str) -> Reason:
        return Reason(self.plugin, ERROR, text)


class NodeChecks(NamedTuple):
    """The checks of a pod by their places among the filters, or why it is turned away before any node is looked at."""

    # Behind the node's resources, before spreading.
    volumes: tuple[NodeCheck, ...] = ()
    # Behind all others.
    devices: DynamicResources | None = None
    rejection: Rejection | None = None

    @property
    def all(self) -> tuple[NodeCheck, ...]:
        return self.volumes if self.devices is None else (*self.volumes, self.devices)


NO_CHECKS = NodeChecks()
