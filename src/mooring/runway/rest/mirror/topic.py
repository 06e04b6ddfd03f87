"""One topic: a list that changes, as the elements of the list and as the changes of a stream.

An element is encoded once, when it has become another; lists and streams are made of these bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from mooring.runway.rest.mirror.follower import FollowedKind
from mooring.runway.rest.mirror.history import NumberedChange, TopicHistory

__all__ = ["Element", "Topic", "TopicSource"]


class Element(NamedTuple):
    value: Any
    encoded: bytes


class TopicSource(NamedTuple):
    """What a topic is made of.

    `changed` gives the keys of the elements that may have changed since it was asked last, `element` one of them as it
    is now; None where there is none. Without the `required` kinds there is no answer, without the `optional` ones less.
    A cluster may lack the `custom` ones, and has no objects of them then; a caller who may not read them is told so.
    """

    name: str
    required: tuple[FollowedKind, ...]
    changed: Callable[[], Iterable[str]]
    element: Callable[[str], Any | None]
    optional: tuple[FollowedKind, ...] = ()
    custom: tuple[FollowedKind, ...] = ()

    @property
    def kinds(self) -> tuple[FollowedKind, ...]:
        return (*self.required, *self.custom, *self.optional)


class Topic:
    def __init__(self, source: TopicSource, number: int) -> None:
        self.source = source
        self.elements: dict[str, Element] = {}
        self.history = TopicHistory(number)
        self._list: bytes | None = None
        self._encode = msgspec.json.Encoder().encode

    def start(self) -> None:
        """Take all elements in, without a change for each: nobody has seen the topic before."""
        for _ in self._differences():
            pass

    def flush(self, next_id: Callable[[], tuple[int, str]]) -> None:
        """Turn what has changed into changes of the history; what went comes first, as a name may be used again."""
        for kind, encoded in sorted(self._differences(), key=lambda each: each[0] != "DELETED"):
            number, shown = next_id()
            self.history.add(NumberedChange(number, frame(self.source.name, kind, encoded, shown)))

    def _differences(self) -> Iterator[tuple[str, bytes]]:
        for key in list(self.source.changed()):
            old, value = self.elements.get(key), self.source.element(key)
            if value is None:
                if old is not None:
                    del self.elements[key]
                    self._list = None
                    yield "DELETED", old.encoded
            elif old is None or old.value != value:
                new = self.elements[key] = Element(value, self._encode(value))
                self._list = None
                yield "ADDED" if old is None else "MODIFIED", new.encoded

    def list(self) -> bytes:
        """All elements as a JSON array, by key."""
        if self._list is None:
            elements = self.elements
            self._list = b"[%s]" % b",".join([elements[key].encoded for key in sorted(elements)])
        return self._list

    def snapshot(self, shown_id: str) -> bytes:
        """The whole topic as changes: a RESET, and every element. Only the last frame has the id to resume from."""
        name = self.source.name
        frames = [frame(name, "RESET", None, "")]
        frames += [frame(name, "ADDED", self.elements[key].encoded, "") for key in sorted(self.elements)]
        frames[-1] = b"id: %s\n%s" % (shown_id.encode(), frames[-1]) if shown_id else frames[-1]
        return b"".join(frames)


def frame(topic: str, kind: str, encoded: bytes | None, shown_id: str) -> bytes:
    """One server-sent event."""
    head = f"event: {topic}\n" + (f"id: {shown_id}\n" if shown_id else "") + f'data: {{"type":"{kind}"'
    body = b"" if encoded is None else b',"object":' + encoded
    return head.encode() + body + b"}\n\n"
