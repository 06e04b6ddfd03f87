"""Places in an object, as JSON pointers, and changes of them: `[place, value]` sets, `[place]` takes away."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

Change = list[Any]


def pointer(steps: Sequence[str | int]) -> str:
    return "/".join(str(step).replace("~", "~0").replace("/", "~1") for step in steps)


def steps_of(place: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in place.split("/")]


def changed(value: Any, changes: Sequence[Change]) -> Any:
    """A copy with these changes, each on what the one before left; one that finds no place is left out."""
    made = copy.deepcopy(value)
    for place, *values in changes:
        made = _with(made, steps_of(place) if place else [], values)
    return made


def _with(value: Any, steps: list[str], values: list[Any]) -> Any:
    if not steps:
        return copy.deepcopy(values[0])
    *parents, last = steps
    holder = value
    for step in parents:
        if isinstance(holder, dict):
            holder = holder.setdefault(step, {})
        elif isinstance(holder, list) and int(step) < len(holder):
            holder = holder[int(step)]
        else:
            return value
    if isinstance(holder, dict):
        if values:
            holder[last] = copy.deepcopy(values[0])
        else:
            holder.pop(last, None)
    elif isinstance(holder, list) and int(last) <= len(holder):
        holder[int(last) : int(last) + 1] = copy.deepcopy(values)
    return value


def differences(old: Any, new: Any, at: tuple[str | int, ...] = ()) -> Iterator[Change]:
    """The changes that make one value of another."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            if key not in new:
                yield [pointer((*at, key))]
            elif key not in old:
                yield [pointer((*at, key)), new[key]]
            else:
                yield from differences(old[key], new[key], (*at, key))
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, pair in enumerate(zip(old, new, strict=True)):
            yield from differences(*pair, (*at, index))
    elif old != new or type(old) is not type(new):
        yield [pointer(at), new]
