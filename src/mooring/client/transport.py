"""The transport to an API server: one synchronous protocol, for simulations, and one that is awaited.

Refusals are `ApiError`s. A request that cannot have reached the server is `Unreachable`; a write whose answer never
came is `UnknownOutcome`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Final, Literal, NamedTuple, Protocol

import msgspec

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

# An object as a transport has it: plain, or as the JSON that came over the wire.
Item = Object | msgspec.Raw
Propagation = Literal["Foreground", "Background", "Orphan"]
Verb = Literal["create", "apply", "patch", "delete", "bind", "evict"]


def plain(item: Item) -> Object:
    found: Object = msgspec.json.decode(item) if isinstance(item, msgspec.Raw) else item
    return found


class UnknownOutcome(MooringError):
    """A request whose answer was lost: it may have been carried out or not."""


class Unreachable(MooringError):
    """A server that cannot be talked to; nothing was written."""


class Request(NamedTuple):
    """One write, with the uid and resourceVersion that it was decided on."""

    verb: Verb
    api_version: str
    kind: str
    namespace: str
    name: str
    body: Object
    subresource: str = ""
    manager: str = ""
    uid: str | None = None
    resource_version: str | None = None
    propagation: Propagation | None = None
    grace: int | None = None
    # Whether the answer need not show more of the object than its metadata.
    metadata_only: bool = False


class Scope(NamedTuple):
    """The selection of a list or a watch: by default all objects of a kind, whole."""

    namespace: str = ""
    labels: str = ""
    fields: str = ""
    metadata_only: bool = False


EVERYTHING: Final = Scope()


class Listed(NamedTuple):
    items: Sequence[Object]
    resource_version: str


class Change(NamedTuple):
    """One event of a watch: ADDED, MODIFIED, DELETED or BOOKMARK."""

    type: str
    object: Item


class Stream(Protocol):
    """A watch that is polled. Raises `ExpiredError` when it has fallen behind and must start from a new list."""

    @property
    def news(self) -> bool:
        """Whether a poll may bring anything."""
        ...

    def poll(self) -> list[Change]: ...

    def close(self) -> None: ...


class Transport(Protocol):
    def get(self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False) -> Object: ...

    def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> Listed: ...

    def watch(self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING) -> Stream: ...

    def write(self, request: Request) -> Object:
        """Carry a write out and give the object as it is afterwards."""
        ...


class Page(NamedTuple):
    """A part of a list. All pages of one list have the same resource_version."""

    items: Sequence[Item]
    resource_version: str


class Batch(NamedTuple):
    """Changes that arrived together; a watch can go on from `resource_version`."""

    changes: Sequence[Change]
    resource_version: str


class ListerWatcher(Protocol):
    """What a reflector needs of a transport."""

    def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        """All objects of a kind, page by page. Raises `ExpiredError` when the rest of the pages is gone."""
        ...

    def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        """Changes after a version, until the server ends the watch. An empty batch says that it has begun.

        Raises `ExpiredError` when the version is too old to go on from.
        """
        ...


class AsyncTransport(ListerWatcher, Protocol):
    async def get(
        self, api_version: str, kind: str, namespace: str, name: str, *, metadata_only: bool = False
    ) -> Object: ...

    async def write(self, request: Request) -> Object:
        """Carry a write out and give the object as it is afterwards."""
        ...

    async def close(self) -> None: ...
