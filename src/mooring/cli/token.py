"""`mooring token create`: one more user of the cluster that `mooring up` runs."""

from __future__ import annotations

from pathlib import Path

import click

from mooring.cli.errors import Command, exit_code
from mooring.kube.errors import InputError


@click.group()
def command() -> None:
    """Let others use the cluster of mooring up."""


@command.command("create", cls=Command)
@click.argument("name")
@click.option("--group", "groups", multiple=True, metavar="GROUP", help="A group the user is in; may be repeated.")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=".mooring",
    show_default=True,
    metavar="DIR",
    help="Folder of the cluster.",
)
@exit_code
def create(name: str, groups: tuple[str, ...], data: Path) -> int:
    """Make a bearer token for the user NAME and print it. It cannot be read again later.

    \b
      mooring token create ada --group ml-engineers

    A server that runs accepts it at once.
    """
    from mooring.apiserver.authentication.token_file import add_token
    from mooring.supervisor.data_folder import DataFolder

    path = DataFolder(data).tokens
    if not path.exists():
        raise InputError(f"{data} is not the folder of a cluster; run mooring up once, or name its folder with --data")
    click.echo(add_token(path, name, groups))
    return 0
