"""Timeouts as people set them: how long controllers wait for things before they go on without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from mooring.catalog import CATALOG
from mooring.kube.errors import InputError
from mooring.nodes.simulated.pods import parse_duration

__all__ = ["parse_timeouts"]


def parse_timeouts(words: Sequence[str], known: Mapping[str, timedelta] | None = None) -> dict[str, timedelta]:
    """`a=90s,b=5m`, given once or several times; the timeouts that are named, and no others."""
    known = CATALOG.timeouts if known is None else known
    found = {}
    for word in (word.strip() for text in words for word in text.split(",")):
        name, _, value = word.partition("=")
        if name not in known:
            raise InputError(f'--timeouts: there is no timeout "{name}"; there are {", ".join(sorted(known))}')
        length = parse_duration(value)
        if not length:
            raise InputError(f'--timeouts: "{word}" must be {name}=TIME, such as {name}=90s or {name}=5m')
        found[name] = length
    return found
