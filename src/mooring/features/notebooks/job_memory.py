"""What the key of a job remembers from run to run. It may be lost at any time, and is found again by asking."""

from __future__ import annotations

from typing import NamedTuple

from mooring.features.notebooks.placing import PodPlacing

__all__ = ["JobMemory"]


class JobMemory(NamedTuple):
    """The last answer of the placement engine."""

    placing: PodPlacing | None = None
