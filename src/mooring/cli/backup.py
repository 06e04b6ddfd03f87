"""`mooring backup`: everything that a running cluster of `mooring up` holds, in one file."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from mooring.cli.cluster_access import cluster_options
from mooring.cli.errors import Command, exit_code
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.apiserver.backup.lines import BackupCheck
    from mooring.client.access import Access

# Level 1: a tenth of the size in a tenth of the time that the last few per cent would take.
_GZIP_LEVEL: Final = 1
_GZIP_WINDOW: Final = 16 + zlib.MAX_WBITS


@click.command(cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=".mooring",
    show_default=True,
    metavar="DIR",
    help="Folder of the cluster, whose kubeconfig is used; --kubeconfig names another one.",
)
@cluster_options
@exit_code
def command(file: Path, data: Path, kubeconfig: Path | None, context: str | None) -> int:
    """Write everything that a running cluster of mooring up holds to FILE: its objects, tokens and keys.

    \b
      mooring backup cluster.backup
      mooring restore cluster.backup --data elsewhere

    It is as the cluster was at one moment, and writes go on meanwhile. FILE is there as a whole or not at all. It holds
    Secrets and the keys of the cluster: only its administrator can make it, and only you can read it.
    """
    from mooring.client.kubeconfig import find_access
    from mooring.runtime.drivers.eventloop import run

    if file.is_dir() or not file.absolute().parent.is_dir():
        raise InputError(f"{file} is no file that could be written; name one in a folder that exists")
    if kubeconfig is None and context is None:
        kubeconfig = _kubeconfig(data)
    access = find_access(kubeconfig, context)
    check = run(_write(access, file))
    header = check.end()
    click.echo(
        f"{file} written: {check.objects} objects as of revision {header.revision}, "
        f"{file.stat().st_size / 1e6:.1f} MB. It holds Secrets and the keys of the cluster."
    )
    return 0


def _kubeconfig(data: Path) -> Path:
    from mooring.supervisor.data_folder import DataFolder

    path = DataFolder(data).kubeconfig
    if not path.exists():
        raise InputError(
            f"{data} is not the folder of a cluster; name it with --data, or its kubeconfig with --kubeconfig"
        )
    return path


async def _write(access: Access, file: Path) -> BackupCheck:
    """Nothing is written before the server has begun to answer."""
    from contextlib import aclosing

    from mooring.apiserver.backup.lines import BackupCheck, BackupError
    from mooring.apiserver.sqlite.folder import SCHEMA_VERSION
    from mooring.cli.whole_file import private_file
    from mooring.client.download import download
    from mooring.kube.status import ApiError, NotFoundError
    from mooring.runway.sources.refusal import refusal

    check = BackupCheck(SCHEMA_VERSION)
    packer, rest = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW), b""
    try:
        with private_file(file) as stream:
            async with aclosing(download(access, "/backup")) as parts:
                async for part in parts:
                    *lines, rest = (rest + part).split(b"\n")
                    for line in lines:
                        check.add(line + b"\n")
                    stream.write(packer.compress(part))
            stream.write(packer.flush())
            check.end()
            os.fsync(stream.fileno())
    except NotFoundError:
        raise InputError(f"{access.server} is no cluster of mooring up, or one of an older version") from None
    except ApiError as error:
        raise refusal(access.server, "make a backup", error) from None
    except BackupError as error:
        raise InputError(f"{access.server} sent a backup that cannot be used: {error}; nothing was written") from None
    return check
