"""`mooring capacity`: free GPUs by node, pool and kind, and the largest pod that fits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mooring.cli.cluster_access import cluster_options
from mooring.cli.errors import Command, exit_code
from mooring.cli.runway.options import output_option, snapshot_option

if TYPE_CHECKING:
    from mooring.cli.render.page import TextPage
    from mooring.runway.capacity import ClusterCapacity, GpuKind, GpuPool
    from mooring.runway.preflight import Preflight


@click.command(cls=Command)
@snapshot_option
@cluster_options
@output_option
@click.option("--no-color", is_flag=True, help="No colour on a terminal; elsewhere there is none.")
@exit_code
def command(snapshots: tuple[str, ...], kubeconfig: Path | None, context: str | None, form: str, no_color: bool) -> int:
    """Say how many GPUs are free, by node, pool and kind, and how large a pod can be to get them.

    \b
      mooring capacity
      mooring capacity --snapshot cluster.yaml -o json

    All GPUs of a pod are on one node, so ten free GPUs on five nodes are of no use to a pod that needs four. GPUs of
    nodes that are cordoned or not ready are not free.
    """
    import msgspec

    from mooring.cli.runway.session import open_session, snapshot_of_files
    from mooring.runway.capacity import cluster_capacity
    from mooring.runway.preflight import preflight

    if snapshots:
        cluster = snapshot_of_files(snapshots, kubeconfig, context).cluster
    else:
        with open_session(kubeconfig, context) as session:
            cluster = session.snapshot().cluster
    capacity = cluster_capacity(cluster)
    checked = preflight(node for node in cluster.nodes if node is not None)
    if form == "text":
        from mooring.cli.render.screen import show_page

        show_page(_page(capacity, checked), colour=not no_color)
    else:
        from mooring.cli.render.data import encode

        click.echo(encode({**msgspec.to_builtins(capacity), "preflight": msgspec.to_builtins(checked)}, form), nl=False)
    return 0


def _page(capacity: ClusterCapacity, checked: Preflight) -> TextPage:
    from mooring.cli.render.page import TextColumn, TextPage

    page = TextPage()
    numbers = [TextColumn(head, right=True) for head in ("GPUS", "FREE", "LARGEST BLOCK")]
    totals = capacity.gpus
    unusable = totals.total - totals.free - totals.allocated
    held = f", {unusable} on nodes that take no pods" if unusable else ""
    page.line(f"{totals.free} of {totals.total} GPUs are free, {totals.allocated} are allocated{held}", "bold")
    if capacity.largest_pod is not None:
        largest = capacity.largest_pod
        page.line(
            f"the largest pod that fits: {largest.gpus} GPUs, {largest.cpu:g} CPU and "
            f"{largest.memory / (1 << 30):.0f} GiB of memory, on {largest.node}"
        )
    if capacity.kinds:
        page.title("By kind")
        kinds = ((each.product, str(each.nodes), *_amounts(each)) for each in capacity.kinds)
        page.table([TextColumn("PRODUCT"), TextColumn("NODES", right=True), *numbers], kinds)
    if capacity.pools:
        page.title("By pool")
        pools = ((each.name, f"{each.ready}/{each.nodes}", *_amounts(each)) for each in capacity.pools)
        page.table([TextColumn("POOL"), TextColumn("READY", right=True), *numbers], pools)
    with_gpus = [each for each in capacity.nodes if each.total]
    if with_gpus:
        page.title("By node")
        columns = [TextColumn("NODE"), TextColumn("POOL"), TextColumn("PRODUCT"), *numbers[:2], TextColumn("STATE")]
        page.table(
            columns,
            (
                (each.name, each.pool, each.product, str(each.total), str(each.free), _state(each.ready, each.cordoned))
                for each in with_gpus
            ),
        )
    for warning in checked.warnings:
        page.line()
        page.line(warning.message, "warn")
        if warning.command:
            page.line(warning.command, "command", 2, wrap=False)
    return page


def _amounts(each: GpuKind | GpuPool) -> tuple[str, str, str]:
    return str(each.total), str(each.free), str(each.largest_free_block)


def _state(ready: bool, cordoned: bool) -> str:
    return "NotReady" if not ready else "Cordoned" if cordoned else "Ready"
