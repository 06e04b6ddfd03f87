"""The default StorageClass of `mooring up`, brought at each start where no class is the default one."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Final

from mooring.nodes.storage.default_class import STANDARD, default_class, is_default

if TYPE_CHECKING:
    from mooring.registry import Registry

__all__ = ["have_default_class"]

_KIND: Final = ("storage.k8s.io/v1", "StorageClass")


def have_default_class(registry: Registry, controllers: Collection[str], now: datetime) -> None:
    """What people made of their classes stays: nothing is brought beside a default class, or in place of `standard`."""
    if "volume-provisioner" not in controllers:
        return
    resource = registry.resource(*_KIND)
    found = registry.list(resource).items
    if any(is_default(each) or each["metadata"]["name"] == STANDARD for each in found):
        return
    registry.create(resource, default_class(), now=now, manager="mooring")
