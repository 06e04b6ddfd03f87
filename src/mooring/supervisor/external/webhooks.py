"""Webhooks for an external cluster: the URL of `--webhook-url`, and the address to listen on.

The API server must reach the URL. For a loopback name the server listens on loopback; any other name may be that of a
Service or a load balancer, so the server listens on all addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from mooring.client.transport import AsyncTransport
from mooring.kube.errors import InputError, MooringError
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.webhooks.keys import host_of
from mooring.runtime.webhooks.model import Conversion, Webhook
from mooring.runtime.webhooks.server import WebhookServer
from mooring.supervisor.address import Address

__all__ = ["WebhookServing", "parse_url"]

_HTTPS: Final = 443


@dataclass(frozen=True)
class WebhookServing:
    """The webhooks and conversions that are served, their URL, and the folder of their certificates."""

    webhooks: Sequence[Webhook]
    conversions: Sequence[Conversion]
    url: str
    folder: Path
    configuration: Configuration = DEFAULTS

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(webhook.switch for webhook in self.webhooks))

    @property
    def listen(self) -> Address:
        host = host_of(self.url)
        address = Address(host, urlsplit(self.url).port or _HTTPS)
        if address.is_local:
            return address
        return Address("::" if ":" in host else "0.0.0.0", address.port)

    def server(self, transport: AsyncTransport) -> WebhookServer:
        return WebhookServer(
            self.webhooks,
            transport,
            listen=self.listen,
            url=self.url,
            folder=self.folder,
            conversions=self.conversions,
            configuration=self.configuration,
        )


def parse_url(text: str) -> str:
    """The URL without a trailing slash. Refuses what an API server would refuse."""
    try:
        host_of(text)
    except MooringError as error:
        raise InputError(f"--webhook-url: {error}") from None
    parts = urlsplit(text)
    if parts.path not in ("", "/") or parts.username is not None:
        raise InputError(f"--webhook-url: {text} must be https://HOST:PORT and nothing more")
    return text.rstrip("/")
