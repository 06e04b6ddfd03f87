"""`mooring plan`: workloads carried out in memory, and what comes of every pod."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import click

from mooring.catalog import CATALOG
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
    required=True,
    metavar="FILE",
    help="The cluster, as mooring snapshot or kubectl get ... -A -o yaml writes it.",
)
@click.option("-n", "--namespace", default="default", metavar="NAME", help="Namespace of manifests that name none.")
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
    namespace: str,
    form: str,
    horizon: timedelta,
    no_color: bool,
    configuration: Configuration,
) -> int:
    """Carry workloads out in memory, in virtual time, and say which pod lands where and when.

    \b
      mooring plan -f workload.yaml --snapshot cluster.yaml

    Deployments, StatefulSets, DaemonSets, Jobs and pods are run by Mooring's own controllers on the nodes of the
    snapshot until nothing moves. What stays pending is explained, with what would help.

    The exit code is 0 when every pod lands, 2 when some stay pending or never come, 3 when all land as far as is known
    and something is not, and 1 when the input is wrong.
    """
    given = given_manifests(files, recursive, kustomization)
    if not given:
        raise InputError("say what to plan: -f FILE, or -k DIR")
    if "-" in given.files and "-" in snapshots:
        raise InputError("standard input can be read once only: give -f or --snapshot as a file")

    from mooring.kube.status import ApiError
    from mooring.plan.final_state import unknowns_of
    from mooring.plan.planner import PlannedWorkload, make_plan
    from mooring.plan.simulated_cluster import SimulatedCluster
    from mooring.plan.snapshot import read_snapshot

    cluster = SimulatedCluster((obj for file in snapshots for obj in read_snapshot(file)), configuration=configuration)
    if not cluster.objects("v1", "Node"):
        raise InputError(
            f"{', '.join(snapshots)}: holds no nodes; take the snapshot with "
            "kubectl get nodes,pods,namespaces,services,statefulsets,replicasets -A -o yaml"
        )
    workloads = [PlannedWorkload(each.document.value, each.file) for each in given.objects()]
    try:
        plan = make_plan(cluster, workloads, namespace, horizon)
    except ApiError as error:
        raise InputError(f"{given}: {error}") from None
    unknowns = unknowns_of(plan)
    if form == "text":
        from mooring.cli.render.plan import plan_page
        from mooring.cli.render.screen import show_page

        show_page(plan_page(plan, ADVICE, unknowns), colour=not no_color)
    else:
        from mooring.cli.render.data import encode
        from mooring.runway.explain.plan_data import plan_data

        click.echo(encode(plan_data(plan, ADVICE, unknowns), form), nl=False)
    if plan.pending or plan.waiting or plan.settled.moving:
        return CANNOT_LAND
    return MAY_LAND if unknowns else LANDS
