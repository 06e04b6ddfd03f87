"""`mooring plan`: workloads carried out in memory, and what comes of every pod."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mooring.catalog import CATALOG
from mooring.cli.cluster_access import cluster_options, connect
from mooring.cli.configuration import configured
from mooring.cli.durations import duration
from mooring.cli.errors import CANNOT_LAND, LANDS, MAY_LAND, Command, exit_code
from mooring.cli.given_manifests import given_manifests, manifest_options
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.runtime.settings import Configuration

FORMATS = ("text", "json", "yaml")
ADVICE = 3


@click.command(cls=Command)
@manifest_options
@click.option(
    "--snapshot",
    "snapshots",
    multiple=True,
    metavar="FILE",
    help="Start from this snapshot of a cluster instead of from the cluster of the kubeconfig.",
)
@cluster_options
@click.option("-n", "--namespace", default="", metavar="NAME", help="Namespace of manifests that name none.")
@click.option("-o", "--output", "form", type=click.Choice(FORMATS), default="text", help="How to answer.")
@click.option(
    "--horizon",
    callback=duration,
    default="1h",
    show_default=True,
    metavar="TIME",
    help="Virtual time after which a plan that has not settled is cut off.",
)
@click.option("--no-color", is_flag=True, help="No colour on a terminal; elsewhere there is none.")
@exit_code
@configured(CATALOG.settings)
def command(
    files: tuple[str, ...],
    recursive: bool,
    kustomization: str,
    snapshots: tuple[str, ...],
    kubeconfig: Path | None,
    context: str | None,
    namespace: str,
    form: str,
    horizon: timedelta,
    no_color: bool,
    configuration: Configuration,
) -> int:
    """Carry workloads out in memory, in virtual time, and say which pod lands where and when.

    \b
      mooring plan -f workload.yaml
      mooring plan
      mooring plan -f workload.yaml --snapshot cluster.yaml

    Deployments, StatefulSets, DaemonSets, Jobs and pods are run by Mooring's own controllers on the nodes of the
    cluster of your kubeconfig, or of a snapshot, until nothing moves. Without -f it is what waits there now. What stays
    pending is explained, with what would help. Nothing is ever written to a cluster.

    The exit code is 0 when every pod lands, 2 when some stay pending or never come, 3 when all land as far as is known
    and something is not, and 1 when the input is wrong.
    """
    given = given_manifests(files, recursive, kustomization)
    if "-" in given.files and "-" in snapshots:
        raise InputError("standard input can be read once only: give -f or --snapshot as a file")
    if snapshots and (kubeconfig is not None or context is not None):
        raise InputError("--snapshot takes the place of a cluster: give it, or --kubeconfig and --context")

    from mooring.cli.sources.plan_start import start_of_cluster, start_of_snapshot
    from mooring.kube.status import ApiError
    from mooring.plan.final_state import unknowns_of
    from mooring.plan.planner import PlannedWorkload, make_plan
    from mooring.runway.sources.live_source import PAGE

    workloads = [PlannedWorkload(each.document.value, each.file) for each in given.objects()]
    start = (
        start_of_snapshot(snapshots, configuration)
        if snapshots
        else start_of_cluster(*connect(kubeconfig, context, page=PAGE), configuration)
    )
    try:
        plan = make_plan(start.cluster, workloads, namespace or start.namespace, horizon)
    except ApiError as error:
        raise InputError(f"{given}: {error}") from None
    if start.pools is not None:
        plan.pools, plan.pool_decisions = start.pools, start.pool_decisions
    plan.notes += start.notes
    unknowns = unknowns_of(plan)
    if form == "text":
        from mooring.cli.render.plan import plan_page
        from mooring.cli.render.screen import show_page

        show_page(plan_page(plan, ADVICE, unknowns, given), colour=not no_color)
    else:
        from mooring.cli.render.data import encode
        from mooring.runway.explain.plan_data import plan_data

        click.echo(encode(plan_data(plan, ADVICE, unknowns), form), nl=False)
    if plan.pending or plan.waiting or plan.settled.moving:
        return CANNOT_LAND
    return MAY_LAND if unknowns else LANDS
