"""`mooring restore`: a backup put into the folder of a cluster that does not run."""

from __future__ import annotations

from pathlib import Path

import click

from mooring.cli.errors import Command, exit_code


@click.command(cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=".mooring",
    show_default=True,
    metavar="DIR",
    help="Folder of the cluster; it is made when it is missing.",
)
@click.option("--replace", is_flag=True, help="Put the backup in the place of the cluster that the folder holds.")
@exit_code
def command(file: Path, data: Path, replace: bool) -> int:
    """Put the backup FILE into the folder of a cluster, which mooring up then starts as it was.

    \b
      mooring restore cluster.backup
      mooring up

    The file is read to its end before anything is changed. A folder that is in use, or holds a cluster, is left alone.
    """
    from mooring.supervisor.data_folder import DataFolder
    from mooring.supervisor.restore import check_backup, restore_backup

    check = check_backup(file)
    header = check.end()
    restore_backup(file, header, DataFolder(data), replace=replace)
    start = "mooring up" if str(data) == ".mooring" else f"mooring up --data {data}"
    click.echo(
        f"{data} restored: {check.objects} objects as of {header.created}, revision {header.revision}. "
        f"To start it: {start}"
    )
    return 0
