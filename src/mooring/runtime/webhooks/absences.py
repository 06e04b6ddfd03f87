"""Whether something is really not there: what a refusal rests on is read live before the refusal is told.

A person labels a node and applies a workload a moment later; the watch that tells of the label may still be on its way.
What was found live is laid over the view, and the function is asked again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Generic, TypeVar

from mooring.api.kinds import HasMeta, Key, Kind, key_of
from mooring.client.transport import AsyncTransport
from mooring.kube.status import NotFoundError
from mooring.runtime.dispatcher.store import Store
from mooring.runtime.reads import scope_of
from mooring.runtime.view import GetQuestion, ListQuestion, View
from mooring.runtime.webhooks.by_name import store_of_one
from mooring.runtime.webhooks.model import Absent, Denied

T = TypeVar("T", bound=HasMeta)


def absences(view: View, denied: Denied, stores: Mapping[Kind[Any], Store[Any]]) -> set[Absent]:
    """What the refusal may rest on: what it says itself, objects that were not found, lists that were empty."""
    found = set(denied.absent)
    for question in view.questions:
        if isinstance(question, GetQuestion) and stores[question.kind].get(question.key) is None:
            found.add(Absent(question.kind, question.key))
        if isinstance(question, ListQuestion) and not stores[question.kind].members(question.by, question.value):
            found.add(Absent(question.kind))
    whole = {each.kind for each in found if each.key is None}
    return {each for each in found if each.key is None or each.kind not in whole}


async def look(
    transport: AsyncTransport, wanted: Iterable[Absent], stores: Mapping[Kind[Any], Store[Any]]
) -> dict[Kind[Any], Store[Any]]:
    """The stores with what was found live laid over them."""
    fresh = dict(stores)
    for kind, key in wanted:
        if key is None:
            fresh[kind] = await _listed(transport, kind)
            continue
        if kind not in fresh:
            fresh[kind] = store_of_one(kind, None)
        try:
            obj = await transport.get(kind.api_version, kind.kind, *key, metadata_only=kind.metadata_only)
        except NotFoundError:
            continue
        fresh[kind] = _Overlaid(fresh[kind], fresh[kind].read(obj).view)
    return fresh


async def _listed(transport: AsyncTransport, kind: Kind[Any]) -> Store[Any]:
    store = Store(kind)
    found, version = [], "0"
    async for page in transport.list(kind.api_version, kind.kind, scope_of(kind)):
        found += [store.read(item) for item in page.items]
        version = page.resource_version
    store.resync(found, int(version))
    return store


class _Overlaid(Store[T], Generic[T]):
    """A store that has one object more. Only what a view asks is answered; it lives for one request."""

    def __init__(self, base: Store[T], view: T) -> None:
        super().__init__(base.kind)
        self.synced = base.synced
        self._base = base
        self._extra = view

    def get(self, key: Key) -> T | None:
        return self._extra if key == key_of(self._extra) else self._base.get(key)

    def members(self, index: str, value: str) -> tuple[T, ...]:
        key = key_of(self._extra)
        found = {key_of(each): each for each in self._base.members(index, value) if key_of(each) != key}
        if value in self.kind.every_index[index](self._extra):
            found[key] = self._extra
        return tuple(found[key] for key in sorted(found))

    def count(self, index: str, value: str, counter: str) -> int:
        counts = self.kind.counters[counter]
        return sum(counts(each) for each in self.members(index, value))
