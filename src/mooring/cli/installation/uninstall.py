"""`mooring uninstall`: has a cluster uninstall what was installed for a provider."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mooring.cli.cluster_access import cluster_options, connect
from mooring.cli.errors import Command, exit_code

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport


@click.command(cls=Command)
@click.argument("provider")
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until it is gone, and show its steps.")
@cluster_options
@exit_code
def command(provider: str, wait: bool, kubeconfig: Path | None, context: str | None) -> int:
    """Uninstall what was installed for PROVIDER. Its custom resource definitions stay, and so do their objects.

    \b
      mooring uninstall kaito

    The namespace of its operator is deleted only when nothing is left in it.
    """
    from mooring.runtime.drivers.eventloop import run
    from mooring.runway.providers.registry import find_provider

    chosen = find_provider(provider)
    transport, _ = connect(kubeconfig, context)
    run(_uninstalled(transport, chosen.id, wait=wait))
    click.echo(f"{chosen.name} is {'uninstalled' if wait else 'being uninstalled'}")
    return 0


async def _uninstalled(transport: HttpTransport, name: str, *, wait: bool) -> None:
    from mooring.cli.installation.progress import follow_end
    from mooring.kube.status import ApiError
    from mooring.runway.operations import installation as operations
    from mooring.runway.sources.refusal import refusal

    try:
        await operations.uninstall(transport, name)
        if wait:
            await follow_end(transport, name)
    except ApiError as error:
        raise refusal(transport.server, f"uninstall {name}", error) from None
    finally:
        await transport.close()
