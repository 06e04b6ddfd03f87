"""The answer about pods: those of manifests, those of a workload of the cluster, or those that wait."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mooring.catalog import CATALOG
from mooring.cli.answers.answer import Question, ShownAnswer
from mooring.cli.asked_pods.cluster_pods import find_cluster_pods, wanted_by
from mooring.cli.asked_pods.found_pods import any_held_up
from mooring.cli.asked_pods.manifest_pods import read_manifest_pods
from mooring.cli.explainer import Explainer, PodOutcome, add_pool_notes, all_land, verdict
from mooring.cli.render.application import add_application
from mooring.cli.render.data import to_data
from mooring.cli.render.explanation import explanation_page
from mooring.cli.render.page import TextPage
from mooring.cli.sources.cluster_source import ClusterSource
from mooring.kube.objects import Object
from mooring.placement.engine import ALL_NODES, Engine
from mooring.placement.selection import MIN_FEASIBLE, wanted_feasible
from mooring.placement.workloads.job_waves import JobWaves, job_waves

__all__ = ["answer_pods"]


def answer_pods(cluster_source: ClusterSource, asked: Question) -> ShownAnswer:
    home = None if asked.everywhere else asked.namespace or cluster_source.namespace
    snapshot = cluster_source.load(wanted_by(asked.target, home))
    if asked.target is not None:
        found = find_cluster_pods(cluster_source, snapshot, asked.target, home, asked.configuration)
    else:
        default = home or cluster_source.namespace
        found = read_manifest_pods(snapshot, asked.given, asked.namespace, default, asked.configuration)
    notes = [*found.notes, *snapshot.remarks({unplaced.key for unplaced in found.pods}), *cluster_source.gaps]
    notes += _sampling(snapshot.cluster.node_count, asked.percentage)
    engine = Engine(snapshot.cluster, asked.percentage)
    explainer = Explainer(engine, snapshot, thorough=asked.thorough, each_node=asked.all_nodes, limit=asked.limit)
    outcomes = list(explainer.run(found.pods))
    if not all_land(outcomes):
        explainer.weigh(outcomes)
        add_pool_notes(outcomes, cluster_source.pools(), cluster_source.pool_decisions())
    waves = _waves(outcomes)

    def page() -> TextPage:
        made = explanation_page(snapshot.cluster, outcomes, notes, found.workloads, waves, all_nodes=asked.all_nodes)
        add_application(made, outcomes, asked.given)
        return made

    return ShownAnswer(
        page,
        lambda: to_data(snapshot.cluster, outcomes, notes, found.workloads, waves),
        verdict(outcomes, held_up=any_held_up(found.workloads)),
    )


def _waves(outcomes: Sequence[PodOutcome]) -> dict[str, JobWaves]:
    """How Jobs run of which not all pods run at once, by owner."""
    landed: Counter[str] = Counter()
    specs: dict[str, Object] = {}
    for outcome in outcomes:
        source = outcome.unplaced.source
        kind = CATALOG.workloads().get(source.kind)
        spec = None if kind is None or source.manifest is None else kind.job_spec(source.manifest)
        if spec is not None:
            specs[str(source)] = spec
            landed[str(source)] += outcome.lands
    if not specs:
        return {}
    # Most questions are not about Jobs, and then there is no need to wait for the import.
    from mooring.nodes.simulated.pods import START_DELAY

    found = {owner: job_waves(spec, landed[owner], START_DELAY) for owner, spec in specs.items()}
    return {owner: waves for owner, waves in found.items() if waves is not None}


def _sampling(nodes: int, percentage: int) -> list[str]:
    """How the search compares to that of a scheduler at work, where there are so many nodes that they differ."""
    if nodes < MIN_FEASIBLE:
        return []
    if percentage == ALL_NODES:
        usual = wanted_feasible(nodes, 0)
        return [f"all {nodes:,} nodes are scored here; a scheduler at work stops at {usual:,} that fit, unless told to"]
    return [f"the search stops at {wanted_feasible(nodes, percentage):,} nodes that fit, counted from the first"]
