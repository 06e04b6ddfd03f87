"""The answer about pods: those of manifests, those of a workload of the cluster, or those that wait."""

from __future__ import annotations

from typing import NamedTuple

from mooring.placement.engine import Engine
from mooring.placement.selection import MIN_FEASIBLE, wanted_feasible
from mooring.placement.snapshot import Snapshot
from mooring.runtime.settings import Configuration
from mooring.runway.explain.asked_pods.cluster_pods import find_cluster_pods, wanted_by
from mooring.runway.explain.asked_pods.found_pods import FoundPods
from mooring.runway.explain.asked_pods.given import Given
from mooring.runway.explain.asked_pods.manifest_pods import read_manifest_pods
from mooring.runway.explain.explain_target import ExplainTarget
from mooring.runway.explain.explainer import Explainer, PodOutcome, add_pool_notes, all_land
from mooring.runway.sources.cluster_source import ClusterSource

__all__ = ["ALL_NODES", "PodAnswer", "PodQuestion", "answer_pods"]

ALL_NODES = 100


class PodQuestion(NamedTuple):
    # What to look up in the cluster, or the manifests that say what to place.
    about: ExplainTarget | Given
    configuration: Configuration
    # The namespace that was given; without it the one of the context counts, or all of them.
    namespace: str = ""
    everywhere: bool = False
    # Whether the whole answer of every pod is wanted, for programs.
    thorough: bool = True
    all_nodes: bool = False
    limit: int = 5
    percentage: int = ALL_NODES


class PodAnswer(NamedTuple):
    snapshot: Snapshot
    found: FoundPods
    outcomes: list[PodOutcome]
    notes: list[str]


def answer_pods(source: ClusterSource, asked: PodQuestion) -> PodAnswer:
    home = None if asked.everywhere else asked.namespace or source.namespace
    target = asked.about if isinstance(asked.about, ExplainTarget) else None
    snapshot = source.load(wanted_by(target, home))
    if isinstance(asked.about, ExplainTarget):
        found = find_cluster_pods(source, snapshot, asked.about, home, asked.configuration)
    else:
        default = home or source.namespace
        found = read_manifest_pods(snapshot, asked.about, asked.namespace, default, asked.configuration)
    notes = [*found.notes, *snapshot.remarks({unplaced.key for unplaced in found.pods}), *source.gaps]
    notes += _sampling(snapshot.cluster.node_count, asked.percentage)
    engine = Engine(snapshot.cluster, asked.percentage)
    explainer = Explainer(
        engine,
        snapshot,
        thorough=asked.thorough,
        each_node=asked.all_nodes,
        limit=asked.limit,
        pools=source.pools,
    )
    outcomes = list(explainer.run(found.pods))
    if not all_land(outcomes):
        explainer.weigh(outcomes)
        add_pool_notes(outcomes, explainer.pools, source.pool_decisions())
    return PodAnswer(snapshot, found, outcomes, notes)


def _sampling(nodes: int, percentage: int) -> list[str]:
    """How the search compares to that of a scheduler at work, where there are so many nodes that they differ."""
    if nodes < MIN_FEASIBLE:
        return []
    if percentage == ALL_NODES:
        usual = wanted_feasible(nodes, 0)
        return [f"all {nodes:,} nodes are scored here; a scheduler at work stops at {usual:,} that fit, unless told to"]
    return [f"the search stops at {wanted_feasible(nodes, percentage):,} nodes that fit, counted from the first"]
