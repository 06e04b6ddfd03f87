"""The storage of objects: the protocol, and the storage in memory.

Stored objects are shared, never copied: a reader gets the very dict that is stored, and so does the watch history. They
must never be mutated; to change an object, build a new dict around the parts that stay.
`CheckedStorage` finds breaches of that, for tests.

Keys are ordered as the real server orders them, by the bytes of `namespace/name`, because pages depend on it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator
from typing import Final, Protocol

import msgspec

from mooring.kube.objects import Object
from mooring.kube.status import UnknownError

__all__ = [
    "MAX_OBJECT_BYTES",
    "MAX_PENDING_BYTES",
    "CheckedStorage",
    "LimitedStorage",
    "MemoryStorage",
    "Storage",
    "check_size",
]


# How large a stored object may be as JSON. It is etcd's limit, in which an object is a little smaller as protobuf.
MAX_OBJECT_BYTES: Final = 1536 * 1024
# How much may be written before it is durable: all of it must find a place on a disk that is full by then.
MAX_PENDING_BYTES: Final = 8 * 1024 * 1024
# Up to so many new names are inserted one by one; for more, the names are sorted again.
_MAX_INSERTED_NAMES: Final = 64


class Storage(Protocol):
    """One writer, one revision that grows with every change.

    A change is seen by readers at once and lasts once `commit` returns; no client may
    learn of it before. What is committed together is lost together or not at all.
    """

    @property
    def revision(self) -> int:
        """The revision of the last change."""

    @property
    def durable(self) -> int:
        """The revision of the last change that a crash cannot undo."""

    @property
    def pending_bytes(self) -> int:
        """How much of the changes is not durable yet."""

    def commit(self) -> None:
        """Make every change so far last."""

    def stage(self) -> Callable[[], None]:
        """The same in two steps: what is returned makes every change up to this call last.

        It is called once, before anything else is staged, and may be called on another thread while objects are read
        and written here.
        """

    def get(self, store: str, namespace: str, name: str) -> Object | None: ...

    def items(self, store: str, namespace: str | None = None) -> list[Object]:
        """The objects of a store, or of one namespace in it, in the order of their keys."""

    def after(self, store: str, namespace: str | None, start: str) -> Iterator[Object]:
        """The same from behind a key on, one by one; nothing may be written meanwhile. "" is before all keys."""

    def count_after(self, store: str, namespace: str | None, start: str) -> int:
        """How many objects that would be."""

    def everything(self) -> list[tuple[str, str, str, Object]]:
        """Every object with its store, namespace and name."""

    def is_empty(self, store: str) -> bool:
        """Whether there is no object in a store; costs the same however many there are."""

    def put(self, store: str, namespace: str, name: str, obj: Object, revision: int) -> None: ...

    def remove(self, store: str, namespace: str, name: str, revision: int) -> None: ...


def check_size(encoded: bytes) -> None:
    """Refuse an object that is too large to be stored, in the words of etcd, which is what clients know."""
    if len(encoded) > MAX_OBJECT_BYTES:
        raise UnknownError("etcdserver: request is too large")


class MemoryStorage:
    """Objects in dicts: stores, namespaces, names.

    An order is made when it is asked for. From then on, names that come and go are noted, and put in their places when
    the order is asked for again: reading a store page by page costs the pages, and writing costs nothing.
    """

    def __init__(self, revision: int = 1) -> None:
        # 1 is the revision of the empty store; 0 means "any version" in requests.
        self.revision = revision
        self._stores: dict[str, dict[str, dict[str, Object]]] = {}
        self._names: dict[tuple[str, str], list[str]] = {}
        # Names of those orders that have come or gone since.
        self._moved: dict[tuple[str, str], dict[str, None]] = {}

    def get(self, store: str, namespace: str, name: str) -> Object | None:
        try:
            return self._stores[store][namespace][name]
        except KeyError:
            return None

    def items(self, store: str, namespace: str | None = None) -> list[Object]:
        spaces = self._stores.get(store)
        if not spaces:
            return []
        if namespace is not None:
            return self._in_namespace(store, namespace, spaces)
        if len(spaces) == 1:
            return self._in_namespace(store, next(iter(spaces)), spaces)
        found: list[Object] = []
        for space in sorted(spaces, key=lambda name: f"{name}/"):
            found += self._in_namespace(store, space, spaces)
        return found

    def everything(self) -> list[tuple[str, str, str, Object]]:
        return [
            (store, namespace, name, obj)
            for store, spaces in self._stores.items()
            for namespace, objects in spaces.items()
            for name, obj in objects.items()
        ]

    def _in_namespace(self, store: str, namespace: str, spaces: dict[str, dict[str, Object]]) -> list[Object]:
        objects = spaces.get(namespace)
        if not objects:
            return []
        return [objects[name] for name in self._order(store, namespace, objects)]

    def _order(self, store: str, namespace: str, objects: dict[str, Object]) -> list[str]:
        key = store, namespace
        names, moved = self._names.get(key), self._moved.pop(key, None)
        if names is None:
            names = self._names[key] = sorted(objects)
        elif moved:
            for name in moved:
                at = bisect_left(names, name)
                listed = at < len(names) and names[at] == name
                if listed and name not in objects:
                    del names[at]
                elif not listed and name in objects:
                    names.insert(at, name)
        return names

    def after(self, store: str, namespace: str | None, start: str) -> Iterator[Object]:
        for objects, names, at in self._parts_after(store, namespace, start):
            for number in range(at, len(names)):
                yield objects[names[number]]

    def count_after(self, store: str, namespace: str | None, start: str) -> int:
        return sum(len(names) - at for _, names, at in self._parts_after(store, namespace, start))

    def is_empty(self, store: str) -> bool:
        return not self._stores.get(store)

    def _parts_after(
        self, store: str, namespace: str | None, start: str
    ) -> Iterator[tuple[dict[str, Object], list[str], int]]:
        """The namespaces from that of a key on: their objects, the names in order, and where in them to begin."""
        spaces = self._stores.get(store, {})
        first, slash, name = start.partition("/")
        wanted = [f"{space}/" for space in (spaces if namespace is None else (namespace,)) if space in spaces]
        for key in sorted(wanted):
            if key >= f"{first}{slash}":
                space = key[:-1]
                names = self._order(store, space, spaces[space])
                yield spaces[space], names, bisect_right(names, name) if start and space == first else 0

    def put(self, store: str, namespace: str, name: str, obj: Object, revision: int) -> None:
        objects = self._stores.setdefault(store, {}).setdefault(namespace, {})
        if name not in objects:
            self._move(store, namespace, name)
        objects[name] = obj
        self.revision = revision

    def remove(self, store: str, namespace: str, name: str, revision: int) -> None:
        spaces = self._stores[store]
        del spaces[namespace][name]
        if spaces[namespace]:
            self._move(store, namespace, name)
        else:
            del spaces[namespace]
            self._names.pop((store, namespace), None)
            self._moved.pop((store, namespace), None)
        self.revision = revision

    def _move(self, store: str, namespace: str, name: str) -> None:
        key = store, namespace
        if key in self._names:
            moved = self._moved.setdefault(key, {})
            moved[name] = None
            if len(moved) > _MAX_INSERTED_NAMES:
                del self._names[key], self._moved[key]

    @property
    def durable(self) -> int:
        """The revision of the last change: memory has nothing that lasts longer."""
        return self.revision

    @property
    def pending_bytes(self) -> int:
        """None: memory has nothing that lasts longer."""
        return 0

    def commit(self) -> None:
        """Nothing to do in memory."""

    def stage(self) -> Callable[[], None]:
        return self.commit


class LimitedStorage(MemoryStorage):
    """A memory storage with the limit of one on disk, for a server whose objects need not last."""

    def put(self, store: str, namespace: str, name: str, obj: Object, revision: int) -> None:
        check_size(msgspec.json.encode(obj))
        super().put(store, namespace, name, obj, revision)


class CheckedStorage(MemoryStorage):
    """A memory storage that remembers how each object looked when it was stored: slow and strict, for tests."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: list[tuple[Object, bytes]] = []

    def put(self, store: str, namespace: str, name: str, obj: Object, revision: int) -> None:
        super().put(store, namespace, name, obj, revision)
        self._seen.append((obj, msgspec.json.encode(obj)))

    def verify(self) -> None:
        """Raise when any object that was ever stored has been changed in place since."""
        for obj, text in self._seen:
            if msgspec.json.encode(obj) != text:
                raise AssertionError(f"a stored object was mutated; it was {text.decode()} and now is {obj}")
