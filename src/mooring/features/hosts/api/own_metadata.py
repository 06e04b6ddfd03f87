"""Labels and taints of a host's spec: which came with its claim, and which are its own and stay when that ends."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from mooring.features.hosts.api.hosts import ByoHost, HostClaim, HostTaint
from mooring.features.hosts.api.names import MANAGED_LABELS, MANAGED_TAINTS

__all__ = ["managed_labels", "own_labels", "own_taints"]


def managed_labels(host: HostClaim | ByoHost) -> set[str]:
    """Keys of the labels that came with the claim."""
    return set(_noted(host, MANAGED_LABELS))


def own_labels(host: HostClaim | ByoHost) -> dict[str, str]:
    managed = managed_labels(host)
    return {key: text for key, text in host.spec.labels.items() if key not in managed}


def own_taints(host: HostClaim | ByoHost) -> list[HostTaint]:
    managed = set(map(tuple, _noted(host, MANAGED_TAINTS)))
    return [each for each in host.spec.taints if (each.key, each.effect) not in managed]


def _noted(host: HostClaim | ByoHost, annotation: str) -> Sequence[Any]:
    try:
        found = json.loads(host.metadata.annotations.get(annotation, "[]"))
    except json.JSONDecodeError:
        return ()
    return found if isinstance(found, list) else ()
