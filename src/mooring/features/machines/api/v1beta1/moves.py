"""Fields that have another place or another form in the other version, as a table that is read in both directions.

What no row names is dropped, and `api/crds/conversion.py` keeps it in an annotation. A form that the other version
would refuse counts as no form: a conversion may lose a value, since it comes back, but must not make an invalid object.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from mooring.kube.objects import Object

__all__ = ["Form", "Move", "from_hub", "prefixed", "same", "to_hub"]

_ABSENT: Final = object()

# A value in the form of the other version; None where it has none.
Form = Callable[[Any], Any]


def same(value: Any) -> Any:
    return value


class Move(NamedTuple):
    """One field: its dotted path in v1beta1 and in v1beta2, and its forms."""

    old: str
    new: str = ""
    to_new: Form = same
    to_old: Form = same

    @property
    def new_path(self) -> str:
        return self.new or self.old


def prefixed(prefix: str, moves: Iterable[Move]) -> tuple[Move, ...]:
    """The same moves inside of a field that both versions have at one place."""
    return tuple(each._replace(old=f"{prefix}.{each.old}", new=f"{prefix}.{each.new_path}") for each in moves)


def to_hub(moves: Iterable[Move], obj: Object) -> Object:
    made: Object = {}
    for each in moves:
        _move(obj, each.old, made, each.new_path, each.to_new)
    return made


def from_hub(moves: Iterable[Move], obj: Object) -> Object:
    made: Object = {}
    for each in moves:
        _move(obj, each.new_path, made, each.old, each.to_old)
    return made


def _move(source: Object, path: str, made: Object, place: str, form: Form) -> None:
    value: Any = source
    for name in path.split("."):
        value = value.get(name, _ABSENT) if isinstance(value, dict) else _ABSENT
    if value is _ABSENT or value is None or (value := form(value)) is None:
        return
    *parents, last = place.split(".")
    for name in parents:
        made = made.setdefault(name, {})
    made[last] = value
