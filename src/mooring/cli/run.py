"""`mooring run`: chosen controllers and webhooks against any cluster, from a kubeconfig or inside of it."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from shutil import get_terminal_size
from tempfile import TemporaryDirectory
from textwrap import wrap
from typing import TYPE_CHECKING, Final

import click

from mooring.catalog import CATALOG
from mooring.cli.cluster_access import cluster_options
from mooring.cli.configuration import configured
from mooring.cli.errors import Command, exit_code
from mooring.cli.lease_options import lease_options
from mooring.cli.webhook_options import WebhookOptions, webhook_options
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.runtime.drivers.leaderelection import LeaseConfig
    from mooring.runtime.settings import Configuration
    from mooring.runtime.webhooks.model import Webhook

# Columns that a description needs beside its name to be readable.
_LEAST_ROOM: Final = 40


@click.command(cls=Command)
@click.option("--list", "listing", is_flag=True, help="Name all controllers and webhooks, and stop.")
@click.option(
    "--controllers",
    "names",
    metavar="LIST",
    help="Which controllers and webhooks run: a,b for these, -c for the usual ones without c, * for all.",
)
@cluster_options
@click.option(
    "--leader-elect/--no-leader-elect",
    "elect",
    default=True,
    show_default=True,
    help="Of several replicas let one work at a time, by a Lease in the namespace of the context.",
)
@click.option("--health", metavar="HOST:PORT", help="Serve /readyz, /livez and /metrics here. Port 0 takes a free one.")
@exit_code
@lease_options
@webhook_options
@configured(CATALOG.settings)
def command(
    listing: bool,
    names: str | None,
    kubeconfig: Path | None,
    context: str | None,
    elect: bool,
    health: str | None,
    lease_config: LeaseConfig,
    webhook_options: WebhookOptions,
    configuration: Configuration,
) -> int:
    """Run chosen controllers and webhooks against any cluster, until it is stopped.

    \b
      mooring run --list
      mooring run --controllers nodes --no-leader-elect
      mooring run --webhook-url https://10.0.0.7:9443

    Without --controllers only those run that no Kubernetes has of its own. Inside a pod its service account is used.
    SIGTERM or Ctrl-C ends it: what is being written is finished first.
    """
    from mooring.supervisor.address import parse_address
    from mooring.supervisor.selection import select_controllers

    if listing:
        _list()
        return 0
    chosen = CATALOG.external if names is None else select_controllers(names, CATALOG.external, external=True)
    if not chosen:
        raise InputError(f"--controllers {names} leaves none; mooring run --list names them all")
    address = None if health is None else parse_address(health, "--health")
    controllers, webhooks = CATALOG.controllers(chosen), CATALOG.webhooks(chosen)

    from mooring.client.kubeconfig import find_access
    from mooring.kube.status import UnauthorizedError
    from mooring.runtime.drivers.eventloop import run
    from mooring.supervisor.external.process import run_controllers

    served = webhook_options.check()
    if served and not webhooks and not CATALOG.conversions():
        raise InputError(f"{webhook_options.asked_for}: no webhook is chosen; mooring run --list names them all")
    note = _they_are_off(webhooks, alone=not controllers) if webhooks and not served else ""
    asked = tuple(each.switch for each in webhooks) if served else ()
    configuration = configuration._replace(running=(*(each.name for each in controllers), *asked))
    with TemporaryDirectory(prefix="mooring-") as folder:
        access = find_access(kubeconfig, context)
        webhook_serving = None
        if served:
            webhook_serving = webhook_options.serving(
                webhooks, CATALOG.conversions(), configuration, namespace=access.namespace, scratch=Path(folder)
            )
        running = run_controllers(
            controllers,
            access,
            elect=elect,
            named=names is not None and not names.strip().startswith("-"),
            health=address,
            webhook_serving=webhook_serving,
            note=note,
            configuration=configuration,
            lease_config=lease_config,
        )
        try:
            run(running)
        except UnauthorizedError as error:
            from mooring.runway.sources.refusal import refusal

            raise refusal(access.server, "run controllers", error) from None
    return 0


def _they_are_off(webhooks: Sequence[Webhook], *, alone: bool) -> str:
    names = ", ".join(dict.fromkeys(webhook.switch for webhook in webhooks))
    if alone:
        raise InputError(f"{names} cannot be served without --webhook-url https://HOST:PORT")
    return f"webhooks are off ({names}); --webhook-url https://HOST:PORT serves them"


def _list() -> None:
    from mooring.supervisor.external.controllers import described

    lines = {controller.name: described(controller) for controller in CATALOG.controllers()}
    for webhook in CATALOG.webhooks():
        lines.setdefault(webhook.switch, described(webhook))
    shown = {name: line for name, line in lines.items() if name not in CATALOG.embedded_only}
    columns = get_terminal_size().columns if sys.stdout.isatty() else None
    for line in listing(shown, CATALOG.external, columns):
        click.echo(line)
    click.echo("\n* runs unless others are chosen. The rest is what Kubernetes has of its own.")


def listing(lines: Mapping[str, str], usual: Collection[str], columns: int | None) -> Iterator[str]:
    """A line for each name, and where there are so many columns, what does not fit under it, at its indentation."""
    width = max(map(len, lines))
    for name, line in lines.items():
        head = f"{'*' if name in usual else ' '} {name:{width}}  "
        if columns is None:
            yield head + line
            continue
        room = columns - len(head)
        # In a very narrow window the text has lines of its own.
        if room < _LEAST_ROOM:
            yield head.rstrip()
            head, room = " " * 4, max(columns, _LEAST_ROOM) - 4
        for part in wrap(line, room, break_long_words=False, break_on_hyphens=False):
            yield head + part
            head = " " * len(head)
