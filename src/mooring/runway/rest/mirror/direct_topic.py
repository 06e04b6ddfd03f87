"""A topic whose elements are made of one object each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from mooring.runway.rest.mirror.follower import FollowedKind
from mooring.runway.rest.mirror.topic import TopicSource

__all__ = ["direct_topic"]


class _Elements:
    def __init__(self) -> None:
        self.records: dict[str, Any] = {}
        # In the order in which they changed.
        self._changed: dict[str, None] = {}

    def told(self, key: str, old: Any | None, new: Any | None) -> None:
        self._changed[key] = None
        if new is None:
            self.records.pop(key, None)
        else:
            self.records[key] = new

    def take_changed(self) -> Iterable[str]:
        found, self._changed = self._changed, {}
        return found


def direct_topic(
    name: str, followed: FollowedKind
) -> tuple[TopicSource, Callable[[str, Any | None, Any | None], None]]:
    """The topic, and what takes its records in. A cluster that does not serve the kind has an empty list."""
    elements = _Elements()
    return TopicSource(name, (), elements.take_changed, elements.records.get, custom=(followed,)), elements.told
