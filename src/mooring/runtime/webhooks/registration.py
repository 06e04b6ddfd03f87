"""Makes an API server call our webhooks: writes their configurations, and keeps them as they should be."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from mooring.client.transport import AsyncTransport, Request, UnknownOutcome, Unreachable
from mooring.kube.objects import Object
from mooring.kube.status import ApiError, NotFoundError
from mooring.runtime.logs import say
from mooring.runtime.webhooks.configuration import configurations, conversion_intent
from mooring.runtime.webhooks.model import Conversion, Webhook
from mooring.runtime.webhooks.target import WebhookTarget

MANAGER: Final = "mooring-webhooks"


class Registration:
    """Applies everything at once and as often as it is told to; what is as it should be is not changed by that."""

    def __init__(
        self,
        transport: AsyncTransport,
        name: str,
        webhooks: Sequence[Webhook],
        conversions: Sequence[Conversion],
        target: WebhookTarget,
    ) -> None:
        self._transport = transport
        self._name = name
        self._webhooks = webhooks
        self._conversions = conversions
        self._target = target
        self._told = ""

    async def apply(self, bundle: str) -> bool:
        """Whether all of it is in place now. What went wrong is told once."""
        intents = configurations(self._name, self._webhooks, self._target, bundle)
        problems = [await self._write(intent) for intent in intents]
        problems += [await self._convert(conversion, bundle) for conversion in self._conversions]
        told = "; ".join(filter(None, problems))
        if told and told != self._told:
            say(logging.WARNING, f"webhooks are not all registered: {told}")
        if self._told and not told:
            say(logging.INFO, "all webhooks are registered now")
        self._told = told
        return not told

    async def _convert(self, conversion: Conversion, bundle: str) -> str:
        intent = conversion_intent(conversion.definition, self._target, bundle)
        try:
            # Applied to what is not there it would be a definition of nothing.
            await self._transport.get(intent["apiVersion"], intent["kind"], "", conversion.definition)
        except NotFoundError:
            return f"CustomResourceDefinition {conversion.definition} is not installed"
        except (ApiError, Unreachable, UnknownOutcome) as error:
            return str(error)
        return await self._write(intent)

    async def _write(self, intent: Object) -> str:
        kind, name = intent["kind"], intent["metadata"]["name"]
        try:
            await self._transport.write(Request("apply", intent["apiVersion"], kind, "", name, intent, manager=MANAGER))
        except (ApiError, Unreachable, UnknownOutcome) as error:
            return f"{kind} {name}: {error}"
        return ""
