"""Runs tests of Kubernetes' e2e binary in batches, several at a time, and says how each test ended.

A batch is one process of the binary. Ginkgo's own parallelism needs a server of its command line; batches need none,
and a test that hangs is cut off without the others. What Ginkgo prints is read: its report as JSON has all of the
7,000 tests that were left out too, and takes longer than a batch.
"""

from __future__ import annotations

import contextlib
import os
import queue
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

SERIAL = "[Serial]"
PASSED = "passed"
# Nothing is gathered or waited for that simulated nodes do not have.
FLAGS = (
    "--provider=skeleton",
    "--allowed-not-ready-nodes=-1",
    "--minStartupPods=-1",
    "--system-pods-startup-timeout=5s",
    "--system-daemonsets-startup-timeout=5s",
    "--dump-logs-on-failure=false",
    "--disable-log-dump",
    "--ginkgo.no-color",
    "--ginkgo.v",
    "--ginkgo.silence-skips",
    "--ginkgo.grace-period=15s",
    "--ginkgo.timeout=24h",
)
# A process lives for a minute: collecting garbage is most of the time that it takes to build its tree of tests.
ENVIRONMENT = {"GOGC": "400"}
RULE = "-" * 30
ENDED = re.compile(r"^\S+ (?:\[(?P<state>[A-Z ]+)\] )?\[(?P<seconds>[0-9.]+) seconds\]$")
LOOK_SECONDS = 0.2
# A process that was told to stop, and does not.
STOP_SECONDS = 60.0
# How long a process may take until its first test begins, on a busy machine.
START_SECONDS = 300.0


@dataclass(frozen=True)
class Outcome:
    """How a test ended: `passed`, or what Ginkgo says instead, with what it printed about that."""

    name: str
    state: str
    seconds: float
    message: str = ""


@dataclass(frozen=True)
class Runner:
    """Where the tests run: `seconds` is the longest that one may take."""

    binary: Path
    kubectl: Path
    kubeconfig: Path
    folder: Path
    seconds: float

    def run(
        self,
        names: Sequence[str],
        *,
        at_once: int,
        size: int,
        told: Callable[[Outcome], None] = lambda outcome: None,
    ) -> list[Outcome]:
        """All of them: those that bear no company come alone, at the end."""
        self.folder.mkdir(parents=True, exist_ok=True)
        together = [name for name in names if SERIAL not in name]
        alone = [name for name in names if SERIAL in name]
        outcomes: list[Outcome] = []

        def batch(work: tuple[int, Sequence[str]]) -> None:
            for outcome in self._batch(*work):
                outcomes.append(outcome)
                told(outcome)

        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(batch, enumerate(dealt(together, size))))
        for work in enumerate(dealt(alone, size), start=len(together)):
            batch(work)
        return outcomes

    def _batch(self, number: int, names: Sequence[str]) -> Iterator[Outcome]:
        """The batch, in as many processes as it takes: one that was cut off does not go on."""
        left = list(names)
        turn = 0
        while left:
            output = self.folder / f"batch-{number}.{turn}.txt"
            begun = len(left)
            for outcome in self._process(output, left):
                left.remove(outcome.name)
                yield outcome
            if len(left) == begun:
                yield from (Outcome(name, "not run", 0.0, f"see {output}") for name in left)
                return
            turn += 1

    def _process(self, output: Path, names: Sequence[str]) -> Iterator[Outcome]:
        command: list[str | Path] = [self.binary, f"--kubeconfig={self.kubeconfig}", f"--kubectl-path={self.kubectl}"]
        child = subprocess.Popen(
            [*command, *FLAGS, f"--ginkgo.focus={focus(names)}"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, **ENVIRONMENT},
        )
        lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=_copy, args=(child, output, lines)).start()
        reading = Reading(names)
        limit = time.monotonic() + START_SECONDS
        stopped = False
        while True:
            before = reading.current
            with contextlib.suppress(queue.Empty):
                line = lines.get(timeout=LOOK_SECONDS)
                if line is None:
                    break
                yield from reading.read(line)
            now = time.monotonic()
            if reading.current != before and not stopped:
                limit = now + (self.seconds if reading.current else START_SECONDS)
            if now > limit:
                child.send_signal(signal.SIGKILL if stopped else signal.SIGINT)
                stopped, limit = True, now + STOP_SECONDS
        child.wait()
        yield from reading.end()


class Reading:
    """What Ginkgo prints, line by line: `current` is the test that runs."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = set(names)
        self._after_rule = False
        self._ended: tuple[str, str, float] | None = None
        self._said: list[str] = []
        self.current: str | None = None

    def read(self, line: str) -> Iterator[Outcome]:
        line = line.rstrip("\n")
        if line == RULE:
            yield from self._tell()
        elif self._after_rule and (name := line.rpartition(" [")[0]) in self._names:
            # The labels of the test stand behind its name.
            self.current = name
        elif self.current is not None and (found := ENDED.match(line)):
            self._ended = (self.current, (found["state"] or PASSED).lower(), float(found["seconds"]))
            self.current = None
        elif self._ended is not None:
            self._said.append(line)
        self._after_rule = line == RULE

    def end(self) -> Iterator[Outcome]:
        yield from self._tell()
        if self.current is not None:
            yield Outcome(self.current, "killed", 0.0)

    def _tell(self) -> Iterator[Outcome]:
        if self._ended is not None:
            yield Outcome(*self._ended, message="\n".join(self._said).strip())
        self._ended = None
        self._said = []


def _copy(child: subprocess.Popen[str], output: Path, lines: queue.SimpleQueue[str | None]) -> None:
    assert child.stdout is not None
    with child.stdout, output.open("w", encoding="utf-8") as file:
        for line in child.stdout:
            file.write(line)
            lines.put(line)
    lines.put(None)


def dealt(names: Sequence[str], size: int) -> list[Sequence[str]]:
    return [names[start : start + size] for start in range(0, len(names), size)]


def focus(names: Iterable[str]) -> str:
    return "(" + "|".join(re.escape(name) for name in names) + ")$"
