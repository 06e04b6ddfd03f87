"""Everything that Mooring can run, in one table: the controllers and the webhooks of all its packages.

A feature package takes part with two modules of its own, and with a line for each of them here:

    features/groups/crew.py      CONTROLLERS: tuple[Controller, ...]
    features/groups/webhooks.py  WEBHOOKS: tuple[Webhook, ...], and CONVERSIONS: tuple[Conversion, ...] where it has any

They are apart because the API server of `mooring up` has the webhooks in its process and must not load what it does not
run. The names that `--controllers` takes are listed in `selection`: `Controller.name` and `Webhook.switch`.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from mooring.runtime.controller import Controller
    from mooring.runtime.webhooks.model import Conversion, Webhook

__all__ = ["all_controllers", "all_conversions", "all_definitions", "all_webhooks"]

_GROUPS: Final = frozenset({"lws", "lws-groups", "lws-webhook"})


def all_controllers() -> tuple[Controller, ...]:
    """Every controller. Only nodes that ask for it are simulated: others may belong to a kubelet."""
    from mooring.catalog import whole_crew
    from mooring.features.groups.crew import CONTROLLERS

    return (*whole_crew(every_node=False), *CONTROLLERS)


def all_webhooks() -> tuple[Webhook, ...]:
    """Every webhook, those of one switch together."""
    from mooring.features.groups.webhooks import WEBHOOKS

    return WEBHOOKS


def all_conversions() -> tuple[Conversion, ...]:
    """Every conversion between versions of our own kinds. They are part of the API, so nobody switches them off."""
    return ()


def all_definitions(names: Collection[str]) -> tuple[dict[str, Any], ...]:
    """The definitions of our own kinds that the chosen controllers and webhooks work on."""
    if _GROUPS.isdisjoint(names):
        return ()
    from mooring.features.groups.definition import leader_worker_set_definition

    return (leader_worker_set_definition(),)
