"""Numbers that people write as such or as a percentage of a whole: `1`, `"25%"`."""

from __future__ import annotations

import re
from typing import Final

from mooring.kube.errors import MooringError

__all__ = ["IntOrPercent", "IntOrPercentError", "resolve"]

IntOrPercent = int | str

_PERCENT: Final = re.compile(r"([+-]?[0-9]+)%")


class IntOrPercentError(MooringError):
    """A text that is no percentage."""


def resolve(value: IntOrPercent, total: int, *, up: bool) -> int:
    """An absolute number, or a percentage of a total, rounded up or down.

    Which way to round is part of a field's meaning: of 3 replicas, a `maxSurge` of 25% is 1 and a `maxUnavailable` of
    25% is 0, so that a rollout adds a pod before it takes one away.
    """
    if isinstance(value, int):
        return value
    found = _PERCENT.fullmatch(value)
    if found is None:
        # In the API server's words.
        problem = "invalid type: string is not a percentage"
        if value.endswith("%"):
            problem = f'invalid value "{value}": strconv.Atoi: parsing "{value[:-1]}": invalid syntax'
        raise IntOrPercentError(f"invalid value for IntOrString: {problem}")
    percent = int(found[1])
    return -(-percent * total // 100) if up else percent * total // 100
