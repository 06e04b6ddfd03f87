"""The labels on existing objects that come nearest to those that a selector asks for: most misses are misspellings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from mooring.api.kinds import HasMeta

__all__ = ["nearest_labels", "nearest_of"]


def nearest_labels(wanted: Mapping[str, str], objects: Iterable[HasMeta]) -> str:
    """`; the nearest label is pool=gpu-b on n0, n1`, or nothing where all labels are found or none is near."""
    return nearest_of(wanted, ((obj.metadata.name, obj.metadata.labels) for obj in objects))


def nearest_of(wanted: Mapping[str, str], named: Iterable[tuple[str, Mapping[str, str]]]) -> str:
    """The same of labels with the name of their object."""
    carriers: dict[str, list[str]] = {}
    for name, labels in named:
        for key, value in labels.items():
            carriers.setdefault(f"{key}={value}", []).append(name)
    found = []
    for key, value in sorted(wanted.items()):
        label = f"{key}={value}"
        if label in carriers:
            continue
        values = [each for each in carriers if each.startswith(f"{key}=")]
        near = get_close_matches(label, values or carriers, n=1, cutoff=0.0 if values else 0.7)
        if near:
            found.append(f"{near[0]} on {', '.join(sorted(carriers[near[0]])[:3])}")
    if not found:
        return ""
    return f"; the nearest label{'s are' if len(found) > 1 else ' is'} {' and '.join(found)}"
