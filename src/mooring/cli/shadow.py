"""`mooring shadow`: predicts what a running scheduler does with each pod, and says how often that was right."""

from __future__ import annotations

import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mooring.cli.cluster_access import cluster_options, connect
from mooring.cli.durations import duration
from mooring.cli.errors import Command, exit_code

if TYPE_CHECKING:
    from mooring.client.http import HttpTransport


@click.command(cls=Command)
@cluster_options
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    default="mooring-shadow",
    show_default=True,
    metavar="DIR",
    help="Where a snapshot of every disagreement is kept.",
)
@click.option("--for", "length", callback=duration, metavar="TIME", help="Stop after this time, such as 90s or 1h30m.")
@exit_code
def command(kubeconfig: Path | None, context: str | None, keep: Path, length: timedelta | None) -> int:
    """Predict what a running scheduler does with each waiting pod, compare, and print how often that was right.

    \b
      mooring shadow
      mooring shadow --for 10m --keep disagreements

    It reads and never writes, and needs nothing in the cluster. For each pod that waits for the default scheduler it
    predicts the nodes it may be bound to, or the text of FailedScheduling, from the state before the scheduler's word
    is seen. Every disagreement is kept as a snapshot that mooring explain looks into.

    Ctrl-C ends it with a summary. The exit code is 0, however often predictions were right.
    """
    import asyncio

    transport, _ = connect(kubeconfig, context)
    asyncio.run(_shadow(transport, keep, length))
    return 0


async def _shadow(transport: HttpTransport, keep: Path, length: timedelta | None) -> None:
    import asyncio
    import signal

    from mooring.cli.cluster_watch import ClusterWatch
    from mooring.cli.shadow_report import ShadowReport
    from mooring.placement.shadow import Shadow

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    if length is not None:
        loop.call_later(length.total_seconds(), stop.set)
    shadow = Shadow()
    report = ShadowReport(shadow, transport.server, keep, live=sys.stdout.isatty(), clock=loop.time)
    cluster_watch = ClusterWatch(transport, shadow, judged=report.judged, begun=report.begun, said=report.said)
    try:
        await cluster_watch.run(stop)
    finally:
        await transport.close()
    report.finish()
