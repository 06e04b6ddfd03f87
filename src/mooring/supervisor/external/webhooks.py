"""Webhooks for an external cluster: where its API server finds them, the address to listen on, and the certificates.

For the URL of a loopback name the server listens on loopback; any other name may be that of a load balancer, and a
Service leads to any address of a pod, so the server listens on all addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from mooring.client.transport import AsyncTransport
from mooring.kube.errors import InputError, MooringError
from mooring.kube.names import is_dns1035_label
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runtime.webhooks.certificate_stores import CertificateFolder, CertificateSecret, CertificateStore
from mooring.runtime.webhooks.keys import CERTIFICATE_LIFE
from mooring.runtime.webhooks.model import Conversion, Webhook
from mooring.runtime.webhooks.server import WebhookServer
from mooring.runtime.webhooks.target import WebhookService, WebhookTarget, WebhookUrl, host_of
from mooring.supervisor.address import Address

__all__ = ["CERTIFICATE_SECRET", "SERVICE_PORT", "WebhookServing", "parse_service", "parse_url"]

# The Secret that config/rbac and the chart let an account keep certificates in.
CERTIFICATE_SECRET: Final = "mooring-webhooks"
# Where pods listen that a Service leads to.
SERVICE_PORT: Final = 9443
_HTTPS: Final = 443
_MOST_PORT: Final = 65535


@dataclass(frozen=True)
class WebhookServing:
    """The webhooks and conversions that are served, where they are found, and what keeps their certificates.

    `port` is where the server listens, if not at the port of a URL.
    """

    webhooks: Sequence[Webhook]
    conversions: Sequence[Conversion]
    target: WebhookTarget
    certificates: Path | str
    configuration: Configuration = DEFAULTS
    port: int | None = None
    life: timedelta = CERTIFICATE_LIFE

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(webhook.switch for webhook in self.webhooks))

    @property
    def listen(self) -> Address:
        if isinstance(self.target, WebhookService):
            return Address("0.0.0.0", self.port or SERVICE_PORT)
        host = host_of(self.target.url)
        address = Address(host, self.port or urlsplit(self.target.url).port or _HTTPS)
        if address.is_local:
            return address
        return Address("::" if ":" in host else "0.0.0.0", address.port)

    def server(self, transport: AsyncTransport, namespace: str) -> WebhookServer:
        """The server; a Secret of certificates is in the namespace."""
        store: CertificateStore
        if isinstance(self.certificates, Path):
            store = CertificateFolder(self.certificates)
        else:
            store = CertificateSecret(transport, namespace, self.certificates)
        return WebhookServer(
            self.webhooks,
            transport,
            listen=self.listen,
            target=self.target,
            store=store,
            conversions=self.conversions,
            configuration=self.configuration,
            life=self.life,
        )


def parse_url(text: str) -> WebhookUrl:
    """Refuses what an API server would refuse."""
    try:
        host_of(text)
    except MooringError as error:
        raise InputError(f"--webhook-url: {error}") from None
    parts = urlsplit(text)
    if parts.path not in ("", "/") or parts.username is not None:
        raise InputError(f"--webhook-url: {text} must be https://HOST:PORT and nothing more")
    return WebhookUrl(text.rstrip("/"))


def parse_service(text: str, namespace: str) -> WebhookService:
    """NAME or NAME:PORT, of a Service in the namespace."""
    name, colon, port = text.partition(":")
    good = not colon or (port.isascii() and port.isdigit() and 0 < int(port) <= _MOST_PORT)
    if is_dns1035_label(name) or not good:
        raise InputError(f'--webhook-service "{text}" is not NAME:PORT of a Service, such as mooring-webhooks:443')
    return WebhookService(namespace, name, int(port or _HTTPS))
