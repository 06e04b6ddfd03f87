"""What a driver asks of an API server. Refusals are `ApiError`s; an answer that never came is `UnknownOutcome`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

from mooring.kube.errors import MooringError

Object = dict[str, Any]
Propagation = Literal["Foreground", "Background", "Orphan"]
Verb = Literal["create", "apply", "patch", "delete", "bind"]


class UnknownOutcome(MooringError):
    """A request whose answer was lost: it may have been carried out or not."""


class Request(NamedTuple):
    """One write, complete with what it was decided on."""

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


class Listed(NamedTuple):
    items: Sequence[Object]
    resource_version: str


class Change(NamedTuple):
    """One event of a watch: ADDED, MODIFIED, DELETED or BOOKMARK."""

    type: str
    object: Object


class Stream(Protocol):
    """A watch that is polled. Raises `ExpiredError` when it has fallen behind and must start from a new list."""

    def poll(self) -> list[Change]: ...

    def close(self) -> None: ...


class Transport(Protocol):
    def get(self, api_version: str, kind: str, namespace: str, name: str) -> Object: ...

    def list(self, api_version: str, kind: str) -> Listed: ...

    def watch(self, api_version: str, kind: str, resource_version: str) -> Stream: ...

    def write(self, request: Request) -> Object:
        """Carry a write out and give the object as it is afterwards."""
        ...
