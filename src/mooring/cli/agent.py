"""`mooring agent`: makes this machine a host that pools can claim, and a node of Kubernetes while one has."""

from __future__ import annotations

import logging
import os
import socket
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

import mooring
from mooring.cli.durations import duration
from mooring.cli.errors import Command, exit_code
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.agents.host.settings import AgentSettings

DEFAULT_ROOT: Final = "/var/lib/mooring-agent"
YEAR_SECONDS: Final = 31_536_000
# What the API accepts as the life of a certificate.
SHORTEST_LIFE_SECONDS: Final = 600


@click.command(cls=Command)
@click.option("--namespace", default="default", show_default=True, help="The namespace that the host is registered in.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label of the host; several with commas.")
@click.option("--hostname-override", "name", metavar="NAME", help="The name of the host and its node.")
@click.option("--kubeconfig", type=click.Path(path_type=Path), metavar="FILE", help="The kubeconfig to come in with.")
@click.option(
    "--bootstrap-kubeconfig",
    "bootstrap",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A kubeconfig with a bootstrap token, with which the agent asks for a certificate of its own.",
)
@click.option(
    "--certExpiryDuration",
    "life",
    type=int,
    default=YEAR_SECONDS,
    show_default=True,
    metavar="SECONDS",
    help="How long that certificate shall count; it is renewed when a fifth of it is left.",
)
@click.option(
    "--root",
    type=click.Path(path_type=Path),
    default=DEFAULT_ROOT,
    show_default=True,
    metavar="DIR",
    help="The folder that holds everything the agent writes.",
)
@click.option(
    "--downloadpath",
    "download",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Bundles: programs in bin/, images as archives in images/. ROOT/bundles unless given.",
)
@click.option("--skip-installation", is_flag=True, help="Run no install scripts: Kubernetes is on this machine.")
@click.option(
    "--pod-cidr",
    metavar="CIDR",
    help="Addresses for pods here; none where the cluster brings a network. Part of 10.244.0.0/16 unless given.",
)
@click.option("--sandbox-image", metavar="IMAGE", default="", help="The image of pods' sandboxes, the pause image.")
@click.option(
    "--heartbeat-interval",
    "beat",
    default="30s",
    show_default=True,
    callback=duration,
    help="How often it is heard of.",
)
@click.option(
    "--script-timeout", "script", default="20m", show_default=True, callback=duration, help="For each install script."
)
@click.option(
    "--join-timeout", "join", default="5m", show_default=True, callback=duration, help="For the kubelet's certificate."
)
@click.option(
    "--metricsbindaddress",
    "metrics",
    default=":8080",
    show_default=True,
    metavar="HOST:PORT",
    help="Serve /metrics, /readyz and /livez here; 0 serves none.",
)
@click.option("--feature-gates", "gates", multiple=True, metavar="NAME=BOOL", help="Accepted; this agent has none.")
@click.option(
    "-v", "verbosity", type=int, default=0, show_default=True, metavar="LEVEL", help="4 and more: debug logs."
)
@click.option("--reset", is_flag=True, help="Remove everything of a claim from this machine, and stop.")
@click.option("--dry-run", is_flag=True, help="Print what would be registered and done, and change nothing.")
@click.option("--version", is_flag=True, help="Print the version, and stop.")
@exit_code
def command(
    namespace: str,
    labels: tuple[str, ...],
    name: str | None,
    kubeconfig: Path | None,
    bootstrap: Path | None,
    life: int,
    root: Path,
    download: Path | None,
    skip_installation: bool,
    pod_cidr: str | None,
    sandbox_image: str,
    beat: timedelta,
    script: timedelta,
    join: timedelta,
    metrics: str,
    gates: tuple[str, ...],
    verbosity: int,
    reset: bool,
    dry_run: bool,
    version: bool,
) -> int:
    """Register this machine as a host, and make it a node of Kubernetes when a pool claims it.

    \b
      mooring agent --bootstrap-kubeconfig bootstrap.yaml --label purpose=worker
      mooring agent --kubeconfig admin.yaml --skip-installation --dry-run
      mooring agent --reset

    Runs as root until it is stopped; a node that is there by then goes on without it.
    """
    if version:
        click.echo(f"mooring agent {mooring.__version__}")
        return 0
    from mooring.agents.host.node.pod_network import default_pod_cidr, parse_pod_cidr
    from mooring.agents.host.root_folder import RootFolder
    from mooring.agents.host.services.systemd import systemd_runs
    from mooring.agents.host.settings import AgentSettings, parse_labels
    from mooring.nodes.process.machine_info import node_name

    host = _host_name(name) if name else node_name(socket.gethostname())
    folder = RootFolder(root.absolute())
    settings = AgentSettings(
        name=host,
        namespace=_namespace(namespace),
        root=folder,
        download_path=(download or folder.bundles).absolute(),
        labels=parse_labels(labels),
        skip_installation=skip_installation,
        pod_cidr=parse_pod_cidr(pod_cidr) if pod_cidr else default_pod_cidr(host),
        sandbox_image=sandbox_image,
        systemd=systemd_runs(),
        heartbeat_interval=beat,
        script_timeout=script,
        join_timeout=join,
    )
    address = _metrics_address(metrics)
    if gates and any(gates):
        raise InputError(f"--feature-gates {','.join(gates)}: this agent has no feature gates")
    if kubeconfig is not None and bootstrap is not None:
        raise InputError("--kubeconfig and --bootstrap-kubeconfig cannot be given together; the first needs no token")
    if life < SHORTEST_LIFE_SECONDS:
        raise InputError(f"--certExpiryDuration {life}: the API issues none for less than {SHORTEST_LIFE_SECONDS} s")
    if dry_run:
        return _dry_run(settings, kubeconfig)
    if os.geteuid():
        raise InputError("mooring agent must run as root: it starts containers, mounts and removes what they leave")
    _log_to_stderr(verbosity)

    from mooring.agents.host.process import AgentAccess, reset_machine, run_agent
    from mooring.runtime.drivers.eventloop import run

    if reset:
        run(reset_machine(settings))
        click.echo(f"nothing of a claim is left below {settings.root.path}")
        return 0
    run(run_agent(settings, AgentAccess(kubeconfig, bootstrap, life), address))
    return 0


def _dry_run(settings: AgentSettings, kubeconfig: Path | None) -> int:
    import asyncio

    from mooring.agents.host.dry_run import preview

    for line in asyncio.run(preview(settings, kubeconfig)):
        click.echo(line)
    return 0


def _host_name(name: str) -> str:
    from mooring.kube.names import is_dns1123_subdomain

    if problems := is_dns1123_subdomain(name):
        raise InputError(f'--hostname-override "{name}": {problems[0]}')
    return name


def _namespace(name: str) -> str:
    from mooring.kube.names import is_dns1123_label

    if problems := is_dns1123_label(name):
        raise InputError(f'--namespace "{name}": {problems[0]}')
    return name


def _metrics_address(text: str) -> tuple[str, int] | None:
    from mooring.supervisor.address import parse_address

    if text == "0":
        return None
    found = parse_address(f"0.0.0.0{text}" if text.startswith(":") else text, "--metricsbindaddress")
    return found.host, found.port


def _log_to_stderr(verbosity: int) -> None:
    from mooring.supervisor.logs import log_as_json

    if sys.stderr.isatty():
        logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    else:
        log_as_json()
    if verbosity >= 4:
        logging.getLogger("mooring").setLevel(logging.DEBUG)
