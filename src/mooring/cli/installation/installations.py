"""`mooring installations`: what is installed with Helm in a cluster, and how far it is."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mooring.cli.cluster_access import cluster_options, connect
from mooring.cli.errors import Command, exit_code
from mooring.cli.runway.options import output_option

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport
    from mooring.kube.objects import Object

_COLUMNS: Final = ("NAME", "PHASE", "VERSION", "REVISION", "MESSAGE")


@click.command(cls=Command)
@output_option
@cluster_options
@exit_code
def command(form: str, kubeconfig: Path | None, context: str | None) -> int:
    """List what Mooring installs with Helm in a cluster: how far it is, and which revision runs.

    \b
      mooring installations
    """
    from mooring.cli.render.data import encode
    from mooring.runtime.drivers.eventloop import run

    transport, _ = connect(kubeconfig, context)
    found = run(_read(transport))
    if form != "text":
        click.echo(encode({"installations": found}, form), nl=False)
    elif not found:
        click.echo("Nothing is installed with Helm; mooring install kaito begins.")
    else:
        _print_table([_COLUMNS, *map(_row, found)])
    return 0


async def _read(transport: HttpTransport) -> list[Object]:
    from mooring.kube.status import ApiError
    from mooring.runway.operations import installation as operations
    from mooring.runway.sources.refusal import refusal

    try:
        return await operations.installations(transport)
    except ApiError as error:
        raise refusal(transport.server, "list installations", error) from None
    finally:
        await transport.close()


def _row(found: Object) -> tuple[str, ...]:
    status = found.get("status") or {}
    releases = status.get("releases") or [{}]
    release = releases[0]
    version, revision = release.get("version", "-"), str(release.get("revision", "-"))
    return found["metadata"]["name"], status.get("phase", "Pending"), version, revision, status.get("message", "")


def _print_table(table: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[i]) for row in table) for i in range(len(_COLUMNS))]
    for row in table:
        click.echo("   ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
