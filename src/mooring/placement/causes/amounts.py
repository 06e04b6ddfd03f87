"""Amounts of resources in words, for people.

The scheduler counts milli-cpus and bytes; people write `1.5` and `64Gi`. What is asked for is rounded up and what is
free is rounded down, so that a rounded text never claims that something fits when it does not.
"""

from __future__ import annotations

import numpy as np

from mooring.placement.scheduler_cache import Amounts

_UNITS = (("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10))
_BYTES = ("memory", "ephemeral-storage")


def amount(resource: str, number: int, *, up: bool = False) -> str:
    """A number in the scheduler's units as people write it: `1.5`, `12.5Gi`, `8`."""
    if resource == "cpu":
        return f"{number // 1000}" if number % 1000 == 0 else f"{number / 1000:.3f}".rstrip("0")
    if resource in _BYTES or resource.startswith("hugepages-"):
        return _bytes(number, up)
    return str(number)


def _bytes(number: int, up: bool) -> str:
    for suffix, unit in _UNITS:
        if abs(number) >= unit:
            tenths = -(-number * 10 // unit) if up else number * 10 // unit
            whole, tenth = divmod(tenths, 10)
            return f"{whole}.{tenth}{suffix}" if tenth else f"{whole}{suffix}"
    return str(number)


def spread_of(resource: str, numbers: Amounts) -> str:
    """Amounts of several nodes: `2`, or `0 to 2`, with "none" for a plain zero."""
    least, most = max(int(np.min(numbers)), 0), max(int(np.max(numbers)), 0)
    low, high = amount(resource, least), amount(resource, most)
    if low == high:
        return "none" if most == 0 else high
    return f"{low} to {high}"


def shortage(resource: str, needed: int, allocatable: Amounts, free: Amounts) -> str:
    """Why a resource does not suffice on some nodes: `needs 8 nvidia.com/gpu, 2 of 8 free`."""
    needs = f"needs {amount(resource, needed, up=True)} {resource}"
    if int(np.max(allocatable)) < needed:
        total = spread_of(resource, allocatable)
        return f"{needs}, has none" if total == "none" else f"{needs}, has only {total}"
    return f"{needs}, {spread_of(resource, free)} of {spread_of(resource, allocatable)} free"


def scattered(resource: str, needed: int, free: Amounts) -> str:
    """`8 nvidia.com/gpu free in all, at most 2 on one node`, where that is why they do not suffice; else nothing."""
    there = np.maximum(free, 0)
    total, most = int(there.sum()), int(there.max(initial=0))
    if not most < needed <= total:
        return ""
    return f"{amount(resource, total)} {resource} free in all, at most {amount(resource, most)} on one node"
