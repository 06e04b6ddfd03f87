"""Our own kinds and webhooks in the API server process of `mooring up`, and the rights of those who use them.

They are there before the first request; webhooks are called directly, as part of the write, without HTTP.
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
    rules = CATALOG.rules(names)
    if not webhooks and not conversions and not definitions:
        return None
    from mooring.runtime.webhooks.direct import install

    def prepare(registry: Registry) -> None:
        for each in (*definitions, *rules):
            _have(registry, each)
        install(registry, webhooks, clock=_now, conversions=conversions, configuration=configuration)

    return prepare


def _have(registry: Registry, wanted: dict[str, Any]) -> None:
    """Have an object as this version of Mooring knows it; what others added to it stays."""
    name = wanted["metadata"]["name"]
    resource = registry.resource(wanted["apiVersion"], wanted["kind"])
    registry.patch(resource, "", name, "apply", wanted, now=_now(), manager=MANAGER, force=True)


def _now() -> datetime:
    return datetime.now(UTC)
