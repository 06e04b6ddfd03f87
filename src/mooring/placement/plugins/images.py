"""Which nodes have which images, as image locality scores them."""

from __future__ import annotations

from collections.abc import Iterable

from mooring.api.core.types import Node


class ImageState:
    """An image by name: its size as the first node reported it, and the slots that have it."""

    __slots__ = ("size", "slots")

    def __init__(self, size: int) -> None:
        self.size = size
        self.slots: set[int] = set()

    def copy(self) -> ImageState:
        twin = ImageState(self.size)
        twin.slots = set(self.slots)
        return twin


class Images:
    def __init__(self) -> None:
        self._states: dict[str, ImageState] = {}

    def get(self, name: str) -> ImageState | None:
        return self._states.get(name)

    def add(self, slot: int, node: Node) -> None:
        for image in node.status.images or ():
            for name in image.names or ():
                self._states.setdefault(name, ImageState(image.size_bytes)).slots.add(slot)

    def remove(self, slot: int, node: Node) -> None:
        for name in _names(node):
            state = self._states.get(name)
            if state is not None:
                state.slots.discard(slot)
                if not state.slots:
                    del self._states[name]

    def copies(self, nodes: Iterable[Node]) -> dict[str, ImageState]:
        """How the images of some nodes are, to be put back later."""
        return {name: self._states[name].copy() for node in nodes for name in _names(node) if name in self._states}

    def put_back(self, states: dict[str, ImageState]) -> None:
        self._states.update(states)


def _names(node: Node) -> Iterable[str]:
    return (name for image in node.status.images or () for name in image.names or ())
