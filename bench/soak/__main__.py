"""`make soak`: an hour of churn, kill -9, stops, full disks and floods at once, and what became of the promises.

`python -m bench.soak --minutes 5 --seed 7`. Exit code 1: an answered write is not there, a watch missed something,
Deployments do not come to rest, or the cluster gave up. Memory and latency are printed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from bench.measured_clusters import node
from bench.soak.churn import DEPLOYMENTS, SPACE, Scaler, Watcher, Writer, listed_maps
from bench.soak.cluster import SoakedCluster
from bench.soak.disturbances import Disturbances
from bench.soak.ledger import Ledger
from bench.wire import Wire, quantile
from tests.support.small_disk import small_disk

WRITERS = 4
NODES = 20
# Between two disturbances.
PAUSE_SECONDS = (2.0, 8.0)
REST_SECONDS = 180.0
# What the cluster writes in an hour, several times over.
DISK = "256m"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (60)")
    parser.add_argument("--seed", type=int, default=0, help="of what is done to it (0)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mooring-soak-") as name:
        folder = Path(name)
        (folder / "fleet.yaml").write_text(yaml.safe_dump(node(NODES)), encoding="utf-8")
        with small_disk(folder / "disk", DISK) as disk:
            cluster = SoakedCluster(folder, folder / "fleet.yaml", disk)
            try:
                return Soak(cluster, given.seed).run(60 * given.minutes)
            finally:
                cluster.end()


class Soak:
    def __init__(self, cluster: SoakedCluster, seed: int) -> None:
        self._cluster = cluster
        self._disturbances = Disturbances(cluster, seed)
        self._ledger = Ledger()
        self._over, self._still = threading.Event(), threading.Event()
        given: tuple[Any, ...] = (lambda: cluster.endpoint, self._over)
        self._scaler = Scaler(seed, *given)
        self._writers = [Writer(number, seed + number, self._ledger, *given) for number in range(WRITERS)]
        # It goes on when the others have stopped, until it has seen their last write.
        self._watcher = Watcher(lambda: cluster.endpoint, self._still)
        self._memory: list[tuple[float, dict[str, float]]] = []

    def run(self, seconds: float) -> int:
        wire = Wire(self._cluster.endpoint)
        wire.call("POST", "/api/v1/namespaces", {"metadata": {"name": SPACE}})
        wire.close()
        workers = [self._watcher, self._scaler, *self._writers]
        for worker in workers:
            worker.start()
        with tempfile.TemporaryFile("w+") as timings:
            command = [sys.executable, "-m", "bench.soak.probe", self._cluster.endpoint.text()]
            with subprocess.Popen(command, stdout=timings) as probe:
                try:
                    self._disturb(time.monotonic() + seconds)
                finally:
                    probe.terminate()
            timings.seek(0)
            timed = [(float(began), float(took)) for began, took in map(str.split, timings)]
        problems = self._at_rest()
        self._still.set()
        for worker in workers:
            worker.join()
        problems += [worker.problem for worker in workers if worker.problem]
        self._report(timed)
        for problem in problems:
            print(f"BROKEN: {problem}")
        print("broken promises: " + str(len(problems)))
        return 1 if problems else 0

    def _disturb(self, end: float) -> None:
        began = time.monotonic()
        draw = self._disturbances
        while time.monotonic() < end and self._cluster.running:
            what = draw.next()
            print(f"{time.monotonic() - began:6.0f} s  {what}", file=sys.stderr)
            self._memory.append((time.monotonic() - began, self._cluster.memory_mib()))
            time.sleep(min(PAUSE_SECONDS[0] + 1.5 * (sum(draw.done.values()) % 5), PAUSE_SECONDS[1]))

    # The end

    def _at_rest(self) -> list[str]:
        """What does not hold when everybody has stopped."""
        self._over.set()
        for worker in (self._scaler, *self._writers):
            worker.join()
        if not self._cluster.running:
            return [f"the cluster gave up: {self._cluster.tail()}"]
        self._cluster.wait_until_ready()
        found = listed_maps(self._cluster.endpoint)
        problems = [f"lost write: {each}" for each in self._ledger.lost(found)]
        if not _within(REST_SECONDS, lambda: self._watcher.state == found):
            missed = {name for name in found | self._watcher.state if found.get(name) != self._watcher.state.get(name)}
            problems.append(f"the watch does not have what the list has: {sorted(missed)[:5]}")
        if not _within(REST_SECONDS, lambda: not self._unsettled()):
            problems.append(f"Deployments do not come to rest: {self._unsettled()}")
        return problems

    def _unsettled(self) -> list[str]:
        try:
            wire = Wire(self._cluster.endpoint)
            items = wire.call("GET", DEPLOYMENTS)["items"]
            wire.close()
        except (OSError, ValueError) as error:
            return [repr(error)]
        ready = {each["metadata"]["name"]: each.get("status", {}).get("readyReplicas", 0) for each in items}
        wanted = {each["metadata"]["name"]: each["spec"]["replicas"] for each in items}
        missing = [name for name in self._scaler.wanted if name not in wanted]
        return [
            *missing,
            *(f"{name}: {ready[name]} of {wanted[name]}" for name in wanted if ready[name] != wanted[name]),
        ]

    def _report(self, timed: list[tuple[float, float]]) -> None:
        outages = self._cluster.outages
        calm = [took for began, took in timed if took >= 0 and not any(_meets(began, took, each) for each in outages)]
        failed = sum(took < 0 for _, took in timed)
        for name, count in sorted(self._disturbances.done.items()):
            print(f"{name}: {count}")
        longest = max((end - begin for begin, end in outages), default=0.0)
        print(f"the API was taken away {len(outages)} times, for {longest:.1f} s at the longest")
        print(
            f"writes answered: {self._ledger.answered}, not answered: {self._ledger.unanswered}, "
            f"refused for want of room: {self._ledger.refused}"
        )
        watcher = self._watcher
        print(f"watch: {watcher.events} events, {watcher.breaks} breaks, {watcher.relists} lists")
        if calm:
            p50, p99 = 1000 * quantile(calm, 0.5), 1000 * quantile(calm, 0.99)
            print(f"another user, the API not taken away: p50 {p50:.1f} ms, p99 {p99:.1f} ms, of {len(calm)} requests")
        print(f"another user: {failed} of {len(timed)} requests without an answer")
        for name in sorted({name for _, found in self._memory for name in found}):
            seen = [found[name] for _, found in self._memory if name in found]
            print(f"memory of {name}: {seen[0]:.0f} MiB first, {max(seen):.0f} at most, {seen[-1]:.0f} last")


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.5)
    return True


def _meets(began: float, took: float, outage: tuple[float, float]) -> bool:
    return began < outage[1] and began + took > outage[0]


if __name__ == "__main__":
    sys.exit(main())
