"""`mooring ui`: the page and the REST API for people, for any cluster, until it is stopped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mooring.catalog import CATALOG
from mooring.cli.cluster_access import cluster_options
from mooring.cli.configuration import configured
from mooring.cli.errors import Command, exit_code
from mooring.cli.runway.options import gpu_operator_options, kaito_options
from mooring.supervisor.page_address import DEFAULT_PAGE_PORT

if TYPE_CHECKING:
    from mooring.runtime.settings import Configuration


@click.command(cls=Command)
@cluster_options
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="The address to serve on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PAGE_PORT,
    show_default=True,
    metavar="PORT",
    help="The port to serve on. Port 0 takes a free one.",
)
@click.option(
    "--allowed-host",
    "names",
    multiple=True,
    metavar="NAME",
    help="A host name by which browsers reach it, besides localhost and addresses.",
)
@click.option("--no-browser", is_flag=True, help="Open no browser.")
@kaito_options
@gpu_operator_options
@exit_code
@configured(CATALOG.workload_settings)
def command(
    kubeconfig: Path | None,
    context: str | None,
    host: str,
    port: int,
    names: tuple[str, ...],
    no_browser: bool,
    kaito_version: str | None,
    kaito_repository: str | None,
    gpu_operator_version: str | None,
    gpu_operator_repository: str | None,
    configuration: Configuration,
) -> int:
    """Serve the page and the REST API for people, for any cluster, until it is stopped.

    \b
      mooring ui
      mooring ui --context staging --no-browser

    The printed address carries a token that stands for you, as your kubeconfig has you; it is valid while the command
    runs, and only where it serves this machine alone. Everybody else sends a token of the API server. All that is
    read and written is read and written with the rights of the caller.
    """
    import asyncio
    import logging
    import sys

    from mooring.client.http import HttpTransport
    from mooring.client.kubeconfig import find_access
    from mooring.runtime.drivers.eventloop import run
    from mooring.runway.operations.provider_facts import is_embedded
    from mooring.runway.rest.server import serve
    from mooring.runway.settings import runway_settings
    from mooring.supervisor.page_address import bind_page

    settings = runway_settings(kaito_version, kaito_repository, gpu_operator_version, gpu_operator_repository)
    own = find_access(kubeconfig, context)
    server = find_access(kubeconfig, context, with_credentials=False)
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(message)s")

    async def version() -> str:
        transport = HttpTransport(own)
        try:
            return await transport.version()
        finally:
            await transport.close()

    embedded = is_embedded(asyncio.run(version()))
    page = bind_page(host, port)
    is_local = page.address.is_local
    click.echo(f"The cluster is {own.server}. Ctrl-C stops it.")
    if is_local:
        click.echo(f"page  {page.url}")
    else:
        click.echo(f"page  http://{page.address}/")
        click.echo(
            "Other machines can reach it: everybody needs a token of the API server, and only TLS keeps it secret."
        )
    if is_local and not no_browser and sys.stdout.isatty():
        import webbrowser

        webbrowser.open(page.url)
    run(
        serve(
            page.listening,
            server,
            session_token=page.token if is_local else "",
            own=own if is_local else None,
            names=names,
            embedded=embedded,
            configuration=configuration,
            settings=settings,
        )
    )
    return 0
