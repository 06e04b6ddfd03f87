"""One loop of the autoscaler: what is put right, what grows and what goes, decided from one look at the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import msgspec

from mooring.features.autoscaler.cluster_state.corrections import instances_to_remove, lowered_targets
from mooring.features.autoscaler.cluster_state.memory import Memory, with_scale_up
from mooring.features.autoscaler.cluster_state.observed_state import ObservedState
from mooring.features.autoscaler.observation import ClusterObjects, Look, look
from mooring.features.autoscaler.scale_down.candidates import scale_down_candidates
from mooring.features.autoscaler.scale_down.deletion import Deletion, nodes_to_delete
from mooring.features.autoscaler.scale_down.deletion_budgets import within_budgets
from mooring.features.autoscaler.scale_down.memory import ScaleDownMemory
from mooring.features.autoscaler.scale_down.planner import UnneededNodes, find_unneeded
from mooring.features.autoscaler.scale_up.decision import ScaleUpDecision
from mooring.features.autoscaler.scale_up.orchestrator import scale_up
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.views import AutoscalerPod

__all__ = ["LoopDecision", "LoopMemory", "decide"]


class LoopMemory(msgspec.Struct, frozen=True):
    """What the next loop must know of this one."""

    state: Memory = Memory()
    scale_down: ScaleDownMemory = ScaleDownMemory()
    scaled_up_at: datetime | None = None
    deleted_at: datetime | None = None
    # When a deletion failed; whoever deletes tells.
    failed_at: datetime | None = None


class LoopDecision(msgspec.Struct, frozen=True):
    state: ObservedState
    memory: LoopMemory
    scale_up: ScaleUpDecision
    # Instances that never became nodes, by group.
    remove: Mapping[str, tuple[str, ...]]
    # New targets of groups that did not get the nodes that they were asked for. Nothing else is done in such a loop.
    lower: Mapping[str, int]
    unneeded: UnneededNodes | None = None
    # Deletions that start now; None while it is too early after what was done before.
    deletion: Deletion | None = None


def decide(
    objects: ClusterObjects,
    pending: Iterable[AutoscalerPod],
    memory: LoopMemory,
    now: datetime,
    settings: AutoscalerSettings,
) -> LoopDecision:
    seen = look(objects, memory.state, now, settings)
    state = seen.state
    memory = msgspec.structs.replace(memory, state=state.memory)
    remove = instances_to_remove(state, objects.groups)
    untried = ScaleUpDecision("NotTried")
    if not state.healthy:
        forgotten = msgspec.structs.replace(memory.scale_down, unneeded_since={})
        return LoopDecision(state, msgspec.structs.replace(memory, scale_down=forgotten), untried, remove, {})
    lower = lowered_targets(state, objects.groups)
    if lower:
        return LoopDecision(state, memory, untried, remove, lower)
    grown = scale_up(seen, pending)
    memory = _with_scale_up(memory, seen, grown)
    decision = LoopDecision(state, memory, grown, remove, {})
    return _with_scale_down(decision, seen) if settings.scale_down_enabled else decision


def _with_scale_up(memory: LoopMemory, seen: Look, grown: ScaleUpDecision) -> LoopMemory:
    if grown.result != "Successful":
        return memory
    times = {group.name: group.options.max_node_provision_time for group in seen.objects.groups}
    state = memory.state
    for each in grown.plan:
        state = with_scale_up(state, each.group, each.new_size - each.size, seen.now, times[each.group])
    return msgspec.structs.replace(memory, state=state, scaled_up_at=seen.now)


def _with_scale_down(decision: LoopDecision, seen: Look) -> LoopDecision:
    replace = msgspec.structs.replace
    memory = decision.memory
    candidates = scale_down_candidates(seen, memory.scale_down.unneeded_since, seen.now)
    unneeded = find_unneeded(seen, candidates, memory.scale_down)
    memory = replace(memory, scale_down=unneeded.memory)
    decision = replace(decision, memory=memory, unneeded=unneeded)
    if decision.scale_up.result == "InCooldown" or _is_too_early(memory, seen):
        return decision
    deletion = within_budgets(seen, nodes_to_delete(seen, unneeded))
    if deletion.empty or deletion.drain:
        memory = replace(memory, deleted_at=seen.now)
    return replace(decision, memory=memory, deletion=deletion)


def _is_too_early(memory: LoopMemory, seen: Look) -> bool:
    settings = seen.settings
    delays = (
        (memory.scaled_up_at, settings.scale_down_delay_after_add),
        (memory.deleted_at, settings.scale_down_delay_after_delete),
        (memory.failed_at, settings.scale_down_delay_after_failure),
    )
    return any(since is not None and since + delay > seen.now for since, delay in delays)
