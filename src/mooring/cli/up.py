"""`mooring up`: a Kubernetes API with controllers and simulated nodes on this machine, until it is stopped."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mooring.catalog import CATALOG
from mooring.cli.configuration import configured
from mooring.cli.errors import Command, exit_code
from mooring.cli.runway.options import gpu_operator_options, kaito_options
from mooring.kube.errors import InputError
from mooring.kube.objects import Object
from mooring.supervisor.address import DEFAULT_PORT

if TYPE_CHECKING:
    from mooring.runtime.settings import Configuration


@click.command(cls=Command)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=".mooring",
    show_default=True,
    metavar="DIR",
    help="Folder of the cluster: its data, kubeconfig, certificates, tokens and logs.",
)
@click.option(
    "--bind",
    "place",
    default=f"127.0.0.1:{DEFAULT_PORT}",
    show_default=True,
    metavar="HOST:PORT",
    help="Where to serve the API. Port 0 takes a free one.",
)
@click.option("--ephemeral", is_flag=True, help="Keep data in memory, so that every start is an empty cluster.")
@click.option(
    "--accept-data-loss",
    is_flag=True,
    help="Go on with data that lack their last writes, as after a log was lost. Nothing else brings them back.",
)
@click.option("--fleet", type=click.Path(path_type=Path), metavar="FILE", help="Nodes to start with, as YAML.")
@click.option(
    "--controllers",
    "names",
    default="*",
    show_default=True,
    metavar="LIST",
    help="Which controllers run: a,b for these, -c for all but one, * for all.",
)
@click.option(
    "--ui-port",
    "page_port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Where to serve the page and its REST API, on this machine only. Port 0 takes a free one.  "
    "[default: the one after the API's]",
)
@click.option(
    "--audit-log",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Append every request and its outcome to FILE, in the format of kube-apiserver's audit log.",
)
@click.option("--no-ui", is_flag=True, help="Serve no page and no REST API for people.")
@kaito_options
@gpu_operator_options
@exit_code
@configured(CATALOG.settings)
def command(
    data: Path,
    place: str,
    ephemeral: bool,
    accept_data_loss: bool,
    fleet: Path | None,
    names: str,
    page_port: int | None,
    audit_log: Path | None,
    no_ui: bool,
    kaito_version: str | None,
    kaito_repository: str | None,
    gpu_operator_version: str | None,
    gpu_operator_repository: str | None,
    configuration: Configuration,
) -> int:
    """Run a Kubernetes API with controllers and simulated nodes on this machine, until it is stopped.

    \b
      mooring up
      export KUBECONFIG=$PWD/.mooring/kubeconfig
      kubectl get nodes

    Ctrl-C stops it. What was written is there again at the next start.
    """
    from mooring.supervisor.supervisor import Signals

    signals = Signals()
    from mooring.runway.settings import runway_settings
    from mooring.supervisor.address import bind, parse_address
    from mooring.supervisor.data_folder import DataFolder
    from mooring.supervisor.page_address import page_beside
    from mooring.supervisor.selection import PROCESS_NODE, select_controllers

    if no_ui and page_port is not None:
        raise InputError("--ui-port and --no-ui cannot be given together")
    settings = runway_settings(kaito_version, kaito_repository, gpu_operator_version, gpu_operator_repository)
    controllers = select_controllers(names, extra=(PROCESS_NODE,))
    address = parse_address(place)
    if audit_log is not None:
        from mooring.apiserver.audit.log import check_audit_log

        check_audit_log(audit_log)
    objects = [] if fleet is None else _check_fleet(fleet, controllers)
    folder = DataFolder(data)
    folder.check_free()
    folder.check_whole()
    folder.check_room(data=not ephemeral)
    listening, address = bind(address)
    lock = folder.claim()
    page = None if no_ui else page_beside(address, page_port)

    from mooring.supervisor.embedded import EmbeddedCluster
    from mooring.supervisor.fleet.rights import fleet_rules

    rules = fleet_rules(objects)
    configuration = configuration._replace(running=controllers)
    cluster = EmbeddedCluster(
        folder,
        address,
        listening,
        lock,
        controllers,
        fleet,
        ephemeral,
        configuration,
        rules,
        page,
        accept_data_loss,
        settings,
        audit_log,
    )
    return cluster.run(signals)


def _check_fleet(path: Path, controllers: Collection[str]) -> list[Object]:
    if str(path) == "-":
        raise InputError("--fleet takes a file, not standard input")
    from mooring.supervisor.fleet.manifest import check_fleet

    fleet = check_fleet(path, datetime.now(UTC), controllers)
    if fleet.unattended:
        shown = ", ".join(fleet.unattended[:3]) + (", ..." if len(fleet.unattended) > 3 else "")
        click.echo(
            f"note: {path}: {shown}: not annotated kwok.x-k8s.io/node: fake, so nothing will run there", err=True
        )
    return fleet.objects
