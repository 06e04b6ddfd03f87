"""`mooring snapshot`: what placement depends on in a cluster, in one file that can be sent to a colleague."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from mooring.cli.cluster_access import cluster_options, connect
from mooring.cli.errors import Command, exit_code


@click.command(cls=Command)
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where to write it: JSON for .json, else YAML; packed for .gz at the end. Without it, to standard output.",
)
@cluster_options
@exit_code
def command(file: Path | None, kubeconfig: Path | None, context: str | None) -> int:
    """Write what placement depends on in a cluster to one file, to be explained elsewhere.

    \b
      mooring snapshot -o cluster.yaml.gz
      mooring explain pod/web-0 -n shop --snapshot cluster.yaml.gz

    It holds nodes, pods, namespaces, services, workloads (those of features where the
    cluster has them), disruption budgets, priority and runtime classes, claims and the storage they depend on, and of
    each only the fields that decide where pods land. Environments, commands, secrets and other annotations are left
    out. The same cluster gives the same bytes. Nothing is written to the cluster.
    """
    import asyncio

    from mooring.catalog import CATALOG
    from mooring.cli.snapshot_writer import Item, SnapshotEncoder, is_json, save_snapshot, write
    from mooring.runway.sources.live_source import DEVICES, PAGE, Gap, read_kinds
    from mooring.runway.sources.snapshot_kinds import saved_kinds

    encoder, items = SnapshotEncoder(json=file is not None and is_json(file)), list[Item]()

    def take(kind: str, view: Any) -> None:
        items.append(encoder.item(kind, view))

    transport, _ = connect(kubeconfig, context, page=PAGE)

    async def read() -> list[Gap]:
        try:
            return await read_kinds(transport, saved_kinds(), take, may_be_missing={*CATALOG.custom_kinds(), *DEVICES})
        finally:
            await transport.close()

    gaps = asyncio.run(read())
    items.append(encoder.contents(gap.kind for gap in gaps))
    for gap in gaps:
        click.echo(f"note: {gap.text}", err=True)
    if file is None:
        write(sys.stdout.buffer, items)
        return 0
    save_snapshot(file, items)
    size = f", {_size(file.stat().st_size)}" if file.is_file() else ""
    click.echo(f"{file}: {len(items):,} objects{size}")
    return 0


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= 100_000 else f"{count / 1e3:.1f} kB"
