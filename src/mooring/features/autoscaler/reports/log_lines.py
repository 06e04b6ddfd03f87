"""Lines of the autoscaler's log, in the words that people search it for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mooring.features.autoscaler.discovery import DiscoveredGroups
from mooring.features.autoscaler.loop import LoopDecision

__all__ = ["discovery_lines", "loop_lines"]


def discovery_lines(found: DiscoveredGroups) -> Iterator[str]:
    for group in found.groups:
        yield f"discovered nodegroup: {group.name} (min: {group.min}, max: {group.max}, replicas: {group.target})"
    yield from found.problems.values()


def loop_lines(decision: LoopDecision) -> Iterator[str]:
    if not decision.state.healthy:
        yield "Cluster is not ready for autoscaling: too many nodes are unready"
    for group, target in decision.lower.items():
        yield f"Lowering size of {group} to {target}: no more nodes came in time"
    yield from _scale_up_lines(decision)
    yield from _scale_down_lines(decision)


def _scale_up_lines(decision: LoopDecision) -> Iterator[str]:
    grown = decision.scale_up
    for group in grown.groups:
        yield from (f"Pod {each.key} is unschedulable" for each in group.pods)
    for name, reason in grown.skipped.items():
        yield f"Skipping node group {name} - {reason}"
    for group in grown.groups:
        for name, reasons in group.rejected.items():
            yield f"Pod {group.example.key} can't be scheduled on {name}: {_listed(reasons)}"
    for option in grown.options:
        yield f"Estimated {option.nodes} nodes needed in {option.group.name} for {len(option.pods)} pods"
    if grown.chosen is not None:
        yield f"Best option to resize: {grown.chosen.group.name}"
        yield f"Final scale-up plan: [{' '.join(map(str, grown.plan))}]"
    if grown.error:
        yield f"Failed to scale up: {grown.error}"


def _scale_down_lines(decision: LoopDecision) -> Iterator[str]:
    if decision.unneeded is None:
        return
    for each in decision.unneeded.unremovable:
        blocking = "" if each.blocking is None else f" {each.blocking.pod.key} ({each.blocking.reason})"
        yield f"Node {each.node} is not removable: {each.reason}{blocking}"
    since = decision.unneeded.memory.unneeded_since
    for node in decision.unneeded.removable:
        yield f"Node {node.node} is unneeded since {since[node.node]:%Y-%m-%dT%H:%M:%SZ}"
    if decision.deletion is None:
        yield "Scale-down is in cooldown"
        return
    yield from (f"Node {each.node} is held: {each.reason}" for each in decision.deletion.held)
    for name in (*decision.deletion.empty, *decision.deletion.drain):
        yield f"Scale-down: removing node {name}"


def _listed(reasons: Iterable[str]) -> str:
    return ", ".join(reasons) or "filtered out by name"
