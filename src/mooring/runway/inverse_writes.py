"""The write that takes another one back: the values that were read before it, if nobody has changed them since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from mooring.kube.objects import Object
from mooring.kube.patches.errors import PatchError
from mooring.kube.patches.operations import json_patch
from mooring.placement.writes import Write

__all__ = ["IDENTITY_TESTS", "inverse_of"]

# What may be tested of any object beside that which is written: that it is the same, and as it was left.
IDENTITY_TESTS: Final = ("/metadata/uid", "/metadata/generation")
_ABSENT: Final = object()


def inverse_of(write: Write, before: Object, after: Object) -> Write | None:
    """None where there is none: of a pod that is gone, and where somebody else has changed the same in between.

    `before` was read, `after` is what the server answered. A value comes back only over the one that was
    left, in an object of the same uid, and of the same generation where it has one.
    """
    if write.verb not in ("patch", "scale"):
        return None
    try:
        expected = json_patch(before, [each for each in write.body if each["op"] != "test"])
    except PatchError:
        return None
    roots = _roots(write, before, after)
    if any(not _same(_at(expected, root), _at(after, root)) for root in roots):
        return None
    changed = [root for root in roots if _at(before, root) != _at(after, root)]
    if not changed:
        return None
    tests = [
        {"op": "test", "path": path, "value": found}
        for path in IDENTITY_TESTS
        if (found := _at(after, _parts(path))) is not _ABSENT
    ]
    body = (*tests, *(each for root in changed for each in _written_back(root, before, after)))
    return msgspec.structs.replace(write, body=body)


def _written_back(root: tuple[str, ...], before: Object, after: Object) -> Iterator[Object]:
    path, old, new = _path(root), _at(before, root), _at(after, root)
    # A test for null holds where nothing is.
    yield {"op": "test", "path": path, "value": None if new is _ABSENT else new}
    if old is _ABSENT:
        yield {"op": "remove", "path": path}
    else:
        yield {"op": "add" if new is _ABSENT else "replace", "path": path, "value": old}


def _roots(write: Write, before: Object, after: Object) -> list[tuple[str, ...]]:
    """What is written back as one value: as little as both objects have. The places of a list shift, so it is one."""
    found = {_root(_parts(each["path"]), before, after) for each in write.body if each["op"] != "test"}
    return sorted(root for root in found if not any(root != other and root[: len(other)] == other for other in found))


def _root(parts: tuple[str, ...], before: Any, after: Any) -> tuple[str, ...]:
    for depth, part in enumerate(parts, 1):
        before, after = _in(before, part), _in(after, part)
        if not (isinstance(before, dict) and isinstance(after, dict)):
            return parts[:depth]
    return parts


def _same(expected: Any, found: Any) -> bool:
    """The API leaves out what is false, 0 or empty."""
    return expected == found or all(each is _ABSENT or not each for each in (expected, found))


def _at(obj: Any, parts: tuple[str, ...]) -> Any:
    for part in parts:
        obj = _in(obj, part)
    return obj


def _in(value: Any, part: str) -> Any:
    return value.get(part, _ABSENT) if isinstance(value, dict) else _ABSENT


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in path.split("/")[1:])


def _path(parts: tuple[str, ...]) -> str:
    return "".join(f"/{part.replace('~', '~0').replace('/', '~1')}" for part in parts)
