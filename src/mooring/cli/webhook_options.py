"""The options of `mooring run` about webhooks: where the API server finds them, and what keeps their certificates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from mooring.cli.durations import lifetime
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.runtime.settings import Configuration
    from mooring.runtime.webhooks.model import Conversion, Webhook
    from mooring.supervisor.external.webhooks import WebhookServing

__all__ = ["WebhookOptions", "webhook_options"]


class WebhookOptions(NamedTuple):
    """What a command was told, as it was written."""

    url: str | None = None
    service: str | None = None
    port: int | None = None
    folder: Path | None = None
    secret: str | None = None
    life: timedelta | None = None

    def check(self) -> bool:
        """Whether webhooks are served. Refuses options that make no sense together."""
        from mooring.supervisor.external.webhooks import parse_service, parse_url

        if self.url is not None and self.service is not None:
            raise InputError("--webhook-url and --webhook-service are two ways to the same webhooks; choose one")
        if self.folder is not None and self.secret is not None:
            raise InputError("--webhook-certificates and --webhook-secret keep the same certificates; choose one")
        if self.url is not None:
            parse_url(self.url)
            return True
        if self.service is not None:
            parse_service(self.service, "")
            return True
        given = {
            "--webhook-certificates": self.folder,
            "--webhook-secret": self.secret,
            "--webhook-port": self.port,
            "--webhook-certificate-lifetime": self.life,
        }
        for option, value in given.items():
            if value is not None:
                raise InputError(f"{option} is of no use without --webhook-url or --webhook-service")
        return False

    def serving(
        self,
        webhooks: Sequence[Webhook],
        conversions: Sequence[Conversion],
        configuration: Configuration,
        *,
        namespace: str,
        scratch: Path,
    ) -> WebhookServing:
        """What was asked for, in a namespace; `scratch` keeps certificates that nothing else keeps."""
        from mooring.runtime.webhooks.keys import CERTIFICATE_LIFE
        from mooring.supervisor.external.webhooks import WebhookServing, parse_service, parse_url

        target = parse_url(self.url) if self.url is not None else parse_service(self.service or "", namespace)
        kept = self.secret if self.secret is not None else self.folder or scratch
        life = self.life or CERTIFICATE_LIFE
        return WebhookServing(webhooks, conversions, target, kept, configuration, self.port, life)

    @property
    def asked_for(self) -> str:
        return f"--webhook-url {self.url}" if self.url is not None else f"--webhook-service {self.service}"


def webhook_options(command: Callable[..., int]) -> Callable[..., int]:
    """Give a command these options; they arrive as its argument `webhook_options`."""

    @wraps(command)
    def with_options(*args: Any, **options: Any) -> int:
        told = WebhookOptions(*(options.pop(f"webhook_{name}") for name in WebhookOptions._fields))
        return command(*args, webhook_options=told, **options)

    flagged: Callable[..., int] = with_options
    for add_flag in reversed(_FLAGS):
        flagged = add_flag(flagged)
    return flagged


_FLAGS = (
    click.option(
        "--webhook-url",
        metavar="https://HOST:PORT",
        help="Serve the webhooks, which the API server reaches here. Without it they are off.",
    ),
    click.option(
        "--webhook-service",
        metavar="NAME:PORT",
        help="Serve the webhooks behind this Service in the namespace of the context, instead of at a URL.",
    ),
    click.option(
        "--webhook-port",
        type=click.IntRange(1, 65535),
        metavar="PORT",
        help="Where to listen for them: otherwise at the port of the URL, or at 9443 behind a Service.",
    ),
    click.option(
        "--webhook-certificates",
        "webhook_folder",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help="Folder that keeps the certificates of the webhooks; replicas behind one URL share it.",
    ),
    click.option(
        "--webhook-secret",
        metavar="NAME",
        help="Secret in the namespace of the context that keeps them instead, for all replicas.",
    ),
    click.option(
        "--webhook-certificate-lifetime",
        "webhook_life",
        callback=lifetime,
        metavar="TIME",
        help="How long a certificate is good for: 365d. It is renewed when a third of that is left.",
    ),
)
