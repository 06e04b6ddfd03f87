"""`mooring doctor`: what is wrong with pools and hosts, and the command that mends each."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import click

from mooring.cli.cluster_access import cluster_options
from mooring.cli.errors import Command, exit_code
from mooring.cli.sources.pool_source import fetch_pools

_FINDINGS: Final = 2


@click.command(cls=Command)
@cluster_options
@exit_code
def command(kubeconfig: Path | None, context: str | None) -> int:
    """Say what keeps pools from their nodes, and how to mend it. Nothing is written to the cluster.

    The exit code is 0 when nothing is found, 2 when something is, and 1 when the cluster cannot be read.
    """
    read, _ = fetch_pools(kubeconfig, context)
    findings = read.report.diagnose(read.world, read.decisions)
    for finding in findings:
        click.echo(f"{finding.about}: {finding.problem}")
        click.echo(f"  {finding.command}")
    if not findings:
        click.echo("Nothing is wrong with pools and hosts.")
    return _FINDINGS if findings else 0
