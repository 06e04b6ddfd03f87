"""`mooring pools`: the pools that an autoscaler scales, and what it has decided about one of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from mooring.cli.cluster_access import cluster_options
from mooring.cli.command_group import CommandGroup
from mooring.cli.errors import Command, exit_code
from mooring.cli.sources.pool_source import fetch_pools
from mooring.kube.errors import InputError

_COLUMNS: Final = ("NAMESPACE", "NAME", "MIN", "MAX", "TARGET", "READY", "FREE HOSTS", "STATE")


@click.group(cls=CommandGroup, invoke_without_command=True)
@cluster_options
@click.pass_context
def command(context_: click.Context, kubeconfig: Path | None, context: str | None) -> None:
    """List the pools that an autoscaler scales: bounds, nodes, hosts for more, and what goes on.

    \b
      mooring pools
      mooring pools explain gpu-pool
    """
    if context_.invoked_subcommand is None:
        _list_pools(kubeconfig, context)


@exit_code
def _list_pools(kubeconfig: Path | None, context: str | None) -> int:
    read, _ = fetch_pools(kubeconfig, context)
    rows, notes = read.report.rows(read.world, read.decisions), read.report.notes(read.decisions)
    if rows:
        _print_table([_COLUMNS, *(tuple(map(str, row)) for row in rows)])
    elif not notes:
        click.echo("There are no pools with the label that an autoscaler looks for; see docs/autoscaler.md.")
    for note in notes:
        click.echo(note)
    return 0


def _print_table(table: Sequence[Sequence[str]]) -> None:
    widths = [max(len(row[i]) for row in table) for i in range(len(_COLUMNS))]
    for row in table:
        click.echo("   ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())


@command.command("explain", cls=Command)
@click.argument("pool")
@click.option("-n", "--namespace", default="", metavar="NAMESPACE", help="Where the pool is.")
@cluster_options
@exit_code
def explain(pool: str, namespace: str, kubeconfig: Path | None, context: str | None) -> int:
    """What was decided about POOL, and what it could still get."""
    from mooring.api.kinds import Key

    read, home = fetch_pools(kubeconfig, context)
    key = Key(namespace or home, pool)
    lines = read.report.explain(read.world, read.decisions, key)
    if not lines:
        raise InputError(f"there is no pool {pool} in namespace {key.namespace}; `mooring pools` lists them")
    for line in lines:
        click.echo(line)
    return 0
