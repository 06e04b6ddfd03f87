"""What the containers of this node use, and the machine: the summary that a kubelet answers.

CPU is a rate, so it takes two looks. The second is taken when somebody asks; the first is the one before, or if nobody
asked of late, one that is taken a second earlier. A node that nobody asks measures nothing.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, NamedTuple

from mooring.kube.objects import Object
from mooring.kube.times import timestamp
from mooring.nodes.process.containers.proc import family, held_by

__all__ = ["RunningContainer", "UsageSampler"]

_SHORTEST_SECONDS: Final = 5.0
_LONGEST_SECONDS: Final = 30.0
_FIRST_WAIT_SECONDS: Final = 1.0
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_NANO: Final = 1_000_000_000
# Fields of /proc/PID/stat after the name: utime, stime, and the same of children that were waited for.
_TIMES: Final = slice(11, 15)


class RunningContainer(NamedTuple):
    namespace: str
    pod: str
    uid: str
    name: str
    pid: int


class _Sample(NamedTuple):
    """Seconds of CPU up to a moment, of each container by uid, name and process, and of the machine."""

    at: float
    containers: dict[tuple[str, str, int], float]
    machine: float


class UsageSampler:
    def __init__(self, containers: Callable[[], Iterable[RunningContainer]], clock: Callable[[], datetime]) -> None:
        self._containers = containers
        self._clock = clock
        # The last looks, the oldest first.
        self._samples: list[_Sample] = []
        self._lock = asyncio.Lock()

    async def summary(self, node: str) -> Object:
        async with self._lock:
            now = await self._sample()
            before = self._before(now)
            if before is None:
                await asyncio.sleep(_FIRST_WAIT_SECONDS)
                before, now = now, await self._sample()
            self._samples = [each for each in self._samples if each.at >= before.at]
            running = list(self._containers())
            return await asyncio.to_thread(self._summary, node, before, now, running)

    async def _sample(self) -> _Sample:
        running = list(self._containers())
        found = await asyncio.to_thread(_look, running)
        self._samples.append(found)
        return found

    def _before(self, now: _Sample) -> _Sample | None:
        """The newest look that is long enough ago."""
        fit = [each for each in self._samples if _SHORTEST_SECONDS <= now.at - each.at <= _LONGEST_SECONDS]
        return fit[-1] if fit else None

    def _summary(self, node: str, before: _Sample, now: _Sample, running: list[RunningContainer]) -> Object:
        when, seconds = timestamp(self._clock()), now.at - before.at
        pods: dict[str, Object] = {}
        for each in running:
            key = (each.uid, each.name, each.pid)
            if key not in now.containers:
                continue
            # One that began after the first look used nothing before.
            used = max(0.0, now.containers[key] - before.containers.get(key, 0.0))
            reference = {"name": each.pod, "namespace": each.namespace, "uid": each.uid}
            pod = pods.setdefault(each.uid, {"podRef": reference, "containers": []})
            memory = held_by(family(each.pid))
            pod["containers"].append({"name": each.name, **_stats(when, used / seconds, now.containers[key], memory)})
        machine = _stats(when, max(0.0, now.machine - before.machine) / seconds, now.machine, _machine_memory())
        return {"node": {"nodeName": node, **machine}, "pods": list(pods.values())}


def _stats(when: str, cores: float, total: float, memory: int) -> Object:
    return {
        "cpu": {"time": when, "usageNanoCores": int(cores * _NANO), "usageCoreNanoSeconds": int(total * _NANO)},
        "memory": {"time": when, "workingSetBytes": memory},
    }


def _look(running: Iterable[RunningContainer]) -> _Sample:
    at = time.monotonic()
    used = {(each.uid, each.name, each.pid): sum(map(_cpu_seconds, family(each.pid))) for each in running}
    return _Sample(at, used, _machine_seconds())


def _cpu_seconds(pid: int) -> float:
    """With that of its children that ended, so that nothing is lost when one does."""
    with suppress(OSError, IndexError, ValueError):
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[_TIMES])) / _TICKS
    return 0.0


def _machine_seconds() -> float:
    with suppress(OSError, IndexError, ValueError):
        # user, nice, system, idle, iowait, irq, softirq, steal; guests are counted as users already.
        times = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        return (sum(times) - times[3] - times[4]) / _TICKS
    return 0.0


def _machine_memory() -> int:
    with suppress(OSError, KeyError, ValueError, IndexError):
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        total, free = (int(lines[name].split()[0]) for name in ("MemTotal", "MemAvailable"))
        return (total - free) * 1024
    return 0
