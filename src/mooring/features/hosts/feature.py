"""Hosts as a feature: what the product must know of them, and nothing that takes long to load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mooring.runtime.feature import Feature

if TYPE_CHECKING:
    from mooring.api.crds.resource import CustomResource


def _resources() -> tuple[CustomResource, ...]:
    from mooring.features.hosts.api.definitions import RESOURCES

    return RESOURCES


HOSTS: Final = Feature("hosts", resources=_resources)
