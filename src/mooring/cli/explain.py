"""`mooring explain`: where a pod lands, why not, and the smallest change that would let it.

Everything heavy is imported inside the command, so that its help is as quick as that of the whole program.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from mooring.catalog import CATALOG
from mooring.cli.cluster_access import cluster_options, connect
from mooring.cli.configuration import configured
from mooring.cli.errors import Command, exit_code
from mooring.cli.explain_target import ExplainTarget, parse_target
from mooring.cli.given_manifests import GivenManifests, given_manifests, manifest_options
from mooring.kube.errors import InputError

if TYPE_CHECKING:
    from mooring.cli.sources.cluster_source import ClusterSource
    from mooring.runtime.settings import Configuration

FORMATS = ("text", "json", "yaml")
ADVICE = 5
ALL_NODES = 100


@click.command(cls=Command)
@click.argument("targets", nargs=-1, metavar="[KIND/NAME]")
@manifest_options
@click.option(
    "--snapshot",
    "snapshots",
    multiple=True,
    metavar="FILE",
    help="Look at this snapshot of a cluster instead of at the cluster of the kubeconfig.",
)
@cluster_options
@click.option(
    "-n", "--namespace", default="", metavar="NAME", help="Namespace of the pod, or of manifests that name none."
)
@click.option("-A", "--all-namespaces", "everywhere", is_flag=True, help="Look for the pod in all namespaces.")
@click.option("-o", "--output", "form", type=click.Choice(FORMATS), default="text", help="How to answer.")
@click.option("--all-nodes", is_flag=True, help="List every node instead of groups.")
@click.option(
    "--limit",
    type=click.IntRange(0),
    metavar="N",
    default=ADVICE,
    show_default=True,
    help="How many changes that would help to show.",
)
@click.option(
    "--percentage-of-nodes-to-score",
    "percentage",
    type=click.IntRange(0, 100),
    metavar="N",
    default=ALL_NODES,
    show_default=True,
    help="How much of the cluster the scheduler looks at; 0 lets it decide by size, as it does by default.",
)
@click.option("--no-color", is_flag=True, help="No colour on a terminal; elsewhere there is none.")
@exit_code
@configured(CATALOG.workload_settings)
def command(
    targets: tuple[str, ...],
    files: tuple[str, ...],
    recursive: bool,
    kustomization: str,
    snapshots: tuple[str, ...],
    kubeconfig: Path | None,
    context: str | None,
    namespace: str,
    everywhere: bool,
    form: str,
    all_nodes: bool,
    limit: int,
    percentage: int,
    no_color: bool,
    configuration: Configuration,
) -> int:
    """Say where a pod lands and why, or what keeps it off every node and what would help.

    \b
      mooring explain pod/web-0 -n shop
      mooring explain deployment/web
      mooring explain pods -A
      mooring explain -f pod.yaml
      mooring explain -k overlays/production
      mooring explain -f pod.yaml --snapshot cluster.yaml

    The cluster is the one of your kubeconfig, or a file that mooring snapshot or kubectl get -o yaml wrote. Nothing is
    ever written to a cluster.

    KIND/NAME is a pod or a workload (deployment, job, ...); pods stands for all that wait for a node. A pod
    that runs already is explained as if it were not yet placed. FILE, a file or a folder of them, may hold Pods,
    Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs, CronJobs, ReplicationControllers and the workloads of
    features; their pods are placed one after another.

    The exit code is 0 when every pod lands (by preemption too), 2 when one cannot, 3 when one may, because something
    about it cannot be known, and 1 when the input is wrong.
    """
    given = given_manifests(files, recursive, kustomization)
    asked = _asked(targets, given)
    if "-" in given.files and "-" in snapshots:
        raise InputError("standard input can be read once only: give -f or --snapshot as a file")
    if everywhere and namespace:
        raise InputError("-A and -n cannot be given together")

    from mooring.cli.asked_pods.cluster_pods import find_cluster_pods, wanted_by
    from mooring.cli.asked_pods.found_pods import any_held_up
    from mooring.cli.asked_pods.manifest_pods import read_manifest_pods
    from mooring.cli.explainer import Explainer, add_pool_notes, all_land, verdict
    from mooring.placement.engine import Engine

    cluster_source = _cluster_source(snapshots, kubeconfig, context)
    try:
        home = None if everywhere else namespace or cluster_source.namespace
        snapshot = cluster_source.load(wanted_by(asked, home))
        if asked is not None:
            found = find_cluster_pods(cluster_source, snapshot, asked, home, configuration)
        else:
            default = home or cluster_source.namespace
            found = read_manifest_pods(snapshot, given, namespace, default, configuration)
        notes = [*found.notes, *snapshot.remarks({unplaced.key for unplaced in found.pods}), *cluster_source.gaps]
        notes += _sampling(snapshot.cluster.node_count, percentage)
        engine = Engine(snapshot.cluster, percentage)
        explainer = Explainer(
            engine,
            snapshot,
            thorough=form != "text",
            each_node=all_nodes,
            limit=limit,
            pools=cluster_source.pools,
        )
        outcomes = list(explainer.run(found.pods))
        if not all_land(outcomes):
            explainer.weigh(outcomes)
            add_pool_notes(outcomes, explainer.pools, cluster_source.pool_decisions())
    finally:
        cluster_source.close()
    if form == "text":
        from mooring.cli.render.explanation import explanation_page
        from mooring.cli.render.screen import show_page

        page = explanation_page(snapshot.cluster, outcomes, notes, found.workloads, all_nodes=all_nodes)
        show_page(page, colour=not no_color)
    else:
        from mooring.cli.render.data import encode, to_data

        click.echo(encode(to_data(snapshot.cluster, outcomes, notes, found.workloads), form), nl=False)
    return verdict(outcomes, held_up=any_held_up(found.workloads))


def _cluster_source(snapshots: tuple[str, ...], kubeconfig: Path | None, context: str | None) -> ClusterSource:
    if not snapshots:
        from mooring.cli.sources.live_source import PAGE, LiveSource

        return LiveSource(*connect(kubeconfig, context, page=PAGE))
    if kubeconfig is not None or context is not None:
        raise InputError("--snapshot takes the place of a cluster: give it, or --kubeconfig and --context")
    from mooring.cli.sources.snapshot_source import SnapshotSource

    return SnapshotSource(snapshots)


def _asked(targets: tuple[str, ...], given: GivenManifests) -> ExplainTarget | None:
    """What to look up in the cluster, or None when files say what to place."""
    if not targets:
        if not given:
            raise InputError("say what to explain: -f FILE, pod/NAME, deployment/NAME, or pods for all that wait")
        return None
    target, *more = targets
    if more:
        hint = f"write {target}/{more[0]}" if "/" not in target + more[0] else "ask for them one by one"
        raise InputError(f'"{" ".join(targets)}" is more than one target: {hint}')
    if given:
        option = "-f" if given.files else "-k"
        raise InputError(f"{target} and {option} cannot be explained together: give one of them")
    return parse_target(target)


def _sampling(nodes: int, percentage: int) -> list[str]:
    """How the search compares to that of a scheduler at work, where there are so many nodes that they differ."""
    from mooring.placement.selection import MIN_FEASIBLE, wanted_feasible

    if nodes < MIN_FEASIBLE:
        return []
    if percentage == ALL_NODES:
        usual = wanted_feasible(nodes, 0)
        return [f"all {nodes:,} nodes are scored here; a scheduler at work stops at {usual:,} that fit, unless told to"]
    return [f"the search stops at {wanted_feasible(nodes, percentage):,} nodes that fit, counted from the first"]
