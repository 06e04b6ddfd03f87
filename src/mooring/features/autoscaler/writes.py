"""What a loop has decided, as writes: targets of pools, marks on Machines, and taints on nodes.

A Machine is marked before the target of its pool is lowered, and which Machine goes follows from the mark. How many
marked Machines a target still counts can be seen from the target and the Machines, so a crash between the two writes
loses nothing, and deciding again lowers the target no further.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from mooring.api.kinds import Key, key_of
from mooring.features.autoscaler.kinds import SCALED_NODE
from mooring.features.autoscaler.loop import LoopDecision
from mooring.features.autoscaler.pools import MARK, SCALED_POOL, ScaledPool
from mooring.features.autoscaler.started_deletions import StartedDeletions
from mooring.features.autoscaler.templates.node_taints import TO_BE_DELETED
from mooring.features.autoscaler.views import AutoscalerNode, AutoscalerTaint
from mooring.features.machines.api.kinds import MACHINE
from mooring.features.machines.api.machines import Machine
from mooring.features.machines.api.names import DELETE_MACHINE
from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.runtime.decision import Patch, Scale, Write

__all__ = ["LoopWrites", "loop_writes"]


class LoopWrites(NamedTuple):
    """Taints and marks come before targets."""

    marks: tuple[Write, ...]
    targets: tuple[Write, ...]


def loop_writes(
    decision: LoopDecision,
    started: StartedDeletions,
    pools: Iterable[ScaledPool],
    nodes: Mapping[str, AutoscalerNode],
    now: datetime,
) -> LoopWrites:
    marks: list[Write] = []
    targets: list[Write] = []
    growing = {each.group: each.new_size for each in decision.scale_up.plan}
    for pool in pools:
        late = [*decision.remove.get(pool.name, ())]
        # A pool that grows gives nothing back in the same loop.
        due = [] if pool.name in growing else [name for name in started.due if name in pool.machines]
        going = _unmarked(pool, (*late, *due))
        marks += (_mark(machine, now) for machine in going)
        target = growing.get(pool.name, pool.target - pool.counted_marks - len(going))
        target = max(0, min(target, decision.lower.get(pool.name, target)))
        if target != pool.target:
            targets.append(Scale(SCALED_POOL, pool.key, target))
    if decision.deletion is not None:
        for name in (*decision.deletion.empty, *decision.deletion.drain):
            marks.append(_tainted(nodes[name], now))
    marks += (_untainted(nodes[name]) for name in started.kept)
    return LoopWrites(tuple(marks), tuple(targets))


def _unmarked(pool: ScaledPool, names: Iterable[str]) -> list[Machine]:
    known = {each.metadata.uid for each in pool.marked}
    found = (pool.machines[name] for name in dict.fromkeys(names))
    return [machine for machine in found if machine.metadata.uid not in known]


def _mark(machine: Machine, now: datetime) -> Patch:
    body = {"metadata": {"annotations": {DELETE_MACHINE: f"{MARK} {timestamp(now)}"}}}
    return Patch(MACHINE, key_of(machine), body)


def _tainted(node: AutoscalerNode, now: datetime) -> Patch:
    taint = AutoscalerTaint(key=TO_BE_DELETED, value=str(int(now.timestamp())), effect="NoSchedule")
    return _taints(node, (*_others(node), taint))


def _untainted(node: AutoscalerNode) -> Patch:
    return _taints(node, _others(node))


def _others(node: AutoscalerNode) -> tuple[AutoscalerTaint, ...]:
    return tuple(taint for taint in node.spec.taints or () if taint.key != TO_BE_DELETED)


def _taints(node: AutoscalerNode, taints: Iterable[AutoscalerTaint]) -> Patch:
    """A merge patch replaces a list, so all of them are written."""
    return Patch(SCALED_NODE, Key("", node.name), {"spec": {"taints": [_written(taint) for taint in taints]}})


def _written(taint: AutoscalerTaint) -> Object:
    parts = {"key": taint.key, "value": taint.value, "effect": taint.effect, "timeAdded": taint.time_added}
    return {name: text for name, text in parts.items() if text}
