"""Where an API server finds our webhooks: at a URL, or behind a Service of its cluster.

An API server resolves Services itself and has no cluster DNS, so inside a cluster only the latter works.
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from mooring.kube.errors import MooringError
from mooring.kube.objects import Object

__all__ = ["WebhookService", "WebhookTarget", "WebhookUrl", "host_of"]


def host_of(url: str) -> str:
    """The name that a certificate for a URL must be for."""
    try:
        parts = urlsplit(url)
        host, good = parts.hostname or "", parts.scheme == "https" and not (parts.query or parts.fragment)
        _ = parts.port
    except ValueError as error:
        raise MooringError(f"{url} is no URL: {error}") from None
    if not good or not host:
        raise MooringError(f"{url} cannot be the URL of webhooks: it must be https://HOST:PORT")
    return host


class WebhookUrl(NamedTuple):
    url: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a certificate must be for."""
        return (host_of(self.url),)

    def client(self, path: str, bundle: str) -> Object:
        """The clientConfig that makes an API server call a path."""
        return {"caBundle": bundle, "url": f"{self.url.rstrip('/')}{path}"}

    def __str__(self) -> str:
        return self.url


class WebhookService(NamedTuple):
    namespace: str
    name: str
    port: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names that a certificate must be for."""
        return (f"{self.name}.{self.namespace}.svc",)

    def client(self, path: str, bundle: str) -> Object:
        """The clientConfig that makes an API server call a path."""
        service = {"namespace": self.namespace, "name": self.name, "port": self.port, "path": path}
        return {"caBundle": bundle, "service": service}

    def __str__(self) -> str:
        return f"Service {self.namespace}/{self.name}:{self.port}"


WebhookTarget = WebhookUrl | WebhookService
