"""Effects as real processes: their ends, what they print, timeouts, cancellation, and drivers that are killed."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from mooring.agents.process_executor import ProcessExecutor
from mooring.api.kinds import Key
from mooring.registry import Registry
from mooring.runtime.controller import Controller
from mooring.runtime.decision import Decision
from mooring.runtime.drivers.live import Live
from mooring.runtime.view import View
from tests.agents.driver import command
from tests.client.stories import awaited, now, served, until
from tests.runtime.living import at_work, transport_in
from tests.runtime.releases import (
    GROUP,
    INSTALL,
    INSTALLING,
    RELEASE,
    change_release,
    define,
    put_release,
    reconcile,
    record,
)


@asynccontextmanager
async def installing(
    registry: Registry, controller: Controller = INSTALLING, termination: float = 5.0
) -> AsyncIterator[ProcessExecutor]:
    transport = transport_in(registry)
    executor = ProcessExecutor(transport, {"install": command}, termination=termination)
    try:
        async with at_work(Live([controller], transport, executors={"process": executor})):
            yield executor
    finally:
        await executor.close()


def with_release(script: str, **spec: Any) -> Registry:
    registry = Registry(now=now())
    define(registry, now())
    put_release(registry, "web", now(), script=script, **spec)
    return registry


def phase(registry: Registry) -> Any:
    return record(registry, "web").get("phase")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@awaited
async def test_the_end_and_the_output_of_a_process_are_on_record() -> None:
    registry = with_release("echo installed $MOORING_EFFECT_ID; echo trouble >&2")
    async with installing(registry):
        await until(lambda: phase(registry) == "Succeeded")
    found = record(registry, "web")
    assert (found["exitCode"], found["output"]) == (0, "installed revision-1\ntrouble\n")


@awaited
async def test_a_process_that_fails_says_so_and_is_not_repeated(tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    registry = with_release(f"echo x >> {tries}; exit 3")
    async with installing(registry):
        await until(lambda: phase(registry) == "Failed")
        change_release(registry, "web", now(), note="something else")
        await asyncio.sleep(0.2)
    assert record(registry, "web")["exitCode"] == 3
    assert tries.read_text() == "x\n"


@awaited
async def test_of_much_output_the_end_is_kept_and_nothing_waits_for_the_reader() -> None:
    registry = with_release("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo the end")
    async with installing(registry):
        await until(lambda: phase(registry) == "Succeeded")
    output = record(registry, "web")["output"]
    assert output.endswith("line 19999\nthe end\n")
    assert output.startswith("line ")
    assert len(output) <= 4096


@awaited
async def test_a_program_that_is_not_there_fails() -> None:
    registry = with_release("true")
    transport = transport_in(registry)
    nowhere = {"install": lambda arguments: command(arguments)._replace(argv=("/no/such/program",))}
    executor = ProcessExecutor(transport, nowhere)
    async with at_work(Live([INSTALLING], transport, executors={"process": executor})):
        await until(lambda: phase(registry) == "Failed")
    assert "could not be started" in record(registry, "web")["message"]


@awaited
async def test_a_process_that_takes_too_long_ends_with_all_it_started(tmp_path: Path) -> None:
    hasty = dataclasses.replace(INSTALL, timeout=timedelta(seconds=0.5))

    def hastily(key: Key, view: View, moment: Any) -> Decision:
        found = reconcile(key, view, moment)
        return found._replace(effects=tuple(run._replace(effect=hasty) for run in found.effects))

    pids = tmp_path / "pids"
    registry = with_release(f"sleep 600 & echo $! >> {pids}; echo $$ >> {pids}; echo waiting; wait")
    controller = Controller("hasty", hastily, of=RELEASE, writes={RELEASE: ("status",)}, effects=(hasty,))
    async with installing(registry, controller):
        await until(lambda: phase(registry) == "TimedOut")
    assert record(registry, "web")["output"] == "waiting\n"
    assert not [pid for pid in pids.read_text().split() if alive(int(pid))]


@awaited
async def test_a_process_that_ignores_the_request_to_end_is_killed(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    registry = with_release(f"trap '' TERM; echo $$ > {ready}; while :; do sleep 0.05; done")
    async with installing(registry, termination=0.3):
        await until(lambda: ready.exists() and ready.read_text().strip())
        change_release(registry, "web", now(), suspended=True)
        await until(lambda: phase(registry) == "Cancelled")
    assert record(registry, "web")["exitCode"] == -signal.SIGKILL
    assert not alive(int(ready.read_text()))


@awaited
async def test_a_process_ends_with_its_object(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    registry = with_release(f"echo $$ > {ready}; sleep 600")
    async with installing(registry):
        await until(lambda: ready.exists() and ready.read_text().strip())
        registry.delete(registry.resource(f"{GROUP}/v1", "Release"), "default", "web", now=now())
        await until(lambda: not alive(int(ready.read_text())))


@awaited
async def test_a_driver_that_is_killed_leaves_a_run_that_is_run_again_and_never_twice_at_once(tmp_path: Path) -> None:
    log, gate = tmp_path / "log", tmp_path / "gate"
    script = f"echo $MOORING_EFFECT_ID $$ >> {log}; while [ ! -e {gate} ]; do sleep 0.05; done; echo finished"
    registry = with_release(script)
    async with served(registry) as server:

        def drive() -> subprocess.Popen[bytes]:
            return subprocess.Popen([sys.executable, "-m", "tests.agents.driver", server.url])

        def tries() -> list[str]:
            return log.read_text().splitlines() if log.exists() else []

        driver = drive()
        try:
            await until(lambda: len(tries()) == 1)
            assert phase(registry) == "Started"
            os.kill(driver.pid, signal.SIGKILL)
            driver.wait()
            orphan = int(tries()[0].split()[1])
            assert alive(orphan)
            driver = drive()
            await until(lambda: len(tries()) == 2)
            assert not alive(orphan)
            gate.touch()
            await until(lambda: phase(registry) == "Succeeded")
            assert [line.split()[0] for line in tries()] == ["revision-1", "revision-1"]
            assert record(registry, "web")["output"] == "finished\n"
            driver.kill()
            driver.wait()
            # What is done is found done.
            driver = drive()
            await asyncio.sleep(1.5)
            assert len(tries()) == 2
        finally:
            driver.kill()
            driver.wait()
