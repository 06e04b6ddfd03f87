"""The values that an expression works with while it runs, beyond those of JSON.

Null, booleans, ints, doubles, strings, bytes, lists and maps are Python's own. Python takes True for 1, so equality
goes through `equal`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any, Final

from mooring.kube.cel.authorizer import Authorizer, CheckAnswer, GroupCheck, PathCheck, ResourceCheck
from mooring.kube.quantities import Quantity
from mooring.kube.versions import Semver

__all__ = [
    "OPAQUE_CLASSES",
    "CelOptional",
    "Cidr",
    "Duration",
    "Ip",
    "KeyedList",
    "NamedFormat",
    "SetList",
    "Timestamp",
    "TypeValue",
    "Uint",
    "Url",
    "equal",
    "type_name",
]

NANOSECONDS: Final = 10**9


class Uint(int):
    """An unsigned number, which Python has no type for."""

    __slots__ = ()


class Duration(int):
    """A duration in nanoseconds."""

    __slots__ = ()


class Timestamp(int):
    """A point in time: nanoseconds since 1970, and how far from UTC the clock was that it was read from."""

    offset: timedelta

    def __new__(cls, nanoseconds: int, offset: timedelta = timedelta(0)) -> Timestamp:
        made = super().__new__(cls, nanoseconds)
        made.offset = offset
        return made

    def at(self, zone: timezone | Any = UTC) -> datetime:
        seconds, rest = divmod(int(self), NANOSECONDS)
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
        return moment.replace(microsecond=rest // 1000).astimezone(zone)

    def shifted(self, offset: timedelta) -> datetime:
        """What a clock shows that is so far from UTC."""
        return self.at() + offset


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: what type(x) is."""

    name: str


@dataclass(frozen=True, slots=True)
class CelOptional:
    """A value that may be missing."""

    value: Any = None
    present: bool = False


@dataclass(frozen=True, slots=True)
class Ip:
    address: IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Cidr:
    """An address with the length of a prefix; the bits behind it are kept."""

    address: IPv4Address | IPv6Address
    length: int

    @property
    def network(self) -> IPv4Network | IPv6Network:
        kind = IPv4Network if isinstance(self.address, IPv4Address) else IPv6Network
        return kind((int(self.address), self.length), strict=False)


@dataclass(frozen=True, slots=True)
class Url:
    """The parts of a URL that Kubernetes gives out; `text` makes two of them the same."""

    text: str
    scheme: str
    host: str
    hostname: str
    port: str
    path: str
    query: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class NamedFormat:
    """A format that texts are checked against."""

    name: str
    check: Callable[[str], list[str]]
    pattern_size: int


class SetList(list[Any]):
    """A list of x-kubernetes-list-type set: order does not matter."""

    __slots__ = ()


class KeyedList(list[Any]):
    """A list of x-kubernetes-list-type map: items are told apart by their keys, and order does not matter."""

    __slots__ = ("keys",)

    def __init__(self, items: list[Any], keys: tuple[str, ...]) -> None:
        super().__init__(items)
        self.keys = keys

    def key_of(self, item: Any) -> tuple[Any, ...]:
        return tuple(item.get(key) for key in self.keys) if isinstance(item, dict) else (item,)


# The types that no literal makes, by their names.
OPAQUE_CLASSES: Final[dict[str, type]] = {
    "kubernetes.Quantity": Quantity,
    "kubernetes.Semver": Semver,
    "kubernetes.URL": Url,
    "kubernetes.NamedFormat": NamedFormat,
    "net.IP": Ip,
    "net.CIDR": Cidr,
    "optional_type": CelOptional,
    "kubernetes.authorization.Authorizer": Authorizer,
    "kubernetes.authorization.PathCheck": PathCheck,
    "kubernetes.authorization.GroupCheck": GroupCheck,
    "kubernetes.authorization.ResourceCheck": ResourceCheck,
    "kubernetes.authorization.Decision": CheckAnswer,
}

_NAMES: Final[dict[type, str]] = {
    type(None): "null_type",
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    list: "list",
    SetList: "list",
    KeyedList: "list",
    dict: "map",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    TypeValue: "type",
    **{kind: name for name, kind in OPAQUE_CLASSES.items()},
}
_NUMBERS: Final = frozenset({int, Uint, float})


def type_name(value: Any) -> str:
    """The name that CEL has for the type of a value."""
    return _NAMES[value.__class__]


def equal(one: Any, other: Any) -> bool:
    """Whether two values are the same. Numbers of all types compare; any other two types differ."""
    kind, rest = one.__class__, other.__class__
    if kind in _NUMBERS and rest in _NUMBERS:
        return bool(one == other)
    if isinstance(one, list) and isinstance(other, list):
        return _equal_lists(one, other)
    if kind is not rest:
        return False
    if kind is dict:
        if len(one) != len(other):
            return False
        return all(key in other and equal(value, other[key]) for key, value in one.items())
    if kind is CelOptional:
        return bool(one.present == other.present) and (not one.present or equal(one.value, other.value))
    if kind is Semver:
        return bool(one.compare(other) == 0)
    return bool(one == other)


def _equal_lists(one: list[Any], other: list[Any]) -> bool:
    if len(one) != len(other):
        return False
    if isinstance(one, KeyedList):
        by_key = {one.key_of(item): item for item in one}
        return all(one.key_of(item) in by_key and equal(by_key[one.key_of(item)], item) for item in other)
    if isinstance(one, SetList):
        return all(any(equal(item, each) for each in one) for item in other)
    return all(map(equal, one, other))
