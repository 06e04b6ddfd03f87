"""Our own kinds and webhooks in the API server process of `mooring up`.

Definitions are there before the first request; webhooks are called directly, as part of the write, without HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from mooring.catalog import CATALOG

if TYPE_CHECKING:
    from mooring.registry import Registry
    from mooring.runtime.settings import Configuration

__all__ = ["own_admission"]

MANAGER: Final = "mooring"


def own_admission(names: Collection[str], configuration: Configuration) -> Callable[[Registry], None] | None:
    """What puts our kinds, the chosen webhooks and all conversions into a registry; None where there are none."""
    webhooks, conversions, definitions = CATALOG.webhooks(names), CATALOG.conversions(), CATALOG.definitions(names)
    if not webhooks and not conversions and not definitions:
        return None
    from mooring.runtime.webhooks.direct import install

    def prepare(registry: Registry) -> None:
        for definition in definitions:
            _define(registry, definition)
        install(registry, webhooks, clock=_now, conversions=conversions, configuration=configuration)

    return prepare


def _define(registry: Registry, definition: dict[str, Any]) -> None:
    """Have a kind served as this version of Mooring knows it; what others added to its definition stays."""
    name = definition["metadata"]["name"]
    resource = registry.resource(definition["apiVersion"], definition["kind"])
    registry.patch(resource, "", name, "apply", definition, now=_now(), manager=MANAGER, force=True)


def _now() -> datetime:
    return datetime.now(UTC)
