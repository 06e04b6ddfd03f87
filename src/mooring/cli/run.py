"""`mooring run`: chosen controllers against any cluster, from a kubeconfig or inside of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mooring.cli.connecting import cluster_options
from mooring.cli.errors import Command, InputError, exit_code

if TYPE_CHECKING:
    from mooring.runtime.controller import Controller


@click.command(cls=Command)
@click.option("--list", "listing", is_flag=True, help="Name all controllers, and stop.")
@click.option(
    "--controllers",
    "names",
    metavar="LIST",
    help="Which controllers run: a,b for these, -c for the usual ones without c, * for all.",
)
@cluster_options
@click.option(
    "--leader-elect/--no-leader-elect",
    "elect",
    default=True,
    show_default=True,
    help="Of several replicas let one work at a time, by a Lease in the namespace of the context.",
)
@click.option("--health", metavar="HOST:PORT", help="Serve /readyz, /livez and /metrics here. Port 0 takes a free one.")
@exit_code
def command(
    listing: bool, names: str | None, kubeconfig: Path | None, context: str | None, elect: bool, health: str | None
) -> int:
    """Run chosen controllers against any cluster, until it is stopped.

    \b
      mooring run --list
      mooring run --controllers nodes --no-leader-elect

    Without --controllers only those run that no Kubernetes has of its own. Inside a pod its service account is used.
    SIGTERM or Ctrl-C ends it: what is being written is finished first.
    """
    from mooring.builtin.crew import whole_crew
    from mooring.cli.running.address import parse_address
    from mooring.cli.running.guests import SAFE
    from mooring.cli.running.selection import select_controllers

    crew = whole_crew(every_node=False)
    if listing:
        _list(crew)
        return 0
    chosen = SAFE if names is None else select_controllers(names, SAFE)
    if not chosen:
        raise InputError(f"--controllers {names} leaves none; mooring run --list names them all")
    address = None if health is None else parse_address(health, "--health")

    from mooring.cli.running.guest_process import run_controllers
    from mooring.client.kubeconfig import find_access
    from mooring.runtime.loops import run

    access = find_access(kubeconfig, context)
    run(run_controllers([c for c in crew if c.name in chosen], access, elect=elect, health=address))
    return 0


def _list(crew: Sequence[Controller]) -> None:
    from mooring.cli.running.guests import SAFE, described

    width = max(len(controller.name) for controller in crew)
    for controller in crew:
        mark = "*" if controller.name in SAFE else " "
        click.echo(f"{mark} {controller.name:{width}}  {described(controller)}")
    click.echo("\n* runs unless others are chosen. The rest is what Kubernetes has of its own.")
