"""Follows one kind with a caller's rights: the records of its objects, or the error that the server answered with."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any, Final

import msgspec

from mooring.client.reflector import Reflector
from mooring.client.transport import EVERYTHING, Batch, Change, Item, ListerWatcher, Page, Scope, Unreachable
from mooring.kube.errors import MooringError
from mooring.kube.status import ApiError, ForbiddenError

__all__ = ["FirstListOverdue", "FollowedKind", "Follower"]

# How long a caller waits for the first list of a kind.
FIRST_LIST_SECONDS: Final = 30.0


class FirstListOverdue(MooringError):
    """The server has not answered a list in good time."""


class FollowedKind(msgspec.Struct, frozen=True):
    """`record` makes what is kept of an object; `scope` narrows what is followed."""

    api_version: str
    kind: str
    record: Callable[[msgspec.Raw], Any]
    scope: Scope = EVERYTHING


class _Identity(msgspec.Struct):
    name: str = ""
    namespace: str = ""


class _Identified(msgspec.Struct):
    metadata: _Identity


_identify = msgspec.json.Decoder(_Identified).decode


class Follower:
    """The handler of a reflector, and the transport that it asks: what the server refused is remembered as it was said.

    `told` is called with the key and the record before and after each change that makes another record.
    """

    def __init__(
        self, transport: ListerWatcher, followed: FollowedKind, told: Callable[[str, Any | None, Any | None], None]
    ) -> None:
        self.followed = followed
        self.records: dict[str, Any] = {}
        self.error: BaseException | None = None
        self._told = told
        self._listed: set[str] = set()
        self._is_synced = False
        self._settled = asyncio.Event()
        reflector = Reflector(
            _NotedErrors(transport, self._note),
            followed.api_version,
            followed.kind,
            self,
            scope=followed.scope,
            draw=random.Random(),
        )
        self._task = asyncio.create_task(reflector.run())
        self._task.add_done_callback(self._died)

    async def ready(self) -> None:
        """Return when the records are there; raise what the server answered instead."""
        if not self._is_synced and self.error is None:
            try:
                async with asyncio.timeout(FIRST_LIST_SECONDS):
                    await self._settled.wait()
            except TimeoutError:
                kind = self.followed.kind
                raise FirstListOverdue(
                    f"the API server has not listed {kind} objects within {FIRST_LIST_SECONDS:.0f} s; try again"
                ) from None
        if not self._is_synced and self.error is not None:
            raise self.error

    @property
    def is_refused(self) -> bool:
        return isinstance(self.error, ForbiddenError)

    def refuse(self, error: ApiError) -> None:
        """The caller may not read the kind any more."""
        self._note(error)
        self.lost(str(error))

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    def _died(self, task: asyncio.Task[None]) -> None:
        """A reflector ends when it is cancelled, or by a mistake of ours, which must not look like an empty list."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._is_synced = False
            self._note(error)

    def _note(self, error: BaseException) -> None:
        self.error = error
        self._settled.set()

    # What a reflector tells

    def begin(self) -> None:
        self._listed = set()

    def page(self, items: Sequence[Item]) -> None:
        for item in items:
            self._listed.add(self._put(item))

    def listed(self, resource_version: str) -> None:
        for key in self.records.keys() - self._listed:
            self._remove(key)
        self._listed = set()
        self._is_synced, self.error = True, None
        self._settled.set()

    def changed(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if change.type == "DELETED":
                self._remove(_key(_raw(change.object)))
            elif change.type != "BOOKMARK":
                self._put(change.object)

    def lost(self, why: str) -> None:
        """What may not be read any more is not shown any longer."""
        self._is_synced = False
        for key in list(self.records):
            self._remove(key)

    def troubled(self, why: str) -> None:
        """The records stay: the server will be there again, and changes are found then."""
        if not why:
            self.error = None

    def _put(self, item: Item) -> str:
        raw = _raw(item)
        key, new = _key(raw), self.followed.record(raw)
        old = self.records.get(key)
        if old != new:
            self.records[key] = new
            self._told(key, old, new)
        return key

    def _remove(self, key: str) -> None:
        if (old := self.records.pop(key, None)) is not None:
            self._told(key, old, None)


def _raw(item: Item) -> msgspec.Raw:
    return item if isinstance(item, msgspec.Raw) else msgspec.Raw(msgspec.json.encode(item))


def _key(raw: msgspec.Raw) -> str:
    metadata = _identify(raw).metadata
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


class _NotedErrors:
    """Reading with another's transport, where every error is noted on its way to the reflector."""

    def __init__(self, transport: ListerWatcher, note: Callable[[BaseException], None]) -> None:
        self._transport = transport
        self._note = note

    async def list(self, api_version: str, kind: str, scope: Scope = EVERYTHING) -> AsyncGenerator[Page]:
        try:
            async with aclosing(self._transport.list(api_version, kind, scope)) as pages:
                async for page in pages:
                    yield page
        except (ApiError, Unreachable) as error:
            self._note(error)
            raise

    async def watch(
        self, api_version: str, kind: str, resource_version: str, scope: Scope = EVERYTHING
    ) -> AsyncGenerator[Batch]:
        try:
            async with aclosing(self._transport.watch(api_version, kind, resource_version, scope)) as batches:
                async for batch in batches:
                    yield batch
        except (ApiError, Unreachable) as error:
            self._note(error)
            raise
