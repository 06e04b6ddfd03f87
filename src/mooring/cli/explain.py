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
from mooring.cli.given_manifests import GivenManifests, given_manifests, manifest_options
from mooring.kube.errors import InputError
from mooring.runway.explain.explain_target import NODE, ExplainTarget, parse_targets

if TYPE_CHECKING:
    from mooring.cli.answers.answer import Question, ShownAnswer
    from mooring.runtime.settings import Configuration
    from mooring.runway.sources.cluster_source import ClusterSource

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
@click.option("-w", "--watch", is_flag=True, help="Answer again when the answer changes, until Ctrl-C.")
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
    watch: bool,
    no_color: bool,
    configuration: Configuration,
) -> int:
    """Say where a pod lands and why, or what keeps it off every node and what would help.

    \b
      mooring explain pod/web-0 -n shop
      mooring explain deployment/web
      mooring explain node/gpu-1
      mooring explain pods -A
      mooring explain -f pod.yaml
      mooring explain -k overlays/production
      mooring explain -f pod.yaml --snapshot cluster.yaml
      mooring explain pods -A --watch

    The cluster is the one of your kubeconfig, or a file that mooring snapshot or kubectl get -o yaml wrote. Nothing is
    ever written to a cluster.

    KIND/NAME is a pod, a workload (deployment, job, ...) or a node; pods stands for all that wait for a node. Of a node
    it says what is free, what keeps pods off, and which of those that wait it gets. A pod that runs already is
    explained as if it were not yet placed. FILE, a file or a folder of them, may hold Pods, Deployments, ReplicaSets,
    StatefulSets, DaemonSets, Jobs, CronJobs, ReplicationControllers and the workloads of features; their pods are
    placed one after another.

    The exit code is 0 when every pod lands (by preemption too), 2 when one cannot, 3 when one may, because something
    about it cannot be known, and 1 when the input is wrong. About a node it is 0. With --watch it is that of the last
    answer.
    """
    given = given_manifests(files, recursive, kustomization)
    target = _target(targets, given)
    if "-" in given.files and "-" in snapshots:
        raise InputError("standard input can be read once only: give -f or --snapshot as a file")
    if everywhere and namespace:
        raise InputError("-A and -n cannot be given together")

    from mooring.cli.answers.answer import Question

    asked = Question(
        target,
        given,
        configuration,
        namespace,
        everywhere,
        thorough=form != "text",
        all_nodes=all_nodes,
        limit=limit,
        percentage=percentage,
    )
    from mooring.cli.answers.display import AnswerDisplay

    display = AnswerDisplay(form, colour=not no_color, watched=watch)
    if watch:
        if snapshots or "-" in given.files:
            what = "--snapshot" if snapshots else "-f -"
            raise InputError(f"--watch follows a cluster and reads manifests again: it cannot be given with {what}")
        import asyncio

        from mooring.cli.answers.watch import watch_answers

        return asyncio.run(watch_answers(*connect(kubeconfig, context), asked, _answer, display))
    cluster_source = _cluster_source(snapshots, kubeconfig, context)
    try:
        answer = _answer(cluster_source, asked)
    finally:
        cluster_source.close()
    display.show(answer)
    return answer.exit_code


def _answer(cluster_source: ClusterSource, asked: Question) -> ShownAnswer:
    if asked.target is not None and asked.target.kind == NODE:
        from mooring.cli.answers.node import answer_node

        return answer_node(cluster_source, asked)
    from mooring.cli.answers.pods import answer_pods

    return answer_pods(cluster_source, asked)


def _cluster_source(snapshots: tuple[str, ...], kubeconfig: Path | None, context: str | None) -> ClusterSource:
    if not snapshots:
        from mooring.runway.sources.live_source import PAGE, LiveSource

        return LiveSource(*connect(kubeconfig, context, page=PAGE))
    if kubeconfig is not None or context is not None:
        raise InputError("--snapshot takes the place of a cluster: give it, or --kubeconfig and --context")
    from mooring.cli.sources.snapshot_source import SnapshotSource

    return SnapshotSource(snapshots)


def _target(words: tuple[str, ...], given: GivenManifests) -> ExplainTarget | None:
    """What to look up in the cluster, or None when files say what to place."""
    if not words:
        if not given:
            raise InputError(
                "say what to explain: -f FILE, pod/NAME, deployment/NAME, node/NAME, or pods for all that wait"
            )
        return None
    target = parse_targets(words)
    if given:
        option = "-f" if given.files else "-k"
        raise InputError(f"{' '.join(words)} and {option} cannot be explained together: give one of them")
    return target
