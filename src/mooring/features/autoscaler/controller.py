"""The autoscaler as a controller: one key that looks at the whole cluster and decides for all pools together.

It looks when something has changed, and at least at every scan interval, but never twice within one. Whatever it must
know again after it was killed stands at the API server: targets of pools, marks of Machines, taints of nodes. What it
remembers besides (since when nodes are unneeded, backoffs, cool-downs) may be lost: then it waits once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

import msgspec

from mooring.api.kinds import Key
from mooring.features.autoscaler.discovery import DiscoveredGroups, discover
from mooring.features.autoscaler.flags import FLAGS, SCAN_INTERVAL, TAINT_DELAY, settings_of, uses_priorities
from mooring.features.autoscaler.kinds import SCALED_DAEMON_SET, SCALED_NODE, SCALED_POD
from mooring.features.autoscaler.loop import LoopMemory, decide
from mooring.features.autoscaler.next_look import next_looks
from mooring.features.autoscaler.node_groups import NodeGroup
from mooring.features.autoscaler.pools import SCALED_POOL, ScaledPool, read_pools
from mooring.features.autoscaler.replica_pools.pools import MARKED_POOL, held_hosts, label_of_pool
from mooring.features.autoscaler.reports.events import STATUS_CONFIG_MAP, loop_events
from mooring.features.autoscaler.reports.log_lines import discovery_lines, loop_lines
from mooring.features.autoscaler.reports.status import loop_status
from mooring.features.autoscaler.reports.status_config_map import STATUS, logged, status_write
from mooring.features.autoscaler.settings import AutoscalerSettings
from mooring.features.autoscaler.started_deletions import StartedDeletions, started_deletions, with_started
from mooring.features.autoscaler.surroundings import CONTROLLERS_OF_PODS, cluster_objects, nodes_of, pending_pods
from mooring.features.autoscaler.views import AutoscalerPod
from mooring.features.autoscaler.writes import loop_writes
from mooring.features.hosts.api.kinds import BYO_HOST, BYO_MACHINE, BYO_MACHINE_TEMPLATE
from mooring.features.machines.api.kinds import CLUSTER, MACHINE, MACHINE_SET
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision, Event
from mooring.runtime.view import View
from mooring.workloads.cluster_state import STORAGE
from mooring.workloads.kinds import NAMESPACE, NODE, POD_DISRUPTION_BUDGET

__all__ = ["CONTROLLER", "GROWING"]

NAME: Final = "cluster-autoscaler"
_PRIORITIES: Final = Key("kube-system", "cluster-autoscaler-priority-expander")


class AutoscalerMemory(msgspec.Struct, frozen=True):
    looked_at: datetime
    loop: LoopMemory = LoopMemory()
    # What the last loop said: it is not said again.
    status: Mapping[str, Any] = msgspec.field(default_factory=dict)
    lines: frozenset[str] = frozenset()
    told: frozenset[tuple[str, Key, str]] = frozenset()


def reconcile(key: Key, view: View, now: datetime) -> Decision:
    return _reconcile(view, now, shrinks=True)


def grow(key: Key, view: View, now: datetime) -> Decision:
    """The same, but for what goes."""
    return _reconcile(view, now, shrinks=False)


def _reconcile(view: View, now: datetime, *, shrinks: bool) -> Decision:
    memory = view.memory(AutoscalerMemory)
    # 1. The last look is long enough ago. Until then nothing is asked, so nothing but time wakes the key.
    if memory is not None and not view.reached(memory.looked_at + view.settings[SCAN_INTERVAL]):
        return Decision(memory=memory)
    # 2. There are pools to scale. Without any, neither pods nor nodes are followed.
    if not view.list(SCALED_POOL):
        return Decision()
    settings = settings_of(view, _priorities(view))._replace(scale_down_enabled=shrinks)
    return _look(view, memory or AutoscalerMemory(now), now, settings)


def _look(view: View, memory: AutoscalerMemory, now: datetime, settings: AutoscalerSettings) -> Decision:
    nodes = nodes_of(view)
    pools = read_pools(view, nodes, held_hosts(view))
    found = discover((pool.objects for pool in pools), settings)
    groups = {group.name: group for group in found.groups}
    scaled = [pool for pool in pools if pool.name in groups]
    held = [_held_while_rolling_out(groups[pool.name], pool) for pool in scaled]
    objects = with_started(cluster_objects(view, held, nodes.values(), {}), scaled)
    started = started_deletions(objects, view.settings[TAINT_DELAY], now, settings)
    loop = memory.loop if not started.kept else msgspec.structs.replace(memory.loop, failed_at=now)
    decision = decide(objects, _unserved(view), loop, now, settings)
    writes = loop_writes(decision, started, scaled, nodes, now)
    for moment in (*started.waiting, *next_looks(decision, objects, settings)):
        view.reached(moment)
    view.poll_again(now + view.settings[SCAN_INTERVAL])
    events = (*_pool_events(pools, found), *_deletion_events(started), *loop_events(decision, found.groups))
    lines = (*discovery_lines(found), *loop_lines(decision))
    status = msgspec.to_builtins(loop_status(decision, found.groups, memory.status))
    config_map = view.get(STATUS, *STATUS_CONFIG_MAP)
    fresh = tuple(line for line in lines if line not in memory.lines)
    told = tuple(status_write(config_map, status, memory.status, logged(config_map, fresh, now)))
    return Decision(
        intent=writes.marks,
        children=writes.targets,
        status=told,
        events=tuple(event for event in events if _said(event) not in memory.told),
        log=fresh,
        memory=AutoscalerMemory(now, decision.memory, status, frozenset(lines), frozenset(map(_said, events))),
        # Nothing is decided on what the ConfigMap says.
        final=not writes.marks and not writes.targets,
    )


def _unserved(view: View) -> list[AutoscalerPod]:
    """Pods without a node, but for those of replicas that have a pool of their own."""
    served = {label_of_pool(pool) for pool in view.list(MARKED_POOL)}
    pods = pending_pods(view)
    return [pod for pod in pods if not served & {*(pod.spec.node_selector or {}).items()}] if served else pods


def _priorities(view: View) -> str | None:
    if not uses_priorities(view):
        return None
    found = view.get(STATUS, *_PRIORITIES)
    return None if found is None else found.data.get("priorities")


def _held_while_rolling_out(group: NodeGroup, pool: ScaledPool) -> NodeGroup:
    """A pool whose Machines are being replaced gives none of them up."""
    return msgspec.structs.replace(group, min=max(group.min, group.target)) if pool.rolling_out else group


def _said(event: Event) -> tuple[str, Key, str]:
    return event.reason, event.key, event.message


def _pool_events(pools: Iterable[ScaledPool], found: DiscoveredGroups) -> Iterator[Event]:
    """What is wrong with single pools. One that nobody has given bounds is not meant to be scaled yet."""
    for pool in pools:
        problem = found.problems.get(pool.name)
        if problem and pool.is_bounded:
            yield Event(SCALED_POOL, pool.key, "Warning", "NotScaled", problem)
        elif pool.warning:
            yield Event(SCALED_POOL, pool.key, "Warning", "HostsSilent", f"{pool.name}: {pool.warning}")


def _deletion_events(started: StartedDeletions) -> Iterator[Event]:
    for name, blocking in started.kept.items():
        text = f"the node is kept after all: pod {blocking.pod.key} may not be moved ({blocking.reason})"
        yield Event(NODE, Key("", name), "Warning", "ScaleDownFailed", text)


CONTROLLER: Final = Controller(
    NAME,
    reconcile,
    reads=(
        SCALED_POOL,
        MARKED_POOL,
        MACHINE_SET,
        MACHINE,
        CLUSTER,
        BYO_HOST,
        BYO_MACHINE,
        BYO_MACHINE_TEMPLATE,
        SCALED_NODE,
        SCALED_POD,
        SCALED_DAEMON_SET,
        NAMESPACE,
        POD_DISRUPTION_BUDGET,
        *CONTROLLERS_OF_PODS.values(),
        *STORAGE,
        STATUS,
    ),
    writes={
        SCALED_POOL: ("scale",),
        MACHINE: ("patch",),
        SCALED_NODE: ("patch",),
        STATUS: ("create", "patch"),
    },
    memory=AutoscalerMemory,
    settings=FLAGS,
)
GROWING: Final = replace(CONTROLLER, reconcile=grow)
