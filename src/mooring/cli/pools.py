"""`mooring pools`: the pools that an autoscaler scales, and what it has decided about one of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from mooring.cli.cluster_access import cluster_options, connect, refusal
from mooring.cli.errors import Command, exit_code
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport
    from mooring.runtime.pool_report import PoolReport

_COLUMNS: Final = ("NAMESPACE", "NAME", "MIN", "MAX", "TARGET", "READY", "FREE HOSTS", "STATE")


class _Read(NamedTuple):
    """What was read for a report, and the namespace of the context."""

    report: PoolReport
    world: dict[str, list[Any]]
    decisions: dict[str, str]
    namespace: str


@click.group(invoke_without_command=True)
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
    read = _read(kubeconfig, context)
    rows = read.report.rows(read.world, read.decisions)
    if not rows:
        click.echo("There are no pools with the label that an autoscaler looks for; see docs/autoscaler.md.")
        return 0
    table = [_COLUMNS, *(tuple(map(str, row)) for row in rows)]
    widths = [max(len(row[i]) for row in table) for i in range(len(_COLUMNS))]
    for row in table:
        click.echo("   ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    return 0


@command.command("explain", cls=Command)
@click.argument("pool")
@click.option("-n", "--namespace", default="", metavar="NAMESPACE", help="Where the pool is.")
@cluster_options
@exit_code
def explain(pool: str, namespace: str, kubeconfig: Path | None, context: str | None) -> int:
    """What was decided about POOL, and what it could still get."""
    from mooring.api.kinds import Key

    read = _read(kubeconfig, context)
    key = Key(namespace or read.namespace, pool)
    lines = read.report.explain(read.world, read.decisions, key)
    if not lines:
        raise InputError(f"there is no pool {pool} in namespace {key.namespace}; `mooring pools` lists them")
    for line in lines:
        click.echo(line)
    return 0


def _read(kubeconfig: Path | None, context: str | None) -> _Read:
    from mooring.catalog import CATALOG

    transport, namespace = connect(kubeconfig, context)
    report = CATALOG.pool_report()
    with asyncio.Runner() as runner:
        try:
            world, decisions = runner.run(_fetch(transport, report))
        finally:
            runner.run(transport.close())
    return _Read(report, world, decisions, namespace)


async def _fetch(transport: HttpTransport, report: PoolReport) -> tuple[dict[str, list[Any]], dict[str, str]]:
    from mooring.cli.live_source import read_kinds
    from mooring.kube.status import ApiError, NotFoundError

    world: dict[str, list[Any]] = {kind: [] for _, kind in report.views}
    gaps = await read_kinds(transport, dict(report.views), lambda kind, view: world[kind].append(view), report.views)
    if gaps:
        raise InputError(f"{transport.server}: {gaps[0]}")
    try:
        found = await transport.get("v1", "ConfigMap", *report.decisions)
    except NotFoundError:
        return world, {}
    except ApiError as error:
        raise refusal(transport.server, f"read ConfigMap {report.decisions}", error) from None
    return world, found.get("data") or {}
