"""The options whose group a list of patterns puts first."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from mooring.features.autoscaler.scale_up.expanders.option import ScaleUpOption
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.kube.errors import MooringError
from mooring.manifests.loader import load

__all__ = ["by_priority"]

Priorities = Mapping[int, Sequence[re.Pattern[str]]]


def by_priority(options: Sequence[ScaleUpOption], settings: AutoscalerSettings) -> Sequence[ScaleUpOption]:
    """All of them where there are no priorities, where these cannot be read, or where they name no group."""
    priorities = _read(settings.priorities or "")
    ranked = [(_priority(option.group.name, priorities), option) for option in options]
    # Upstream knows no priority below zero.
    best = max((rank for rank, _ in ranked if rank is not None and rank >= 0), default=None)
    return options if best is None else [option for rank, option in ranked if rank == best]


def _priority(group: str, priorities: Priorities) -> int | None:
    """The highest under which a group is named."""
    named = (rank for rank, patterns in priorities.items() if any(pattern.search(group) for pattern in patterns))
    return max(named, default=None)


def _read(text: str) -> Priorities:
    """Nothing where something in it cannot be read: half a list would be worse than none."""
    try:
        found = load(text) if text else {}
        return {int(rank): [re.compile(pattern) for pattern in patterns] for rank, patterns in found.items()}
    except (MooringError, re.error, AttributeError, TypeError, ValueError):
        return {}
