"""`mooring uninstall`: has a cluster uninstall what `mooring install` installed, and its definitions where asked to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mooring.cli.cluster_access import cluster_options, connect
from mooring.cli.errors import Command, exit_code
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport
    from mooring.runway.providers.installable import Installable
    from mooring.runway.providers.provider import Provider


@click.command(cls=Command)
@click.argument("what")
@click.option(
    "--crds", is_flag=True, help="Delete its custom resource definitions too, if none of their objects is left."
)
@click.option("--wait/--no-wait", default=True, show_default=True, help="Wait until it is gone, and show its steps.")
@cluster_options
@exit_code
def command(what: str, crds: bool, wait: bool, kubeconfig: Path | None, context: str | None) -> int:
    """Uninstall WHAT was installed: kaito or gpu-operator. Its custom resource definitions and their objects stay.

    \b
      mooring uninstall kaito
      mooring uninstall kaito --crds

    The namespace of its operator is deleted only when nothing is left in it.
    """
    from mooring.runtime.drivers.eventloop import run
    from mooring.runway.providers.registry import find_installable, find_provider

    chosen = find_installable(what)
    provider = find_provider(what) if crds else None
    if crds and not wait:
        raise InputError("--crds and --no-wait exclude each other: definitions go last")
    transport, _ = connect(kubeconfig, context)
    click.echo(run(_uninstalled(transport, chosen, provider, wait=wait)))
    return 0


async def _uninstalled(
    transport: HttpTransport, chosen: Installable, definitions_of: Provider | None, *, wait: bool
) -> str:
    """Definitions can be asked for alone, where the rest is gone already."""
    from mooring.cli.installation.progress import follow_end
    from mooring.kube.status import ApiError
    from mooring.runway.operations import installation as operations
    from mooring.runway.sources.refusal import refusal

    try:
        is_there = await operations.find_installation(transport, chosen.id) is not None
        if is_there or definitions_of is None:
            await operations.uninstall(transport, chosen.id)
            if wait:
                await follow_end(transport, chosen.id)
        removed = "" if definitions_of is None else f"; {await _without_definitions(transport, definitions_of)}"
    except ApiError as error:
        raise refusal(transport.server, f"uninstall {chosen.id}", error) from None
    finally:
        await transport.close()
    return f"{chosen.name} is {'uninstalled' if wait else 'being uninstalled'}{removed}"


async def _without_definitions(transport: HttpTransport, provider: Provider) -> str:
    from mooring.kube.status import ConflictError
    from mooring.runway.operations.definitions import remove_definitions
    from mooring.runway.operations.provider_facts import is_embedded

    embedded = is_embedded(await transport.version())
    try:
        return (await remove_definitions(transport, provider, embedded=embedded)).sentence
    except ConflictError as error:
        raise InputError(str(error)) from None
