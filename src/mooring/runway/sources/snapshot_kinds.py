"""The kinds that a snapshot of a cluster holds."""

from __future__ import annotations

import msgspec

from mooring.catalog import CATALOG
from mooring.placement.snapshot import VIEWS

__all__ = ["saved_kinds"]


def saved_kinds() -> dict[tuple[str, str], type[msgspec.Struct]]:
    """The kinds of a snapshot, those of features included, and the view that each is read as."""
    workloads = {
        (each.api_version, each.kind): each.view for each in CATALOG.workloads().values() if each.kind != "Pod"
    }
    return {**VIEWS, **workloads}
