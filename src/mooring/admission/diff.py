"""The JSON patch from one document to another: what an API server has to do to an object to make it the wanted one.

Lists are compared from both ends, so that what was put in front, behind or in between is one operation for each
element; other changes go into the elements that stand at the same place.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mooring.kube.objects import Object
from mooring.kube.patches.equality import same


def json_diff(before: Any, after: Any) -> list[Object]:
    """The operations that make `after` of `before`, in the order in which they must be carried out."""
    return list(_diff("", before, after))


def _diff(path: str, before: Any, after: Any) -> Iterator[Object]:
    if same(before, after):
        return
    if isinstance(before, dict) and isinstance(after, dict):
        yield from _diff_objects(path, before, after)
    elif isinstance(before, list) and isinstance(after, list):
        yield from _diff_lists(path, before, after)
    else:
        yield {"op": "replace", "path": path, "value": after}


def _diff_objects(path: str, before: Object, after: Object) -> Iterator[Object]:
    for key in before:
        if key not in after:
            yield {"op": "remove", "path": f"{path}/{_escaped(key)}"}
    for key, value in after.items():
        if key in before:
            yield from _diff(f"{path}/{_escaped(key)}", before[key], value)
        else:
            yield {"op": "add", "path": f"{path}/{_escaped(key)}", "value": value}


def _diff_lists(path: str, before: list[Any], after: list[Any]) -> Iterator[Object]:
    start, shorter = 0, min(len(before), len(after))
    while start < shorter and same(before[start], after[start]):
        start += 1
    end = 0
    while end < shorter - start and same(before[-1 - end], after[-1 - end]):
        end += 1
    old, new = before[start : len(before) - end], after[start : len(after) - end]
    both = min(len(old), len(new))
    for index in range(both):
        yield from _diff(f"{path}/{start + index}", old[index], new[index])
    for index in range(len(old) - 1, both - 1, -1):
        yield {"op": "remove", "path": f"{path}/{start + index}"}
    for index in range(both, len(new)):
        yield {"op": "add", "path": f"{path}/{start + index}", "value": new[index]}


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
