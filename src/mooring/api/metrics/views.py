"""PodMetrics as a controller sees them."""

from __future__ import annotations

import msgspec

from mooring.api.core.types import ResourceList, View
from mooring.api.meta import Meta


class ContainerMetrics(View, frozen=True):
    name: str = ""
    usage: ResourceList = msgspec.field(default_factory=dict)


class PodMetrics(View, frozen=True):
    """What a pod used on average in the `window` that ended at the timestamp."""

    metadata: Meta = Meta()
    timestamp: str = ""
    window: str = ""
    containers: tuple[ContainerMetrics, ...] = ()
