"""Other limits for a container that runs: by its control groups, or where there are none, by those of its processes."""

from __future__ import annotations

import resource
from contextlib import suppress
from dataclasses import replace

from mooring.nodes.process.containers.launch import Launch
from mooring.nodes.process.containers.proc import family, memory_of
from mooring.nodes.process.containers.sandbox.cgroups import ControlGroups

__all__ = ["LimitRefused", "changed_limits"]


class LimitRefused(Exception):
    """The limit is not one that the container can be held to now; the text is the kubelet's."""


def changed_limits(
    order: Launch, groups: ControlGroups, pid: int, name: str, *, memory: int | None, cpu: int | None
) -> Launch:
    """The container as it is launched now. `pid` is its first process. Raises LimitRefused and OSError."""
    pids = family(pid)
    if memory is not None and memory != order.memory:
        used = order.group.memory_used() if order.group is not None else None
        if used is None:
            used = memory_of(pids, memory)
        if used >= memory:
            text = f'attempting to set container "{name}" memory limit ({memory}) below current usage ({used})'
            raise LimitRefused(text)
    group = groups.make(order.id, memory=memory, cpu_milli=cpu)
    if group is not None:
        # A group that is new has no process yet. Twice: what was started meanwhile by one that was not in it.
        group.enter(pids)
        group.enter(family(pid))
    changed = replace(order, memory=memory, group=group)
    if changed.watched_memory is not None:
        for each in pids:
            with suppress(ProcessLookupError, PermissionError):
                resource.prlimit(each, resource.RLIMIT_DATA, (memory or 0, memory or 0))
    return changed
