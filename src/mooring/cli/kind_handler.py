"""The informer handler of one kind for commands that follow a cluster: items become views, each at its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from mooring.api.kinds import Kind
from mooring.client.transport import Change, Item
from mooring.kube.errors import MooringError
from mooring.placement.shadow.world import Place, place_of
from mooring.runtime.dispatcher.observedobject import ObjectReader

__all__ = ["KindFollower", "KindHandler"]


class KindFollower(Protocol):
    """Takes what the handlers of several kinds hear of."""

    def take(self, place: Place, view: Any) -> None:
        """An object changed; None for one that is gone."""

    def listed(self, kind: str, objects: dict[Place, Any]) -> None:
        """All objects of a kind."""

    def lost(self, kind: str, why: str) -> None:
        """A kind cannot be read: `why` goes on after "it"."""

    def troubled(self, why: str) -> None:
        """The server cannot be followed at the moment, or with an empty text, can be again."""

    def unreadable(self, error: Exception) -> None:
        """An object was left out."""


class KindHandler:
    """`label` is what objects are filed under; the name of the kind where it is followed once."""

    def __init__(self, follower: KindFollower, api_version: str, kind: str, view: type[Any], label: str = "") -> None:
        self._follower = follower
        self._label = label or kind
        self._read = ObjectReader(Kind(api_version, kind, view)).read
        self._found: dict[Place, Any] = {}

    def begin(self) -> None:
        self._found = {}

    def page(self, items: Sequence[Item]) -> None:
        for item in items:
            try:
                view = self._read(item).view
            except MooringError as error:
                self._follower.unreadable(error)
                continue
            self._found[place_of(self._label, view)] = view

    def listed(self, resource_version: str) -> None:
        found, self._found = self._found, {}
        self._follower.listed(self._label, found)

    def changed(self, changes: Sequence[Change]) -> None:
        for event, item in changes:
            if event == "BOOKMARK":
                continue
            try:
                view = self._read(item).view
                self._follower.take(place_of(self._label, view), None if event == "DELETED" else view)
            except MooringError as error:
                self._follower.unreadable(error)

    def lost(self, why: str) -> None:
        self._follower.lost(self._label, why)

    def troubled(self, why: str) -> None:
        self._follower.troubled(why)
