"""The order of items in a list that a strategic merge patch was merged into.

Items that the patch names stand in the order of the patch, the others in the order they had; where the two meet, the
order they had decides as far as it can.
"""

from typing import Any

from mooring.kube.errors import go_text
from mooring.kube.patches.errors import PatchError

__all__ = ["check_order", "identity", "in_order", "positions"]


def in_order(merged: list[Any], order: list[Any], live: list[Any], key: str) -> list[Any]:
    """The merged items sorted by `order`, and those it does not name by `live`. Items are told apart by `key`."""
    if not order:
        return merged
    wanted = positions(order, key)
    before = positions(live, key)
    named = sorted(
        (item for item in merged if identity(item, key) in wanted), key=lambda item: wanted[identity(item, key)]
    )
    others = sorted(
        (item for item in merged if identity(item, key) not in wanted),
        key=lambda item: before.get(identity(item, key), 0),
    )
    return _zip(others, named, before, key)


def _zip(others: list[Any], named: list[Any], before: dict[Any, int], key: str) -> list[Any]:
    made: list[Any] = []
    i = j = 0
    while i < len(others) and j < len(named):
        left, right = before.get(identity(others[i], key), -1), before.get(identity(named[j], key), -1)
        if 0 <= left < right:
            made.append(others[i])
            i += 1
        else:
            made.append(named[j])
            j += 1
    return made + others[i:] + named[j:]


def positions(items: list[Any], key: str, *, strict: bool = True) -> dict[Any, int]:
    """Where each item stands first. Items without the key are an error, or, if not `strict`, nowhere."""
    found: dict[Any, int] = {}
    for index, item in enumerate(items):
        if strict or key in item:
            found.setdefault(identity(item, key), index)
    return found


def identity(item: Any, key: str) -> Any:
    """What tells an item from others. In Python True equals 1, so the class is part of it."""
    if key:
        if item.__class__ is not dict:
            raise PatchError(f"expected a map[string]interface {{}}, but received a {type(item).__name__}")
        if key not in item:
            raise PatchError(f"map: {go_text(item)} does not contain declared merge key: {key}")
        item = item[key]
    return (item.__class__, item) if isinstance(item, str | int | float) else (str, go_text(item))


def check_order(patch: list[Any], order: list[Any], key: str) -> None:
    """A patch may name only items that its `$setElementOrder` names, in the same order."""
    if not patch or not order:
        return
    rest = iter(order)
    for item in patch:
        if item.__class__ is dict and "$patch" in item:
            continue
        wanted = identity(item, key)
        if not any(identity(each, key) == wanted for each in rest):
            message = (
                f"The order in patch list:\n{go_text(patch)}\n doesn't match $setElementOrder list:\n{go_text(order)}\n"
            )
            raise PatchError(message)
