"""The kinds that controllers read, with the questions that may be asked of them.

Lists go by a declared index and counts by a declared counter, so that every question has one place to be looked up and
one place that an event touches. All kinds have the indexes `owner` (uid of the controlling owner), `namespace` and
`all`. What only one controller asks of a shared kind it declares itself, as `Indexers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from mooring.api.meta import Meta


class HasMeta(Protocol):
    @property
    def metadata(self) -> Meta: ...


T = TypeVar("T", bound=HasMeta)
T_co = TypeVar("T_co", bound=HasMeta, covariant=True)


class Key(NamedTuple):
    """An object's name. Kinds without namespaces have an empty one."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def key_of(obj: HasMeta) -> Key:
    return Key(obj.metadata.namespace, obj.metadata.name)


def key_of_object(obj: dict[str, Any]) -> Key:
    """The same for a plain object."""
    meta = obj["metadata"]
    return Key(meta.get("namespace", ""), meta["name"])


def _by_owner(obj: HasMeta) -> Iterable[str]:
    owner = obj.metadata.controller
    return (owner.uid,) if owner is not None else ()


def _by_namespace(obj: HasMeta) -> Iterable[str]:
    return (obj.metadata.namespace,)


def _all(obj: HasMeta) -> Iterable[str]:
    return ("",)


@dataclass(frozen=True, eq=False)
class Kind(Generic[T]):
    """One kind as one typed view. Compared by identity: declare it once."""

    api_version: str
    kind: str
    view: type[T]
    indexes: Mapping[str, Callable[[T], Iterable[str]]] = field(default_factory=dict)
    # What each object counts for: whether it counts at all, or a number that is added up.
    counters: Mapping[str, Callable[[T], int]] = field(default_factory=dict)
    # The parts of a view beside its metadata that these indexes read. While they are equal, an object stays in its
    # places and the indexes are not asked; where they are not named, the indexes are asked at every change.
    placed_by: tuple[str, ...] | None = None
    # Followed only once somebody asks: a second, wider view of a kind that few need. The first one is declared without.
    on_demand: bool = False
    # Listed every so many seconds where it cannot be watched: what a server measures has no history. Zero is watched.
    polled_seconds: float = 0.0
    # Whoever reads it can do without where it is not served.
    optional: bool = False
    # How much of it is followed: the objects that a label selector finds, those of one name in all namespaces, their
    # metadata alone, or single objects by name, of which `only` is one. See reads.py.
    labels: str = ""
    name: str = ""
    metadata_only: bool = False
    by_name: bool = False
    only: Key | None = None

    def __str__(self) -> str:
        return f"{self.api_version}/{self.kind}"

    @property
    def is_partial(self) -> bool:
        """Whether a store of it may lack objects that there are."""
        return bool(self.labels or self.name) or self.by_name

    @property
    def described(self) -> str:
        """The kind and how much of it is followed, for people."""
        parts = [self.labels, self.name, "metadata" * self.metadata_only, "by name" * self.by_name]
        how = ", ".join(filter(None, parts))
        return f"{self} ({how})" if how else str(self)

    @property
    def stays_with(self) -> tuple[str, ...]:
        """The parts of a view that decide about its places; empty where that is not known."""
        if self.placed_by is None:
            return () if self.indexes else ("metadata",)
        return ("metadata", *self.placed_by)

    @property
    def every_index(self) -> dict[str, Callable[[T], Iterable[str]]]:
        return {"owner": _by_owner, "namespace": _by_namespace, "all": _all, **self.indexes}


@dataclass(frozen=True, eq=False)
class Indexers(Generic[T]):
    """Indexes and counters that a controller adds to a kind which it shares with others: one cache serves them all."""

    kind: Kind[T]
    indexes: Mapping[str, Callable[[T], Iterable[str]]] = field(default_factory=dict)
    counters: Mapping[str, Callable[[T], int]] = field(default_factory=dict)
    # As in a kind.
    placed_by: tuple[str, ...] | None = None


def extended(kind: Kind[T], indexers: Iterable[Indexers[Any]]) -> Kind[T]:
    """A kind as a store keeps it: with what controllers have added. Raises ValueError where two add the same name."""
    added = [each for each in dict.fromkeys(indexers) if each.kind is kind]
    if not added:
        return kind
    indexes, counters, parts = dict(kind.indexes), dict(kind.counters), kind.placed_by
    if parts is None and not indexes:
        parts = ()
    for each in added:
        for name in (*(each.indexes.keys() & indexes.keys()), *(each.counters.keys() & counters.keys())):
            raise ValueError(
                f"{kind} has an index or counter {name!r} already; give the one that is added another name"
            )
        indexes |= each.indexes
        counters |= each.counters
        parts = None if parts is None or each.placed_by is None else tuple(dict.fromkeys((*parts, *each.placed_by)))
    return replace(kind, indexes=indexes, counters=counters, placed_by=parts)


@dataclass(frozen=True, eq=False)
class DynamicKinds:
    """Kinds that are there for as long as objects of another kind define them, like custom ones.

    `kind_of` gives the kind that a definition stands for, or None, and the same one each time for the same definition.
    """

    by: Kind[Any]
    kind_of: Callable[[Any], Kind[Any] | None]


def by_name(kinds: Iterable[Kind[Any]]) -> dict[tuple[str, str], Kind[Any]]:
    """Kinds by what the API calls them. Of several views of one kind it is one that is always followed as a whole."""
    ordered = sorted(kinds, key=lambda kind: (not kind.is_partial, not kind.on_demand))
    return {(kind.api_version, kind.kind): kind for kind in ordered}
