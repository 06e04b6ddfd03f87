"""A webhook before its function is loaded: what a server needs to know to tell whether it is asked about a write.

An API server with many features starts without their code; the first write that a webhook is asked about loads it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from mooring.kube.objects import Object

if TYPE_CHECKING:
    from mooring.runtime.webhooks.model import Webhook

__all__ = ["UnloadedWebhook"]


class UnloadedWebhook(NamedTuple):
    """`entry` is how a configuration lists it."""

    phase: Literal["mutating", "validating"]
    entry: Object
    load: Callable[[], Webhook]

    @classmethod
    def of(cls, webhook: Webhook) -> UnloadedWebhook:
        from mooring.runtime.webhooks.configuration import hook_entry

        return cls(webhook.phase, hook_entry(webhook, {}), lambda: webhook)

    @property
    def is_reinvoked(self) -> bool:
        return bool(self.entry.get("reinvocationPolicy") == "IfNeeded")
