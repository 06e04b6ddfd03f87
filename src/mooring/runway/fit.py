"""Whether a deployment fits the cluster, before anything is created: which nodes match, are ready and have room, where
its pods would land, and what would help those that find no place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from mooring.features.workspaces.sizing.gpus import NodeGpus
from mooring.kube.errors import MooringError, unique_texts
from mooring.kube.words import and_more, counted, share
from mooring.placement.causes.nodes import all_node_causes
from mooring.placement.engine import Engine
from mooring.placement.scheduler_cache import SchedulerCache
from mooring.placement.snapshot import Snapshot
from mooring.runtime.settings import DEFAULTS, Configuration
from mooring.runway.corrected_labels import corrected_labels
from mooring.runway.deployments.config import DeploymentConfig
from mooring.runway.explain.asked_pods.found_pods import FoundPods
from mooring.runway.explain.asked_pods.given import GivenList
from mooring.runway.explain.asked_pods.manifest_pods import read_manifest_pods
from mooring.runway.explain.explainer import Explainer, PodOutcome, all_land
from mooring.runway.models.sizing import recommended_for
from mooring.runway.node_facts import gpu_memory_gib, is_ready, labels_of
from mooring.runway.preflight import selector_warnings
from mooring.runway.proposals import Proposal, proposal
from mooring.runway.providers.deployment_kinds import selected_labels
from mooring.runway.providers.registry import deployment_manifests
from mooring.runway.settings import RunwaySettings

__all__ = ["Fit", "FitVerdict", "NodeFit", "PlacedPod", "PodCounts", "deployment_fit"]

FitVerdict = Literal["lands", "cannot", "may"]

_MOST_ADVICE: Final = 5
_MOST_NAMES: Final = 5


class NodeFit(msgspec.Struct, frozen=True):
    """`fits` says whether the first pod of the deployment would be taken; `reason` why not."""

    name: str
    matches: bool
    ready: bool
    fits: bool
    reason: str


class BlockingCause(msgspec.Struct, frozen=True):
    plugin: str
    text: str


class BlockedNodes(msgspec.Struct, frozen=True):
    """Nodes that the first pod which waits is kept off by the same causes."""

    nodes: tuple[str, ...]
    causes: tuple[BlockingCause, ...]


class PodCounts(msgspec.Struct, frozen=True):
    wanted: int
    land: int


class PlacedPod(msgspec.Struct, frozen=True):
    pod: str
    node: str
    gpus: int


class Fit(msgspec.Struct, frozen=True):
    """`matching`, `ready` and `fits` count nodes; each is a part of the one before."""

    verdict: FitVerdict
    message: str
    matching: int
    ready: int
    fits: int
    pods: PodCounts
    placements: tuple[PlacedPod, ...]
    nodes: tuple[NodeFit, ...]
    blocked: tuple[BlockedNodes, ...]
    advice: tuple[Proposal, ...]
    warnings: tuple[str, ...]


def deployment_fit(
    config: DeploymentConfig,
    settings: RunwaySettings,
    snapshot: Snapshot,
    configuration: Configuration = DEFAULTS,
    *,
    advised: bool = True,
) -> Fit:
    """What would come of a deployment. Its pods are placed in the snapshot, which is of no use to others afterwards.

    Trying out what would help takes longer than all the rest: `advised`. Raises MooringError for a deployment whose
    pods cannot be told.
    """
    found, selector = _deployed_pods(config, settings, snapshot, configuration)
    engine = Engine(snapshot.cluster)
    nodes = _node_fits(engine, found, selector)
    warnings = [*found.notes, *_warnings(config, snapshot.cluster, selector)]
    explainer = Explainer(engine, snapshot, thorough=False, each_node=False, limit=_MOST_ADVICE if advised else 0)
    outcomes = list(explainer.run(found.pods))
    if advised and not all_land(outcomes):
        explainer.weigh(outcomes)
    landed = [outcome for outcome in outcomes if outcome.lands]
    verdict, message = _verdict(found, outcomes, landed)
    advice = [proposal(each) for outcome in outcomes if outcome.like is None for each in outcome.advice]
    if advised and not landed:
        advice = [*_correction(config, settings, snapshot, configuration, advice), *advice]
    matching = [node for node in nodes if node.matches]
    ready = [node for node in matching if node.ready]
    return Fit(
        verdict=verdict,
        message=message,
        matching=len(matching),
        ready=len(ready),
        fits=sum(node.fits for node in ready),
        pods=PodCounts(len(outcomes) or config.replicas * config.nodes, len(landed)),
        placements=tuple(PlacedPod(each.unplaced.view.metadata.name, each.node, config.gpus) for each in landed),
        nodes=nodes,
        blocked=_blocked(snapshot.cluster, outcomes),
        advice=tuple(advice),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _deployed_pods(
    config: DeploymentConfig, settings: RunwaySettings, snapshot: Snapshot, configuration: Configuration
) -> tuple[FoundPods, dict[str, str]]:
    """The pods of a deployment, and the labels that it selects nodes by."""
    main = deployment_manifests(config, settings)[0]
    found = read_manifest_pods(
        snapshot, GivenList("deployment", [main]), config.namespace, config.namespace, configuration
    )
    if config.provider != "mooring":
        # Our own webhook refuses what could not start at once. Other operators create it, and its pods wait.
        for unplaced in found.pods:
            unplaced.errors = ()
    return found, selected_labels(main)


def _correction(
    config: DeploymentConfig,
    settings: RunwaySettings,
    snapshot: Snapshot,
    configuration: Configuration,
    known: Iterable[Proposal],
) -> Iterable[Proposal]:
    """The same deployment with its misspelt labels put right: whoever asks can still write it otherwise, also where its
    kind can not be changed later. Nothing of it may be placed in the snapshot yet.
    """
    engine = Engine(snapshot.cluster)
    nodes = [labels_of(node) for node in snapshot.cluster.nodes if node is not None]
    corrections = corrected_labels(config.label_selector, nodes)
    edits = tuple(edit for each in corrections for edit in each.edits)
    if not edits or any(each.edits == edits for each in known):
        return
    labels = dict(config.label_selector)
    for each in corrections:
        del labels[each.key]
        labels[each.right_key] = each.right_value
    right = msgspec.structs.replace(config, label_selector=labels)
    found, selector = _deployed_pods(right, settings, snapshot, configuration)
    matching = [node for node in _node_fits(engine, found, selector) if node.matches]
    outcomes = list(Explainer(engine, snapshot, thorough=False, each_node=False, limit=0).run(found.pods))
    landed = [outcome for outcome in outcomes if outcome.lands]
    text = "; ".join(each.text for each in corrections)
    if not landed and (off := [node for node in matching if not node.fits]):
        names = and_more([node.name for node in off if node.reason == off[0].reason], _MOST_NAMES)
        text = f"{text}. Still in the way on {names}: {off[0].reason}"
    yield Proposal(text, len(landed), disruptive=False, edits=edits, nodes=tuple({each.node: None for each in landed}))


def _blocked(cluster: SchedulerCache, outcomes: Sequence[PodOutcome]) -> tuple[BlockedNodes, ...]:
    first = next((outcome for outcome in outcomes if not outcome.lands), None)
    return tuple(
        BlockedNodes(
            tuple(cluster.names[slot] for slot in group.slots.tolist()),
            tuple(BlockingCause(cause.plugin, cause.text) for cause in group.causes),
        )
        for group in (first.blocked if first is not None else ())
    )


def _node_fits(engine: Engine, found: FoundPods, selector: Mapping[str, str]) -> tuple[NodeFit, ...]:
    """Every node, as the first pod finds it."""
    cluster, wanted = engine.cluster, selector.items()
    reasons, feasible = _first_pod(engine, found)
    nodes = []
    for name, slot in sorted(cluster.slots.items()):
        node = cluster.nodes[slot]
        assert node is not None, "a slot that has a name has a node"
        matches, ready = wanted <= labels_of(node).items(), is_ready(node)
        fits = matches and ready and slot in feasible
        reason = "" if fits else reasons.get(slot) or _label_reason(selector, labels_of(node), ready)
        nodes.append(NodeFit(name, matches, ready, fits, reason))
    return tuple(nodes)


def _first_pod(engine: Engine, found: FoundPods) -> tuple[dict[int, str], frozenset[int]]:
    """What keeps the first pod off each slot, and the slots that would take it."""
    if not found.pods:
        return {}, frozenset()
    try:
        explanation = engine.explain(engine.cluster.compiler.compile(found.pods[0].view), 0)
    except MooringError:
        return {}, frozenset()
    causes = all_node_causes(explanation)
    reasons = {slot: "; ".join(cause.text for cause in each) for slot, each in causes.items()}
    return reasons, frozenset(explanation.feasible.tolist())


def _label_reason(selector: Mapping[str, str], labels: Mapping[str, str], ready: bool) -> str:
    missing = [f"{key}={value}" for key, value in selector.items() if labels.get(key) != value]
    if missing:
        return f"has not the label {', '.join(missing)}"
    return "" if ready else "is not ready"


def _verdict(found: FoundPods, outcomes: Sequence[PodOutcome], landed: Sequence[PodOutcome]) -> tuple[FitVerdict, str]:
    refused = [error for workload in found.workloads for error in workload.errors]
    refused += [error for outcome in outcomes for error in outcome.unplaced.errors]
    if refused:
        return "cannot", f"it would be refused: {'; '.join(unique_texts(refused))}"
    waits = next((workload.waits for workload in found.workloads if workload.waits), "")
    if not outcomes:
        return "cannot", waits or "no pod would come of it"
    if len(landed) < len(outcomes):
        first = next(outcome for outcome in outcomes if not outcome.lands)
        name = first.unplaced.view.metadata.name
        return "cannot", f"{share(len(landed), len(outcomes), 'pods')} can be scheduled; {name}: {first.message}"
    unknowns = tuple(dict.fromkeys(text for outcome in outcomes for text in outcome.unknowns))
    if unknowns:
        return "may", f"all pods land as far as is known: {'; '.join(unknowns)}"
    where = and_more([f"{each.unplaced.view.metadata.name} on {each.node}" for each in landed], _MOST_NAMES)
    preempted = sum(len(outcome.victims) for outcome in landed)
    return (
        "lands",
        f"would be scheduled: {where}{f'; {preempted} running pods would be preempted' if preempted else ''}",
    )


def _warnings(config: DeploymentConfig, cluster: SchedulerCache, selector: Mapping[str, str]) -> Iterable[str]:
    if not config.needs_gpu:
        return
    known = [node for node in cluster.nodes if node is not None]
    for warning in selector_warnings(known, selector):
        yield warning.message
    if config.model_source != "vllm":
        return
    memories = {gpu_memory_gib(labels_of(node)) for node in known if selector.items() <= labels_of(node).items()} - {0}
    for gib in sorted(memories):
        total = NodeGpus(config.gpus * config.nodes, config.gpus * config.nodes * gib)
        needed = recommended_for(config.model_id, total)
        if needed is not None and needed.nodes > 1:
            yield (
                f"{config.model_id} does not fit into {counted(total.gpus, 'GPU')} of {gib} GiB: ask for more with "
                "resources.gpu, or for several nodes"
            )
